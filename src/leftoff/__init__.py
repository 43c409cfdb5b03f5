"""Session continuity for AI coding agents.

Open a project, save where the work left off, and resume it:

    import leftoff

    with leftoff.open_project("path/to/repository") as work:
        work.save("csv-export", summary="Export orders as CSV", next_action="Write the header")
        print(work.resume("csv-export").briefing)
"""

TYPE_CHECKING = False  # importing `typing` doubles the CPU of `python -c pass`
if TYPE_CHECKING:
    from leftoff.checkpoint import Checkpoint as Checkpoint
    from leftoff.errors import BelowQualityBar as BelowQualityBar
    from leftoff.errors import CheckpointEnded as CheckpointEnded
    from leftoff.errors import CheckpointUnreadable as CheckpointUnreadable
    from leftoff.errors import ChoiceNeeded as ChoiceNeeded
    from leftoff.errors import LeftoffError as LeftoffError
    from leftoff.errors import NameRefused as NameRefused
    from leftoff.errors import NoSuchCheckpoint as NoSuchCheckpoint
    from leftoff.errors import NotAProject as NotAProject
    from leftoff.errors import SessionUnreadable as SessionUnreadable
    from leftoff.errors import StoreRefused as StoreRefused
    from leftoff.errors import UsageError as UsageError
    from leftoff.session.sessions import KnownSession as KnownSession
    from leftoff.store import CheckpointEntry as CheckpointEntry
    from leftoff.store import Hit as Hit
    from leftoff.store import SavedCheckpoint as SavedCheckpoint
    from leftoff.store import StoreEvent as StoreEvent
    from leftoff.threads.check_claims import Checks as Checks
    from leftoff.threads.compare import KeyChange as KeyChange
    from leftoff.threads.persist import SaveOutcome as SaveOutcome
    from leftoff.workspace import Resumption as Resumption
    from leftoff.workspace import Workspace as Workspace
    from leftoff.workspace import open_project as open_project

__version__ = "0.2.0"
# The name to install. On PyPI, the name `leftoff` belongs to another program with the same command.
DISTRIBUTION = "leftoff-agents"

# Loaded on first use: hooks import this package after every message of an agent, and `workspace`
# alone takes 6 times the CPU of `python -c pass`.
_HOMES = {
    "leftoff.checkpoint": ("Checkpoint",),
    "leftoff.errors": (
        "BelowQualityBar",
        "CheckpointEnded",
        "CheckpointUnreadable",
        "ChoiceNeeded",
        "LeftoffError",
        "NameRefused",
        "NoSuchCheckpoint",
        "NotAProject",
        "SessionUnreadable",
        "StoreRefused",
        "UsageError",
    ),
    "leftoff.session.sessions": ("KnownSession",),
    "leftoff.store": ("CheckpointEntry", "Hit", "SavedCheckpoint", "StoreEvent"),
    "leftoff.threads.check_claims": ("Checks",),
    "leftoff.threads.compare": ("KeyChange",),
    "leftoff.threads.persist": ("SaveOutcome",),
    "leftoff.workspace": ("Resumption", "Workspace", "open_project"),
}
_PLACES = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [*_PLACES]  # noqa: PLE0604 - the names are the keys of _PLACES


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    if name not in _PLACES:
        raise AttributeError(f"module 'leftoff' has no attribute {name!r}")
    import importlib  # noqa: PLC0415 - 0.3 ms, and hooks do not need it

    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
