"""Describe the difference between two revisions in words."""

from typing import Any

import msgspec

from leftoff.threads.compare import KeyChange
from leftoff.threads.field_labels import LABELS, format_trigger

_SHORT_SHA = 8
_PARTS = ("tool", "what", "text", "command", "path", "sha", "subject", "why", "status", "outcome")


class DescribedChange(msgspec.Struct, frozen=True, kw_only=True):
    """A field that differs, in words."""

    label: str
    removed: list[str]
    added: list[str]


def describe_diff(changes: list[KeyChange]) -> list[DescribedChange]:
    """Return the changes with labels, what matters most first, and each value as one text."""
    order = {key: number for number, key in enumerate(LABELS)}
    return [
        DescribedChange(
            label=LABELS.get(each.key, each.key.replace("_", " ").capitalize()),
            removed=[_format(each.key, value) for value in each.removed],
            added=[_format(each.key, value) for value in each.added],
        )
        for each in sorted(changes, key=lambda each: order.get(each.key, len(order)))
    ]


def _format(key: str, value: Any) -> str:
    if key == "head":
        return str(value)[:_SHORT_SHA]
    if not isinstance(value, dict):
        return format_trigger(value) if key == "trigger" else str(value)
    if isinstance(value.get("percent"), int | float):
        return f"{value['percent']:.0f} %"
    parts = [_format_part(part, str(value[part])) for part in _PARTS if value.get(part)]
    return " — ".join(parts) or ", ".join(f"{key} {each}" for key, each in value.items())


def _format_part(part: str, text: str) -> str:
    return text[:_SHORT_SHA] if part == "sha" else text.replace("in_progress", "in progress")
