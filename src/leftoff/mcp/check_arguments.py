"""Check the arguments of a tool against its schema, and say how to correct them.

Models guess: they pass null for what they leave out, or one text where a list is expected. Both are
clear, so they are accepted. Everything else is refused with a sentence that the model can act on.
"""

from collections.abc import Mapping
from typing import Any

from leftoff.errors import UsageError

_TYPES: dict[str, type] = {"string": str, "boolean": bool, "integer": int, "array": list}
_ARTICLES = {
    "string": "a string",
    "boolean": "true or false",
    "integer": "a whole number",
    "array": "a list of strings",
}


def check(tool: str, schema: Mapping[str, Any], given: object) -> dict[str, Any]:
    """Return the arguments, each of the type that the schema names."""
    if not isinstance(given, dict | None):
        raise UsageError(f"The arguments of {tool} must be a JSON object.")
    known: Mapping[str, Any] = schema["properties"]
    named = {key: value for key, value in (given or {}).items() if value is not None}
    for key in named:
        if key not in known:
            takes = ", ".join(known) or "none"
            raise UsageError(f"{tool} has no argument {key[:60]!r}.", hint=f"It takes: {takes}.")
    for key in schema["required"]:
        if key not in named:
            raise UsageError(f"{tool} needs the argument {key!r}.", hint=_find_hint(known[key]))
    return {key: _check_one(f"{tool}.{key}", known[key], value) for key, value in named.items()}


def _check_one(what: str, schema: Mapping[str, Any], value: object) -> object:
    kind = schema["type"]
    if kind == "array" and isinstance(value, str):
        value = [value]
    is_flag_as_number = kind == "integer" and isinstance(value, bool)
    if not isinstance(value, _TYPES[kind]) or is_flag_as_number:
        raise UsageError(f"{what} must be {_ARTICLES[kind]}.", hint=_find_hint(schema))
    if isinstance(value, list):
        return [_check_one(f"{what}[{n}]", schema["items"], each) for n, each in enumerate(value)]
    if "enum" in schema and value not in schema["enum"]:
        raise UsageError(f"{what} must be one of: {', '.join(schema['enum'])}.")
    if isinstance(value, int) and not isinstance(value, bool):
        return _check_range(what, schema, value)
    return value


def _check_range(what: str, schema: Mapping[str, Any], value: int) -> int:
    least, most = schema["minimum"], schema["maximum"]
    if not least <= value <= most:
        raise UsageError(f"{what} must be between {least} and {most}.")
    return value


def _find_hint(schema: Mapping[str, Any]) -> str:
    return str(schema.get("description", ""))
