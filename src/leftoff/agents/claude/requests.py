"""Which user entries of Claude Code are a person's request, and which only look like one."""

import re

# Typed in the prompt, but answered by the program itself.
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
# Asking leftoff for something is not the work that is to be continued.
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
_MACHINE_BLOCK = re.compile(rf"<({_MACHINE_TAGS})\b[^>]*>.*?</\1>", re.DOTALL)
_COMMAND_NAME = re.compile(r"<command-name>\s*/?(.*?)\s*</command-name>", re.DOTALL)
_COMMAND_ARGS = re.compile(r"<command-args>\s*(.*?)\s*</command-args>", re.DOTALL)


def request_in(text: str) -> str:
    """Return what a person asked in this text, or "" if no person wrote it."""
    text = text.strip()
    if text.startswith(_NOT_A_REQUEST):
        return ""
    if text.startswith("<"):
        if text.startswith(("<command-name>", "<command-message>")):
            return _command_in(text)
        text = _MACHINE_BLOCK.sub("", text).strip()
    elif "<system-reminder>" in text:
        text = _MACHINE_BLOCK.sub("", text).strip()
    return text


def _command_in(text: str) -> str:
    name = _COMMAND_NAME.search(text)
    if name is None or name[1] in _BUILT_IN or name[1].startswith(_OURS):
        return ""
    arguments = _COMMAND_ARGS.search(text)
    return f"/{name[1]} {arguments[1] if arguments else ''}".strip()


_REJECTED = (
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
    "[Request interrupted by user",
    "User rejected",
)
_REASON = re.compile(r"the user said:\s*(.*)", re.DOTALL | re.IGNORECASE)
_NOTE = "\n\nNote: The user's next message"
# What the program puts in the user's mouth where one dismisses its questions or its plan.
_SAID_BY_PROGRAM = ("The user wants to ", "The user has ", "User has ")


def rejection_in(output: str) -> str | None:
    """Return the user's reason for refusing a call ("" if none), or None if it was not refused."""
    if output.startswith(_REJECTED):
        said = _REASON.search(output)
        reason = said[1].split(_NOTE)[0].strip() if said else ""
        return "" if reason.startswith(_SAID_BY_PROGRAM) else reason
    if output.startswith("Permission to use ") and " denied" in output[:2000]:
        return ""
    return None
