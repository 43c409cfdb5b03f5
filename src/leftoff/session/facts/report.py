"""Turn a session's state into the facts to report."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from leftoff.agents.stream import ToolCall
from leftoff.lazy_patterns import lazy
from leftoff.phrases.short_answers import is_refusal, is_remark
from leftoff.session.facts import error_lines, shell_commands, written_paths
from leftoff.session.facts.anchor_paths import anchor_call, anchor_entry, anchor_text
from leftoff.session.facts.focus import rank
from leftoff.session.facts.fold_state import (
    FailedRun,
    FoldState,
    Refusal,
    TodoEntry,
    TrailEntry,
)
from leftoff.session.facts.looks import (
    destroys,
    is_check,
    is_delivery,
    is_look,
    is_run_again,
)
from leftoff.session.facts.plan_parts import list_unfinished
from leftoff.session.facts.sentences import (
    excuses_failure,
    find_claim,
    find_question,
    find_reported_failure,
    is_bare,
    next_and_closing_words,
    promises_more,
    says_all_is_done,
    says_it_fails,
)
from leftoff.session.facts.trail import find_open_announcement
from leftoff.session.facts.user_requests import find_answered

_RUNS_PROJECT = lazy(r"(?:bunx?|p?npm|npx|yarn|uv|cargo|go|python3?|node|deno|make) |\./")
_MOST_COMMANDS = 6
_MOST_RERUNS = 4
_MANY_RUNS = 3
_MOST_RANKED = 30
_OLDEST_FAILURE = 60
_NEWEST_FAILURE = 8
_OLDEST_TODO = 20
_MOST_HEADS = 40
# Commands that only look around. One that found nothing need not be repaired.
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
    worked_for: str = ""
    cwd: str = ""
    base: str = ""
    """The folder that commands and paths are shown for."""
    roots: list[str] = []
    branch: str = ""
    task: str = ""
    continues: str = ""
    """The thread whose briefing was given to the session as a prompt."""
    intent: str = ""
    request: str = ""
    """The last request that asks for something: thanks and refusals that were answered do not."""
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
    files_deleted: list[str] = []
    """Those of the modified files that no longer exist."""
    ranked_files: list[str] = []
    failures: list[FailedRun] = []
    limit: str = ""
    """The usage limit at which the last turn failed, in words."""
    commands: list[str] = []
    reruns: list[str] = []
    """Those commands that a colleague would run again: checks, builds, the program."""
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
    announced: str = ""
    """What the agent announced to do with a file and has not begun, as an order."""
    claim: str = ""
    """What the agent said last that the failing run contradicts."""
    held: str = ""
    """What the agent announced or asked before the user's last question or remark."""
    is_finished: bool = False
    """Whether the agent said that nothing is left, and all that it edited is committed."""
    reported: str = ""
    """What the agent said after its last calls, before the user asked something aside."""
    declined: str = ""
    """The question that the user's last message declined, if no call followed."""
    has_parted: bool = False
    is_dismissed: bool = False
    """Whether the user's last message was a goodbye or only thanked."""
    lacks_results: bool = False
    """Whether nobody can know if the last call ended."""
    is_answer_due: bool = False
    """Whether nobody has acted on the user's short answer to a proposal or question."""
    is_todo_current: bool = True
    is_todo_old: bool = False
    is_step_done: bool = False
    """Whether a step ended since the user last said something."""
    has_run: bool = False
    """Whether a call ran since the last request."""
    has_said: bool = False
    """Whether the agent said something since the last request."""
    is_said_last: bool = False
    """Whether no call followed the agent's last words."""
    is_interim: bool = False
    """Whether the agent marked its last words as said in the middle of its work."""
    said_at: int = 0
    """When the agent last said something, on the same clock as the trail."""
    asked_at: int = 0
    """When the user last asked for something, on the same clock."""

    @property
    def is_reported(self) -> bool:
        """Whether the agent's last words answer something aside, and others were about the work."""
        return bool(self.reported) and self.is_said_last and not self.has_run

    @property
    def work_words(self) -> str:
        """The agent's last words about the work."""
        return self.reported if self.is_reported else self.last_words

    @property
    def percent(self) -> float | None:
        """How full the context window is, in percent."""
        return round(100 * self.tokens / self.window, 2) if self.tokens and self.window else None


# What the fold keeps under the same name.
_SAME = (
    "session_id agent_version model started_at last_at worked_at worked_for cwd roots branch "
    "continues is_interim is_turn_over plan_path plan_title commit_sha commit_subject refusals "
    "tokens compactions constraints limit held declined has_parted is_dismissed lacks_results"
).split()


