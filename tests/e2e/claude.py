"""Run the real Claude Code with its own home, repository and scripted model.

Nothing from the machine leaks in, and it connects only to the model on loopback.
"""

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from e2e.model import Model
from e2e.tui import Tui
from e2e.waiting import PATIENCE, until
from gitrepo import ISOLATED_ENVIRONMENT, Repo

_SETTINGS: dict[str, str] = {
    "ANTHROPIC_API_KEY": "test",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "LANG": "C.UTF-8",
    "SHELL": "/bin/sh",
    "TERM": "xterm-256color",
}
_RULES = "# Project rules\nPROJECT-RULE-MARK\n"
# Beside python, where the project's environment has it.
_LEFTOFF = Path(sys.executable).parent / "leftoff"


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
    """A `claude -p` that goes on while the test looks at it."""

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


class Bench:
    """One user with one repository, and all the agents that the test starts for them."""

    def __init__(self, root: Path, *, claude: Path, tmux: Path) -> None:
        self.root, self.claude, self._tmux = root, claude, tmux
        self.home = root / "home"
        for folder in (self.home, root / "tmp"):
            folder.mkdir()
        self.state = self.home / ".local" / "state" / "leftoff"
        self._open: list[Tui | Run] = []
        self._bin = root / "bin"
        self._bin.mkdir()
        for name, place in (("leftoff", _LEFTOFF), ("git", shutil.which("git"))):
            (self._bin / name).symlink_to(place or name)
        self.repo = Repo(root / "repo")
        self.repo.commit("First", {"app.py": "print('one')\n", "CLAUDE.md": _RULES})
        self._trust(self.repo.folder)
        self.model = Model()

    def close(self) -> None:
        """End all that still runs."""
        for program in self._open:
            program.close()

    # --- set-up ---

    def worktree(self, branch: str) -> Repo:
        """Add a worktree on a new branch, beside the repository."""
        tree = self.repo.worktree(self.root / branch, branch)
        self._trust(tree.folder)
        return tree

    def _trust(self, folder: Path) -> None:
        """Answer beforehand what the interactive program asks at its first start."""
        path = self.home / ".claude.json"
        known = json.loads(path.read_bytes()) if path.exists() else {}
        answers = {
            "hasCompletedOnboarding": True,
            "lastOnboardingVersion": "9.9.9",
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["test"], "rejected": []},
        }
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        projects = {**known.get("projects", {}), str(folder): trusted}
        text = json.dumps({**known, **answers, "projects": projects})
        path.write_text(text, encoding="utf-8")

    def env(self, **extra: str) -> dict[str, str]:
        """Return the whole environment of a program on this bench."""
        return {
            **_SETTINGS,
            **ISOLATED_ENVIRONMENT,
            "ANTHROPIC_BASE_URL": self.model.url,
            "HOME": str(self.home),
            "PATH": f"{self._bin}:/usr/bin:/bin",
            "TMPDIR": str(self.root / "tmp"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_DATA_HOME": str(self.home / ".local" / "share"),
            "XDG_STATE_HOME": str(self.home / ".local" / "state"),
            **extra,
        }

    # --- running ---

    def start(self, prompt: str, *arguments: str, cwd: Path | None = None, **env: str) -> Run:
        """Start `claude -p` with a prompt and return at once."""
        command = (str(self.claude), "-p", "--output-format", "stream-json", "--verbose")
        process = subprocess.Popen(
            (*command, *arguments, "--", prompt),
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
        """Run `claude -p` with a prompt to its end."""
        return self.start(prompt, *arguments, cwd=cwd, **env).wait()

    def tui(self, *arguments: str, cwd: Path | None = None, **env: str) -> Tui:
        """Start the interactive program in a terminal and wait for its input box."""
        socket = self.root / f"tmux-{len(self._open)}"
        tui = Tui(self._tmux, socket, cwd or self.repo.folder, self.env(**env))
        self._open.append(tui)
        tui.start(str(self.claude), "--permission-mode", "default", *arguments)
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

    # --- looking ---

    def memory(self) -> Path:
        """Return where Claude Code keeps its own memory of the repository."""
        key = re.sub(r"[^A-Za-z0-9]", "-", str(self.repo.folder))
        return self.home / ".claude" / "projects" / key / "memory"

    def transcript_path(self, session_id: str) -> Path:
        """Find the transcript of a session."""
        return next(path for path in self._transcripts() if path.stem == session_id)

    def transcript(self, session_id: str) -> list[dict[str, Any]]:
        """Read the whole lines of a session's transcript."""
        text = self.transcript_path(session_id).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have a transcript."""
        return [path.stem for path in self._transcripts()]

    def _transcripts(self) -> list[Path]:
        return sorted((self.home / ".claude" / "projects").glob("*/*.jsonl"))


def wait_for_file(path: Path) -> Path:
    """Wait until a file is there."""
    until(path.exists, f"the file {path.name}")
    return path
