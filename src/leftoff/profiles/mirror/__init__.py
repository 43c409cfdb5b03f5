"""Mirrors: keep native files of profiles in step with the store, in both directions.

Most projects mirror nothing. They get the null object below, and no code that reads or writes
native files is loaded.
"""

from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from leftoff.checkpoint import Checkpoint
from leftoff.profiles.profile import AtWork, SessionNews
from leftoff.projects.project import Project

if TYPE_CHECKING:
    from leftoff.store import Store


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """The files written, by profile, and those that could not be."""

    written: dict[str, list[Path]] = {}
    unwritten: dict[str, str] = {}
    """Profiles with missing files: the system refused, or none could be written."""
    problems: list[str] = []
    """Everything that went wrong."""
    warnings: list[str] = []
    """Messages for a person at the terminal; hooks do not store them."""


class ImportedEdits(msgspec.Struct, frozen=True, kw_only=True):
    """Changes in native files: the imported ones, and names whose file is gone."""

    imported: list[Path] = []
    gone: list[str] = []
    problems: list[str] = []


class WaitingFile(msgspec.Struct, frozen=True, kw_only=True):
    """A native file that waits to be resumed, and the session it waits for."""

    session_id: str
    path: Path
    checkpoint_id: str | None = None
    """Its checkpoint; None if it cannot be read."""
    copy_id: str | None = None
    """The checkpoint it was written from, if it has become unreadable."""
    problem: str = ""
    text: str = ""
    """The raw content, if it cannot be read as a checkpoint."""


class Mirrors:
    """The native files that a project mirrors; this base class mirrors none."""

    def import_edits(self, store: "Store") -> ImportedEdits:
        """Import manual changes, before anything is read or written."""
        del store
        return ImportedEdits()

    def export_changes(
        self,
        store: "Store",
        *,
        session: SessionNews | None = None,
        briefing: Callable[[], str] | None = None,
    ) -> Exported:
        """Update the files; problems are returned, never raised."""
        del store, session, briefing
        return Exported()

    def mark_work(self, project: Project, what: str) -> AbstractContextManager[None]:
        """Leave a mark while a command runs, if a profile uses such marks."""
        del project, what
        return nullcontext()

    def find_others_at_work(self, project: Project) -> list[AtWork]:
        """Return other running commands, from the marks they left."""
        del project
        return []

    def keep_notes(self) -> bool:
        """Return whether the files contain notes about the current work."""
        return False

    def read_notes(
        self,
        store: "Store",
        session_id: str | None = None,
        *,
        since: datetime | None = None,
        task: str | None = None,
    ) -> dict[str, Any]:
        """Return the notes about a session's work, or a named task, in keys of a checkpoint."""
        del store, session_id, since, task
        return {}

    def use_sentinels(self) -> bool:
        """Return whether the files show which checkpoint waits for which session."""
        return False

    def find_waiting(self, store: "Store") -> list[WaitingFile]:
        """Return the files that wait to be resumed, newest first."""
        del store
        return []

    def find_shown(self, store: "Store") -> dict[str, Path]:
        """Return the file of each checkpoint, if the files show what waits."""
        del store
        return {}

    def was_removed(self, store: "Store", spellings: Collection[str]) -> bool:
        """Return whether an index of the files listed one of these names without its file."""
        del store, spellings
        return False

    def find_path(self, store: "Store", checkpoint_id: str) -> Path | None:
        """Return the file that shows a checkpoint."""
        del store, checkpoint_id
        return None

    def list_folders(self, project: Project) -> list[Path]:
        """Return the folders with artifacts, which may lie around the worktree."""
        del project
        return []

    def find_task(self, checkpoint: Checkpoint) -> str:
        """Return the task under which a checkpoint is filed."""
        return checkpoint.name or checkpoint.id


def open_mirrors(names: Iterable[str]) -> Mirrors:
    """Return the mirrors of some profiles."""
    wanted = [*names]
    if not wanted:
        return Mirrors()
    # Loading it costs a third of a session start, and most projects mirror nothing.
    from leftoff.profiles.mirror.profile_mirrors import ProfileMirrors  # noqa: PLC0415 - 48 ms

    return ProfileMirrors(wanted)
