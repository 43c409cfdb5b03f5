"""Keep the last calls and how they ended, one line each."""

import re

import msgspec

from leftoff.agents.loose_values import cut
from leftoff.agents.stream import Kind, ToolCall, ToolResult
from leftoff.checkpoint import FAILED
from leftoff.lazy_patterns import lazy
from leftoff.session.facts import error_lines, shell_commands, written_paths
from leftoff.session.facts.announcements import find_order
from leftoff.session.facts.excerpts import shorten
from leftoff.session.facts.fold_state import FoldState, SessionText, TrailEntry
from leftoff.session.facts.looks import is_look_or_check
from leftoff.session.facts.sentences import next_and_closing_words, promises_more

_KEPT = 12
_WHAT_CHARS = 300
_OUTCOME_CHARS = 160
# Tools with which agents organize themselves. They say nothing about the work.
_BOOKKEEPING = frozenset(
    """
    TodoWrite TodoRead TaskCreate TaskUpdate TaskList TaskGet ToolSearch update_plan write_todos
    todowrite todoread report_intent update_todo sql EnterPlanMode Skill save_memory
    """.split()
)
_SUMMARY = lazy(
    r"\b\d+\s+(?:passed|passing|tests?|failed|failing|errors?|warnings?|files? changed|problems?)\b"
    r"|^\[\S+(?: \(root-commit\))? [0-9a-f]{7,}\]"
    r"|^(?:ok|done|success|all |finished|built|compiled)\b|✓|✔",
    re.IGNORECASE,
)
_NOISE = lazy(
    r"^(?:\W+|\[?(?:exit|process) .*|</?\w+[^>]*>|\W*\d+ lines truncated\W*"
    r"|\(\w+ completed with no output\)|create mode \d+ .*)$",
    re.IGNORECASE,
)
_LINE_NUMBER = lazy(r"^\s*\d+[→\t:|]\s*")
# Options that do not say what was searched for or asked.
_OPTIONS = lazy(
    r"(?:^|, )(?:output_mode|-[A-Za-z]|head_limit|type|multiline|offset|limit|subagent_type|model|"
    r"run_in_background|max_turns|resume|mode|isolation): [^,]*|(?:^|, )prompt: .*",
    re.DOTALL,
)
# The first argument needs no name.
_LABEL = lazy(r"^\W*(?:pattern|query|description): ")
_OLDEST_ANNOUNCEMENT = 8
# Many calls can look at a file or check it without naming it.
_LOOKS = lazy(
    r"(?:continue )?(?:read|look|check|inspect|open|review|see|view|examin|verify|run|rerun|test"
    r"|try|trac|search|find|compar|confirm|understand|debug|investigat)",
    re.IGNORECASE,
)
REFUSED = "the user refused:"
"""How the outcome of a call begins that the user refused with a reason."""
REFUSED_SILENTLY = "refused"
USER_ANSWERED = "the user answered:"
"""How the outcome of a question to the user begins."""
_ANSWERED = lazy(r'"="([^"]*)"')


def add_call(state: FoldState, call: ToolCall) -> None:
    """Append a call of the main conversation to the trail."""
    if call.sidechain or call.tool in _BOOKKEEPING:
        return
    command = shell_commands.without_own(call.command)
    if call.command and not command:
        if shell_commands.is_own_save(call.command):
            state.trail = [*_list_calls(state), TrailEntry.of_save(call.id, state.seq)]
        return
    what = _name_call(call, command, state) if command else call.what
    if call.kind in ("search", "agent"):
        what = _LABEL.sub("", _OPTIONS.sub("", what))
    entry = TrailEntry(
        call.id, call.tool, call.kind, cut(what, _WHAT_CHARS), seq=state.seq, lines=call.lines
    )
    state.trail = [*state.trail[-(_KEPT - 1) :], entry]


