"""Kill a process at every step it takes on disk, or at any moment, and look at what is left.

Run as a program, because it forks: `deaths.py step SCENARIO FOLDER`, `deaths.py any KILLS FOLDER`.
"""

import fcntl
import hashlib
import itertools
import json
import os
import random
import shutil
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from leftoff.checkpoint import decode, encode
from leftoff.projects import Project
from leftoff.store import Saved, Store, events, log
from stores import Row, contents, draft, fresh_view, project_at, rebuilt_view, view

# All that the store does to the disk, apart from SQLite's own work on the derived index.
STEPS = (
    *((os, name) for name in ("open", "write", "fsync", "link", "unlink", "replace", "rename")),
    *((os, name) for name in ("mkdir", "rmdir", "pread", "read", "close", "scandir", "listdir")),
    (fcntl, "flock"),
)
MANY = 10_000
# What four saves tell.
_SEVERAL_BYTES = 400
_PATIENCE_SECONDS = 60


class Scenario(NamedTuple):
    """Something a user does, and what was there before."""

    prepare: Callable[[Store], object]
    act: Callable[[Store], object]
    may_be_partial: bool = False


def _prepare(store: Store) -> None:
    for name in ("alpha", "beta", "gamma"):
        store.save(draft(name, f"{name} first"))
    store.save(draft("beta", "beta second"), overwrite=True)
    store.save(draft(None, "unnamed", session_id="s1", agent="claude"))
    store.record("cleared", [store.find("gamma").id])
    store.index()


def _prepare_unread(store: Store) -> None:
    """Leave all that was saved for the reader to take in."""
    _prepare(store)
    store.close()
    (store.project.store / "index.sqlite").unlink()


def _prepare_overwrite(store: Store) -> None:
    _prepare(store)
    store.save(draft("alpha", "alpha second"), overwrite=True)


def _prepare_fallback(store: Store) -> None:
    """Save to both places, as if the store had been read-only for a while."""
    _prepare(store)
    elsewhere = Store(_moved(store.project))
    elsewhere.save(draft("delta", "saved while read-only"))
    elsewhere.save(draft("epsilon", "same"))
    elsewhere.record("cleared", [elsewhere.find("epsilon").id])
    elsewhere.close()
    elsewhere.project.store.joinpath("index.sqlite").unlink(missing_ok=True)


def _prepare_earlier(store: Store) -> None:
    """Save in another place only, as before a `git init`."""
    place = store.project.store.with_name("earlier")
    elsewhere = Store(_moved(store.project, place))
    elsewhere.save(draft("zeta", "saved before"))
    elsewhere.record("cleared", [elsewhere.save(draft("eta", "same")).checkpoint.id])
    elsewhere.keep_session("claude", "s1", b"{}")
    elsewhere.close()
    for name in ("config.toml", "features.json", "index.sqlite"):
        (place / name).write_text("{}", encoding="utf-8")


def _prepare_both(store: Store) -> None:
    _prepare(store)
    _prepare_earlier(store)
    (store.project.store / "config.toml").write_text("another", encoding="utf-8")


def _moved(project: Project, place: Path | None = None) -> Project:
    return Project(
        environment=project.environment,
        root=project.root,
        worktree=project.worktree,
        store=place or project.fallback,
        fallback=project.fallback.parent / "unused",
    )


def _purge_gamma_and_old_beta(store: Store) -> None:
    index = store.index()
    store.purge([*index.revisions("gamma"), index.revisions("beta")[-1]])


def _record(action: events.Action, name: str) -> Callable[[Store], object]:
    return lambda store: store.record(action, [store.find(name).id])


def _save(name: str | None, **options: Any) -> Callable[[Store], object]:
    overwrite = options.pop("overwrite", False)
    return lambda store: store.save(draft(name, "new", **options), overwrite=overwrite)


SCENARIOS: dict[str, Scenario] = {
    "list": Scenario(_prepare_unread, view),
    "first-save": Scenario(lambda _: None, _save("omega")),
    "save": Scenario(_prepare, _save("omega")),
    "save-unnamed": Scenario(_prepare, _save(None, session_id="s1", agent="claude")),
    "overwrite": Scenario(_prepare, _save("beta", overwrite=True)),
    "resume": Scenario(_prepare, _record("resumed", "beta")),
    "clear": Scenario(_prepare, _record("cleared", "beta")),
    "consume": Scenario(_prepare, _record("consumed", "alpha")),
    "undo-clear": Scenario(_prepare, Store.undo),
    "undo-overwrite": Scenario(_prepare_overwrite, Store.undo),
    "purge": Scenario(_prepare, _purge_gamma_and_old_beta, may_be_partial=True),
    "adopt-and-list": Scenario(_prepare_fallback, view),
    "adopt-and-save": Scenario(_prepare_fallback, _save("omega")),
    "move-in-and-list": Scenario(_prepare_earlier, view),
    "move-in-and-save": Scenario(_prepare_earlier, _save("omega")),
    "merge-and-list": Scenario(_prepare_both, view),
    "merge-and-save": Scenario(_prepare_both, _save("omega")),
    "adopt-and-clear": Scenario(_prepare_fallback, _record("cleared", "delta")),
}


