import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.runs import environment
from e2e.waiting import until
from gitrepo import Repo
from leftoff import processes, subprocesses
from leftoff.subprocesses import Ended, Program


def run(script: str, folder: Path, **options: object) -> Ended:
    return subprocesses.run(
        Program(
            arguments=("sh", "-c", script),
            folder=folder,
            environment=subprocesses.environment(),
            **options,  # type: ignore[arg-type]
        )
    )


def test_what_is_printed_is_kept_apart_with_the_code(tmp_path: Path) -> None:
    ended = run("echo out; echo trouble >&2; exit 3", tmp_path)

    assert (ended.code, ended.out, ended.errors) == (3, b"out\n", b"trouble\n")
    assert ended.trouble_lines == ["trouble"]
    assert not ended.is_done


def test_lines_are_reported_as_they_come_and_a_last_one_without_an_end_too(tmp_path: Path) -> None:
    heard: list[str] = []

    run("printf 'one\\r\\ntwo\\nthree'", tmp_path, on_line=heard.append)

    assert heard == ["one", "two", "three"]


def test_only_the_newest_is_kept_where_a_bound_is_set(tmp_path: Path) -> None:
    ended = run("yes word | head -c 300000; echo end", tmp_path, kept_bytes=100)

    assert len(ended.out) == 100
    assert ended.out.endswith(b"end\n")


def test_a_program_may_read_and_print_megabytes_at_once(tmp_path: Path) -> None:
    given = b"0123456789abcdef" * 200_000

    assert run("cat", tmp_path, given=given).out == given


def test_a_program_need_not_read_what_it_is_given(tmp_path: Path) -> None:
    assert run("exec <&-; echo done", tmp_path, given=b"x" * 1_000_000).out == b"done\n"


def test_one_that_is_late_is_ended_with_its_helpers(tmp_path: Path) -> None:
    # On a busy machine the shell may not have begun by then.
    for seconds in (0.2, 2, 20, 60):
        ended = run(f"sleep 600 & echo $! > '{tmp_path}/pid'; wait", tmp_path, seconds=seconds)
        assert ended.code is None
        if (tmp_path / "pid").exists():
            break

    helper = int((tmp_path / "pid").read_text())
    until(lambda: not processes.is_alive(helper, 0), "the end of the helper")


def test_a_helper_left_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    ended = run(f"sleep 600 & echo $! > '{tmp_path}/pid'; echo done", tmp_path)

    assert (ended.code, ended.out) == (0, b"done\n")
    helper = int((tmp_path / "pid").read_text())
    assert processes.is_alive(helper, 0)
    os.kill(helper, signal.SIGKILL)


def test_a_repository_that_a_git_hook_points_at_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ada")

    kept = subprocesses.environment(MORE="1")

    assert "GIT_DIR" not in kept
    assert (kept["GIT_AUTHOR_NAME"], kept["MORE"]) == ("Ada", "1")


def test_an_interrupt_is_handed_on_and_waits_until_the_program_has_tidied_up(
    tmp_path: Path,
) -> None:
    script = tmp_path / "tidy.sh"
    script.write_text(
        "trap 'echo tidied > done; exit 1' INT\necho ready\nwhile :; do sleep 0.1; done\n"
    )
    code = (
        "from pathlib import Path\n"
        "from leftoff import subprocesses\n"
        "from leftoff.subprocesses import *\n"
        # On a busy machine it may need longer to tidy up.
        "subprocesses._GRACE_SECONDS = 120\n"
        # Not touched by the program itself: we may not know yet that it was started.
        f"told = lambda line: Path({str(tmp_path / 'ready')!r}).touch()\n"
        f"run(Program(arguments=('sh', {str(script)!r}), folder=Path({str(tmp_path)!r}), "
        "environment=environment(), on_line=told))"
    )
    child = subprocess.Popen(
        (sys.executable, "-c", code), env=environment(), stderr=subprocess.PIPE, text=True
    )
    until(lambda: (tmp_path / "ready").exists() or child.poll() is not None, "its beginning")
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=120)

    assert "KeyboardInterrupt" in err
    assert (tmp_path / "done").read_text() == "tidied\n"


