"""Define the checkpoint: an immutable saved state, stored as flat JSON."""

import os
import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from leftoff.errors import CheckpointUnreadable

SCHEMA = 2

MANUAL = "manual"
TRIGGERS = (
    MANUAL,
    "precompact",
    "context",
    "close",
    "idle",
    "long-command",
    "session-end",
    "recovered",
    "ship",
    "import",
)
# Saved by leftoff on its own, not because somebody asked for a checkpoint.
AUTOMATIC = frozenset(
    {"precompact", "context", "close", "idle", "long-command", "session-end", "recovered", "ship"}
)
STATABLE = (
    "summary", "next_action", "next_steps", "blockers", "questions", "decisions", "failed",
    "notes", "done", "plan", "artifacts", "tdd_phase",
)  # fmt: skip
"""The keys that count as stated if a person or agent gave them a value."""
MENTIONED, EXPECTED = "mentioned", "expected"
"""The roles of files that a text names: one that must exist, and one that it may create."""
DELETED = "deleted"
"""The role of a file that the work itself deleted or renamed."""
# How an inferred next action begins if only the user can take it, such as to answer a question.
ASK_USER = "Ask the user"
# How one begins if the agent announced nothing.
NOTHING_NEXT = f"{ASK_USER} what comes next."
DECLINED = f"{NOTHING_NEXT} They declined what the agent asked:"
ALL_DONE = f"{NOTHING_NEXT} Nothing is left to do here: `leftoff done` closes the thread."
# A next action is written for an agent. These begin otherwise when the user reads them.
_FOR_THE_USER = {
    NOTHING_NEXT: "",
    "Answer the prompt that is still waiting: ": "Your prompt is still waiting: ",
    f"{ASK_USER} to approve the plan: ": "Approve the plan: ",
    f"{ASK_USER} again: ": "Answer the question: ",
    f"{ASK_USER} whether to ": "Decide whether to ",
    f"{ASK_USER} before going on: ": "Confirm first: ",
    f"{ASK_USER}: ": "Answer the question: ",
}
# How one ends if the agent claims what a failed run contradicts.
CONTRADICTED = "but its last run of this shows otherwise."
# How one begins if the transcript has no results.
UNKNOWN_END = "Check whether the last call ended"
# What is known of a failed command whose output names no error; the exit code follows.
COMPLETED = "it completed with exit code"
# How the outcome of a failed call on the trail begins.
FAILED = "failed: "
UNLISTED_ROLES = frozenset({"modified", DELETED, "plan", MENTIONED, EXPECTED})
"""The roles of files that a briefing shows elsewhere."""

_EXTRA = "__extra__"
# Compiled on first use: listings need none of it.
_OWN_SAVE = r"(?:^|\s)leftoff\s+save\b"


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record that keeps unknown keys, so that a newer version's file is preserved."""

    extra: dict[str, Any] = msgspec.field(default_factory=dict, name=_EXTRA)


