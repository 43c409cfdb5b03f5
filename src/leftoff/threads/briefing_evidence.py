"""Show what happened last in a session: its calls, failures and last words."""

from collections.abc import Iterator

import msgspec

from leftoff.checkpoint import COMPLETED, CONTRADICTED, FAILED, Checkpoint, LastFailure, TrailStep
from leftoff.session.facts.sentences import split_statements, starts_item
from leftoff.text.budget import Item, Section, cut_words, make_section
from leftoff.text.fence import Rendered, block, say
from leftoff.threads.briefing_weights import SHORT_CHARS, Weights

_SURE_STEPS = 2
_SURE_FAILURES = 1
_CALL_CHARS = 300
_SHORT_CALL = 80
_SURE_WORDS = 3


def list_evidence(checkpoint: Checkpoint, worth: Weights) -> Iterator[Section]:
    """Yield earlier failures, the last calls and the agent's last words."""
    yield make_section(say(""), _format_failures(checkpoint, worth))
    if not checkpoint.has_gone_on:
        yield list_calls(say("The agent's last calls:"), checkpoint, worth)
    yield make_section(_name_left_off(checkpoint), _format_left_off(checkpoint, worth))


def list_interruptions(checkpoint: Checkpoint, worth: Weights) -> Iterator[Item]:
    """Yield the call that was cut short and the last failure, unless the next action says them."""
    call, action = checkpoint.in_flight, checkpoint.next_action
    # The next action names the interrupted call already.
    if call is not None and (action is None or action.source != "call"):
        cut_short = say("Interrupted during: {tool}: {what:lines}", tool=call.tool, what=call.what)
        yield Item(cut_short, worth.interruption)
    failure = checkpoint.last_failure
    if failure is None:
        return
    if action is None or action.source != "failure":
        yield _describe_failure(failure, worth)
    # The next action names the command and the first line of its error.
    elif rest := [each for each in failure.error.splitlines()[1:] if COMPLETED not in each]:
        also = say("That command also printed: {line}", line=rest[0])
        yield Item(also, worth.error, _list_errors(rest[1:], worth))


def _describe_failure(failure: LastFailure, worth: Weights) -> Item:
    first, *rest = failure.error.splitlines() or [""]
    command = say("Last failure: `{command}`", command=failure.command)
    # The error means nothing without its command, so both are in one line.
    whole = say("{command}: {error}", command=command, error=first) if first else command
    short = say(
        "Last failure: `{command}`: {error}",
        command=cut_words(failure.command, SHORT_CHARS // 2),
        error=cut_words(first, SHORT_CHARS),
    )
    return Item(whole, worth.failure, _list_errors(rest, worth), short=short)


def _list_errors(lines: list[str], worth: Weights) -> list[Item]:
    return [Item(block(line), worth.error - 9 * n) for n, line in enumerate(lines)]


def list_calls(heading: Rendered, checkpoint: Checkpoint, worth: Weights) -> Section:
    """List the last calls, newest last; the newest ones weigh most."""
    steps = [_drop_error(step, checkpoint) for step in _list_steps(checkpoint)]
    earlier = [worth.earlier_call + n / 10 for n in range(len(steps) - _SURE_STEPS)]
    weights = [*earlier, worth.call_before, worth.last_call][-len(steps) :]
    calls = [
        Item(_format_step(step), weight, short=_format_step(step, _SHORT_CALL))
        for step, weight in zip(steps, weights, strict=False)
    ]
    return Section(heading, calls, keeps_end=True)


def _list_steps(checkpoint: Checkpoint) -> list[TrailStep]:
    """Return the last calls; if a next action was stated among them, only those after it."""
    steps = checkpoint.trail
    saves = [n for n, step in enumerate(steps) if step.is_save]
    if saves and checkpoint.has_gone_on:
        return steps[saves[-1] + 1 :]
    return [step for step in steps if not step.is_save]


def _drop_error(step: TrailStep, checkpoint: Checkpoint) -> TrailStep:
    """Return a failed call without its error, if the next action names that."""
    action = checkpoint.next_action
    error = " ".join(step.outcome.removeprefix(FAILED).split())[:_SHORT_CALL]
    text = action.text if action is not None and action.source == "failure" else ""
    if not step.outcome.startswith(FAILED) or not error or error not in text:
        return step
    return msgspec.structs.replace(step, outcome=FAILED.rstrip(": "))


def _format_step(step: TrailStep, most: int = _CALL_CHARS) -> Rendered:
    code = say(" (exit {code})", code=step.exit) if step.exit else say("")
    is_edit = step.outcome == "edited"
    is_plain = step.outcome in {"", "read", "edited"}
    outcome = say("") if is_plain else say(": {text}", text=cut_words(step.outcome, most))
    return say(
        "- {tool:40} {what}{code}{outcome}",
        tool="edited" if is_edit else step.tool,
        what=cut_words(step.what, most),
        code=code,
        outcome=outcome,
    )


def _format_failures(checkpoint: Checkpoint, worth: Weights) -> Iterator[Item]:
    is_stated = "failed" in checkpoint.stated
    for n, failure in enumerate(checkpoint.failed):
        text = f"{failure.what} — {failure.why}" if failure.why else failure.what
        # A command that failed in the session before the last ones was given up long ago.
        is_sure = n < _SURE_FAILURES or (is_stated and failure.origin == "stated")
        weight = (worth.failed if is_sure else worth.old_failed) - n / 100
        yield Item(say("⚠ Previously failed: {text:lines}", text=text), weight)


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
    said = split_statements(checkpoint.left_off or "")
    new = [part for part in said if part.rstrip(".:") not in shown]
    # A list is shown whole: B and C make no sense without A.
    has_items = any(map(starts_item, new))
    parts = [part for part in said if part in new or (has_items and starts_item(part))]
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
