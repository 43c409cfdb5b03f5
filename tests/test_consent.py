from pathlib import Path

import msgspec
import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff import config, consent
from leftoff.context import find_project, read_environment
from leftoff.projects.project import Project


@pytest.fixture
def project(repo: Repo) -> Project:
    return find_project(repo.folder)


def put(project: Project, text: str) -> config.Loaded:
    """Write the project's settings as someone else would: not by a command of the user's."""
    project.store.mkdir(exist_ok=True)
    config.find_project_file(project).write_text(text, encoding="utf-8")
    return config.load(project)


def test_a_value_counts_once_it_is_allowed_and_only_that_value(project: Project) -> None:
    assert put(project, 'verify = ["make"]\n').settings.verify == []

    consent.give(project, "verify", ["make"])

    assert config.load(project).settings.verify == ["make"]
    assert config.load(project).problems == []
    changed = put(project, 'verify = ["make", "rm -rf ~"]\n')
    assert changed.settings.verify == []
    assert [each.value for each in changed.pending] == [["make", "rm -rf ~"]]


def test_consent_for_one_project_is_none_for_another(project: Project, tmp_path: Path) -> None:
    consent.give(project, "verify", ["make"])
    other = find_project(Repo(tmp_path / "other").folder)

    assert put(other, 'verify = ["make"]\n').settings.verify == []


def test_all_worktrees_share_it(repo: Repo, project: Project, tmp_path: Path) -> None:
    linked = find_project(repo.worktree(tmp_path / "linked", "topic").folder)
    config.set_for(linked, "verify", "make")

    assert config.load(project).settings.verify == ["make"]


def test_the_user_s_own_settings_and_the_environment_need_none(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write(read_environment().config_file, "briefing_file", "/anywhere/at/all.md")
    assert config.load(project).settings.briefing_file == "/anywhere/at/all.md"

    monkeypatch.setenv("LEFTOFF_BRIEFING_FILE", "../elsewhere.md")
    changed = msgspec.structs.replace(project, environment=read_environment())
    assert config.load(changed).settings.briefing_file == "../elsewhere.md"


def test_a_value_that_changes_nothing_needs_none(project: Project) -> None:
    assert put(project, 'verify = []\nsafety = "off"\nbriefing_file = ""\n').problems == []


def test_a_store_in_the_user_s_own_state_folder_needs_none(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    project = find_project(folder)
    project.store.mkdir(parents=True)

    assert put(project, 'verify = ["make"]\n').settings.verify == ["make"]


def test_what_was_set_before_git_init_needs_none_after_it(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    config.set_for(find_project(folder), "verify", "make")
    Repo(folder)
    before = config.load(find_project(folder)).settings.verify
    project = find_project(folder)
    project.earlier[0].rename(project.store)

    assert before == config.load(find_project(folder)).settings.verify == ["make"]


@pytest.mark.parametrize("value", ["/etc/passwd", "../x", "a/../../x", "~/../../../etc/passwd"])
def test_a_project_cannot_be_given_a_file_outside_it(project: Project, value: str) -> None:
    consent.give(project, "briefing_file", value)

    loaded = put(project, f'briefing_file = "{value}"\n')

    assert loaded.settings.briefing_file == ""
    assert "points outside the project" in loaded.problems[0]
    assert loaded.pending == []


def test_settings_of_any_kind_of_value_do_no_harm(project: Project) -> None:
    loaded = put(project, "verify = 3\nbriefing_file = [1]\nnot_secret = {a = 1}\nsafety = 2\n")

    assert loaded.settings.verify == []
    assert loaded.settings.briefing_file == ""
    assert loaded.pending == []


def test_only_commands_that_it_concerns_warn_of_checks_that_nobody_allowed(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.folder)
    put(find_project(repo.folder), 'verify = ["make"]\n')
    cli = Cli(monkeypatch)

    for command in ("list", "resume", "log", "save"):
        assert "verify is ignored" not in cli(command).err
    for command in ("status", "config", "ship"):
        shown = cli(command)
        assert "not allowed" in shown.err
    assert "verify is ignored" in cli("doctor").out