def _arm(at: int, *, halfway: bool) -> None:
    """Let this process die before its Nth step, or in the middle of its Nth write."""
    count = itertools.count(1)
    for module, name in STEPS:
        if not halfway or name == "write":
            setattr(module, name, _dying(getattr(module, name), count, at, halfway=halfway))


def _dying(
    real: Callable[..., Any], count: Iterator[int], at: int, *, halfway: bool
) -> Callable[..., Any]:
    def step(*arguments: Any, **options: Any) -> Any:
        if next(count) == at:
            if halfway:
                real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)

    return step


def _in_child(work: Callable[[], None]) -> bool:
    """Run the work in a child; say whether it lived to the end."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - a child must never run the parent's code
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    assert os.WEXITSTATUS(status) == 0, "the work failed by itself"
    return True


def _act(project: Project, scenario: Scenario, at: int, *, halfway: bool) -> None:
    _arm(at, halfway=halfway)
    store = Store(project)
    scenario.act(store)
    # Returned, hence acknowledged: from here on no step may undo it.


def _checkpoint_files(project: Project) -> dict[str, str]:
    found: dict[str, str] = {}
    for area in (project.fallback, project.store, *project.earlier):
        for path, digest in contents(area / "checkpoints").items():
            assert found.setdefault(Path(path).name, digest) == digest, "two contents for one id"
    return found


def _settings(folder: Path) -> set[str]:
    """Return the contents of the files in a store that are neither checkpoints nor logs."""
    found = contents(folder).items()
    return {digest for path, digest in found if path.endswith(("config.toml", "features.json"))}


def _check_every_file(project: Project) -> None:
    for area in (project.fallback, project.store, *project.earlier):
        for path in (area / "checkpoints").rglob("*"):
            assert path.is_dir() or decode(path.read_bytes()).id == path.stem, path


def _check_every_event(project: Project, scenario: Scenario) -> None:
    """Nothing is told to be saved that is not there."""
    there = {Path(name).stem for name in _checkpoint_files(project)}
    for area in (project.fallback, project.store, *project.earlier):
        for event in log.read(area / "events.jsonl", events.decode)[0]:
            if event.action == "saved":
                assert scenario.may_be_partial or there.issuperset(event.ids), event


def _check_usable(project: Project) -> None:
    """Do what a user would do next, and find it done, with and without the index."""
    store = Store(project)
    for entry in store.index().heads(["open"], 1):
        store.record("declined", [entry.id])
        assert store.index().events_of(entry.id)[-1].action == "declined"
    saved = store.save(draft("after-the-crash", "after"))
    assert saved.notice is None, saved.notice
    assert list((project.store / "tmp").iterdir()) == [], "temp files are left"
    store.record("cleared", [saved.checkpoint.id])
    assert (reverted := store.undo()) is not None
    assert reverted.ids == [saved.checkpoint.id]
    assert store.find("after-the-crash").state == "open"
    assert store.index().unreadable() == []
    seen = view(store)
    store.close()
    assert seen == fresh_view(project)
    assert seen == rebuilt_view(project)


class Expected(NamedTuple):
    """What may be seen after a crash."""

    before: list[Row]
    after: list[Row]
    kept: set[tuple[str, str]]
    may_be_partial: bool

    def allows(self, seen: list[Row]) -> bool:
        """Say whether a reader may see this after a crash: all of it or nothing."""
        if self.may_be_partial:
            return _texts(self.after) <= _texts(seen) <= _texts(self.before)
        return seen in (self.before, self.after)


def _texts(rows: list[Row]) -> set[str]:
    # A purge in half leaves fewer rows, and another revision may have become the head.
    return {repr(row[:2]) for row in rows}


def kill_at_every_step(scenario: Scenario, folder: Path, *, halfway: bool) -> int:
    """Repeat an operation, killed one step later each time, until it completes; count the kills."""
    store = Store(project_at(folder / "template"))
    scenario.prepare(store)
    store.close()
    expected = _expected(scenario, folder)
    for at in itertools.count(1):
        project = _copy(folder, "crashed")
        lived = _in_child(partial(_act, project, scenario, at, halfway=halfway))
        seen = fresh_view(project)
        assert seen == expected.after if lived else expected.allows(seen), (at, seen)
        assert expected.kept <= _checkpoint_files(project).items(), at
        assert _settings(folder / "template") <= _settings(folder / "crashed"), at
        _check_every_file(project)
        _check_every_event(project, scenario)
        _check_usable(project)
        if lived:
            return at - 1
    raise AssertionError


def _expected(scenario: Scenario, folder: Path) -> Expected:
    untouched, done = _copy(folder, "untouched"), _copy(folder, "done")
    assert _in_child(partial(_act, done, scenario, MANY, halfway=False))
    kept = _checkpoint_files(untouched).items() & _checkpoint_files(done).items()
    return Expected(fresh_view(untouched), fresh_view(done), kept, scenario.may_be_partial)


def _copy(folder: Path, name: str) -> Project:
    shutil.rmtree(folder / name, ignore_errors=True)
    if (folder / "template").exists():
        shutil.copytree(folder / "template", folder / name)
    return project_at(folder / name)


# --- at any moment ---


class Ack(NamedTuple):
    """What a child said was done: a save with the hash of its file, or an event."""

    id: str
    digest: str | None


def _work_until_killed(project: Project, pipe: int, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - no secret
    store = Store(project)
    for number in itertools.count():
        ack = _one_operation(store, rng, f"w{seed}-{number}")
        if ack is not None:
            os.write(pipe, (json.dumps(ack) + "\n").encode())


def _one_operation(store: Store, rng: random.Random, name: str) -> Ack | None:
    kind = rng.choice(["new", "new", "same", "unnamed", "clear", "undo", "list"])
    if kind == "list":
        view(store)
        return None
    if kind == "undo":
        store.undo()
        return None
    if kind == "clear":
        heads = store.index().heads(["open"], 5)
        return Ack(store.record("cleared", [rng.choice(heads).id]).id, None) if heads else None
    named = {"new": name, "same": "same", "unnamed": None}[kind]
    saved: Saved = store.save(draft(named, "text " * rng.randrange(400)), overwrite=True)
    return Ack(saved.checkpoint.id, hashlib.sha256(encode(saved.checkpoint)).hexdigest())


def _start(project: Project, seed: int) -> tuple[int, int]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _work_until_killed(project, writer, seed)
        except BaseException as error:  # noqa: BLE001 - a child must never run the parent's code
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(1)
    os.close(writer)
    return child, reader


def _kill(child: int, reader: int) -> list[Ack]:
    """Kill a child and return what it had acknowledged."""
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "a child failed by itself"
    with os.fdopen(reader, "rb") as pipe:
        return [Ack(*json.loads(line)) for line in pipe if line.endswith(b"\n")]


def _wait_for_acks(reader: int) -> None:
    """Wait until a child has told of several things done, however slow the machine is."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while _waiting_bytes(reader) < _SEVERAL_BYTES:
        assert time.monotonic() < deadline, "a child tells nothing"
        time.sleep(0.001)


