"""The interface of every profile: defaults, a reader of its native files, and a writer.

A profile knows only formats. The store is the source of truth; native files are another view of it.
`import_native` reads them and `mirror` updates them, in the same way for every profile.
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
"""The key of `StoreNews.current` for the newest checkpoint without a name."""


class Native(msgspec.Struct, frozen=True, kw_only=True):
    """The content of one native file: a checkpoint in canonical keys, or a problem."""

    fields: dict[str, Any] = {}
    name: str | None = None
    has_plain_name: bool = False
    """Whether that name keeps its spelling, instead of becoming kebab-case."""
    saved_at: datetime | None = None
    """When it says it was saved; if it does not, the file's own time counts."""
    is_exact: bool = False
    """Whether that time is so exact that a different one means another state, not an edit."""
    project: str = ""
    """The project it names, if several share a folder."""
    shows: str = ""
    """The id of the checkpoint it was written from, if nobody changed it since."""
    is_open: bool = True
    """Whether it may still be resumed, judging by the files."""
    problem: str | None = None


class More(msgspec.Struct, frozen=True, kw_only=True):
    """What native files contain besides checkpoints."""

    prompts: Mapping[str, Sequence[FilePrompt]] = {}
    """Waiting prompts, by session."""
    memories: "Sequence[memory.EntryDraft]" = ()
    queued: "Sequence[memory.EntryDraft]" = ()
    """Entries that become active once somebody approves them."""
    loops: "Mapping[str, features.Loop]" = {}
    """The work on features, by session; an empty key means outside of sessions."""
    orchestration: "features.Orchestration | None" = None
    features: "Sequence[features.Feature | features.Fix]" = ()
    features_at: datetime | None = None
    """When the files of features were last written."""
    documents: Mapping[str, Any] = {}
    """What else the files contain, by their paths, so that an export can write it again."""
    problems: Sequence[str] = ()


class BufferedExchange(msgspec.Struct, frozen=True, kw_only=True):
    """What a user asked, word for word, and how the answer ended."""

    at: datetime
    asked: str
    answered: str = ""


class SessionNews(msgspec.Struct, frozen=True, kw_only=True):
    """What hooks just reported about a session."""

    agent: str
    session_id: str
    event: str
    """The kind of event: prompt, stop, pre-compact, session-end …"""
    at: datetime | None = None
    """When it happened."""
    file: str = ""
    """The file that a tool wrote, if it did."""
    percent: float | None = None
    buffer: Sequence[BufferedExchange] = ()
    """What was said since the context began to fill up."""
    prompts: Sequence[FilePrompt] = ()
    """The waiting prompts of this session."""


class PromptNews(msgspec.Struct, frozen=True, kw_only=True):
    """The prompts of one session: those that wait, and those that are settled."""

    session_id: str
    waiting: Sequence[FilePrompt] = ()
    settled: Sequence[FilePrompt] = ()


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """The features and memory of a project."""

    is_new: bool = True
    """Whether any of it changed since native files were last written."""
    board: "features.Board"
    loops: "Mapping[str, features.Loop]" = {}
    """By the key of their session or worktree."""
    remembered: "Callable[[memory.Kind], Sequence[memory.MemoryEntry]]"
    """The entries of a kind, whatever their status, oldest first."""
    knows: "Callable[[memory.Kind, str], bool]"
    """Whether the memory ever contained this text."""


class AtWork(msgspec.Struct, frozen=True, kw_only=True):
    """A running process and its task, identified by its number and start time."""

    what: str
    pid: int
    began: float = 0.0
    since: datetime | None = None


class TakenUp(msgspec.Struct, frozen=True, kw_only=True):
    """How a checkpoint was resumed: by which event, and in which session, if any."""

    event: str
    session_id: str | None = None
    is_by_prompt: bool = False
    """Whether a prompt such as "go on" resumed it, and nobody ran a command."""


