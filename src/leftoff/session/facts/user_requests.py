"""Follow what the user wants: the task, later requests, rules, and what a short reply means."""

import re

from leftoff.agents.loose_values import cut
from leftoff.lazy_patterns import lazy
from leftoff.phrases.intents import find_intent
from leftoff.phrases.match import split_at_pauses
from leftoff.phrases.short_answers import (
    asks_to_explain,
    drop_greeting,
    find_rules,
    is_go_ahead,
    is_parting,
    is_refusal,
    is_remark,
    is_side_question,
    split_withdrawal,
)
from leftoff.session.facts.fold_state import FoldState, SessionText
from leftoff.session.facts.sentences import (
    find_appeal,
    find_question,
    keep_start,
    last_proposal,
    promises_more,
    proposes,
    refers_back,
    split_sentences,
)
from leftoff.text import fence

REQUEST_CHARS = 4000
WITHDRAWN = "(withdrawn) "
"""How a request begins that the user took back."""
PLAN_FOLLOWS = "Implement the following plan:\n"
_MOST_LATER = 12
_LATER_CHARS = 1000
_MOST_RULES = 12
_LONGEST_WITH_RULES = 2000
_SHORT_REPLY = 80
# A typed request seldom has more lines.
_TYPED_LINES = 5
_PROPOSAL_CHARS = 400
# The commands that `leftoff init` adds to agents: what they ask of leftoff is not the work. Some
# agents send the command's instructions below it.
_OUR_COMMAND = lazy(r"/(?:checkpoint|continue|dashboard|leftoff[:-][\w-]+)(?!\S)")
_OUR_CONTINUE = lazy(r"/(?:leftoff[:-])?(?:continue|resume)(?!\S)")
_FENCED = lazy(rf"{re.escape(fence.OPENING)}.*?(?:{re.escape(fence.CLOSING)}|\Z)", re.DOTALL)
# What leftoff writes before and after a briefing.
_AROUND = lazy(
    r"^(?:leftoff: |To resume it[^`\n]*, run `leftoff |Ask the user whether to resume ).*$",
    re.MULTILINE,
)
_BRIEFED_NAME = lazy(r"^Checkpoint: (.{1,200}?)\. (?:Left off|Saved) ", re.MULTILINE)
_BRIEFED_TASK = lazy(r"^Task: (.{1,600})$", re.MULTILINE)
GO_ON = "continue"
# Commands that only change what is checked out, or show it.
_GIT_MOVE = r"git (?:checkout|switch|pull|fetch|status|branch|log)\b[^;&|]*"
_MOVE = lazy(rf"(?:cd \S+ && )?{_GIT_MOVE}(?:(?:&&|;) ?{_GIT_MOVE})*")
_NUMBER = lazy(r"(?<![\w.])#?(\d{1,2}|[a-eA-E])(?![\w.])")
# "A, but keep a backup too"
_LETTER = lazy(
    r"(?:option |choice |variant )?([a-e])(?:[,.;:!)]| (?:but|and|with) )", re.IGNORECASE
)
_ORDINALS = {"first": "1", "second": "2", "third": "3", "fourth": "4"}
# A numbered line, or a row of a table whose first cell is the number.
_ITEM = r"^\s*(?:[-*|]\s+)?(?:\*\*|#+\s*)?(?:(?:option|step|choice)\s+)?{mark}(?:\*\*)?[.):|\s—-]"

_WORD = lazy(r"\w{3,}")
_THAT = lazy(r"(?:that|this|it|das|es|all (?:that|this))(?: one| task| request)?", re.IGNORECASE)
_MEANS_NOTHING = frozenset(
    "the and for with about part thing stuff now der die das den mit".split()
)


def strip_briefing(text: str) -> str:
    """Remove a briefing of leftoff that came back as part of a prompt."""
    if fence.OPENING not in text:
        return text
    return _AROUND.sub("", _FENCED.sub("", text)).strip()


def note_briefing(state: FoldState, text: str, asked: str) -> None:
    """Note the thread of a briefing that was given to this session, and its task if that is all."""
    briefing = _FENCED.search(text)
    if briefing is None or state.task or state.continues:
        return
    name, task = _BRIEFED_NAME.search(briefing[0]), _BRIEFED_TASK.search(briefing[0])
    state.continues = name[1] if name else ""
    if task is not None and not asked:
        state.task = task[1]


