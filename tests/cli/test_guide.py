"""The guide says what an agent has to do here, and every command in it works."""

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.registry import AGENTS
from leftoff.profiles import PROFILES
from leftoff.profiles.guides import compose_guide
from leftoff.text.budget import estimate

PAGES = ["default", *PROFILES]
# The estimate is a few percent above what a model counts.
MOST_TOKENS = 640
WORDS = {
    "WORDS": "retry",
    "MODEL": "opus",
    "THEIR PROMPT": "/checkpoint",
    "THEIR WORDS": "where did we stop?",
}


def list_commands(text: str) -> list[str]:
    """Return every command line of a page, in blocks and in sentences."""
    joined = text.replace("\\\n", "")
    blocks = re.findall(r"^leftoff .*$", joined, re.MULTILINE)
    return [*blocks, *re.findall(r"`(leftoff [^`]+)`", joined)]


@pytest.fixture
def project(cli: Cli, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Prepare a project in which everything exists that a guide names."""
    remote = tmp_path / "remote.git"
    repo.git("init", "-q", "--bare", str(remote))
    repo.git("remote", "add", "origin", str(remote))
    repo.git("checkout", "-q", "-b", "login")
    repo.git("config", "user.name", "Ada")
    repo.git("config", "user.email", "ada@example.org")
    monkeypatch.setenv("LEFTOFF_VERIFY", "true")
    return cli


def prepare(cli: Cli, repo: Repo, page: str, *, starts_feature: bool) -> None:
    if page != "default":
        cli.ok("init", "--profile", page, "--yes")
    repo.write("src/auth.py", "import hmac\n")
    cli.ok("feature", "add", "Login form", *(["--start"] if starts_feature else []))
    cli.ok("wal", "add", "--kind", "value", "The port is 8081")
    waiting = repo.folder / ".git" / "pending-prompt-s1.txt"
    waiting.write_text("Rename the column", encoding="utf-8")
    cli.ok("prompts", "import", str(waiting))
    said = ("--summary", "Export orders as CSV", "--done", "Wrote src/auth.py lines 1-1")
    cli.ok("save", "csv-export", *said, "--next", "Run pytest tests/csv")


def list_pages(*, starts_feature: bool) -> dict[str, list[str]]:
    """Return each page with its commands that begin a feature, or with the others."""
    found = {
        page: [
            line
            for line in list_commands(compose_guide(page))
            if ("feature add" in line) == starts_feature
        ]
        for page in PAGES
    }
    return {page: lines for page, lines in found.items() if lines}


@pytest.mark.parametrize(
    ("page", "lines", "has_feature"),
    [
        *((page, lines, True) for page, lines in list_pages(starts_feature=False).items()),
        # Only one feature can be in progress.
        *((page, lines, False) for page, lines in list_pages(starts_feature=True).items()),
    ],
)
def test_every_command_that_a_guide_names_works(
    *,
    project: Cli,
    repo: Repo,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    page: str,
    lines: list[str],
    has_feature: bool,
) -> None:
    prepare(project, repo, page, starts_feature=has_feature)
    prepared = tmp_path_factory.mktemp("prepared")
    shutil.copytree(tmp_path, prepared, symlinks=True, dirs_exist_ok=True)

    trouble = []
    for line in lines:
        put_back(prepared, tmp_path)
        os.chdir(repo.folder)
        trouble += try_line(project, line)

    assert trouble == []


def put_back(prepared: Path, place: Path) -> None:
    """Make a place again what it was when the copy of it was made: a copy costs little."""
    for folder in place.iterdir():
        shutil.rmtree(folder)
    shutil.copytree(prepared, place, symlinks=True, dirs_exist_ok=True)


def try_line(project: Cli, line: str) -> list[str]:
    """Run a command of a guide, and return what goes wrong."""
    verb, *words = shlex.split(line)[1:]
    name = "orders-api" if verb == "save" and "--overwrite" not in words else "csv-export"
    given = [name if word == "NAME" else WORDS.get(word, word) for word in words]

    result = project(verb, *given)

    return [f"{line}: {result.out}{result.err}"] if result.code else []


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("agent", [None, "claude", "codex"])
def test_a_guide_is_short(page: str, agent: str | None) -> None:
    assert estimate(compose_guide(page, agent)) <= MOST_TOKENS


@pytest.mark.promise("guardz", 10)
def test_the_guardz_guide_has_the_agent_confirm_the_name(cli: Cli) -> None:
    cli.ok("config", "set", "profile", "guardz", "--project")

    step = cli.ok("guide").out.partition("1. ")[2].partition("\n2. ")[0]

    assert step == (
        "No name given: suggest one of two to four words and ask: "
        '"Use \'NAME\' (Recommended)" or "Provide different name".'
    )


@pytest.mark.promise("harness", 60, 128)
def test_the_harness_guide_has_the_agent_run_checks_that_nobody_set(cli: Cli, repo: Repo) -> None:
    cli.ok("config", "set", "profile", "harness", "--project")
    repo.write("package.json", '{"scripts": {"build": "tsc"}}')

    guide = cli.ok("guide").out
    output = cli("ship", "--dry-run").out

    assert "If no checks are set, run build and tests" in guide
    assert "If a step failed, fix it and rerun." in guide
    assert "No checks are set." in output
    assert 'verify "npm run build"' in output


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ("default", "--decline|data, not an order|exit code 3"),
        (
            "guardz",
            "Use 'NAME' (Recommended)|Infer no next step|one line it prints and nothing more",
        ),
        ("openclaw", "leftoff wal add|Quality bar|Always ask and wait|what one reply completes"),
        ("openclaw", "Ready to continue? (yes/no)|only when the task is truly done"),
        ("sail", "What are you currently working on?|What's the next action?|append-only"),
        ("sail", "What key decisions were made (and why)?|leftoff status --plan"),
        ("quoin", "leftoff dispatch-check|--note|leftoff resume --pending|Re-fire reads"),
        ("quoin", "Replay which? [all / 1 / 2 / 1,3 / edit 1 / none]|Enter number, or 'skip'"),
        ("harness", "save first, then ship|--alternative|--impact|leftoff reflect|--fixes"),
        ("harness", "leftoff feature attempt|leftoff ship --dry-run"),
    ],
)
def test_a_guide_has_the_rules_of_its_system(cli: Cli, profile: str, words: str) -> None:
    text = cli.ok("guide", "--profile", profile).out

    assert [each for each in words.split("|") if each not in text] == []


def test_the_guide_is_that_of_the_project(cli: Cli) -> None:
    assert cli.ok("guide").out == cli.ok("guide", "--profile", "default").out

    cli.ok("config", "set", "profile", "guardz", "--project")

    assert cli.json("guide")["profile"] == "guardz"
    assert cli.ok("guide").out.startswith("# Saving and resuming in this project (guardz)\n")


def test_settings_of_the_user_that_differ_from_the_profile_are_named(cli: Cli) -> None:
    cli.ok("config", "set", "profile", "guardz", "--project")
    cli.ok("config", "set", "on_resume", "keep", "--project")
    cli.ok("config", "set", "budget", "3000", "--project")

    last = cli.ok("guide").out.splitlines()[-1]

    assert last == "The user changed these settings, which take precedence: `on_resume = keep`."
    assert "take precedence" not in cli.ok("guide", "--profile", "guardz").out


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_without_hooks_learns_that_it_must_save(cli: Cli, agent: str) -> None:
    text = cli.ok("guide", "--for", agent).out

    assert ("nothing is saved unless you save" in text) is (agent not in DIALECTS)
    assert ("Hooks also save automatically" in text) is (agent in DIALECTS)


def test_the_agent_that_runs_it_is_the_default(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli.json("guide")["agent"] is None

    monkeypatch.setenv("GEMINI_SESSION_ID", "s1")

    assert cli.json("guide")["agent"] == "gemini"


def test_it_works_outside_of_a_project(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path / "home")

    assert cli.ok("guide").out.startswith("# Saving and resuming in this project\n")
