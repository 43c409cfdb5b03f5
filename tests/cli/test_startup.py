"""A command imports only what it needs, because every call pays for its imports."""

import json
import subprocess
import sys

import pytest

from cli.runs import Cli, environment
from gitrepo import Repo
from leftoff.context import read_environment
from recordings import leave_session

# Each of these costs milliseconds that no listing needs.
HEAVY = {
    "asyncio", "bz2", "email", "http", "logging", "lzma", "multiprocessing", "rich", "shutil",
    "socket", "ssl", "subprocess", "tempfile", "tomlkit", "tomllib", "traceback", "urllib.request",
    "prompt_toolkit", "wcwidth",
}  # fmt: skip
# The rooms of leftoff that only other commands enter.
FAR = (
    *("agents.", "git.query", "git.process", "redact"),
    *("session.facts", "session.sessions", "threads."),
)
# Tables of words, which cost next to nothing.
LIGHT = {"leftoff.threads.act_words", "leftoff.threads.field_labels"}


def loaded(*arguments: str) -> set[str]:
    """Return the modules that a command has loaded when it ends."""
    script = (
        "import sys, json; from leftoff.cli import run; code = run(sys.argv[1:]); "
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        # Without site's additions: a tool that watches this interpreter loads modules of its own.
        (sys.executable, "-S", "-c", script, *arguments),
        env=environment(unset="COVERAGE_PROCESS_START COVERAGE_PROCESS_CONFIG"),
        capture_output=True,
        text=True,
        check=True,
    )
    return {*json.loads(done.stderr.splitlines()[-1])}


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["log"], ["undo"], ["trash"]])
def test_looking_loads_nothing_heavy(cli: Cli, arguments: list[str]) -> None:
    cli.ok("save", "login-form", "--summary=Some work")
    modules = loaded(*arguments)
    far = {name for name in modules if name.startswith(tuple(f"leftoff.{room}" for room in FAR))}

    assert modules & HEAVY == set()
    assert far - LIGHT == set()


def test_the_status_reads_a_session_once_and_then_loads_no_reader(cli: Cli, repo: Repo) -> None:
    del cli
    for agent in ("codex", "copilot", "gemini"):
        leave_session(agent, read_environment().find_agent_folder(agent), repo.folder)
    assert "leftoff.session.facts.fold" in loaded("status")

    modules = loaded("status")
    readers = {"rollout", "event_log", "gemini_agent", "stream", "redact", "facts", "sessions"}
    assert {name for name in modules if name.rpartition(".")[2] in readers} == set()


def test_each_command_loads_only_its_own_file(cli: Cli) -> None:
    cli.ok("save", "login-form", "--summary=Some work")
    commands = {name for name in loaded("list") if name.startswith("leftoff.cli.")}

    shared = ("app", "catalog", "look", "option_types", "table_layout")
    assert commands == {f"leftoff.cli.{name}" for name in (*shared, "list")}


def test_settings_are_read_with_a_parser_only_if_there_are_any(cli: Cli) -> None:
    cli.ok("save", "login-form", "--summary=Some work")

    assert "tomllib" not in loaded("resume")
    cli.ok("config", "set", "budget", "500")
    assert "tomllib" in loaded("resume")
    assert "tomlkit" not in loaded("resume")


def test_a_listing_loads_nothing_that_click_needs_for_help_alone(cli: Cli) -> None:
    cli.ok("save", "login-form", "--summary=Some work")
    script = (
        "import sys; import os; os._exit = print; "
        "sys.argv = ['leftoff', sys.argv[1]]; "
        "import leftoff.__main__ as program; program.main(); "
        "print(*{'inspect', 'ipaddress', 'platform', 'typing_extensions'} & {*sys.modules}, "
        "file=sys.stderr)"
    )
    for command in ("list", "status"):
        done = subprocess.run(
            (sys.executable, "-S", "-c", script, command),
            env=environment(unset="COVERAGE_PROCESS_START COVERAGE_PROCESS_CONFIG"),
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr.split() == []


def test_a_save_compiles_patterns_only_when_they_are_needed() -> None:
    script = (
        "import re, sys; compiled = []; compile_now = re.compile; "
        "re.compile = lambda *given: compiled.append(given) or compile_now(*given); "
        "import leftoff.cli.resume, leftoff.cli.save; print(len(compiled))"
    )
    done = subprocess.run(
        (sys.executable, "-S", "-c", script),
        env=environment(unset="COVERAGE_PROCESS_START COVERAGE_PROCESS_CONFIG"),
        capture_output=True,
        text=True,
        check=True,
    )
    # There are 250 in all, and compiling them takes a fifth of the CPU time of a save.
    assert int(done.stdout) < 100
