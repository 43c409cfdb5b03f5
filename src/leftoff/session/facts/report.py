"""Turn a session's state into the facts to report."""

import re

import msgspec

from leftoff.agents.stream import ToolCall
from leftoff.session.facts import shell_commands, written_paths
from leftoff.session.facts.focus import rank
from leftoff.session.facts.fold_state import (
    FailedRun,
    FoldState,
    Refusal,
    TodoEntry,
    TrailEntry,
)
from leftoff.session.facts.plan_parts import list_unfinished
from leftoff.session.facts.sentences import (
    find_question,
    is_bare,
    next_and_closing_words,
    promises_more,
)
from leftoff.session.facts.user_requests import find_answered

_MOST_COMMANDS = 6
_MOST_RANKED = 30
_OLDEST_FAILURE = 60
_NEWEST_FAILURE = 8
_OLDEST_TODO = 20
_MOST_HEADS = 40
# Commands that only look around. Nobody has to repair one that found nothing.
_LOOKING = frozenset(
    (
        "ls cat grep rg find head tail sed awk which command type file stat wc tree pwd echo jq cd"
    ).split()
)


class Facts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What can be known about a session without asking anyone."""

    session_id: str = ""
    agent_version: str = ""
    model: str = ""
    started_at: str = ""
    last_at: str = ""
    worked_at: str = ""
    cwd: str = ""
    roots: list[str] = []
    branch: str = ""
    task: str = ""
    intent: str = ""
    last_words: str = ""
    next_words: str = ""
    """What the agent said it would do, or asked."""
    closing_words: str = ""
    """The agent's last whole sentence."""
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
    requests: list[str] = []
    """Substantial requests after the task, in order."""
    constraints: list[str] = []
    answers_to: str = ""
    trail: list[TrailEntry] = []
    heads: list[str] = []
    plan_todo: list[str] = []
    """The parts of the plan that are not done, if the plan still applies."""
    failing: FailedRun | None = None
    """The failure that the agent was working on, if nothing overtook it."""
    is_todo_current: bool = True
    has_run: bool = False
    """Whether a call ran since the last request."""
    has_said: bool = False
    """Whether the agent said something since the last request."""
    is_said_last: bool = False
    """Whether no call followed the agent's last words."""
    said_at: int = 0
    """When the agent last said something, on the same clock as the trail."""

    @property
    def percent(self) -> float | None:
        """How full the context window is, in percent."""
        return round(100 * self.tokens / self.window, 2) if self.tokens and self.window else None


# What the fold keeps under the same name.
_SAME = (
    *(
        "session_id",
        "agent_version",
        "model",
        "started_at",
        "last_at",
        "worked_at",
        "cwd",
        "roots",
        "branch",
    ),
    *("is_turn_over", "plan_path", "plan_title", "commit_sha", "commit_subject"),
    *("refusals", "tokens", "compactions", "constraints"),
)


def _find_telling(state: FoldState) -> str:
    """Return the last words that say something: behind "I will." stands what was said before."""
    last = state.answers[-1:]
    before = state.answers[-2:-1]
    if last and before and is_bare(last[0].text) and before[0].at == last[0].at:
        return before[0].text
    return last[0].text if last else ""


def report(state: FoldState) -> Facts:
    """Return the facts of a session."""
    # A todo whose call has not ended is not on the agent's list yet.
    todos = [todo for todo in state.todos if todo.id not in state.open]
    step, total = _step(todos)
    requests = [said.text for said in state.requests]
    last_words = state.answers[-1].text if state.answers else ""
    telling = _find_telling(state)
    next_words, closing_words = next_and_closing_words(telling) if telling else ("", "")
    has_said = state.said_seq > state.asked_seq
    return Facts(
        **{name: getattr(state, name) for name in _SAME},
        task=state.task or (requests[-1] if requests else ""),
        intent=requests[-1] if requests else "",
        last_words=last_words,
        next_words=next_words,
        closing_words=closing_words,
        todos=todos,
        step=step,
        total=total,
        in_flight=_in_flight(state),
        files_modified=_list_modified(state),
        files_modified_by_agents=_list_modified(state, by_agents=True),
        ranked_files=_list_ranked(state),
        failures=[f for f in state.failures if state.calls - f.at <= _OLDEST_FAILURE],
        commands=_commands(state),
        pending_prompts=[queued.text for queued in state.queued],
        window=state.window or window_of(state.model, state.tokens),
        requests=_list_other_requests(state),
        answers_to=find_answered(state) if state.answered else "",
        trail=[_anchor_entry(each, state) for each in state.trail],
        heads=_rank_heads(state),
        plan_todo=_find_plan_todo(state),
        failing=_find_failing(state, last_words),
        is_todo_current=_is_todo_current(state, last_words),
        has_run=state.called_seq > state.asked_seq,
        has_said=has_said,
        is_said_last=has_said and state.said_seq > state.called_seq,
        said_at=state.said_seq,
    )