def _find_meaningful(state: FoldState) -> str:
    """Return the last words that say something: "I will." counts only with the words before it."""
    last = state.answers[-1:]
    before = state.answers[-2:-1]
    if last and before and is_bare(last[0].text) and before[0].at == last[0].at:
        return before[0].text
    return last[0].text if last else ""


def report(state: FoldState, *, window: int = 0) -> Facts:
    """Return the facts of a session; `window` is the one that hooks know of."""
    state = _widen_to_repository(state)
    # A todo whose call has not ended is not on the agent's list yet.
    todos = [todo for todo in state.todos if todo.id not in state.open]
    step, total = _step(todos)
    last_words = state.answers[-1].text if state.answers else ""
    meaningful = _find_meaningful(state)
    next_words, closing_words = next_and_closing_words(meaningful) if meaningful else ("", "")
    failing, claim = _find_failing(state)
    base = _find_base(state)
    return Facts(
        **{name: getattr(state, name) for name in _SAME},
        reported=state.reported if state.aside_seq else "",
        last_words=last_words,
        next_words=next_words,
        closing_words=closing_words,
        base=base,
        todos=todos,
        step=step,
        total=total,
        in_flight=_in_flight(state, base),
        files_modified=_list_modified(state),
        files_deleted=_list_modified(state, only_gone=True),
        ranked_files=_list_ranked(state),
        failures=_list_failures(state),
        commands=_commands(state),
        reruns=_commands(state, most=_MOST_RERUNS, only=is_run_again),
        window=state.window or window or window_of(state.model, state.tokens),
        trail=[anchor_entry(each, state, base) for each in state.trail],
        heads=_rank_heads(state),
        plan_todo=_find_plan_todo(state),
        failing=failing,
        claim=claim,
        announced=find_open_announcement(state) if state.answers else "",
        is_todo_old=_is_todo_old(state),
        is_todo_current=_is_todo_current(state, last_words),
        is_finished=_is_finished(state),
        **_list_asked(state),
        **_compare_moments(state),
    )


def _list_asked(state: FoldState) -> dict[str, Any]:
    """Return what the user has asked for."""
    last = state.requests[-1].text if state.requests else ""
    return {
        "task": state.task or last,
        "intent": last,
        "request": _find_request(state),
        "requests": _list_other_requests(state),
        "answers_to": find_answered(state) if state.answered else "",
        "pending_prompts": [queued.text for queued in state.queued],
    }


def _find_request(state: FoldState) -> str:
    """Return the last request, without thanks and refusals that were answered."""
    texts = [said.text for said in state.requests]
    is_answered = state.said_seq > max(state.asked_seq, state.called_seq)
    # What was asked aside and led to work is among the later requests.
    worked_for = {said.text for said in state.later}
    while is_answered and texts[1:] and texts[-1] not in worked_for and _is_settled(texts[-1]):
        texts.pop()
    return texts[-1] if texts else ""


def _is_settled(asked: str) -> bool:
    """Return whether an answer in words settles a request."""
    return is_refusal(asked) or is_remark(asked)


def _is_finished(state: FoldState) -> bool:
    edited = max((use.edited_at for use in state.files.values() if use.edits), default=0)
    is_committed = bool(state.commit_sha) and state.commit_at >= edited
    is_said_last = state.said_seq > max(state.called_seq, state.asked_seq)
    is_open = any(todo.is_open for todo in state.todos)
    if not (is_committed and is_said_last) or is_open:
        return False
    return says_all_is_done(state.answers[-1].text)


def _widen_to_repository(state: FoldState) -> FoldState:
    """Name paths from the top of the repository, as git does, wherever in it the session began."""
    tops = [find_top(root) for root in state.roots]
    return msgspec.structs.replace(state, roots=[*dict.fromkeys(tops)])


def find_top(folder: str) -> str:
    """Return the top of the worktree around a folder; the folder itself if none is there."""
    if not folder.startswith("/"):
        return folder
    around = (Path(folder), *Path(folder).parents)
    return next((str(each) for each in around if _has_git(each / ".git")), folder)


def _has_git(entry: Path) -> bool:
    try:
        return entry.is_file() or (entry / "HEAD").is_file()
    except OSError:
        return False


def _compare_moments(state: FoldState) -> dict[str, Any]:
    """Say what has happened since the user last asked for something."""
    has_said = state.said_seq > state.asked_seq
    last = max(state.asked_seq, state.said_seq, state.called_seq)
    return {
        "is_answer_due": 0 < last == state.agreed_seq,
        "is_step_done": state.ticked_seq > state.asked_seq or (has_said and state.ends_turn),
        "has_run": state.called_seq > state.asked_seq,
        "has_said": has_said,
        "is_said_last": has_said and state.said_seq > state.called_seq,
        "said_at": state.said_seq,
        "asked_at": state.asked_seq,
    }


