"""Whether hooks are wired is read from the agents' files, without loading what changes them."""

import subprocess
import sys
from pathlib import Path

import pytest

from leftoff.context import read_environment
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.foreign_files import write_or_remove
from leftoff.wiring.install_places import Places, find_places
from leftoff.wiring.wired_files import TABLES, find_file, is_wired


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.setenv("HOME", str(tmp_path))
    return find_places(read_environment())


def wire(agent: str, places: Places) -> None:
    for change in WIRINGS[agent].plan(places):
        write_or_remove(change, change.after)


def test_every_agent_that_can_be_wired_has_its_table() -> None:
    assert {agent: each.table for agent, each in WIRINGS.items()} == TABLES
    assert [*TABLES] == [*WIRINGS]


@pytest.mark.parametrize("agent", TABLES)
def test_an_agent_is_wired_once_its_file_has_the_hooks(agent: str, places: Places) -> None:
    assert not is_wired(TABLES[agent], places)
    wire(agent, places)
    assert is_wired(TABLES[agent], places)


@pytest.mark.parametrize("agent", [each for each in TABLES if not TABLES[each].is_own_file])
def test_an_odd_file_is_read_as_its_agent_reads_it(agent: str, places: Places) -> None:
    """A byte order mark, and comments where the agent allows them, do not hide the hooks."""
    wire(agent, places)
    path = find_file(TABLES[agent], places)
    wired = path.read_bytes()

    path.write_bytes(b"\xef\xbb\xbf" + wired)
    assert is_wired(TABLES[agent], places)
    path.write_bytes(b"// mine\n" + wired)
    assert is_wired(TABLES[agent], places) is TABLES[agent].has_comments


@pytest.mark.parametrize(
    "text", ["", "[]", "{torn", '{"hooks": 1}', '{"hooks": {"Stop": [1, {}]}}']
)
def test_a_file_without_hooks_is_not_wired(text: str, places: Places) -> None:
    path = find_file(TABLES["codex"], places)
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")

    assert not is_wired(TABLES["codex"], places)


def test_status_loads_nothing_that_edits_settings() -> None:
    program = "import sys, leftoff.wiring.hooks_state; print(*sys.modules)"

    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )

    heavy = {"json", "tomllib", "shutil", "tempfile", "importlib.resources"}
    heavy |= {"leftoff.wiring.agent_wirings", "leftoff.agents.codex.codex_dialect"}
    assert {*done.stdout.split()} & heavy == set()
