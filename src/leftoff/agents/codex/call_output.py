"""Find out how a Codex call ended, from the text that the model got back.

Newer rollouts give the exit status only in a heading above the output, older ones in a JSON object
around it.
"""

import re
from typing import Any

import msgspec

from leftoff.agents.loose_values import decode_mapping, mapping, parts_text, text

_HEADING = re.compile(
    r"(?:(?:Chunk ID|Wall time|Process |Exit code|Original token count|Total output lines|Warning)"
    r"[^\n]*\n)+(?:Output:\n)?"
)
_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with session ID (\S+)", re.MULTILINE)
_REFUSED = re.compile(
    r"(?:exec command |patch )?rejected by user|aborted(?: by user|$)"
    r"|(?:exec_command|shell|apply_patch) failed\b[^\n]{0,4000}\bRejected\(.{0,3}rejected by user"
)
# What Codex says of a call that its policy forbids, without asking anybody.
_BLOCKED = re.compile(
    r"(?:exec_command|shell|apply_patch) failed\b[^\n]{0,4000}\bRejected\("
    r"|[^\n]{0,4000}(?:approval required by policy, but AskForApproval|rejected: blocked by policy)"
)
_FAILED = re.compile(
    r"(?:error|err|failed|unsupported|unable|invalid|unknown|tool call error|sandbox denied)\b"
    r"|[\w-]+ (?:verification )?failed\b|command timed out",
    re.IGNORECASE,
)


class CallOutput(msgspec.Struct, frozen=True, kw_only=True):
    """How a call ended; `running` is a process that still runs, `exited` if its status is known."""

    ok: bool
    text: str = ""
    running: str = ""
    exited: bool = False
    code: int | None = None
    rejected: str | None = None
    is_blocked: bool = False


def read_output(output: Any) -> CallOutput:
    """Parse the end of a call from any known shape of output."""
    words, code = _unpack_output(output)
    running = ""
    while heading := _HEADING.match(words):
        head = heading[0]
        if found := _CODE.search(head):
            code = int(found[1])
        if found := _RUNNING.search(head):
            running = found[1]
        words = words[heading.end() :]
    if code is None and _REFUSED.match(words.lstrip()):
        return CallOutput(ok=False, text=words, rejected="")
    if code is None and _BLOCKED.match(words.lstrip()):
        return CallOutput(ok=False, text=words, is_blocked=True)
    failed = code != 0 if code is not None else bool(_FAILED.match(words)) and not running
    return CallOutput(
        ok=not failed, text=words, running=running, exited=code is not None, code=code
    )


def _unpack_output(output: Any) -> tuple[str, int | None]:
    """Return the text of an output, and its exit status if that is a separate field."""
    if isinstance(output, list):
        return parts_text(output, "input_text", "output_text", "text"), None
    if isinstance(output, str) and not output.startswith("{"):
        return output, None
    wrapped = decode_mapping(output)
    if "output" not in wrapped and "content" not in wrapped:
        return text(output), None
    words = text(wrapped.get("output")) or parts_text(wrapped.get("content"))
    code = mapping(wrapped.get("metadata")).get("exit_code")
    if code is None and wrapped.get("success") is False:
        code = 1
    return words, code if isinstance(code, int) else None
