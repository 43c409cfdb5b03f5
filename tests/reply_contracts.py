"""What each agent accepts as the reply to a hook, so that tests hold every reply to it.

The sources are the observations that the dialects name, Codex's published output schemas, which
refuse unknown keys, and the hook references of Gemini CLI, Copilot CLI and Cursor. An event that is
not listed must get no reply. Where an agent would ignore a key, it is not listed either: a reply
that does nothing is a mistake.
"""

from pathlib import Path
from typing import Any, Literal

import msgspec

from leftoff.agents.dialects import DIALECTS

Form = type[msgspec.Struct]
Notice = str | msgspec.UnsetType


def _form(**fields: Any) -> Form:
    """Build a form that allows exactly these keys; a notice may be left out."""
    described = [
        (name, kind, msgspec.UNSET) if kind is Notice else (name, kind)
        for name, kind in fields.items()
    ]
    return msgspec.defstruct("Reply", described, forbid_unknown_fields=True)


def _nested(event: str) -> tuple[Form, ...]:
    """Build the forms of Claude Code and its followers: context, a notice, or both."""
    added = _form(hookEventName=Literal[event], additionalContext=str)
    return _form(hookSpecificOutput=added, systemMessage=Notice), _form(systemMessage=str)


_DENIED = _form(
    hookEventName=Literal["PreToolUse"],
    permissionDecision=Literal["deny"],
    permissionDecisionReason=str,
)
_NO = Literal[False]
_BLOCKED = _form(decision=Literal["block"], reason=str)
_STOPPED = _form(**{"continue": _NO, "stopReason": str})
_NESTED_DENIAL = _form(hookSpecificOutput=_DENIED)
_FLAT = _form(additionalContext=str)
_FOR_PLUGIN = (_form(context=str, notice=Notice), _form(notice=str))
_HANDLED = _form(handled=Literal[True], responseContent=str)
_FLAT_DENIAL = _form(permissionDecision=Literal["deny"], permissionDecisionReason=str)
_CURSOR_DENIAL = _form(permission=Literal["deny"], user_message=str, agent_message=str)

CONTRACTS: dict[str, dict[str, tuple[Form, ...]]] = {
    "claude": {
        "SessionStart": _nested("SessionStart"),
        "UserPromptSubmit": (*_nested("UserPromptSubmit"), _BLOCKED),
        "PreToolUse": (*_nested("PreToolUse"), _NESTED_DENIAL),
        "PreCompact": (_BLOCKED,),
    },
    "codex": {
        "SessionStart": _nested("SessionStart"),
        "UserPromptSubmit": (*_nested("UserPromptSubmit"), _BLOCKED),
        "PreToolUse": (_NESTED_DENIAL,),
        "PreCompact": (_STOPPED,),
    },
    "gemini": {
        # The text of a session start is put before the prompt, so only a notice is allowed.
        "SessionStart": (_form(systemMessage=str),),
        "UserPromptSubmit": (*_nested("BeforeAgent"), _STOPPED),
        "PreToolUse": (_form(decision=Literal["deny"], reason=str),),
    },
    # What the plugin reads.
    "opencode": {
        "SessionStart": _FOR_PLUGIN,
        "UserPromptSubmit": (*_FOR_PLUGIN, _form(block=str)),
        "PreToolUse": (_form(block=str),),
    },
    "copilot": {
        "SessionStart": (_FLAT,),
        "UserPromptSubmit": (_FLAT, _HANDLED),
        "PreToolUse": (_FLAT_DENIAL,),
    },
    "cursor": {
        "SessionStart": (_form(additional_context=str),),
        "UserPromptSubmit": (
            _form(additional_context=str),
            _form(**{"continue": _NO, "user_message": str}),
        ),
        "PreToolUse": (_CURSOR_DENIAL,),
    },
}


def check_reply(agent: str, event: str, reply: str) -> None:
    """Fail unless a reply is nothing, or one line that the agent accepts for the event."""
    if not reply:
        return
    assert len(reply.splitlines()) == 1, (agent, event, reply)
    assert len(reply) <= DIALECTS[agent].REPLY_LIMIT
    forms = CONTRACTS[agent].get(event, ())
    assert any(_fits(reply, form) for form in forms), (agent, event, reply)


def _fits(reply: str, form: Form) -> bool:
    try:
        msgspec.json.decode(reply, type=form)
    except msgspec.ValidationError:
        return False
    return True


def check_prepared(state: Path) -> None:
    """Fail unless every reply that waits for an event is one that its agent accepts."""
    for path in (state / "ready").rglob("*.*.*"):
        agent, event, *_ = path.name.split(".")
        if agent in DIALECTS and path.is_file() and path.suffix != ".ask":
            check_reply(agent, event, path.read_text(encoding="utf-8").rstrip("\n"))
