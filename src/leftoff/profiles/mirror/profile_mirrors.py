"""The mirrors of the profiles that a project names."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any

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
from leftoff.profiles.profile import AtWork, SessionNews
from leftoff.projects.project import Project
from leftoff.store import Store


class ProfileMirrors(Mirrors):
    """The native files of some profiles."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def import_edits(self, store: Store) -> ImportedEdits:
        """Import what was changed by hand, before anything is read or written."""
        return import_edits.import_edits(store, self._names)

    def export_changes(
        self,
        store: Store,
        *,
        session: SessionNews | None = None,
        briefing: Callable[[], str] | None = None,
    ) -> Exported:
        """Bring the files up to date; problems are returned, never raised."""
        return export_changes.export_changes(store, self._names, session=session, briefing=briefing)

    def mark_work(self, project: Project, what: str) -> AbstractContextManager[None]:
        """Leave a mark while a command works, where a profile looks for one."""
        return activity.mark_work(project, self._names, what)

    def find_others_at_work(self, project: Project) -> list[AtWork]:
        """Return who else is at work, by the marks they left."""
        return activity.find_others_at_work(project, self._names)

    def keep_notes(self) -> bool:
        """Say whether the files hold notes on the work at hand."""
        return pending_files.keeps_notes(self._names)

    def read_notes(
        self, store: Store, session_id: str | None = None, *, since: datetime | None = None
    ) -> dict[str, Any]:
        """Return what was noted about the work of a session, in keys of a checkpoint."""
        return pending_files.read_notes(store, self._names, session_id, since=since)

    def tell_what_waits(self) -> bool:
        """Say whether the files tell what waits for which session."""
        return pending_files.tells_what_waits(self._names)

    def find_waiting(self, store: Store) -> list[WaitingFile]:
        """Return the files that wait to be resumed, the newest first."""
        return pending_files.find_waiting(store, self._names)

    def find_shown(self, store: Store) -> dict[str, Path]:
        """Return the file of each checkpoint, where files tell what waits."""
        return pending_files.find_shown(store, self._names)

    def find_path(self, store: Store, checkpoint_id: str) -> Path | None:
        """Return the file that shows a checkpoint."""
        return pending_files.find_path(store, self._names, checkpoint_id)

    def find_task(self, checkpoint: Checkpoint) -> str:
        """Return what a checkpoint is filed under."""
        return pending_files.find_task(self._names, checkpoint)