def note_request(state: FoldState, text: str, *, at: str = "") -> None:
    """Note a request: it sets the task, adds to it, or only answers the agent."""
    asked = keep_start(drop_greeting(text), REQUEST_CHARS)
    if not state.requests and _OUR_CONTINUE.match(asked):
        # What follows is the work of a thread, and is saved although nothing else was asked.
        asked = GO_ON
    # A session that was only told to continue has no task of its own.
    has_begun = bool(state.task or state.requests)
    if has_begun and _asks_nothing(state, asked):
        return
    state.has_parted = state.is_dismissed = False
    if _OUR_COMMAND.match(asked) or (has_begun and _is_for_leftoff(asked)):
        return
    state.requested_at = at or state.requested_at
    has_spoken = state.said_seq > state.asked_seq
    is_first = not state.task or _was_only_asked(state)
    state.answered = _find_words_answered(state, asked)
    if not (state.task or state.calls or is_go_ahead(asked)):
        # So far they only greeted each other: "What can I do for you?" proposes nothing.
        state.answered = ""
    state.declined = find_question(state.answered) if is_refusal(asked) else ""
    is_aside = not is_first and asks_aside(asked)
    _hold_announcement(state, asked, is_aside=is_aside)
    aside = state.requests[-1].text if state.aside_seq else ""
    state.requests = [*state.requests[-3:], SessionText(asked, state.calls)]
    state.asked_seq = state.seq
    state.aside_seq = state.seq if is_aside else 0
    if is_go_ahead(asked) or (not state.task and _asks_to_go_on(asked)):
        if proposes(state.answered):
            state.agreed_seq = state.seq
            if aside:
                # What the agent proposed answers that question, and makes no sense without it.
                _add_later(state, aside)
        _note_choice(state, asked, is_corrected=not has_spoken)
        return
    if not is_aside:
        state.goal_seq = state.seq
    _note_goal(state, asked, is_first=is_first, is_aside=is_aside)
    # What a plan says is not a rule that the user gave.
    if len(asked) <= _LONGEST_WITH_RULES and not asked.startswith(PLAN_FOLLOWS):
        rules = [*state.constraints, *find_rules(_find_own_words(asked))]
        state.constraints = list(dict.fromkeys(rules))[-_MOST_RULES:]


def asks_aside(asked: str) -> bool:
    """Return whether a message asks for words only."""
    return is_side_question(asked) or asks_to_explain(asked)


def _asks_nothing(state: FoldState, asked: str) -> bool:
    """Note a goodbye, or thanks that agree to nothing: neither it nor its answer is the work."""
    said = state.answers[-1].text if state.answers else ""
    state.has_parted = is_parting(asked)
    is_thanked = bool(said) and is_remark(asked) and not proposes(said)
    state.is_dismissed = state.has_parted or is_thanked
    if state.has_parted and any(map(is_refusal, split_at_pauses(asked))):
        state.declined = find_question(said)
    return state.is_dismissed


def _note_goal(state: FoldState, asked: str, *, is_first: bool, is_aside: bool) -> None:
    """Let a request set the task or replace a part of it; what is asked aside adds nothing yet."""
    if is_first:
        state.task = asked
    elif task := _withdraw(state, asked):
        state.task = task
    elif not is_aside:
        _add_later(state, asked)


def _withdraw(state: FoldState, asked: str) -> str:
    """Mark the request that a message replaces; return the new task if that was the task."""
    found = split_withdrawal(asked)
    if found is None:
        return ""
    what, instead = found
    texts = [*reversed(state.later), SessionText(state.task)]
    wanted = [each for each in texts if not each.text.startswith(WITHDRAWN)]
    replaced = next((each for each in wanted if _is_meant(what, each.text)), None)
    if replaced is None:
        return ""
    marked = SessionText(f"{WITHDRAWN}{replaced.text}", replaced.at)
    if replaced in state.later:
        state.later = [marked if each is replaced else each for each in state.later]
        return ""
    state.later = [marked, *state.later]
    return f"{instead[:1].upper()}{instead[1:]}"


def _is_meant(what: str, request: str) -> bool:
    """Return whether these words name a request: "that" is the newest one."""
    if _THAT.fullmatch(what.strip()):
        return True
    named = _list_words(what)
    return bool(named) and named <= _list_words(request)


def _list_words(text: str) -> set[str]:
    return {word.rstrip("s") for word in _WORD.findall(text.lower())} - _MEANS_NOTHING


def _note_choice(state: FoldState, asked: str, *, is_corrected: bool) -> None:
    """Keep what the user picked from the agent's list: nobody could guess it later.

    Before the agent has answered, "6" corrects an "8".
    """
    if is_corrected and len(state.requests) > 1:
        before = f"{state.requests[-2].text} ("
        state.later = [each for each in state.later if not each.text.startswith(before)]
    if item := find_item(asked, state.answered):
        _add_later(state, f"{asked} ({cut(item, _PROPOSAL_CHARS)})")


def _add_later(state: FoldState, text: str) -> None:
    later = SessionText(keep_start(text, _LATER_CHARS), state.calls)
    state.later = [*state.later[-(_MOST_LATER - 1) :], later]


