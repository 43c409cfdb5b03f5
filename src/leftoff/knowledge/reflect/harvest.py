"""Collect corrections from a session's events, one at a time, so that it can resume anywhere."""

from collections.abc import Iterable

import msgspec

from leftoff.agents.loose_values import cut
from leftoff.agents.stream import AssistantText, SessionEvent, ToolCall, ToolResult, UserText
from leftoff.knowledge.reflect.judge_message import Grade, UserMessage, judge

# Excerpts only remind the reviewer of the situation.
_EXCERPT_CHARS = 160
# A call whose result never arrives must not be kept forever.
_MOST_OPEN = 32

# An accepted plan comes back as a message of the user, in the agent's words.
_BY_PROGRAM = "Implement the following plan:"


class Correction(msgspec.Struct, frozen=True, kw_only=True):
    """What the user said to correct the agent."""

    text: str
    grade: Grade
    why: str = ""
    """What it answers: the agent's words, or the call that it had made or was refused."""
    at: str = ""


class HarvestContext(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What must be known about a session so far to understand its next message."""

    has_acted: bool = False
    said: str = ""
    did: str = ""
    calls: dict[str, str] = {}
    """Calls without a result, by id: the user may still refuse them."""
    judged: int = msgspec.field(default=0, name="heard")
    """The number of user messages that were judged."""


class Harvest:
    """Follows a session and collects the corrections in it."""

    def __init__(self, context: HarvestContext, *, skip: int = 0) -> None:
        self._has_acted = context.has_acted
        self._said = context.said
        self._did = context.did
        self._calls = dict(context.calls)
        self._judged = context.judged
        self._skip = skip
        self.corrections: list[Correction] = []

    @property
    def context(self) -> HarvestContext:
        """The state to resume from."""
        return HarvestContext(
            has_acted=self._has_acted,
            said=self._said,
            did=self._did,
            calls=dict(self._calls),
            judged=self._judged,
        )

    def add(self, events: Iterable[SessionEvent]) -> None:
        """Process events in order; sub-agents are skipped: users do not talk to them."""
        for event in events:
            if event.sidechain:
                continue
            if isinstance(event, UserText):
                self._note_message(event.text, event.at)
            elif isinstance(event, AssistantText):
                self._note_words(event.text)
            elif isinstance(event, ToolCall):
                self._note_call(event)
            elif isinstance(event, ToolResult):
                self._note_result(event)

    def _note_words(self, text: str) -> None:
        if line := _take_first_line(text):
            self._has_acted, self._said = True, line

    def _note_call(self, call: ToolCall) -> None:
        call_text = _take_excerpt(f"{call.tool}: {call.what}" if call.what else call.tool)
        self._has_acted, self._did = True, call_text
        self._calls[call.id] = call_text
        if len(self._calls) > _MOST_OPEN:
            del self._calls[next(iter(self._calls))]

    def _note_result(self, result: ToolResult) -> None:
        call = self._calls.pop(result.id, "")
        if result.rejected:
            why = f"refused {call}" if call else "refused a call"
            self._judge(UserMessage(text=result.rejected, is_refusal=True), why, result.at)

    def _note_message(self, text: str, at: str) -> None:
        self._judge(
            UserMessage(text=text, is_answer=self._has_acted), self._describe_previous(), at
        )
        self._said = self._did = ""

    def _describe_previous(self) -> str:
        if self._said:
            return f"after the agent said: {self._said}"
        return f"after {self._did}" if self._did else ""

    def _judge(self, said: UserMessage, why: str, at: str) -> None:
        self._judged += 1
        if self._judged <= self._skip or said.text.startswith(_BY_PROGRAM):
            return
        self.corrections += [
            Correction(text=finding.text, grade=finding.grade, why=why, at=at)
            for finding in judge(said)
        ]


def _take_first_line(text: str) -> str:
    lines = (line.strip(" #*>-") for line in text.splitlines())
    return _take_excerpt(next(filter(None, lines), ""))


def _take_excerpt(text: str) -> str:
    line = " ".join(cut(text, 4 * _EXCERPT_CHARS).split())
    kept = cut(line, _EXCERPT_CHARS)
    return kept if kept == line else f"{kept.rstrip()}…"
