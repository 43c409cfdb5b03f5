"""What the fold remembers of a session: bounded, and stored as JSON between readings."""

import msgspec

from leftoff.agents.stream import Status, ToolCall


class FileUse(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a file was used; the numbers are the call counts at the last use."""

    edits: int = 0
    reads: int = 0
    edited_at: int = 0
    read_at: int = 0
    edited_by_agent: bool = False


class TodoEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One todo of the agent."""

    text: str
    status: Status = "pending"
    id: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it is still to be done."""
        return self.status in {"pending", "in_progress"}


class FailedRun(msgspec.Struct, frozen=True, omit_defaults=True):
    """A command that failed; `key` stands for the command without its trimmings."""

    key: str
    command: str
    error: str
    at: int


class RunUse(msgspec.Struct, frozen=True, omit_defaults=True):
    """How often a command ran, and when last."""

    count: int = 0
    at: int = 0


class Queued(msgspec.Struct, frozen=True):
    """A prompt not yet answered; `key` finds it again after its secrets were taken out."""

    key: str
    text: str


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call that the user refused, and why."""

    what: str
    why: str = ""


class Mention(msgspec.Struct, frozen=True, omit_defaults=True):
    """Paths named in one text of the session: a command or an output."""

    at: int
    paths: tuple[str, ...] = ()


class SessionText(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text, and the call count when it was said."""

    text: str
    at: int = 0


class FoldState(msgspec.Struct, omit_defaults=True):
    """The whole memory of the fold; all its values are frozen, only it and its dicts change."""

    calls: int = 0
    session_id: str = ""
    agent_version: str = ""
    started_at: str = ""
    last_at: str = ""
    cwd: str = ""
    branch: str = ""
    roots: list[str] = []
    task: str = ""
    requests: list[SessionText] = []
    answers: list[SessionText] = []
    outline: SessionText = SessionText("")
    todos: list[TodoEntry] = []
    plan_path: str = ""
    plan_title: str = ""
    plan_paths: tuple[str, ...] = ()
    open: dict[str, ToolCall] = {}
    files: dict[str, FileUse] = {}
    failures: list[FailedRun] = []
    runs: dict[str, RunUse] = {}
    commit_sha: str = ""
    commit_subject: str = ""
    queued: list[Queued] = []
    tokens: int = 0
    window: int = 0
    model: str = ""
    refusals: list[Refusal] = []
    shown: list[Mention] = []
    commanded: list[Mention] = []
    compactions: int = 0
    compacted_at: int = -1
    agents_files: list[str] = []
    """Files that sub-agents edited, where these keep transcripts of their own."""
    is_turn_over: bool = False

    def copy(self) -> "FoldState":
        """Return a state that changes on its own."""
        return msgspec.structs.replace(
            self, open=dict(self.open), files=dict(self.files), runs=dict(self.runs)
        )