def _waiting_bytes(reader: int) -> int:
    count = fcntl.ioctl(reader, termios.FIONREAD, b"\0\0\0\0")
    return int.from_bytes(count, sys.byteorder)


def kill_at_any_moment(folder: Path, kills: int) -> int:
    """Kill pairs of writers at random moments; count the acknowledgements, which must all hold."""
    project = project_at(folder)
    rng = random.Random(kills)  # noqa: S311 - no secret
    acks: list[Ack] = []
    for number in range(0, kills, 2):
        children = [_start(project, number), _start(project, number + 1)]
        for child in children:
            # Half of them early, while they begin; the others in the middle of their work.
            if rng.random() < 0.5:
                _wait_for_acks(child[1])
            time.sleep(rng.uniform(0, 0.01))
            told = _kill(*child)
            _check_acks(project, told)
            acks += told
        if number % 50 == 0:
            _check_every_file(project)
            assert fresh_view(project) == rebuilt_view(project)
    _check_acks(project, acks)
    _check_every_file(project)
    _check_usable(project)
    return len(acks)


def _check_acks(project: Project, acks: list[Ack]) -> None:
    told, _ = log.read(project.store / "events.jsonl", events.decode)
    known = {event.id for event in told}
    for ack in acks:
        if ack.digest is None:
            assert ack.id in known, ack
        else:
            path = project.store / "checkpoints" / f"{ack.id[:4]}-{ack.id[4:6]}" / f"{ack.id}.json"
            assert hashlib.sha256(path.read_bytes()).hexdigest() == ack.digest, ack


def main() -> None:
    """Do as asked and print the number of kills, or of acknowledgements."""
    how, what, place = sys.argv[1:]
    if how == "any":
        print(kill_at_any_moment(Path(place), int(what)))  # noqa: T201 - the answer
        return
    folder = Path(place)
    whole = kill_at_every_step(SCENARIOS[what], folder / "whole", halfway=False)
    half = kill_at_every_step(SCENARIOS[what], folder / "half", halfway=True)
    print(json.dumps({"steps": whole, "writes": half}))  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
