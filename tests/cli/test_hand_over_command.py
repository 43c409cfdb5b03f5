"""`leftoff resume NAME --in AGENT` starts that agent in the right folder, or says how."""

import fcntl
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff import context
from leftoff.agents.loose_values import dash_path
from leftoff.agents.registry import AGENTS
from leftoff.hooks import hand_over, start
from recordings import SESSION_IDS, leave_session
from talk import Talk

# Stands in for an agent: writes where it runs and what it was given.
PROGRAM = """\
#!/bin/sh
{ pwd; for word; do printf '%s\\n' "$word"; done; cat; } >"$HOME/started"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def _programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("codex", "opencode"):
        (folder / name).write_text(PROGRAM, encoding="utf-8")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@pytest.fixture(autouse=True)
def _thread(cli: Cli) -> None:
    cli.ok("save", "retry", "--summary", "Add a retry", "--next", "Write the test")


def _started(cli: Cli, home: Path, *arguments: str) -> list[str]:
    done = cli.process("resume", "retry", "--in", *arguments)
    assert done.returncode == 0, done.stderr
    return (home / "started").read_text(encoding="utf-8").splitlines()


def test_with_hooks_the_agent_gets_one_word_and_the_hook_the_thread(
    cli: Cli, repo: Repo, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("init", "--agent", "opencode", "--yes")
    (repo.folder / "sub").mkdir()
    monkeypatch.chdir(repo.folder / "sub")

    assert _started(cli, home, "opencode") == [str(repo.folder), "--prompt", "continue"]
    assert hand_over.find_mark(context.state_folder(), repo.folder, "opencode").is_file()


def test_headless_the_agent_runs_without_input(cli: Cli, repo: Repo, home: Path) -> None:
    cli.ok("init", "--agent", "opencode", "--yes")

    started = _started(cli, home, "opencode", "--headless")

    assert started == [str(repo.folder), "run", "continue"]


def test_without_hooks_the_briefing_is_the_first_prompt(cli: Cli, repo: Repo, home: Path) -> None:
    folder, option, opening, *prompt = _started(cli, home, "opencode")

    assert (folder, option) == (str(repo.folder), "--prompt")
    assert opening == str(hand_over.INTRODUCTION)
    assert any("Write the test" in line for line in prompt)
    assert not hand_over.find_mark(context.state_folder(), repo.folder, "opencode").exists()


def test_the_first_prompt_makes_the_agent_read_no_file_that_it_quotes(cli: Cli, home: Path) -> None:
    """Agents put the content of a file in place of `@path` in a prompt."""
    said = "Ask me@example.com about @~/.aws/credentials, (@/etc/passwd and x@/etc/shadow"
    cli.ok("save", "retry", "--overwrite", "--summary", said, "--next", "Read @src/app.py")

    prompt = "\n".join(_started(cli, home, "opencode")[2:])
    printed = cli.ok("resume", "retry", "--for", "codex").out

    for text in (prompt, printed):
        assert "Ask me@example.com about @ ~/.aws/credentials" in text
        assert "(@ /etc/passwd and x@ /etc/shadow" in text
        assert "Read @ src/app.py" in text
    assert "Read @src/app.py" in cli.ok("resume", "retry").out


def test_the_first_prompt_compares_the_work_with_its_own_worktree(
    cli: Cli, repo: Repo, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = repo.worktree(tmp_path / "my tree", "other").folder
    monkeypatch.chdir(tree)
    (tree / "cache.py").write_text("x\n", encoding="utf-8")
    cli.ok("save", "cache", "--summary", "Add a cache", "--next", "Test it", "--file", "cache.py")
    monkeypatch.chdir(repo.folder)

    done = cli.process("resume", "cache", "--in", "opencode")

    assert done.returncode == 0, done.stderr
    folder, _, *prompt = (home / "started").read_text(encoding="utf-8").splitlines()
    assert folder == str(tree)
    assert "- cache.py" in prompt
    assert not any("missing" in line or "checkout" in line for line in prompt)


def test_an_agent_starts_in_no_folder_that_only_the_checkpoint_names(
    cli: Cli, repo: Repo, home: Path, tmp_path: Path
) -> None:
    """An archive can bring the checkpoint, and settings in a folder can run programs."""
    (tmp_path / "foreign").mkdir()
    given = json.dumps({"worktree": str(tmp_path / "foreign"), "next_action": {"text": "Go on"}})
    cli.ok("save", "retry", "--overwrite", "--from-json", "-", stdin=given)

    folder, *_ = _started(cli, home, "opencode")

    assert folder == str(repo.folder)


def test_the_choices_of_a_hand_over_are_hand_overs(cli: Cli) -> None:
    cli.ok("save", "cart", "--summary", "Add discounts", "--next", "Write the test")

    result = cli("resume", "--in", "codex", "--headless")

    commands = [each["command"] for each in json.loads(result.out)["choices"]]
    assert commands[0] == "leftoff resume cart --in codex --headless"
    assert "`leftoff resume NAME --in codex --headless`" in result.err


def test_hooks_that_codex_would_skip_are_not_relied_on(cli: Cli, home: Path) -> None:
    cli.ok("init", "--agent", "codex", "--yes")

    assert any("Write the test" in line for line in _started(cli, home, "codex"))


def test_hooks_that_the_user_disabled_in_gemini_are_not_relied_on(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "bin" / "gemini").symlink_to(tmp_path / "bin" / "codex")
    cli.ok("init", "--agent", "gemini", "--yes")
    settings = home / ".gemini" / "settings.json"
    values = {**json.loads(settings.read_bytes()), "hooksConfig": {"disabled": ["leftoff"]}}
    settings.write_text(json.dumps(values), encoding="utf-8")

    assert any("Write the test" in line for line in _started(cli, home, "gemini"))


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("headless", [(), ("--headless",)])
def test_the_command_line_is_printed_for_every_agent(
    cli: Cli, repo: Repo, agent: str, headless: tuple[str, ...]
) -> None:
    result = cli.json("resume", "retry", "--in", agent, "--print", *headless)

    text = cli.ok("resume", "retry", "--in", agent, "--print", *headless).out
    assert text == f"{result['command']}\n"
    assert text.startswith(f"cd {repo.folder} && ")
    assert f'"$(leftoff resume retry --for {agent})"' in text
    assert text.rstrip().endswith("</dev/null") == bool(headless)


def test_the_agents_own_session_is_named_if_it_still_exists(cli: Cli, repo: Repo) -> None:
    root = context.read_environment().find_agent_folder("codex")
    leave_session("codex", root, repo.folder)
    (session,) = cli.json("sessions")
    cli.ok("save", "notes", "--from", session["session_id"], "--next", "Go on")

    native = cli.json("resume", "notes", "--in", "codex", "--print")["native"]
    with cli.terminal("resume", "notes") as terminal:
        terminal.expect("[Y/n]")
        terminal.answer("")
        terminal.expect("Start an agent with it? [Codex/opencode/n]")
        terminal.answer("n")
        ways = terminal.rest()

    assert native == f"cd {repo.folder} && codex resume {session['session_id']}"
    assert f"  codex resume {session['session_id']}  (its own session)\n" in ways
    assert cli.json("resume", "notes", "--in", "opencode", "--print")["native"] is None


@pytest.mark.parametrize(
    ("agent", "command"),
    [
        ("claude", "claude --resume"),
        ("codex", "codex resume"),
        ("gemini", "gemini --resume"),
        ("opencode", "opencode --session"),
        ("copilot", "copilot --resume"),
        ("cursor", "cursor-agent --resume"),
    ],
)
def test_every_agent_can_continue_its_own_session_until_that_is_gone(
    cli: Cli, repo: Repo, agent: str, command: str
) -> None:
    root = context.read_environment().find_agent_folder(agent)
    path = leave_session(agent, root, repo.folder)
    cli.ok("save", "notes", "--from", SESSION_IDS[agent], "--next", "Go on")

    printed = cli.ok("resume", "notes", "--in", agent, "--print").out

    native = f"cd {repo.folder} && {command} {SESSION_IDS[agent]}"
    assert printed.splitlines()[1:] == [f"# or, to continue its own session: {native}"]
    path.unlink()
    assert len(cli.ok("resume", "notes", "--in", agent, "--print").out.splitlines()) == 1


def test_a_script_starts_no_agent_while_there_is_a_choice(cli: Cli, home: Path) -> None:
    script = 'briefing=$(leftoff resume --for codex) && codex "$briefing" </dev/null'
    cli.ok("save", "cart", "--summary", "Add discounts", "--next", "Write the test")

    assert cli.shell(script).returncode == 3
    assert not (home / "started").exists()
    cli.ok("drop", "cart")
    assert cli.shell(script).returncode == 0
    prompt = (home / "started").read_text(encoding="utf-8")
    assert "Add a retry" in prompt
    # The agent is told to go on, and not how to accept or decline.
    assert str(hand_over.INTRODUCTION) in prompt
    assert "--decline" not in prompt


@pytest.fixture
def dead(cli: Cli, repo: Repo) -> None:
    """A session that was killed; nobody has saved its work."""
    cli.ok("drop", "retry")
    root = context.read_environment().find_agent_folder("codex")
    rollout = leave_session("codex", root, repo.folder)
    # Nobody holds the lock of a session that was killed.
    lock = root / "thread-writer-locks" / f"{rollout.stem[-36:]}.lock"
    lock.parent.mkdir()
    lock.touch()


@pytest.mark.usefixtures("dead")
def test_work_of_a_session_that_died_is_saved_first(cli: Cli, home: Path) -> None:
    done = cli.process("resume", "--in", "opencode", "--headless")

    assert done.returncode == 0, done.stderr
    assert "Saved 1 session with unsaved work." in done.stdout
    started = (home / "started").read_text(encoding="utf-8")
    assert "please write notes and list" in started


@pytest.mark.usefixtures("dead")
def test_work_of_a_session_that_waits_for_its_user_is_saved_first(cli: Cli, home: Path) -> None:
    """As at a usage limit, or in the minute for which Codex's daemon keeps a session."""
    root = context.read_environment().find_agent_folder("codex")
    (lock,) = (root / "thread-writer-locks").iterdir()
    with lock.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = cli.process("resume", "--in", "opencode", "--headless")

    assert done.returncode == 0, done.stderr
    assert "Saved 1 session with unsaved work." in done.stdout
    assert "please write notes and list" in (home / "started").read_text(encoding="utf-8")
    (saved,) = cli.json("list")
    assert saved["trigger"] == "idle"


