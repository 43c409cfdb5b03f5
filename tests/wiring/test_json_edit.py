"""Edits of JSON text change what they are meant to, and not one other character."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.wiring import json_edit

KEYS = st.text(max_size=5) | st.sampled_from(["hooks", "Stop", '"', "\\", "ü", "\u2028"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
SPACE = st.text(" \t\r\n", max_size=3)


@st.composite
def texts(draw: st.DrawFn, values: st.SearchStrategy[Any] = OBJECTS) -> str:
    """Write a value in any layout that JSON allows."""
    return f"{draw(SPACE)}{_written(draw, draw(values))}{draw(SPACE)}"


def _written(draw: st.DrawFn, value: Any) -> str:
    def spaced(text: str) -> str:
        return f"{draw(SPACE)}{text}{draw(SPACE)}"

    if isinstance(value, dict):
        members = (
            f"{spaced(json.dumps(key, ensure_ascii=draw(st.booleans())))}:"
            f"{spaced(_written(draw, inner))}"
            for key, inner in value.items()
        )
        return "{" + (",".join(members) or draw(SPACE)) + "}"
    if isinstance(value, list):
        return "[" + (",".join(spaced(_written(draw, each)) for each in value) or draw(SPACE)) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@given(texts(), VALUES)
def test_what_is_appended_is_there_and_all_else_is_the_same(text: str, value: Any) -> None:
    before = json.loads(text)
    key = next((key for key, inner in before.items() if isinstance(inner, list)), "new key")

    after = json_edit.append(text, (key,), value)

    expected = {**before, key: [*before.get(key, []), value]}
    assert json.loads(after) == expected
    assert list(json.loads(after)) == list(expected)
    assert _is_insertion(text, after)


@given(texts(), VALUES, st.lists(KEYS, min_size=1, max_size=3))
def test_a_path_that_is_missing_is_made(text: str, value: Any, path: list[str]) -> None:
    path = ["a key that is not there", *path]
    after = json_edit.append(text, path, value)

    found: Any = json.loads(after)
    for key in path:
        found = found[key]
    assert found == [value]
    assert _is_insertion(text, after)


@given(texts(), VALUES)
def test_removing_what_was_appended_gives_the_same_characters(text: str, value: Any) -> None:
    before = json.loads(text)
    after = json_edit.append(text, ("new key",), value)
    removed = json_edit.remove(after, ("new key",))

    # Space inside braces that held nothing is the one thing that cannot be brought back.
    assert removed == text or (not before and "".join(removed.split()) == "{}")


@given(texts(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4)), st.data())
def test_what_is_removed_is_gone_and_all_else_is_the_same(text: str, data: st.DataObject) -> None:
    before = json.loads(text)
    key = data.draw(st.sampled_from(sorted(before)))

    after = json_edit.remove(text, (key,))

    assert json.loads(after) == {each: value for each, value in before.items() if each != key}
    assert _is_insertion(after, text)


@given(texts(st.lists(VALUES, min_size=1, max_size=4)), st.data())
def test_an_item_is_removed_by_its_number(text: str, data: st.DataObject) -> None:
    before = json.loads(text)
    place = data.draw(st.integers(0, len(before) - 1))
    text = f'{{"a": {text}}}'

    assert json.loads(json_edit.remove(text, ("a", place)))["a"] == [
        *before[:place],
        *before[place + 1 :],
    ]


def _is_insertion(short: str, long: str) -> bool:
    """Say whether one text is the other with one piece put in; space in empty braces may go."""
    head = _common(short, long)
    tail = _common(short[head:][::-1], long[head:][::-1])
    return not short[head : len(short) - tail].strip()


def _common(one: str, other: str) -> int:
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in pairs)


INDENTED = '{\n    "a": 1,\n    "list": [\n        1\n    ]\n}\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", '{\n  "list": [\n    2\n  ]\n}'),
        ('{"a":1}', '{"a":1,"list":[2]}'),
        ('{"a": 1}', '{"a": 1, "list": [2]}'),
        ('{ "a": 1 }', '{ "a": 1, "list": [2] }'),
        ('{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "list": [\n    2\n  ]\n}\n'),
        ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"list": [\n\t\t2\n\t]\n}'),
        ('{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "list": [\r\n    2\r\n  ]\r\n}\r\n'),
        (INDENTED, INDENTED.replace("        1\n", "        1,\n        2\n")),
        ('{\n  "list": []\n}', '{\n  "list": [\n    2\n  ]\n}'),
        ('{"list": []}', '{"list": [2]}'),
        ('{\n  "list": [1]\n}', '{\n  "list": [1, 2]\n}'),
    ],
)
def test_new_text_is_laid_out_like_the_old(text: str, expected: str) -> None:
    assert json_edit.append(text, ("list",), 2) == expected


def test_of_equal_keys_the_last_one_counts() -> None:
    after = json_edit.append('{"a": [1], "a": [2]}', ("a",), 3)

    assert after == '{"a": [1], "a": [2, 3]}'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1, column 1"),
        # Python 3.13 and later name the comma, earlier ones what follows it.
        ('{\n  "a": 1,\n}', "line (2, column 9|3, column 1)"),
        ('{\n  "a" 1\n}', "line 2, column 7"),
        ('{\n  // a comment\n  "a": 1\n}', "line 2, column 3"),
        ('{"a": NaN}', "NaN is not valid in JSON"),
        ("{} {}", "line 1, column 4"),
        ('{"a": "\n"}', "line 1, column 8"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_not_json_is_refused_with_the_place(text: str, why: str) -> None:
    with pytest.raises(json_edit.NotJson, match=why):
        json_edit.append(text, ("a",), 1)


def test_nesting_too_deep_for_us_is_refused_like_any_other_text() -> None:
    text = '{"a":' * 900 + "1" + "}" * 900

    with pytest.raises(json_edit.NotJson, match="nested too deeply"):
        json_edit.append(text, ("b",), 1)