# Interrupts `act` at its n-th step, for every n until the program's output is read.
_SWEEP = """
import os, signal, subprocess, sys
from pathlib import Path
from leftoff import processes, subprocesses
from leftoff.git import process
from leftoff.git.repository import find_repository
signal.signal(signal.SIGINT, signal.default_int_handler)
folder = Path(sys.argv[2])

def run():
    arguments = ("sleep", "600")
    subprocesses.run(subprocesses.Program(
        arguments=arguments, folder=folder, environment=subprocesses.environment()))

def query():
    with process.ask(folder, find_repository(folder), "cat-file", "--batch") as git:
        list(git.chunks())

act = {"run": run, "query": query}[sys.argv[1]]
ours = (subprocesses.__file__, process.__file__, processes.__file__)

def interrupt(at):
    left, is_started = at, False

    def step(frame, event, _):
        nonlocal left, is_started
        path = frame.f_code.co_filename
        if path not in ours and path != subprocess.__file__:
            return None
        # A signal can arrive between any two of our instructions.
        frame.f_trace_opcodes = path in ours
        is_started = is_started or frame.f_code.co_name in {"_exchange", "chunks"}
        left -= 1
        if left == 0 or (is_started and left > 0):
            left = 0
            os.kill(os.getpid(), signal.SIGINT)
        return step

    sys.settrace(step)
    try:
        act()
    except KeyboardInterrupt:
        pass
    else:
        raise SystemExit(f"The interrupt at step {at} was lost.")
    finally:
        sys.settrace(None)
    return is_started

def count_children():
    try:
        return len([os.waitpid(-1, os.WNOHANG)])
    except ChildProcessError:
        return 0

at = 1
while not interrupt(at):
    if count_children():
        raise SystemExit(f"An interrupt at step {at} left a program behind.")
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        raise SystemExit(f"After an interrupt at step {at} the next one is held back.")
    at += 1
print(at)
"""


@pytest.mark.slow("interrupts at many moments")
@pytest.mark.parametrize("what", ["run", "query"])
def test_an_interrupt_while_a_program_starts_neither_leaves_it_behind_nor_is_lost(
    repo: Repo, what: str
) -> None:
    done = subprocess.run(
        (sys.executable, "-c", _SWEEP, what, str(repo.folder)),
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    # Starting a program takes far more steps than this.
    assert int(done.stdout) > 100


def test_a_second_interrupt_ends_a_program_that_does_not_stop(tmp_path: Path) -> None:
    script = f"trap '' INT; echo $$ > '{tmp_path}/pid'; echo ready; while :; do sleep 0.1; done"
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from leftoff import subprocesses\n"
        "subprocesses._GRACE_SECONDS = 600\n"
        "ends = subprocesses._ends\n"
        # The second one arrives while leftoff waits for the program.
        "def interrupted(process, seconds):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    return ends(process, seconds)\n"
        "subprocesses._ends = interrupted\n"
        "def interrupt(line):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        f"program = subprocesses.Program(arguments=('sh', '-c', {script!r}), "
        f"folder=Path({str(tmp_path)!r}), environment=subprocesses.environment(), "
        "on_line=interrupt)\n"
        "subprocesses.run(program)"
    )
    done = subprocess.run(
        (sys.executable, "-c", code), env=environment(), capture_output=True, check=False, text=True
    )

    assert "KeyboardInterrupt" in done.stderr
    assert not processes.is_alive(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a process waits for")
def test_a_program_that_waits_for_a_fifo_in_place_of_a_file_is_ended(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")

    ended = run("exec cat fifo", tmp_path, needs_files=True)

    assert ended.code is None
    assert "FIFO" in ended.trouble_lines[0]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a process waits for")
def test_what_a_program_starts_may_wait_for_a_fifo(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    script = "cat fifo & sleep 1; echo late >fifo; wait"

    assert run(script, tmp_path, needs_files=True).out == b"late\n"
