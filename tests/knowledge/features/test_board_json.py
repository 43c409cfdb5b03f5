import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from leftoff.checkpoint import to_plain
from leftoff.knowledge.features.board import Board, Loop, decode, encode

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
# Keys of a newer version, at every level.
UNKNOWN = st.dictionaries(st.text(max_size=6).map(lambda text: f"x-{text}"), JSON, max_size=2)
TEXT = st.text(max_size=10)
MOMENTS = st.datetimes(timezones=st.just(None)).map(lambda moment: moment.isoformat() + "Z")


def records(**known: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda known, more: {**more, **known}, st.fixed_dictionaries(known), UNKNOWN)


SCENARIOS = st.lists(records(scenario=TEXT, given=TEXT, when=TEXT, then=TEXT), max_size=2)
ITEM = {
    "id": TEXT, "name": TEXT, "status": st.sampled_from(["pending", "passing"]),
    "scenarios": SCENARIOS, "verification": st.dictionaries(TEXT, JSON, max_size=2),
    "created_at": MOMENTS, "attempts": st.integers(0, 99),
}  # fmt: skip
RESULTS = st.lists(records(agent=TEXT, status=st.just("failed"), errors=st.lists(TEXT)), max_size=2)
BOARDS = records(
    features=st.lists(records(**ITEM, priority=st.integers() | TEXT), max_size=2),
    fixes=st.lists(records(**ITEM, linked_to=TEXT), max_size=2),
    orchestration=records(
        session=TEXT,
        results=RESULTS,
        team=records(name=TEXT, mates=RESULTS),
        decisions=st.lists(records(decision=TEXT), max_size=2),
    ),
)
LOOPS = records(
    feature=TEXT,
    status=st.just("in_progress"),
    history=st.lists(records(attempt=st.integers(1, 9), approach=TEXT, result=TEXT), max_size=2),
    tasks=records(enabled=st.booleans(), chain=st.lists(TEXT)),
    interrupted=records(feature=TEXT, attempt=st.integers(), reason=TEXT, at=MOMENTS),
)


def without_defaults(plain: Any) -> Any:
    """Leave out what is not written: nothing, and what is empty."""
    if isinstance(plain, list):
        return [without_defaults(each) for each in plain]
    if isinstance(plain, dict):
        inner = {key: without_defaults(value) for key, value in plain.items()}
        return {key: value for key, value in inner.items() if value not in (None, "", [], {}, 0)}
    return plain


@given(BOARDS)
def test_a_board_keeps_every_key_it_knows_and_every_one_it_does_not(plain: dict[str, Any]) -> None:
    board = decode(json.dumps(plain).encode(), Board)

    assert decode(encode(board), Board) == board
    assert set(plain) - {"features", "fixes", "orchestration"} == set(board.extra)
    for kept, given_ in zip(to_plain(board).get("features", []), plain["features"], strict=True):
        unknown = {key: value for key, value in given_.items() if key.startswith("x-")}
        assert unknown.items() <= kept.items()


@given(LOOPS)
def test_a_loop_keeps_every_key_it_knows_and_every_one_it_does_not(plain: dict[str, Any]) -> None:
    loop = decode(json.dumps(plain).encode(), Loop)

    assert decode(encode(loop), Loop) == loop
    written = json.loads(encode(loop))
    for kept, given_ in zip(written.get("history", []), plain["history"], strict=True):
        assert without_defaults(given_) == without_defaults(kept)
    assert without_defaults(plain["tasks"]) == without_defaults(written.get("tasks", {}))
