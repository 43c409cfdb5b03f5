"""Kill a ship at every step it takes, and let the next run finish it.

Run as a program, because it forks: `dying.py SCENARIO FOLDER`. Prints the number of kills.
"""

import contextlib
import io
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from leftoff import features, memory
from leftoff.cli import run
from leftoff.context import find_project
from leftoff.store import Store
from ship import fake_gh
from ship.shop import Shop

# What is done to the store; git and gh are programs of their own.
_STEPS = ("fsync", "link", "replace", "rename")
# What others see of a ship.
_OUTWARD = frozenset({"commit", "push", "gh"})


class Scenario(NamedTuple):
    """What was there before, what may kill, and what must be there in the end."""

    prepare: Callable[[Path], None]
    may_kill: Callable[[Sequence[str] | None], bool]
    check: Callable[[Path, int], None]


def _prepare(folder: Path) -> None:
    """Make a project with something to ship: a feature done, a decision, a change, a secret."""
    shop = _shop(folder)
    store = Store(find_project(shop.folder))
    features.pass_(store, "1")
    store.close()
    told = ("--summary", "Export orders", "--done", "Streamed", "--decision", "Stream :: memory")
    _run("save", "csv", *told)


def _prepare_update(folder: Path) -> None:
    """Make a project whose pull request is open, with more to ship and files to mirror."""
    shop = _shop(folder)
    _run("config", "set", "--project", "mirror", "harness")
    _run("ship", "-m", "Export orders")
    shop.write("app.py", "print('more')\n")
    _run("save", "csv", "--summary", "Quote commas", "--done", "Quoted")


def _shop(folder: Path) -> Shop:
    shop = Shop(folder)
    shop.git("remote", "set-url", "origin", "../remote.git")
    store = Store(find_project(shop.folder))
    features.add(store, features.Draft(name="Export orders", issue=3))
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


def _arm(at: int, may_kill: Callable[[Sequence[str] | None], bool]) -> None:
    """Let this process die before its Nth step, or once it has started a program."""
    count = itertools.count(1)
    for name in _STEPS if may_kill(None) else ():
        setattr(os, name, _dying(getattr(os, name), count, at))
    start = subprocess.Popen.__init__

    def begin(process: Any, arguments: Sequence[str], **options: Any) -> None:
        counts = may_kill(arguments)
        if counts:
            _step(count, at)
        start(process, arguments, **options)
        if counts:
            _step(count, at)

    setattr(subprocess.Popen, "__init__", begin)  # noqa: B010 - mypy knows it for a method


def _dying(real: Callable[..., Any], count: Iterator[int], at: int) -> Callable[..., Any]:
    def step(*arguments: Any, **options: Any) -> Any:
        _step(count, at)
        return real(*arguments, **options)

    return step


def _step(count: Iterator[int], at: int) -> None:
    if next(count) == at:
        os.kill(os.getpid(), signal.SIGKILL)


def _ship(at: int | None, scenario: Scenario) -> tuple[bool, str]:
    """Ship in a child; say whether it lived, and what it said if that was of trouble."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        sys.stdout, sys.stderr = (open(fd, "w", encoding="utf-8", closefd=False) for fd in (1, 2))  # noqa: SIM115 - the child's own
        if at is not None:
            _arm(at, scenario.may_kill)
        os._exit(run(["ship"]))
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False, ""
    return True, "" if os.WEXITSTATUS(status) == 0 else told


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
    assert work == ["feat(feature-001): Export orders"] * 2, (at, subjects)
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
    assert all(loop.status == "idle" for loop in features.loops(store).values()), at
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


SCENARIOS = {
    "open": Scenario(_prepare, lambda _: True, _check),
    "update": Scenario(_prepare_update, _is_outward, _check_update),
}


def kill_at_every_step(scenario: Scenario, folder: Path) -> int:
    """Repeat a ship, killed one step later each time, until it completes; count the kills."""
    template, place = folder / "template", folder / "place"
    (place / "github").mkdir(parents=True)
    (place / "github" / "state.json").write_text(json.dumps({"issues": {"3": ["bug"]}}))
    os.environ["FAKE_GH"] = str(place / "github")
    scenario.prepare(place)
    os.chdir(folder)
    # Moved away and back: a loop belongs to the folder it was begun in.
    place.rename(template)
    for at in itertools.count(1):
        os.chdir(folder)
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(template, place)
        os.chdir(place / "shop")
        lived, trouble = _ship(at, scenario)
        assert not trouble, (at, trouble)
        if not lived:
            _, trouble = _ship(None, scenario)
            assert not trouble, (at, trouble)
        scenario.check(place, at)
        if lived:
            return at - 1
    raise AssertionError


if __name__ == "__main__":
    print(kill_at_every_step(SCENARIOS[sys.argv[1]], Path(sys.argv[2])))  # noqa: T201 - the answer
