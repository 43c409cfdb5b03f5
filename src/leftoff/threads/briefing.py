"""Render a checkpoint as a briefing for the next session, within a token budget.

A briefing depends only on a checkpoint and its checks. Every line has a weight for how much it
helps the next session; if the budget is short, the lightest lines are left out.
"""

import itertools
import re
from collections.abc import Iterable, Iterator

from leftoff.checkpoint import NOTHING_NEXT, UNKNOWN_END, Checkpoint, NextAction, Plan
from leftoff.lazy_patterns import lazy
from leftoff.session.facts.announcements import find_order
from leftoff.session.facts.sentences import SENTENCES_KEPT, keep_start, split_statements
from leftoff.text import fence, times
from leftoff.text.budget import (
    Fitted,
    Item,
    Section,
    cut_words,
    estimate,
    fit_marked,
    limit_tokens,
    limit_width,
    list_bullets,
    make_list,
    make_section,
    measure_width,
)
from leftoff.text.fence import Rendered, block, say
from leftoff.text.plural import format_count
from leftoff.threads import briefing_evidence, briefing_files
from leftoff.threads.briefing_changes import (
    branch_warning,
    changes,
    list_changes,
    list_guardz_warnings,
)
from leftoff.threads.briefing_weights import BRIEF, SHORT_CHARS, USUAL, Weights
from leftoff.threads.check_claims import Checks
from leftoff.threads.field_labels import format_decision

__all__ = [
    "MOST_TOKENS",
    "branch_warning",
    "changes",
    "list_guardz_warnings",
    "plan_step",
    "question",
    "render",
    "render_offer",
]
_AGE = "age"


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
    fitted = _fit(checkpoint, checks, budget, width=width, sections=sections, more=more)
    return fence.enclose_text(fence.join(fitted.texts))


def render_offer(
    checkpoint: Checkpoint, checks: Checks, *, budget: int, more: Iterable[Section] = ()
) -> tuple[Rendered, bool]:
    """Render the briefing, and return whether it had room to say when the work was left off."""
    fitted = _fit(checkpoint, checks, budget, more=more)
    return fence.enclose_text(fence.join(fitted.texts)), _AGE in fitted.marks


