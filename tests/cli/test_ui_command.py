"""`leftoff ui` serves the current project or all of them, and says what is missing."""

import os
import sys
from pathlib import Path

import pytest

import leftoff
from gitrepo import Repo
from leftoff.cli import ui_command
from leftoff.context import Environment
from web.serving import serve, start


def _save(folder: Path, name: str) -> None:
    with leftoff.open_project(folder, variables=os.environ) as work:
        work.save(name, summary=f"Work on {name}", next_action="Go on")


def test_everywhere_shows_the_other_projects_too(repo: Repo, tmp_path: Path) -> None:
    other = Repo.begun(tmp_path / "other")
    _save(repo.folder, "here")
    _save(other.folder, "there")
    with serve(repo.folder) as page:
        page.log_in()
        overview = page.ask("/").text
        assert "Work on here" in overview
        assert "Work on there" not in overview
    with serve(Path(os.environ["HOME"]), "--everywhere") as page:
        page.log_in()
        overview = page.ask("/").text
        assert "Work on here" in overview
        assert "Work on there" in overview
        assert "2 threads to pick up, in 2 projects." in overview


def test_outside_a_project_it_needs_everywhere() -> None:
    process = start(Path(os.environ["HOME"]))

    output, _ = process.communicate(timeout=120)

    assert process.returncode == 1
    assert "is not a project" in output


def test_missing_packages_are_named_with_the_way_to_install_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ui_command, "_NEEDED", ("starlette", "no_such_package"))

    with pytest.raises(leftoff.LeftoffError, match="not installed: no_such_package") as refused:
        ui_command.insist_on_extra()

    assert "leftoff-agents[ui]" in refused.value.hint


@pytest.mark.parametrize("variable", ["DISPLAY", "WAYLAND_DISPLAY"])
def test_a_browser_opens_only_where_there_is_a_screen(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")

    assert ui_command.has_screen(Environment({variable: ":0"}))
    assert not ui_command.has_screen(Environment({}))
