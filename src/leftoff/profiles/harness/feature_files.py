"""Read and write features and fixes: `features/active.json`, `archive.json` and older files.

An unchanged feature keeps its bytes. Unknown keys, and values of an unknown kind, are stored with
the feature and written back.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from leftoff.knowledge.features import Board, Feature, Fix, Scenario
from leftoff.knowledge.features.board import from_plain
from leftoff.knowledge.features.import_features import FORMER_ID
from leftoff.profiles.harness.documents import Documents
from leftoff.profiles.json_codec import (
    ALL_TEXTS,
    MOMENT,
    NUMBER,
    OBJECT,
    Key,
    KeyTable,
    Kind,
    Plain,
    choose,
    is_number,
    moment_of,
    object_of,
    objects_of,
    text_of,
    without,
)
from leftoff.redact import redact_value

ACTIVE = "features/active.json"
ARCHIVE = "features/archive.json"
EXTRA = "harness"
"""The key under which a feature keeps what only this layout knows."""

Item = Feature | Fix
ItemType = TypeVar("ItemType", bound=Item)
_FIX_TYPE = "bugfix"
_STATUSES = frozenset(
    {"pending", "needs_tests", "in_progress", "passing", "failing", "blocked", "escalated"}
)


def _read_scenarios(value: object) -> object:
    known = {"scenario", "given", "when", "then"}
    is_fit = isinstance(value, list) and all(
        isinstance(each, dict) and all(isinstance(each[key], str) for key in known & {*each})
        for each in value
    )
    return value if is_fit else None


def _write_scenario(scenario: Scenario) -> Plain:
    keys = ("scenario", "given", "when", "then")
    return {**{key: getattr(scenario, key) for key in keys}, **scenario.extra}


_SCENARIOS = Kind(_read_scenarios, lambda value: [_write_scenario(each) for each in value])
_FIX = KeyTable(
    Key("description", "description"),
    Key("status", "status", choose(_STATUSES)),
    Key("phase", "phase"),
    Key("verification", "verification", OBJECT),
    Key("attempts", "attempts", NUMBER),
    Key("max_attempts", "maxAttempts", NUMBER),
    Key("scenarios", "acceptanceCriteria", _SCENARIOS),
    Key("related_files", "relatedFiles", ALL_TEXTS),
    Key("labels", "labels", ALL_TEXTS),
    Key("created_at", "createdAt", MOMENT),
    Key("updated_at", "updatedAt", MOMENT),
    Key("archived_at", "archivedAt", MOMENT),
)
_PRIORITY = Kind(lambda value: value if isinstance(value, str) or is_number(value) else None)
_FEATURE = KeyTable(
    *_FIX.keys,
    Key("priority", "priority", _PRIORITY),
    Key("dependencies", "dependencies", ALL_TEXTS),
)
_GITHUB = (("issue", "issueNumber"), ("pr", "prNumber"))
# Keys that every feature of this layout has.
_ALWAYS = frozenset(
    {
        *("description", "priority", "status", "phase", "verification", "attempts", "maxAttempts"),
        *("acceptanceCriteria", "dependencies", "relatedFiles", "createdAt", "updatedAt"),
    }
)


# Reading


def read_features(found: object) -> list[Feature]:
    """Return the features of a list."""
    return [item for each in objects_of(found) if (item := _read(each, Feature))]


def read_fixes(found: object) -> list[Fix]:
    """Return the fixes of a list."""
    return [item for each in objects_of(found) if (item := _read(each, Fix))]


def _read(found: Plain, kind: type[ItemType]) -> ItemType | None:
    item_id = text_of(found.get("id"))
    name = text_of(found.get("name")) or text_of(found.get("title")) or item_id
    if not item_id:
        return None
    values: Plain = {"id": item_id, "name": name}
    taken = {"id", "name"} if "name" in found else {"id"}
    for key in _find_keys(kind):
        name, value = key.find(found)
        if value is not None:
            values[key.ours] = value
        if value is not None or found.get(name) is None:
            taken.add(name)
    github = _read_github(object_of(found.get("github")), found, values, taken)
    linked = _read_link(found, values, taken) if issubclass(kind, Fix) else {}
    if issubclass(kind, Fix) and found.get("type") == _FIX_TYPE:
        taken.add("type")
    rest = {**without(found, *taken, "passes"), **github, **linked}
    extra = {"passes": found["passes"]} if isinstance(found.get("passes"), bool) else {}
    return from_plain({**values, **extra, **({EXTRA: rest} if rest else {})}, kind)


def _find_keys(kind: type[Any]) -> Sequence[Key]:
    return (_FEATURE if kind is Feature else _FIX).keys


def _read_github(github: Plain, found: Plain, values: Plain, taken: set[str]) -> Plain:
    """Read issue, pull request and branch; older files have them outside of `github`."""
    rest = dict(github)
    for ours, theirs in _GITHUB:
        if is_number(rest.get(theirs)):
            values[ours] = rest.pop(theirs)
        elif is_number(found.get(theirs)):
            values[ours] = found[theirs]
            taken.add(theirs)
    if isinstance(rest.get("branch"), str):
        values["branch"] = rest.pop("branch")
    if "github" in found:
        taken.add("github")
    rest = {key: value for key, value in rest.items() if value is not None}
    return {"github": rest} if rest else {}


def _read_link(found: Plain, values: Plain, taken: set[str]) -> Plain:
    link = found.get("linkedTo")
    feature = link if isinstance(link, str) else text_of(object_of(link).get("featureId"))
    if not feature:
        # The number of a fix contains its feature.
        named = re.fullmatch(r"fix-(.+)-\d+", text_of(found["id"]))
        values["linked_to"] = named[1] if named else text_of(found["id"])
        return {}
    values["linked_to"] = feature
    taken.add("linkedTo")
    rest = without(object_of(link), "featureId")
    return {"linkedTo": rest} if rest else {}


def archive(item: Item, otherwise: datetime | None) -> Item:
    """Mark an archived item as archived, even if the archive does not say when that happened."""
    if item.archived_at is not None:
        return item
    moment = item.updated_at or otherwise or datetime.now(UTC)
    return msgspec.structs.replace(item, archived_at=moment)


# Writing


def write(documents: Documents, board: Board) -> None:
    """Write features and fixes: archived ones to the archive, the others to the active file."""
    archived = [each for each in board.items if each.is_archived]
    active = [each for each in board.items if not each.is_archived]
    if archived or documents.files.read(ARCHIVE) is not None:
        lists = {"archived": _of(archived, Feature), "archivedFixes": _of(archived, Fix)}
        documents.change(ARCHIVE, lambda found: _with_lists(found, lists, board))
    if board.items or documents.files.read(ACTIVE) is not None:
        lists = {"features": _of(active, Feature), "fixes": _of(active, Fix)}
        documents.change(ACTIVE, lambda found: _with_lists(found, lists, board))


def _of(items: Iterable[Item], kind: type[Any]) -> list[Item]:
    return [each for each in items if type(each) is kind]


def _with_lists(found: Plain, lists: dict[str, list[Item]], board: Board) -> Plain:
    """Return the document with each list updated; unknown items stay in it."""
    known = {each.id: each for each in board.items}
    result = {"version": 3, **found}
    for key, items in lists.items():
        standing = found.get(key)
        wanted = {each.id: each for each in items}
        kept = []
        for each in standing if isinstance(standing, list) else []:
            item_id = text_of(object_of(each).get("id"))
            if item_id in wanted and _is_known(each, board):
                kept.append(write_item(wanted.pop(item_id), each))
            elif item_id not in known or not _is_known(each, board):
                wanted.pop(item_id, None)
                kept.append(each)
        result[key] = [*kept, *(write_item(item, {}) for item in wanted.values())]
    return result


def _is_known(found: Plain, board: Board) -> bool:
    """Return whether an item in a file is one of our features or fixes, under any number."""
    item_id, created = found.get("id"), moment_of(found.get("createdAt"))
    return any(
        item_id in {item.id, item.extra.get(FORMER_ID)}
        and (item.name == found.get("name") or (created and created == item.created_at))
        for item in board.items
    )


def write_item(item: Item, standing: Plain) -> Plain:
    """Return an item in the layout's format; an unchanged one keeps its current form."""
    if standing and _is_shown(item, standing):
        return standing
    kept = object_of(item.extra.get(EXTRA))
    result = {**without(kept, "github", "linkedTo"), **standing, "id": item.id}
    if (shown := _read_standing(item, standing)) is None or shown.name != item.name:
        result["name"] = item.name
    for key in _find_keys(type(item)):
        ours, theirs = key.ours, key.theirs
        if shown is not None and theirs in standing and getattr(shown, ours) == getattr(item, ours):
            # This includes values that we store redacted: the file is theirs.
            continue
        value = getattr(item, ours)
        is_usual = value == _default(item, ours)
        is_foreign = theirs in result and key.kind.read(result[theirs]) is None
        if is_foreign and is_usual:
            continue
        if theirs in result or theirs in _ALWAYS or not is_usual:
            result[theirs] = key.kind.write(value)
    result["github"] = _write_github(item, object_of(kept.get("github")), standing)
    if isinstance(item, Fix):
        link = {**object_of(kept.get("linkedTo")), **object_of(standing.get("linkedTo"))}
        result = {**result, "linkedTo": {**link, "featureId": item.linked_to}}
        result.setdefault("type", _FIX_TYPE)
    if "passes" in item.extra:
        result["passes"] = item.extra["passes"]
    return result


def _is_shown(item: Item, standing: Plain) -> bool:
    shown = _read_standing(item, standing)
    if shown is None:
        return False
    former = {FORMER_ID: item.extra[FORMER_ID]} if FORMER_ID in item.extra else {}
    return msgspec.structs.replace(shown, extra={**shown.extra, **former}) == item


def _read_standing(item: Item, standing: Plain) -> Item | None:
    """Return an item as a file describes it, in the form in which we would store it."""
    found = _read(standing, type(item)) if standing else None
    return redact_value(found) if found is not None else None


def _write_github(item: Item, kept: Plain, standing: Plain) -> Plain:
    numbers = {"issueNumber": item.issue, "prNumber": item.pr, "branch": item.branch}
    known = {**kept, **object_of(standing.get("github"))}
    told = {key: each for key, each in numbers.items() if each is not None or key not in known}
    return {**known, **told}


def _default(item: Item, key: str) -> Any:
    fields = {field.name: field for field in msgspec.structs.fields(type(item))}
    field = fields[key]
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return None if field.default is msgspec.NODEFAULT else field.default
