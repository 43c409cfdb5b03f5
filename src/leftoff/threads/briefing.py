"""Render a checkpoint as a briefing for the next session, within a token budget.

A briefing depends only on a checkpoint and its checks. Every line has a weight for how much it
helps the next session; if the budget is short, the lightest lines are left out.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator
from shlex import quote

from leftoff.checkpoint import (
    UNLISTED_ROLES,
    Checkpoint,
    LastFailure,
    NextAction,
    Plan,
    TrailStep,
)
from leftoff.session.facts.sentences import split_sentences
from leftoff.text import fence, times
from leftoff.text.budget import (
    Item,
    Section,
    estimate,
    fit,
    limit_tokens,
    limit_width,
    measure_width,
)
from leftoff.text.fence import Rendered, block, say
from leftoff.text.plural import format_count
from leftoff.threads.check_claims import Checks, HeadCheck

__all__ = ["MOST_TOKENS", "branch_warning", "changes", "plan_step", "question", "render"]


# How much text from outside each agent accepts; it cuts the rest or stores it elsewhere.
# Claude Code: 10,000 characters, at two and a half per token. Codex: about 2,000 tokens. The limits
# of the others are unknown, so they get the same as Claude Code.
MOST_TOKENS = {
    "claude": 4_000,
    "codex": 2_000,
    "gemini": 4_000,
    "opencode": 4_000,
    "copilot": 4_000,
    "cursor": 4_000,
}


def render(
    checkpoint: Checkpoint,
    checks: Checks | None,
    *,
    budget: int,
    width: int | None = None,
    sections: Iterable[Section] | None = None,
) -> Rendered:
    """Render the briefing of a checkpoint, fenced and within the budget.

    `width` limits its length as a JSON string. `sections` replace the usual ones.
    """
    # The fence itself costs tokens and characters, too.
    frame = fence.enclose_text(say(""))
    limits = [limit_tokens(budget - estimate(frame))]
    if width is not None:
        limits.append(limit_width(width - measure_width(frame)))
    # In a short briefing, a long task must not crowd out everything else.
    longest = max(_SHORT_CHARS, budget // 2)
    shown = build_sections(checkpoint, checks, longest=longest) if sections is None else sections
    return fence.enclose_text(fence.join(fit([*shown], limits)))


def question(checkpoint: Checkpoint, checks: Checks) -> Rendered:
    """Return the question whether to resume, which only the user may answer."""
    what = say('"{name}"', name=checkpoint.name) if checkpoint.name else say("this session")
    if checks.is_stale:
        return say(
            "Resume {what} although some of it is stale? [resume anyway / start fresh]", what=what
        )
    return say("Resume {what}? [yes / no]", what=what)


def changes(checks: Checks) -> Rendered:
    """List what changed since the save, one line each; empty if nothing did."""
    return fence.join(fit([Section(say(""), [*list_changes(checks)])], []))


# --- files and their states ---


def list_focus(checkpoint: Checkpoint) -> list[str]:
    """Return the files needed next, without the plan, which has its own line."""
    plan = checkpoint.plan.path if checkpoint.plan else None
    return [path for path in checkpoint.focus_files if path != plan]


def list_modified(checkpoint: Checkpoint) -> list[str]:
    """Return the modified files that are not needed next."""
    shown = set(checkpoint.focus_files)
    return [path for path in checkpoint.files_modified if path not in shown]


def list_seen(checkpoint: Checkpoint) -> list[str]:
    """Return the files that were only read."""
    shown = {*checkpoint.focus_files, *checkpoint.files_modified}
    return [path for path in checkpoint.seen_files if path not in shown]


def list_named(checkpoint: Checkpoint) -> list[str]:
    """Return the other files that somebody named, with their roles."""
    shown = {*checkpoint.focus_files, *checkpoint.files_modified}
    return [
        f"{file.path} ({file.role})" if file.role else file.path
        for file in checkpoint.files
        if file.path not in shown and file.role not in UNLISTED_ROLES
    ]


def find_base(checkpoint: Checkpoint) -> str:
    """Return the folder outside the worktree that most files are in; "" if there is none."""
    paths = [*list_focus(checkpoint), *list_modified(checkpoint)]
    outside = [path for path in paths if path.startswith("/")]
    if len(outside) < _FEW_FILES or 2 * len(outside) <= len(paths):
        return ""
    base = posixpath.commonpath([posixpath.dirname(path) for path in outside])
    return base if base.count("/") >= _DEEP_ENOUGH else ""


def shorten_path(path: str, checkpoint: Checkpoint, base: str) -> str:
    """Return a path relative to the folder that most files are in; others are absolute then."""
    if not base:
        return path
    if path.startswith(f"{base}/"):
        return path[len(base) + 1 :]
    return path if path.startswith("/") else f"{checkpoint.worktree or '.'}/{path}"


def describe_file(
    path: str, checkpoint: Checkpoint, checks: Checks | None = None, base: str = ""
) -> str:
    """Return a file with its state: whether the session edited it, and whether git has that."""
    states = ["edited"] if path in checkpoint.files_modified else []
    now = next((file.state for file in checks.files if file.path == path), "") if checks else ""
    if now == "missing":
        states = ["deleted since"]
    # Where HEAD moved, it may have been committed.
    elif path in checkpoint.dirty and (checks is None or checks.head.commits_since == 0):
        states.append("uncommitted")
    shown = shorten_path(path, checkpoint, base)
    return f"{shown} ({', '.join(states)})" if states else shown


# --- sections ---
#
# The weight of a line says how much it helps the next session. The weights were tuned on recorded
# sessions; see `make fidelity`.


# A heading of a word or two says nothing without the text below it.
_BARE_HEADING = re.compile(r"#+\s+\S+(?:\s+\S+)?$")
_SENTENCES_KEPT = 40
_TELLING_SENTENCES = 1
_SAVE = re.compile(r"(?:^|\s)leftoff\s+save\b")
# So many files and commands are worth more than most sentences; the others weigh less.
_SURE_FILES = 6
_SURE_COMMANDS = 4
_SURE_STEPS = 2
_LONGEST_HEAD = 30
# Quotes, pipes and variables of a command would be cut in two.
_HEAD = re.compile(r"[\w./~@:+=*%,-]+(?: [\w./~@:+=*%,-]+(?= |$))?")
_SURE_REQUESTS = 2
_SURE_WORDS = 3
_FILES_IN_LINE = 6
_FEW_FILES = 3
_DEEP_ENOUGH = 3
_LIKELY_IN_LINE = 2
_HEADS_IN_LINE = 8
_SHORT_CHARS = 200
_REQUEST_CHARS = 200
# A longer request is a plan or a template; its first lines say what it is about.
_TEMPLATE_CHARS = 1200
_TEMPLATE_SENTENCES = 3
_SOURCES = {
    "prompt": "a prompt that nobody answered",
    "call": "the call that was cut short",
    "failure": "a failing command",
    "todo": "the todo list",
    "plan": "the plan",
    "proposal": "the agent's last words",
    "trail": "the last calls",
    "request": "the last request",
}


def build_sections(
    checkpoint: Checkpoint, checks: Checks | None, *, longest: int
) -> Iterator[Section]:
    """Yield everything to say about a checkpoint, in the order in which it is shown.

    `longest` limits the characters of a sentence of the user or the agent.
    """
    yield _section(say(""), _opening(checkpoint, checks, longest))
    if has_gone_on(checkpoint):
        yield _section(say("Since that was said:"), _format_trail(checkpoint))
    yield _list(say("Changed since then:"), list_changes(checks))
    yield from build_details(checkpoint, checks)


def build_details(checkpoint: Checkpoint, checks: Checks | None) -> Iterator[Section]:
    """Yield everything but the opening and what changed since."""
    went_on = has_gone_on(checkpoint)
    yield _section(say(""), _format_interruption(checkpoint))
    asked = say("Prompts in that file:" if checkpoint.source else "Unanswered prompts:")
    yield _list(asked, _bullets(_list_prompts(checkpoint), 92))
    yield _list(say("Blockers:"), _bullets(checkpoint.blockers, 80))
    yield _section(say(""), _format_failures(checkpoint))
    if not went_on:
        yield _section(say("The agent's last calls:"), _format_trail(checkpoint))
    said = "The agent's last words:" if checkpoint.is_autosave else "Left off:"
    yield _section(say(said), _format_left_off(checkpoint))
    yield _list(say("Open todos:"), _open_todos(checkpoint))
    yield _section(say("Plan:"), _plan(checkpoint))
    yield _list(say("Open questions:"), _bullets(checkpoint.questions, 70))
    yield _list(say("Decisions:"), _decisions(checkpoint))
    yield _list(say("Done:"), _bullets(checkpoint.done, 45))
    base = find_base(checkpoint)
    where = say(" (in {folder:300})", folder=base) if base else say("")
    yield _section(say("Files needed next{where}:", where=where), _focus(checkpoint, checks, base))
    yield _section(say("Commands in use:"), _commands(checkpoint))
    edited = [shorten_path(path, checkpoint, base) for path in list_modified(checkpoint)]
    seen = [shorten_path(path, checkpoint, base) for path in list_seen(checkpoint)]
    yield _list(say("Also edited:"), _list_by_folder(edited, 80))
    yield _section(say("Also read:"), _lines(seen, 67, _FILES_IN_LINE))
    yield _list(say("Files:"), _bullets(list_named(checkpoint), 55))
    yield _list(say("Notes:"), _bullets(checkpoint.notes, 40))
    yield from list_other_sections(checkpoint)
    yield _section(say(""), _closing(checkpoint, checks))


def list_other_sections(checkpoint: Checkpoint) -> Iterator[Section]:
    """Yield what a native file holds besides the keys of a checkpoint."""
    for kept in checkpoint.extra.values():
        parts = kept if isinstance(kept, dict) else {}
        for key in ("fields", "sections"):
            found = parts.get(key)
            for title, body in found.items() if isinstance(found, dict) else ():
                heading = say('"{title:80}" in the file:', title=title)
                texts = [line for line in str(body).split("\n") if line.strip()]
                yield _list(
                    heading, (Item(block(text), 42 - n / 10) for n, text in enumerate(texts))
                )


def _section(heading: Rendered, items: Iterable[Item]) -> Section:
    return Section(heading, [*items])


def _list(heading: Rendered, items: Iterable[Item]) -> Section:
    """Make a section that says how many of its items were left out."""
    return Section(heading, [*items], lambda count: say("+{count} more", count=count))


def _opening(checkpoint: Checkpoint, checks: Checks | None, longest: int) -> Iterator[Item]:
    # The heaviest line: without it, text from a file could pass for the user's own state.
    if (source := checkpoint.source) is not None:
        imported = say(
            "Imported from a file of {profile:40}, which anyone may have written: {path:200}",
            profile=source.profile,
            path=source.path or "unknown",
        )
        yield Item(imported, 101)
    yield Item(_format_saved(checkpoint, checks), 98, short=_format_age(checkpoint, checks))
    if checkpoint.task:
        yield _sentences(say("Task"), _split_request(checkpoint.task), 100, 75, longest)
    action = checkpoint.next_action
    if action is not None:
        label = say("Next action{origin}", origin=_format_origin(action))
        yield _sentences(label, _split(action.text), 99, 78, longest)
    yield from _requests(checkpoint, longest)


def has_gone_on(checkpoint: Checkpoint) -> bool:
    """Return whether work went on after the next action was stated."""
    return checkpoint.is_autosave and "next_action" in checkpoint.stated


def _format_origin(action: NextAction) -> Rendered:
    if action.origin != "inferred":
        return say("")
    return say(" (inferred from {source})", source=_SOURCES.get(action.source, "the session"))


def _requests(checkpoint: Checkpoint, longest: int) -> Iterator[Item]:
    """Yield the last request, what it answers, earlier ones, and rules for the work."""
    if checkpoint.intent and checkpoint.intent != checkpoint.task:
        asked = say("Last request in that file" if checkpoint.source else "Last request")
        yield _sentences(asked, _split_request(checkpoint.intent), 95, 74, longest)
    action = checkpoint.next_action.text if checkpoint.next_action else ""
    if (proposed := checkpoint.answers_to) and proposed not in action:
        yield Item(say("It answers the agent: {text:400}", text=proposed), 94)
    for n, text in enumerate(_list_also_asked(checkpoint)):
        also = say("Also asked: {text}", text=_cut(text, _REQUEST_CHARS))
        # A short reply such as "do 1" continues the request before it.
        is_continued = n == 0 and proposed
        yield Item(also, 94 if is_continued else 83 - n if n < _SURE_REQUESTS else 62 - n)
    newest = checkpoint.requests[-_SURE_REQUESTS:]
    shown = "\n".join([checkpoint.task, checkpoint.intent or "", *newest])
    for n, rule in enumerate(checkpoint.constraints):
        if rule not in shown:
            yield Item(say("The user's rule: {text:300}", text=rule), 76 - n / 100)


def _list_also_asked(checkpoint: Checkpoint) -> list[str]:
    """Return the requests besides the task and the last one, newest first, each on one line."""
    # The task may be cut, so the beginning decides.
    shown = {_fold(each)[:_REQUEST_CHARS] for each in (checkpoint.task, checkpoint.intent)}
    asked = dict.fromkeys(map(_fold, reversed(checkpoint.requests)))
    return [text for text in asked if text[:_REQUEST_CHARS] not in shown]


def _fold(text: str | None) -> str:
    return " ".join((text or "").split())


def _sentences(
    label: Rendered, sentences: list[str], weight: float, rest_weight: float, longest: int
) -> Item:
    """Put the first sentence after the label, and the other sentences below it."""
    first, *rest = sentences
    if first.endswith(":") and rest:
        # A sentence that announces something says nothing without it.
        first, rest = f"{first} {rest[0].lstrip('#> ')}", rest[1:]
    is_template = sum(map(len, sentences)) > _TEMPLATE_CHARS
    most = _TEMPLATE_SENTENCES if is_template else _SENTENCES_KEPT
    return Item(
        say("{label}: {text}", label=label, text=_cut(first, longest)),
        weight,
        [*_following(rest[:most], rest_weight), *_following(rest[most:], 40)],
        # The rest of a briefing makes no sense without the task, so a part must always fit.
        short=say("{label}: {text}", label=label, text=_cut(first, _SHORT_CHARS)),
    )


def _split_request(text: str) -> list[str]:
    """Return the sentences of a request; a short one stays whole."""
    return [text] if len(text) <= _SHORT_CHARS and "\n" not in text else _split(text)


def branch_warning(checks: Checks) -> Rendered | None:
    """Warn when the work was saved on another branch."""
    branch = checks.branch
    if branch.same:
        return None
    if branch.is_gone:
        return say(
            "Warning: You're on `{now}` but checkpoint was saved on `{saved}`, which no longer "
            "exists.",
            now=branch.now or "unknown",
            saved=branch.saved or "",
        )
    return say(
        "Warning: You're on `{now}` but checkpoint was saved on `{saved}`. "
        "Switch with: git checkout {name}",
        now=branch.now or "unknown",
        saved=branch.saved or "",
        name=quote(branch.saved or ""),
    )


def _format_saved(checkpoint: Checkpoint, checks: Checks | None) -> Rendered:
    name = say("Checkpoint: {name}. ", name=checkpoint.name) if checkpoint.name else say("")
    age = say(" ({age})", age=times.age(checks.age_seconds)) if checks else say("")
    branch = say(", on branch {name}", name=checkpoint.branch) if checkpoint.branch else say("")
    return say(
        "{name}{verb} {moment}{age}{branch}.",
        name=name,
        verb="Left off" if checkpoint.as_of else "Saved",
        moment=times.local(checkpoint.described_at),
        age=age,
        branch=branch,
    )


def _format_age(checkpoint: Checkpoint, checks: Checks | None) -> Rendered:
    """Say when the work was left off where the date does not fit: digits are expensive."""
    if checks is None:
        return say("")
    branch = say(", on branch {name}", name=checkpoint.branch) if checkpoint.branch else say("")
    verb = "Left off" if checkpoint.as_of else "Saved"
    return say("{verb} {age}{branch}.", verb=verb, age=times.age(checks.age_seconds), branch=branch)


def _following(sentences: list[str], weight: float) -> Iterator[Item]:
    """Yield the sentences after the first; the next one weighs more, as it often explains it."""
    for n, text in enumerate(sentences):
        yield Item(block(text), weight + 10 - n if n < _TELLING_SENTENCES else weight - 2 * n)


def _head_moved(head: HeadCheck) -> Iterator[Item]:
    if head.diverged:
        yield Item(say("- HEAD was rewritten: the saved commit is no longer in its history."), 96)
    elif head.commits_since is None:
        yield Item(say("- HEAD moved; git cannot say how far."), 96)
    elif head.commits_since:
        moved = say("- HEAD moved by {count}", count=format_count(head.commits_since, "commit"))
        subjects = [
            Item(say("  - {sha:8} {subject}", sha=commit.sha[:8], subject=commit.subject), 72 - n)
            for n, commit in enumerate(head.commits[:5])
        ]
        yield Item(moved, 96, subjects, lead=say("; commit subjects:"))


def list_changes(checks: Checks | None) -> Iterator[Item]:
    """Yield what changed since the save."""
    if checks is None:
        return
    if warning := branch_warning(checks):
        yield Item(warning, 97)
    yield from _head_moved(checks.head)
    for file in checks.files:
        if file.state != "same":
            changed = say("- {state}: {path}", state=file.state, path=file.path)
            yield Item(changed, 94 if file.state == "missing" else 93)
    if (plan := checks.plan) is not None and plan.state != "same":
        yield Item(say("- {state}: the plan {path}", state=plan.state, path=plan.path), 94)
    if checks.worktree is not None:
        yield Item(say("- saved in another worktree: {path}", path=checks.worktree), 92)


def _format_interruption(checkpoint: Checkpoint) -> Iterator[Item]:
    call, action = checkpoint.in_flight, checkpoint.next_action
    # The next action names the interrupted call already.
    if call is not None and (action is None or action.source != "call"):
        cut_short = say("Interrupted during: {tool}: {what:lines}", tool=call.tool, what=call.what)
        yield Item(cut_short, 91)
    failure = checkpoint.last_failure
    if failure is None:
        return
    if action is None or action.source != "failure":
        yield _failure(failure)
    elif rest := failure.error.splitlines()[1:]:
        # The next action names the command and the first line of its error.
        lines = [Item(block(line), 84 - 9 * n) for n, line in enumerate(rest)]
        yield Item(say("That command also printed:"), 84, lines)


def _list_prompts(checkpoint: Checkpoint) -> list[str]:
    """Return the waiting prompts that the next action does not quote whole."""
    action = checkpoint.next_action.text if checkpoint.next_action else ""
    return [text for text in checkpoint.pending_prompts if " ".join(text.split()) not in action]


def _failure(failure: LastFailure) -> Item:
    first, *rest = failure.error.splitlines() or [""]
    command = say("Last failure: `{command}`", command=failure.command)
    # The error means nothing without its command, so both are in one line.
    whole = say("{command}: {error}", command=command, error=first) if first else command
    short = say(
        "Last failure: `{command}`: {error}",
        command=_cut(failure.command, _SHORT_CHARS // 2),
        error=_cut(first, _SHORT_CHARS),
    )
    return Item(
        whole, 88, [Item(block(line), 84 - 9 * n) for n, line in enumerate(rest)], short=short
    )


def _format_trail(checkpoint: Checkpoint) -> list[Item]:
    """List the last calls, newest last; the newest ones weigh most."""
    steps = [_format_step(step) for step in _list_steps(checkpoint)]
    newest = len(steps) - _SURE_STEPS
    return [Item(text, 86 if n >= newest else 72 + n / 10) for n, text in enumerate(steps)]


def _list_steps(checkpoint: Checkpoint) -> list[TrailStep]:
    """Return the last calls; if a next action was stated among them, only those after it."""
    steps = checkpoint.trail
    saves = [n for n, step in enumerate(steps) if _is_save(step)]
    if saves and has_gone_on(checkpoint):
        return steps[saves[-1] + 1 :]
    return [step for step in steps if not _is_save(step)]


def _is_save(step: TrailStep) -> bool:
    return _SAVE.search(f"{step.tool} {step.what}") is not None


def _format_step(step: TrailStep) -> Rendered:
    code = say(" (exit {code})", code=step.exit) if step.exit else say("")
    is_told = step.outcome in {"", "read", "edited"}
    outcome = say("") if is_told else say(": {outcome:200}", outcome=step.outcome)
    return say(
        "- {tool:40} {what:300}{code}{outcome}",
        tool=step.tool,
        what=step.what,
        code=code,
        outcome=outcome,
    )


def _format_failures(checkpoint: Checkpoint) -> Iterator[Item]:
    for n, failure in enumerate(checkpoint.failed):
        text = _format_reason(failure.what, failure.why)
        yield Item(say("⚠ Previously failed: {text:lines}", text=text), 79 - n / 100)


def _decisions(checkpoint: Checkpoint) -> list[Item]:
    # What the user said when refusing a call is listed among the requests.
    asked = {*checkpoint.requests, checkpoint.intent}
    new = (each for each in checkpoint.decisions if each.why not in asked)
    return _bullets((_format_reason(each.what, each.why) for each in new), 68)


def _format_reason(what: str, why: str) -> str:
    return f"{what} — {why}" if why else what


def _open_todos(checkpoint: Checkpoint) -> list[Item]:
    is_begun = {"in_progress": "[>]"}
    todos = (
        f"{is_begun.get(todo.status, '[ ]')} {todo.text}"
        for todo in checkpoint.todos
        if todo.status not in {"completed", "done", "cancelled"}
    )
    return _bullets(todos, 84)


def _plan(checkpoint: Checkpoint) -> list[Item]:
    plan = checkpoint.plan
    if plan is None:
        return []
    path, step = plan.path or "", plan_step(plan)
    lines = [Item(say("- `{path}` {step}", path=path, step=step), 82)] if path else []
    if step and not path:
        lines = [Item(say("- {step}", step=step.lstrip("(").replace(")", "", 1)), 82)]
    # The title is often the task itself, which the briefing starts with.
    is_told = plan.title and plan.title in "\n".join(_split(checkpoint.task)[:2])
    return (
        [*lines, Item(say("- {title}", title=plan.title), 81)]
        if plan.title and not is_told
        else lines
    )


def plan_step(plan: Plan) -> str:
    """Describe which step of the plan the work has reached."""
    step = f"(step {plan.step} of {plan.total})" if plan.step and plan.total else ""
    return f"{step} {plan.stage}".strip() if plan.stage else step


def _commands(checkpoint: Checkpoint) -> list[Item]:
    """List the newest commands whole, and the first words of the others."""
    sure = checkpoint.commands[:_SURE_COMMANDS]
    told = "\n".join(sure)
    heads = dict.fromkeys(map(_find_head, checkpoint.commands[_SURE_COMMANDS:]))
    rest = [head for head in heads if head not in told and 0 < len(head) <= _LONGEST_HEAD]
    return [*_bullets(sure, 77), *_lines(rest, 82, _HEADS_IN_LINE)]


def _find_head(command: str) -> str:
    """Return a command's program and first argument; without it if it is half of something."""
    found = _HEAD.match(command)
    return found[0] if found else ""


