"""The names of replies and marks do not collide with the user's folders."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.letterboxes import BOXES, DISTINCT, Letterbox
from leftoff.hooks import replies, settle

STATE = Path("/home/dev/.local/state/leftoff")
NAMES = ("off", "wired.claude", "claude.Stop.any", "claude.Stop.any.ask", "ready", "1", "2", "=")
PARTS = st.lists(st.sampled_from(NAMES) | st.from_regex(r"[^/\0]{1,9}", fullmatch=True), max_size=6)
FOLDERS = PARTS.filter(lambda parts: not {".", ".."} & {*parts}).map(lambda p: "/" + "/".join(p))


@given(FOLDERS, FOLDERS, st.sampled_from(NAMES))
def test_no_mark_of_a_folder_is_in_the_way_of_another(one: str, other: str, name: str) -> None:
    mark = replies.place_of(STATE, one) / name
    place = replies.place_of(STATE, other)

    assert mark not in (place, *place.parents)
    assert (replies.place_of(STATE, one) == place) == (one == other)


@pytest.fixture(params=DISTINCT)
def box(request: pytest.FixtureRequest, tmp_path: Path) -> Letterbox:
    box = Letterbox(BOXES[request.param], tmp_path)
    box.install("true")
    return box


@pytest.mark.parametrize("name", ["off", "wired.claude", "claude.Stop.any", "claude.Stop.any.ask"])
def test_a_folder_named_like_a_mark_of_leftoff_changes_nothing(box: Letterbox, name: str) -> None:
    parent, child = box.folder, box.folder / name
    child.mkdir()
    box.folder = child
    box.reply("Stop", '{"of": "the child"}')
    box.env["CLAUDE_PLUGIN_ROOT"] = "/plugin"

    assert box.fire("Stop", b"{}", cwd=parent).stdout == b""
    assert len(box.spooled()) == 1
    box.folder = parent
    box.reply("Stop", '{"of": "the parent"}')
    assert box.fire("Stop", b"{}", cwd=parent).stdout == b'{"of": "the parent"}\n'
    assert box.fire("Stop", b"{}", cwd=child).stdout == b'{"of": "the child"}\n'


def test_a_folder_named_off_and_the_folder_around_it_are_switched_apart(box: Letterbox) -> None:
    child = box.folder / "off"
    child.mkdir()
    replies.switch(box.state, child, on=False)
    box.fire("Stop", b"{}", cwd=child)
    assert box.spooled() == []

    replies.switch(box.state, box.folder, on=False)
    box.fire("Stop", b"{}")
    assert box.spooled() == []

    replies.switch(box.state, child, on=True)
    box.fire("Stop", b"{}")
    assert box.spooled() == []
    box.fire("Stop", b"{}", cwd=child)
    assert len(box.spooled()) == 1


def test_a_switch_of_the_version_before_still_counts_until_it_is_switched_on(
    box: Letterbox,
) -> None:
    old = replies.old_place_of(box.state, box.folder)
    old.mkdir(parents=True)
    (old / "off").touch()

    box.fire("Stop", b"{}")
    assert box.spooled() == []

    replies.switch(box.state, box.folder, on=True)
    box.fire("Stop", b"{}")
    assert len(box.spooled()) == 1


def test_a_folder_whose_path_is_as_long_as_it_can_be_does_no_harm(box: Letterbox) -> None:
    deep = "/" + "/".join(["d" * 200] * 19)

    replies.switch(box.state, Path(deep), on=False)
    replies.put(replies.path_of(box.state, deep, "claude", "Stop", "s"), "{}")
    replies.switch(box.state, Path(deep), on=True)

    assert box.fire("Stop", b"{}").stdout == b""
    assert len(box.spooled()) == 1


def test_what_lies_below_a_folder_is_found_whatever_it_is_called(tmp_path: Path) -> None:
    folders = [Path("/p"), Path("/p/off"), Path("/p/off/claude.Stop.any"), Path("/q")]
    for folder in folders:
        path = replies.path_of(tmp_path, str(folder), "claude", "Stop", "any")
        replies.put(path, "{}")

    found = {*replies.below(tmp_path, Path("/p"))}

    assert found == {replies.place_of(tmp_path, each) / "claude.Stop.any" for each in folders[:3]}


def test_what_version_0_1_prepared_is_removed_and_its_switches_still_count(
    tmp_path: Path,
) -> None:
    state, old = tmp_path / "state", tmp_path / "state" / "replies"
    for path in ("w/a/off", "w/a/claude.Stop.s1", "w/b/wired.claude", "w/off/claude.Stop.s1"):
        (old / path).parent.mkdir(parents=True, exist_ok=True)
        (old / path).touch()
    old.chmod(0o700)

    assert settle.run(state)

    assert not old.exists()
    assert sorted(str(path.relative_to(state / "ready")) for path in below_all(state)) == [
        "3/w/a/off",
        "3/w/b/wired.claude",
    ]


def below_all(state: Path) -> list[Path]:
    return [path for path in (state / "ready").rglob("*") if path.is_file()]
