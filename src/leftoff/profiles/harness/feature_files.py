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
from leftoff.knowledge.features.import_features import FORMER_ID, find_known
from leftoff.knowledge.features.numbering import pick_feature_id, pick_fix_id
from leftoff.profiles.harness.documents import Documents
from leftoff.profiles.harness.spellings import (
    LOOSE_NUMBER,
    WORDS_LIST,
    feature_id_of,
    flag_of,
    item_of,
    keep_form,
    list_items,
    loose_moment,
    number_of,
    spell_status,
    words_of,
)
from leftoff.profiles.json_codec import (
    ALL_TEXTS,
    MOMENT,
    OBJECT,
    Key,
    KeyTable,
    Kind,
    Plain,
    is_number,
    object_of,
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
_STATUS = spell_status(
    ("pending", "needs_tests", "in_progress", "passing", "failing", "blocked", "escalated"),
    {
        **dict.fromkeys(("done", "complete", "completed", "passed", "passes", "pass"), "passing"),
        **dict.fromkeys(("todo", "to do", "open", "planned", "not started", "new"), "pending"),
        **dict.fromkeys(("started", "active", "wip", "doing"), "in_progress"),
        **dict.fromkeys(("fail", "failed", "broken"), "failing"),
    },
)


def _read_scenarios(value: object) -> object:
    """Return scenarios; each may be a sentence instead of an object."""
    if not isinstance(value, list):
        return None
    known = {"scenario", "given", "when", "then"}
    found = [item_of(each, "scenario") for each in value]
    is_fit = all(
        each and all(isinstance(each[key], str) for key in known & {*each}) for each in found
    )
    return found if is_fit else None


def _read_links(value: object) -> list[str] | None:
    """Return ids of features; each may be a number."""
    found = [feature_id_of(each) for each in value] if isinstance(value, list) else []
    return found if isinstance(value, list) and all(found) else None


def _write_scenario(scenario: Scenario) -> Plain:
    keys = ("scenario", "given", "when", "then")
    return {**{key: getattr(scenario, key) for key in keys}, **scenario.extra}


_SCENARIOS = Kind(_read_scenarios, lambda value: [_write_scenario(each) for each in value])
_MOMENT = Kind(loose_moment, MOMENT.write)
# Keys as language models spell them.
_SCENARIO_KEYS = ("acceptance_criteria", "acceptance", "criteria", "scenarios")
_FIX = KeyTable(
    Key("description", "description"),
    Key("status", "status", _STATUS),
    Key("phase", "phase"),
    Key("verification", "verification", OBJECT),
    Key("attempts", "attempts", LOOSE_NUMBER),
    Key("max_attempts", "maxAttempts", LOOSE_NUMBER, ("max_attempts",)),
    Key("scenarios", "acceptanceCriteria", _SCENARIOS, _SCENARIO_KEYS),
    Key("related_files", "relatedFiles", WORDS_LIST, ("related_files", "files")),
    Key("labels", "labels", ALL_TEXTS),
    Key("created_at", "createdAt", _MOMENT),
    Key("updated_at", "updatedAt", _MOMENT),
    Key("archived_at", "archivedAt", _MOMENT),
)
_LINKS = Kind(_read_links)
_PRIORITY = Kind(lambda value: value if isinstance(value, str) or is_number(value) else None)
_FEATURE = KeyTable(
    *_FIX.keys,
    Key("priority", "priority", _PRIORITY),
    Key("dependencies", "dependencies", _LINKS),
)
_GITHUB = (
    ("issue", ("issueNumber", "issue_number", "issue")),
    ("pr", ("prNumber", "pr_number", "pr")),
)
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
    return [item for each in _with_ids(found, Feature) if (item := _read(each, Feature))]


def read_fixes(found: object) -> list[Fix]:
    """Return the fixes of a list."""
    return [item for each in _with_ids(found, Fix) if (item := _read(each, Fix))]


def _with_ids(found: object, kind: type[Any]) -> list[Plain]:
    """Return items as objects with an id; one without gets the next free number.

    So does an item whose number another one before it has.
    """
    items = [item_of(each, "name") for each in list_items(found, "name")]
    ids = [_read_id(each, kind) for each in items]
    taken: dict[str, str] = {}
    result = []
    for item, item_id in zip(items, ids, strict=True):
        name = _name_in(item)
        if (not item_id and name) or taken.get(item_id, name) != name:
            item_id = _pick_next_id(item, kind, [*ids, *taken])  # noqa: PLW2901 - it had none
        if item_id:
            taken[item_id] = name
        result.append({**item, "id": item_id} if item_id else item)
    return result


def _read_id(found: Plain, kind: type[Any]) -> str:
    """Return the id of an item; it may be a number."""
    value = found.get("id")
    if not is_number(value):
        return text_of(value)
    return f"fix-{_linked_in(found)}-{value}" if issubclass(kind, Fix) else feature_id_of(value)


def _pick_next_id(found: Plain, kind: type[Any], taken: Iterable[str]) -> str:
    is_fix = issubclass(kind, Fix)
    return pick_fix_id(taken, _linked_in(found)) if is_fix else pick_feature_id(taken)


def _linked_in(found: Plain) -> str:
    """Return the feature that a fix repairs, if it says so."""
    link = found.get("linkedTo")
    said = _read_linked(link)
    # The number of a fix contains its feature.
    named = re.fullmatch(r"fix-(.+)-\d+", text_of(found.get("id")))
    return said or (named[1] if named else "") or text_of(found.get("id")) or "feature-000"


def _name_in(found: Plain) -> str:
    """Return the name of an item; one without an id is named after what it says."""
    named = (text for key in ("name", "title") if (text := words_of(found.get(key))))
    return next(named, "" if "id" in found else words_of(found))


def _read(found: Plain, kind: type[ItemType]) -> ItemType | None:
    item_id = text_of(found.get("id"))
    name = _name_in(found) or item_id
    if not item_id:
        return None
    values: Plain = {"id": item_id, "name": name}
    taken = {"id", "name"} if "name" in found else {"id"}
    for key in _find_keys(kind):
        name, value = key.find(found)
        if value is not None:
            values[key.ours] = value
        # A list of objects says more than its words.
        is_odd = key.kind is WORDS_LIST and isinstance(found.get(name), list)
        is_odd = is_odd and any(isinstance(each, dict) and len(each) > 1 for each in found[name])
        if (value is not None or found.get(name) is None) and not is_odd:
            taken.add(name)
    github = _read_github(object_of(found.get("github")), found, values, taken)
    linked = _read_link(found, values, taken) if issubclass(kind, Fix) else {}
    if issubclass(kind, Fix) and found.get("type") == _FIX_TYPE:
        taken.add("type")
    passes = flag_of(found.get("passes"))
    rest = {**without(found, *taken, *(["passes"] if passes is not None else [])), **github}
    rest |= linked
    extra = {"passes": passes} if passes is not None else {}
    return from_plain({**values, **extra, **({EXTRA: rest} if rest else {})}, kind)


def _find_keys(kind: type[Any]) -> Sequence[Key]:
    return (_FEATURE if kind is Feature else _FIX).keys


def _read_github(github: Plain, found: Plain, values: Plain, taken: set[str]) -> Plain:
    """Read issue, pull request and branch; older files have them outside of `github`."""
    rest = dict(github)
    for ours, names in _GITHUB:
        if (name := _find_number(rest, names)) is not None:
            values[ours] = number_of(rest.pop(name))
        elif (name := _find_number(found, names)) is not None:
            values[ours] = number_of(found[name])
            taken.add(name)
    if isinstance(rest.get("branch"), str):
        values["branch"] = rest.pop("branch")
    if "github" in found:
        taken.add("github")
    rest = {key: value for key, value in rest.items() if value is not None}
    return {"github": rest} if rest else {}


def _find_number(found: Plain, names: Sequence[str]) -> str | None:
    """Return the first of these keys that has a number."""
    return next((name for name in names if number_of(found.get(name)) is not None), None)


def _read_link(found: Plain, values: Plain, taken: set[str]) -> Plain:
    values["linked_to"] = _linked_in(found)
    link = found.get("linkedTo")
    if (issue := number_of(object_of(link).get("issueNumber"))) is not None:
        values["related_issue"] = issue
    if not _read_linked(link):
        return {}
    taken.add("linkedTo")
    rest = without(object_of(link), "featureId")
    return {"linkedTo": rest} if rest else {}


def _read_linked(link: object) -> str:
    named = (feature_id_of(object_of(link).get(key)) for key in ("featureId", "feature", "id"))
    return next(filter(None, named), "") or feature_id_of(link)


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
    # An item that moves from one file to the other keeps its form.
    forms = _list_forms(documents, board)
    if archived or documents.files.read(ARCHIVE) is not None:
        lists = {
            "archived": _keep_kind(archived, Feature),
            "archivedFixes": _keep_kind(archived, Fix),
        }
        documents.change(
            ARCHIVE, lambda found: _with_lists(found, lists, board, forms), key="archived"
        )
    if board.items or documents.files.read(ACTIVE) is not None:
        lists = {"features": _keep_kind(active, Feature), "fixes": _keep_kind(active, Fix)}
        documents.change(
            ACTIVE, lambda found: _with_lists(found, lists, board, forms), key="features"
        )


def _keep_kind(items: Iterable[Item], kind: type[Any]) -> list[Item]:
    return [each for each in items if type(each) is kind]


def _list_forms(documents: Documents, board: Board) -> dict[str, Plain]:
    """Return each item as its file shows it."""
    forms: dict[str, Plain] = {}
    for path, keys in ((ARCHIVE, ("archived", "archivedFixes")), (ACTIVE, ("features", "fixes"))):
        found = documents.read(path)
        for key in keys:
            kind: type[Item] = Fix if key.lower().endswith("fixes") else Feature
            for shown in _with_ids(found.get(key), kind):
                if (item := _find_item(shown, kind, board)) is not None:
                    forms[item.id] = without(shown, "archivedAt")
    return forms


def _with_lists(
    found: Plain, lists: dict[str, list[Item]], board: Board, forms: dict[str, Plain]
) -> Plain:
    """Return the document with each list updated; unknown items stay in it."""
    result = {**found}
    for key, items in lists.items():
        standing = found.get(key)
        wanted = {each.id: each for each in items}
        kept: list[Any] = []
        listed = list_items(standing, "name")
        kind: type[Item] = Fix if key.lower().endswith("fixes") else Feature
        named = _with_ids(standing, kind)
        for each, shown in zip(listed, named, strict=True):
            item = _find_item(shown, kind, board)
            if item is None:
                # Something that we cannot read, or that nobody imported yet.
                kept.append(each)
            elif item.id in wanted:
                # An archive need not say when; a time that we had to assume is not written there.
                is_assumed = item.is_archived and "archivedAt" not in shown
                item = wanted.pop(item.id)
                if is_assumed:
                    item = msgspec.structs.replace(item, archived_at=None)
                written = write_item(item, shown)
                is_numbered = isinstance(each, dict) and text_of(each.get("id"))
                # An item that says the same keeps its own form, even one that is only a text.
                is_same = written == shown and is_numbered in {written["id"], "", False}
                kept.append(each if is_same else written)
        rows = [*kept, *(write_item(item, forms.get(item.id, {})) for item in wanted.values())]
        # A list in another form keeps it as long as nothing in it changes.
        is_same = rows == listed and standing is not None
        if rows or standing is not None or not found:
            result[key] = standing if is_same else rows
    return found if result == found else {"version": 3, **result}


def _find_item(found: Plain, kind: type[Item], board: Board) -> Item | None:
    """Find the feature or fix that an item in a file describes, whatever its number."""
    item = _read(found, kind)
    return find_known(board, redact_value(item), may_rename=True) if item is not None else None


def write_item(item: Item, standing: Plain) -> Plain:
    """Return an item in the layout's format; an unchanged one keeps its current form."""
    if standing and _is_shown(item, standing):
        return standing
    kept = object_of(item.extra.get(EXTRA))
    first = standing or {"id": item.id, "name": item.name}
    result = {**first, **without(kept, "github", "linkedTo", *standing), "id": item.id}
    if (shown := _read_standing(item, standing)) is None or shown.name != item.name:
        result["name"] = item.name
    _write_values(item, shown, standing, result)
    github = _write_github(item, object_of(kept.get("github")), standing, result)
    if github or "github" in result:
        result["github"] = github
    if isinstance(item, Fix):
        link = object_of(standing.get("linkedTo"))
        link = {**link, **object_of(kept.get("linkedTo")), **link}
        result = {**result, "linkedTo": {**link, "featureId": item.linked_to}}
        if not standing:
            result.setdefault("type", _FIX_TYPE)
    if "passes" in item.extra:
        result["passes"] = item.extra["passes"]
    return result


def _write_values(item: Item, shown: Item | None, standing: Plain, result: Plain) -> None:
    """Set the values that differ from what the file shows."""
    kept = object_of(item.extra.get(EXTRA))
    for key in _find_keys(type(item)):
        ours, theirs = key.ours, key.find(standing)[0]
        if shown is not None and theirs in standing and getattr(shown, ours) == getattr(item, ours):
            # This includes values that we store redacted: the file is theirs.
            continue
        value = getattr(item, ours)
        is_usual = value == _find_default(item, ours)
        is_foreign = theirs in result and key.kind.read(result[theirs]) is None
        # An earlier version stored other spellings as they were.
        if is_usual and (is_foreign or theirs in kept):
            continue
        if key.kind is WORDS_LIST and theirs in result:
            result[theirs] = keep_form(result[theirs], value)
        elif theirs in result or not is_usual or (theirs in _ALWAYS and not standing):
            result[theirs] = key.kind.write(value)


def _is_shown(item: Item, standing: Plain) -> bool:
    shown = _read_standing(item, standing)
    if shown is None:
        return False
    former = {FORMER_ID: item.extra[FORMER_ID]} if FORMER_ID in item.extra else {}
    return msgspec.structs.replace(shown, extra={**shown.extra, **former}) == item


def _read_standing(item: Item, standing: Plain) -> Item | None:
    """Return an item as a file describes it, in the form in which we would store it."""
    found = _read(standing, type(item)) if standing else None
    if found is None:
        return None
    return redact_value(found)


def _write_github(item: Item, kept: Plain, standing: Plain, result: Plain) -> Plain:
    """Return issue, pull request and branch; those that a file has outside stay outside."""
    known = {**kept, **object_of(standing.get("github"))}
    numbers: Plain = {}
    for ours, names in _GITHUB:
        number = getattr(item, ours)
        inside, outside = _find_number(known, names), _find_number(standing, names)
        if inside is None and outside is not None:
            if number != number_of(standing[outside]):
                result[outside] = number
        else:
            numbers[inside or names[0]] = number
    numbers["branch"] = item.branch
    changed = {
        key: each
        for key, each in numbers.items()
        if each is not None or (key not in known and not standing)
    }
    return {**known, **changed}


def _find_default(item: Item, key: str) -> Any:
    fields = {field.name: field for field in msgspec.structs.fields(type(item))}
    field = fields[key]
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return None if field.default is msgspec.NODEFAULT else field.default