def _cut(text: str, chars: int) -> str:
    if len(text) <= chars:
        return text
    return (text[: chars - 1].rpartition(" ")[0] or text[: chars - 1]) + " …"


def _closing(checkpoint: Checkpoint, checks: Checks | None) -> Iterator[Item]:
    if (commit := checkpoint.last_commit) is not None:
        last = say("Last commit: {sha:8} {subject}", sha=commit.sha[:8], subject=commit.subject)
        yield Item(last, 85)
    # With checks, the reader is in that folder, or is told that it is another one.
    if checkpoint.worktree and checks is None:
        yield Item(say("Working directory: {folder:300}", folder=checkpoint.worktree), 60)
    if checkpoint.dirty:
        count = format_count(len(checkpoint.dirty), "file")
        yield Item(say("Uncommitted when saved: {count}", count=count), 35)
    use = checkpoint.context
    if use is not None and use.percent is not None:
        yield Item(say("Context use when saved: {percent} %", percent=f"{use.percent:.0f}"), 20)


def _list_by_folder(paths: list[str], weight: float) -> list[Item]:
    """List files, those of one folder in one line: a session can edit dozens of them."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, []).append(name)
    full = {folder: names for folder, names in folders.items() if folder and len(names) > 1}
    alone = [path for path in paths if path.rpartition("/")[0] not in full]
    together = [
        Item(
            say("- in {folder:300}: {names:2000}", folder=folder, names=", ".join(names)),
            weight - n / 10,
            count=len(names),
        )
        for n, (folder, names) in enumerate(full.items())
    ]
    return [*together, *_lines(alone, weight, _FILES_IN_LINE)]


def _focus(checkpoint: Checkpoint, checks: Checks | None, base: str) -> list[Item]:
    """List the files needed next; the first few are worth more than most sentences."""
    files = list_focus(checkpoint)
    sure, rest = files[:_SURE_FILES], files[_SURE_FILES:]
    return [
        *_bullets((describe_file(path, checkpoint, checks, base) for path in sure), 93),
        *_lines([shorten_path(p, checkpoint, base) for p in rest], 89, _LIKELY_IN_LINE),
    ]


def _lines(texts: list[str], weight: float, most: int) -> list[Item]:
    """List short texts, several in a line."""
    groups = [texts[n : n + most] for n in range(0, len(texts), most)]
    return [
        Item(say("- {text:2000}", text=", ".join(group)), weight - n, count=len(group))
        for n, group in enumerate(groups)
    ]


def _bullets(texts: Iterable[str], weight: float) -> list[Item]:
    # Each entry is a little lighter than the one before, so the first ones survive truncation.
    return [
        Item(say("- {text:lines}", text=text), weight - n / 100) for n, text in enumerate(texts)
    ]


def _format_left_off(checkpoint: Checkpoint) -> list[Item]:
    """Return the agent's last words, without what the briefing already says."""
    action = checkpoint.next_action.text if checkpoint.next_action else ""
    told = f"{checkpoint.task}\n{action}"
    parts = [part for part in _split(checkpoint.left_off or "") if part.rstrip(".:") not in told]
    return [
        Item(block(part), 71 if n >= len(parts) - _SURE_WORDS else 58)
        for n, part in enumerate(parts)
    ]


# Most tasks: a single line that begins with a letter and has no end of a sentence inside.
_ONE_SENTENCE = re.compile(r"[^\W\d_](?:[^\n.!?。！？:|]|[.!?:](?!\s|\Z))*[.]?")


def _split(text: str) -> list[str]:
    if not text or _ONE_SENTENCE.fullmatch(text):
        return [text]
    parts = [part for part in split_sentences(text) if not _BARE_HEADING.match(part)]
    return parts[:_SENTENCES_KEPT] or [""]
