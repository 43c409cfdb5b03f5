"""Turn the lines of a Codex rollout into events.

`response_item` lines exist in every version and are the base. What a person typed is distinguished
from injected text by `event_msg` lines (up to 0.142) or by the types of the message's parts
(later).
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from leftoff.agents.codex.function_calls import CodexCalls
from leftoff.agents.loose_values import count, cut, listing, mapping, parts_text, text
from leftoff.agents.stream import (
    AgentThought,
    AssistantText,
    Compaction,
    Place,
    PlanSeen,
    SessionEvent,
    SessionInfo,
    TurnEnded,
    TurnFailed,
    Usage,
    UserText,
    prompt_key,
)

_LONGEST_ASKED = 20_000
_REQUEST = "## My request for Codex:"
_INJECTED = re.compile(r"\s*(?:<[A-Za-z_][\w .=\"-]*>|# AGENTS\.md instructions)")
_PLAN = re.compile(r"<proposed_plan>\s*(.*?)\s*</proposed_plan>", re.DOTALL)

Payload = dict[str, Any]
Read = Callable[[Payload, str], list[SessionEvent]]


class _RolloutLine(msgspec.Struct, gc=False):
    type: str = ""
    timestamp: str = ""
    payload: Any = None
    metadata: Any = None


_LINES = msgspec.json.Decoder(_RolloutLine)


class CodexReader:
    """Turns the lines of one rollout into events."""

    def __init__(self, state: Payload) -> None:
        self.state = state
        calls = CodexCalls(state)
        self._lines: dict[str, Read] = {
            "session_meta": self._meta,
            "turn_context": self._turn,
            "response_item": self._item,
            "event_msg": self._event,
            "compacted": self._read_compaction,
            "token_usage_record": self._read_usage_record,
        }
        self._items: dict[str, Read] = {
            "message": self._message,
            "function_call": calls.read_start,
            "custom_tool_call": calls.read_start,
            "reasoning": self._thought,
            "local_shell_call": calls.read_shell_start,
            "web_search_call": calls.read_search,
            "function_call_output": calls.read_end,
            "custom_tool_call_output": calls.read_end,
        }
        self._events: dict[str, Read] = {
            "user_message": self._read_user_message,
            "item_completed": self._read_completed_item,
            "task_started": self._read_window,
            "task_complete": self._read_turn_end,
            "token_count": self._usage,
            "patch_apply_end": calls.read_patch,
            "exec_command_end": calls.read_hidden_run,
            "turn_aborted": calls.read_stop,
            "UserMessage": self._read_user_message_item,
            "FileChange": calls.read_patch,
            "CommandExecution": calls.read_hidden_run,
        }

    def feed(self, line: bytes) -> Sequence[SessionEvent]:
        """Return the events of this line."""
        entry = _LINES.decode(line)
        read = self._lines.get(entry.type)
        if read is None or not isinstance(entry.payload, dict):
            return ()
        # The output of a compaction is not part of the conversation.
        if entry.metadata and mapping(entry.metadata).get("compaction_output"):
            self.state["summed_up"] = True
            return ()
        return read(entry.payload, entry.timestamp)

    def _meta(self, payload: Payload, at: str) -> list[SessionEvent]:
        session_id = text(payload.get("id"))
        # A fork repeats the line of the session it was forked from.
        if session_id != self.state.setdefault("session", session_id):
            return []
        self.state["cwd"] = cwd = text(payload.get("cwd"))
        branch = text(mapping(payload.get("git")).get("branch"))
        version = text(payload.get("cli_version"))
        return [
            SessionInfo(session_id=session_id, agent_version=version, at=at),
            Place(cwd=cwd, branch=branch, at=at),
        ]

    def _turn(self, payload: Payload, at: str) -> list[SessionEvent]:
        self.state["model"] = text(payload.get("model"))
        cwd = text(payload.get("cwd"))
        if not cwd or cwd == self.state.get("cwd"):
            return []
        self.state["cwd"] = cwd
        return [Place(cwd=cwd, at=at)]

    def _read_turn_end(self, payload: Payload, at: str) -> list[SessionEvent]:
        error = text(mapping(payload.get("error")).get("message"))
        # Not every model marks its last words as such.
        return [TurnFailed(error=error, at=at) if error else TurnEnded(at=at)]

    def _read_compaction(self, payload: Payload, at: str) -> list[SessionEvent]:
        return [Compaction(summary=text(payload.get("message")), at=at)]

    def _item(self, payload: Payload, at: str) -> list[SessionEvent]:
        kind = text(payload.get("type"))
        read = self._items.get(kind)
        if read is None:
            return []
        return (
            read(payload, at)
            if kind == "message"
            else [*self._flush_unconfirmed(at), *read(payload, at)]
        )

    def _event(self, payload: Payload, at: str) -> list[SessionEvent]:
        read = self._events.get(text(payload.get("type")))
        return read(payload, at) if read else []

    def _read_completed_item(self, payload: Payload, at: str) -> list[SessionEvent]:
        item = mapping(payload.get("item"))
        return [] if item.get("type") == "item_completed" else self._event(item, at)

    def _message(self, payload: Payload, at: str) -> list[SessionEvent]:
        if payload.get("role") == "user":
            return self._user_item(payload, at)
        words = parts_text(payload.get("content"), "output_text", "text")
        if payload.get("role") != "assistant" or not words:
            return []
        events = self._flush_unconfirmed(at)
        phase = payload.get("phase")
        events.append(
            AssistantText(
                text=words,
                at=at,
                ends_turn=phase == "final_answer",
                is_interim=phase == "commentary",
            )
        )
        if plan := _PLAN.search(words):
            events.append(PlanSeen(text=plan[1], at=at))
        return events

    def _thought(self, payload: Payload, at: str) -> list[SessionEvent]:
        words = parts_text(payload.get("summary"), "summary_text", "text")
        return [AgentThought(text=words, at=at)] if words else []

    def _user_item(self, payload: Payload, at: str) -> list[SessionEvent]:
        content = listing(payload.get("content"))
        passed = mapping(payload.get("internal_chat_message_metadata_passthrough"))
        if kinds := listing(passed.get("content_item_kinds")):
            pairs = zip(kinds, content, strict=False)
            typed = [text(mapping(part).get("text")) for kind, part in pairs if kind == "user.text"]
            return self._user_text("\n".join(typed), at)
        words = parts_text(content, "input_text", "text")
        # The next event shows whether a person typed it.
        if words and not _INJECTED.match(words):
            self.state["asked"] = cut(words, _LONGEST_ASKED)
        return []

    def _read_user_message(self, payload: Payload, at: str) -> list[SessionEvent]:
        if text(payload.get("kind")) not in ("", "plain"):
            return []
        return self._user_text(text(payload.get("message")), at)

    def _read_user_message_item(self, item: Payload, at: str) -> list[SessionEvent]:
        return self._user_text(parts_text(item.get("content"), "text"), at)

    def _user_text(self, words: str, at: str) -> list[SessionEvent]:
        request = words.rpartition(_REQUEST)[2].strip()
        self.state.pop("asked", None)
        key = prompt_key(request)
        # A rollout can hold the same prompt as an event and as a message.
        if not request or key == self.state.get("told"):
            return []
        self.state["told"] = key
        return [UserText(text=request, at=at)]

    def _flush_unconfirmed(self, at: str) -> list[SessionEvent]:
        """Return the user's words that no event confirmed, once the agent answers them."""
        if "asked" not in self.state and "told" not in self.state:
            return []
        asked = self._user_text(text(self.state.get("asked")), at)
        self.state.pop("told", None)
        return asked

    def _usage(self, payload: Payload, at: str) -> list[SessionEvent]:
        info = mapping(payload.get("info"))
        tokens = count(mapping(info.get("last_token_usage")).get("total_tokens"))
        self._read_window(info, at)
        return self._build_usage(tokens, at)

    def _read_window(self, payload: Payload, _: str) -> list[SessionEvent]:
        if window := count(payload.get("model_context_window")):
            self.state["window"] = window
        return []

    def _read_usage_record(self, payload: Payload, at: str) -> list[SessionEvent]:
        """Read the use of one answer, which is written before its calls have run."""
        # The use of the request for a summary, and that of sub-agents, is not the session's.
        thread, own = text(payload.get("thread_id")), text(self.state.get("session"))
        if self.state.pop("summed_up", None) or (own and thread not in {"", own}):
            return []
        return self._build_usage(count(mapping(payload.get("usage")).get("total_tokens")), at)

    def _build_usage(self, tokens: int, at: str) -> list[SessionEvent]:
        window, model = count(self.state.get("window")), text(self.state.get("model"))
        return [Usage(tokens=tokens, window=window, model=model, at=at)] if tokens else []
