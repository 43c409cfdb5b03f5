"""Keep what hooks report about the current turn until the transcript has it.

An agent that dies may never write it there.
"""

from pathlib import Path
from typing import Any

import msgspec

from leftoff.agents.hook_events import HookEvent
from leftoff.hooks.wait_for_transcript import TAIL, holds
from leftoff.phrases.goodbyes import is_goodbye
from leftoff.redact import redact
from leftoff.session.records import SessionRecord, Turn

_CHARS = 2_000
_SHOWN_CHARS = 240


def follow(event: HookEvent, turn: Turn, *, read: int, is_written: bool) -> Turn:
    """Return what is known about the turn after an event; empty once the transcript has it."""
    if event.kind == "prompt":
        return Turn(asked=redact(event.prompt)[:_CHARS], read=read)
    if event.kind == "pre-tool" and event.command:
        return msgspec.structs.replace(turn, began=redact(event.command)[:_CHARS])
    if event.kind == "stop" and is_written:
        return Turn()
    if event.kind == "stop":
        return msgspec.structs.replace(turn, began="", said=redact(event.last_words)[-_CHARS:])
    return turn


def unwritten(record: SessionRecord) -> dict[str, Any]:
    """Return what hooks reported and the transcript lacks, as keys of a checkpoint."""
    turn = record.turn
    asked, began, said = (
        text if text.strip() and not _is_written(record, text) else ""
        for text in (turn.asked.strip(), turn.began.strip(), turn.said.strip())
    )
    # The transcript shows a slash command in another form, and a goodbye asks for nothing.
    if asked.startswith("/") or is_goodbye(asked):
        asked = ""
    told: dict[str, Any] = {}
    if asked:
        told |= {"intent": asked, "pending_prompts": [] if said or began else [asked]}
        told |= _next(f"Answer the prompt that was still waiting: {_short(asked)}")
    if began:
        told["in_flight"] = {"tool": "Bash", "what": began}
        told |= _next(f"Check, then repeat, the call cut short: Bash: {_short(began)}.")
    if said:
        told["left_off"] = said
        told |= _next(f"The agent's last words: {_short(said)}")
    return told


def _next(text: str) -> dict[str, Any]:
    return {"next_action": {"text": text, "origin": "inferred"}}


def _short(text: str) -> str:
    return " ".join(text.split())[:_SHOWN_CHARS]


def _is_written(record: SessionRecord, words: str) -> bool:
    transcript = Path(record.transcript_path)
    if not transcript.is_file():
        return False
    read = record.turn.read
    # With so much new text, the transcript is past this turn.
    return transcript.stat().st_size - read > TAIL or holds(transcript, words, after=read)