def _name_call(call: ToolCall, command: str, state: FoldState) -> str:
    """Return a command with its folder, or the file that a patch in it edits."""
    if call.kind == "edit":
        return ", ".join(call.paths)
    folder = written_paths.normalise(call.folder, state.cwd) if call.folder else state.cwd
    return shell_commands.shorten(shell_commands.place(command, folder), _WHAT_CHARS)


def _list_calls(state: FoldState) -> list[TrailEntry]:
    """Return the trail without an earlier save: only the last one marks what came after it."""
    return [each for each in state.trail[-(_KEPT - 1) :] if not each.is_save]


def add_result(state: FoldState, event: ToolResult) -> bool:
    """Note that a call on the trail ended; return whether it is on it."""
    for n in range(len(state.trail) - 1, -1, -1):
        if state.trail[n].id == event.id:
            ended = msgspec.structs.replace(
                state.trail[n], ok=event.ok, exit=event.exit, is_done=True
            )
            state.trail = [*state.trail[:n], ended, *state.trail[n + 1 :]]
            return True
    return False


def describe_outcome(kind: Kind, event: ToolResult, output: str) -> str:
    """Say in a few words how a call ended."""
    if event.rejected is not None:
        return f"{REFUSED} {event.rejected}" if event.rejected else REFUSED_SILENTLY
    output = error_lines.without_colours(output)
    if not event.ok:
        reasons = error_lines.pick_error_lines(output).splitlines()
        return shorten(f"{FAILED}{reasons[0]}", _OUTCOME_CHARS) if reasons else FAILED.rstrip(": ")
    if kind in ("edit", "read") or event.is_assumed:
        return {"edit": "edited", "read": "read"}.get(kind, "")
    if answers := _ANSWERED.findall(output[:4000]):
        return shorten(f"{USER_ANSWERED} {'; '.join(answers)}", _OUTCOME_CHARS)
    lines = [line for raw in output.splitlines() if (line := _clean(raw))]
    if not lines:
        return "no output"
    return shorten(_telling(kind, lines), _OUTCOME_CHARS)


def _telling(kind: Kind, lines: list[str]) -> str:
    if lines[0].endswith(":"):
        # "Found 3 places:" says nothing without the first of them.
        lines = [" ".join(lines[:2]), *lines[2:]]
    if kind == "search":
        return lines[0] if len(lines) == 1 else f"{len(lines)} lines, first: {lines[0]}"
    if kind != "run":
        return lines[0]
    summary = [line for line in lines[-40:] if _SUMMARY.search(line)]
    return summary[-1] if summary else lines[-1]


def _clean(line: str) -> str:
    line = _LINE_NUMBER.sub("", line).strip()
    return "" if _NOISE.match(line) else line


# --- what the last calls leave open ---


def find_open_announcement(state: FoldState) -> str:
    """Return the newest announcement since the last request, as an order, if it is still open.

    That can be known only if it names a file to change, and no call since could have changed it.
    """
    if state.ends_turn:
        return ""
    for said in reversed(state.answers):
        if said.seq <= state.asked_seq or not promises_more(said.text):
            continue
        order = find_order(next_and_closing_words(said.text)[0])
        if not order or _LOOKS.match(order):
            continue
        return order if _is_open(state, said, _list_files(state, order)) else ""
    return ""


def _list_files(state: FoldState, order: str) -> list[str]:
    found = written_paths.paths_in(order, is_windows=written_paths.is_windows(state.cwd))
    return [path.rpartition("/")[2] for path in found if written_paths.has_file_name(path)]


def _is_open(state: FoldState, said: SessionText, names: list[str]) -> bool:
    since = [each for each in state.trail if each.seq > said.seq]
    if not names or state.calls - said.at > _OLDEST_ANNOUNCEMENT:
        return False
    ran = (each.what for each in since if each.kind in {"run", "agent", "other"})
    edited = [each.what for each in since if each.kind == "edit"]
    edited += [path for path, use in state.files.items() if use.edited_at > said.at]
    return all(map(is_look_or_check, ran)) and not any(n in path for n in names for path in edited)
