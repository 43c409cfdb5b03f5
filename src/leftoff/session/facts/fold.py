"""Fold a session's events into its state, one at a time, so that reading can resume."""

import re
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from leftoff.agents.loose_values import cut
from leftoff.agents.stream import (
    AgentThought,
    AssistantText,
    Compaction,
    Place,
    PlanSeen,
    PromptQueued,
    PromptTaken,
    SessionEvent,
    SessionInfo,
    TodoChange,
    TodoList,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnFailed,
    Usage,
    UserText,
    prompt_key,
)
from leftoff.session.facts import (
    error_lines,
    file_uses,
    repairs,
    shell_commands,
    trail,
    written_paths,
)
from leftoff.session.facts.excerpts import clip, title_of
from leftoff.session.facts.fold_state import (
    FailedRun,
    FoldState,
    HeadUse,
    Mention,
    Queued,
    Refusal,
    RunUse,
    SessionText,
    TrailEntry,
)
from leftoff.session.facts.looks import is_check, is_look, is_plain_look
from leftoff.session.facts.plan_parts import split_plan
from leftoff.session.facts.redacting import Redact, redact_texts, texts_of
from leftoff.session.facts.todo_list import change_todo, replace_todos, set_todos
from leftoff.session.facts.user_requests import (
    GO_ON,
    PLAN_FOLLOWS,
    note_briefing,
    note_request,
    note_work,
    strip_briefing,
)
from leftoff.session.plans import find_plan_paths
from leftoff.session.usage_limits import find_usage_limit
from leftoff.text import times

_REQUEST_CHARS = 4000
_THOUGHT_CHARS = 2000
_MOST_HEADS = 60
_MOST_RAN = 200
_MOST_STEPS = 256
_ANSWER_CHARS = 3000
_OUTPUT_CHARS = 6000
_COMMAND_CHARS = 1000
_REFUSED_CHARS = 200
_REASON_CHARS = 600
_MOST_OPEN = 64
_MOST_RUNS = 60
_MOST = 12
_PLAN_CHARS = 20000
_OUTLINE_CHARS = 600
_OUTLINE_MARKS = 6
_SLASH_COMMAND = re.compile(r"/[\w:.-]+(?=\s|$)")


class _Said(NamedTuple):
    """A command or an output, the call count at the time, and the folder if it is another one."""

    text: str
    at: int
    folder: str = ""


