"""Conversations in the place where Claude Code keeps them."""

import re
from pathlib import Path

from leftoff import context
from talk import Talk

NO = "No, use pnpm instead of npm."
RULE = "Use pnpm instead of npm."
"""What NO says, without its first word."""
PREFER = "I prefer tabs over spaces"


def found_talk(folder: Path, session_id: str = "session-1") -> Talk:
    """Begin a conversation in a folder; the agent has done something to be corrected."""
    talk = Talk(folder, session_id)
    key = re.sub("[^a-zA-Z0-9]", "-", str(folder))
    talk.transcript = (
        context.read_environment().home / ".claude" / "projects" / key / f"{session_id}.jsonl"
    )
    talk.transcript.parent.mkdir(parents=True, exist_ok=True)
    talk.ask("Add express to the server")
    talk.run("npm install express")
    talk.say("I installed express with npm.")
    return talk


def corrected_talk(folder: Path, session_id: str = "session-1") -> Talk:
    """Have a conversation with a plain correction and a preference."""
    talk = found_talk(folder, session_id)
    talk.ask(NO)
    talk.say("I use pnpm now.")
    talk.ask(PREFER)
    return talk
