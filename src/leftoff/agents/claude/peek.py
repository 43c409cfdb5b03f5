"""Look into a transcript for signs of work without reading it as a whole.

A session start does this while the user waits. Loading the reader and reading a few transcripts
would take longer than everything else in a session start.
"""

import os
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import msgspec

from leftoff.agents.claude.requests import request_in

# Lists of tools name them too, so this only says which lines to decode.
_WORK = re.compile(rb'"name":\s?"(?:Edit|Write|MultiEdit|NotebookEdit|TaskCreate)"')
_EDITS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
# What may take tasks off the list again.
_UNLISTS = re.compile(rb'"status":\s?"deleted"|"name":\s?"TodoWrite"')
# Nearly always the first call succeeds.
_MOST_CALLS = 20
# Requests are rare among the lines, and the first one is near the beginning.
_MOST_LINES = 200
# Shorter requests are greetings and quick questions.
_SHORTEST = 16


class Peek(msgspec.Struct, frozen=True):
    """What a quick look at a transcript shows."""

    has_work: bool
    """Whether work is evident; a session without may still hold some."""
    asked: str = ""
    """The first request that may be a task, as the user typed it."""


class _Input(msgspec.Struct):
    command: str = ""
    file_path: str = ""
    notebook_path: str = ""
    subject: str = ""


class _Block(msgspec.Struct):
    type: str = ""
    text: str = ""
    id: str = ""
    name: str = ""
    input: _Input | None = None
    tool_use_id: str = ""
    is_error: bool | None = None


class _Message(msgspec.Struct):
    content: str | list[_Block] = ""
    model: str = ""
    stop_reason: str | None = None

    @property
    def blocks(self) -> list[_Block]:
        return [] if isinstance(self.content, str) else self.content


class _Line(msgspec.Struct, rename="camel"):
    type: str = ""
    cwd: str = ""
    message: _Message | None = None
    is_meta: bool = False
    is_sidechain: bool = False


_decoder = msgspec.json.Decoder(_Line)


def peek(path: Path, *, most_bytes: int) -> Peek:
    """Look into a transcript, at most at its beginning and so many bytes at its end.

    Raises OSError if it cannot be read.
    """
    # Opening a named pipe that was planted here would block forever.
    if not path.is_file():
        return Peek(has_work=False)
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - most_bytes))
        end = file.read()
        if not _has_work(end):
            return Peek(has_work=False)
        file.seek(0)
        return Peek(has_work=True, asked=_find_request(file.read(most_bytes)))


# Calls of these only look; a command may do more.
_LOOKS = frozenset({"Read", "Grep", "Glob", "LS", "WebFetch", "WebSearch", "ToolSearch"})
# A queue, a plan or a sub-agent may hold work that only the reader finds.
_UNCLEAR = re.compile(
    rb'"queue-operation"|"queued_command"|"planContent"|plans/|Implement the following plan:'
    rb'|"isSidechain":\s?true|leftoff-briefing'
)
# Errors and notices that Claude Code writes in the name of the model.
_NOT_SAID = "<synthetic>"


def has_only_talked(path: Path, *, most_bytes: int, is_look: Callable[[str], bool]) -> bool:
    """Return whether a session evidently only answered questions and looked around.

    `is_look` says whether a command only reads. In doubt the answer is False. Raises OSError if the
    transcript cannot be read.
    """
    if not path.is_file() or path.stat().st_size > most_bytes:
        return False
    data = path.read_bytes()
    if _UNCLEAR.search(data):
        return False
    is_answered = False
    for line in data.split(b"\n"):
        try:
            entry = _decoder.decode(line) if line else None
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return False
        if entry is None or entry.message is None or entry.is_meta:
            continue
        calls = [each for each in entry.message.blocks if each.type == "tool_use"]
        if not all(_only_looks(each, is_look) for each in calls):
            return False
        is_answered = _follow_answer(entry, entry.message, is_answered=is_answered)
    return is_answered


def _only_looks(call: _Block, is_look: Callable[[str], bool]) -> bool:
    if call.name == "Bash":
        return call.input is not None and is_look(call.input.command)
    return call.name in _LOOKS


def _follow_answer(entry: _Line, message: _Message, *, is_answered: bool) -> bool:
    """Return whether the last request has an answer after this line."""
    if entry.type == "assistant":
        last = message.blocks[-1] if message.blocks else _Block()
        is_said = message.model != _NOT_SAID and message.stop_reason in {None, "end_turn"}
        return is_said and last.type == "text" and bool(last.text.strip())
    are_results = bool(message.blocks) and all(each.tool_use_id for each in message.blocks)
    if entry.type != "user" or are_results:
        return is_answered
    content = message.content
    texts = [content] if isinstance(content, str) else [each.text for each in content]
    # Commands of Claude Code itself, such as /exit, need no answer. An interrupt does not, either.
    text = "\n".join(filter(None, texts))
    return is_answered and not request_in(text) and not text.startswith("[Request interrupted")


def _has_work(data: bytes) -> bool:
    """Return whether an edit in the session's folder, or adding a task, succeeded."""
    return any(_is_done(data, found.start()) for found in islice(_WORK.finditer(data), _MOST_CALLS))


def _is_done(data: bytes, at: int) -> bool:
    """Return whether the line at an offset calls for work that succeeded."""
    end = data.find(b"\n", at)
    called = _decode(_line_at(data, at), "assistant")
    if end < 0 or called is None or called.message is None:
        return False
    ids = [each.id for each in called.message.blocks if _is_work(each, called.cwd, data)]
    return any(_has_succeeded(data, each, end) for each in ids)


def _is_work(block: _Block, cwd: str, data: bytes) -> bool:
    if block.type != "tool_use" or not block.id or block.input is None:
        return False
    if block.name == "TaskCreate":
        return bool(block.input.subject) and _UNLISTS.search(data) is None
    path = block.input.file_path or block.input.notebook_path
    # Notes elsewhere, as in a folder for temporary files, may not be work on the project.
    return block.name in _EDITS and bool(cwd) and path.startswith(f"{cwd}/")


def _has_succeeded(data: bytes, call_id: str, after: int) -> bool:
    # Lines on its progress come before its result, and spell the key in another way.
    answer = re.compile(rb'"tool_use_id":\s?' + re.escape(msgspec.json.encode(call_id)))
    found = answer.search(data, after)
    result = _decode(_line_at(data, found.start()), "user") if found else None
    blocks = result.message.blocks if result is not None and result.message is not None else []
    return any(each.tool_use_id == call_id and not each.is_error for each in blocks)


def _line_at(data: bytes, at: int) -> bytes:
    end = data.find(b"\n", at)
    return data[data.rfind(b"\n", 0, at) + 1 : end if end >= 0 else len(data)]


def _decode(line: bytes, kind: str) -> _Line | None:
    """Decode a line of the conversation; None if it is another, or of a subagent."""
    try:
        entry = _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return entry if entry.type == kind and not entry.is_sidechain else None


def _find_request(data: bytes) -> str:
    for line in data.split(b"\n", _MOST_LINES)[:_MOST_LINES]:
        entry = _decode(line, "user") if b'"user"' in line else None
        if entry is None or entry.message is None or entry.is_meta:
            continue
        content = entry.message.content
        texts = [content] if isinstance(content, str) else [each.text for each in content]
        asked = request_in("\n".join(filter(None, texts)))
        if len(asked) >= _SHORTEST and not asked.startswith("/"):
            return asked
    return ""
