"""A project that uses guardz, with the agent's memory folder."""

import re
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo


@pytest.fixture
def memory(cli: Cli, repo: Repo) -> Path:
    """Follow guardz; return the memory folder."""
    cli.ok("config", "set", "profile", "guardz", "--project")
    cli.ok("config", "set", "mirror", "guardz", "--project")
    munged = re.sub(r"[^A-Za-z0-9-]", "-", str(repo.folder))
    return Path.home() / ".claude" / "projects" / munged / "memory"


def index(memory: Path) -> str:
    return (memory / "MEMORY.md").read_text(encoding="utf-8")


def file_of(memory: Path, name: str) -> str:
    return (memory / f"checkpoint-{name}.md").read_text(encoding="utf-8")


def write_file(memory: Path, name: str, text: str) -> Path:
    """Write a file as an agent does that follows the original text."""
    memory.mkdir(parents=True, exist_ok=True)
    path = memory / f"checkpoint-{name}.md"
    path.write_text(text, encoding="utf-8")
    return path


NATIVE = """\
# Checkpoint: {name}

- **Branch:** `main`
- **Saved:** 2026-11-15 18:40

## Left Off
{left_off}

## Done This Session
- Wrote `src/oauth.py`

## Failed Approaches
- Cookies — the proxy drops them

## Modified Files
- src/oauth.py
"""


def list_in_memory(memory: Path, *lines: str) -> None:
    """Add lines to MEMORY.md as an agent does."""
    memory.mkdir(parents=True, exist_ok=True)
    section = "\n".join(["## Active Checkpoints", *lines])
    text = f"# Project Memory\n\n{section}\nResume any: `continue` or `continue {{name}}`\n"
    (memory / "MEMORY.md").write_text(text, encoding="utf-8")
