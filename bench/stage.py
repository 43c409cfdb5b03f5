"""Create a user's machine for the hooks: a home folder, a git project and installed hooks."""

import fcntl
import os
import shutil
import subprocess
import time
from pathlib import Path

import msgspec

from bench import venv
from bench.harness import Program

_PAUSE = 0.005
_LONGEST_WAIT = 120.0


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """The folders of a user with leftoff's hooks."""

    home: Path
    project: Path

    @property
    def state(self) -> Path:
        """The user's state folder."""
        return self.home / ".local" / "state" / "leftoff"

    @property
    def hook(self) -> Path:
        """The program that the agent's settings name."""
        return self.state / "hook"

    def program(self, *arguments: str, given: Path, session: str = "") -> Program:
        """Describe a program that the agent starts in the project."""
        environment = venv.environment(self.home)
        if session:
            environment["CLAUDE_CODE_SESSION_ID"] = session
        return Program(
            arguments=arguments, environment=environment, folder=self.project, given=given
        )


def install(stage: Stage) -> Stage:
    """Install the hooks, as `leftoff init` does."""
    shutil.rmtree(stage.state, ignore_errors=True)
    stage.state.mkdir(parents=True, mode=0o700)
    (shipped,) = venv.python().parent.parent.glob("lib/python*/site-packages/leftoff/hooks/*.sh")
    named = f"{venv.python()}\n{shipped.with_name('settle.py')}\n"
    (stage.state / "python").write_text(named, encoding="utf-8")
    shutil.copy(shipped, stage.hook)
    stage.hook.chmod(0o755)
    return stage


def new_project(folder: Path) -> Path:
    """Create a small repository."""
    environment = venv.environment(folder)
    folder.mkdir(parents=True)
    (folder / "app.py").write_text("print('one')\n", encoding="utf-8")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "First"]):
        subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True)
    return folder


def wait_until_settled(state: Path) -> None:
    """Wait until no event waits and no settle runs, so that none disturbs the next measurement."""
    deadline = time.monotonic() + _LONGEST_WAIT
    while not _is_settled(state):
        assert time.monotonic() < deadline, "Settle did not end."
        time.sleep(_PAUSE)


def _is_settled(state: Path) -> bool:
    spool = state / "spool"
    if spool.is_dir() and any(spool.iterdir()):
        return False
    return not _holds_lock(state / "settle.lock") and not _is_running(state)


def _holds_lock(path: Path) -> bool:
    if not path.exists():
        return False
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _is_running(state: Path) -> bool:
    """Look for a settle process that is just starting or ending, which holds no lock."""
    return bool(processes(state))


def processes(state: Path) -> list[str]:
    """Return the leftoff processes that run for this user, without the hooks themselves."""
    found = []
    for process in os.listdir("/proc"):  # noqa: PTH208 - quick, as it is done all the time
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:  # noqa: PTH123 - same
                line = file.read()
        except OSError:
            continue
        if b"leftoff.hooks." in line and os.fsencode(state) in line:
            found.append(process)
    return found
