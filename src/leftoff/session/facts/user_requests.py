"""Follow what the user wants: the task, later requests, rules, and what a short reply means."""

import re

from leftoff.agents.loose_values import cut
from leftoff.phrases.short_answers import find_rules, is_go_ahead
from leftoff.session.facts.fold_state import FoldState, SessionText
from leftoff.session.facts.sentences import find_question, last_proposal, split_sentences
from leftoff.text import fence

REQUEST_CHARS = 4000
PLAN_FOLLOWS = "Implement the following plan:\n"
_MOST_LATER = 12
_LATER_CHARS = 1000
_MOST_RULES = 12
_LONGEST_WITH_RULES = 2000
_SHORT_REPLY = 80
_PROPOSAL_CHARS = 400
_FENCED = re.compile(rf"{re.escape(fence.OPENING)}.*?(?:{re.escape(fence.CLOSING)}|\Z)", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.])#?(\d{1,2}|[a-eA-E])(?![\w.])")
# A numbered line, or a row of a table whose first cell is the number.
_ITEM = r"^\s*(?:[-*|]\s+)?(?:\*\*|#+\s*)?(?:(?:option|step|choice)\s+)?{mark}(?:\*\*)?[.):|\s—-]"


def strip_briefing(text: str) -> str:
    """Remove a briefing of leftoff that came back as part of a prompt."""
    return _FENCED.sub("", text).strip() if fence.OPENING in text else text


def note_request(state: FoldState, text: str) -> None:
    """Note a request: it sets the task, adds to it, or only answers the agent."""
    asked = cut(text, REQUEST_CHARS)
    state.answered = _find_words_answered(state, asked)
    is_first = not state.task or _was_only_asked(state)
    state.requests = [*state.requests[-3:], SessionText(asked, state.calls)]
    state.asked_seq = state.seq
    if is_go_ahead(asked):
        return
    state.goal_seq = state.seq
    if is_first:
        state.task = asked
    else:
        later = SessionText(cut(asked, _LATER_CHARS), state.calls)
        state.later = [*state.later[-(_MOST_LATER - 1) :], later]
    # What a plan says is not a rule that the user gave.
    if len(asked) <= _LONGEST_WITH_RULES and not asked.startswith(PLAN_FOLLOWS):
        rules = [*state.constraints, *find_rules(asked)]
        state.constraints = list(dict.fromkeys(rules))[-_MOST_RULES:]


def _find_words_answered(state: FoldState, asked: str) -> str:
    """Return the agent's words that a short reply answers."""
    if len(asked) > _SHORT_REPLY:
        return ""
    if state.said_seq > state.asked_seq:
        return state.answers[-1].text if state.answers else ""
    # The agent said nothing since the last reply, so this one corrects it: "8", then "6".
    return state.answered


def _was_only_asked(state: FoldState) -> bool:
    """Return whether the task so far is a short question that the agent only had to answer."""
    last = state.requests[-1] if state.requests else None
    if last is None or last.text != state.task or _has_worked(state):
        return False
    return len(last.text) <= _SHORT_REPLY and last.text.rstrip().endswith(("?", "？"))


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
    proposal = last_proposal(said) if is_go_ahead(asked) else find_question(said)
    return cut(_find_item(asked, said) or proposal, _PROPOSAL_CHARS)


def _find_item(asked: str, said: str) -> str:
    marks = [mark for mark in _NUMBER.findall(asked) if mark.isdigit() or len(asked) <= 20]
    lines = split_sentences(said) if marks else []
    items = [re.compile(_ITEM.format(mark=mark), re.IGNORECASE) for mark in dict.fromkeys(marks)]
    found = [next((line for line in lines if item.match(line)), "") for item in items]
    return " ".join(_join_cells(line) for line in found if line)


def _join_cells(line: str) -> str:
    """Write a row of a table as a line."""
    if not line.lstrip().startswith("|"):
        return line
    return ", ".join(cell for each in line.split("|") if (cell := each.strip()))
