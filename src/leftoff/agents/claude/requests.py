"""Find what the user asked in a Claude Code transcript, and why they refused a tool call."""

import re

from leftoff.agents.stream import Kind

# Typed in the prompt, but handled by Claude Code itself.
_BUILT_IN = frozenset(
    """
    add-dir agents agents-platform bashes bug clear color compact config context copy cost
    doctor effort exit export extra-usage fast feedback fork help hooks ide install-github-app
    keybindings login logout mcp memory mobile model output-style passes permissions plan plugin
    plugins privacy-settings quit rate-limit-options release-notes reload-plugins remote-control
    rename resume rewind sandbox skills stats status statusline tasks terminal-setup theme
    think-back todos upgrade usage vim voice
    """.split()
)
# A request to leftoff is not the work to continue.
_OURS = "leftoff:"
_NOT_A_REQUEST = (
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<local-command-",
    "<task-notification>",
    "<teammate-message",
    "<user-memory-input>",
    "[Request interrupted by user",
    "[SYSTEM NOTIFICATION",
    "Caveat: The messages below",
    "Operation stopped by hook",
    "Stop hook feedback:",
    "This session is being continued from a previous conversation",
    '{"task_id"',
)
_MACHINE_TAGS = (
    "system-reminder|ide_opened_file|ide_selection|ide_diagnostics|user-prompt-submit-hook|"
    "session-start-hook|post-tool-use-hook|new-diagnostics"
)
_MACHINE_TAG = re.compile(rf"<({_MACHINE_TAGS})\b")


def request_in(text: str) -> str:
    """Return what a person asked in this text, or "" if it contains no request."""
    text = text.strip()
    if text.startswith(_NOT_A_REQUEST):
        return ""
    if text.startswith("<"):
        if text.startswith(("<command-name>", "<command-message>")):
            return _command_in(text)
        text = _without_machine_blocks(text).strip()
    elif "<system-reminder>" in text:
        text = _without_machine_blocks(text).strip()
    return text


def _without_machine_blocks(text: str) -> str:
    """Remove the blocks that programs insert between their own tags.

    A single regular expression would search to the very end for each tag that is never closed.
    """
    kept, at = [], 0
    unclosed: set[str] = set()
    for opened in _MACHINE_TAG.finditer(text):
        tag = opened[1]
        if opened.start() < at or tag in unclosed:
            continue
        inside = text.find(">", opened.end())
        end = text.find(f"</{tag}>", inside) if inside >= 0 else -1
        if end < 0:
            unclosed.add(tag)
            continue
        kept.append(text[at : opened.start()])
        at = end + len(f"</{tag}>")
    return "".join([*kept, text[at:]])


def _command_in(text: str) -> str:
    name = _between(text, "command-name")
    name = name.removeprefix("/") if name is not None else None
    if name is None or name in _BUILT_IN or name.startswith(_OURS):
        return ""
    return f"/{name} {_between(text, 'command-args') or ''}".strip()


def _between(text: str, tag: str) -> str | None:
    """Return the text between the first opening tag and its closing tag."""
    _, opened, rest = text.partition(f"<{tag}>")
    inside, closed, _ = rest.partition(f"</{tag}>")
    return inside.strip() if opened and closed else None


_REJECTED = (
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
    "[Request interrupted by user",
    "User rejected",
)
_REASON = re.compile(r"the user said:\s*(.*)", re.DOTALL | re.IGNORECASE)
_NOTE = "\n\nNote: The user's next message"
# Claude Code writes these for a user who dismisses its questions or its plan.
_SAID_BY_PROGRAM = ("The user wants to ", "The user has ", "User has ")


def rejection_in(output: str) -> str | None:
    """Return the user's reason for refusing a call ("" if none); None if it was not refused."""
    if output.startswith(_REJECTED):
        said = _REASON.search(output)
        reason = said[1].split(_NOTE)[0].strip() if said else ""
        return "" if reason.startswith(_SAID_BY_PROGRAM) else reason
    if output.startswith("Permission to use ") and " denied" in output[:2000]:
        return ""
    return None


_NOT_GRANTED = re.compile(r"Claude requested permissions? to .* haven't granted it yet", re.DOTALL)


def is_blocked_by_program(output: str, kind: Kind) -> bool:
    """Return whether Claude Code itself turned a call down, such as a long `sleep`.

    A command that ran reports its own errors without the tag.
    """
    is_tagged = kind == "run" and output.startswith("<tool_use_error>")
    return is_tagged or _NOT_GRANTED.match(output) is not None