class Fold:
    """Processes events; `export` returns the resulting state, ready to store."""

    def __init__(self, state: FoldState | None = None) -> None:
        self.state = state.copy() if state else FoldState()
        # The stored state has no secrets: only new texts are scanned.
        self._clean = texts_of(state) if state else frozenset()
        # Raw texts are kept here. Paths are extracted only from the last few, and only on request.
        self._shown: deque[_Said] = deque(maxlen=_MOST)
        self._commanded: deque[_Said] = deque(maxlen=_MOST)
        # How commands failed, by key. Most failures are repaired before anyone asks.
        self._failed: dict[str, ToolResult] = {}
        self._plan_text = ""
        # How the last calls on the trail ended, by id.
        self._endings: dict[str, ToolResult] = {}
        # The last commands. A session may poll one hundreds of times, so each is kept once.
        self._ran_last: dict[str, HeadUse] = {}
        self._handlers: dict[type[SessionEvent], Callable[[Any], None]] = {
            SessionInfo: self._session,
            Place: self._place,
            UserText: self._request,
            AssistantText: self._answer,
            AgentThought: self._think,
            TurnEnded: self._end_turn,
            TurnFailed: self._fail,
            ToolCall: self._call,
            ToolResult: self._result,
            TodoList: self._todo_list,
            TodoChange: self._todo_change,
            PlanSeen: self._plan,
            Usage: self._usage,
            Compaction: self._compaction,
            PromptQueued: self._queue_prompt,
            PromptTaken: self._unqueue_prompt,
        }

    def add(self, events: Iterable[SessionEvent]) -> None:
        """Process events in order."""
        handlers = self._handlers
        batch = list(events)
        for event in batch:
            handlers[type(event)](event)
        self.state.last_at = next((e.at for e in reversed(batch) if e.at), self.state.last_at)

    def export(self, redact: Redact = str) -> FoldState:
        """Return a copy of the state, limited in size and without secrets."""
        self._settle(redact)
        state = self.state.copy()
        clean = self._clean
        redact_texts(state, lambda text: text if text in clean else redact(text))
        return state

    def _session(self, event: SessionInfo) -> None:
        self.state.started_at = self.state.started_at or event.at
        # A forked or resumed transcript names several sessions; the last one is current.
        self.state.session_id = event.session_id or self.state.session_id
        self.state.agent_version = event.agent_version or self.state.agent_version
        self.state.model = event.model or self.state.model

    def _place(self, event: Place) -> None:
        if event.cwd:
            cwd = written_paths.normalise(event.cwd)
            self.state.cwd = cwd
            self.state.roots = written_paths.widen_roots(self.state.roots, cwd)[-_MOST:]
        if event.branch:
            self.state.branch, self.state.is_branch_recorded = event.branch, True

    def _request(self, event: UserText) -> None:
        if event.sidechain or not event.text:
            return
        state, asked = self.state, strip_briefing(event.text)
        if asked != event.text:
            note_briefing(state, event.text, asked)
            # A briefing alone, with no request, asks the session to continue the work.
            asked = asked or GO_ON
        state.seq += 1
        note_request(state, asked, at=event.at)
        if asked.startswith(PLAN_FOLLOWS):
            self._plan(PlanSeen(text=asked.split("\n", 1)[-1]))
        # The user names the plan to follow.
        for path in find_plan_paths(asked)[-1:] if "plans/" in asked else ():
            self._plan(PlanSeen(path=path))
        # A new request means that the previous turn's calls are no longer pending.
        state.open = {key: call for key, call in state.open.items() if call.sidechain}
        state.is_turn_over = state.ends_turn = False
        state.has_result = True
        if state.queued:
            self._forget_queued(prompt_key(event.text))

    def _answer(self, event: AssistantText) -> None:
        if event.sidechain or not event.text or event.text.isspace():
            return
        state = self.state
        state.ends_turn, state.is_interim = event.ends_turn, event.is_interim
        state.is_turn_over, state.limit = not event.is_interim, ""
        if state.is_dismissed and state.answers:
            # "Good night!" says nothing about the work, unlike the words before it.
            return
        state.seq += 1
        state.said_seq = state.seq
        state.has_result = True
        said = SessionText(clip(event.text, _ANSWER_CHARS), state.calls, state.seq)
        state.answers = [*state.answers[-3:], said]
        # A long answer that names files serves as a plan for the turns that follow.
        if len(event.text) >= _OUTLINE_CHARS and event.text.count("`") >= _OUTLINE_MARKS:
            state.outline = SessionText(clip(event.text, _ANSWER_CHARS * 2), state.calls)

    def _think(self, event: AgentThought) -> None:
        if not event.sidechain:
            self.state.thought = SessionText(clip(event.text, _THOUGHT_CHARS), self.state.calls)

    def _fail(self, event: TurnFailed) -> None:
        if not event.sidechain:
            self.state.limit = find_usage_limit(event.error, times.parse(event.at))

    def _end_turn(self, event: TurnEnded) -> None:
        state = self.state
        if not event.sidechain and state.said_seq > max(state.asked_seq, state.called_seq):
            state.ends_turn = state.is_turn_over = True
            state.is_interim = False

    def _call(self, event: ToolCall) -> None:
        state = self.state
        state.calls += 1
        state.is_turn_over = state.has_parted = state.is_dismissed = False
        state.declined = ""
        state.limit = ""
        state.open[event.id] = event
        if not event.sidechain:
            self._begin_step(event)
        # Calls whose results are missing would pile up.
        if len(state.open) > _MOST_OPEN:
            del state.open[next(iter(state.open))]
        if mentioned := event.command or event.prompt:
            self._commanded.append(_Said(mentioned, state.calls, self._find_folder(event)))

    def _begin_step(self, event: ToolCall) -> None:
        """Note which calls run in parallel: those without a result or text between them."""
        state = self.state
        state.seq += 1
        state.called_seq = state.seq
        state.ends_turn = False
        if state.has_result:
            state.step += 1
            state.has_result = False
        state.steps[event.id] = state.step
        if len(state.steps) > _MOST_STEPS:
            del state.steps[next(iter(state.steps))]
        trail.add_call(state, event)

    def _result(self, event: ToolResult) -> None:
        call = self.state.open.pop(event.id, None)
        if call is None:
            return
        self.state.lacks_results = event.is_assumed
        if event.is_blocked or (not event.ok and error_lines.is_unknown_tool(event.output)):
            self._forget_call(call)
            return
        if event.ok and call.kind == "run":
            event = _find_hidden_failure(call.command, event)
        if not call.sidechain:
            self._end_step(event)
        if event.rejected is not None:
            if not call.sidechain:
                self._note_refusal(call, event.rejected, at=event.at)
        elif call.kind == "run":
            self._ran(call, event)
        elif event.ok and (call.paths or event.paths):
            file_uses.note_use(self.state, call, event)
        if event.output and event.rejected is None:
            self._shown.append(_Said(event.output, self.state.calls, self._find_folder(call)))

    def _forget_call(self, call: ToolCall) -> None:
        """Forget a call that never ran: what was said and done before it still stands."""
        state = self.state
        if call.sidechain:
            return
        state.steps.pop(call.id, None)
        state.has_result = True
        state.trail = [each for each in state.trail if each.id != call.id]
        state.called_seq = max((each.seq for each in state.trail), default=0)

    def _find_folder(self, call: ToolCall) -> str:
        """Return the folder that a command runs in; "" if it is the session's own."""
        if not (call.folder or call.command.startswith("cd ")):
            return ""
        cwd = self.state.cwd
        start = written_paths.normalise(call.folder, cwd) if call.folder else cwd
        folder = shell_commands.folder_of(shell_commands.place(call.command, start))
        return folder if folder != cwd else ""

    def _end_step(self, event: ToolResult) -> None:
        self.state.steps.pop(event.id, None)
        self.state.has_result = True
        if trail.add_result(self.state, event):
            self._endings[event.id] = event
            # Only the last calls are shown; older outputs would pile up.
            if len(self._endings) > _MOST:
                del self._endings[next(iter(self._endings))]

    def _ran(self, call: ToolCall, event: ToolResult) -> None:
        state = self.state
        if not (command := shell_commands.without_own(call.command)):
            return
        if not is_look(command):
            state.worked_at = event.at or state.worked_at
            state.worked_for = state.requested_at
            note_work(state)
        folder = written_paths.normalise(call.folder, state.cwd) if call.folder else state.cwd
        placed = shell_commands.place(command, folder)
        if event.paths:
            file_uses.note_use(self.state, call, event)
        is_missing = error_lines.is_not_found(command, event.output, event.exit, ok=event.ok)
        if not call.sidechain and not is_missing:
            self._count_run(placed, ok=event.ok)
        self._note_commit(command, event)
        # Without a record of the agent's own, git's words are the only sign of the branch.
        if not (state.is_branch_recorded or call.sidechain or self._find_folder(call)):
            state.branch = shell_commands.branch_in(command, event.output) or state.branch
        if clone := shell_commands.clone_in(command, state.cwd):
            state.clones = [*dict.fromkeys([*state.clones, clone])][-_MOST:]
        file_uses.note_gone(self.state, shell_commands.gone_in(command, event.output))
        if event.ok:
            self._note_success(call, placed, event)
        elif not call.sidechain and _is_worth_noting(command, event):
            self._note_failure(placed, event)

    def _note_commit(self, command: str, event: ToolResult) -> None:
        state = self.state
        # A commit counts even if a push after it in the same command fails.
        if commit := shell_commands.commit_in(command, event.output):
            state.commit_sha, state.commit_subject = commit
            state.commit_seq, state.commit_at = state.seq, state.calls
        elif event.ok and shell_commands.commits(command):
            # A quiet commit prints nothing.
            state.commit_seq, state.commit_at = state.seq, state.calls

    def _note_success(self, call: ToolCall, placed: str, event: ToolResult) -> None:
        state, command = self.state, shell_commands.without_own(call.command)
        file_uses.note_moves(state, command)
        file_uses.note_gone(self.state, shell_commands.removals_in(command))
        # A pipe such as `| tail` reports success even if the command failed.
        is_unsure = shell_commands.is_masked(command)
        if state.failures and not (is_unsure and error_lines.looks_failed(event.output)):
            self._drop_repaired(placed)
        if not call.sidechain and is_check(command):
            state.checked_seq = state.seq

    def _note_failure(self, command: str, ended: ToolResult) -> None:
        state = self.state
        if not shell_commands.without_cd(command) or error_lines.is_harmless(ended.output):
            return
        key = repairs.key_of(command)
        shown = cut(shell_commands.cut_documents(command), _COMMAND_CHARS)
        failed = FailedRun(key, shown, "", state.calls, state.seq, ended.exit or None)
        kept = [f for f in state.failures if _identify(f) != _identify(failed)]
        state.failures = [*kept[-5:], failed]
        self._failed[_identify(failed)] = ended
        # The outputs of failures that are no longer kept would pile up in a long session.
        known = set(map(_identify, state.failures))
        self._failed = {key: each for key, each in self._failed.items() if key in known}

    def _drop_repaired(self, command: str) -> None:
        """Drop the failures of the same command, and of those that this success covers."""
        repaired = repairs.list_repaired_keys(command)
        self.state.failures = [
            msgspec.structs.replace(failed, is_overtaken=True)
            if repairs.may_cover(command, failed.command)
            else failed
            for failed in self.state.failures
            if not (
                (failed.key in repaired and repairs.is_within(failed.command, command))
                or repairs.commits_again(command, failed.command)
                or repairs.pushes_again(command, failed.command)
                or repairs.concludes(command, failed.command, self._find_error(failed))
                or repairs.covers(command, failed.command, self._find_error(failed))
            )
        ]

    def _find_error(self, failed: FailedRun) -> str:
        ended = self._failed.get(_identify(failed))
        return clip(ended.output, _OUTPUT_CHARS) if ended else failed.error

    def _count_run(self, command: str, *, ok: bool) -> None:
        runs = self.state.runs
        # A command that is too long to show whole is known by its first words only.
        if short := shell_commands.one_line(command):
            # Removed and added again, so that the dict is ordered by last use.
            use = runs.pop(short, None)
            runs[short] = RunUse((use.count if use else 0) + 1, self.state.calls)
        if len(runs) > _MOST_RUNS:
            del runs[next(iter(runs))]
        ran, seq = self._ran_last, self.state.seq
        known = ran.pop(command, HeadUse())
        ran[command] = HeadUse(seq, seq if ok else known.ok_seq, known.count + 1)
        if len(ran) > _MOST_RAN:
            del ran[next(iter(ran))]

    def _note_refusal(self, call: ToolCall, reason: str, *, at: str) -> None:
        what = cut(call.what, _REFUSED_CHARS)
        refusal = Refusal(f"{call.tool}: {what}", cut(reason, _REASON_CHARS))
        self.state.refusals = [*self.state.refusals[-(_MOST - 1) :], refusal]
        # What the user says with a refusal is an order like any other.
        if reason.strip():
            self.state.seq += 1
            note_request(self.state, reason, at=at)

    def _todo_list(self, event: TodoList) -> None:
        if not event.sidechain:
            set_todos(self.state, replace_todos(event))

    def _todo_change(self, event: TodoChange) -> None:
        if not event.sidechain:
            set_todos(self.state, change_todo(self.state.todos, event))

    def _plan(self, event: PlanSeen) -> None:
        state = self.state
        title = title_of(event.text)
        path = written_paths.normalise(event.path, state.cwd) if event.path else ""
        if path:
            if path != state.plan_path and not title:
                state.plan_title = ""
            state.plan_path = path
        # A different plan without a file: the old path no longer applies.
        elif title and title != state.plan_title:
            state.plan_path = ""
        state.plan_title = title or state.plan_title
        if event.text:
            self._plan_text = event.text[:_PLAN_CHARS]
            state.plan_seq, state.plan_at = state.seq, state.calls

    def _usage(self, event: Usage) -> None:
        if not event.sidechain:
            self.state.tokens = event.tokens
            self.state.window = event.window or self.state.window
            self.state.model = event.model or self.state.model

    def _compaction(self, event: Compaction) -> None:
        state = self.state
        if event.summary:
            self._shown.append(_Said(event.summary, state.calls))
        # Some agents report a compaction and its summary separately, others together.
        if not event.summary or state.compacted_at != state.calls:
            state.compactions += 1
            # How full the context is now, the agent says later.
            state.tokens = 0
        state.compacted_at = state.calls

    def _queue_prompt(self, event: PromptQueued) -> None:
        # A command to the agent itself, such as `/compact`, is not work that waits.
        if _SLASH_COMMAND.match(event.text) or not strip_briefing(event.text):
            return
        queued = Queued(prompt_key(event.text), cut(event.text, _REQUEST_CHARS))
        self.state.queued = [*self.state.queued[-(_MOST - 1) :], queued]

    def _unqueue_prompt(self, event: PromptTaken) -> None:
        if event.text or event.key:
            self._forget_queued(event.key or prompt_key(event.text))
        else:
            self.state.queued = self.state.queued[1:]

    def _forget_queued(self, key: str) -> None:
        self.state.queued = [queued for queued in self.state.queued if queued.key != key]

    def _settle(self, redact: Redact) -> None:
        """Extract what was deferred until someone asks.

        Each text is redacted whole first: a single line or path may no longer look like a secret.
        """
        state = self.state
        is_windows = written_paths.is_windows(state.cwd)

        def mentions(texts: deque[_Said]) -> list[Mention]:
            clean = [each._replace(text=redact(clip(each.text, _OUTPUT_CHARS))) for each in texts]
            texts.clear()
            found = [written_paths.paths_in(each.text, is_windows=is_windows) for each in clean]
            return [
                Mention(each.at, written_paths.resolve_paths(paths, each.folder, state.files))
                for each, paths in zip(clean, found, strict=True)
            ]

        state.shown = [*state.shown, *mentions(self._shown)][-_MOST:]
        state.commanded = [*state.commanded, *mentions(self._commanded)][-_MOST:]
        if self._plan_text:
            plan = redact(self._plan_text)
            state.plan_paths = written_paths.paths_in(plan, is_windows=is_windows)
            state.plan_parts = split_plan(plan, is_windows=is_windows)
            self._plan_text = ""
        self._settle_trail(redact)
        self._settle_heads(redact)
        state.failures = [
            _explain(redact, failed, self._failed[_identify(failed)])
            if _identify(failed) in self._failed
            else failed
            for failed in state.failures
        ]
        self._failed.clear()

    def _settle_heads(self, redact: Redact) -> None:
        heads = self.state.heads
        for command, use in self._ran_last.items():
            shown = cut(shell_commands.cut_documents(command), _COMMAND_CHARS)
            for head in shell_commands.heads_of(redact(shown)):
                known = heads.pop(head, HeadUse())
                ok_seq = max(use.ok_seq, known.ok_seq)
                heads[head] = HeadUse(use.seq, ok_seq, known.count + use.count)
        self._ran_last.clear()
        while len(heads) > _MOST_HEADS:
            del heads[next(iter(heads))]

    def _settle_trail(self, redact: Redact) -> None:
        endings = self._endings
        self.state.trail = [
            msgspec.structs.replace(each, outcome=_outcome_in(redact, each, endings[each.id]))
            if each.id in endings
            else each
            for each in self.state.trail
        ]
        endings.clear()


