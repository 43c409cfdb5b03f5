"""Create a user's home folder and projects that are isolated from the real ones."""

import contextlib
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from leftoff.checkpoint import SCHEMA, Checkpoint, NextAction
from leftoff.context import find_project, read_environment, state_folder
from leftoff.errors import LeftoffError
from leftoff.processes import copy_for_child
from leftoff.store import Action, Store, utc_now
from leftoff.torture import child_programs, forks
from leftoff.torture.claims_ledger import Claim, Ledger, text_of
from leftoff.torture.forks import ChildExit

Program = Callable[[Sequence[str]], int]

# All that a worker needs from the user's environment.
_KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH")


def environment(folder: Path, *, preload: Path | None = None) -> dict[str, str]:
    """Return the environment of a user who has only this folder."""
    known = copy_for_child()
    home = folder / "home"
    return {
        **{name: known[name] for name in _KEPT if name in known},
        "HOME": str(home),
        "TMPDIR": str(folder / "tmp"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        **({"LD_PRELOAD": str(preload)} if preload else {}),
    }


class Bench:
    """One project, the commands that run in it, and what they acknowledged."""

    def __init__(self, root: Path, program: Program, seed: str, number: int = 0) -> None:
        self.root = root
        self.project = root / f"shop-{number}"
        self.program = program
        self.ledger = Ledger(number)
        self.chance = random.Random(f"{seed}-{number}")  # noqa: S311 - no secret
        self.home = read_environment().home
        make_repository(self.project)

    @property
    def state(self) -> Path:
        """The state folder of this user."""
        return state_folder()

    @property
    def store(self) -> Path:
        """The folder of the project's store."""
        return find_project(self.project).store

    def run(self, *words: str, seconds: float = forks.PATIENCE_SECONDS) -> ChildExit:
        """Run a leftoff command in a child."""
        return forks.run(lambda: self.program(words), cwd=self.project, seconds=seconds)

    def do(self, *words: str) -> Any:
        """Run a command that must succeed, and return its JSON output."""
        ended = self.run(*words, "--json")
        if ended.code != 0:
            raise Unprepared(f"leftoff {' '.join(words)}: {ended.code} {ended.last_line}")
        try:
            return msgspec.json.decode(ended.output)
        except msgspec.DecodeError as error:
            raise Unprepared(f"leftoff {' '.join(words)} answered {ended.output!r}") from error

    def save(self, token: str) -> None:
        """Save an acknowledged checkpoint, in this process, because the save is not under test."""
        claim = Claim("checkpoint", token)
        self.ledger.try_([claim])
        with self.open_store() as store:
            store.save(draft(token, text_of(token, self.chance)))
        self.ledger.acknowledge([claim])

    def record(self, action: Action, token: str) -> None:
        """Record an event for a checkpoint."""
        claim = Claim("event", f"{action}:{token}")
        self.ledger.try_([claim])
        with self.open_store() as store:
            store.record(action, [store.find(token).id])
        self.ledger.acknowledge([claim])

    @contextlib.contextmanager
    def open_store(self) -> Iterator[Store]:
        """Open the project's store."""
        store = Store(find_project(self.project))
        try:
            yield store
        except (LeftoffError, OSError) as error:
            raise Unprepared(f"{type(error).__name__}: {error}") from error
        finally:
            store.close()


def draft(name: str, summary: str) -> Checkpoint:
    """Build a checkpoint that is not saved yet."""
    return Checkpoint(
        schema=SCHEMA,
        id="",
        saved_at=utc_now(),
        trigger="manual",
        name=name,
        summary=summary,
        next_action=NextAction(text=f"Run pytest -k {name}"),
    )


class Unprepared(Exception):
    """The preconditions of a workload could not be prepared."""


def make_repository(folder: Path) -> None:
    """Create a repository with one commit."""
    folder.mkdir(parents=True)
    child_programs.git(folder, "init", "--quiet", "--initial-branch=main", "--template=")
    child_programs.git(folder, "config", "user.name", "Ada")
    child_programs.git(folder, "config", "user.email", "ada@example.org")
    (folder / "app.py").write_text("print('hello')\n", encoding="utf-8")
    child_programs.git(folder, "add", "--all")
    child_programs.git(folder, "commit", "--quiet", "--message=Begin")


def install_hooks(state: Path, *, python: str = sys.executable) -> None:
    """Write the file that names the Python that the letterbox starts."""
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    # The second line names a file of leftoff. Hooks write nothing if that file is missing.
    (state / "python").write_text(f"{python}\n{__file__}\n", encoding="utf-8")


def hook_environment(session_id: str, **more: str) -> Mapping[str, str]:
    """Return the environment that an agent gives to its hooks."""
    return copy_for_child(CLAUDE_CODE_SESSION_ID=session_id, **more)