def _list_failures(state: FoldState) -> list[FailedRun]:
    recent = (each for each in state.failures if state.calls - each.at <= _OLDEST_FAILURE)
    return [_show_failure(each, state) for each in recent]


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
    last = _find_request(state)
    texts = list(dict.fromkeys(said.text for said in state.later))
    # A choice that was made last is shown with the last request.
    return [
        text
        for text in texts
        if not last.startswith(text.removesuffix(" …")) and not text.startswith(f"{last} (")
    ]


def _find_failing(state: FoldState) -> tuple[FailedRun | None, str]:
    """Return the failure that is to be repaired, and what the agent said that it contradicts.

    A request, a success, a commit or the agent's answer can overtake a failure.
    """
    last = state.failures[-1] if state.failures else None
    if last is None or last.is_overtaken or is_look(last.command):
        return None, ""
    if last.seq <= max(state.goal_seq, state.commit_seq, state.agreed_seq):
        return None, ""
    heads = [
        head for head in shell_commands.heads_of(last.command) if head.split()[0] not in _LOOKING
    ]
    # A call with a wrong option need not be repaired, unless it was to check or deliver the work.
    command = shell_commands.without_cd(last.command)
    is_work = is_check(command) or is_delivery(command) or _RUNS_PROJECT.match(command)
    if not heads or (error_lines.is_misused(last.error) and not is_work):
        return None, ""
    shown = _show_failure(last, state)
    if claim := _find_contradicted(last, state):
        return shown, claim
    use = state.heads.get(heads[-1])
    is_old = state.calls - last.at > _NEWEST_FAILURE or (use is not None and use.ok_seq > last.seq)
    return (None, "") if is_old or not _is_left(last, state) else (shown, "")


def _find_contradicted(last: FailedRun, state: FoldState) -> str:
    """Return the words that claim the success of what failed and did not run again."""
    words = _find_last_answer(state)
    if not words or excuses_failure(words) or state.calls - last.at > _OLDEST_FAILURE:
        return ""
    if is_delivery(last.command) and (claim := find_claim(words, of_delivery=True)):
        return claim
    return find_claim(words, of_delivery=False) if is_check(last.command) else ""


def _is_left(last: FailedRun, state: FoldState) -> bool:
    """Return whether the agent's last words leave a failure to be repaired."""
    words = _find_last_answer(state)
    if not words:
        return True
    if excuses_failure(words):
        return False
    if promises_more(words) or find_question(words):
        # At the end of a turn, what the agent announces or asks says more than the failure.
        return not state.ends_turn and promises_more(words)
    if find_reported_failure(words) or says_it_fails(words):
        return True
    # What nobody mentions still fails, if it is a check that nothing followed.
    has_failed_last = state.checked_seq < last.seq
    return has_failed_last and (is_check(last.command) or is_delivery(last.command))


def _find_last_answer(state: FoldState) -> str:
    """Return what the agent said after its last call; an answer to an aside adds to it."""
    if state.said_seq <= max(state.called_seq, state.asked_seq):
        return ""
    said = state.answers[-2:] if state.aside_seq else state.answers[-1:]
    return "\n".join(each.text for each in said)


def _show_failure(failed: FailedRun, state: FoldState) -> FailedRun:
    base = _find_base(state)
    command = shell_commands.unplace(failed.command, base)
    error = anchor_text(failed.error, state, base)
    return msgspec.structs.replace(failed, command=command, error=error)


def _find_base(state: FoldState) -> str:
    """Return the folder that the work is in: where most of the last commands ran.

    That is the root around the current folder, or a worktree or clone elsewhere.
    """
    root = next((r for r in state.roots if written_paths.is_under(state.cwd, r)), state.cwd)
    folders = [shell_commands.folder_of(each.what) for each in state.trail if each.kind == "run"]
    ran = [folder for folder in folders if folder]
    outside = [folder for folder in ran if not written_paths.is_under(folder, root)]
    if len(outside) < _MANY_RUNS or 2 * len(outside) <= len(ran):
        return root
    return Counter(outside).most_common(1)[0][0]


def _is_todo_current(state: FoldState, last_words: str) -> bool:
    """Return whether the todo list still says what is next: nothing newer overtook it."""
    if _is_todo_old(state):
        return False
    if state.said_seq <= max(state.todos_seq, state.asked_seq):
        return True
    is_said_last = state.said_seq > state.called_seq
    return not (promises_more(last_words) or (is_said_last and find_question(last_words)))


