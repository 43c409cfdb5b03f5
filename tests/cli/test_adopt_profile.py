"""`init --profile` adopts another system, and each profile changes what it promises."""

import re
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff import config, profiles

TEXT = """# Checkpoint: invoice-rounding

- **Branch:** `main`
- **Saved:** 2026-11-14 18:40

## Left Off
Half of it
"""


@pytest.fixture
def memory(repo: Repo) -> Path:
    """Put a checkpoint of guardz where it keeps them."""
    munged = re.sub(r"[^A-Za-z0-9-]", "-", str(repo.folder))
    folder = Path.home() / ".claude" / "projects" / munged / "memory"
    folder.mkdir(parents=True)
    (folder / "checkpoint-invoice-rounding.md").write_text(TEXT, encoding="utf-8")
    return folder


def test_init_takes_the_files_in_and_keeps_them_up_to_date(cli: Cli, memory: Path) -> None:
    result = cli.ok("init", "--profile", "guardz", "--yes")
    cli.ok("save", "login-flow", "--summary", "Log in")

    assert f"Imported 1 checkpoint from {memory}" in result.out
    assert cli.json("show", "invoice-rounding")["left_off"] == "Half of it"
    assert (memory / "checkpoint-login-flow.md").exists()
    assert (memory / "checkpoint-invoice-rounding.md").read_text(encoding="utf-8") == TEXT


def test_files_that_are_found_are_offered(cli: Cli, memory: Path) -> None:
    result = cli.ok("init", "--yes")

    assert f"Found guardz files in {memory}. Run `leftoff init --profile guardz`" in result.out
    assert cli.json("config")[-2]["value"] == "default"


def test_on_a_terminal_the_offer_is_a_question(cli: Cli, memory: Path) -> None:
    with cli.terminal("init", "--yes") as terminal:
        terminal.expect("Found guardz files in")
        terminal.answer("y")
        terminal.expect("This project now follows guardz")

    assert cli.json("show", "invoice-rounding")["left_off"] == "Half of it"
    del memory


def test_a_dry_run_changes_nothing(cli: Cli, memory: Path) -> None:
    result = cli.ok("init", "--profile", "guardz", "--dry-run")

    assert f"The guardz files in {memory} would be imported" in result.out
    assert cli.json("list") == []


def test_another_profile_than_in_all_projects_writes_its_own_files_only(
    cli: Cli, repo: Repo
) -> None:
    cli.ok("config", "set", "profile", "quoin")
    cli.ok("init", "--yes", "--profile", "guardz")
    cli.ok("save", "some-work", "--summary", "Read the odd dates")

    assert {each["key"]: each["value"] for each in cli.json("config")}["mirror"] == ["guardz"]
    assert not (repo.folder / ".workflow_artifacts").exists()


@pytest.mark.parametrize(
    ("chosen", "mirrored"),
    [
        pytest.param([], ["sail"], id="the-files-of-the-previous-profile-end"),
        pytest.param(["guardz"], ["sail"], id="as-written-by-0.1"),
        pytest.param(["none"], ["sail"], id="none"),
        pytest.param(["quoin,guardz"], ["quoin", "guardz", "sail"], id="what-you-chose-stays"),
    ],
)
def test_a_second_profile_replaces_the_first(
    cli: Cli, memory: Path, chosen: list[str], mirrored: list[str]
) -> None:
    del memory
    cli.ok("init", "--profile", "guardz", "--yes")
    for each in chosen:
        cli.ok("config", "set", "mirror", each, "--project")
    cli.ok("init", "--profile", "sail", "--yes")
    values = {each["key"]: each["value"] for each in cli.json("config")}

    assert values["profile"] == "sail"
    assert values["mirror"] == mirrored


@pytest.mark.parametrize(
    "words",
    [
        ["config", "set", "profile", "default", "--project"],
        ["init", "--profile", "default", "--yes"],
    ],
    ids=["config", "init"],
)
def test_leaving_a_profile_ends_its_files(cli: Cli, memory: Path, words: list[str]) -> None:
    cli.ok("init", "--profile", "guardz", "--yes")
    # 0.1 listed the profile's own files there, too.
    cli.ok("config", "set", "mirror", "guardz", "--project")
    cli.ok(*words)
    cli.ok("save", "login-flow", "--summary", "Log in")
    values = {each["key"]: each["value"] for each in cli.json("config")}

    assert (values["profile"], values["mirror"]) == ("default", [])
    assert not (memory / "checkpoint-login-flow.md").exists()


def test_leaving_a_profile_keeps_other_files_that_somebody_chose(cli: Cli, memory: Path) -> None:
    cli.ok("init", "--profile", "guardz", "--yes")
    cli.ok("config", "set", "mirror", "guardz,sail", "--project")
    cli.ok("config", "set", "profile", "default", "--project")
    values = {each["key"]: each["value"] for each in cli.json("config")}

    assert memory.exists()
    assert (values["profile"], values["mirror"]) == ("default", ["sail"])


