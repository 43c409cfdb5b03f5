"""Sync the memory with the layer files of harness; entries that are not ours stay as they are."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple

from leftoff.knowledge.memory import KINDS, EntryDraft, MemoryEntry
from leftoff.profiles.harness import facts, layers
from leftoff.profiles.harness.documents import Documents
from leftoff.profiles.harness.layers import EXTRA, Layer
from leftoff.profiles.harness.spellings import item_of, list_items, number_of
from leftoff.profiles.json_codec import Plain, iso, object_of, text_of
from leftoff.profiles.profile import Knowledge

CONFIG = "config.json"
_MOST_DECISIONS = 50


def read(documents: dict[str, Plain]) -> tuple[list[EntryDraft], list[EntryDraft]]:
    """Return the content of the layers: what is in force, and what waits for approval."""
    said = [
        found
        for layer in layers.LAYERS
        for each in layer.list_entries(documents.get(layer.path, {}))
        if (found := layers.draft_of(layer, each)) is not None
    ]
    bare = [
        draft
        for shelf in facts.SHELVES
        for draft in facts.list_drafts(shelf, documents.get(shelf.path, {}))
    ]
    active = [each.draft for each in said if each.is_active]
    return [*active, *bare], [each.draft for each in said if not each.is_active]


def write(documents: Documents, knowledge: Knowledge, now: datetime) -> None:
    """Update every layer from the memory."""
    known = {kind: knowledge.remembered(kind) for kind in KINDS}
    most = read_most_decisions(documents.read(CONFIG))
    for layer in layers.LAYERS:
        entries = [
            each
            for each in known[layer.kind]
            if not (layer is layers.RULES and facts.belongs(facts.CONSTRAINTS, each))
        ]
        if entries:
            change = partial(_with, layer, entries, _View(knowledge, now, most))
            documents.change(layer.path, change, key=layer.key)
    for shelf in facts.SHELVES:
        mine = [each for each in known[shelf.kind] if facts.belongs(shelf, each)]
        if mine:
            documents.change(shelf.path, partial(facts.with_facts, shelf, mine, iso(now)))


def read_most_decisions(config: Plain) -> int:
    """Return how many decisions the settings of the layout allow in view."""
    return number_of(object_of(config.get("memory")).get("episodicMaxEntries")) or _MOST_DECISIONS


class _View(NamedTuple):
    """What is known, when, and how many decisions to show of it."""

    knowledge: Knowledge
    now: datetime
    most: int


def _with(layer: Layer, entries: Sequence[MemoryEntry], view: _View, found: Plain) -> Plain:
    """Return a layer with the current entries."""
    key = layer.find_key(found)
    standing = found.get(key)
    before = list_items(standing, layer.text)
    most = 0
    if layer is layers.DECISIONS:
        most = number_of(found.get("maxEntries")) or view.most
    listed = _place(before, layer, _keep_in_view(entries, most))
    if most:
        listed = _keep_newest(listed, most, view.knowledge)
    if listed == before:
        return found
    head = {**layer.head, "maxEntries": most} if most else layer.head
    result = {**head, **found, key: listed}
    if layer is layers.RULES:
        result["metadata"] = _count(object_of(found.get("metadata")), listed)
    return {**result, "lastUpdated": iso(view.now)} if "lastUpdated" in found else result


def _keep_in_view(entries: Sequence[MemoryEntry], most: int) -> list[MemoryEntry]:
    """Leave out entries too old to show, but keep ended ones, which must be removed from files."""
    active = [entry.id for entry in entries if entry.status == "active"]
    shown = {*active[-most:]}
    return [entry for entry in entries if entry.status != "active" or entry.id in shown]


def _place(listed: list[object], layer: Layer, entries: Sequence[MemoryEntry]) -> list[object]:
    """Update entries in place and append new ones; remove ended ones, except rules."""
    result: list[object | None] = list(listed)
    shown = [item_of(each, layer.text) for each in listed]
    ids = [text_of(each.get("id")) for each in shown]
    places = _find_places(shown, layer, entries)
    for entry in entries:
        at = places.get(entry.id)
        # A rule that waits for review is not in force, so it is not in the file either.
        is_theirs = layer is layers.RULES and entry.status == "queued" and EXTRA in entry.extra
        if at is None and (entry.status == "active" or is_theirs):
            result.append(layers.write_entry(layer, entry, {}, ids))
            ids.append(text_of(object_of(result[-1]).get("id")))
        elif at is not None and (entry.status == "active" or layer is layers.RULES):
            written = layers.write_entry(layer, entry, shown[at], ids)
            result[at] = listed[at] if written == shown[at] else written
        elif at is not None:
            result[at] = None
    return [each for each in result if each is not None]


def _find_places(
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


def _keep_newest(listed: list[object], most: int, knowledge: Knowledge) -> list[object]:
    """Keep the newest decisions in view, and everything that the memory does not know."""
    excess = len(listed) - most
    kept: list[object] = []
    for each in listed:
        shown = item_of(each, layers.DECISIONS.text)
        said = layers.draft_of(layers.DECISIONS, shown) if excess > 0 else None
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
