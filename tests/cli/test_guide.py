"""The guide says what an agent has to do here, and every command in it works."""

import re
import shlex
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
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


COMMANDS = [(page, line) for page in PAGES for line in list_commands(compose_guide(page))]


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


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=[f"{p}: {c}" for p, c in COMMANDS])
def test_every_command_that_a_guide_names_works(
    project: Cli, repo: Repo, page: str, line: str
) -> None:
    # Only one feature can be in progress.
    prepare(project, repo, page, starts_feature="feature add" not in line)
    verb, *words = shlex.split(line)[1:]
    name = "orders-api" if verb == "save" and "--overwrite" not in words else "csv-export"
    given = [name if word == "NAME" else WORDS.get(word, word) for word in words]

    result = project(verb, *given)

    assert result.code == 0, result.out + result.err


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("agent", [None, "claude", "codex"])
def test_a_guide_is_short(page: str, agent: str | None) -> None:
    assert estimate(compose_guide(page, agent)) <= MOST_TOKENS


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

    assert ("nothing is saved unless you save" in text) is (agent != "claude")
    assert ("Hooks also save automatically" in text) is (agent == "claude")


def test_the_agent_that_runs_it_is_the_default(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli.json("guide")["agent"] is None

    monkeypatch.setenv("GEMINI_SESSION_ID", "s1")

    assert cli.json("guide")["agent"] == "gemini"


def test_it_works_outside_of_a_project(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path / "home")

    assert cli.ok("guide").out.startswith("# Saving and resuming in this project\n")
