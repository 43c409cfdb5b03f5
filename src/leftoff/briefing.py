"""The briefing: what a colleague would tell you in a minute, within a budget of tokens.

A briefing is a pure function of a checkpoint and its checks. It is made of lines, each with a
weight for how much it helps the next session; when the budget is short, the lightest lines go.
A line is kept whole or dropped, so no sentence is ever cut.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from shlex import quote

import msgspec

from leftoff import fence, times
from leftoff.checkpoint import Checkpoint, Plan
from leftoff.fence import Rendered, block, say
from leftoff.restore import Checks, HeadCheck
from leftoff.tokens import estimate, price
from leftoff.words import counted

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
# Rules, fences, and headings of a word or two: without what follows they tell nothing.
_EMPTY = re.compile(r"(?:\W+|`{3,}\w*|#+\s+\S+(?:\s+\S+)?)$")
_SENTENCES_KEPT = 40
_TELLING_SENTENCES = 1
_SURE_FILES = 5
_SURE_COMMANDS = 4
_COMMAND_CHARS = 60
_FAILED_CHARS = 120
# What each agent takes of one text from outside, as far as it is known; more is cut or set aside.
# Claude Code: 10,000 characters, at two and a half a token; Codex: about 2,000 tokens. Of the
# others no limit is known, so the lower one of Claude Code is kept.
MOST_TOKENS = {
    "claude": 4_000,
    "codex": 2_000,
    "gemini": 4_000,
    "opencode": 4_000,
    "copilot": 4_000,
    "cursor": 4_000,
}


class Line(msgspec.Struct, frozen=True):
    """One line; the heavier, the later it is dropped."""

    text: Rendered
    weight: float


class Section(msgspec.Struct, frozen=True):
    """Lines under a heading; a heading without lines is not shown."""

    heading: Rendered
    lines: list[Line]


def render(checkpoint: Checkpoint, checks: Checks | None, *, budget: int) -> Rendered:
    """Render the briefing of a checkpoint, fenced, never above the budget."""
    sections = [*_sections(checkpoint, checks)]
    kept = _within(sections, budget - estimate(fence.fenced(say(""))))
    return fence.fenced(_text(sections, kept))


def question(checkpoint: Checkpoint, checks: Checks) -> Rendered:
    """Ask whether to resume; the answer decides, not the briefing."""
    what = say('"{name}"', name=checkpoint.name) if checkpoint.name else say("this session")
    if checks.is_stale:
        return say(
            "Resume {what} although some of it is stale? [resume anyway / start fresh]", what=what
        )
    return say("Resume {what}? [yes / no]", what=what)


def changes(checks: Checks) -> list[Rendered]:
    """Say what is no longer as it was saved, one line each."""
    return [line.text for line in _changes(checks)]


def branch_warning(checks: Checks) -> Rendered | None:
    """Warn when the work was saved on another branch."""
    branch = checks.branch
    if branch.same:
        return None
    return say(
        "Warning: You're on `{now}` but the checkpoint was saved on `{saved}`. "
        "Switch with: git checkout {name}",
        now=branch.now or "unknown",
        saved=branch.saved or "",
        name=quote(branch.saved or ""),
    )


def _within(sections: list[Section], budget: float) -> set[tuple[int, int]]:
    """Choose the lines that fit: the heaviest first, each with its heading if that is new."""
    places = [(i, j) for i, section in enumerate(sections) for j in range(len(section.lines))]
    places.sort(key=lambda place: -sections[place[0]].lines[place[1]].weight)
    kept: set[tuple[int, int]] = set()
    opened: set[int] = set()
    for i, j in places:
        heading = "" if i in opened or not sections[i].heading else f"{sections[i].heading}\n"
        cost = price(f"{heading}{sections[i].lines[j].text}\n")
        if cost <= budget:
            budget -= cost
            kept.add((i, j))
            opened.add(i)
    return kept


def _text(sections: list[Section], kept: set[tuple[int, int]]) -> Rendered:
    shown: list[Rendered] = []
    for i, section in enumerate(sections):
        lines = [line.text for j, line in enumerate(section.lines) if (i, j) in kept]
        if lines:
            shown += [section.heading, *lines]
    return fence.join(shown)


def _sections(checkpoint: Checkpoint, checks: Checks | None) -> Iterator[Section]:
    yield _section(say(""), _opening(checkpoint, checks))
    yield _section(say("Changed since then:"), _changes(checks))
    yield _section(say(""), _interrupted(checkpoint))
    asked = "Prompts in that file:" if checkpoint.source else "Unanswered prompts:"
    yield _section(say(asked), _bullets(checkpoint.pending_prompts, 85))
    yield _section(say("Blockers:"), _bullets(checkpoint.blockers, 80))
    yield _section(say(""), _failed(checkpoint))
    yield _section(say("Left off:"), _left_off(checkpoint))
    yield _section(say("Open todos:"), _open_todos(checkpoint))
    yield _section(say("Plan:"), _plan(checkpoint))
    yield _section(say("Open questions:"), _bullets(checkpoint.questions, 70))
    yield _section(say("Decisions:"), _decisions(checkpoint))
    yield _section(say("Done:"), _bullets(checkpoint.done, 45))
    yield _section(say("Files needed next:"), _focus(checkpoint))
    yield _section(say("Commands in use:"), _commands(checkpoint))
    yield _section(
        say("Files modified:"), _bullets(_grouped(_modified(checkpoint), checkpoint), 50)
    )
    yield _section(say("Files seen:"), _bullets(_grouped(_seen(checkpoint), checkpoint), 48))
    yield _section(say("Files:"), _bullets(_named_files(checkpoint), 55))
    yield _section(say("Notes:"), _bullets(checkpoint.notes, 40))
    yield _section(say(""), _closing(checkpoint))


def _section(heading: Rendered, lines: Iterable[Line]) -> Section:
    return Section(heading, list(lines))


def _opening(checkpoint: Checkpoint, checks: Checks | None) -> Iterator[Line]:
    if (source := checkpoint.source) is not None:
        imported = say(
            "Imported from a file of {profile:40}, which anyone may have written: {path:200}",
            profile=source.profile,
            path=source.path or "unknown",
        )
        yield Line(imported, 101)
    yield Line(_saved(checkpoint, checks), 98)
    if checkpoint.task:
        first, *rest = _split(checkpoint.task)
        yield Line(say("Task: {text}", text=first), 100)
        yield from _following(rest, 75)
    action = checkpoint.next_action
    if action is not None:
        origin = say(" (inferred from the session)" if action.origin == "inferred" else "")
        first, *rest = _split(action.text)
        yield Line(say("Next action{origin}: {text}", origin=origin, text=first), 99)
        yield from _following(rest, 64)
    if checkpoint.intent and checkpoint.intent != checkpoint.task:
        first, *rest = _split(checkpoint.intent)
        asked = "Last request in that file: {text}" if checkpoint.source else "Last request: {text}"
        yield Line(say(asked, text=first), 95)
        yield from _following(rest, 74)


def _saved(checkpoint: Checkpoint, checks: Checks | None) -> Rendered:
    name = say("Checkpoint: {name}. ", name=checkpoint.name) if checkpoint.name else say("")
    age = say(" ({age})", age=times.age(checks.age_seconds)) if checks else say("")
    branch = say(", on branch {name}", name=checkpoint.branch) if checkpoint.branch else say("")
    moment = times.local(checkpoint.saved_at)
    return say(
        "{name}Saved {moment}{age}{branch}.", name=name, moment=moment, age=age, branch=branch
    )


def _following(sentences: list[str], weight: float) -> Iterator[Line]:
    """Yield the sentences after the first; the next two carry what the first announces."""
    for n, text in enumerate(sentences):
        yield Line(block(text), weight + 14 - n if n < _TELLING_SENTENCES else weight - 2 * n)


def _head_moved(head: HeadCheck) -> Iterator[Line]:
    if head.diverged:
        yield Line(say("- HEAD was rewritten: the saved commit is no longer in its history."), 96)
    elif head.commits_since is None:
        yield Line(say("- HEAD moved; how far cannot be told here."), 96)
    elif head.commits_since:
        count = counted(head.commits_since, "commit")
        yield Line(say("- HEAD moved by {count}; commit subjects:", count=count), 96)
        for n, commit in enumerate(head.commits[:5]):
            yield Line(
                say("  - {sha:8} {subject}", sha=commit.sha[:8], subject=commit.subject), 72 - n
            )


def _changes(checks: Checks | None) -> Iterator[Line]:
    if checks is None:
        return
    if warning := branch_warning(checks):
        yield Line(warning, 97)
    yield from _head_moved(checks.head)
    for file in checks.files:
        if file.state != "same":
            changed = say("- {state}: {path}", state=file.state, path=file.path)
            yield Line(changed, 94 if file.state == "missing" else 93)
    if (plan := checks.plan) is not None and plan.state != "same":
        yield Line(say("- {state}: the plan {path}", state=plan.state, path=plan.path), 94)
    if checks.worktree is not None:
        yield Line(say("- saved in another worktree: {path}", path=checks.worktree), 92)


def _interrupted(checkpoint: Checkpoint) -> Iterator[Line]:
    call, action = checkpoint.in_flight, checkpoint.next_action
    if call is not None and (action is None or call.what not in action.text):
        cut_short = say("Interrupted during: {tool}: {what:lines}", tool=call.tool, what=call.what)
        yield Line(cut_short, 91)
    if checkpoint.last_failure is not None:
        failure = checkpoint.last_failure
        command = _cut(failure.command, _FAILED_CHARS)
        yield Line(say("Last failure: `{command}`", command=command), 88)
        for n, error in enumerate(failure.error.splitlines()):
            yield Line(block(error), 66) if n else Line(say("Error: {error}", error=error), 87)


def _failed(checkpoint: Checkpoint) -> Iterator[Line]:
    for n, failure in enumerate(checkpoint.failed):
        text = _reasoned(failure.what, failure.why)
        yield Line(say("⚠ Previously failed: {text:lines}", text=text), 79 - n / 100)


def _decisions(checkpoint: Checkpoint) -> list[Line]:
    return _bullets((_reasoned(each.what, each.why) for each in checkpoint.decisions), 68)


def _reasoned(what: str, why: str) -> str:
    return f"{what} — {why}" if why else what


def _open_todos(checkpoint: Checkpoint) -> list[Line]:
    is_begun = {"in_progress": "[>]"}
    todos = (
        f"{is_begun.get(todo.status, '[ ]')} {todo.text}"
        for todo in checkpoint.todos
        if todo.status not in {"completed", "done", "cancelled"}
    )
    return _bullets(todos, 84)


def _plan(checkpoint: Checkpoint) -> list[Line]:
    plan = checkpoint.plan
    if plan is None:
        return []
    path, step = plan.path or "", plan_step(plan)
    lines = [Line(say("- `{path}` {step}", path=path, step=step), 82)] if path else []
    if step and not path:
        lines = [Line(say("- {step}", step=step), 82)]
    is_told = plan.title and plan.title in "\n".join(_split(checkpoint.task)[:2])
    return (
        [*lines, Line(say("- {title}", title=plan.title), 81)]
        if plan.title and not is_told
        else lines
    )


def plan_step(plan: Plan) -> str:
    """Say which step of the plan the work stands at."""
    step = f"(step {plan.step} of {plan.total})" if plan.step and plan.total else ""
    return f"{step} {plan.stage}".strip() if plan.stage else step


def _focus(checkpoint: Checkpoint) -> list[Line]:
    """List the files needed next; the first few are worth more than most sentences."""
    told = checkpoint.plan.path if checkpoint.plan else None
    files = [path for path in checkpoint.focus_files if path != told]
    sure, rest = files[:_SURE_FILES], files[_SURE_FILES:]
    return [
        *_bullets(_grouped(sure, checkpoint), 90),
        *_bullets(_grouped(rest, checkpoint), 80),
    ]


def _grouped(paths: Iterable[str], checkpoint: Checkpoint) -> list[str]:
    """Name the files of one folder together: the folder is what costs.

    A name that several folders have is told with its folder each time: which one is meant matters.
    """
    shared = _shared_names(checkpoint)
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, slash, name = path.rpartition("/")
        if name in shared:
            folders.setdefault(path, []).append("")
        else:
            folders.setdefault(folder + slash, []).append(name)
    return [
        folder + (names[0] if len(names) == 1 else f"{{{', '.join(names)}}}")
        for folder, names in folders.items()
    ]


def _shared_names(checkpoint: Checkpoint) -> set[str]:
    """Return the file names that stand for more than one of the files told."""
    paths = {*checkpoint.focus_files, *checkpoint.files_modified, *checkpoint.seen_files}
    counts = Counter(path.rpartition("/")[2] for path in paths)
    return {name for name, count in counts.items() if count > 1}


def _commands(checkpoint: Checkpoint) -> list[Line]:
    """List the commands in use; how a command begins tells most of it."""
    commands = [_cut(command) for command in checkpoint.commands]
    sure, rest = commands[:_SURE_COMMANDS], commands[_SURE_COMMANDS:]
    return [*_bullets(sure, 77), *_bullets(rest, 52)]


def _cut(command: str, chars: int = _COMMAND_CHARS) -> str:
    return command if len(command) <= chars else command[: chars - 1] + "…"


def _modified(checkpoint: Checkpoint) -> list[str]:
    shown = set(checkpoint.focus_files)
    return [path for path in checkpoint.files_modified if path not in shown]


def _seen(checkpoint: Checkpoint) -> list[str]:
    shown = {*checkpoint.focus_files, *checkpoint.files_modified}
    return [path for path in checkpoint.seen_files if path not in shown]


def _named_files(checkpoint: Checkpoint) -> list[str]:
    shown = {*checkpoint.focus_files, *checkpoint.files_modified}
    return [
        f"{file.path} ({file.role})" if file.role else file.path
        for file in checkpoint.files
        if file.path not in shown and file.role not in {"modified", "plan"}
    ]


def _closing(checkpoint: Checkpoint) -> Iterator[Line]:
    if (commit := checkpoint.last_commit) is not None:
        last = say("Last commit: {sha:8} {subject}", sha=commit.sha[:8], subject=commit.subject)
        yield Line(last, 80)
    if checkpoint.dirty:
        count = counted(len(checkpoint.dirty), "file")
        yield Line(say("Uncommitted when saved: {count}", count=count), 35)
    use = checkpoint.context
    if use is not None and use.percent is not None:
        yield Line(say("Context use when saved: {percent} %", percent=f"{use.percent:.0f}"), 20)


def _bullets(texts: Iterable[str], weight: float) -> list[Line]:
    return [
        Line(say("- {text:lines}", text=text), weight - n / 100) for n, text in enumerate(texts)
    ]


def _left_off(checkpoint: Checkpoint) -> list[Line]:
    """Give the agent's last words, as far as they were not told before."""
    action = checkpoint.next_action.text if checkpoint.next_action else ""
    told = f"{checkpoint.task}\n{action}"
    parts = [part for part in _split(checkpoint.left_off or "") if part not in told]
    return [Line(block(part), 71 - n) for n, part in enumerate(parts)]


def _split(text: str) -> list[str]:
    parts = [part.strip() for part in _SENTENCE_END.split(text.strip())]
    return [part for part in parts if part and not _EMPTY.match(part)][:_SENTENCES_KEPT] or [""]