def test_work_of_a_session_that_is_open_at_its_usage_limit_is_saved_first(
    cli: Cli, repo: Repo, home: Path
) -> None:
    cli.ok("drop", "retry")
    talk = Talk(repo.folder)
    talk.now = datetime.now(UTC)
    talk.ask("Fix the login")
    talk.edit("login.py")
    talk.say("login.py is fixed.")
    talk.ask("go on")
    said = {"role": "assistant", "content": [{"type": "text", "text": "You've hit your limit"}]}
    talk.line(type="assistant", isApiErrorMessage=True, error="rate_limit", message=said)
    root = context.read_environment().find_agent_folder("claude")
    place = root / "projects" / f"-{dash_path(str(repo.folder))}"
    place.mkdir(parents=True)
    talk.transcript.rename(place / talk.transcript.name)

    done = cli.process("resume", "--in", "opencode", "--headless")

    assert done.returncode == 0, done.stderr
    assert "Fix the login" in (home / "started").read_text(encoding="utf-8")


@pytest.mark.usefixtures("dead")
def test_the_command_line_for_such_work_is_printed_alone(cli: Cli) -> None:
    (line,) = cli.ok("resume", "--in", "opencode", "--print").out.splitlines()

    assert "leftoff resume write-notes" in line


def test_without_any_work_nothing_is_started(cli: Cli, home: Path) -> None:
    cli.ok("drop", "retry")

    result = cli("resume", "--in", "opencode")

    assert result.code == 1
    assert "1 thread is dropped" in result.out
    assert not (home / "started").exists()


def test_an_agent_that_is_not_installed_is_named(cli: Cli) -> None:
    result = cli("resume", "retry", "--in", "gemini")

    assert result.code == 1
    assert "Gemini CLI cannot be started: `gemini` is not on the PATH." in result.err


@pytest.mark.parametrize("words", [("--headless",), ("--print",), ("--in", "codex", "--accept")])
def test_options_that_do_not_fit_are_refused(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli("resume", "retry", *words).code == 2


def test_the_log_shows_the_hand_over(cli: Cli, repo: Repo, home: Path) -> None:
    cli.ok("init", "--agent", "opencode", "--yes")
    _started(cli, home, "opencode")
    fields = {"session_id": "ses_1", "cwd": str(repo.folder), "source": "startup"}

    start.answer("opencode", json.dumps(fields).encode(), context.state_folder())

    assert "resumed (handed over to opencode)" in cli.ok("log", "retry").out
