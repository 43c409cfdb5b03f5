"""What every profile offers: defaults, a reader of its native files, and a writer.

A profile knows formats and nothing else. The store is the truth; native files are one more view of
it. `importing` reads them and `mirror` keeps them up to date, the same way for every profile.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec

from leftoff.checkpoint import Checkpoint
from leftoff.projects.project import Project
from leftoff.session.prompt_files import FilePrompt

if TYPE_CHECKING:
    from leftoff.knowledge import features, memory

AUTOSAVE = ""
"""What `StoreNews.current` calls the newest checkpoint without a name."""


class Native(msgspec.Struct, frozen=True, kw_only=True):
    """What one native file says: a checkpoint in canonical keys, or what is wrong with it."""

    told: dict[str, Any] = {}
    name: str | None = None
    saved_at: datetime | None = None
    """When it says it was saved; the file's own time where it does not."""
    is_exact: bool = False
    """Whether that is told so exactly that another time means another state, not a change."""
    project: str = ""
    """The project it says it belongs to, where several share a folder."""
    shows: str = ""
    """The id of the checkpoint that it was written from, if nobody changed it since."""
    is_open: bool = True
    """Whether somebody may still take it up, as far as the files tell."""
    problem: str | None = None


class More(msgspec.Struct, frozen=True, kw_only=True):
    """What native files hold beside checkpoints."""

    prompts: Mapping[str, Sequence[FilePrompt]] = {}
    """Prompts that wait, by session."""
    memories: "Sequence[memory.EntryDraft]" = ()
    queued: "Sequence[memory.EntryDraft]" = ()
    """What is to be remembered once somebody approves of it."""
    loops: "Mapping[str, features.Loop]" = {}
    """The work on features, by session; under no name that of no session."""
    orchestration: "features.Orchestration | None" = None
    features: "Sequence[features.Feature | features.Fix]" = ()
    features_at: datetime | None = None
    """When the files of features were last written."""
    problems: Sequence[str] = ()


class BufferedExchange(msgspec.Struct, frozen=True, kw_only=True):
    """What a user asked, word for word, and how the answer ended."""

    at: datetime
    asked: str
    answered: str = ""


class SessionNews(msgspec.Struct, frozen=True, kw_only=True):
    """What hooks told of a session just now."""

    agent: str
    session_id: str
    event: str
    """The kind of event: prompt, stop, pre-compact, session-end …"""
    at: datetime | None = None
    """When it came."""
    file: str = ""
    """The file that a tool wrote, if it did."""
    percent: float | None = None
    buffer: Sequence[BufferedExchange] = ()
    """What was said since the context began to fill up."""
    prompts: Sequence[FilePrompt] = ()
    """The prompts of this session that wait."""


class PromptNews(msgspec.Struct, frozen=True, kw_only=True):
    """The prompts of one session: those that wait, and those that were dealt with."""

    session_id: str
    waiting: Sequence[FilePrompt] = ()
    settled: Sequence[FilePrompt] = ()


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """What a project works on and what it remembers."""

    is_new: bool = True
    """Whether anything of it changed since native files were last written."""
    board: "features.Board"
    loops: "Mapping[str, features.Loop]" = {}
    """By the key of their session or worktree."""
    remembered: "Callable[[memory.Kind], Sequence[memory.MemoryEntry]]"
    """The entries of a kind, whatever became of them, oldest first."""
    knows: "Callable[[memory.Kind, str], bool]"
    """Whether something was ever remembered."""


class AtWork(msgspec.Struct, frozen=True, kw_only=True):
    """A process at work on something, known by its number and when it began."""

    what: str
    pid: int
    began: float = 0.0
    since: datetime | None = None


class TakenUp(msgspec.Struct, frozen=True, kw_only=True):
    """How a checkpoint was taken up: by which event, and in which session, if in one."""

    event: str
    session_id: str | None = None


