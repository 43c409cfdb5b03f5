"""Kill operations on the store at every step they take on disk, or at any moment.

Run as a program, because it forks: `dying.py FOLDER SCENARIO …`, `dying.py any FOLDER`.
"""

import hashlib
import itertools
import json
import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import deaths
from deaths import Death, Trial
from leftoff.checkpoint import decode, encode
from leftoff.projects.project import Project
from leftoff.store import BY_PROMPT, SavedCheckpoint, Store, layout, log
from stores import Row, contents, draft, fresh_view, project_at, rebuilt_view, view

# What four saves acknowledge.
_SEVERAL_BYTES = 400
_KILLS = 500
# In one project the last kills would take many times as long as the first.
_PROJECTS = 5


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
    """Leave everything that was saved for the reader to import."""
    _prepare(store)
    store.close()
    (store.project.store / "index.sqlite").unlink()


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
    gamma, beta = (index.revisions(store.find(name).slot) for name in ("gamma", "beta"))
    store.purge([*gamma, beta[-1]])


def _record(action: layout.Action, name: str) -> Callable[[Store], object]:
    return lambda store: store.record(action, [store.find(name).id])


def _save(name: str | None, **options: Any) -> Callable[[Store], object]:
    overwrite = options.pop("overwrite", False)
    return lambda store: store.save(draft(name, "new", **options), overwrite=overwrite)


def _join(name: str, trigger: str | None = None) -> Callable[[Store], object]:
    """Resume in a session, by the command or by a prompt such as "continue"."""
    session = ("claude", "s2")
    return lambda store: store.record(
        "resumed", [store.find(name).id], session=session, trigger=trigger
    )


def _prepare_then(*acts: Callable[[Store], object]) -> Callable[[Store], object]:
    def prepare(store: Store) -> None:
        _prepare(store)
        for act in acts:
            act(store)

    return prepare


def _continue(name: str, new_name: str) -> Callable[[Store], object]:
    return lambda store: store.save(draft(new_name, "new", thread=store.find(name).slot))


SCENARIOS: dict[str, Scenario] = {
    "list": Scenario(_prepare_unread, view),
    "first-save": Scenario(lambda _: None, _save("omega")),
    "save": Scenario(_prepare, _save("omega")),
    "save-unnamed": Scenario(_prepare, _save(None, session_id="s1", agent="claude")),
    "overwrite": Scenario(_prepare, _save("beta", overwrite=True)),
    "resume": Scenario(_prepare, _record("resumed", "beta")),
    "clear": Scenario(_prepare, _record("cleared", "beta")),
    "consume": Scenario(_prepare, _record("consumed", "alpha")),
    "drop": Scenario(_prepare, _record("dropped", "alpha")),
    "join": Scenario(_prepare, _join("beta")),
    "join-by-prompt": Scenario(_prepare, _join("beta", BY_PROMPT)),
    "join-by-save": Scenario(
        _prepare, _save("beta", session_id="s2", agent="claude", overwrite=True)
    ),
    "continue": Scenario(_prepare, _continue("beta", "beta")),
    "rename": Scenario(_prepare, _continue("beta", "omega")),
    "undo-clear": Scenario(_prepare, Store.undo),
    "undo-overwrite": Scenario(_prepare_then(_save("alpha", overwrite=True)), Store.undo),
    "undo-join": Scenario(_prepare_then(_join("beta")), Store.undo),
    "undo-consume": Scenario(_prepare_then(_record("consumed", "beta")), Store.undo),
    "undo-drop": Scenario(_prepare_then(_record("dropped", "beta")), Store.undo),
    "redo-consume": Scenario(_prepare_then(_record("consumed", "beta"), Store.undo), Store.redo),
    "redo-join": Scenario(_prepare_then(_join("beta"), Store.undo), Store.redo),
    "redo-drop": Scenario(_prepare_then(_record("dropped", "beta"), Store.undo), Store.redo),
    "purge": Scenario(_prepare, _purge_gamma_and_old_beta, may_be_partial=True),
    "adopt-and-list": Scenario(_prepare_fallback, view),
    "adopt-and-save": Scenario(_prepare_fallback, _save("omega")),
    "move-in-and-list": Scenario(_prepare_earlier, view),
    "move-in-and-save": Scenario(_prepare_earlier, _save("omega")),
    "merge-and-list": Scenario(_prepare_both, view),
    "merge-and-save": Scenario(_prepare_both, _save("omega")),
    "adopt-and-clear": Scenario(_prepare_fallback, _record("cleared", "delta")),
}


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


def _check_every_event(project: Project, *, is_purged: bool) -> None:
    """Nothing is acknowledged as saved that is not there."""
    there = {Path(name).stem for name in _checkpoint_files(project)}
    for area in (project.fallback, project.store, *project.earlier):
        for event in log.read(area / "events.jsonl", layout.decode_event)[0]:
            if event.action == "saved":
                assert is_purged or there.issuperset(event.ids), event


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


class Seen(NamedTuple):
    """What a reader sees of a store, and the files it was made of."""

    rows: list[Row]
    threads: dict[str, str | None]
    """The name of the thread that each session is in."""
    files: dict[str, str]
    settings: set[str]

    @property
    def state(self) -> tuple[list[Row], dict[str, str | None]]:
        return self.rows, self.threads


