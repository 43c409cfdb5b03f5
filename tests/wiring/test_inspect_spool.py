"""What doctor reports as strange in leftoff's own folder."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from leftoff import context
from leftoff.context import read_environment
from leftoff.wiring import inspect_spool
from leftoff.wiring.findings import World
from leftoff.wiring.install_places import find_places


def _link(path: Path) -> None:
    path.symlink_to("/tmp")


def test_a_damaged_name_of_the_python_is_told() -> None:
    state = context.state_folder()
    state.mkdir(parents=True)
    with (state / "python").open("wb") as file:
        file.truncate(1 << 40)

    (found,) = inspect_spool.check_places(World(places=find_places(read_environment())))

    assert found.level == "broken"
    assert f"{state / 'python'} is too large" in found.what


@pytest.mark.parametrize("plant", [os.mkfifo, _link], ids=["a FIFO", "a link"])
@pytest.mark.parametrize(
    "name",
    ["spool", "poison", "ready", "python", "trouble.jsonl", "key", "locks", "allowed"],
)
def test_what_was_planted_there_is_reported(name: str, plant: Callable[[Path], None]) -> None:
    state = context.state_folder()
    state.mkdir(parents=True)
    world = World(places=find_places(read_environment()))
    assert [*inspect_spool.check_places(world)] == []

    plant(state / name)

    (found,) = inspect_spool.check_places(world)
    assert found.level == "broken"
    assert str(state / name) in found.what
    # The other checks neither follow it nor wait for it.
    for check in (
        inspect_spool.check_spool,
        inspect_spool.check_poison,
        inspect_spool.check_trouble,
    ):
        assert [*check(world)] or check is inspect_spool.check_poison