def _fit(  # noqa: PLR0913 - each is a keyword
    checkpoint: Checkpoint,
    checks: Checks | None,
    budget: int,
    *,
    width: int | None = None,
    sections: Iterable[Section] | None = None,
    more: Iterable[Section] = (),
) -> Fitted:
    # The fence itself costs tokens and characters, too.
    frame = fence.enclose_text(say(""))
    limits = [limit_tokens(budget - estimate(frame))]
    if width is not None:
        limits.append(limit_width(width - measure_width(frame)))
    # In a short briefing, a long task must not crowd out everything else.
    longest = max(SHORT_CHARS, budget // 2)
    worth = USUAL if budget >= _BRIEF_TOKENS else BRIEF
    shown = build_sections(checkpoint, checks, worth, longest) if sections is None else sections
    return fit_marked([*shown, *more], limits)


def question(checkpoint: Checkpoint, checks: Checks) -> Rendered:
    """Return the question whether to resume, which only the user may answer."""
    what = say('"{name}"', name=checkpoint.name) if checkpoint.name else say("this session")
    if checks.is_stale:
        return say("Some of {what} is stale. Resume anyway? No means start fresh.", what=what)
    return say("Resume {what}?", what=what)


# --- sections ---


_QUOTES_REQUEST = ("Start with the request: ", "Continue with the request: ")
# The shortest briefing shows this much of an action.
_QUOTED_CHARS = 150
_ACTION_CHARS = 360
_TOLD_CHARS = 60
# A request that begins like this does not say yet what to do.
_ROLE = lazy(r"(?:You are|You're|Act as|Du bist) (?:an?|the|my|ein\w*)\b[^.]*\.", re.IGNORECASE)
_CODE_BLOCK = lazy(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
# With less, the newest words and calls are worth more than further files.
_BRIEF_TOKENS = 400
_SURE_REQUESTS = 2
_REQUEST_CHARS = 200
# A longer request is a plan or a template; its first lines say what it is about.
_TEMPLATE_CHARS = 1200
_TEMPLATE_SENTENCES = 3
_SOURCES = {
    "prompt": "a prompt that nobody answered",
    "call": "the call that was cut short",
    "unknown": "the last call, whose result is not recorded",
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
    yield make_section(say(""), _list_opening(checkpoint, checks, worth, longest))
    if checkpoint.has_gone_on:
        yield briefing_evidence.list_calls(say("Since that was said:"), checkpoint, worth)
    if checks is not None and checks.has_changes:
        yield make_list(say("Changed since then:"), list_changes(checks, worth))
    yield from build_details(checkpoint, checks, worth)


def build_details(
    checkpoint: Checkpoint, checks: Checks | None, worth: Weights = USUAL
) -> Iterator[Section]:
    """Yield everything but the opening and what changed since."""
    checkpoint = checks.describe_shipped(checkpoint) if checks else checkpoint
    if checkpoint.in_flight or checkpoint.last_failure:
        yield make_section(say(""), briefing_evidence.list_interruptions(checkpoint, worth))
    asked = say("Prompts in that file:" if checkpoint.source else "Unanswered prompts:")
    yield make_list(asked, list_bullets(_list_prompts(checkpoint), worth.prompt))
    yield make_list(say("Blockers:"), list_bullets(checkpoint.blockers, worth.blocker))
    if checkpoint.failed or checkpoint.trail or checkpoint.left_off:
        yield from briefing_evidence.list_evidence(checkpoint, worth)
    todos = "Open todos (perhaps out of date):" if checkpoint.todos_old else "Open todos:"
    yield make_list(say(todos), list_bullets(_list_todos(checkpoint), worth.todo))
    yield make_section(say("Plan:"), _plan(checkpoint, worth))
    yield make_list(say("Open questions:"), list_bullets(checkpoint.questions, worth.question))
    yield make_list(say("Decisions:"), list_bullets(_list_decisions(checkpoint), worth.decision))
    yield make_list(say("Done:"), list_bullets(checkpoint.done, worth.done))
    if _has_files(checkpoint):
        yield from briefing_files.list_files(checkpoint, checks, worth)
    yield make_list(say("Notes:"), list_bullets(checkpoint.notes, worth.note))
    yield from list_other_sections(checkpoint, worth)
    yield make_section(say(""), _list_closing(checkpoint, checks, worth))


def _has_files(checkpoint: Checkpoint) -> bool:
    files = checkpoint.focus_files or checkpoint.files_modified or checkpoint.seen_files
    commands = checkpoint.commands or checkpoint.also_ran
    return bool(files or commands or checkpoint.files or checkpoint.files_deleted)


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
                yield make_list(
                    heading, (Item(block(text), weigh - n / 10) for n, text in enumerate(texts))
                )


def _list_opening(
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
    yield Item(whole, worth.age, short=short, mark=_AGE)
    if checkpoint.task:
        # A later request says more about what is next than the rest of the first one.
        is_last = checkpoint.intent in {None, checkpoint.task}
        rest = worth.task_rest if is_last else worth.old_task_rest
        yield _split_item(say("Task"), _split_request(checkpoint.task), worth.task, rest, longest)
    action, rest = checkpoint.next_action, worth.action_rest
    if action is not None:
        label = say("Next action{origin}", origin=_format_origin(action))
        if action.origin == "inferred":
            text = _drop_task(_fold(action.text), _fold(checkpoint.task))
            yield _format_inferred(label, text, worth.action, longest)
        else:
            yield _split_item(label, _split(action.text), worth.action, rest, longest)
    for number, step in enumerate(filter(str.strip, checkpoint.next_steps)):
        weight = worth.action - 5 - number / 10
        yield _split_item(say("Then"), _split(step), weight, rest - 5, longest)
    yield from _list_requests(checkpoint, worth, longest)


def _format_inferred(label: Rendered, text: str, weight: float, longest: int) -> Item:
    """Put an inferred action on one line: its sentences are leftoff's own, and belong together."""
    whole, short = (
        say("{label}: {text}", label=label, text=keep_start(text, chars))
        # Its end says what to do.
        for chars in (max(longest, _ACTION_CHARS), SHORT_CHARS)
    )
    return Item(whole, weight, short=short)


def _drop_task(action: str, task: str) -> str:
    """Return an action without the task that it quotes: the briefing begins with that."""
    lead = _QUOTES_REQUEST[-1]
    if not action.startswith(lead):
        return action
    said = action[len(lead) :]
    end = _measure_common_words(said, task)
    is_task = end >= min(len(task.rstrip(" .")), _TOLD_CHARS)
    rest = said[end:].lstrip(" .…:;!?)*_`\"'")
    return f"Continue with the task. {rest}".rstrip() if is_task else action


def _measure_common_words(text: str, other: str) -> int:
    """Return how far two texts begin with the same words; marks and line ends do not count."""
    pairs = zip(re.finditer(r"\w+", text), re.finditer(r"\w+", other), strict=False)
    same = itertools.takewhile(lambda pair: pair[0][0] == pair[1][0], pairs)
    return max((one.end() for one, _ in same), default=0)


def _format_origin(action: NextAction) -> Rendered:
    if action.origin != "inferred":
        return say("")
    source = "unknown" if action.text.startswith(UNKNOWN_END) else action.source
    return say(" (inferred from {source})", source=_SOURCES.get(source, "the session"))


def _list_requests(checkpoint: Checkpoint, worth: Weights, longest: int) -> Iterator[Item]:
    """Yield the last request, what it answers, earlier ones, and rules for the work."""
    action = checkpoint.next_action.text if checkpoint.next_action else ""
    # The next action may quote a short request whole.
    asked = _fold(checkpoint.intent)
    is_quoted = len(asked) <= _QUOTED_CHARS and any(
        action.startswith(f"{lead}{asked}") for lead in _QUOTES_REQUEST
    )
    if checkpoint.intent and checkpoint.intent != checkpoint.task and not is_quoted:
        asked = say("Last request in that file" if checkpoint.source else "Last request")
        parts = _split_request(checkpoint.intent)
        yield _split_item(asked, parts, worth.request, worth.request_rest, longest)
    proposed = checkpoint.answers_to or ""
    is_held = checkpoint.next_action is not None and checkpoint.next_action.source == "announced"
    # Thanks answer nothing.
    is_known = proposed in action or (action and find_order(proposed) == action)
    if proposed and not is_held and not is_known:
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


def _list_also_asked(checkpoint: Checkpoint) -> list[str]:
    """Return the requests besides the task and the last one, newest first, each on one line."""
    # The task may be cut, so the beginning decides.
    shown = {_fold(each)[:_REQUEST_CHARS] for each in (checkpoint.task, checkpoint.intent)}
    asked = dict.fromkeys(map(_fold, reversed(checkpoint.requests)))
    return [text for text in asked if text[:_REQUEST_CHARS] not in shown]


def _fold(text: str | None) -> str:
    return " ".join((text or "").split())


def _split_item(
    label: Rendered, sentences: list[str], weight: float, rest_weight: float, longest: int
) -> Item:
    """Put the first sentence after the label, and the other sentences below it."""
    first, *rest = sentences
    if rest and (first.endswith(":") or first == NOTHING_NEXT or _ROLE.fullmatch(first)):
        # A sentence that announces something says nothing without it. Nor does one that knows
        # nothing say enough without the agent's last words.
        first, rest = f"{first} {rest[0].lstrip('#> ')}", rest[1:]
    is_template = sum(map(len, sentences)) > _TEMPLATE_CHARS
    most = _TEMPLATE_SENTENCES if is_template else SENTENCES_KEPT
    return Item(
        say("{label}: {text}", label=label, text=cut_words(first, longest)),
        weight,
        [*_list_following(rest[:most], rest_weight), *_list_following(rest[most:], 40)],
        # The rest of a briefing makes no sense without the task, so a part must always fit.
        short=say("{label}: {text}", label=label, text=cut_words(first, SHORT_CHARS)),
    )


def _split_request(text: str) -> list[str]:
    """Return the sentences of a request; a short one stays whole, a long one loses its code."""
    # Text that was copied from a terminal brings the frame of its window along.
    text = _FRAME.sub(" ", text)
    text = _drop_tags(text) if "</" in text else text
    if len(text) > SHORT_CHARS and "```" in text:
        text = _CODE_BLOCK.sub("", text) or text
    return [text] if len(text) <= SHORT_CHARS and "\n" not in text else _split(text)


def _drop_tags(text: str) -> str:
    """Return a request without the tags around its parts, the part that asks for work first."""
    if asked := _ASKED.search(text):
        text = f"{asked['text']}\n{text[: asked.start()]}\n{text[asked.end() :]}"
    return _TAG_LINE.sub("", text).strip() or text


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


def _list_following(sentences: list[str], weight: float) -> Iterator[Item]:
    """Yield the sentences after the first; the next one weighs more, as it often explains it."""
    for n, text in enumerate(sentences):
        is_first = n == 0
        # A part of the sentence that explains the first one is better than nothing.
        short = block(cut_words(text, SHORT_CHARS)) if is_first else say("")
        yield Item(block(text), weight + 10 - n if is_first else weight - 2 * n, short=short)


def _list_prompts(checkpoint: Checkpoint) -> list[str]:
    """Return the waiting prompts that the next action does not quote whole."""
    action = checkpoint.next_action.text if checkpoint.next_action else ""
    return [text for text in checkpoint.pending_prompts if " ".join(text.split()) not in action]


def _list_decisions(checkpoint: Checkpoint) -> list[str]:
    # What the user said when refusing a call is listed among the requests.
    asked = {*checkpoint.requests, checkpoint.intent}
    return [format_decision(each) for each in checkpoint.decisions if each.why not in asked]


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


def _list_closing(checkpoint: Checkpoint, checks: Checks | None, worth: Weights) -> Iterator[Item]:
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


# Templates put their parts into tags.
_ASKED = lazy(
    r"^<(?P<tag>task|request|instructions?|goal|objective|question)>\s*(?P<text>.*?)\s*</(?P=tag)>",
    re.MULTILINE | re.DOTALL,
)
_TAG_LINE = lazy(r"^[ \t]*</?[a-z][\w-]*>[ \t]*$\n?", re.MULTILINE)
_FRAME = lazy(r"(?<=\S)(?:[ \t]{8,}|[ \t]{3,}(?=[\u2500-\u257f]))[ \t\u2500-\u257f]*")
# Most tasks: a single line that begins with a letter and has no end of a sentence inside.
_ONE_SENTENCE = lazy(r"[^\W\d_](?:[^\n.!?。！？:|]|[.!?:](?!\s|\Z))*[.]?")


def _split(text: str) -> list[str]:
    return [text] if not text or _ONE_SENTENCE.fullmatch(text) else split_statements(text)
