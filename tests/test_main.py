"""The command ends at once, but not before all is written and what was registered has run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitrepo import Repo
from programs import with_our_path

# Registers an exit handler, then runs the command in the same process.
_PROGRAM = """
import atexit, functools, pathlib, sys
mark = pathlib.Path(sys.argv.pop())
atexit.register(functools.partial(mark.write_text, "done"))
from leftoff.__main__ import main
main()
"""


def begin(repo: Repo, *arguments: str, out: int = subprocess.PIPE) -> "subprocess.Popen[str]":
    """Start the command in a process that has something left to do when it ends."""
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *arguments, str(find_mark(repo))],
        cwd=repo.folder,
        env=with_our_path(),
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.PIPE,
        text=True,
    )


def find_mark(repo: Repo) -> Path:
    return repo.folder.parent / "mark"


@pytest.mark.parametrize(
    ("arguments", "code", "out", "err"),
    [
        (("list",), 0, "No checkpoints found.\n", ""),
        (("list", "--odd"), 2, "", "--odd"),
        (("show", "no-such-work"), 1, "", "No checkpoint named 'no-such-work'"),
        (("--version",), 0, "leftoff ", ""),
    ],
)
def test_the_end_keeps_the_exit_code_the_output_and_what_was_registered(
    repo: Repo, arguments: tuple[str, ...], code: int, out: str, err: str
) -> None:
    process = begin(repo, *arguments)
    printed, problem = process.communicate(timeout=120)

    assert (process.returncode, find_mark(repo).read_text()) == (code, "done")
    assert printed.startswith(out)
    assert err in problem


def save_much(repo: Repo) -> list[str]:
    """Save a checkpoint that is longer than what a pipe holds."""
    done = [f"Step {number}: {'word ' * 500}".strip() for number in range(60)]
    path = repo.write("much.json", json.dumps({"summary": "A long list of steps", "done": done}))
    process = begin(repo, "save", "long-list", "--from-json", str(path))
    process.communicate(timeout=120)
    assert process.returncode == 0
    return done


def test_all_of_a_long_output_arrives_through_a_pipe(repo: Repo) -> None:
    done = save_much(repo)
    process = begin(repo, "show", "long-list", "--json")
    printed, _ = process.communicate(timeout=120)

    assert process.returncode == 0
    assert json.loads(printed)["done"] == done


def test_a_reader_that_has_gone_is_not_an_error(repo: Repo) -> None:
    save_much(repo)
    find_mark(repo).unlink()
    reading, writing = os.pipe()
    os.close(reading)
    process = begin(repo, "show", "long-list", "--json", out=writing)
    os.close(writing)
    _, problem = process.communicate(timeout=120)

    assert "Traceback" not in problem
    assert find_mark(repo).read_text() == "done"


# Runs the command again and again; each run is interrupted when it loads another module.
_INTERRUPTS = """
import os, signal, sys
def run(left):
    with open("err", "wb") as file:
        os.dup2(file.fileno(), 2)
    def count(event, words):
        nonlocal left
        if event == "import" and "leftoff.__main__" in sys.modules:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGINT)
    sys.addaudithook(count)
    from leftoff.__main__ import main
    sys.exit(main())
for number in [*range(1, 9), *range(10, 150, 20)]:
    if not (child := os.fork()):
        run(number)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(number, code, open("err").read().strip(), flush=True)
"""


def test_an_interrupt_while_the_command_loads_shows_no_traceback(repo: Repo) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTS, "list"],
        cwd=repo.folder, env=with_our_path(), capture_output=True, text=True, check=True,
        timeout=300,
    )  # fmt: skip

    ends = [line.split(" ", 1)[1] for line in done.stdout.splitlines() if line[:1].isdigit()]
    assert len(ends) == 15
    said = "130 Interrupted; nothing was changed.", "130 Interrupted; nothing more was changed."
    assert {*ends} <= {*said}


_THREAD = """
import threading
def outlive():
    threading.main_thread().join()
    print("a thread ended")
threading.Thread(target=outlive).start()
"""


def test_the_end_waits_for_threads(repo: Repo) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _THREAD + _PROGRAM, "list", str(find_mark(repo))],
        cwd=repo.folder, env=with_our_path(), capture_output=True, text=True, check=True,
        timeout=120,
    )  # fmt: skip

    assert done.stdout == "No checkpoints found.\na thread ended\n"
