"""Inspect a project in a process that took no part in a trial, and list everything in it."""

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec

from leftoff import config
from leftoff.checkpoint import decode, encode
from leftoff.context import find_project, state_folder
from leftoff.digests import sha256
from leftoff.errors import LeftoffError
from leftoff.hooks import settle, spool
from leftoff.knowledge import features, memory
from leftoff.projects.project import Project
from leftoff.session import prompt_queue
from leftoff.snapshots.shelf import find_snapshot, list_snapshots
from leftoff.store import Store, StoreEvent, StoreIndex
from leftoff.store.layout import is_off
from leftoff.torture import child_programs, forks
from leftoff.torture.claims_ledger import Observation, halves_in, tokens_in
from leftoff.torture.inspector import Inspector
from leftoff.torture.world import Bench
from leftoff.wal.notes_place import place as notes_of

_ALL = 1_000_000
_SETTLES = 4


class ProbeTarget(msgspec.Struct, frozen=True, kw_only=True):
    """The folder to inspect, and whether to look for commits and for code as well."""

    folder: str
    has_commits: bool
    has_code: bool


def look(bench: Bench, inspector: Inspector) -> Observation:
    """Settle waiting events and inspect the project, in a process that did not see the trial."""
    answer = inspector.ask(msgspec.json.encode(_place(bench)))
    if answer is None:
        return Observation(found={}, problems=["a look at the project crashed or did not end"])
    return msgspec.json.decode(answer, type=Observation)


def look_rebuilt(bench: Bench) -> Observation:
    """Delete the indexes and inspect the project in a fresh process."""
    for path in bench.store.glob("*.sqlite*"):
        path.unlink()
    question = msgspec.json.encode(_place(bench))
    ended = forks.run(lambda: _print(answer(question)), cwd=bench.project)
    if ended.code != 0 or ended.signal:
        what = "hung" if ended.hung else f"ended with {ended.code}: {ended.last_line}"
        return Observation(found={}, problems=[f"a fresh look at the project {what}"])
    return msgspec.json.decode(ended.output, type=Observation)


def look_here(bench: Bench) -> bytes:
    """Inspect the project in this process."""
    return answer(msgspec.json.encode(_place(bench)))


def _place(bench: Bench) -> ProbeTarget:
    tried = bench.ledger.tried
    return ProbeTarget(
        folder=str(bench.project),
        has_commits=bool(tried["commit"]),
        has_code=bool(tried["code"]),
    )


def _print(data: bytes) -> None:
    with open(1, "wb", closefd=False) as output:
        output.write(data)


def answer(question: bytes) -> bytes:
    """Inspect a folder and return what is there, or why it cannot be read."""
    try:
        place = msgspec.json.decode(question, type=ProbeTarget)
        with contextlib.chdir(place.folder):
            seen = observe(place)
    except Exception as error:  # noqa: BLE001 - whatever keeps a reader from reading is a finding
        what = f"a look at the project failed: {type(error).__name__}: {error}"
        seen = Observation(found={}, problems=[what])
    return msgspec.json.encode(seen)


def observe(place: ProbeTarget) -> Observation:
    """Return everything that this process finds."""
    problems: list[str] = []
    _settle_all(state_folder(), problems)
    with contextlib.closing(Store(find_project(Path(place.folder)))) as store:
        return _observe_store(place, store, problems)


def _observe_store(place: ProbeTarget, store: Store, problems: list[str]) -> Observation:
    found: dict[str, list[str]] = {}
    half: list[str] = []
    digests: dict[str, str] = {}
    texts = [*_checkpoints(store, digests, problems), *_texts(store)]
    if place.has_commits:
        subjects = child_programs.git(Path(place.folder), "log", "--format=%s").splitlines()
        texts += [("commit", subject) for subject in subjects]
    if place.has_code:
        texts += [("code", text) for text in _codes(store.project, problems)]
    for kind, text in texts:
        found.setdefault(kind, []).extend(tokens_in(text))
        half += [f"{kind} {token}" for token in halves_in(text)]
    found["event"] = sorted(_events(store.index()))
    problems += [f"{entry.id} cannot be read" for entry in store.index().unreadable()]
    return Observation(
        found={kind: sorted(set(tokens)) for kind, tokens in found.items()},
        half=sorted(set(half)),
        digests=digests,
        registers=_registers(store.project),
        problems=problems,
    )


def _settle_all(state: Path, problems: list[str]) -> None:
    """Settle waiting events, as often as leftoff tries an event before it sets it aside."""
    for _ in range(_SETTLES):
        if not spool.list_letters(state):
            return
        settle.run(state, wait_seconds=30)
    if spool.list_letters(state):
        problems.append("events still wait in the spool after settle ran")


def _checkpoints(
    store: Store, digests: dict[str, str], problems: list[str]
) -> Iterator[tuple[str, str]]:
    for entry in store.index().newest(_ALL):
        try:
            data = store.read_raw(entry)
            checkpoint = decode(data)
        except (LeftoffError, OSError) as error:
            problems.append(f"{entry.id} is listed but cannot be read: {error}")
            continue
        digests[entry.id] = sha256(data).hexdigest()
        yield "checkpoint", encode(checkpoint).decode()


def _texts(store: Store) -> Iterator[tuple[str, str]]:
    every = memory.entries(store, statuses=memory.STATUSES, limit=_ALL)
    yield from (("memory", entry.text) for entry in every)
    yield from (("feature", item.name) for item in features.load(store).items)
    yield from (("prompt", prompt.text) for prompt in prompt_queue.history(store))
    # A reset moves notes to the trash, where they must be found too.
    for path in [
        notes_of(store.project, config.load(store.project).settings),
        *(store.project.store / "trash").rglob("*.md"),
    ]:
        if path.is_file():
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            yield from (("note", line) for line in lines)


def _codes(project: Project, problems: list[str]) -> Iterator[str]:
    """Yield the work in the worktree and in every snapshot that is listed."""
    yield from (path.read_text(encoding="utf-8") for path in project.worktree.glob("work.txt"))
    for _, snapshot in list_snapshots(project):
        try:
            stored = find_snapshot(project, snapshot.id)
            files = [*stored.read(stored.content.work)] if stored is not None else []
        except LeftoffError as error:
            problems.append(f"snapshot {snapshot.id} is listed but cannot be read: {error}")
            continue
        yield from (data.decode("utf-8", "replace") for _, data in files)


def _events(index: StoreIndex) -> set[str]:
    """Return which events happened to which checkpoint, by the token in its name."""
    events = {event.id: event for event in index.newest_events(_ALL)}
    tokens: defaultdict[str, set[str]] = defaultdict(set)
    for entry in index.newest(_ALL):
        tokens[entry.id] = tokens_in(entry.name or "")
    return {
        f"{event.action}:{token}"
        for event in events.values()
        for checkpoint in _list_affected(event, index)
        for token in tokens[checkpoint]
        if event.action not in {"saved", "purged"}
    }


def _list_affected(event: StoreEvent, index: StoreIndex) -> list[str]:
    # An undo names the act that it reverts, and the events of that name the checkpoints.
    undone = index.find_act(event.of) if event.of is not None else None
    return undone.ids if undone is not None else event.ids


def _registers(project: Project) -> dict[str, str]:
    settings = project.environment.find_agent_folder("claude") / "settings.json"
    is_wired = settings.is_file() and b"leftoff" in settings.read_bytes()
    loaded = config.load(project)
    return {
        "budget": "" if loaded.settings.budget == 1500 else str(loaded.settings.budget),
        "hooks": "wired" if is_wired else "",
        "switch": "off" if is_off(project) else "",
    }
