"""Mirror the profiles that a project names."""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any

from leftoff import profiles
from leftoff.checkpoint import Checkpoint
from leftoff.profiles.mirror import (
    Exported,
    ImportedEdits,
    Mirrors,
    WaitingFile,
    activity,
    export_changes,
    import_edits,
    pending_files,
)
from leftoff.profiles.profile import AtWork, SessionNews, Waited
from leftoff.projects.project import Project
from leftoff.store import Store


class ProfileMirrors(Mirrors):
    """The native files of the named profiles."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def import_edits(self, store: Store) -> ImportedEdits:
        """Import manual changes, before anything is read or written."""
        return import_edits.import_edits(store, self._names)

    def export_changes(
        self,
        store: Store,
        *,
        session: SessionNews | None = None,
        briefing: Callable[[], str] | None = None,
    ) -> Exported:
        """Update the files; problems are returned, never raised."""
        return export_changes.export_changes(store, self._names, session=session, briefing=briefing)

    def mark_work(self, project: Project, what: str) -> AbstractContextManager[None]:
        """Leave a mark while a command runs, if a profile uses such marks."""
        return activity.mark_work(project, self._names, what)

    def find_others_at_work(self, project: Project) -> list[AtWork]:
        """Return other running commands, from the marks they left."""
        return activity.find_others_at_work(project, self._names)

    def keep_notes(self) -> bool:
        """Return whether the files contain notes about the current work."""
        return pending_files.keeps_notes(self._names)

    def read_notes(
        self,
        store: Store,
        session_id: str | None = None,
        *,
        since: datetime | None = None,
        task: str | None = None,
    ) -> dict[str, Any]:
        """Return the notes about a session's work, in keys of a checkpoint."""
        return pending_files.read_notes(store, self._names, session_id, since=since, task=task)

    def use_sentinels(self) -> bool:
        """Return whether the files show which checkpoint waits for which session."""
        return pending_files.uses_sentinels(self._names)

    def find_waiting(self, store: Store) -> list[WaitingFile]:
        """Return the files that wait to be resumed, newest first."""
        return pending_files.find_waiting(store, self._names)

    def find_shown(self, store: Store) -> dict[str, Path]:
        """Return the file of each checkpoint, if the files show what waits."""
        return pending_files.find_shown(store, self._names)

    def was_removed(self, store: Store, spellings: Collection[str]) -> bool:
        """Return whether an index of the files listed one of these names without its file."""
        return import_edits.was_removed(store, self._names, spellings)

    def find_path(self, store: Store, checkpoint_id: str) -> Path | None:
        """Return the file that shows a checkpoint."""
        return pending_files.find_path(store, self._names, checkpoint_id)

    def list_folders(self, project: Project) -> list[Path]:
        """Return the folders with artifacts, which may lie around the worktree."""
        found = [profiles.load(name) for name in self._names]
        return [each.home(project) for each in found if isinstance(each, Waited)]

    def find_task(self, checkpoint: Checkpoint) -> str:
        """Return the task under which a checkpoint is filed."""
        return pending_files.find_task(self._names, checkpoint)
