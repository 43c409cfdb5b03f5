"""Decode and encode JSON-RPC messages.

The standard library's JSON, not msgspec: importing msgspec takes 3 to 4 times the CPU of
`python -c pass`, and the first answer must be there in 4.
"""

import json
import re

TYPE_CHECKING = False  # see leftoff/mcp/__init__.py
if TYPE_CHECKING:
    from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
RESOURCE_NOT_FOUND = -32002
INTERNAL_ERROR = -32603

_ID = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,100}")'
# One brace ends the request. What is inside of its params is followed by more.
_LAST_ID = re.compile(_ID + rb'(?:\s*,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*")*\s*\}\s*\Z')


class RpcError(Exception):
    """A request that cannot be answered, with the code that the protocol has for it."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Request:
    """A request of the client; its answer carries the same id."""

    __slots__ = ("id", "method", "params")

    def __init__(self, id_: "str | int", method: str, params: "dict[str, Any]") -> None:
        self.id = id_
        self.method = method
        self.params = params


class Notification:
    """A message of the client that has no answer."""

    __slots__ = ("method", "params")

    def __init__(self, method: str, params: "dict[str, Any]") -> None:
        self.method = method
        self.params = params


class Response:
    """The client's answer to one of our requests; `result` is None if it refused."""

    __slots__ = ("id", "result")

    def __init__(self, id_: "str | int | None", result: object) -> None:
        self.id = id_
        self.result = result


Message = Request | Notification | Response


def decode(line: bytes) -> object:
    """Decode one line; raise RpcError if it is not JSON."""
    try:
        # Some programs start their output with a byte order mark.
        return json.loads(line.decode("utf-8-sig"))
    # Deep nesting raises RecursionError, and a number with too many digits ValueError.
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, f"The line is not valid JSON: {error}") from error


def encode(message: object) -> bytes:
    """Encode a message as one line."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    # Node's readline ends a line at these two. Strict parsers refuse lone surrogates, which stand
    # for undecodable bytes in paths.
    text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return text.encode("utf-8", "replace") + b"\n"


def parse(value: object) -> Message:
    """Return the message that a JSON value stands for; raise RpcError if it is not one."""
    if not isinstance(value, dict):
        raise RpcError(INVALID_REQUEST, "A message must be a JSON object.")
    method, id_ = value.get("method"), value.get("id")
    if method is None and ("result" in value or "error" in value):
        return Response(find_id(value), value.get("result"))
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "A request needs a method, as a string.")
    params = value.get("params")
    if not isinstance(params, dict | None):
        raise RpcError(INVALID_PARAMS, "The params must be a JSON object.")
    if "id" not in value:
        return Notification(method, params or {})
    if isinstance(id_, bool) or not isinstance(id_, str | int):
        raise RpcError(INVALID_REQUEST, "The id of a request must be a string or an integer.")
    return Request(id_, method, params or {})


def find_id(value: object) -> "str | int | None":
    """Return the id to use in the answer to an invalid message; None if it has none."""
    id_ = value.get("id") if isinstance(value, dict) else None
    return id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None


def find_cut_id(start: bytes, end: bytes) -> "str | int | None":
    """Return the id of a request of which only the edges are known; None if they do not show it."""
    found = re.search(_ID, start.partition(b'"params"')[0]) or _LAST_ID.search(end)
    return find_id({"id": json.loads(found[1])}) if found else None


def build_result(id_: "str | int", result: "dict[str, Any]") -> "dict[str, Any]":
    """Return the message that answers a request."""
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def build_error(id_: "str | int | None", error: RpcError) -> "dict[str, Any]":
    """Return the message that refuses a request."""
    details = {"code": error.code, "message": error.message}
    return {"jsonrpc": "2.0", "id": id_, "error": details}
