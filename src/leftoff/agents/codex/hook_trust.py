"""Read which hooks the user trusts in Codex, which skips all others without a word.

Codex stores a hash for each hook that the user has reviewed, under the path of its file and its
position there. leftoff computes the same hash to report the state. It never stores one: that is the
user's decision.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from leftoff.digests import sha256

TrustState = Literal["trusted", "untrusted", "modified", "disabled"]

_OPTIONAL_KEYS = ("statusMessage", "commandWindows", "additionalContextLimit")
# Seconds that Codex assumes and allows at the end of a session, and assumes for the rest.
_END_DEFAULT, _END_MOST, _DEFAULT = 1, 3, 600
_STATE_HEADER = re.compile(r"\s*\[\s*hooks\s*\.\s*state\s*\]\s*(?:#.*)?")
_ENTRY_HEADER = re.compile(
    r"""\s*\[\s*hooks\s*\.\s*state\s*\.\s*("(?:[^"\\]|\\.)*"|'[^']*')\s*\]\s*(?:\#.*)?"""
)


def hash_hook(event: str, handler: Mapping[str, Any], matcher: object = None) -> str:
    """Return the hash that Codex stores for a trusted hook."""
    timeout = handler.get("timeout", _END_DEFAULT if event == "SessionEnd" else _DEFAULT)
    if event == "SessionEnd" and isinstance(timeout, int):
        timeout = max(1, min(_END_MOST, timeout))
    hashed = {
        "type": "command",
        "command": handler.get("command"),
        "timeout": timeout,
        "async": handler.get("async", False),
        **{key: handler[key] for key in _OPTIONAL_KEYS if key in handler},
    }
    identity: dict[str, object] = {"event_name": _snake(event), "hooks": [hashed]}
    if matcher is not None:
        identity["matcher"] = matcher
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def build_key(file: Path, event: str, group: int, place: int) -> str:
    """Return the key under which Codex stores the state of a hook."""
    return f"{file}:{_snake(event)}:{group}:{place}"


def read_state(config: bytes | None) -> dict[str, Any]:
    """Return the states of all hooks; empty if the configuration has none or is not TOML."""
    state = _read_table(config, "hooks").get("state", {})
    return state if isinstance(state, dict) else {}


def disables_hooks(config: bytes | None) -> bool:
    """Return whether the user has turned off all hooks of Codex."""
    return _read_table(config, "features").get("hooks") is False


def has_inline_hooks(config: bytes | None) -> bool:
    """Return whether the configuration itself names hooks, which Codex warns about."""
    return any(key != "state" for key in _read_table(config, "hooks"))


def _read_table(config: bytes | None, name: str) -> dict[str, Any]:
    """Return a table of the configuration; empty if there is none, or the file is not TOML."""
    try:
        table = tomllib.loads((config or b"").decode()).get(name)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}
    return table if isinstance(table, dict) else {}


def judge(entry: object, expected: str) -> TrustState:
    """Return the state of a hook, given its entry and the hash of what is in the file."""
    if not isinstance(entry, dict) or not entry.get("trusted_hash"):
        return "untrusted"
    if entry.get("trusted_hash") != expected:
        return "modified"
    return "disabled" if entry.get("enabled") is False else "trusted"


def remove_entries(text: str, keys: Iterable[str]) -> str:
    """Remove the states of some hooks from the text of the configuration; keep the rest."""
    unwanted, kept, gap, is_kept = {*keys}, list[str](), list[str](), True
    lines = text.splitlines(keepends=True)
    for line in lines:
        if line.lstrip().startswith("["):
            was_kept, is_kept = is_kept, _read_key(line) not in unwanted
            if was_kept and not is_kept:
                gap = _drop_blank_end(kept)
            elif is_kept and not was_kept:
                kept += gap
        if is_kept:
            kept.append(line)
    without = "".join(kept)
    if len(kept) < len(lines) and not read_state(without.encode()):
        without = _remove_state_header(without)
    return without


def _remove_state_header(text: str) -> str:
    """Remove the header that Codex wrote above the states, if nothing is left below it."""
    kept = list[str]()
    for line in text.splitlines(keepends=True):
        if _STATE_HEADER.fullmatch(line.rstrip("\r\n")):
            _drop_blank_end(kept)
        else:
            kept.append(line)
    return "".join(kept)


def _drop_blank_end(lines: list[str]) -> list[str]:
    dropped = list[str]()
    while lines and not lines[-1].strip():
        dropped.insert(0, lines.pop())
    return dropped


def _read_key(line: str) -> str | None:
    match = _ENTRY_HEADER.fullmatch(line.rstrip("\r\n"))
    if match is None:
        return None
    value: object = tomllib.loads(f"key = {match[1]}")["key"]
    return value if isinstance(value, str) else None


def list_handlers(settings: object) -> Iterator[tuple[str, int, int, dict[str, Any], object]]:
    """Yield each command in a file of hook groups: event, group, place, command, matcher."""
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            found = group.get("hooks") if isinstance(group, dict) else None
            for place, handler in enumerate(found if isinstance(found, list) else ()):
                if isinstance(handler, dict):
                    yield event, number, place, handler, group.get("matcher")


def _snake(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