def _outcome_in(redact: Redact, entry: TrailEntry, ending: ToolResult) -> str:
    output = redact(clip(ending.output, _OUTPUT_CHARS)) if ending.output else ""
    # The last line of what a look showed is not a result.
    is_shown = entry.kind == "run" and is_look(entry.what)
    kind = "search" if is_shown else entry.kind
    if is_shown and not output.strip() and ending.exit == 1:
        # A search that finds nothing has not failed.
        return "no output"
    if is_shown and not ending.ok and is_plain_look(entry.what):
        output = "\n".join(error_lines.list_complaints(output, entry.what))
    return redact(trail.describe_outcome(kind, ending, output))


def _find_hidden_failure(command: str, event: ToolResult) -> ToolResult:
    """Return a result as failed if only a pipe or a chain made a failed check end well."""
    if not error_lines.hides_failure(command, event.output):
        return event
    return msgspec.structs.replace(event, ok=False, exit=None)


def _is_worth_noting(command: str, event: ToolResult) -> bool:
    """Return whether a failed command is worth noting; a search without results is not."""
    says_nothing = not event.output or event.output.isspace()
    return not says_nothing or ((event.exit or 0) > 1 and not is_look(command))


def _identify(failed: FailedRun) -> str:
    """Return what identifies a failure: the command and its folder."""
    return f"{failed.key} {shell_commands.folder_of(failed.command)}"


def _explain(redact: Redact, failed: FailedRun, ended: ToolResult) -> FailedRun:
    output = redact(clip(ended.output, _OUTPUT_CHARS * 4))
    error = error_lines.explain_failure(output, ended.exit, failed.command)
    return msgspec.structs.replace(failed, error=error)