def look(place: Path) -> Seen:
    """Return what a reader sees who opens the store just now."""
    project = project_at(place)
    return Seen(
        fresh_view(project), _threads(project), _checkpoint_files(project), _settings(place)
    )


def _threads(project: Project) -> dict[str, str | None]:
    store = Store(project)
    found = {each: store.index().find_thread(each) for each in ("s1", "s2", "s3")}
    store.close()
    return {session: head.name if head else None for session, head in found.items()}


def _prepare_in(place: Path, scenario: Scenario) -> None:
    store = Store(project_at(place))
    scenario.prepare(store)
    store.close()


def _act_in(place: Path, scenario: Scenario) -> None:
    scenario.act(Store(project_at(place)))


def _check(place: Path, death: Death, scenario: Scenario) -> None:
    """All of it is done or nothing, no file is lost or half, and the store works on."""
    before, after, seen = death.before, death.after, look(place)
    if death.lived:
        assert seen.state == after.state, (death.at, seen.state)
    elif scenario.may_be_partial:
        # A purge in half leaves fewer rows, and another revision may have become the head.
        assert _texts(after) <= _texts(seen) <= _texts(before), (death.at, seen.rows)
    else:
        assert seen.state in (before.state, after.state), (death.at, seen.state)
    assert before.files.items() & after.files.items() <= seen.files.items(), death.at
    assert before.settings <= seen.settings, death.at
    check_store(project_at(place), is_purged=scenario.may_be_partial)


def check_store(project: Project, *, is_purged: bool = False) -> None:
    """Every file and event is whole, and the store works on."""
    _check_every_file(project)
    _check_every_event(project, is_purged=is_purged)
    _check_usable(project)


def _texts(seen: Seen) -> set[str]:
    return {repr(row[:2]) for row in seen.rows}


# These write a line of the log as `clear`, `undo-clear` or `adopt-and-save` does.
ALIKE = {
    *("resume", "join-by-prompt", "undo-join", "undo-consume", "undo-drop", "redo-consume"),
    *("redo-drop", "adopt-and-clear"),
}
TRIALS: dict[str, Trial] = {
    name: Trial(
        prepare=partial(_prepare_in, scenario=scenario),
        act=partial(_act_in, scenario=scenario),
        look=look,
        check=partial(_check, scenario=scenario),
        every=3 if name in ALIKE else 1,
    )
    for name, scenario in SCENARIOS.items()
}


# --- at any moment ---


class Ack(NamedTuple):
    """What a worker did: a save with the hash of its file, or an event."""

    id: str
    digest: str | None


def _work_until_killed(seed: int, tell: Callable[[str], None], *, project: Project) -> None:
    rng = random.Random(seed)  # noqa: S311 - no secret
    store = Store(project)
    for number in itertools.count():
        ack = _one_operation(store, rng, f"w{seed}-{number}")
        if ack is not None:
            tell(json.dumps(ack))


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
    saved: SavedCheckpoint = store.save(draft(named, "text " * rng.randrange(400)), overwrite=True)
    return Ack(saved.checkpoint.id, hashlib.sha256(encode(saved.checkpoint)).hexdigest())


def kill_at_any_moment(folder: Path, kills: int) -> int:
    """Kill pairs of writers at random moments; count the acknowledgements, which must all hold."""
    project = project_at(folder)
    checked, recorded = itertools.count(1), _Recorded(project)

    def check(lines: list[str]) -> None:
        _check_acks(project, lines, recorded.read())
        if next(checked) % 50 == 0:
            _check_every_file(project)
            assert fresh_view(project) == rebuilt_view(project)

    work = partial(_work_until_killed, project=project)
    acks = deaths.kill_at_any_moment(work, check, kills=kills, together=2, several=_SEVERAL_BYTES)
    _check_acks(project, acks, _Recorded(project).read())
    _check_every_file(project)
    _check_usable(project)
    return len(acks)


class _Recorded:
    """The events in the log, of which each reading reads only the new ones."""

    def __init__(self, project: Project) -> None:
        self._log, self._offset = project.store / "events.jsonl", 0
        self._known: set[str] = set()

    def read(self) -> set[str]:
        """Return the ids of all events."""
        events, self._offset = log.read(self._log, layout.decode_event, self._offset)
        self._known |= {event.id for event in events}
        return self._known


def _check_acks(project: Project, lines: list[str], known: set[str]) -> None:
    for ack in (Ack(*json.loads(line)) for line in lines):
        if ack.digest is None:
            assert ack.id in known, ack
        else:
            path = project.store / "checkpoints" / f"{ack.id[:4]}-{ack.id[4:6]}" / f"{ack.id}.json"
            assert hashlib.sha256(path.read_bytes()).hexdigest() == ack.digest, ack


if __name__ == "__main__":
    if sys.argv[1] == "any":
        places = [Path(sys.argv[2], str(number)) for number in range(_PROJECTS)]
        found = [kill_at_any_moment(place, _KILLS // _PROJECTS) for place in places]
        sys.stdout.write(str(sum(found)))
    else:
        deaths.main(TRIALS)