class StoreNews(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in the store since native files were last written."""

    now: datetime
    project: Project
    saved: Sequence[Checkpoint] = ()
    """Every new checkpoint, oldest first."""
    resumed: Sequence[Checkpoint] = ()
    """The resumed checkpoints, oldest first."""
    taken_up: Mapping[str, TakenUp] = {}
    """How each of these was resumed."""
    reopened: Sequence[Checkpoint] = ()
    """The checkpoints that wait again, because their resume was undone."""
    is_whole: bool = False
    """Whether this is everything that is listed, as if it had just been saved."""
    current: Mapping[str, Checkpoint | None] = {}
    """The current checkpoint of each changed name; None if it was archived."""
    session: SessionNews | None = None
    prompts: Sequence[PromptNews] = ()
    """All prompts ever stored, if one of them changed."""
    knowledge: Knowledge | None = None
    """Only for profiles that ask for it."""
    briefing: Callable[[], str] | None = None
    """Builds the text that shows a new session the state of the project."""


class Files(Protocol):
    """A folder of native files. Paths are relative to it and never lead out of it."""

    @property
    def root(self) -> Path:
        """The folder."""

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes; None if there is no regular file."""

    def names(self, folder: str, pattern: str = "*") -> list[str]:
        """List the files of a folder by their paths, sorted."""

    def is_of(self, path: str, checkpoint_id: str) -> bool:
        """Return whether a file was written or imported as this checkpoint."""

    def create(self, path: str, data: bytes, *, of: str = "") -> str:
        """Write a new file, with -1, -2 … added to its name if that is taken; return its path."""

    def replace(self, path: str, data: bytes, *, of: str = "") -> None:
        """Write one of our files, after importing what a person changed in it."""

    def edit(self, path: str, change: "Callable[[str], str]") -> None:
        """Change our part of a file that belongs to others; an empty text means no file."""

    def append(self, path: str, text: str, *, key: str, head: str = "") -> None:
        """Append lines to a file, once for each key; a new file begins with its head."""

    def trash(self, path: str, *, to: str | None = None) -> None:
        """Move a file, if it exists, to the trash, or to the profile's own trash."""

    def warn(self, text: str) -> None:
        """Show the user a warning, apart from the command's output."""

    def in_worktree(self, worktree: str | None) -> "Files | None":
        """Return the files of the same layout in another worktree; None if that is gone."""


class Profile(Protocol):
    """One of the five systems."""

    SETTINGS: Mapping[str, Any]
    """Its defaults, which override those of `config.Settings`."""
    HOLDS: frozenset[str]
    """The keys of a checkpoint that its files store without loss."""
    IS_LIVING: bool
    """Whether a file stands for a name, so that removing it archives the name."""
    PER_WORKTREE: bool
    """Whether each worktree has its own files."""
    WANTS_KNOWLEDGE: bool
    """Whether its files show features and memory too."""
    EVENTS: frozenset[str]
    """The kinds of hook events it needs in addition to the usual ones."""
    NATIVE: frozenset[str]
    """Patterns of its files, relative to its folder, if that can be inside a worktree."""

    def home(self, project: Project) -> Path:
        """Return the folder of a project's native files, whether it exists or not."""

    def is_here(self, folder: Path) -> bool:
        """Return whether this folder contains native files."""

    def folders(self, folder: Path) -> list[Path]:
        """Return the folders, and the files changed in place, that hold checkpoints and more."""

    def find_stale_names(self, folder: Path) -> list[str]:
        """Return the names that an index of the layout lists although their files are gone."""

    def list_natives(self, folder: Path) -> Iterator[Path]:
        """Yield the files with checkpoints, oldest first if their names show it."""

    def read(self, path: Path, data: bytes) -> Native:
        """Read one of them; never raise because of its content."""

    def read_more(self, folder: Path) -> More:
        """Read everything besides checkpoints."""

    def write(self, files: Files, news: StoreNews) -> None:
        """Update native files; processing the same changes twice has no further effect."""


# Optional interfaces. A profile without one defines none of its names.


@runtime_checkable
class Worker(Protocol):
    """A profile whose files show running commands."""

    def home(self, project: Project) -> Path:
        """Return the folder of a project's native files, whether it exists or not."""

    def work_path(self, folder: Path, work: AtWork) -> Path:
        """Return the path of a process's mark."""

    def work_text(self, work: AtWork) -> str:
        """Return the text of the mark."""

    def at_work(self, folder: Path) -> Iterator[tuple[Path, AtWork]]:
        """Yield each mark with its content, whether the process is still running or not."""


class Knowing(Protocol):
    """A profile whose files show features and memory, as `WANTS_KNOWLEDGE` says."""

    def read_changed(self, folder: Path, names: Collection[str]) -> More:
        """Read the features and memory in some files, given by their paths in the folder."""


@runtime_checkable
class NoteKeeper(Protocol):
    """A profile whose files contain notes about current work, besides checkpoints."""

    def read_notes(
        self,
        folder: Path,
        session_id: str | None,
        since: datetime | None,
        task: str | None = None,
    ) -> dict[str, Any]:
        """Return what a save should include, in canonical keys, if it was noted since then.

        `task` is the name that the user gives the work, if they do.
        """


@runtime_checkable
class Waited(Protocol):
    """A profile whose files show what waits for a session."""

    def pending(self, folder: Path) -> Mapping[str, Path]:
        """Return the checkpoints to resume, by session, newest first."""

    def waiting(self, folder: Path) -> Mapping[str, Sequence[FilePrompt]]:
        """Return the prompts to answer, by session."""

    def prompt_file(self, folder: Path, session_id: str) -> Path | None:
        """Return the file with the prompts of a session."""


@runtime_checkable
class Filed(Protocol):
    """A profile whose files are grouped by task."""

    def task_of(self, checkpoint: Checkpoint) -> str:
        """Return the task under which a checkpoint is filed."""
