"""Sync the memory with the layer files of harness; entries that are not ours stay as they are."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from leftoff.knowledge.memory import KINDS, EntryDraft, MemoryEntry
from leftoff.profiles.harness import facts, layers
from leftoff.profiles.harness.documents import Documents
from leftoff.profiles.harness.layers import Layer
from leftoff.profiles.json_codec import Plain, iso, object_of, objects_of, text_of
from leftoff.profiles.profile import Knowledge

_MOST_DECISIONS = 50


def read(documents: dict[str, Plain]) -> tuple[list[EntryDraft], list[EntryDraft]]:
    """Return the content of the layers: what is in force, and what waits for approval."""
    said = [
        found
        for layer in layers.LAYERS
        for each in objects_of(documents.get(layer.path, {}).get(layer.key))
        if (found := layers.draft_of(layer, each)) is not None
    ]
    bare = [
        draft
        for shelf in facts.SHELVES
        for draft in facts.drafts_of(shelf, documents.get(shelf.path, {}))
    ]
    active = [each.draft for each in said if each.is_active]
    return [*active, *bare], [each.draft for each in said if not each.is_active]


def write(documents: Documents, knowledge: Knowledge, now: datetime) -> None:
    """Update every layer from the memory."""
    known = {kind: knowledge.remembered(kind) for kind in KINDS}
    for layer in layers.LAYERS:
        entries = [
            each
            for each in known[layer.kind]
            if not (layer is layers.RULES and facts.belongs(facts.CONSTRAINTS, each))
        ]
        if entries:
            documents.change(layer.path, partial(_with, layer, entries, knowledge, now))
    for shelf in facts.SHELVES:
        mine = [each for each in known[shelf.kind] if facts.belongs(shelf, each)]
        if mine:
            documents.change(shelf.path, partial(facts.with_facts, shelf, mine, iso(now)))


def _with(
    layer: Layer, entries: Sequence[MemoryEntry], knowledge: Knowledge, now: datetime, found: Plain
) -> Plain:
    """Return a layer with the current entries."""
    standing = found.get(layer.key)
    listed = list(standing) if isinstance(standing, list) else []
    most = _most(found) if layer is layers.DECISIONS else 0
    listed = _place(listed, layer, _in_view(entries, most))
    if most:
        listed = _newest(listed, most, knowledge)
    if listed == standing or (not listed and standing is None):
        return found
    result = {**layer.head, **found, layer.key: listed}
    if layer is layers.RULES:
        result["metadata"] = _count(object_of(found.get("metadata")), listed)
    return {**result, "lastUpdated": iso(now)} if "lastUpdated" in found else result


def _most(found: Plain) -> int:
    most = found.get("maxEntries")
    is_number = isinstance(most, int) and not isinstance(most, bool) and most > 0
    return most if is_number and isinstance(most, int) else _MOST_DECISIONS


def _in_view(entries: Sequence[MemoryEntry], most: int) -> list[MemoryEntry]:
    """Leave out entries too old to show, but keep ended ones, which must be removed from files."""
    active = [entry.id for entry in entries if entry.status == "active"]
    shown = {*active[-most:]}
    return [entry for entry in entries if entry.status != "active" or entry.id in shown]


def _place(listed: list[object], layer: Layer, entries: Sequence[MemoryEntry]) -> list[object]:
    """Update entries in place and append new ones; remove ended ones, except rules."""
    result: list[object | None] = list(listed)
    ids = [text_of(object_of(each).get("id")) for each in listed]
    places = _places(listed, layer, entries)
    for entry in entries:
        at = places.get(entry.id)
        is_kept = layer is layers.RULES and entry.status == "queued"
        if at is None and (entry.status == "active" or is_kept):
            result.append(layers.write_entry(layer, entry, {}, ids))
            ids.append(text_of(object_of(result[-1]).get("id")))
        elif at is not None and (entry.status == "active" or layer is layers.RULES):
            result[at] = layers.write_entry(layer, entry, object_of(listed[at]), ids)
        elif at is not None:
            result[at] = None
    return [each for each in result if each is not None]


def _places(
    listed: Sequence[object], layer: Layer, entries: Sequence[MemoryEntry]
) -> dict[str, int]:
    """Find the place of each entry, first by its key, then among redacted texts."""
    found: dict[str, int] = {}
    open_places = dict(enumerate(listed))
    for is_clean in (True, False):
        keys: dict[str, int] = {}
        for number, each in open_places.items():
            for key in layers.keys_of(layer, object_of(each), is_clean=is_clean):
                keys.setdefault(key, number)
        for entry in entries:
            at = next((keys[key] for key in layers.own_keys(entry) if key in keys), None)
            if entry.id not in found and at is not None:
                found[entry.id] = at
                open_places.pop(at, None)
        if all(entry.id in found for entry in entries):
            break
    return found


def _newest(listed: list[object], most: int, knowledge: Knowledge) -> list[object]:
    """Keep the newest decisions in view, and everything that the memory does not know."""
    excess = len(listed) - most
    kept: list[object] = []
    for each in listed:
        said = layers.draft_of(layers.DECISIONS, object_of(each)) if excess > 0 else None
        if said is not None and knowledge.knows("decision", said.draft.text):
            excess -= 1
        else:
            kept.append(each)
    return kept


def _count(metadata: Plain, rules: Sequence[object]) -> Plain:
    scopes = [object_of(rule).get("scope") for rule in rules]
    general = sum(scope == "general" for scope in scopes)
    counts = {
        "totalRules": len(rules),
        "projectSpecific": len(rules) - general,
        "general": general,
    }
    return {**metadata, **counts}
