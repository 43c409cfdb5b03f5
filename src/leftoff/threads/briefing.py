"""Render a checkpoint as a briefing for the next session, within a token budget.

A briefing depends only on a checkpoint and its checks. Every line has a weight for how much it
helps the next session; if the budget is short, the lightest lines are left out.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from shlex import quote

from leftoff.checkpoint import (
    CONTRADICTED,
    NOTHING_NEXT,
    UNLISTED_ROLES,
    Checkpoint,
    LastFailure,
    NextAction,
    Plan,
    TrailStep,
)
from leftoff.lazy_patterns import lazy
from leftoff.session.facts.sentences import keep_start, split_sentences, starts_item
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
from leftoff.threads.briefing_weights import BRIEF, USUAL, Weights
from leftoff.threads.check_claims import Checks, HeadCheck, LostCodeCheck

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


def render(  # noqa: PLR0913 - each is a keyword
    checkpoint: Checkpoint,
    checks: Checks | None,
    *,
    budget: int,
    width: int | None = None,
    sections: Iterable[Section] | None = None,
    more: Iterable[Section] = (),
) -> Rendered:
    """Render the briefing of a checkpoint, fenced and within the budget.

    `width` limits its length as a JSON string. `sections` replace the usual ones, and `more` follow
    them.
    """
    # The fence itself costs tokens and characters, too.
    frame = fence.enclose_text(say(""))
    limits = [limit_tokens(budget - estimate(frame))]
    if width is not None:
        limits.append(limit_width(width - measure_width(frame)))
    # In a short briefing, a long task must not crowd out everything else.
    longest = max(_SHORT_CHARS, budget // 2)
    worth = USUAL if budget >= _BRIEF_TOKENS else BRIEF
    shown = build_sections(checkpoint, checks, worth, longest) if sections is None else sections
    return fence.enclose_text(fence.join(fit([*shown, *more], limits)))


def question(checkpoint: Checkpoint, checks: Checks) -> Rendered:
    """Return the question whether to resume, which only the user may answer."""
    what = say('"{name}"', name=checkpoint.name) if checkpoint.name else say("this session")
    if checks.is_stale:
        return say("Some of {what} is stale. Resume anyway? No means start fresh.", what=what)
    return say("Resume {what}?", what=what)


def changes(checks: Checks) -> Rendered:
    """List what changed since the save, one line each; empty if nothing did."""
    return fence.join(fit([Section(say(""), [*list_changes(checks, USUAL)])], []))


# --- files and their states ---


def list_focus(checkpoint: Checkpoint) -> list[str]:
    """Return the files needed next, without the plan, which has its own line."""
    plan = checkpoint.plan.path if checkpoint.plan else None
    # Somebody stated the next action, so nothing in the session ranks the files that it names.
    action = checkpoint.next_action
    known = [*checkpoint.focus_files, *checkpoint.files_modified]
    is_stated = action is not None and action.origin == "stated"
    named = [path for path in known if action and is_stated and _names(action.text, path)]
    return [path for path in dict.fromkeys([*named, *checkpoint.focus_files]) if path != plan]


def _names(text: str, path: str) -> bool:
    """Return whether a text names a file, by its path or the end of it."""
    parts = path.split("/")
    ends = ["/".join(parts[n:]) for n in range(len(parts))]
    # Compiling an expression takes longer than all the rest.
    return ends[-1] in text and any(
        re.search(rf"(?<![\w./-]){re.escape(end)}(?![\w/-])", text) for end in ends
    )


def list_modified(checkpoint: Checkpoint) -> list[str]:
    """Return the modified files that are not needed next and still exist."""
    shown = {*checkpoint.focus_files, *checkpoint.files_deleted}
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
        # What another branch has was not deleted.
        is_elsewhere = checks is not None and not checks.branch.same
        states = ["not on this branch" if is_elsewhere else "deleted since"]
    # Where HEAD moved, it may have been committed.
    elif path in checkpoint.dirty and (checks is None or checks.head.commits_since == 0):
        states.append("uncommitted")
    shown = shorten_path(path, checkpoint, base)
    return f"{shown} ({', '.join(states)})" if states else shown


# --- sections ---


_QUOTES_REQUEST = lazy(r"Start with the request: (?P<request>.*)", re.DOTALL)
# A heading of a word or two says nothing without the text below it.
_BARE_HEADING = lazy(r"#+\s+\S+(?:\s+\S+)?$|\w+:$")
_CODE_BLOCK = lazy(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_SENTENCES_KEPT = 40
_TELLING_SENTENCES = 1
# So many files and commands are worth more than most sentences; the others weigh less.
# With less, the newest words and calls are worth more than further files.
_BRIEF_TOKENS = 400
_SURE_FILES = 6
_FIRST_FILES = 3
_SURE_COMMANDS = 4
_SURE_STEPS = 2
_SURE_FAILURES = 1
_CALL_CHARS = 300
_SHORT_CALL = 80
_LONGEST_HEAD = 30
# Quotes, pipes and variables of a command would be cut in two.
_HEAD = lazy(r"[\w./~@:+=*%,-]+(?: [\w./~@:+=*%,-]+(?= |$))?")
_SURE_REQUESTS = 2
_SURE_WORDS = 3
_LOST_FILES = 5
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
    "announced": "what the agent announced earlier",
    "proposal": "the agent's last words",
    "trail": "the last calls",
    "request": "the last request",
}


def build_sections(
    checkpoint: Checkpoint, checks: Checks | None, worth: Weights, longest: int
) -> Iterator[Section]:
    """Yield everything to say about a checkpoint, in the order in which it is shown.

    `longest` limits the characters of a sentence of the user or the agent.
    """
    yield _section(say(""), _opening(checkpoint, checks, worth, longest))
    if has_gone_on(checkpoint):
        since = _format_trail(checkpoint, worth)
        yield Section(say("Since that was said:"), since, keeps_end=True)
    yield _list(say("Changed since then:"), list_changes(checks, worth))
    yield from build_details(checkpoint, checks, worth)


def build_details(
    checkpoint: Checkpoint, checks: Checks | None, worth: Weights = USUAL
) -> Iterator[Section]:
    """Yield everything but the opening and what changed since."""
    yield _section(say(""), _format_interruption(checkpoint, worth))
    asked = say("Prompts in that file:" if checkpoint.source else "Unanswered prompts:")
    yield _list(asked, _bullets(_list_prompts(checkpoint), worth.prompt))
    yield _list(say("Blockers:"), _bullets(checkpoint.blockers, worth.blocker))
    yield _section(say(""), _format_failures(checkpoint, worth))
    if not has_gone_on(checkpoint):
        trail = _format_trail(checkpoint, worth)
        yield Section(say("The agent's last calls:"), trail, keeps_end=True)
    yield _section(_name_left_off(checkpoint), _format_left_off(checkpoint, worth))
    todos = "Open todos (perhaps out of date):" if checkpoint.todos_old else "Open todos:"
    yield _list(say(todos), _bullets(_list_todos(checkpoint), worth.todo))
    yield _section(say("Plan:"), _plan(checkpoint, worth))
    yield _list(say("Open questions:"), _bullets(checkpoint.questions, worth.question))
    yield _list(say("Decisions:"), _bullets(_list_decisions(checkpoint), worth.decision))
    yield _list(say("Done:"), _bullets(checkpoint.done, worth.done))
    yield from _list_files(checkpoint, checks, worth)
    yield _list(say("Notes:"), _bullets(checkpoint.notes, worth.note))
    yield from list_other_sections(checkpoint, worth)
    yield _section(say(""), _closing(checkpoint, checks, worth))


def _list_files(checkpoint: Checkpoint, checks: Checks | None, worth: Weights) -> Iterator[Section]:
    """Yield the files needed next, the commands, then all other files."""
    base = find_base(checkpoint)

    def shorten(paths: list[str]) -> list[str]:
        return [shorten_path(path, checkpoint, base) for path in paths]

    where = say(" (in {folder:300})", folder=base) if base else say("")
    needed = _focus(checkpoint, checks, base, worth)
    yield _section(say("Files needed next{where}:", where=where), needed)
    sure = checkpoint.commands[:_SURE_COMMANDS]
    yield _section(say("Commands in use:"), _bullets(sure, worth.command))
    yield _section(say("Also ran:"), _list_other_commands(checkpoint, worth))
    edited = _list_by_folder(shorten(list_modified(checkpoint)), worth.edited_file)
    yield _list(say("Also edited:"), edited)
    gone = _list_by_folder(shorten(checkpoint.files_deleted), worth.deleted_file)
    yield _list(say("Deleted or renamed:"), gone)
    seen = _lines(shorten(list_seen(checkpoint)), worth.seen_file, _FILES_IN_LINE)
    yield _section(say("Also read:"), seen)
    yield _list(say("Files:"), _bullets(list_named(checkpoint), worth.named_file))


def list_other_sections(checkpoint: Checkpoint, worth: Weights) -> Iterator[Section]:
    """Yield what a native file holds besides the keys of a checkpoint."""
    for kept in checkpoint.extra.values():
        parts = kept if isinstance(kept, dict) else {}
        for key in ("fields", "sections"):
            found = parts.get(key)
            for title, body in found.items() if isinstance(found, dict) else ():
                heading = say('"{title:80}" in the file:', title=title)
                texts = [line for line in str(body).split("\n") if line.strip()]
                weigh = worth.other_line
                yield _list(
                    heading, (Item(block(text), weigh - n / 10) for n, text in enumerate(texts))
                )


def _section(heading: Rendered, items: Iterable[Item]) -> Section:
    return Section(heading, [*items])


def _list(heading: Rendered, items: Iterable[Item]) -> Section:
    """Make a section that says how many of its items were left out."""
    return Section(heading, [*items], lambda count: say("+{count} more", count=count))


def _opening(
    checkpoint: Checkpoint, checks: Checks | None, worth: Weights, longest: int
) -> Iterator[Item]:
    # The heaviest line: without it, text from a file could pass for the user's own state.
    if (source := checkpoint.source) is not None:
        imported = say(
            "Imported from a file of {profile:40}, which anyone may have written: {path:200}",
            profile=source.profile,
            path=source.path or "unknown",
        )
        yield Item(imported, worth.imported)
    short = _format_age(checkpoint, checks)
    # An offer names the checkpoint beside the briefing, and what changed since needs the room.
    whole = short if worth is BRIEF and short else _format_saved(checkpoint, checks)
    yield Item(whole, worth.age, short=short)
    if checkpoint.task:
        # A later request says more about what is next than the rest of the first one.
        is_last = checkpoint.intent in {None, checkpoint.task}
        rest = worth.task_rest if is_last else worth.old_task_rest
        yield _sentences(say("Task"), _split_request(checkpoint.task), worth.task, rest, longest)
    action, rest = checkpoint.next_action, worth.action_rest
    if action is not None:
        label = say("Next action{origin}", origin=_format_origin(action))
        if action.origin == "inferred":
            yield _format_inferred(label, action.text, worth.action, longest)
        else:
            yield _sentences(label, _split(action.text), worth.action, rest, longest)
    for number, step in enumerate(filter(str.strip, checkpoint.next_steps)):
        weight = worth.action - 5 - number / 10
        yield _sentences(say("Then"), _split(step), weight, rest - 5, longest)
    yield from _requests(checkpoint, worth, longest)


def _format_inferred(label: Rendered, text: str, weight: float, longest: int) -> Item:
    """Put an inferred action on one line: its sentences are leftoff's own, and belong together."""
    whole, short = (
        say("{label}: {text}", label=label, text=keep_start(_fold(text), chars))
        for chars in (longest, _SHORT_CHARS)
    )
    return Item(whole, weight, short=short)


