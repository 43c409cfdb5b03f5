"""The index is derived: if it is damaged, answers stay right and no error is shown."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from leftoff.checkpoint import decode
from leftoff.projects.project import Project
from leftoff.store import Query, Store, disk
from leftoff.store.index_sync import VERSION
from stores import Clock, Row, draft, fresh_view, rebuilt_view, view


@pytest.fixture
def seen(store: Store) -> list[Row]:
    """Fill a store with a bit of everything, and return what a reader sees."""
    for number in range(30):
        store.save(draft(f"name-{number % 10}", f"task {number} " + "text " * 99), overwrite=True)
    store.save(draft(None, "unnamed", session_id="s1", agent="claude"))
    store.record("cleared", [store.find("name-3").id])
    store.record("consumed", [store.find("name-4").id])
    store.record("resumed", [store.find("name-5").id])
    store.undo()
    rows = view(store)
    store.close()
    return rows


@pytest.fixture
def index(project: Project) -> Path:
    return project.store / "index.sqlite"


def garble(path: Path, *places: int) -> None:
    with path.open("r+b") as file:
        for place in places:
            file.seek(place)
            file.write(b"\xff" * 512)


def garble_pages(path: Path) -> None:
    garble(path, *range(4096, path.stat().st_size, 4096))


def make_older(index: Path) -> None:
    with sqlite3.connect(index) as db:
        db.execute(f"PRAGMA user_version = {VERSION - 1}")
        db.execute("DROP TABLE checkpoints")
    db.close()


def replace_by_link(index: Path) -> None:
    outside = index.parent.parent / "outside"
    outside.write_bytes(b"not yours")
    index.unlink()
    index.symlink_to(outside)


def replace_by_hard_link(index: Path) -> None:
    outside = index.parent.parent / "outside"
    outside.write_bytes(b"not yours")
    index.unlink()
    index.hardlink_to(outside)


def replace_by_fifo(index: Path) -> None:
    index.unlink()
    os.mkfifo(index)


def replace_by_folder(index: Path) -> None:
    index.unlink()
    (index / "inside").mkdir(parents=True)


def leave_a_foreign_journal(index: Path) -> None:
    """Leave what a process killed in the middle of a write to another index would leave."""
    header = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\0\0\0\x01" + b"\0" * 8 + b"\0\0\0\x01"
    index.with_name("index.sqlite-journal").write_bytes(header + b"\xff" * 8192)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "emptied": lambda index: os.truncate(index, 0),
    "cut to a quarter": lambda index: os.truncate(index, index.stat().st_size // 4),
    "cut in half": lambda index: os.truncate(index, index.stat().st_size // 2),
    "one byte short": lambda index: os.truncate(index, index.stat().st_size - 1),
    "garbage": lambda index: index.write_bytes(b"\xff" * 100_000),
    "garbled header": lambda index: garble(index, 0),
    "garbled schema": lambda index: garble(index, 100),
    "garbled pages": garble_pages,
    "text": lambda index: index.write_text("hello", encoding="utf-8"),
    "older": make_older,
    "a link": replace_by_link,
    "a hard link": replace_by_hard_link,
    "a FIFO": replace_by_fifo,
    "a folder": replace_by_folder,
    "a foreign journal": leave_a_foreign_journal,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_made_anew_without_a_word(
    project: Project,
    seen: list[Row],
    index: Path,
    damage: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    DAMAGES[damage](index)

    assert fresh_view(project) == seen
    store = Store(project)
    assert store.save(draft("after-it")).notice is None
    found = store.search(Query(words="text", with_trashed=True, limit=99))
    assert len(found) == 10  # threads, of three revisions each
    assert len(view(store)) == len(seen) + 1
    store.close()
    assert capfd.readouterr() == ("", "")
    outside = index.parent.parent / "outside"
    assert not outside.exists() or outside.read_bytes() == b"not yours"


@pytest.mark.parametrize("damage", ["deleted", "cut in half", "garbage", "garbled pages", "a FIFO"])
def test_damage_done_while_the_index_is_open_is_survived(
    project: Project, seen: list[Row], index: Path, damage: str
) -> None:
    store = Store(project)
    assert view(store) == seen

    DAMAGES[damage](index)

    assert view(store) == seen
    store.save(draft("after-it"))
    assert len(view(store)) == len(seen) + 1
    assert len(fresh_view(project)) == len(seen) + 1
    store.close()


@pytest.mark.usefixtures("seen")
def test_every_part_of_a_damaged_index_may_be_asked(project: Project, index: Path) -> None:
    """Damage may be met only by the question itself, after all was found up to date."""
    store = Store(project)
    some = store.find("name-7")
    questions: dict[str, Callable[[], object]] = {
        "head": lambda: store.index().head("name-7"),
        "events": lambda: store.index().events_of(some.id),
        "newest events": lambda: store.index().newest_events(99),
        "names": lambda: store.index().names_like("name-"),
        "search": lambda: store.search(Query(words="task")),
        "trash": lambda: store.index().list_trashed(99),
        "count": lambda: store.index().count_heads(["open"]),
        "undoable": lambda: store.index().find_undoable(),
        "recheck": lambda: store.index().recheck([some]),
    }
    answers = {what: ask() for what, ask in questions.items()}
    for what, ask in questions.items():
        garble_pages(index)
        assert ask() == answers[what], what
    store.close()


def test_an_index_kept_from_us_by_a_lock_is_done_without(
    project: Project, seen: list[Row], index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leftoff.store.database._TURN_SECONDS", 0.05)
    other = sqlite3.connect(index, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")

    assert fresh_view(project) == seen

    store = Store(project)
    assert store.save(draft("name-7", "again"), overwrite=True).notice is None
    store.close()
    other.close()
    assert len(fresh_view(project)) == len(seen) + 1


def test_an_index_locked_while_it_is_open_is_done_without(
    project: Project, seen: list[Row], index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leftoff.store.database._TURN_SECONDS", 0.05)
    store = Store(project)
    assert view(store) == seen
    with disk.lock(index.with_suffix(".lock")) as is_held:
        assert is_held
        assert store.save(draft("name-7", "again"), overwrite=True).notice is None
        assert len(view(store)) == len(seen) + 1
    other = sqlite3.connect(index, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert len(view(store)) == len(seen) + 1
    other.close()
    store.close()
    assert len(fresh_view(project)) == len(seen) + 1


def test_an_odd_lock_of_the_index_is_done_without(
    project: Project, seen: list[Row], index: Path
) -> None:
    index.with_suffix(".lock").unlink()
    os.mkfifo(index.with_suffix(".lock"))
    index.unlink()

    assert fresh_view(project) == seen


# --- files ---


def test_a_garbled_checkpoint_is_named_and_stops_nothing(
    project: Project, store: Store, capfd: pytest.CaptureFixture[str]
) -> None:
    bad = store.save(draft("bad-one"))
    store.save(draft("good-one"))
    view(store)
    bad.path.write_bytes(b"{ torn")

    assert store.index().recheck(store.index().heads(["open"], 9))

    assert [each.id for each in store.index().unreadable()] == [bad.checkpoint.id]
    problem = store.index().unreadable()[0].problem
    assert problem
    assert [each.name for each in store.index().newest(9)] == ["good-one", None]
    assert store.read_raw(store.find(bad.checkpoint.id)) == b"{ torn"
    assert bad.path.exists()
    assert fresh_view(project) == rebuilt_view(project)
    assert capfd.readouterr() == ("", "")


def test_nothing_changed_in_place_is_nothing_to_recheck(store: Store) -> None:
    store.save(draft("good-one"))

    assert not store.index().recheck(store.index().newest(9))


def test_a_repaired_file_comes_back(store: Store) -> None:
    saved = store.save(draft("bad-one"))
    whole = saved.path.read_bytes()
    saved.path.write_bytes(b"")
    assert [each.id for each in store.index().unreadable()] == [saved.checkpoint.id]

    saved.path.write_bytes(whole)

    assert store.index().unreadable() == []
    assert store.find("bad-one").id == saved.checkpoint.id


def test_a_changed_file_is_shown_as_it_is_now(store: Store) -> None:
    saved = store.save(draft("login-form", "before"))
    view(store)
    saved.path.write_bytes(saved.path.read_bytes().replace(b'"before"', b'"afterwards"'))

    store.index().recheck(store.index().newest(9))

    assert store.find("login-form").task == "afterwards"
    assert [hit.entry.name for hit in store.search(Query(words="afterwards"))] == ["login-form"]
    assert store.search(Query(words="before")) == []


def test_a_file_removed_by_hand_is_gone_and_one_put_back_is_there(store: Store) -> None:
    saved = store.save(draft("login-form"))
    view(store)
    away = saved.path.rename(saved.path.with_suffix(".away"))
    assert view(store) == []

    away.rename(saved.path)

    assert store.find("login-form").id == saved.checkpoint.id


@pytest.mark.parametrize(
    "name",
    [
        "99999999T999999999Z-00000000.json",
        "20261399T120000000Z-0badcafe.json",
        "20260101T120000000Z-0badcafe.json",
        "notes.txt",
        "20261115T120000000Z-0badcafe.json~",
        ".20261115T120000000Z-0badcafe.json.swp",
    ],
)
def test_files_that_do_not_belong_are_left_alone(store: Store, name: str) -> None:
    saved = store.save(draft("login-form"))
    stray = saved.path.with_name(name)
    stray.write_bytes(saved.path.read_bytes())

    assert [row[0] for row in view(store)] == ["login-form"]
    assert rebuilt_view(store.project) == view(store)
    assert stray.exists()


@pytest.mark.parametrize(
    "moment", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59Z"]
)
def test_a_moment_at_the_edge_of_the_calendar_stops_nothing(store: Store, moment: str) -> None:
    odd = store.save(draft("odd-one"))
    store.save(draft("good-one"))
    found = odd.checkpoint.saved_at.isoformat().replace("+00:00", "Z")
    assert found.encode() in odd.path.read_bytes()
    odd.path.write_bytes(odd.path.read_bytes().replace(found.encode(), moment.encode()))

    assert "good-one" in {row[0] for row in fresh_view(store.project)}


@pytest.mark.parametrize("extra", [b'"__extra__": 5', b'"__extra__": {"a": 1}', b'"x": {"y": []}'])
def test_what_can_be_read_is_listed(store: Store, extra: bytes) -> None:
    saved = store.save(draft("login-form"))
    saved.path.write_bytes(saved.path.read_bytes().replace(b"{", b"{" + extra + b",", 1))
    decode(saved.path.read_bytes())

    assert store.index().unreadable() == []


@pytest.mark.parametrize("settled", [True, False])
def test_a_file_written_within_the_tick_of_the_last_listing_is_seen(
    project: Project, store: Store, *, settled: bool
) -> None:
    """Two changes of a folder may carry the same time stamp; on some disks for two seconds."""
    first = store.save(draft("one-thing"))
    shard = first.path.parent
    stamp = time.time() - (60 if settled else 0)
    os.utime(shard, (stamp, stamp))
    view(store)
    other = first.path.with_name(f"{first.checkpoint.id[:-8]}0badcafe.json")
    other.write_bytes(first.path.read_bytes().replace(b"one-thing", b"two-things"))
    os.utime(shard, (stamp, stamp))

    # A stamp from a while ago cannot be given twice by any clock that goes forward.
    expected = {"one-thing"} if settled else {"one-thing", "two-things"}
    assert {row[0] for row in view(store)} == expected
    assert len(rebuilt_view(project)) == 2


def test_a_folder_dated_in_the_future_is_read_again_each_time(store: Store) -> None:
    first = store.save(draft("one-thing"))
    stamp = time.time() + 9999
    os.utime(first.path.parent, (stamp, stamp))
    view(store)
    store.save(draft("two-things"))
    os.utime(first.path.parent, (stamp, stamp))

    assert len(view(store)) == 2


# --- the log ---


def replace_log(log: Path) -> None:
    """Put a shorter story in its place, as a restored backup would."""
    lines = log.read_bytes().splitlines(keepends=True)
    log.unlink()
    log.write_bytes(b"".join(lines[:15]))


def regrow_log(log: Path) -> None:
    """Cut the log and let it grow beyond its former length."""
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:15], *([b"garbage " * 20 + b"\n"] * 100)]))


def double_log(log: Path) -> None:
    log.write_bytes(log.read_bytes() * 2)


LOG_CHANGES: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "emptied": lambda log: os.truncate(log, 0),
    "torn": lambda log: os.truncate(log, log.stat().st_size - 7),
    "cut in half": lambda log: os.truncate(log, log.stat().st_size // 2),
    "replaced": replace_log,
    "regrown": regrow_log,
    "doubled": double_log,
    "followed by garbage": lambda log: log.write_bytes(log.read_bytes() + b"\xff\0{}\n[1]\n" * 9),
}


@pytest.mark.parametrize("change", LOG_CHANGES)
def test_whatever_happened_to_the_log_one_story_is_shown(
    project: Project, seen: list[Row], change: str
) -> None:
    log = project.store / "events.jsonl"
    store = Store(project)
    view(store)

    LOG_CHANGES[change](log)

    now = view(store)
    assert [row[:2] for row in now] == [row[:2] for row in seen]
    if change in {"doubled", "followed by garbage"}:
        assert now == seen
    store.record("cleared", [store.find("name-9").id])
    assert store.find("name-9").state == "cleared"
    assert view(store) == fresh_view(project) == rebuilt_view(project)
    store.close()


def test_a_name_is_still_known_to_be_in_use_when_log_and_index_are_gone(
    project: Project, clock: Clock
) -> None:
    store = Store(project, now=clock)
    first = store.save(draft("login-form", "first"))
    store.close()
    (project.store / "events.jsonl").unlink()
    for left in project.store.glob("index*"):
        left.unlink()

    store = Store(project, now=clock)
    second = store.save(draft("login-form", "second"), overwrite=True)

    assert second.replaced == first.checkpoint.id
    store.close()


def test_a_file_of_the_far_future_stops_nothing(store: Store) -> None:
    saved = store.save(draft("good-one"))
    far = saved.path.parent.parent / "9999-12" / "99991231T235959999Z-deadbeef.json"
    far.parent.mkdir()
    moved = saved.path.read_bytes().replace(saved.checkpoint.id.encode(), far.stem.encode())
    far.write_bytes(moved.replace(b"good-one", b"far-one"))

    assert {row[0] for row in fresh_view(store.project)} == {"good-one", "far-one"}


def test_reading_many_folders_is_watched(project: Project, clock: Clock) -> None:
    seen: list[tuple[int, list[int]]] = []

    @contextlib.contextmanager
    def watch(count: int) -> Iterator[Callable[[int], None]]:
        done: list[int] = []
        seen.append((count, done))
        yield done.append

    with closing(Store(project, now=clock, watch=watch)) as store:
        for number in range(5):
            store.save(draft(f"work-{number}"))
            clock.move(days=31)
        store.index()
    seen.clear()
    (project.store / "index.sqlite").unlink()

    with closing(Store(project, now=clock, watch=watch)) as store:
        assert len(store.index().newest(9)) == 5

    assert seen == [(5, [1, 2, 3, 4, 5])]
