"""Make the first, second, … file operation fail, and check what is left.

It runs as a program, because it forks, and with the library of `faults.c` loaded: `faulting.py
FOLDER SCENARIO:CODE:EVERY …`. A code of -1 means a write that does half of its work. `EVERY` is 1
to let each call fail, and 4 to let each fourth one fail. Of equal calls that follow equal calls,
such as SQLite's writes to one file, only the first and the last one count.
"""

import contextlib
import ctypes
import errno
import functools
import itertools
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from deaths import import_all, lives, renew
from gitrepo import new_template
from leftoff.errors import ChoiceNeeded, LeftoffError
from leftoff.knowledge import features, memory
from leftoff.knowledge.features import ItemDraft as FeatureDraft
from leftoff.projects.project import Project
from leftoff.store import Store
from store.dying import SCENARIOS, Scenario
from stores import Row, draft, fresh_view, project_at

SHORT = -1
SOURCE = Path(__file__).with_name("faults.c")
# What a file system may lack, as in faults.c.
LINKS, CAREFUL_RENAMES, LOCKS, FOLDER_SYNC = 1, 2, 4, 8
_FAILED = 9
_NEVER = 2**31 - 1


def _remember(store: Store) -> None:
    memory.add(store, [memory.EntryDraft(kind="rule", text="Run the tests before a push.")])


def _remember_more(store: Store) -> None:
    memory.add(store, [memory.EntryDraft(kind="decision", text="Keep the files plain.")])
    memory.entries(store)


def _plan(store: Store) -> None:
    features.add(store, FeatureDraft(name="Exporter"))


def _rebuild(store: Store) -> None:
    store.index().rebuild()


def _unremember(store: Store) -> None:
    _remember(store)
    for left in store.project.store.glob("memory.sqlite*"):
        left.unlink()


MORE: dict[str, Scenario] = {
    "rebuild": Scenario(SCENARIOS["save"].prepare, _rebuild),
    "remember": Scenario(_remember, _remember_more),
    "remember-without-index": Scenario(_unremember, _remember_more),
    "feature": Scenario(_plan, lambda store: features.add(store, FeatureDraft(name="Importer"))),
}
ALL = {**SCENARIOS, **MORE}