def has_gone_on(checkpoint: Checkpoint) -> bool:
    """Return whether work went on after the next action was stated."""
    return checkpoint.is_autosave and "next_action" in checkpoint.stated


def _format_origin(action: NextAction) -> Rendered:
    if action.origin != "inferred":
        return say("")
    return say(" (inferred from {source})", source=_SOURCES.get(action.source, "the session"))


def _requests(checkpoint: Checkpoint, worth: Weights, longest: int) -> Iterator[Item]:
    """Yield the last request, what it answers, earlier ones, and rules for the work."""
    action = checkpoint.next_action.text if checkpoint.next_action else ""
    # The next action may quote a short request whole.
    if checkpoint.intent and checkpoint.intent not in {checkpoint.task, _find_quoted(action)}:
        asked = say("Last request in that file" if checkpoint.source else "Last request")
        parts = _split_request(checkpoint.intent)
        yield _sentences(asked, parts, worth.request, worth.request_rest, longest)
    if (proposed := checkpoint.answers_to) and proposed not in action:
        yield Item(say("It answers the agent: {text:400}", text=proposed), worth.answered)
    for n, text in enumerate(_list_also_asked(checkpoint)):
        also = say("Also asked: {text}", text=keep_start(text, _REQUEST_CHARS))
        # A short reply such as "do 1" continues the request before it.
        is_continued = n == 0 and proposed
        weight = (worth.new_request if n < _SURE_REQUESTS else worth.old_request) - n
        yield Item(also, worth.answered if is_continued else weight)
    newest = checkpoint.requests[-_SURE_REQUESTS:]
    shown = "\n".join([checkpoint.task, checkpoint.intent or "", *newest])
    for n, rule in enumerate(checkpoint.constraints):
        if rule not in shown:
            yield Item(say("The user's rule: {text:300}", text=rule), worth.rule - n / 100)


