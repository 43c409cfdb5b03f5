"""Turn the event log of a Copilot CLI session into events of the stream."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from leftoff.agents.copilot.tool_runs import CopilotCalls
from leftoff.agents.loose_values import count, cut, mapping, remember, text
from leftoff.agents.stream import (
    AgentThought,
    AssistantText,
    Compaction,
    Place,
    PromptQueued,
    SessionEvent,
    SessionInfo,
    TurnFailed,
    Usage,
    UserText,
)

Data = dict[str, Any]
Read = Callable[[Data, dict[str, Any]], list[SessionEvent]]


class _LogLine(msgspec.Struct, gc=False):
    type: str = ""
    data: msgspec.Raw = msgspec.Raw(b"null")
    timestamp: str = ""
    agentId: str | None = None  # noqa: N815


_LONGEST_PROMPT = 20_000
_HOOKS = ("hook.start", "hook.end")
_OURS = "leftoff: "
_LINES = msgspec.json.Decoder(_LogLine)


class CopilotReader:
    """Turns the events of one log into events of the stream."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state
        self._prompts: dict[str, str] = state.setdefault("prompts", {})
        self._kept: dict[str, str] = state.setdefault("kept", {})
        calls = CopilotCalls(state)
        self._reads: dict[str, Read] = {
            "session.start": self._session,
            "session.resume": self._session,
            "session.context_changed": self._read_place,
            "session.model_change": self._model,
            "session.usage_record": self._usage,
            "session.error": self._read_error,
            "session.compaction_start": self._read_compaction_start,
            "session.compaction_complete": self._read_compaction,
            "user.message": self._user,
            "assistant.message": self._read_answer,
            "hook.start": self._hook_start,
            "hook.end": self._hook_end,
            "permission.completed": calls.read_permission,
            "tool.execution_start": calls.read_start,
            "tool.execution_complete": self._read_call_end,
            "system.notification": calls.read_notification,
            "abort": calls.read_stop,
        }
        self._calls = calls

    def feed(self, line: bytes) -> Sequence[SessionEvent]:
        """Return the events of this line."""
        entry = _LINES.decode(line)
        read = self._reads.get(entry.type)
        # Half of a log consists of tool hooks, which repeat what other events contain.
        if read is None or (entry.type in _HOOKS and b"userPromptSubmitted" not in line):
            return ()
        data = mapping(msgspec.json.decode(entry.data))
        sidechain = bool(entry.agentId or data.get("parentToolCallId"))
        return read(data, {"at": entry.timestamp, "sidechain": sidechain})

    def _session(self, data: Data, event: dict[str, Any]) -> list[SessionEvent]:
        self.state["session"] = text(data.get("sessionId")) or text(self.state.get("session"))
        self.state["model"] = text(data.get("selectedModel")) or text(self.state.get("model"))
        info = SessionInfo(
            session_id=self.state["session"],
            agent_version=text(data.get("copilotVersion")),
            model=self.state["model"],
            **event,
        )
        return [info, *self._read_place(mapping(data.get("context")), event)]

    def _read_error(self, data: Data, event: dict[str, Any]) -> list[SessionEvent]:
        error = text(data.get("message"))
        return [TurnFailed(error=error, **event)] if error else []

    def _read_place(self, data: Data, event: dict[str, Any]) -> list[SessionEvent]:
        cwd, branch = text(data.get("cwd")), text(data.get("branch"))
        return [Place(cwd=cwd, branch=branch, **event)] if cwd or branch else []

    def _model(self, data: Data, _: dict[str, Any]) -> list[SessionEvent]:
        self.state["model"] = text(data.get("newModel"))
        return []

    def _usage(self, data: Data, event: dict[str, Any]) -> list[SessionEvent]:
        usage = mapping(data.get("usage"))
        tokens = count(usage.get("inputTokens")) + count(usage.get("outputTokens"))
        return self._build_usage(tokens, count(usage.get("maxPromptTokens")), event)

    def _read_compaction_start(self, data: Data, event: dict[str, Any]) -> list[SessionEvent]:
        return self._build_usage(
            count(data.get("currentTokens")), count(data.get("tokenLimit")), event
        )

    def _build_usage(self, tokens: int, window: int, event: dict[str, Any]) -> list[SessionEvent]:
        model = text(self.state.get("model"))
        return [Usage(tokens=tokens, window=window, model=model, **event)] if tokens else []

    def _read_compaction(self, data: Data, event: dict[str, Any]) -> list[SessionEvent]:
        if data.get("success") is False:
            return []
        summary = Compaction(summary=text(data.get("summaryContent")), **event)
        left = count(data.get("postCompactionTokens"))
        return [summary, *self._build_usage(left, count(data.get("tokenLimit")), event)]

    def _user(self, data: Data, event: dict[str, Any]) -> list[SessionEvent]:
        words = text(data.get("content")).strip()
        # Skills and hooks also write as the user, and are marked as such.
        if not words or text(data.get("source")) not in ("", "user") or words.startswith("<skill-"):
            return []
        is_kept = bool(self._kept) and cut(words, _LONGEST_PROMPT) == self._kept.pop("prompt", "")
        return [] if is_kept else [UserText(text=words, **event)]

    def _read_answer(self, data: Data, event: dict[str, Any]) -> list[SessionEvent]:
        words, thought = text(data.get("content")), text(data.get("reasoningText"))
        if self._kept and words == self._kept.pop("answer", ""):
            return []
        events: list[SessionEvent] = [AgentThought(text=thought, **event)] if thought else []
        if not words.strip():
            return events
        # Without a call, nothing follows.
        is_last = data.get("toolRequests") == []
        return [*events, AssistantText(text=words, ends_turn=is_last, **event)]

    def _read_call_end(self, data: Data, event: dict[str, Any]) -> list[SessionEvent]:
        metrics = mapping(mapping(data.get("toolTelemetry")).get("metrics"))
        tokens, window = (
            count(metrics.get(f"context_{name}")) for name in ("current_tokens", "token_limit")
        )
        return [*self._calls.read_end(data, event), *self._build_usage(tokens, window, event)]

    def _hook_start(self, data: Data, _: dict[str, Any]) -> list[SessionEvent]:
        if data.get("hookType") == "userPromptSubmitted":
            prompt = cut(text(mapping(data.get("input")).get("prompt")), _LONGEST_PROMPT)
            remember(self._prompts, text(data.get("hookInvocationId")), prompt)
        return []

    def _hook_end(self, data: Data, event: dict[str, Any]) -> list[SessionEvent]:
        """Keep a prompt that a hook blocked: it is stored nowhere else.

        One that leftoff answered in place of the model follows, together with that answer.
        """
        prompt = self._prompts.pop(text(data.get("hookInvocationId")), "")
        output = mapping(data.get("output"))
        answer = text(output.get("responseContent"))
        is_ours = output.get("handled") is True and answer.startswith(_OURS)
        if not prompt or not (is_ours or output.get("decision") == "block"):
            return []
        if is_ours:
            self._kept.update(prompt=prompt.strip(), answer=answer)
        return [PromptQueued(text=prompt, **event)]
