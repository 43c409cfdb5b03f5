import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.runs import environment
from e2e.waiting import until
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


def test_lines_are_told_as_they_come_and_a_last_one_without_an_end_too(tmp_path: Path) -> None:
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