def _find_quoted(action: str) -> str:
    """Return the request that an inferred action quotes, if that is all it says."""
    found = _QUOTES_REQUEST.fullmatch(action)
    return found["request"] if found else ""


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
    if rest and (first.endswith(":") or first == NOTHING_NEXT):
        # A sentence that announces something says nothing without it. Nor does one that knows
        # nothing say enough without the agent's last words.
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
    """Return the sentences of a request; a short one stays whole, a long one loses its code."""
    # Text that was copied from a terminal brings the frame of its window along.
    text = _FRAME.sub(" ", text)
    if len(text) > _SHORT_CHARS and "```" in text:
        text = _CODE_BLOCK.sub("", text) or text
    return [text] if len(text) <= _SHORT_CHARS and "\n" not in text else _split(text)


def branch_warning(checks: Checks) -> Rendered | None:
    """Warn when the work was saved on another branch."""
    branch = checks.branch
    if branch.same:
        return None
    return say(
        "Warning: You're on `{now}` but checkpoint was saved on `{saved}`. "
        "Switch with: git checkout {name}{gone}",
        now=branch.now or "unknown",
        saved=branch.saved or "",
        name=quote(branch.saved or ""),
        gone=say(" (that branch no longer exists)" if branch.is_gone else ""),
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
    verb = say("Left off" if checkpoint.as_of else "Saved")
    return say("{verb} {age}{branch}.", verb=verb, age=times.age(checks.age_seconds), branch=branch)


def _following(sentences: list[str], weight: float) -> Iterator[Item]:
    """Yield the sentences after the first; the next one weighs more, as it often explains it."""
    for n, text in enumerate(sentences):
        is_telling = n < _TELLING_SENTENCES
        # A part of the sentence that explains the first one is better than nothing.
        short = block(_cut(text, _SHORT_CHARS)) if is_telling else say("")
        yield Item(block(text), weight + 10 - n if is_telling else weight - 2 * n, short=short)


def _head_moved(head: HeadCheck, worth: Weights) -> Iterator[Item]:
    if head.diverged:
        yield Item(
            say("- HEAD was rewritten: the saved commit is no longer in its history."), worth.head
        )
    elif head.commits_since is None:
        yield Item(say("- HEAD moved; git cannot say how far."), worth.head)
    elif head.commits_since:
        moved = say("- HEAD moved by {count}", count=format_count(head.commits_since, "commit"))
        subjects = [
            Item(
                say("  - {sha:8} {subject}", sha=commit.sha[:8], subject=commit.subject),
                worth.new_commit - n,
            )
            for n, commit in enumerate(head.commits[:5])
        ]
        yield Item(moved, worth.head, subjects, lead=say("; commit subjects:"))


def list_changes(checks: Checks | None, worth: Weights = USUAL) -> Iterator[Item]:
    """Yield what changed since the save."""
    if checks is None:
        return
    if warning := branch_warning(checks):
        yield Item(warning, worth.branch)
    yield from _head_moved(checks.head, worth)
    for file in checks.files:
        if file.state != "same":
            changed = say("- {state}: {path}", state=file.state, path=file.path)
            is_missing = file.state == "missing"
            yield Item(changed, worth.missing_file if is_missing else worth.changed_file)
    if (plan := checks.plan) is not None and plan.state != "same":
        yield Item(
            say("- {state}: the plan {path}", state=plan.state, path=plan.path), worth.missing_file
        )
    if checks.worktree is not None:
        removed = say(", which was removed or moved" if checks.worktree_is_gone else "")
        where = say(
            "- saved in another worktree: {path}{removed}", path=checks.worktree, removed=removed
        )
        yield Item(where, worth.worktree)
    if checks.lost_code is not None:
        yield _format_lost_code(checks.lost_code, worth)


def _format_lost_code(lost: LostCodeCheck, worth: Weights) -> Item:
    """Say which uncommitted code is gone, and how to get it back."""
    where = (
        say("gone with the worktree {path:200}", path=lost.worktree)
        if lost.worktree
        else say("not in your worktree any more")
    )
    text = say(
        "- {where}: uncommitted changes in {count} of this thread's last snapshot. To bring them "
        "back, run `{command}`",
        where=where,
        count=format_count(len(lost.paths), "file"),
        command=lost.command,
    )
    named = [
        Item(say("  - {path}", path=each), worth.named_file) for each in lost.paths[:_LOST_FILES]
    ]
    return Item(text, worth.missing_file + 1, named, lead=say(":"))


def _format_interruption(checkpoint: Checkpoint, worth: Weights) -> Iterator[Item]:
    call, action = checkpoint.in_flight, checkpoint.next_action
    # The next action names the interrupted call already.
    if call is not None and (action is None or action.source != "call"):
        cut_short = say("Interrupted during: {tool}: {what:lines}", tool=call.tool, what=call.what)
        yield Item(cut_short, worth.interruption)
    failure = checkpoint.last_failure
    if failure is None:
        return
    if action is None or action.source != "failure":
        yield _failure(failure, worth)
    # The next action names the command and the first line of its error.
    elif rest := failure.error.splitlines()[1:]:
        also = say("That command also printed: {line}", line=rest[0])
        yield Item(also, worth.error, _list_errors(rest[1:], worth))


def _list_prompts(checkpoint: Checkpoint) -> list[str]:
    """Return the waiting prompts that the next action does not quote whole."""
    action = checkpoint.next_action.text if checkpoint.next_action else ""
    return [text for text in checkpoint.pending_prompts if " ".join(text.split()) not in action]


def _failure(failure: LastFailure, worth: Weights) -> Item:
    first, *rest = failure.error.splitlines() or [""]
    command = say("Last failure: `{command}`", command=failure.command)
    # The error means nothing without its command, so both are in one line.
    whole = say("{command}: {error}", command=command, error=first) if first else command
    short = say(
        "Last failure: `{command}`: {error}",
        command=_cut(failure.command, _SHORT_CHARS // 2),
        error=_cut(first, _SHORT_CHARS),
    )
    return Item(whole, worth.failure, _list_errors(rest, worth), short=short)


def _list_errors(lines: list[str], worth: Weights) -> list[Item]:
    return [Item(block(line), worth.error - 9 * n) for n, line in enumerate(lines)]


def _format_trail(checkpoint: Checkpoint, worth: Weights) -> list[Item]:
    """List the last calls, newest last; the newest ones weigh most."""
    steps = _list_steps(checkpoint)
    earlier = [worth.earlier_call + n / 10 for n in range(len(steps) - _SURE_STEPS)]
    weights = [*earlier, worth.call_before, worth.last_call][-len(steps) :]
    return [
        Item(_format_step(step), weight, short=_format_step(step, _SHORT_CALL))
        for step, weight in zip(steps, weights, strict=False)
    ]


def _list_steps(checkpoint: Checkpoint) -> list[TrailStep]:
    """Return the last calls; if a next action was stated among them, only those after it."""
    steps = checkpoint.trail
    saves = [n for n, step in enumerate(steps) if step.is_save]
    if saves and has_gone_on(checkpoint):
        return steps[saves[-1] + 1 :]
    return [step for step in steps if not step.is_save]


def _format_step(step: TrailStep, most: int = _CALL_CHARS) -> Rendered:
    code = say(" (exit {code})", code=step.exit) if step.exit else say("")
    is_edit = step.outcome == "edited"
    is_plain = step.outcome in {"", "read", "edited"}
    outcome = say("") if is_plain else say(": {text}", text=_cut(step.outcome, most))
    return say(
        "- {tool:40} {what}{code}{outcome}",
        tool="edited" if is_edit else step.tool,
        what=_cut(step.what, most),
        code=code,
        outcome=outcome,
    )


def _format_failures(checkpoint: Checkpoint, worth: Weights) -> Iterator[Item]:
    # A command that failed in the session before the last ones was given up long ago.
    sure = len(checkpoint.failed) if "failed" in checkpoint.stated else _SURE_FAILURES
    for n, failure in enumerate(checkpoint.failed):
        text = _format_reason(failure.what, failure.why)
        weight = (worth.failed if n < sure else worth.old_failed) - n / 100
        yield Item(say("⚠ Previously failed: {text:lines}", text=text), weight)


def _list_decisions(checkpoint: Checkpoint) -> list[str]:
    # What the user said when refusing a call is listed among the requests.
    asked = {*checkpoint.requests, checkpoint.intent}
    return [
        _format_reason(each.what, each.why)
        for each in checkpoint.decisions
        if each.why not in asked
    ]


def _format_reason(what: str, why: str) -> str:
    return f"{what} — {why}" if why else what


def _list_todos(checkpoint: Checkpoint) -> list[str]:
    return [
        f"{'[>]' if todo.status == 'in_progress' else '[ ]'} {todo.text}"
        for todo in checkpoint.todos
        if todo.status not in {"completed", "done", "cancelled"}
    ]


def _plan(checkpoint: Checkpoint, worth: Weights) -> list[Item]:
    phase, plan = checkpoint.tdd_phase, checkpoint.plan
    tests = [Item(say("- test-first phase: {phase:80}", phase=phase), worth.plan)] if phase else []
    return [*(_format_plan(plan, checkpoint.task, worth) if plan else []), *tests]


def _format_plan(plan: Plan, task: str, worth: Weights) -> list[Item]:
    path, step = plan.path or "", plan_step(plan)
    at = say(" {step}", step=step) if step else say("")
    lines = [Item(say("- `{path}`{at}", path=path, at=at), worth.plan)] if path else []
    if step and not path:
        bare = "stage " if plan.stage and not plan.step else ""
        words = f"{bare}{step.lstrip('(').replace(')', '', 1)}"
        lines = [Item(say("- {step}", step=words), worth.plan)]
    # The title is often the task itself, which the briefing starts with.
    is_in_task = plan.title and plan.title in "\n".join(_split(task)[:2])
    return (
        [*lines, Item(say("- {title}", title=plan.title), worth.plan - 1)]
        if plan.title and not is_in_task
        else lines
    )


def plan_step(plan: Plan) -> str:
    """Describe which step of the plan the work has reached."""
    total = f" of {plan.total}" if plan.total else ""
    step = f"(step {plan.step}{total})" if plan.step else ""
    return f"{step} {plan.stage}".strip() if plan.stage else step


def _list_other_commands(checkpoint: Checkpoint, worth: Weights) -> list[Item]:
    """List the first words of the commands that are not shown whole."""
    shown = "\n".join(checkpoint.commands[:_SURE_COMMANDS])
    others = [*checkpoint.commands[_SURE_COMMANDS:], *checkpoint.also_ran]
    heads = dict.fromkeys(map(_find_head, others))
    rest = [head for head in heads if head not in shown and 0 < len(head) <= _LONGEST_HEAD]
    return _lines(rest, worth.other_commands, _HEADS_IN_LINE)


def _find_head(command: str) -> str:
    """Return a command's program and first argument; without it if it is half of something."""
    found = _HEAD.match(command)
    return found[0] if found else ""


def _cut(text: str, chars: int) -> str:
    if len(text) <= chars:
        return text
    return (text[: chars - 1].rpartition(" ")[0] or text[: chars - 1]) + " …"


def _closing(checkpoint: Checkpoint, checks: Checks | None, worth: Weights) -> Iterator[Item]:
    if (commit := checkpoint.last_commit) is not None:
        last = say("Last commit: {sha:8} {subject}", sha=commit.sha[:8], subject=commit.subject)
        yield Item(last, worth.last_commit)
    # With checks, the reader is in that folder, or a check says that it is another one.
    if checkpoint.worktree and checks is None:
        yield Item(say("Working directory: {folder:300}", folder=checkpoint.worktree), worth.folder)
    if checkpoint.dirty:
        count = format_count(len(checkpoint.dirty), "file")
        yield Item(say("Uncommitted when saved: {count}", count=count), worth.uncommitted)
    use = checkpoint.context
    if use is not None and use.percent is not None and use.percent >= 1:
        yield Item(
            say("Context use when saved: {percent} %", percent=f"{use.percent:.0f}"), worth.usage
        )


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


def _focus(checkpoint: Checkpoint, checks: Checks | None, base: str, worth: Weights) -> list[Item]:
    """List the files needed next; the first few are worth more than most sentences."""
    files = list_focus(checkpoint)
    sure = [describe_file(path, checkpoint, checks, base) for path in files[:_SURE_FILES]]
    rest = [shorten_path(path, checkpoint, base) for path in files[_SURE_FILES:]]
    return [
        *_bullets(sure[:_FIRST_FILES], worth.first_file),
        *_bullets(sure[_FIRST_FILES:], worth.needed_file),
        *_lines(rest, worth.likely_file, _LIKELY_IN_LINE),
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


def _name_left_off(checkpoint: Checkpoint) -> Rendered:
    """Return the heading: the agent's words, unless a person or a file states where it left off."""
    is_stated = "left_off" in checkpoint.stated or checkpoint.source is not None
    if is_stated or not checkpoint.is_autosave:
        return say("Left off:")
    action = checkpoint.next_action
    is_doubtful = action is not None and action.text.endswith(CONTRADICTED)
    doubt = " (its last run shows otherwise)" if is_doubtful else ""
    return say("The agent's last words{doubt}:", doubt=say(doubt))


def _format_left_off(checkpoint: Checkpoint, worth: Weights) -> list[Item]:
    """Return the agent's last words, without what the briefing already says."""
    action = checkpoint.next_action.text if checkpoint.next_action else ""
    shown = f"{checkpoint.task}\n{action}"
    parts = [part for part in _split(checkpoint.left_off or "") if part.rstrip(".:") not in shown]
    last = [worth.last_sentence, *[worth.last_words] * (_SURE_WORDS - 1)]
    weights = [*last, *[worth.earlier_words] * len(parts)][: len(parts)]
    return _join_lists([*zip(parts, reversed(weights), strict=True)])


def _join_lists(parts: list[tuple[str, float]]) -> list[Item]:
    """Make items of sentences; those of a list bring the line before it along."""
    items: list[Item] = []
    for n, (text, weight) in enumerate(parts):
        if not starts_item(text):
            items.append(Item(block(text), weight))
        elif n and items and not items[-1].parts and not starts_item(parts[n - 1][0]):
            # The heading alone is worth little.
            items[-1] = Item(items[-1].text, 1, [Item(block(text), weight)])
        elif items and items[-1].parts:
            entries = [*items[-1].parts, Item(block(text), weight)]
            items[-1] = Item(items[-1].text, 1, entries)
        else:
            items.append(Item(block(text), weight))
    return items


# Most tasks: a single line that begins with a letter and has no end of a sentence inside.
_FRAME = lazy(r"(?<=\S)(?:[ \t]{8,}|[ \t]{3,}(?=[\u2500-\u257f]))[ \t\u2500-\u257f]*")
_ONE_SENTENCE = lazy(r"[^\W\d_](?:[^\n.!?。！？:|]|[.!?:](?!\s|\Z))*[.]?")


def _split(text: str) -> list[str]:
    if not text or _ONE_SENTENCE.fullmatch(text):
        return [text]
    found = split_sentences(text)
    parts = [
        part
        for part, after in pairwise([*found, ""])
        # The heading of a list says what the list is about.
        if not _BARE_HEADING.match(part) or starts_item(after)
    ]
    return parts[:_SENTENCES_KEPT] or [text]
