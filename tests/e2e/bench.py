"""One user with one repository, for whom a test starts a real agent on a scripted model.

Nothing from the machine leaks in, and the agent connects only to the model on loopback.
"""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from e2e.model import Model
from e2e.tui import Tui
from e2e.waiting import PATIENCE, until
from gitrepo import ISOLATED_ENVIRONMENT, Repo

# Beside python, where the project's environment has it.
_LEFTOFF = Path(sys.executable).parent / "leftoff"

# For agents that run on Bun. Code compiled a second time never pays in a short run, and threads
# that collect garbage at the same time mostly wait for each other: a fifth of the CPU time.
SHORT_BUN_RUNS = {
    "BUN_JSC_numberOfGCMarkers": "1",
    "BUN_JSC_useConcurrentGC": "0",
    "BUN_JSC_useDFGJIT": "0",
}


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What a run that has ended printed."""

    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """The program's own account of the run."""
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]

    @property
    def final(self) -> dict[str, Any]:
        """The closing line of that account."""
        return next(event for event in reversed(self.events) if event.get("type") == "result")

    @property
    def session_id(self) -> str:
        """The session that ran, even if it was killed."""
        return str(
            next(each["session_id"] for each in reversed(self.events) if "session_id" in each)
        )


class Run:
    """A headless run that goes on while the test looks at it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def send(self, number: signal.Signals) -> int:
        """Send a signal, wait for the end and return the exit code."""
        self._process.send_signal(number)
        return self.wait().code

    def kill(self) -> Result:
        """End it as a crash would: kill -9. Return what it had printed."""
        self._process.kill()
        return self.wait()

    def wait(self) -> Result:
        """Wait for the end."""
        out, err = self._process.communicate(timeout=PATIENCE)
        return Result(code=self._process.returncode, out=out, err=err)

    def close(self) -> None:
        """End it, if it still goes on."""
        if self._process.poll() is None:
            self.kill()


class AgentBench:
    """A user with a repository; each agent's own bench knows how to start the program."""

    agent: ClassVar[str]
    rules: ClassVar[tuple[str, str]] = ("AGENTS.md", "# Project rules\nPROJECT-RULE-MARK\n")
    """The file with the project's rules."""
    screen: ClassVar[type[Tui]] = Tui
    """The interactive program's screen."""

    def __init__(self, root: Path, *, program: Path, tmux: Path, model: Model) -> None:
        self.root, self.executable, self._tmux, self.model = root, program, tmux, model
        self.home = root / "home"
        is_first = not self.home.exists()
        for folder in (self.home, root / "tmp", root / "bin"):
            # Agents of one user share all of them.
            folder.mkdir(exist_ok=True)
        self.state = self.home / ".local" / "state" / "leftoff"
        self._open: list[Tui | Run] = []
        self._bin = root / "bin"
        self.repo = Repo(root / "repo", init=is_first)
        if is_first:
            self._set_up()
        self.prepare(self.repo.folder)

    def _set_up(self) -> None:
        """Put what every agent needs on the PATH, and something into the repository."""
        for name, place in (("leftoff", _LEFTOFF), ("git", shutil.which("git"))):
            (self._bin / name).symlink_to(place or name)
        name, rules = self.rules
        self.repo.commit("First", {"app.py": "print('one')\n", name: rules})

    def put_on_path(self) -> None:
        """Let the user, and leftoff, start the agent by its name."""
        link = self._bin / self.agent
        if not link.is_symlink():
            link.symlink_to(self.executable)

    def close(self) -> None:
        """End all that still runs."""
        for program in self._open:
            program.close()

    # --- what each agent has of its own ---

    def prepare(self, folder: Path) -> None:
        """Write the agent's settings, and answer beforehand what it asks at its first start."""

    def command(self, prompt: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command line of a headless run."""
        raise NotImplementedError

    def variables(self) -> dict[str, str]:
        """Return the variables that only this agent needs."""
        return {}

    def tui(self, *arguments: str, cwd: Path | None = None, **env: str) -> Tui:
        """Start the interactive program and wait for its input box."""
        raise NotImplementedError

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have a transcript."""
        raise NotImplementedError

    def find_new_session(self, before: Collection[str]) -> str:
        """Return the one session that has begun since; its transcript may come late."""
        until(lambda: {*self.sessions()} - {*before}, "the transcript of a new session")
        (session,) = {*self.sessions()} - {*before}
        return session

    def count_results(self, session: str) -> int:
        """Count the results of tools in a transcript, which may not be there yet."""
        raise NotImplementedError

    def hook_errors(self) -> list[str]:
        """Return what the agent itself says that went wrong in hooks."""
        return []

    # --- running ---

    def env(self, **extra: str) -> dict[str, str]:
        """Return the whole environment of a program on this bench."""
        return {
            "LANG": "C.UTF-8",
            "SHELL": "/bin/sh",
            "TERM": "xterm-256color",
            **ISOLATED_ENVIRONMENT,
            "HOME": str(self.home),
            "PATH": f"{self._bin}:/usr/bin:/bin",
            "TMPDIR": str(self.root / "tmp"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_DATA_HOME": str(self.home / ".local" / "share"),
            "XDG_STATE_HOME": str(self.home / ".local" / "state"),
            **self.variables(),
            **extra,
        }

    def worktree(self, branch: str) -> Repo:
        """Add a worktree on a new branch, beside the repository."""
        tree = self.repo.worktree(self.root / branch, branch)
        self.prepare(tree.folder)
        return tree

    def start(self, prompt: str, *arguments: str, cwd: Path | None = None, **env: str) -> Run:
        """Start a headless run with a prompt and return at once."""
        return self.begin(*self.command(prompt, arguments), cwd=cwd, **env)

    def begin(self, *command: str, cwd: Path | None = None, **env: str) -> Run:
        """Start any program as the user of this bench would, and return at once."""
        process = subprocess.Popen(
            command,
            cwd=cwd or self.repo.folder,
            env=self.env(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        run = Run(process)
        self._open.append(run)
        return run

    def run(self, prompt: str, *arguments: str, cwd: Path | None = None, **env: str) -> Result:
        """Run a prompt to its end."""
        return self.start(prompt, *arguments, cwd=cwd, **env).wait()

    def terminal(self, cwd: Path | None = None, **env: str) -> Tui:
        """Open a terminal for the interactive program."""
        socket = self.root / f"tmux-{len(self._open)}"
        tui = self.screen(self._tmux, socket, cwd or self.repo.folder, self.env(**env))
        self._open.append(tui)
        return tui

    def program(self, *command: str, cwd: Path | None = None, **env: str) -> Result:
        """Run any program as the user of this bench would."""
        done = subprocess.run(
            command,
            cwd=cwd or self.repo.folder,
            env=self.env(**env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return Result(code=done.returncode, out=done.stdout, err=done.stderr)


def wait_for_file(path: Path) -> Path:
    """Wait until a file is there."""
    until(path.exists, f"the file {path.name}")
    return path