@functools.cache
def library() -> Path:
    """Compile the library once, or skip the test where there is no compiler."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None or not sys.platform.startswith("linux"):
        reason = "needs Linux and a C compiler"
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)
    made = new_template() / "faults.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(made), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return made


View = tuple[list[Row], list[tuple[Any, str]], list[str]]


def _view(project: Project) -> View:
    """Tell all that a reader sees: checkpoints, what is remembered, features."""
    store = Store(project)
    try:
        remembered = sorted((each.kind, each.text) for each in memory.entries(store))
        planned = sorted(each.name for each in features.load(store).features)
        return fresh_view(project), remembered, planned
    finally:
        store.close()


def _act(project: Project, scenario: Scenario, at: int, code: int, *, is_sticky: bool) -> None:
    """Act with a fault; leave with another code if the act failed, as a user would see."""
    faults = ctypes.CDLL(None)
    folder = os.fsencode(project.root.parent)
    store = Store(project)
    faults.faults_arm(folder, at, code, int(is_sticky))
    try:
        scenario.act(store)
    except (LeftoffError, OSError):
        os._exit(_FAILED)
    finally:
        has_struck = faults.faults_seen() >= at
        faults.faults_arm(b"", 0, 0, 0)
    os._exit(0 if has_struck else 1)


def _run(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            work()
        os._exit(70)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def fail_at_calls(
    scenario: Scenario, folder: Path, code: int, calls: slice, *, is_sticky: bool
) -> int:
    """Repeat an operation, with a later call failing each time, until none fails; count them.

    `calls` selects some of those that differ from all others.
    """
    store = Store(project_at(folder / "template"))
    scenario.prepare(store)
    store.close()
    untouched, done = _copy(folder, "untouched"), _copy(folder, "done")
    assert lives(partial(_do, done, scenario, folder / "calls"))
    before, after = _view(untouched), _view(done)
    kinds: list[int]
    kinds, modules = json.loads((folder / "calls").read_bytes())
    import_all(modules)
    chosen = _choose_calls(kinds)[calls]
    for count, at in enumerate(itertools.chain(chosen, itertools.count(len(kinds) + 1))):
        project = _copy(folder, "struck")
        ended = _run(partial(_act, project, scenario, at, code, is_sticky=is_sticky))
        assert ended in {0, 1, _FAILED}, (at, ended)
        seen = _view(project)
        allowed = (before, after) if ended == _FAILED else (after,)
        assert seen in allowed or scenario.may_be_partial, (at, ended, seen, allowed)
        _check_truth(project, at)
        if ended == 1:
            return count
    raise AssertionError


def _copy(folder: Path, name: str) -> Project:
    return project_at(renew(folder / name, folder / "template"))


def _do(project: Project, scenario: Scenario, calls: Path) -> None:
    """Act without a fault, and note which calls there are."""
    faults = ctypes.CDLL(None)
    store = Store(project)
    faults.faults_arm(os.fsencode(project.root.parent), _NEVER, 0, 0)
    scenario.act(store)
    kinds = (ctypes.c_uint * faults.faults_seen()).in_dll(faults, "faults_kinds")
    faults.faults_arm(b"", 0, 0, 0)
    store.close()
    calls.write_text(json.dumps([[*kinds], [*sys.modules]]), encoding="utf-8")


def _choose_calls(kinds: list[int]) -> list[int]:
    """Return the numbers of the calls that are the first or the last of their kind.

    A kind is a call and the call before it: SQLite reads and writes the same files over and over.
    """
    steps = [*itertools.pairwise([0, *kinds])]
    first: dict[tuple[int, int], int] = {}
    last: dict[tuple[int, int], int] = {}
    for number, step in enumerate(steps, start=1):
        first.setdefault(step, number)
        last[step] = number
    return sorted({*first.values(), *last.values()})


def _check_truth(project: Project, at: int) -> None:
    """The index says what the files say, names in use are in use, and doctor agrees."""
    store = Store(project)
    _check_names(store, at)
    assert store.index().is_sound(), at
    assert memory.is_sound(store), at
    store.close()
    assert _check_database(project.store / "index.sqlite") == "ok", at


def _check_names(store: Store, at: int) -> None:
    for entry in store.index().heads(["open", "resumed", "declined"], 99):
        if entry.name is not None:
            with contextlib.suppress(ChoiceNeeded):
                store.save(draft(entry.name))
                raise AssertionError(f"{at}: {entry.name} was taken")


def _check_database(path: Path) -> str:
    if not path.exists():
        return "ok"
    with contextlib.closing(sqlite3.connect(path)) as db:
        return str(db.execute("PRAGMA integrity_check").fetchone()[0])


def main() -> None:
    """Do as asked and print the numbers of faults of each case."""
    folder, *cases = sys.argv[1:]
    counts = [
        _count_faults(Path(folder) / str(number), *case.split(":"))
        for number, case in enumerate(cases)
    ]
    print(json.dumps(counts))  # noqa: T201 - the answer


def _count_faults(folder: Path, name: str, code_text: str, every_text: str) -> list[int]:
    """Let calls fail, and return the number of faults; an error of the disk also stays."""
    code, every = int(code_text), int(every_text)
    # If only some calls fail, each case begins at another one, the same in every run.
    calls = slice(zlib.crc32(f"{name} {code}".encode()) % every, None, every)
    # An interrupted call is tried again, for ever if it is interrupted for ever.
    ways = {"once": False} | ({"stays": True} if code in {errno.EIO, errno.ENOSPC} else {})
    try:
        return [
            fail_at_calls(ALL[name], folder / way, code, calls, is_sticky=is_sticky)
            for way, is_sticky in ways.items()
        ]
    except BaseException as error:
        error.add_note(f"in {name} with the code {code}")
        raise


if __name__ == "__main__":
    main()
