"""Turn a session's state into the facts to report."""

import re

import msgspec

from leftoff.agents.stream import ToolCall
from leftoff.session.facts import shell_commands, written_paths
from leftoff.session.facts.context_windows import window_of
from leftoff.session.facts.focus import rank
from leftoff.session.facts.fold_state import FailedRun, FoldState, Refusal, TodoEntry

_MOST_COMMANDS = 16
_MOST_RANKED = 30
_OLDEST_FAILURE = 60
_NEXT_CHARS = 400
_NEXT_WORDS = re.compile(
    r"\b(?:next|now|let me|let's|i'll|i will|i need to|i'm going to|remaining|then|todo|"
    r"still (?:need|have)|should i|shall i|would you|do you want|want me to)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_LAST_SENTENCES = 8


class Facts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What can be known about a session without asking anyone."""

    session_id: str = ""
    agent_version: str = ""
    model: str = ""
    started_at: str = ""
    last_at: str = ""
    cwd: str = ""
    roots: list[str] = []
    branch: str = ""
    task: str = ""
    intent: str = ""
    last_words: str = ""
    next_words: str = ""
    """What the agent said it would do, or asked."""
    closing_words: str = ""
    """The agent's last sentence, if it did not say what is next."""
    is_turn_over: bool = False
    todos: list[TodoEntry] = []
    plan_path: str = ""
    plan_title: str = ""
    step: int | None = None
    total: int | None = None
    in_flight: list[ToolCall] = []
    files_modified: list[str] = []
    files_modified_by_agents: list[str] = []
    ranked_files: list[str] = []
    failures: list[FailedRun] = []
    commands: list[str] = []
    commit_sha: str = ""
    commit_subject: str = ""
    pending_prompts: list[str] = []
    refusals: list[Refusal] = []
    tokens: int = 0
    window: int = 0
    compactions: int = 0

    @property
    def percent(self) -> float | None:
        """How full the context window is, in percent."""
        return round(100 * self.tokens / self.window, 2) if self.tokens and self.window else None


# What the fold keeps under the same name.
_SAME = (
    *("session_id", "agent_version", "model", "started_at", "last_at", "cwd", "roots", "branch"),
    *("is_turn_over", "plan_path", "plan_title", "commit_sha", "commit_subject", "refusals"),
    *("tokens", "compactions"),
)


def report(state: FoldState) -> Facts:
    """Return the facts of a session."""
    # A todo whose call has not ended is not on the agent's list yet.
    todos = [todo for todo in state.todos if todo.id not in state.open]
    step, total = _step(todos)
    requests = [said.text for said in state.requests]
    last_words = state.answers[-1].text if state.answers else ""
    next_words, closing_words = _next_and_closing_words(last_words)
    return Facts(
        **{name: getattr(state, name) for name in _SAME},
        task=state.task or (requests[-1] if requests else ""),
        intent=requests[-1] if requests else "",
        last_words=last_words,
        next_words=next_words,
        closing_words="" if next_words else closing_words,
        todos=todos,
        step=step,
        total=total,
        in_flight=_in_flight(state),
        files_modified=_list_modified(state),
        files_modified_by_agents=_list_modified(state, by_agents=True),
        ranked_files=[
            written_paths.anchor(path, state.roots) for path in rank(state)[:_MOST_RANKED]
        ],
        failures=[f for f in state.failures if state.calls - f.at <= _OLDEST_FAILURE],
        commands=_commands(state),
        pending_prompts=[queued.text for queued in state.queued],
        window=state.window or window_of(state.model, state.tokens),
    )


def _anchor_call(call: ToolCall, state: FoldState) -> ToolCall:
    """Write a call's file path the same way as all other paths."""
    if call.kind not in {"edit", "read"} or not call.paths:
        return call
    path = written_paths.normalise(call.paths[0], state.cwd)
    return msgspec.structs.replace(call, what=written_paths.anchor(path, state.roots))


def _step(todos: list[TodoEntry]) -> tuple[int | None, int | None]:
    """Return the todo list's current step and length; None for both if none is open."""
    done = sum(todo.status == "completed" for todo in todos)
    is_open = any(todo.is_open for todo in todos)
    return (done + 1, len(todos)) if is_open else (None, None)


def _in_flight(state: FoldState) -> list[ToolCall]:
    """List the pending calls, except leftoff's own save, which is reading this."""
    calls = [call for call in state.open.values() if not call.sidechain]
    return [
        _anchor_call(call, state) for call in calls if not shell_commands.is_own_save(call.command)
    ]


def _list_modified(state: FoldState, *, by_agents: bool = False) -> list[str]:
    """List the files changed by successful edits, most recent first."""
    edited = [
        (use.edited_at, path)
        for path, use in state.files.items()
        if use.edits and (use.edited_by_agent or not by_agents)
    ]
    paths = dict.fromkeys([path for _, path in sorted(edited, reverse=True)] + state.agents_files)
    return [
        written_paths.anchor(path, state.roots)
        for path in paths
        if not written_paths.is_scratch(path, state.roots)
    ]


def _commands(state: FoldState) -> list[str]:
    """List commands likely to be used again: recent ones and frequent ones."""
    ranked = sorted(
        state.runs.items(),
        # Each use, up to five, counts as much as being four calls more recent.
        key=lambda item: item[1].at + 4 * min(item[1].count, 5),
        reverse=True,
    )
    chosen: dict[str, str] = {}
    for command, _ in ranked:
        # One command per program and subcommand: variants of `pytest tests/…` teach nothing new.
        chosen.setdefault(" ".join(shell_commands.shorten(command).split()[:2]), command)
    return list(chosen.values())[:_MOST_COMMANDS]


def _next_and_closing_words(text: str) -> tuple[str, str]:
    """Return what the agent last said it would do or asked, and how its message ended."""
    sentences = [s.strip() for s in _SENTENCE_END.split(text) if s and s.strip()]
    last = sentences[-_LAST_SENTENCES:]
    telling = [n for n, s in enumerate(last) if _NEXT_WORDS.search(s) or s.endswith("?")]
    picked = telling[-2:]
    # A sentence that ends with a colon introduces the next one.
    announced = {n + 1 for n in picked if last[n].endswith(":") and n + 1 < len(last)}
    words = " ".join(last[n] for n in sorted({*picked, *announced}))
    return words[:_NEXT_CHARS], "".join(last[-1:])[:_NEXT_CHARS]