EXPECTED: dict[str, dict[str, object]] = {
    "guardz": {"on_resume": "consume", "confirm": "never", "noise": "line"},
    "openclaw": {"on_resume": "keep", "on_decline": "trash", "confirm": "always"},
    "sail": {"on_resume": "keep", "noise": "box", "advise_at": 65.0, "urge_at": 75.0},
    "quoin": {"on_resume": "keep", "noise": "report", "capture_at": 95.0, "compaction": "wait"},
    "harness": {"on_resume": "keep", "noise": "panel", "compaction": "allow"},
}


@pytest.mark.accept(167)
@pytest.mark.parametrize("profile", EXPECTED)
def test_a_profile_changes_its_defaults_and_explain_says_so(cli: Cli, profile: str) -> None:
    before = {each["key"]: each for each in cli.json("config", "explain")}
    cli.ok("config", "set", "profile", profile, "--project")
    after = {each["key"]: each for each in cli.json("config", "explain")}

    settings = {"mirror": [profile], **profiles.load(profile).SETTINGS}
    assert {key: after[key]["value"] for key in EXPECTED[profile]} == EXPECTED[profile]
    for key, value in after.items():
        if key in settings:
            assert (value["value"], value["source"]) == (settings[key], f"profile {profile}")
        elif key != "profile":
            assert value == before[key]


@pytest.mark.accept(167)
def test_what_the_user_set_beats_the_profile(cli: Cli) -> None:
    cli.ok("config", "set", "profile", "guardz", "--project")
    cli.ok("config", "set", "on_resume", "keep")
    values = {each["key"]: each for each in cli.json("config")}

    assert values["on_resume"]["value"] == "keep"
    assert values["on_resume"]["source"].endswith("config.toml")


@pytest.mark.accept(1)
def test_a_profile_alone_writes_its_native_files(cli: Cli) -> None:
    cli.ok("config", "set", "profile", "guardz")
    cli.ok("save", "invoice-rounding", "--left-off", "Half of it")

    assert [*Path.home().glob(".claude/projects/*/memory/checkpoint-invoice-rounding.md")]


def test_a_profile_alone_goes_on_with_the_files_that_are_there(cli: Cli, memory: Path) -> None:
    index = "# Project Memory\n\n## Active Checkpoints\n- **gone-one** (main, Nov 12) — x\n"
    (memory / "MEMORY.md").write_text(index, encoding="utf-8")
    cli.ok("config", "set", "profile", "guardz")

    assert "Checkpoint file missing" in cli.ok("resume", "gone-one").out
    assert [each["name"] for each in cli.json("list")] == ["invoice-rounding"]
    assert cli.json("list")[0]["saved_at"].startswith("2026-11-14T18:40")
    assert (memory / "checkpoint-invoice-rounding.md").read_text(encoding="utf-8") == TEXT


def test_a_file_that_another_program_adds_shows_its_own_time(cli: Cli, memory: Path) -> None:
    cli.ok("config", "set", "profile", "guardz")
    cli.ok("list")
    later = TEXT.replace("invoice-rounding", "login-flow").replace("11-14", "11-15")
    (memory / "checkpoint-login-flow.md").write_text(later, encoding="utf-8")

    assert cli.json("list")[0]["saved_at"].startswith("2026-11-15T18:40")


def test_a_profile_can_be_followed_without_its_files(cli: Cli) -> None:
    cli.ok("config", "set", "profile", "guardz")
    cli.ok("config", "set", "mirror", "none")
    cli.ok("save", "invoice-rounding", "--left-off", "Half of it")

    assert not [*Path.home().glob(".claude/projects/*/memory")]


@pytest.mark.parametrize("name", profiles.PROFILES)
def test_every_default_of_a_profile_is_a_setting_that_can_be_set(name: str) -> None:
    settings = profiles.load(name).SETTINGS

    assert set(settings) <= set(config.HELP)
    config.Settings(**settings)


def test_several_mirrors_are_set_with_commas(cli: Cli) -> None:
    cli.ok("config", "set", "mirror", "guardz, sail", "--project")

    assert {each["key"]: each["value"] for each in cli.json("config")}["mirror"] == [
        "guardz",
        "sail",
    ]


def test_a_mirror_that_does_not_exist_is_refused(cli: Cli) -> None:
    result = cli("config", "set", "mirror", "gards", "--project")

    assert result.code == 2
    assert "gards" in result.err


def test_a_profile_is_followed_where_no_agent_is_found(cli: Cli, repo: Repo) -> None:
    with cli.terminal("init", "--profile", "sail", "--yes", env={"PATH": "/nowhere"}) as terminal:
        terminal.expect("No agent was found")
        terminal.expect("This project now follows sail")

    assert not (Path.home() / ".claude").exists()
    cli.ok("save", "cart-totals", "--summary", "Round")
    assert list((repo.folder / ".claude" / "checkpoints").glob("*.json"))
