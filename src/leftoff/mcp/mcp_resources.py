"""Read the resources: the briefing of the open work, or a piece of work in full."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from leftoff.mcp import json_rpc, run_tools
from leftoff.mcp.caller import FindCaller
from leftoff.mcp.json_rpc import RpcError

_BRIEFING = "leftoff://briefing"
_THREAD = "leftoff://thread/"


def read(address: object, find_caller: FindCaller) -> dict[str, Any]:
    """Return the text of a resource, as the tool with the same subject gives it."""
    text = _find_text(address, find_caller)
    return {"contents": [{"uri": address, "mimeType": "text/plain", "text": text}]}


def _find_text(address: object, find_caller: FindCaller) -> str:
    if address == _BRIEFING:
        return _call("resume", {}, find_caller)
    if isinstance(address, str) and address.startswith(_THREAD):
        return _call("show", {"name": unquote(address.removeprefix(_THREAD))}, find_caller)
    known = f"{_BRIEFING}, {_THREAD}{{name}}"
    problem = f"There is no resource {str(address)[:200]!r}. There are: {known}."
    raise RpcError(json_rpc.RESOURCE_NOT_FOUND, problem)


def _call(tool: str, arguments: Mapping[str, object], find_caller: FindCaller) -> str:
    done = run_tools.call(tool, {**arguments}, find_caller)
    text = str(done["content"][0]["text"])
    if done.get("isError"):
        raise RpcError(json_rpc.RESOURCE_NOT_FOUND, text)
    return text
