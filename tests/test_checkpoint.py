import contextlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args, get_origin

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leftoff import checkpoint as module
from leftoff.checkpoint import (
    LIST_LIMIT,
    TEXT_LIMIT,
    Checkpoint,
    Record,
    address_user,
    cut_to_limits,
    decode,
    encode,
    id_time,
    is_id,
    json_schema,
    new_id,
    storable,
)
from leftoff.errors import CheckpointUnreadable
from stores import NOON, draft

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
unknown_keys = st.dictionaries(texts.map(lambda text: f"x-{text}"), json_values, max_size=3)
moments = st.integers(0, 200_000_000_000_000_000).map(
    lambda microseconds: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
)


def a_record(kind: type[Record], **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = {
        field.name: given[field.name] if field.name in given else _a_value(field, kind)
        for field in msgspec.structs.fields(kind)
        if field.name != "extra"
    }
    return st.builds(kind, extra=unknown_keys, **fields)


def _a_value(field: msgspec.structs.FieldInfo, kind: type[Record]) -> st.SearchStrategy[Any]:
    if kind is Checkpoint and field.name in module._PARTS:  # noqa: SLF001 - the one list of the records inside
        part = a_record(module._PARTS[field.name])  # noqa: SLF001
        return st.lists(part, max_size=2) if field.default == [] or _is_list(field) else _or(part)
    by_type: dict[Any, st.SearchStrategy[Any]] = {
        str: texts,
        int: st.integers(0, 2**53),
        bool: st.booleans(),
        list[str]: st.lists(texts, max_size=3),
        dict[str, str]: st.dictionaries(texts | st.just("__extra__"), texts, max_size=3),
    }
    if field.type in by_type:
        return by_type[field.type]
    if get_origin(field.type) is Literal:
        return st.sampled_from(get_args(field.type))
    if "float" in str(field.type):
        return _or(st.floats(0, 2e9, allow_nan=False))
    return _or(st.integers(0, 2**53) if "int" in str(field.type) else texts)


def _is_list(field: msgspec.structs.FieldInfo) -> bool:
    return str(field.type).startswith("list")


def _or(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


checkpoints = a_record(Checkpoint, saved_at=moments, as_of=st.none() | moments)


@given(checkpoints)
def test_what_is_encoded_is_decoded_to_the_same(checkpoint: Checkpoint) -> None:
    assert decode(encode(checkpoint)) == checkpoint


@given(checkpoints)
def test_unknown_keys_of_every_record_survive(checkpoint: Checkpoint) -> None:
    plain = json.loads(encode(checkpoint))

    assert checkpoint.extra.items() <= plain.items()
    for key in module._PARTS:  # noqa: SLF001 - the one list of the records inside
        value = getattr(checkpoint, key)
        for number, record in enumerate(value if isinstance(value, list) else [value]):
            if record is not None:
                found = plain[key][number] if isinstance(value, list) else plain[key]
                assert record.extra.items() <= found.items()
    assert json.loads(encode(decode(encode(checkpoint)))) == plain


def test_a_file_of_a_newer_version_is_written_back_with_all_it_said() -> None:
    newer = {
        "schema": 2,
        "id": "20261115T120000000Z-0badcafe",
        "saved_at": "2026-11-15T12:00:00Z",
        "trigger": "telepathy",
        "mood": {"level": [1, {"deep": None}]},
        "plan": {"path": "PLAN.md", "colour": "red"},
        "decisions": [{"what": "Use SQLite", "votes": 3}],
        "__extra__": {"odd": True},
    }

    assert json.loads(encode(decode(json.dumps(newer).encode()))) == newer


@given(st.binary(max_size=200))
@example(b"")
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b"\xef\xbb\xbf{}")
@example(b'{"schema":1e999}')
@example(b'{"schema":' + b"9" * 5000 + b"}")
@example(b'{"x":' + b"9" * 5000 + b"}")
@example(b'{"x":"\\ud800"}')
@example(b"\xff\xfe")
@example(b"null")
def test_any_bytes_are_a_checkpoint_or_are_refused(data: bytes) -> None:
    with contextlib.suppress(CheckpointUnreadable):
        assert isinstance(decode(data), Checkpoint)


@given(checkpoints, st.data())
def test_a_checkpoint_with_bytes_changed_is_read_or_reported_as_unreadable(
    checkpoint: Checkpoint, data: st.DataObject
) -> None:
    whole = bytearray(encode(checkpoint))
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place : place + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))

    try:
        again = decode(bytes(whole))
    except CheckpointUnreadable:
        return
    assert decode(encode(again)) == again