class StoreNews(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in the store since native files were last written."""

    now: datetime
    project: Project
    saved: Sequence[Checkpoint] = ()
    """Every new checkpoint, oldest first."""
    resumed: Sequence[Checkpoint] = ()
    """What was taken up, oldest first."""
    taken_up: Mapping[str, TakenUp] = {}
    """How each of these was taken up."""
    is_whole: bool = False
    """Whether this is all that is listed, as if it had just been saved."""
    current: Mapping[str, Checkpoint | None] = {}
    """What each name that was touched shows now; None if it was put away."""
    session: SessionNews | None = None
    prompts: Sequence[PromptNews] = ()
    """The prompts that were ever kept, if anything became of one."""
    knowledge: Knowledge | None = None
    """For a profile that wants it."""
    briefing: Callable[[], str] | None = None
    """Makes the text that tells a new session where the project stands."""


class Files(Protocol):
    """A folder of native files. Paths are relative to it and never lead out of it."""

    @property
    def root(self) -> Path:
        """The folder."""

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes; None where there is no regular file."""

    def names(self, folder: str, pattern: str = "*") -> list[str]:
        """List the files of a folder by their paths, sorted."""

    def create(self, path: str, data: bytes, *, of: str = "") -> str:
        """Write a new file, under a name with -1, -2 … if that is taken; return its path."""

    def replace(self, path: str, data: bytes, *, of: str = "") -> None:
        """Write a file of ours; what a person changed in it is first taken into the store."""

    def edit(self, path: str, change: "Callable[[str], str]") -> None:
        """Change a part of a file that belongs to others; empty text means no file."""

    def append(self, path: str, text: str, *, key: str, head: str = "") -> None:
        """Add lines to the end of a file, once for each key; a new file begins with its head."""

    def trash(self, path: str, *, to: str | None = None) -> None:
        """Move a file to the trash, or to the profile's own; nothing where there is none."""

    def warn(self, text: str) -> None:
        """Tell the user of something, apart from what the command says."""

    def in_worktree(self, worktree: str | None) -> "Files | None":
        """Return the files of the same layout in a worktree of the project; None if it is gone."""


class Profile(Protocol):
    """One of the five systems."""

    SETTINGS: Mapping[str, Any]
    """Its defaults, over those of `config.Settings`."""
    HOLDS: frozenset[str]
    """The keys of a checkpoint that its files keep without loss."""
    IS_LIVING: bool
    """Whether a file stands for a name, so that removing it by hand puts the name away."""
    PER_WORKTREE: bool
    """Whether each worktree has files of its own."""
    WANTS_KNOWLEDGE: bool
    """Whether its files show features and memory too."""
    EVENTS: frozenset[str]
    """The kinds of hook events it needs beyond those that all do."""
    NATIVE: frozenset[str]
    """Patterns of its files, seen from its folder, where that may be in a worktree."""

    def home(self, project: Project) -> Path:
        """Tell where a project's native files are, or would be."""

    def is_here(self, folder: Path) -> bool:
        """Say whether there are native files in this folder."""

    def folders(self, folder: Path) -> list[Path]:
        """Tell which folders, or files that are changed in place, hold checkpoints and more."""

    def find_stale_names(self, folder: Path) -> list[str]:
        """Return the names that an index of the layout lists though their files are gone."""

    def natives(self, folder: Path) -> Iterator[Path]:
        """Yield the files that hold checkpoints, oldest first where names tell."""

    def read(self, path: Path, data: bytes) -> Native:
        """Read one of them; never raise for what it holds."""

    def more(self, folder: Path) -> More:
        """Read what there is beside checkpoints."""

    def write(self, files: Files, news: StoreNews) -> None:
        """Bring native files up to date; the same news told twice change nothing more."""


# What a profile may offer besides; one that does not has none of the names.


@runtime_checkable
class Worker(Protocol):
    """A profile whose files say who is at work."""

    def home(self, project: Project) -> Path:
        """Tell where a project's native files are, or would be."""

    def work_path(self, folder: Path, work: AtWork) -> Path:
        """Tell where the mark of a process is."""

    def work_text(self, work: AtWork) -> str:
        """Write the mark."""

    def at_work(self, folder: Path) -> Iterator[tuple[Path, AtWork]]:
        """Yield each mark with what it says, whether the process still runs or not."""


class Knowing(Protocol):
    """A profile whose files show features and memory, as `WANTS_KNOWLEDGE` says."""

    def read_changed(self, folder: Path, names: Collection[str]) -> More:
        """Read what some files, by their paths in the folder, hold of them."""


@runtime_checkable
class NoteKeeper(Protocol):
    """A profile whose files hold notes on the work at hand, beside checkpoints."""

    def read_notes(
        self, folder: Path, session_id: str | None, since: datetime | None
    ) -> dict[str, Any]:
        """Tell what a save should know, in canonical keys, if it was noted since then."""


@runtime_checkable
class Waited(Protocol):
    """A profile whose files say what waits for a session."""

    def pending(self, folder: Path) -> Mapping[str, Path]:
        """Return the checkpoints to be taken up, by session, the newest first."""

    def waiting(self, folder: Path) -> Mapping[str, Sequence[FilePrompt]]:
        """Return the prompts to be answered, by session."""


@runtime_checkable
class Filed(Protocol):
    """A profile whose files are kept by task."""

    def task_of(self, checkpoint: Checkpoint) -> str:
        """Tell what a checkpoint is filed under."""
