"""The page knows each project once, and looks at work where it was left off."""

import os
from pathlib import Path

import msgspec
import pytest
from starlette.requests import Request

import leftoff
from gitrepo import Repo
from leftoff.context import read_environment
from leftoff.errors import LeftoffError
from leftoff.web import attention_part
from leftoff.web.changes_part import check_where_left_off, describe_changes
from leftoff.web.site import Site
from recordings import leave_session


def make_site(*folders: Path) -> Site:
    return Site(read_environment(), lambda: [*folders])


def test_two_worktrees_are_one_project_and_a_folder_that_is_gone_is_none(
    repo: Repo, tmp_path: Path
) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "second"))
    site = make_site(repo.folder, tmp_path / "second", tmp_path / "gone")

    (only,) = site.list_projects()

    assert only.name == repo.folder.name
    assert site.find_project(only.key) == only
    with pytest.raises(LeftoffError):
        site.find_project("unknown")


def test_work_in_another_worktree_is_checked_there_and_no_other_folder_is_opened(
    repo: Repo, tmp_path: Path
) -> None:
    second = tmp_path / "second"
    repo.git("worktree", "add", "-q", "-b", "search", str(second))
    (second / "ranking.py").write_text("rank = 1\n", encoding="utf-8")
    with leftoff.open_project(second, variables=os.environ) as work:
        work.save("ranking", summary="Rank", next_action="Measure", files=["ranking.py"])
        checkpoint = work.load("ranking")
    site = make_site(repo.folder)
    (home,) = site.list_projects()

    checks = check_where_left_off(site, home, checkpoint)

    assert describe_changes(checks) == []
    elsewhere = msgspec.structs.replace(checkpoint, worktree=str(tmp_path / "home"))
    assert check_where_left_off(site, home, elsewhere).files[0].state == "missing"


def test_the_unsaved_sessions_of_a_project_are_one_tile(repo: Repo) -> None:
    environment = read_environment()
    for agent in ("claude", "gemini"):
        left = leave_session(agent, environment.find_agent_folder(agent), repo.folder)
        # Not just now, or it might still be running.
        os.utime(left, (left.stat().st_mtime - 3600,) * 2)

    matters = attention_part.show(Request({"type": "http"}), make_site(repo.folder))["matters"]

    unsaved = [each for each in matters if each.kind == "unsaved"]
    assert [each.title for each in unsaved] == ["2 unsaved sessions"]
    assert unsaved[0].command.startswith("leftoff recover")
