"""Add leftoff's hooks and permissions to Claude Code's settings, find them, and remove them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from leftoff.agents.claude.claude_hook_table import TABLE
from leftoff.wiring import json_edit
from leftoff.wiring.hook_groups import HookGroups, Wire

_GROUPS = HookGroups(TABLE)
EVENTS = _GROUPS.events
# What offers, the guide and the skill ask agents to run: it only reads, or `leftoff undo` reverts
# it. Claude Code asks you about everything else, such as clear, drop, purge and ship.
_UNASKED = (
    *("guide", "intent", "lint", "list", "log", "search", "sessions", "show", "status"),
    *("memory list", "memory search", "memory show", "prompts list", "prompts show"),
    *("resume", "save", "recover", "prompts replay"),
)
# Whole: with arguments, this command writes files.
RULES = (*(f"Bash(leftoff {each}:*)" for each in _UNASKED), "Bash(leftoff briefing)")
_ALLOW = ("permissions", "allow")


def command_line(hook: Path, event: str) -> str:
    """Return the command for an event; it is the same in every version of leftoff."""
    return _GROUPS.command_line(hook, event)


def wires(settings: object, hook: Path) -> list[Wire]:
    """List leftoff's commands in the settings, including those of another state folder."""
    return _GROUPS.wires(settings, hook)


def is_ours(command: object, hook: Path) -> bool:
    """Return whether a command runs leftoff's hook: this one, or any `…/leftoff/hook`."""
    return _GROUPS.is_ours(command, hook)


def is_wired(settings: object, hook: Path) -> bool:
    """Return whether every event has exactly one command and no outdated one is left."""
    return _GROUPS.is_wired(settings, hook)


def wire(text: str, hook: Path, *, wanted: Iterable[str] = ()) -> str:
    """Add leftoff's commands and permissions; replace outdated ones and keep the rest."""
    text = _GROUPS.wire(text, hook, wanted=wanted)
    for rule in list_missing_rules(json_edit.read(text)):
        text = json_edit.append(text, _ALLOW, rule)
    return text


def unwire(text: str, hook: Path) -> str:
    """Remove leftoff's commands and permissions, with the groups this leaves empty."""
    return _without_rules(_GROUPS.unwire(text, hook))


def strip_ours(settings: Mapping[str, Any], hook: Path) -> dict[str, Any]:
    """Return the settings without what leftoff adds and without empty groups, for comparison."""
    rest = _GROUPS.strip_ours(settings, hook)
    if (rules := _list_rules(rest)) is not None:
        allow = [rule for rule in rules if rule not in RULES]
        others = {key: each for key, each in rest.get("permissions", {}).items() if key != "allow"}
        rest["permissions"] = {**others, **({"allow": allow} if allow else {})}
    return {key: value for key, value in rest.items() if key != "permissions" or value != {}}


def has_ours(settings: object, hook: Path) -> bool:
    """Return whether leftoff has added anything to the settings."""
    return bool(wires(settings, hook)) or has_rules(settings)


def is_complete(settings: object, hook: Path) -> bool:
    """Return whether all hooks and permissions are there."""
    return is_wired(settings, hook) and not list_missing_rules(settings)


def has_rules(settings: object) -> bool:
    """Return whether the settings contain any of leftoff's permissions."""
    return any(rule in RULES for rule in _list_rules(settings) or ())


def list_missing_rules(settings: object) -> list[str]:
    """List the permissions to add; none if the settings hold something else in their place."""
    present = _list_rules(settings)
    return [] if present is None else [rule for rule in RULES if rule not in present]


def _list_rules(settings: object) -> list[Any] | None:
    permissions = settings.get("permissions", {}) if isinstance(settings, dict) else None
    rules = permissions.get("allow", []) if isinstance(permissions, dict) else None
    return rules if isinstance(rules, list) else None


def _without_rules(text: str) -> str:
    rules = _list_rules(json_edit.read(text)) or []
    ours = [place for place, rule in enumerate(rules) if rule in RULES]
    # From the end, so that the indexes of earlier rules stay valid.
    for place in reversed(ours):
        text = json_edit.remove(text, (*_ALLOW, place))
    if ours and len(ours) == len(rules):
        text = json_edit.remove(text, _ALLOW)
        if json_edit.read(text)["permissions"] == {}:
            text = json_edit.remove(text, ("permissions",))
    return text