def _is_todo_old(state: FoldState) -> bool:
    """Return whether a request or commit came after the list, or nobody ticked it off for long."""
    is_overtaken = state.todos_seq < max(state.goal_seq, state.commit_seq)
    return is_overtaken or state.seq - state.todos_seq > _OLDEST_TODO


def _find_plan_todo(state: FoldState) -> list[str]:
    is_current = state.plan_seq > state.commit_seq and state.plan_seq >= state.goal_seq
    is_answered = state.said_seq > max(state.called_seq, state.asked_seq)
    return list_unfinished(state) if is_current and not is_answered else []


def _step(todos: list[TodoEntry]) -> tuple[int | None, int | None]:
    """Return the todo list's current step and length; None for both if none is open."""
    done = sum(todo.status == "completed" for todo in todos)
    is_open = any(todo.is_open for todo in todos)
    return (done + 1, len(todos)) if is_open else (None, None)


def _in_flight(state: FoldState, base: str) -> list[ToolCall]:
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
        anchor_call(call, state, base)
        for call in calls
        if not shell_commands.is_own_save(call.command)
    ]


def _list_modified(state: FoldState, *, only_gone: bool = False) -> list[str]:
    """List the files changed by successful edits, most recent first."""
    edited = [(use.edited_at, path) for path, use in state.files.items() if use.edits]
    paths = dict.fromkeys([path for _, path in sorted(edited, reverse=True)] + state.agents_files)
    return [
        written_paths.anchor(path, state.roots)
        for path in paths
        if not written_paths.is_scratch(path, [*state.roots, *state.clones])
        and (not only_gone or state.is_gone(path))
    ]


def _rank_heads(state: FoldState) -> list[str]:
    """List the first words of commands, those in use first."""
    ranked = sorted(
        state.heads.items(), key=lambda item: -(item[1].seq + 12 * min(item[1].count, 6))
    )
    return [head for head, _ in ranked if not destroys(head)][:_MOST_HEADS]


def _commands(
    state: FoldState, *, most: int = _MOST_COMMANDS, only: Callable[[str], bool] | None = None
) -> list[str]:
    """List commands likely to be used again: recent ones and frequent ones."""
    base = _find_base(state)
    ranked = sorted(
        state.runs.items(),
        # Each use, up to five, counts as much as being four calls more recent.
        key=lambda item: item[1].at + 4 * min(item[1].count, 5),
        reverse=True,
    )
    chosen: dict[str, str] = {}
    for placed, _ in ranked:
        command = shell_commands.unplace(placed, base)
        if only is not None and not only(command):
            continue
        # One command per program and subcommand: variants of `pytest tests/…` teach nothing new.
        head = " ".join(shell_commands.heads_of(command)[:1]) or command
        chosen.setdefault(head, command)
    return list(chosen.values())[:most]


# --- context windows, for transcripts that do not state them ---


_MILLION = 1_000_000
_CLAUDE = 200_000

# The first match wins.
_BY_MODEL: tuple[tuple[re.Pattern[str], int], ...] = (
    (lazy(r"\[1m\]|-1m\b"), _MILLION),
    (lazy(r"claude-(?:opus|sonnet|haiku|fable|mythos)-(?:[5-9]|\d\d)"), _MILLION),
    (lazy(r"claude"), _CLAUDE),
    (lazy(r"gemini-1\.5-pro"), 2_097_152),
    (lazy(r"gemini"), 1_048_576),
    (lazy(r"gpt-4\.1"), 1_047_576),
    (lazy(r"gpt-5(?:\.\d+)?-chat"), 128_000),
    (lazy(r"gpt-5|codex"), 272_000),
    (lazy(r"gpt-4|gpt-oss"), 128_000),
    (lazy(r"\bo[134](?:-|$)"), 200_000),
    (lazy(r"grok-4-fast|grok-4\.1"), 2_000_000),
    (lazy(r"grok|qwen|kimi|glm|minimax"), 256_000),
    (lazy(r"deepseek|llama|mistral|devstral"), 128_000),
)


def window_of(model: str, tokens: int = 0) -> int:
    """Return the model's context window, at least the tokens in use; 0 if unknown."""
    name = model.lower()
    window = next((size for pattern, size in _BY_MODEL if pattern.search(name)), 0)
    # More tokens than the window holds means that the model's larger variant is in use.
    return _MILLION if window and window < tokens <= _MILLION else window