def _list_ranked(state: FoldState) -> list[str]:
    """List the files likely to be needed next, best first."""
    ranked = rank(state)[:_MOST_RANKED]
    paths = list(dict.fromkeys(written_paths.anchor(path, state.roots) for path in ranked))
    if state.roots:
        return paths
    # Without a known folder, a file may appear both with and without one.
    return [p for p in paths if not any(p.endswith(f"/{each}") for each in paths)]


def _list_other_requests(state: FoldState) -> list[str]:
    """List the later requests, without the last one, which has its own place."""
    last = state.requests[-1].text if state.requests else ""
    texts = list(dict.fromkeys(said.text for said in state.later))
    return [text for text in texts if not last.startswith(text)]


def _find_failing(state: FoldState, last_words: str) -> FailedRun | None:
    """Return the last failure, unless a request, a success, a commit or the answer overtook it."""
    if not state.failures:
        return None
    last = state.failures[-1]
    heads = shell_commands.heads_of(last.command)
    is_said_last = state.said_seq > max(state.called_seq, state.asked_seq)
    is_overtaken = (
        last.seq <= max(state.goal_seq, state.commit_seq)
        or state.calls - last.at > _NEWEST_FAILURE
        or any(use.ok_seq > last.seq for head in heads if (use := state.heads.get(head)))
        or all(head.split()[0] in _LOOKING for head in heads)
        or (is_said_last and (state.ends_turn or not promises_more(last_words)))
    )
    return None if is_overtaken else last


def _is_todo_current(state: FoldState, last_words: str) -> bool:
    """Return whether the todo list still says what is next: nothing newer overtook it."""
    if state.todos_seq < max(state.goal_seq, state.commit_seq):
        return False
    if state.seq - state.todos_seq > _OLDEST_TODO:
        # Some agents write a list and never tick it off.
        return False
    if state.said_seq <= max(state.todos_seq, state.asked_seq):
        return True
    is_said_last = state.said_seq > state.called_seq
    return not (promises_more(last_words) or (is_said_last and find_question(last_words)))


def _find_plan_todo(state: FoldState) -> list[str]:
    is_current = state.plan_seq > state.commit_seq and state.plan_seq >= state.goal_seq
    is_answered = state.said_seq > max(state.called_seq, state.asked_seq)
    return list_unfinished(state) if is_current and not is_answered else []


def _anchor_entry(entry: TrailEntry, state: FoldState) -> TrailEntry:
    if entry.kind == "search":
        return msgspec.structs.replace(entry, what=_anchor_text(entry.what, state))
    if entry.kind not in {"edit", "read"} or not entry.what:
        return entry
    path = written_paths.normalise(entry.what, state.cwd)
    return msgspec.structs.replace(entry, what=written_paths.anchor(path, state.roots))


def _anchor_text(text: str, state: FoldState) -> str:
    for root in state.roots:
        text = text.replace(f"{root}/", "")
    return text


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
    # A call of an earlier step was given up: the agent went on without its result.
    if state.said_seq > state.called_seq:
        return []
    calls = [
        call
        for call in state.open.values()
        if not call.sidechain and state.steps.get(call.id, state.step) == state.step
    ]
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
        if not written_paths.is_scratch(path, [*state.roots, *state.clones])
    ]


def _rank_heads(state: FoldState) -> list[str]:
    """List the first words of commands, those in use first."""
    ranked = sorted(
        state.heads.items(), key=lambda item: -(item[1].seq + 12 * min(item[1].count, 6))
    )
    return [head for head, _ in ranked][:_MOST_HEADS]


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


# --- context windows, for transcripts that do not state them ---


_MILLION = 1_000_000
_CLAUDE = 200_000

# The first match wins.
_BY_MODEL: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(r"\[1m\]|-1m\b"), _MILLION),
    (re.compile(r"claude-(?:opus|sonnet|haiku|fable|mythos)-(?:[5-9]|\d\d)"), _MILLION),
    (re.compile(r"claude"), _CLAUDE),
    (re.compile(r"gemini-1\.5-pro"), 2_097_152),
    (re.compile(r"gemini"), 1_048_576),
    (re.compile(r"gpt-4\.1"), 1_047_576),
    (re.compile(r"gpt-5(?:\.\d+)?-chat"), 128_000),
    (re.compile(r"gpt-5|codex"), 272_000),
    (re.compile(r"gpt-4|gpt-oss"), 128_000),
    (re.compile(r"\bo[134](?:-|$)"), 200_000),
    (re.compile(r"grok-4-fast|grok-4\.1"), 2_000_000),
    (re.compile(r"grok|qwen|kimi|glm|minimax"), 256_000),
    (re.compile(r"deepseek|llama|mistral|devstral"), 128_000),
)


def window_of(model: str, tokens: int = 0) -> int:
    """Return the model's context window, at least the tokens in use; 0 if unknown."""
    name = model.lower()
    window = next((size for pattern, size in _BY_MODEL if pattern.search(name)), 0)
    # More tokens than the window holds means that the model's larger variant is in use.
    return _MILLION if window and window < tokens <= _MILLION else window
