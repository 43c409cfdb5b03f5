"""Every way a run can end has its exit code, and says what to do next."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.runs import Cli, environment, truth
from gitrepo import Repo

BROKEN = """
import sys
import leftoff.store.store as store
def broken(self):
    raise KeyError("no such column")
if "list" in sys.argv:
    store.Store.index = broken
"""


@pytest.fixture
def broken(tmp_path: Path) -> dict[str, str]:
    """Make an environment in which a module of leftoff is damaged."""
    folder = tmp_path / "damaged"
    folder.mkdir()
    (folder / "damaged_leftoff.py").write_text(
        BROKEN + "from leftoff.__main__ import main\nmain()\n"
    )
    return {"PYTHONPATH": os.pathsep.join([str(folder), *filter(None, sys.path)])}


def run_broken(broken: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, "-m", "damaged_leftoff", *arguments),
        env=environment(broken), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_0_done(cli: Cli) -> None:
    assert cli.process("list").returncode == 0


def test_1_a_problem_the_user_can_fix(cli: Cli) -> None:
    done = cli.process("show", "nothing-here")

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("leftoff: No checkpoint named 'nothing-here'.\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["list", "--frob"],
        ["show", "a", "b"],
        ["purge"],
        ["list", "--limit=x"],
    ],
)
def test_2_the_words_of_the_call_are_off(cli: Cli, arguments: list[str]) -> None:
    result = cli(*arguments)

    assert result.code == 2
    message, way_out = result.err.splitlines()
    assert message.startswith("leftoff: ")
    assert message.endswith(".")
    assert way_out.startswith("  Run `leftoff")
    assert way_out.endswith((" --help` to see how it is used.", " --help` to see all commands."))
    assert cli(*arguments, "--json").code == 2
    if arguments:
        assert cli(*arguments, "--json").json["error"]


def test_3_a_choice_is_needed(cli: Cli) -> None:
    for name in ("first-thing", "second-thing"):
        cli.ok("save", name, "--summary=Some work")
    done = cli.process("resume")

    assert done.returncode == 3
    assert len(json.loads(done.stdout)["choices"]) == 2


def test_4_below_the_quality_bar(cli: Cli) -> None:
    cli.ok("save", "login-form", "--summary=wip")

    assert cli.process("lint").returncode == 4


def test_70_a_bug_in_leftoff_leaves_a_report_ready_to_send(
    cli: Cli, broken: dict[str, str], tmp_path: Path
) -> None:
    cli.ok("save", "login-form", "--summary=Some work")
    done = run_broken(broken, "list")

    assert done.returncode == 70
    assert done.stdout == ""
    first, second = done.stderr.splitlines()
    assert first == "leftoff: this is a bug in leftoff (KeyError: 'no such column')."
    report = Path(second.partition(" report in ")[2])
    assert report.is_relative_to(tmp_path / "home" / ".local" / "state" / "leftoff" / "bugs")
    assert report.stat().st_mode & 0o777 == 0o600
    assert "Traceback (most recent call last)" in report.read_text()
    assert "leftoff 0." in report.read_text()


def test_70_in_json_too(cli: Cli, broken: dict[str, str]) -> None:
    del cli
    done = run_broken(broken, "list", "--json")

    assert done.returncode == 70
    assert "bug in leftoff" in json.loads(done.stdout)["error"]


def test_70_prints_the_report_where_none_can_be_written(
    cli: Cli, broken: dict[str, str], tmp_path: Path
) -> None:
    del cli
    (tmp_path / "file").write_text("")
    done = run_broken({**broken, "XDG_STATE_HOME": str(tmp_path / "file")}, "list")

    assert done.returncode == 70
    assert "Traceback (most recent call last)" in done.stderr
    assert done.stderr.endswith("Please send us the text above.\n")


def test_130_interrupted_while_reading(cli: Cli, stored: Path) -> None:
    child = subprocess.Popen(
        (sys.executable, "-m", "leftoff", "save", "login-form", "--from-json", "-"),
        env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdin is not None
    # More than a pipe holds: once it is written, the reader is at work.
    child.stdin.write(b" " * 300_000)
    child.stdin.flush()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)

    assert child.returncode == 130
    assert out == b""
    assert err.endswith(b"Interrupted; nothing more was changed.\n")
    assert not truth(stored)
    assert cli.json("list") == []


def test_130_interrupted_while_loading() -> None:
    program = """
import signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "leftoff.cli":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv = ["leftoff", "list"]
from leftoff.__main__ import main
main()
"""
    done = subprocess.run(
        (sys.executable, "-c", program), env=environment(), capture_output=True, check=False
    )

    assert done.returncode == 130
    assert done.stderr == b"Interrupted; nothing was changed.\n"


def test_a_reader_that_goes_away_is_not_an_error(cli: Cli) -> None:
    cli.ok("save", "login-form", "--summary=Some work")
    done = cli.shell("set -o pipefail; leftoff list | head -1; leftoff list --json | true")

    assert done.returncode == 0
    assert done.stdout.startswith("name ")
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("leftoff list <&-", 0),
        ("leftoff list >&-", 0),
        ("leftoff list 2>&-", 0),
        ("leftoff save login-form --summary=wip <&- >&- 2>&-", 0),
        ("leftoff show nothing-here >&- 2>&-", 1),
        ("leftoff list > /dev/full", 1),
        ("leftoff list --json > /dev/full", 1),
        ("leftoff show nothing-here --json > /dev/full", 1),
        ("leftoff show nothing-here 2> /dev/full", 1),
    ],
)
def test_closed_and_full_outputs_keep_the_exit_code(cli: Cli, script: str, code: int) -> None:
    done = cli.shell(script)

    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    if code and "2>" not in script:
        assert done.stderr.startswith("leftoff: ")


@pytest.mark.slow("starts many programs")
@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
def test_a_terminal_that_is_not_utf_8_gets_what_it_can_show_and_json_is_whole(
    cli: Cli, env: dict[str, str]
) -> None:
    cli.ok("save", "login-form", "--summary=Größe 日本 🎉", "--failed=a :: b")

    for command in ("list", "show login-form", "resume", "status", "search Größe", "show 日本"):
        done = cli.process(*command.split(), env=env, text=False)
        assert done.returncode == (1 if "日本" in command else 0), done.stderr
    done = cli.process("show", "login-form", "--json", env=env)
    assert json.loads(done.stdout)["summary"] == "Größe 日本 🎉"


def test_a_folder_that_is_gone_is_reported(cli: Cli, tmp_path: Path) -> None:
    script = f"mkdir {tmp_path}/gone && cd {tmp_path}/gone && rmdir ../gone && leftoff"
    done = cli.shell(f"{script} list")

    assert done.returncode == 1
    assert "leftoff: The folder you are in no longer exists.\n" in done.stderr
    assert json.loads(cli.shell(f"{script} save x-ray --json").stdout)["error"]


def test_a_folder_where_nothing_can_be_written_is_a_project_like_any(cli: Cli) -> None:
    done = cli.process("save", "read-only", "--summary=Some work", cwd="/sys/kernel")

    assert done.returncode == 0, done.stderr
    assert 'Saved checkpoint "read-only"' in done.stdout


def test_without_a_home_variable_it_still_works(cli: Cli, tmp_path: Path) -> None:
    # Without HOME, the password database names the real home folder, which tests leave alone.
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    save = ("save", "login-form", "--summary=x y")

    assert cli.process("list", env=env, unset="HOME").returncode == 0
    assert cli.process(*save, env=env, unset="HOME").returncode == 0
    assert (tmp_path / "state" / "leftoff").is_dir()


def test_the_home_folder_does_not_become_a_project_by_accident(cli: Cli, tmp_path: Path) -> None:
    for folder in (str(tmp_path / "home"), "/"):
        done = cli.process("save", "login-form", "--summary=Some work", cwd=folder)
        assert done.returncode == 1
        assert "is not a project" in done.stderr


def test_a_corrupt_index_is_built_anew_without_a_word(cli: Cli, repo: Repo, stored: Path) -> None:
    del repo
    cli.ok("save", "login-form", "--summary=Some work")
    for damage in (b"", b"SQLite format 3\x00" + b"\xff" * 5000, b"text"):
        for path in stored.glob("index.sqlite*"):
            path.unlink()
        (stored / "index.sqlite").write_bytes(damage)
        result = cli.ok("list")
        assert "login-form" in result.out
        assert result.err == ""


def test_the_version_is_reported_by_both_ways(cli: Cli) -> None:
    assert cli.process("--version").stdout.startswith("leftoff 0.")
    assert cli.ok("--version").out == cli.process("--version").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("list --limit 0", "Invalid value for '--limit': it must be at least 1."),
        ("list --limit x", "Invalid value for '--limit': 'x' is not a whole number."),
        ("ui --port 99999", "Invalid value for '--port': it must be at most 65,535."),
        ("auto --percent nan", "Invalid value for '--percent': it must be at most 100."),
        ("list --limt 3", "No such option '--limt'. Did you mean `--limit`?"),
        ("lst", "No such command 'lst'. Did you mean `leftoff list`?"),
        ("memory lst", "No such command 'lst'. Did you mean `leftoff memory list`?"),
        ("config get", "No such command 'get'. Did you mean `leftoff config explain`?"),
        ("memory remove", "No such command 'remove'. Did you mean `leftoff memory reject`?"),
        ("snapshot new", "No such command 'new'. Did you mean `leftoff snapshot take`?"),
        ("prompts rm", "No such command 'rm'. Did you mean `leftoff prompts drop`?"),
        ("trash remove", "No such command 'remove'."),
        ("list --color", "Option '--color' requires an argument."),
    ],
)
def test_a_usage_error_says_what_was_meant(cli: Cli, words: str, said: str) -> None:
    done = cli(*words.split())

    command = "leftoff" if words == "lst" else f"leftoff {words.split(maxsplit=1)[0]}"
    assert done.code == 2
    assert done.err.startswith(f"leftoff: {said}\n  Run `{command} --help`")


def test_a_part_of_a_name_is_enough_for_a_suggestion(cli: Cli) -> None:
    for name in ("cart-totals", "cart-form", "login-form"):
        cli.ok("save", name, "--summary=Some work")

    assert "Did you mean cart-form or cart-totals?" in cli("show", "cart").err
