from pathlib import Path

import msgspec
import pytest

from leftoff import config, context
from leftoff.errors import LeftoffError, UsageError
from leftoff.projects.project import Project


def test_every_setting_has_a_meaning() -> None:
    assert {*config.HELP} == {*config.Settings.__struct_fields__}


def test_without_any_source_the_defaults_hold(project: Project) -> None:
    loaded = config.load(project)

    assert loaded.settings == config.Settings()
    assert {value.source for value in loaded.values} == {"default"}
    assert loaded.problems == []


def test_later_sources_beat_earlier_ones(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write(context.read_environment().config_file, "budget", "500", is_own=True)
    assert config.load_outside(context.read_environment()).settings.budget == 500
    config.write(config.find_project_file(project), "budget", "600")
    assert config.load(project).settings.budget == 600
    assert config.load_outside(context.read_environment()).settings.budget == 500
    monkeypatch.setenv("LEFTOFF_BUDGET", "700")
    changed = msgspec.structs.replace(project, environment=context.read_environment())
    assert config.load(changed).settings.budget == 700
    config.write(config.find_project_file(project), "budget", None)
    assert config.load(project).settings.budget == 500


@pytest.mark.parametrize(
    "text",
    [
        "budget = 'much'",
        "budget = 3",
        "zork = 1",
        "strict = 'x'",
        "on_resume = 'burn'",
        "profile = ['sail']",
    ],
)
def test_an_invalid_value_is_reported_and_left_out(project: Project, text: str) -> None:
    config.find_project_file(project).parent.mkdir(parents=True)
    config.find_project_file(project).write_text(f"{text}\n")
    loaded = config.load(project)

    assert loaded.settings == config.Settings()
    assert len(loaded.problems) == 1
    assert str(config.find_project_file(project)) in loaded.problems[0]


@pytest.mark.parametrize("typed", ["guardz,sail", "guardz sail", '["guardz", "sail"]', "[]"])
def test_a_list_may_be_typed_as_it_is_in_a_file(typed: str) -> None:
    config.write(context.read_environment().config_file, "mirror", typed)

    expected = ["guardz", "sail"] if "sail" in typed else []
    assert config.load_outside(context.read_environment()).settings.mirror == expected


def test_what_is_not_a_setting_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        config.write(tmp_path / "config.toml", "zork", "1")
    with pytest.raises(UsageError):
        config.write(tmp_path / "config.toml", "budget", "much")

    with pytest.raises(UsageError) as refused:
        config.write(tmp_path / "config.toml", "prompts", "hide")
    # The hint that follows names the choices.
    assert refused.value.message == "Invalid value 'hide' for prompts"

    assert not (tmp_path / "config.toml").exists()


def test_a_broken_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("budget = [")
    with pytest.raises(LeftoffError, match="not valid TOML"):
        config.write(path, "budget", "500")

    assert path.read_text() == "budget = ["


def test_a_file_is_written_whole_and_for_its_owner_alone(tmp_path: Path) -> None:
    config.write(tmp_path / "new" / "config.toml", "strict", "true")

    assert (tmp_path / "new" / "config.toml").read_text() == "strict = true\n"
    assert (tmp_path / "new" / "config.toml").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["config.toml"]
