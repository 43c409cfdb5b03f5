"""Turn Claude Code transcripts (2.0 to 2.1.325) into events."""

import re
from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec
from msgspec import Raw

from leftoff.agents.claude import tool_uses
from leftoff.agents.claude.entries import (
    Attachment,
    Block,
    CompactMetadata,
    Message,
    TaskResult,
    ToolProgress,
    TranscriptEntry,
)
from leftoff.agents.claude.queued_prompts import (
    drop_overtaken,
    take_queue_operation,
    take_queued_command,
)
from leftoff.agents.claude.requests import is_blocked_by_program, rejection_in, request_in
from leftoff.agents.stream import (
    AgentThought,
    AssistantText,
    Compaction,
    Place,
    PlanSeen,
    PromptQueued,
    PromptTaken,
    SessionEvent,
    SessionInfo,
    TodoChange,
    ToolResult,
    TurnFailed,
    Usage,
    UserText,
)

_decode = msgspec.json.Decoder(TranscriptEntry).decode
_decode_attachment = msgspec.json.Decoder(Attachment).decode
_decode_blocks = msgspec.json.Decoder(str | list[Block | str] | None).decode
_decode_text = msgspec.json.Decoder(str).decode

# When a line was written, and whether a sub-agent wrote it.
_Where = tuple[str, bool]

_SYNTHETIC = "<synthetic>"
_CAVEAT = "<local-command-caveat>"
_END = "end_turn"
_MOST_OPEN_CALLS = 256
_TRUNCATED = re.compile(r"[^\n]*\n+\.\.\. \[\d+ characters truncated\] \.\.\.\n+[^\n]*")
_EXIT_CODE = re.compile(r"^Exit code (\d+)\s*")
_CANCELLED = ("Sibling tool call errored", "Cancelled: parallel tool call")
_BLOCKED_PROMPT = re.compile(r"Original prompt: (.*)\Z", re.DOTALL)
_TASK_ID = re.compile(r"#(\w+)")

# Lines of these types begin with their type and may be large. A glued line is never skipped.
_ENDS = (b"}\n", b"}", b"}\r\n")
_IDLE_HEADS = (
    b'{"type":"api-request',
    b'{"type":"file-history-',
    b'{"type":"cost-state"',
    b'{"type":"tools-used"',
    b'{"type":"atis-latch"',
)


