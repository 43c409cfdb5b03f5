"""Create a temp folder with a project and a home folder, for the demo and the pictures."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

# The folder of the environment's programs: `leftoff` runs as a user would run it.
_PROGRAMS = Path(sys.executable).parent
# Variables with these prefixes could change what the demo shows.
_LEFT_OUT = ("LEFTOFF_", "XDG_", "GIT_", "CLAUDE", "CODEX", "GEMINI", "COPILOT", "CURSOR")


class Stage(msgspec.Struct, frozen=True):
    """A project and a home folder without any user's settings."""

    folder: Path
    environment: dict[str, str]

    @property
    def project(self) -> Path:
        """The project's folder."""
        return self.folder / "shop"

    @property
    def home(self) -> Path:
        """The home folder."""
        return self.folder / "home"

    @property
    def transcripts(self) -> Path:
        """The folder where Claude Code would keep the project's sessions."""
        key = re.sub(r"[^A-Za-z0-9]", "-", str(self.project))
        return self.home / ".claude" / "projects" / key

    def run(self, *words: str) -> str:
        """Run a command in the project and return its output."""
        done = subprocess.run(
            words,
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode != 0:
            raise SystemExit(f"`{shlex.join(words)}` ended with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def write(self, path: str, text: str) -> None:
        """Write a file in the project."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def commit(self, subject: str) -> None:
        """Commit everything in the project."""
        self.run("git", "add", "--all")
        self.run("git", "commit", "--quiet", "--message", subject)


@contextmanager
def stage(files: Mapping[str, str]) -> Iterator[Stage]:
    """Create a project with these files in its first commit, and remove everything at the end."""
    folder = Path(tempfile.mkdtemp(prefix="leftoff-demo-")).resolve()
    made = Stage(folder, _environment(folder))
    try:
        for part in (made.project, made.home, folder / "tmp"):
            part.mkdir()
        for path, text in files.items():
            made.write(path, text)
        made.run("git", "init", "--quiet", "--initial-branch", "main")
        made.commit("Start the shop")
        yield made
    finally:
        shutil.rmtree(folder)


def _environment(folder: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_LEFT_OUT)}
    return kept | {
        "PATH": f"{_PROGRAMS}{os.pathsep}{kept.get('PATH', os.defpath)}",
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.com",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.com",
    }
