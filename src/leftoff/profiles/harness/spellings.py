"""Understand values that another program or a language model wrote in a form of its own.

A list may be a single text or an object, an item of a list may be an object, a number may be a
text. Reading returns the usual form. Writing keeps the form in the file wherever it still means
the same.
"""

import functools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from leftoff.profiles.json_codec import Kind, Plain, is_number, moment_of
from leftoff.text.times import is_plausible

# Keys that may hold the words of an item, in order of preference.
_WORDS = (
    *("decision", "what", "text", "task", "action", "step", "title", "name", "summary"),
    *("description", "message", "content", "path", "file"),
)
_MARK = re.compile(r"\s*(?:[-*•+]|\d+[.)]|\[[ xX]\])\s+")
_NUMBER = re.compile(r"#?\s*(\d{1,15})")
_TRUE, _FALSE = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})


def find_key(found: Mapping[str, Any], name: str) -> str:
    """Return the key that means this name, such as `next_steps` for `nextSteps`."""
    if name in found:
        return name
    wanted = _squeeze(name)
    return next((key for key in found if _squeeze(key) == wanted), name)


@functools.lru_cache(maxsize=1024)  # the entries of a file have the same keys
def _squeeze(key: str) -> str:
    return re.sub(r"[^a-z0-9]", "", key.lower())


def respell(found: Plain, names: Iterable[str]) -> Plain:
    """Return an object in which these keys have their usual spelling."""
    usual = {key: name for name in names if (key := find_key(found, name)) in found}
    return {usual.get(key, key): value for key, value in found.items()}


def words_of(value: object) -> str:
    """Return what a value says in one text, whatever its type."""
    if isinstance(value, str):
        return value if value.strip() else ""
    if isinstance(value, dict):
        named = (value[key] for key in _WORDS if isinstance(value.get(key), str))
        return next((each for each in named if each.strip()), _join_members(value))
    if isinstance(value, list):
        return "; ".join(filter(None, map(words_of, value)))
    return "" if value is None else json.dumps(value)


def _join_members(value: Plain) -> str:
    said = ((key, words_of(each)) for key, each in value.items())
    return ", ".join(f"{key}: {text}" for key, text in said if text)


def list_words(value: object) -> list[str]:
    """Return the texts of a list; a text alone may be a list, with an item on each line."""
    if isinstance(value, str):
        return [text for line in value.splitlines() if (text := _MARK.sub("", line).strip())]
    if isinstance(value, dict):
        return [words_of({key: each}) for key, each in value.items() if words_of(each)]
    if isinstance(value, list):
        return [text for each in value if (text := words_of(each))]
    return [words_of(value)] if value is not None else []


def keep_form(standing: object, texts: Sequence[str]) -> object:
    """Return texts as a list in which each one that the file has keeps its form."""
    if standing is not None and list_words(standing) == [*texts]:
        return standing
    forms = {words_of(each): each for each in standing} if isinstance(standing, list) else {}
    return [forms.get(text, text) for text in texts]


def list_items(value: object, key: str) -> list[Any]:
    """Return the items of a list; an object of objects is a list with the keys as ids.

    `key` is where an item that is only a text keeps its words.
    """
    if isinstance(value, dict):
        return [
            {"id": name, **(each if isinstance(each, dict) else {key: each})}
            for name, each in value.items()
        ]
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def item_of(value: object, key: str) -> Plain:
    """Return an item as an object; a text alone is an object with only its words."""
    if isinstance(value, dict):
        return value
    text = words_of(value)
    return {key: text} if text else {}


# Dates as people write them; one with slashes begins with the year, or its order is unknown.
_DATE_FORMS = (
    *("%Y/%m/%d", "%Y/%m/%d %H:%M", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y"),
    *("%B %d %Y", "%b %d %Y", "%d.%m.%Y", "%Y-%m-%d %H:%M UTC", "%Y-%m-%d %H:%M:%S UTC"),
)
_MILLISECONDS = 10**11


def loose_moment(value: object) -> datetime | None:
    """Parse a moment in any usual form: ISO 8601, a date in words, or seconds since 1970."""
    if isinstance(value, int) and is_number(value):
        seconds = value / 1000 if value > _MILLISECONDS else value
        found = datetime.fromtimestamp(seconds, UTC) if 0 < seconds < _MILLISECONDS else None
        return found if found and is_plausible(found) else None
    if not isinstance(value, str):
        return None
    text = " ".join(value.split())
    return moment_of(text) or next(filter(None, (_parse(text, form) for form in _DATE_FORMS)), None)


def _parse(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form).replace(tzinfo=UTC)
    except ValueError:
        return None


def feature_id_of(value: object) -> str:
    """Return the id of a feature; it may be a number."""
    return f"feature-{value:03d}" if is_number(value) else value if isinstance(value, str) else ""


def number_of(value: object) -> int | None:
    """Return a number; it may be a text such as `12` or `#12`."""
    if isinstance(value, str):
        found = _NUMBER.fullmatch(value.strip())
        return int(found[1]) if found else None
    return value if isinstance(value, int) and is_number(value) else None


def flag_of(value: object) -> bool | None:
    """Return whether a value means yes or no; None if it means neither."""
    if isinstance(value, bool):
        return value
    said = words_of(value).strip().lower()
    return True if said in _TRUE else False if said in _FALSE else None


def spell_status(known: Iterable[str], others: Mapping[str, str]) -> Kind:
    """Return the kind for one of a set of words, in any case and with any dashes.

    `others` are further words, and the known one that each of them means.
    """
    words = {_squeeze(word): word for word in known}
    words = {**{_squeeze(word): meant for word, meant in others.items()}, **words}
    return Kind(lambda value: words.get(_squeeze(value)) if isinstance(value, str) else None)


WORDS_LIST = Kind(lambda value: list_words(value) if value is not None else None)
"""Texts in any form."""
LOOSE_NUMBER = Kind(number_of)
