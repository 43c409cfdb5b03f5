"""Mirrors: native files of profiles, kept up to date with the store, and the other way round.

Most projects mirror nothing. They get the null object below, and nothing that reads or writes
native files is loaded.
"""

from collections.abc import Callable, Iterable
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
    """What was written, by profile, and what could not be."""

    written: dict[str, list[Path]] = {}
    unwritten: dict[str, str] = {}
    """Why files of a profile are missing: the system refused, or not one could be written."""
    problems: list[str] = []
    """All that went wrong."""
    warnings: list[str] = []
    """What to tell a person who is there; hooks need not remember it."""


class ImportedEdits(msgspec.Struct, frozen=True, kw_only=True):
    """What changed in native files: those that were imported, and names whose file is gone."""

    imported: list[Path] = []
    gone: list[str] = []
    problems: list[str] = []


class WaitingFile(msgspec.Struct, frozen=True, kw_only=True):
    """A native file that waits to be resumed, and the session it waits for."""

    session_id: str
    path: Path
    checkpoint_id: str | None = None
    """The checkpoint it holds; None if it cannot be read."""
    copy_id: str | None = None
    """The checkpoint it was written from, where it cannot be read any more."""
    problem: str = ""
    text: str = ""
    """What the file holds, where it cannot be read as a checkpoint."""


class Mirrors:
    """The native files of the profiles that a project mirrors; these are of no profile."""

    def import_edits(self, store: "Store") -> ImportedEdits:
        """Import what was changed by hand, before anything is read or written."""
        del store
        return ImportedEdits()

    def export_changes(
        self,
        store: "Store",
        *,
        session: SessionNews | None = None,
        briefing: Callable[[], str] | None = None,
    ) -> Exported:
        """Bring the files up to date; problems are returned, never raised."""
        del store, session, briefing
        return Exported()

    def mark_work(self, project: Project, what: str) -> AbstractContextManager[None]:
        """Leave a mark while a command works, where a profile looks for one."""
        del project, what
        return nullcontext()

    def find_others_at_work(self, project: Project) -> list[AtWork]:
        """Return who else is at work, by the marks they left."""
        del project
        return []

    def keep_notes(self) -> bool:
        """Say whether the files hold notes on the work at hand."""
        return False

    def read_notes(
        self, store: "Store", session_id: str | None = None, *, since: datetime | None = None
    ) -> dict[str, Any]:
        """Return what was noted about the work of a session, in keys of a checkpoint."""
        del store, session_id, since
        return {}

    def tell_what_waits(self) -> bool:
        """Say whether the files tell what waits for which session."""
        return False

    def find_waiting(self, store: "Store") -> list[WaitingFile]:
        """Return the files that wait to be resumed, the newest first."""
        del store
        return []

    def find_shown(self, store: "Store") -> dict[str, Path]:
        """Return the file of each checkpoint, where files tell what waits."""
        del store
        return {}

    def find_path(self, store: "Store", checkpoint_id: str) -> Path | None:
        """Return the file that shows a checkpoint."""
        del store, checkpoint_id
        return None

    def find_task(self, checkpoint: Checkpoint) -> str:
        """Return what a checkpoint is filed under."""
        return checkpoint.name or checkpoint.id


def open_mirrors(names: Iterable[str]) -> Mirrors:
    """Return the mirrors of some profiles."""
    wanted = [*names]
    if not wanted:
        return Mirrors()
    # It costs a third of a session start, and most projects mirror nothing.
    from leftoff.profiles.mirror.profile_mirrors import ProfileMirrors  # noqa: PLC0415

    return ProfileMirrors(wanted)