@pytest.mark.parametrize(
    "change",
    [
        {"id": None},
        {"saved_at": "2026-11-15T12:00:00"},
        {"saved_at": 5},
        {"schema": "1"},
        {"done": "one"},
        {"plan": []},
        {"files": [{"role": "no path"}]},
        {"next_action": {"text": "Go", "origin": "dreamt"}},
    ],
)
def test_a_known_key_of_the_wrong_kind_is_unreadable(change: dict[str, object]) -> None:
    plain = json.loads(encode(draft("login-form"))) | change

    with pytest.raises(CheckpointUnreadable):
        decode(json.dumps(plain).encode())


def test_the_stored_json_is_flat_indented_and_says_only_what_is_known() -> None:
    text = encode(draft("login-form")).decode()

    assert text.endswith("}\n")
    assert "\n " in text
    assert "null" not in text
    assert "__extra__" not in text


def test_the_schema_describes_what_is_stored() -> None:
    schema = json_schema()

    properties = schema["$defs"]["Checkpoint"]["properties"]
    assert set(properties) == set(Checkpoint.__struct_fields__) - {"extra"}
    assert "__extra__" not in json.dumps(schema)
    required = {"schema", "id", "saved_at", "trigger"}
    assert set(schema["$defs"]["Checkpoint"]["required"]) == required


# --- ids ---


@given(st.lists(moments, min_size=2, max_size=5))
def test_ids_sort_by_time(times: list[datetime]) -> None:
    by_id = sorted(times, key=lambda moment: new_id(moment)[:18])

    assert [each.replace(microsecond=each.microsecond // 1000) for each in by_id] == sorted(
        each.replace(microsecond=each.microsecond // 1000) for each in by_id
    )


@given(moments, moments)
def test_an_id_follows_the_one_before_even_if_the_clock_was_set_back(
    now: datetime, before: datetime
) -> None:
    former = new_id(before)

    assert new_id(now, after=former) > former


@given(moments)
def test_an_id_shows_its_moment_to_the_millisecond(moment: datetime) -> None:
    made = new_id(moment)

    assert is_id(made)
    assert timedelta(0) <= moment - id_time(made) < timedelta(milliseconds=1)


def test_ids_of_one_moment_differ() -> None:
    assert len({new_id(NOON) for _ in range(1000)}) == 1000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "20261115T120000000Z",
        "20261115T120000000Z-0BADCAFE",
        "20261115T120000000Z-0badcafe/",
        "20261115T120000000Z-0badcafe\n",
        "20261399T120000000Z-0badcafe",
        "20260230T120000000Z-0badcafe",
        "00000101T120000000Z-0badcafe",
        "99999999T999999999Z-00000000",
        "٢٠٢٦١١١٥T120000000Z-0badcafe",
        "../../../../etc/passwd",
    ],
)
def test_what_only_looks_like_an_id_is_none(text: str) -> None:
    assert not is_id(text)


# --- limits ---


def test_long_texts_and_lists_are_cut_and_reported() -> None:
    long = draft("login-form", notes=["n"] * (LIST_LIMIT + 1), left_off="x" * (TEXT_LIMIT + 1))

    cut, found = cut_to_limits(long)

    assert len(cut.notes) == LIST_LIMIT
    assert len(cut.left_off or "") == TEXT_LIMIT
    assert [each.split()[0] for each in found] == ["left_off", "notes"]


def test_what_is_within_the_limits_is_left_alone() -> None:
    fine = draft("login-form", notes=["n"] * LIST_LIMIT, left_off="x" * TEXT_LIMIT)

    assert cut_to_limits(fine) == (fine, [])


@given(st.text())
def test_any_text_can_be_stored(text: str) -> None:
    given = draft("login-form", "sum" + text, notes=[text], artifacts={text: text})

    kept = storable(given)

    assert decode(encode(kept)) == kept
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert kept == given


@pytest.mark.parametrize(
    ("action", "shown"),
    [
        ("Run pytest.", "Run pytest."),
        ("Ask the user to approve the plan: 1. Parse.", "Approve the plan: 1. Parse."),
        ("Ask the user again: Which port?", "Answer the question: Which port?"),
        ("Ask the user: Which port?", "Answer the question: Which port?"),
        ("Ask the user whether to go on with step 2.", "Decide whether to go on with step 2."),
        ("Ask the user before going on: Push it.", "Confirm first: Push it."),
        ("Ask the user what comes next. The agent said last: Done.", "The agent said last: Done."),
        ("Ask the user what comes next.", ""),
        ("Answer the prompt that is still waiting: Hi", "Your prompt is still waiting: Hi"),
        ("Ask the userbase team.", "Ask the userbase team."),
        (None, ""),
    ],
)
def test_a_next_action_for_an_agent_reads_as_one_for_the_user(
    action: str | None, shown: str
) -> None:
    assert address_user(action) == shown