def _hold_announcement(state: FoldState, asked: str, *, is_aside: bool) -> None:
    """Keep what the agent announced or asked last, unless a request or a refusal replaces it."""
    if is_refusal(asked) or not (is_aside or is_go_ahead(asked)):
        state.held = state.reported = ""
    elif state.answers and state.said_seq > max(state.called_seq, state.asked_seq):
        words = state.answers[-1].text
        if state.called_seq > state.asked_seq:
            state.reported = words
        # A go-ahead answers a question; an aside leaves it open.
        if promises_more(words) or (is_aside and find_question(words)):
            state.held = words


def note_work(state: FoldState) -> None:
    """Note that something was changed: what was asked aside led to it, or it was announced."""
    state.held = state.reported = ""
    if state.aside_seq:
        state.goal_seq, state.aside_seq = state.aside_seq, 0
        _add_later(state, state.requests[-1].text)


def _is_for_leftoff(asked: str) -> bool:
    """Return whether a message only asks to save or list checkpoints, which is not the work."""
    intent = find_intent(asked) if len(asked) <= _SHORT_REPLY else None
    if intent is None or intent.kind not in {"save", "list"}:
        return False
    # "Save this as draft two" is work; "save it as draft-two" gives a checkpoint its name.
    return not intent.name or intent.name in asked.casefold()


def _asks_to_go_on(asked: str) -> bool:
    """Return whether a message only asks for the last work, whatever that was."""
    intent = find_intent(asked) if len(asked) <= _SHORT_REPLY else None
    return intent is not None and intent.kind in {"resume", "recall"} and not intent.name


def _find_own_words(asked: str) -> str:
    """Return a request without what was pasted into it: a log or a review gives no rules."""
    lines = [line for line in asked.splitlines() if line.strip()]
    return asked if len(lines) <= _TYPED_LINES else f"{lines[0]}\n{lines[-1]}"


def _find_words_answered(state: FoldState, asked: str) -> str:
    """Return the agent's words that a short reply answers."""
    if len(asked) > _SHORT_REPLY:
        return ""
    if state.said_seq > state.asked_seq:
        return state.answers[-1].text if state.answers else ""
    # The agent said nothing since the last reply, so this one corrects it: "8", then "6".
    return state.answered


def _was_only_asked(state: FoldState) -> bool:
    """Return whether the task so far is a short question, or led to another branch at most."""
    last = state.requests[-1] if state.requests else None
    if last is None or last.text != state.task or _has_worked(state):
        return False
    is_question = last.text.rstrip().endswith(("?", "？"))
    return len(last.text) <= _SHORT_REPLY and (is_question or _has_only_moved(state))


def _has_only_moved(state: FoldState) -> bool:
    """Return whether all calls so far brought the checkout up to date: "back to main, please"."""
    count = sum(use.count for use in state.runs.values())
    return 0 < count == state.calls and all(map(_MOVE.fullmatch, state.runs))


def _has_worked(state: FoldState) -> bool:
    """Return whether anything came of the session so far but answers."""
    is_planned = bool(state.todos or state.plan_title or state.plan_path)
    return is_planned or bool(state.commit_sha) or any(use.edits for use in state.files.values())


def find_answered(state: FoldState) -> str:
    """Return what a short request answers: an item of the agent's list, or its last proposal."""
    said = state.answered
    if not state.requests:
        return ""
    asked = state.requests[-1].text
    question = find_question(said) or find_appeal(said)
    # "Shall I do that?" says nothing without the sentence before it.
    is_whole = not is_go_ahead(asked) and not refers_back(question)
    proposal = question if is_whole else last_proposal(said)
    return cut(find_item(asked, said) or proposal, _PROPOSAL_CHARS)


def find_item(asked: str, said: str) -> str:
    """Return the items of the agent's list that a short reply picks, by number or letter."""
    marks = [mark for mark in _NUMBER.findall(asked) if mark.isdigit() or len(asked) <= 20]
    if not marks and (letter := _LETTER.match(asked)):
        marks = [letter[1]]
    if not marks and is_go_ahead(asked):
        marks = [_ORDINALS[word] for word in asked.casefold().split() if word in _ORDINALS]
    lines = split_sentences(said) if marks else []
    items = [re.compile(_ITEM.format(mark=mark), re.IGNORECASE) for mark in dict.fromkeys(marks)]
    found = [next((line for line in lines if item.match(line)), "") for item in items]
    return " ".join(_join_cells(line) for line in found if line)


def _join_cells(line: str) -> str:
    """Write a row of a table as a line."""
    if not line.lstrip().startswith("|"):
        return line
    return ", ".join(cell for each in line.split("|") if (cell := each.strip()))
