"""Kill a ship at every step it takes, and let the next run finish it.

Run as a program, because it forks: `dying.py FOLDER SCENARIO …`.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import deaths
from deaths import Death, Fuse, Trial
from leftoff.cli import run
from leftoff.context import find_project
from leftoff.knowledge import features, memory
from leftoff.store import Store
from ship import fake_gh
from ship.shop import Shop

# These calls change the store; its own tests also kill it between them. git and gh run beside them.
_STEPS = ("link", "replace", "rename")
# What others see of a ship.
_OUTWARD = frozenset({"commit", "push", "gh"})


def _prepare(folder: Path) -> None:
    """Make a project with something to ship: a feature done, a decision, a change, a secret."""
    shop = _shop(folder)
    store = Store(find_project(shop.folder))
    features.pass_(store, "1")
    store.close()
    arguments = (
        "--summary",
        "Export orders",
        "--done",
        "Streamed",
        "--decision",
        "Stream :: memory",
    )
    _run("save", "csv", *arguments)


def _prepare_update(folder: Path) -> None:
    """Make a project whose pull request is open, with more to ship and files to mirror."""
    shop = _shop(folder)
    _run("config", "set", "--project", "mirror", "harness")
    _run("ship", "-m", "Export orders")
    shop.write("app.py", "print('more')\n")
    _run("save", "csv", "--summary", "Quote commas", "--done", "Quoted")


def _shop(folder: Path) -> Shop:
    (folder / "github").mkdir()
    (folder / "github" / "state.json").write_text(json.dumps({"issues": {"3": ["bug"]}}))
    os.environ["FAKE_GH"] = str(folder / "github")
    shop = Shop(folder)
    shop.git("remote", "set-url", "origin", "../remote.git")
    store = Store(find_project(shop.folder))
    features.add(store, features.ItemDraft(name="Export orders", issue=3))
    features.start(store, "1")
    store.close()
    os.chdir(shop.folder)
    shop.write("app.py", "print('csv')\n")
    shop.write(".env", "TOKEN=x\n")
    return shop


def _run(*words: str) -> None:
    with contextlib.redirect_stdout(_nowhere()), contextlib.redirect_stderr(_nowhere()):
        assert run(words) == 0, words


def _nowhere() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


def _arm(fuse: Fuse, may_kill: Callable[[Sequence[str] | None], bool]) -> None:
    """Let this process die before a step on disk, or before or after it starts a program."""
    for name in _STEPS if may_kill(None) else ():
        setattr(os, name, deaths.wrap(getattr(os, name), fuse))
    start = subprocess.Popen.__init__

    def begin(process: Any, arguments: Sequence[str], **options: Any) -> None:
        counts = may_kill(arguments)
        if counts:
            fuse.step()
        start(process, arguments, **options)
        if counts:
            fuse.run_beside()

    setattr(subprocess.Popen, "__init__", begin)  # noqa: B010 - mypy knows it for a method


def _ship(folder: Path) -> None:
    """Ship, in a child of its own: what it and its programs print is shown only if it fails."""
    os.environ["FAKE_GH"] = str(folder / "github")
    os.chdir(folder / "shop")
    trouble = os.dup(2)
    with (folder / "said").open("w", encoding="utf-8") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    sys.stdout, sys.stderr = (open(fd, "w", encoding="utf-8", closefd=False) for fd in (1, 2))  # noqa: SIM115 - the child's own
    code = run(["ship"])
    os.dup2(trouble, 2)
    assert code == 0, (folder / "said").read_text("utf-8")


def _check_attempt(folder: Path, death: Death, check: Callable[[Path, int], None]) -> None:
    """The next run finishes what a killed one began."""
    assert death.lived or deaths.lives(partial(_ship, folder)), death.at
    check(folder, death.at)


def _check(folder: Path, at: int) -> None:
    """Everything is there, and nothing twice."""
    shop = Repo(folder / "shop")
    subjects = shop("log", "--format=%s", "main..").splitlines()
    assert subjects == ["feat(feature-001): Export orders"], (at, subjects)
    pull = _check_outside(folder, at)
    assert pull["title"] == "feat: Export orders", at
    assert pull["body"].count("- Streamed") == 1, at
    assert pull["comments"] == [], at
    _check_store(folder / "shop", at)


def _check_update(folder: Path, at: int) -> None:
    """There is one more commit and one comment, and the mirrored files are committed."""
    shop = Repo(folder / "shop")
    subjects = shop("log", "--format=%s", "main..").splitlines()
    work = [subject for subject in subjects if not subject.startswith("chore(leftoff)")]
    expected = ["feat(feature-001): Quote commas", "feat(feature-001): Export orders"]
    assert work == expected, (at, subjects)
    pull = _check_outside(folder, at)
    assert pull["body"].count("- Quoted") == 1, at
    assert len(pull["comments"]) == 1, (at, pull["comments"])


def _check_outside(folder: Path, at: int) -> dict[str, Any]:
    shop = Repo(folder / "shop")
    assert shop("status", "--porcelain") == "?? .env", at
    there = shop("ls-remote", "origin", "refs/heads/feature/csv").split()[0]
    assert there == shop("rev-parse", "HEAD"), at
    (pull,) = fake_gh.Hub(folder / "github").state["pulls"]
    found: dict[str, Any] = pull
    return found


def _check_store(folder: Path, at: int) -> None:
    store = Store(find_project(folder))
    item = features.find(features.load(store), "1")
    assert (item.pr, item.is_archived) == (12, True), at
    assert [entry.text for entry in memory.entries(store)] == ["Stream"], at
    assert all(loop.status == "idle" for loop in features.load_loops(store).values()), at
    newest = store.load(store.index().newest(1)[0])
    assert (newest.trigger, newest.summary) == ("ship", "Export orders"), at
    store.close()


class Repo:
    """A repository that git is asked about."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str) -> str:
        done = subprocess.run(
            ("git", *arguments), cwd=self.folder, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()


def _is_outward(arguments: Sequence[str] | None) -> bool:
    return arguments is not None and not _OUTWARD.isdisjoint(arguments[:3])


def _trial(
    prepare: Callable[[Path], None],
    may_kill: Callable[[Sequence[str] | None], bool],
    check: Callable[[Path, int], None],
) -> Trial:
    return Trial(
        prepare=prepare,
        act=_ship,
        look=lambda _: None,
        check=partial(_check_attempt, check=check),
        arms={"steps": partial(_arm, may_kill=may_kill)},
    )


TRIALS = {
    "open": _trial(_prepare, lambda _: True, _check),
    "update": _trial(_prepare_update, _is_outward, _check_update),
}


if __name__ == "__main__":
    deaths.main(TRIALS)
