"""Define the state that is kept of a session: limited in size, stored as JSON."""

import msgspec

from leftoff.agents.stream import Kind, Status, ToolCall

_OWN_TOOL = "leftoff"


class FileUse(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a file was used; the numbers are call counts at the last use."""

    edits: int = 0
    reads: int = 0
    edited_at: int = 0
    read_at: int = 0


class TodoEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One todo of the agent."""

    text: str
    status: Status = "pending"
    id: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it is not done yet."""
        return self.status in {"pending", "in_progress"}


class FailedRun(msgspec.Struct, frozen=True, omit_defaults=True):
    """A failed command; `key` identifies the command without options that do not matter."""

    key: str
    command: str
    error: str
    at: int
    seq: int = 0
    exit: int | None = None
    is_overtaken: bool = False
    """Whether another check that likely includes it has succeeded since."""


class RunUse(msgspec.Struct, frozen=True, omit_defaults=True):
    """How often a command ran, and when it ran last."""

    count: int = 0
    at: int = 0


class HeadUse(msgspec.Struct, frozen=True, omit_defaults=True):
    """When commands with the same first words ran last, when one succeeded, and how many ran."""

    seq: int = 0
    ok_seq: int = 0
    count: int = 0


class TrailEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of the last calls and how it ended; `is_done` if its result is known."""

    id: str
    tool: str
    kind: Kind = "other"
    what: str = ""
    outcome: str = ""
    exit: int | None = None
    ok: bool = True
    is_done: bool = False
    seq: int = 0
    lines: tuple[int, int] = (0, 0)
    """How many lines an edit added and dropped."""

    @classmethod
    def of_save(cls, id: str, seq: int) -> "TrailEntry":  # noqa: A002 - the name of the field
        """Return the mark that `leftoff save` leaves on the trail. No briefing shows it."""
        return cls(id, _OWN_TOOL, what="save", seq=seq)

    @property
    def is_save(self) -> bool:
        """Whether this only marks that the agent saved its work here."""
        return self.tool == _OWN_TOOL


class Queued(msgspec.Struct, frozen=True):
    """An unanswered prompt; `key` still identifies it after its secrets were removed."""

    key: str
    text: str


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call that the user refused, and the reason."""

    what: str
    why: str = ""


class Mention(msgspec.Struct, frozen=True, omit_defaults=True):
    """Paths in one command or output of the session.

    Those of a command in another folder than the session's are absolute.
    """

    at: int
    paths: tuple[str, ...] = ()


class SessionText(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text, and when it was said: the call count, and the moment if it matters."""

    text: str
    at: int = 0
    seq: int = 0


class PlanPart(msgspec.Struct, frozen=True, omit_defaults=True):
    """One part of a plan: its heading, and the files that it names."""

    title: str
    paths: tuple[str, ...] = ()


class FoldState(msgspec.Struct, omit_defaults=True):
    """The complete state of the fold. Its values are frozen; only it and its dicts change.

    `seq` counts requests, answers and calls. The fields that end with it say when something last
    happened, so that newer facts can overtake older ones.
    """

    calls: int = 0
    session_id: str = ""
    agent_version: str = ""
    started_at: str = ""
    last_at: str = ""
    worked_at: str = ""
    """When a file was last edited, or a command run that may change something."""
    requested_at: str = ""
    """When the user last asked for something, or agreed to it."""
    worked_for: str = ""
    """When the user asked for what was done last."""
    cwd: str = ""
    branch: str = ""
    is_branch_recorded: bool = False
    """Whether the agent's own record names a branch."""
    roots: list[str] = []
    task: str = ""
    continues: str = ""
    """The thread whose briefing was given to the session as a prompt."""
    requests: list[SessionText] = []
    answers: list[SessionText] = []
    has_parted: bool = False
    """Whether the user's last message was a goodbye, and no call followed."""
    is_dismissed: bool = False
    """Whether it was a goodbye or only thanked, so that what the agent answers is not the work."""
    declined: str = ""
    """The question that the user's last message declined, if no call followed."""
    outline: SessionText = SessionText("")
    todos: list[TodoEntry] = []
    plan_path: str = ""
    plan_title: str = ""
    plan_paths: tuple[str, ...] = ()
    open: dict[str, ToolCall] = {}
    files: dict[str, FileUse] = {}
    failures: list[FailedRun] = []
    limit: str = ""
    """The usage limit at which the last turn failed, in words."""
    gone: dict[str, int] = {}
    """Files and folders that were deleted or renamed, each with the call count at the time."""
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
    """Files edited by sub-agents that keep their own transcripts."""
    is_turn_over: bool = False
    later: list[SessionText] = []
    """Substantial requests after the one that set the task."""
    constraints: list[str] = []
    answered: str = ""
    """What the agent said before the last request, if that is so short that it may refer to it."""
    held: str = ""
    """What the agent announced or asked before the user asked or remarked something aside."""
    reported: str = ""
    """What the agent said after its last calls, before the user asked something aside."""
    aside_seq: int = 0
    """When the user last asked something aside, and nobody has worked since."""
    trail: list[TrailEntry] = []
    thought: SessionText = SessionText("")
    heads: dict[str, HeadUse] = {}
    steps: dict[str, int] = {}
    """The step in which each open call began; parallel calls share one."""
    step: int = 0
    clones: list[str] = []
    """Folders outside the project that the session cloned into or uses git in."""
    plan_parts: list[PlanPart] = []
    seq: int = 0
    asked_seq: int = 0
    agreed_seq: int = 0
    """When the user last answered a proposal or a question of the agent in a word or two."""
    goal_seq: int = 0
    said_seq: int = 0
    called_seq: int = 0
    todos_seq: int = 0
    ticked_seq: int = 0
    """When a todo was last marked as done."""
    commit_seq: int = 0
    checked_seq: int = 0
    """When a check of the work last succeeded."""
    commit_at: int = 0
    """The call count at the last commit."""
    plan_seq: int = 0
    plan_at: int = 0
    has_result: bool = False
    """Whether a result or text came after the last call, so that the next call is a new step."""
    ends_turn: bool = False
    is_interim: bool = False
    lacks_results: bool = False
    """Whether the transcript has no results, so that nobody knows whether the last call ended."""

    def is_gone(self, path: str) -> bool:
        """Return whether a file, or a folder that it was in, was deleted and not made again."""
        if not self.gone:
            return False
        parts = path.split("/")
        above = ("/".join(parts[:end]) for end in range(len(parts), 1, -1))
        at = max((self.gone.get(each, -1) for each in above), default=-1)
        use = self.files.get(path)
        return at >= (max(use.edited_at, use.read_at) if use else 0)

    def copy(self) -> "FoldState":
        """Return a copy that can change independently."""
        return msgspec.structs.replace(
            self,
            open=dict(self.open),
            files=dict(self.files),
            gone=dict(self.gone),
            runs=dict(self.runs),
            heads=dict(self.heads),
            steps=dict(self.steps),
        )
