"""Members of a JSON object are set in its text, and everything else stays."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.profiles.json_codec import with_members

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.text(max_size=4) | st.sampled_from(["a", "b"]), VALUES, max_size=5)
INDENTS = st.sampled_from([None, 0, 1, 4, "\t"])


@given(OBJECTS, OBJECTS, INDENTS, st.sampled_from(["", "\ufeff"]))
def test_the_members_are_set_and_the_others_are_as_they_were(
    before: dict[str, Any], members: dict[str, Any], indent: int | str | None, bom: str
) -> None:
    text = bom + json.dumps(before, indent=indent)

    after = with_members(text, members)

    assert after.startswith(bom)
    assert json.loads(after.removeprefix(bom)) == {**before, **members}


@given(OBJECTS, INDENTS)
def test_what_is_so_already_changes_no_character(
    before: dict[str, Any], indent: int | str | None
) -> None:
    text = json.dumps(before, indent=indent, ensure_ascii=False)

    assert with_members(text, before) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": 1, "k": 2}', '{"a": 1, "k": "new"}'),
        ('{ "k" : [1, 2] , "z":0 }\r\n', '{ "k" : "new" , "z":0 }\r\n'),
        ("{}", '{"k": "new"}'),
        ('{"a": 1}', '{"a": 1, "k": "new"}'),
        ('{\r\n  "a": 1\r\n}', '{\r\n  "a": 1,\r\n  "k": "new"\r\n}'),
        ('{"k": 1, "k": 2}', '{"k": 1, "k": "new"}'),
        ('{"a": {"k": 1}, "s": "}"}', '{"a": {"k": 1}, "s": "}", "k": "new"}'),
    ],
)
def test_only_the_value_is_written_anew(before: str, after: str) -> None:
    assert with_members(before, {"k": "new"}) == after


@pytest.mark.parametrize("text", ["", "[]", "{", "7", '{"a": }'])
def test_what_is_not_an_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        with_members(text, {"k": 1})
