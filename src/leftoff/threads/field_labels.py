"""Name the fields of a checkpoint for people, in the order in which they look for things."""

from leftoff.checkpoint import Decision
from leftoff.text.fence import say

LABELS = {
    "summary": say("Task"),
    "requests": say("Also asked"),
    "next_action": say("Next action"),
    "next_steps": say("Then"),
    "constraints": say("Rules"),
    "left_off": say("Left off"),
    "intent": say("Last request"),
    "answers_to": say("Which answers"),
    "pending_prompts": say("Unanswered prompts"),
    "in_flight": say("Interrupted"),
    "last_failure": say("Last failure"),
    "blockers": say("Blockers"),
    "questions": say("Open questions"),
    "done": say("Done"),
    "todos": say("Todos"),
    "plan": say("Plan"),
    "feature": say("Feature"),
    "tdd_phase": say("TDD phase"),
    "decisions": say("Decisions"),
    "failed": say("Failed approaches"),
    "notes": say("Notes"),
    "files": say("Files"),
    "files_modified": say("Edited"),
    "focus_files": say("Needed next"),
    "files_deleted": say("Deleted or renamed"),
    "seen_files": say("Read"),
    "artifacts": say("Artifacts"),
    "commands": say("Commands"),
    "also_ran": say("Also ran"),
    "trail": say("Last calls"),
    "last_commit": say("Last commit"),
    "head": say("HEAD"),
    "branch": say("Branch"),
    "dirty": say("Uncommitted"),
    "context": say("Context"),
    "agent": say("Agent"),
    "session_id": say("Session"),
    "transcript": say("Transcript"),
    "worktree": say("Worktree"),
    "trigger": say("Why it was saved"),
    "reason": say("Saved because"),
}
"""Every place that shows a field uses these words; other keys are shown under their own name."""

_TRIGGERS = {
    "manual": "saved on request",
    "precompact": "saved before a compaction",
    "context": "saved because the context was full",
    "close": "saved when you said goodbye",
    "idle": "saved after a pause",
    "long-command": "saved before a long command",
    "session-end": "saved when the session ended",
    "recovered": "recovered from an unsaved session",
    "ship": "saved by ship",
    "import": "imported",
}


def format_trigger(trigger: str | None) -> str:
    """Say in words why a checkpoint was saved."""
    return _TRIGGERS.get(trigger or "", trigger or "saved")


def format_decision(decision: Decision) -> str:
    """Return a decision in one line: its reason, its alternatives and its impact follow."""
    beside = {"instead of": "; ".join(decision.alternatives), "impact": decision.impact}
    said = "; ".join(f"{word}: {text}" for word, text in beside.items() if text)
    text = f"{decision.what} — {decision.why}" if decision.why else decision.what
    return f"{text} ({said})" if said else text