class ClaudeReader:
    """Turns the lines of one transcript into events."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state
        self._cwd: str = state.get("cwd", "")
        self._branch: str = state.get("branch", "")
        self._session: str = state.get("session", "")
        self._usage: tuple[int, str | None] = (0, None)
        # The tool of each call by call id, needed to interpret the results.
        self._calls: dict[str, str] = state.setdefault("calls", {})
        self._queue: list[str] = state.setdefault("queue", [])
        self._handlers: dict[str, Callable[[TranscriptEntry, list[SessionEvent]], None]] = {
            "assistant": self._assistant,
            "user": self._user,
            "system": self._system,
            "attachment": self._attachment,
            "progress": self._progress,
            "queue-operation": self._queue_operation,
        }

    def feed(self, line: bytes) -> Sequence[SessionEvent]:
        """Return the events of this line."""
        if line.startswith(_IDLE_HEADS) and b'}{"' not in line and line.endswith(_ENDS):
            return ()
        entry = _decode(line)
        handler = self._handlers.get(entry.type)
        if handler is None:
            return ()
        events: list[SessionEvent] = []
        if (
            entry.cwd != self._cwd
            or entry.git_branch != self._branch
            or entry.session_id != self._session
        ):
            self._note_place(entry, events)
        handler(entry, events)
        return events

    def _note_place(self, entry: TranscriptEntry, events: list[SessionEvent]) -> None:
        at = entry.timestamp or ""
        if entry.session_id and entry.session_id != self._session:
            self._session = self.state["session"] = entry.session_id
            version = entry.version or ""
            events.append(SessionInfo(at=at, session_id=self._session, agent_version=version))
        cwd = entry.cwd if entry.cwd and entry.cwd != self._cwd else ""
        branch = entry.git_branch if entry.git_branch and entry.git_branch != self._branch else ""
        if cwd:
            self._cwd = self.state["cwd"] = cwd
        if branch:
            self._branch = self.state["branch"] = branch
        if cwd or branch:
            events.append(Place(at=at, cwd=cwd, branch=branch))

    def _assistant(self, entry: TranscriptEntry, events: list[SessionEvent]) -> None:
        message = entry.message
        if not isinstance(message, Message):
            return
        where = (entry.timestamp or "", bool(entry.is_sidechain))
        if not entry.is_api_error_message:
            self._answer(message, where, events)
        elif not entry.is_sidechain:
            events.append(TurnFailed(at=where[0], error=_join_texts(message)))

    def _answer(self, message: Message, where: _Where, events: list[SessionEvent]) -> None:
        # Claude Code wrote the message itself, for example about an API error.
        if message.model == _SYNTHETIC:
            return
        at, sidechain = where
        content = message.content
        for block in (content,) if isinstance(content, str) else content or ():
            if isinstance(block, str):
                events.append(AssistantText(at=at, sidechain=sidechain, text=block))
            elif block.type == "text" and block.text:
                is_last = message.stop_reason == _END
                events.append(
                    AssistantText(at=at, sidechain=sidechain, text=block.text, ends_turn=is_last)
                )
            elif block.type == "tool_use":
                self._call(block, where, events)
            elif block.thinking and not sidechain:
                events.append(AgentThought(at=at, text=block.thinking))
        if message.usage is not None and not sidechain:
            tokens = message.usage.context_tokens
            # Every line of an answer repeats its usage.
            if tokens and (tokens, message.model) != self._usage:
                self._usage = (tokens, message.model)
                events.append(Usage(at=at, tokens=tokens, model=message.model or ""))

    def _call(self, block: Block, where: _Where, events: list[SessionEvent]) -> None:
        at, sidechain = where
        call = tool_uses.describe(block, at, sidechain=sidechain)
        events.append(call)
        self._calls[call.id] = call.tool
        if len(self._calls) > _MOST_OPEN_CALLS:
            del self._calls[next(iter(self._calls))]
        # A sub-agent's todos and plans are not the session's.
        if sidechain:
            return
        event: SessionEvent | None = None
        if call.kind == "edit":
            event = tool_uses.plan_written(call.what, block.input)
        elif (read := _EVENT_BY_CALL.get(call.tool)) is not None:
            event = read(block.input, call.id)
        if event is not None:
            events.append(event)

    def _user(self, entry: TranscriptEntry, events: list[SessionEvent]) -> None:
        if isinstance(entry.message, Message):
            where = (entry.timestamp or "", bool(entry.is_sidechain))
            self._turn(entry, entry.message, where, events)

    def _turn(
        self, entry: TranscriptEntry, message: Message, where: _Where, events: list[SessionEvent]
    ) -> None:
        content = message.content
        texts: list[str] = []
        has_result = False
        for block in (content,) if isinstance(content, str) else content or ():
            if isinstance(block, str):
                texts.append(block)
            elif block.type == "tool_result":
                has_result = True
                self._result(block, entry.tool_use_result, where, events)
            elif block.type == "text" and block.text:
                texts.append(block.text)
        # Claude Code itself adds text beside a result ("Tool loaded.").
        if texts and not has_result:
            self._read_user_text(entry, texts, where, events)

    def _read_user_text(
        self, entry: TranscriptEntry, texts: list[str], where: _Where, events: list[SessionEvent]
    ) -> None:
        at, sidechain = where
        if entry.is_compact_summary:
            events.append(Compaction(at=at, summary="\n".join(texts)))
            return
        # Claude Code writes these itself, for the model or for its own display.
        if entry.is_meta or entry.is_visible_in_transcript_only:
            if texts[0].startswith(_CAVEAT):
                self.state["aside"] = bytes(entry.prompt_id).decode()
            return
        # A skill such as /review that ran apart from the conversation: its answer went to the user.
        is_aside = entry.prompt_id and bytes(entry.prompt_id).decode() == self.state.get("aside")
        if is_aside and texts[0].startswith("/"):
            return
        if entry.origin is not None and entry.origin.kind not in {None, "human"}:
            return
        asked = "\n".join(filter(None, map(request_in, texts)))
        if not asked:
            return
        if not sidechain:
            events.extend(drop_overtaken(self.state, self._queue, asked, at=at))
        if entry.plan_content and not sidechain:
            events.append(PlanSeen(at=at, text=entry.plan_content))
        events.append(UserText(at=at, sidechain=sidechain, text=asked))

    def _result(
        self, block: Block, details: Raw, where: _Where, events: list[SessionEvent]
    ) -> None:
        call_id = block.tool_use_id or ""
        name = self._calls.pop(call_id, "")
        failed = bool(block.is_error)
        output, rejected, code, is_blocked = "", None, None, False
        # The content of files that were read or written successfully is not needed, and is the bulk
        # of a transcript.
        if failed or tool_uses.kind_of(name) not in {"edit", "read"}:
            output = _drop_torn_lines(_text_of(block.content))
        if failed:
            rejected = rejection_in(output)
            is_blocked = is_blocked_by_program(output, tool_uses.kind_of(name))
            code = _exit_code(output)
            output = _clean_error(output)
        result = ToolResult(
            at=where[0],
            sidechain=where[1],
            id=call_id,
            ok=not failed,
            output=output,
            rejected=rejected,
            exit=0 if not failed and tool_uses.kind_of(name) == "run" else code,
            is_blocked=is_blocked,
        )
        events.append(result)
        if name == "TaskCreate" and not where[1]:
            events.append(_task_created(result, details))

    def _system(self, entry: TranscriptEntry, events: list[SessionEvent]) -> None:
        at = entry.timestamp or ""
        if entry.subtype == "compact_boundary":
            events.append(Compaction(at=at))
            self._usage = (0, None)
            if tokens := _tokens_after(entry.compact_metadata):
                events.append(Usage(at=at, tokens=tokens))
        elif entry.subtype == "informational" and (ending := bytes(entry.prompt_submit_ending)):
            blocked = _BLOCKED_PROMPT.search(_text_of(entry.content))
            # A kept prompt is not lost, so there is nothing to queue.
            if blocked and b'"promptKept":true' not in ending:
                events.append(PromptQueued(at=at, text=blocked[1].strip()))

    def _attachment(self, entry: TranscriptEntry, events: list[SessionEvent]) -> None:
        attachment = _decode_attachment(entry.attachment)
        at = entry.timestamp or ""
        if attachment.type == "queued_command" and not entry.is_sidechain:
            text = _text_of(attachment.prompt)
            events.extend(take_queued_command(self._queue, text, at=at))
        elif attachment.plan_file_path and attachment.plan_exists:
            events.append(PlanSeen(at=at, path=attachment.plan_file_path))

    def _progress(self, entry: TranscriptEntry, events: list[SessionEvent]) -> None:
        progress = entry.data
        if not isinstance(progress, ToolProgress) or progress.type != "agent_progress":
            return
        inner = progress.message
        if not isinstance(inner, TranscriptEntry) or not isinstance(inner.message, Message):
            return
        # The inner line belongs to a sub-agent.
        where = (inner.timestamp or entry.timestamp or "", True)
        if inner.type == "assistant":
            self._answer(inner.message, where, events)
        elif inner.type == "user":
            self._turn(inner, inner.message, where, events)

    def _queue_operation(self, entry: TranscriptEntry, events: list[SessionEvent]) -> None:
        text = _text_of(entry.content)
        at = entry.timestamp or ""
        taken = take_queue_operation(self._queue, entry.operation or "", text, at=at)
        if entry.operation == "dequeue" and taken:
            self.state["dequeued"] = taken[0].key if isinstance(taken[0], PromptTaken) else ""
        events.extend(taken)


_EVENT_BY_CALL: dict[str, Callable[[Raw, str], SessionEvent | None]] = {
    "TodoWrite": lambda raw, _: tool_uses.todo_list(raw),
    "TaskCreate": tool_uses.todo_created,
    "TaskUpdate": lambda raw, _: tool_uses.todo_updated(raw),
    "ExitPlanMode": lambda raw, _: tool_uses.plan_shown(raw),
    "exit_plan_mode": lambda raw, _: tool_uses.plan_shown(raw),
}


def _join_texts(message: Message) -> str:
    blocks = (message.content,) if isinstance(message.content, str) else message.content or ()
    return "\n".join(each if isinstance(each, str) else each.text or "" for each in blocks)


def _text_of(raw: Raw) -> str:
    """Return the text in a string or a list of blocks."""
    # The first byte shows the type without decoding a large text.
    head = bytes(memoryview(raw)[:1])
    if head == b'"':
        return _decode_text(raw)
    if head != b"[":
        return ""
    blocks = cast("list[Block | str]", _decode_blocks(raw))
    return "\n".join(b if isinstance(b, str) else b.text or "" for b in blocks)


def _drop_torn_lines(output: str) -> str:
    """Drop the two halves of lines where Claude Code left out the middle of an output."""
    return _TRUNCATED.sub("…", output) if "characters truncated] ..." in output else output


def _exit_code(output: str) -> int | None:
    found = _EXIT_CODE.match(output)
    return int(found[1]) if found else None


def _clean_error(output: str) -> str:
    output = output.replace("<tool_use_error>", "").replace("</tool_use_error>", "")
    output = _EXIT_CODE.sub("", output)
    return "" if output.startswith(_CANCELLED) else output


def _task_created(result: ToolResult, details: Raw) -> TodoChange:
    """Replace the provisional id from the call with the real one."""
    if not result.ok:
        return TodoChange(id=result.id, status="deleted")
    return TodoChange(id=result.id, new_id=_task_id(details, result.output))


def _task_id(raw: Raw, output: str) -> str:
    try:
        task = msgspec.json.decode(raw, type=TaskResult).task
    except ValueError:
        task = None
    if task is not None and task.id is not None:
        return str(task.id)
    found = _TASK_ID.search(output)
    return found[1] if found else ""


def _tokens_after(raw: Raw) -> int:
    try:
        return msgspec.json.decode(raw, type=CompactMetadata).post_tokens or 0
    except ValueError:
        return 0
