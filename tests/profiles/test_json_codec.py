"""Native JSON objects as tables: read in any spelling, written in the table's order."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.profiles.json_codec import (
    ALL_TEXTS,
    FLAG,
    MOMENT,
    SAID,
    Key,
    KeyTable,
    Kind,
    choose,
    is_number,
)


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What the table below reads."""

    name: str = ""
    attempts: int = 0
    state: str = "idle"
    files: list[str] = []
    at: datetime | None = None
    is_done: bool = False


NUMBER = Kind(lambda value: value if is_number(value) else None)
TABLE = KeyTable(
    Key("name", "featureName", SAID, ("title", "name")),
    Key("attempts", "attempts", NUMBER),
    Key("state", "status", choose(("idle", "open"))),
    Key("files", "relatedFiles", ALL_TEXTS),
    Key("at", "updatedAt", MOMENT),
    Key("is_done", "done", FLAG),
)
works = st.builds(
    Work,
    name=st.text(min_size=1),
    attempts=st.integers(),
    state=st.sampled_from(["idle", "open"]),
    files=st.lists(st.text(), max_size=3),
    at=st.datetimes(min_value=datetime(1971, 1, 1), timezones=st.just(UTC)) | st.none(),  # noqa: DTZ001
    is_done=st.booleans(),
)
anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(works)
def test_what_is_written_is_read_back(work: Work) -> None:
    written = TABLE.write(work)

    assert Work(**TABLE.read(written)) == work
    assert [*written] == TABLE.names


@given(st.dictionaries(st.sampled_from([*TABLE.names, "title", "zzz"]), anything))
def test_whatever_an_object_holds_it_is_read_and_the_rest_is_kept(found: dict[str, Any]) -> None:
    work = Work(**TABLE.read(found))

    assert isinstance(work.name, str)
    assert {*TABLE.rest(found)} == {*found} - {*TABLE.names}


@pytest.mark.parametrize("spelling", ["featureName", "title", "name"])
def test_a_key_is_known_by_each_of_its_spellings(spelling: str) -> None:
    assert TABLE.read({spelling: "Export"}) == {"name": "Export"}


def test_a_spelling_with_a_value_of_the_wrong_kind_does_not_hide_another() -> None:
    assert TABLE.read({"featureName": 3, "title": "Export"}) == {"name": "Export"}


def test_true_is_not_a_number_and_a_list_is_of_texts_alone() -> None:
    assert TABLE.read({"attempts": True, "relatedFiles": ["a", 1], "done": 1}) == {}