class Transcript(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Where the agent stores the session, and how far it was read."""

    path: str
    offset: int = 0


class Commit(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A git commit with its hash and subject."""

    sha: str
    subject: str = ""


class NextAction(Record, frozen=True, kw_only=True, omit_defaults=True):
    """What to do next: *stated* by a person or agent, or *inferred* from the session."""

    text: str
    origin: Literal["stated", "inferred"] = "stated"
    source: str = ""
    """stated, prompt, call, failure, todo, plan, announced, proposal, trail or request."""

    @property
    def is_unknown(self) -> bool:
        """Whether nobody stated or announced what comes next."""
        return self.origin == "inferred" and self.text.startswith(NOTHING_NEXT)


class Decision(Record, frozen=True, kw_only=True, omit_defaults=True):
    """What was decided, and why."""

    what: str
    why: str = ""
    alternatives: list[str] = []
    impact: str = ""


class Failure(Record, frozen=True, kw_only=True, omit_defaults=True):
    """An approach that did not work, and why; *observed* if it is only a command that failed."""

    what: str
    why: str = ""
    origin: Literal["stated", "observed"] = "stated"


class FileRef(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A file with its path and fingerprint, never its content."""

    path: str
    role: str = ""
    size: int | None = None
    mtime: float | None = None
    sha256: str | None = None


class Todo(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One item of the agent's own todo list."""

    text: str
    status: str = "pending"


class Plan(Record, frozen=True, kw_only=True, omit_defaults=True):
    """The plan in use, and the current step."""

    path: str | None = None
    title: str | None = None
    step: int | None = None
    total: int | None = None
    stage: str | None = None


class InFlight(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A tool call that had started and not ended."""

    tool: str
    what: str = ""


class LastFailure(Record, frozen=True, kw_only=True, omit_defaults=True):
    """The last failing command that no later run repaired."""

    command: str
    error: str = ""
    session_id: str = ""
    """The session that ran it, if that is an earlier one of the thread."""


class TrailStep(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One of the agent's last calls, and how it ended."""

    tool: str
    what: str = ""
    outcome: str = ""
    exit: int | None = None

    @property
    def is_save(self) -> bool:
        """Whether it only saved the work. It marks what came after, and no briefing shows it."""
        return re.search(_OWN_SAVE, f"{self.tool} {self.what}") is not None


class ContextUse(Record, frozen=True, kw_only=True, omit_defaults=True):
    """How full the agent's context window was."""

    tokens: int | None = None
    window: int | None = None
    percent: float | None = None


class Source(Record, frozen=True, kw_only=True, omit_defaults=True):
    """The native file of a profile that a checkpoint was imported from."""

    profile: str
    path: str = ""
    sha256: str | None = None


class Checkpoint(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Where a session left off. All keys except the first four are optional.

    `thread` identifies the piece of work that it is a revision of. `as_of` is the last activity
    that it describes, if that was before the save. `stated` lists the keys whose value a person or
    agent stated; the other values were observed or inferred. `act` is shared by all checkpoints
    that one command saved, so that they can be undone together.
    """

    schema: int
    id: str
    saved_at: Annotated[datetime, msgspec.Meta(tz=True)]
    trigger: str
    thread: str | None = None
    name: str | None = None
    as_of: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    stated: list[str] = []
    reason: str | None = None
    act: str | None = None
    source: Source | None = None

    agent: str | None = None
    session_id: str | None = None
    transcript: Transcript | None = None
    project: str | None = None
    worktree: str | None = None
    branch: str | None = None
    head: str | None = None
    dirty: list[str] = []
    last_commit: Commit | None = None

    summary: str | None = None
    intent: str | None = None
    answers_to: str | None = None
    requests: list[str] = []
    constraints: list[str] = []
    left_off: str | None = None
    done: list[str] = []
    next_action: NextAction | None = None
    next_steps: list[str] = []
    blockers: list[str] = []
    questions: list[str] = []
    decisions: list[Decision] = []
    failed: list[Failure] = []
    notes: list[str] = []

    files_modified: list[str] = []
    files_deleted: list[str] = []
    focus_files: list[str] = []
    seen_files: list[str] = []
    commands: list[str] = []
    also_ran: list[str] = []
    trail: list[TrailStep] = []
    files: list[FileRef] = []
    watched: list[FileRef] = []
    artifacts: dict[str, str] = {}
    todos: list[Todo] = []
    todos_old: bool = False
    plan: Plan | None = None
    tdd_phase: str | None = None
    feature: str | None = None
    in_flight: InFlight | None = None
    last_failure: LastFailure | None = None
    limit: str | None = None
    pending_prompts: list[str] = []
    context: ContextUse | None = None

    @property
    def is_autosave(self) -> bool:
        """Whether leftoff saved it without being asked."""
        return is_automatic(self.trigger, self.name)

    @property
    def has_gone_on(self) -> bool:
        """Whether work went on after the next action was stated."""
        return self.is_autosave and "next_action" in self.stated

    @property
    def described_at(self) -> datetime:
        """The last activity that it describes; its age counts from here."""
        return self.as_of or self.saved_at

    @property
    def task(self) -> str:
        """One line that says what the work is about."""
        action = self.next_action
        stated = action.text if action is not None and action.origin == "stated" else None
        return self.summary or self.intent or self.left_off or stated or self.name or ""


def is_automatic(trigger: str | None, name: str | None) -> bool:
    """Return whether a checkpoint with this trigger and name was saved without being asked for."""
    # Version 0.1 gave names only to what somebody saved on purpose.
    return trigger in AUTOMATIC or name is None


# The record type of each key that holds a record or a list of records.
_PARTS: dict[str, type[Record]] = {
    "source": Source,
    "transcript": Transcript,
    "last_commit": Commit,
    "next_action": NextAction,
    "decisions": Decision,
    "failed": Failure,
    "files": FileRef,
    "watched": FileRef,
    "todos": Todo,
    "plan": Plan,
    "in_flight": InFlight,
    "last_failure": LastFailure,
    "trail": TrailStep,
    "context": ContextUse,
}

RecordType = TypeVar("RecordType", bound=Record)

# Size limits for one checkpoint, to keep a briefing readable and a store small. A text that long is
# pasted, not a note.
TEXT_LIMIT = 4_000
LIST_LIMIT = 200


def decode(data: bytes, *, source: str = "This text") -> Checkpoint:
    """Parse a checkpoint's JSON; unknown keys are kept in `extra` at every level."""
    try:
        return from_plain(msgspec.json.decode(data), Checkpoint)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise CheckpointUnreadable(
            f"{source} is not a readable checkpoint: {explain_error(error)}",
            hint="Run `leftoff show --raw ID` to print the file as it is.",
        ) from error


# Compiled on first use, because listings need neither.
_EXPECTED = r"Expected `([^`]+)`(?: (>=|<=) (\S+))?(?:, got `([^`]+)`)?"
_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


def split_reason(text: str) -> tuple[str, str]:
    """Return the parts of `what :: why`; a blank follows the mark, unlike that of `std::vector`."""
    what, *why = re.split(r"::(?=\s|$)", text, maxsplit=1)
    return what.strip(), "".join(why).strip()


def explain_error(error: Exception) -> str:
    """Return a validation error in plain words: msgspec names its own types and paths."""
    text, _, path = str(error).partition(" - at `")
    place = path.rstrip("`").removeprefix("$").lstrip(".")
    found = re.fullmatch(_EXPECTED, text)
    if found is None:
        return text.replace("enum value", "value")
    wanted, sign, bound, got = found.groups()
    kinds = [_KINDS.get(each, each) for each in wanted.split(" | ") if each != "null"]
    limit = f" of at {'least' if sign == '>=' else 'most'} {bound}" if sign else ""
    instead = f", not {_KINDS.get(got, got)}" if got else ""
    return f"{place or 'it'} must be {' or '.join(kinds)}{limit}{instead}"


def encode(checkpoint: Checkpoint) -> bytes:
    """Encode a checkpoint as the stored JSON: indented, with a trailing newline."""
    data = msgspec.json.encode(checkpoint)
    # Merging is slow and rarely needed: most checkpoints have no unknown keys.
    if _EXTRA.encode() in data:
        data = msgspec.json.encode(to_plain(checkpoint))
    return msgspec.json.format(data, indent=1) + b"\n"


def from_plain(plain: object, record: type[RecordType]) -> RecordType:
    """Convert decoded JSON to a record, and validate every known key."""
    return msgspec.convert(_split(plain, record), record, strict=True)


def to_plain(record: Record) -> dict[str, Any]:
    """Convert a record to JSON-ready values, with the unknown keys in their original places."""
    merged: dict[str, Any] = _merge_extra(msgspec.to_builtins(record))
    return merged


def _split(plain: object, record: type[Record]) -> object:
    if not isinstance(plain, dict):
        return plain
    known = set(record.__struct_fields__) - {"extra"}
    extra = {key: value for key, value in plain.items() if key not in known}
    values = {key: _split_part(key, plain[key], record) for key in plain if key in known}
    return {**values, _EXTRA: extra} if extra else values


def _split_part(key: str, value: object, record: type[Record]) -> object:
    part = _PARTS.get(key) if record is Checkpoint else None
    if part is None:
        return value
    return (
        [_split(each, part) for each in value] if isinstance(value, list) else _split(value, part)
    )


def _merge_extra(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_merge_extra(each) for each in plain]
    if not isinstance(plain, dict):
        return plain
    extra = plain.get(_EXTRA)
    if not isinstance(extra, dict):
        return {key: _merge_extra(value) for key, value in plain.items()}
    values = {key: _merge_extra(value) for key, value in plain.items() if key != _EXTRA}
    return {**values, **extra}


def json_schema() -> dict[str, Any]:
    """Return a JSON Schema of the stored JSON; unknown keys are allowed and kept."""
    schema = msgspec.json.schema(Checkpoint)
    # `extra` exists only in memory; in the file its keys are ordinary ones.
    for definition in schema["$defs"].values():
        definition["properties"].pop(_EXTRA, None)
        definition["additionalProperties"] = True
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


_ID = re.compile(r"[0-9]{8}T[0-9]{9}Z-[0-9a-f]{8}")


def new_id(now: datetime, *, after: str | None = None) -> str:
    """Return an id that sorts by time, and always after the id it follows.

    If the clock is set back between two saves, the newer revision must still win.
    """
    moment = now.astimezone(UTC)
    if after is not None:
        moment = max(moment, id_time(after) + timedelta(milliseconds=1))
    stamp = moment.isoformat(timespec="milliseconds")  # three times as fast as strftime
    digits = f"{stamp[:4]}{stamp[5:7]}{stamp[8:13]}{stamp[14:16]}{stamp[17:19]}{stamp[20:23]}"
    return f"{digits}Z-{os.urandom(4).hex()}"


def is_id(text: str) -> bool:
    """Return whether the text has the form of an id with a valid time."""
    if _ID.fullmatch(text) is None:
        return False
    try:
        id_time(text)
    except ValueError:
        return False
    return True


def id_time(checkpoint_id: str) -> datetime:
    """Return the time encoded in an id."""
    stamp = checkpoint_id[:18]
    year, month, day = int(stamp[:4]), int(stamp[4:6]), int(stamp[6:8])
    hour, minute, second = int(stamp[9:11]), int(stamp[11:13]), int(stamp[13:15])
    return datetime(year, month, day, hour, minute, second, int(stamp[15:]) * 1000, tzinfo=UTC)


_LONE_SURROGATE = "[\ud800-\udfff]"


def storable(checkpoint: Checkpoint) -> Checkpoint:
    """Replace what JSON cannot hold: the stray bytes that file names can contain."""
    try:
        msgspec.json.encode(checkpoint)
    # Trying first is cheap: nearly all checkpoints need no change.
    except UnicodeEncodeError:
        return msgspec.convert(_make_storable(msgspec.to_builtins(checkpoint)), Checkpoint)
    return checkpoint


def _make_storable(value: Any) -> Any:
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, list):
        return [_make_storable(each) for each in value]
    if isinstance(value, dict):
        return {without_surrogates(key): _make_storable(each) for key, each in value.items()}
    return value


def without_surrogates(text: str) -> str:
    """Replace each stray byte with a visible mark."""
    return text if text.isascii() else re.sub(_LONE_SURROGATE, "\ufffd", text)


def cut_to_limits(checkpoint: Checkpoint, *, room: int = 1) -> tuple[Checkpoint, list[str]]:
    """Shorten texts and lists that exceed the limits; return messages about what was cut.

    `room` multiplies the limits, for texts from other systems.
    """
    plain = msgspec.to_builtins(checkpoint)
    cut: list[str] = []
    for key, value in plain.items():
        if key not in {_EXTRA, "id", "saved_at"}:
            plain[key] = _cut_value(key, value, cut, room)
    if not cut:
        return checkpoint, []
    return msgspec.convert(plain, Checkpoint), cut


def _cut_value(key: str, value: Any, cut: list[str], room: int) -> Any:
    most_chars, most_items = TEXT_LIMIT * room, LIST_LIMIT * room
    if isinstance(value, str) and len(value) > most_chars:
        cut.append(f"{key} was longer than {most_chars} characters and was shortened.")
        return value[: most_chars - 1] + "…"
    if isinstance(value, list):
        if len(value) > most_items:
            cut.append(f"{key} had {len(value)} entries; the first {most_items} were kept.")
        return [_cut_value(key, each, cut, room) for each in value[:most_items]]
    if isinstance(value, dict):
        return {inner: _cut_value(key, each, cut, room) for inner, each in value.items()}
    return value


def address_user(action: str | None) -> str:
    """Return a next action, which is written for an agent, as the user reads it."""
    text = action or ""
    lead = next(filter(text.startswith, _FOR_THE_USER), "")
    return _FOR_THE_USER.get(lead, "") + text.removeprefix(lead).lstrip()
