"""Files planted in the store are refused or ignored, never written through or waited for."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

from programs import run
from stores import contents

FILES = (
    "state/store/events.jsonl",
    "state/store/lock",
    "state/store/index.sqlite",
    "state/store/index.sqlite-journal",
    "state/store/index.lock",
    "state/store/prompts.jsonl",
    "CHECKPOINT",
    "tmp/leftoff-user/store/events.jsonl",
    "tmp/leftoff-user/store/lock",
)
FOLDERS = (
    "state/store",
    "state/store/checkpoints",
    "state/store/tmp",
    "state/store/sessions",
    "SHARD",
    "tmp/leftoff-user",
    "tmp/leftoff-user/store",
    "tmp/leftoff-user/store/checkpoints",
)

SET_UP = """
    import shutil
    (folder / "outside" / "2026-11").mkdir(parents=True)
    (folder / "outside" / "file").write_text("not yours")
    first = store.save(draft("first-one"))
    store.append_line("prompts", b"{}")
    store.keep_session("claude", "s1", b"{}")
    view(store)
    store.close()
    (project.fallback / "checkpoints").mkdir(parents=True)
    for name in ("events.jsonl", "lock"):
        (project.fallback / name).touch()

    path = {"CHECKPOINT": first.path, "SHARD": first.path.parent}.get(place, folder / place)
    away = folder / "away"
    if path.exists():
        path.rename(away)
"""
PLANTS = """
    if plant == "link to a file":
        path.symlink_to(folder / "outside" / "file")
    elif plant == "link to a folder":
        path.symlink_to(folder / "outside")
    elif plant == "link to nothing":
        path.symlink_to(folder / "outside" / "new")
    elif plant == "hard link":
        path.hardlink_to(folder / "outside" / "file")
    elif plant == "FIFO":
        os.mkfifo(path)
    elif plant == "file":
        path.write_text("in the way")
    elif plant == "folder":
        (path / "inside").mkdir(parents=True)
"""
USE = """
    def attempt(work, *arguments):
        try:
            return work(*arguments)
        except StoreRefused as error:
            assert error.message and error.hint
            return None

    for number in range(2):
        store = Store(project)
        assert attempt(view, store) is not None, "a reader is refused"
        second = store.save(draft(f"second-{number}"))
        store.save(draft(None, "unnamed", session_id="s1"))
        assert f"second-{number}" in {row[0] for row in view(store)}
        attempt(store.record, "cleared", [second.checkpoint.id])
        attempt(store.undo)
        attempt(store.keep_session, "claude", "s1", b"{}")
        attempt(store.read_session, "claude", "s1")
        attempt(store.append_line, "prompts", b"{}")
        attempt(store.read_log, "prompts", bytes)
        attempt(store.search, Query(words="second"))
        attempt(lambda: store.load(store.find("second-0")))
        attempt(store.purge, store.index().revisions("nothing"))
        store.close()
"""
# With the plant gone and the original back, all that was acknowledged is there.
AFTER = """
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    elif away.exists() or plant == "folder":
        path.rename(folder / "planted")
    if away.exists():
        away.rename(path)
    store = Store(project)
    assert store.save(draft("third-one")).notice is None
    names = {row[0] for row in view(store)}
    assert {"first-one", "second-0", "second-1", "third-one"} <= names, names
    assert view(store) == rebuilt_view(project)
"""


TRY_EACH = """
def try_plant(folder, project, store, place, plant):
    TRIAL

for number, plant in enumerate(PLANTED):
    place_of_its_own = folder / str(number)
    another = project_at(place_of_its_own)
    try:
        try_plant(place_of_its_own, another, Store(another), PLACE, plant)
    except BaseException as error:
        error.add_note(f"with a {plant} planted")
        raise
"""


def check(tmp_path: Path, place: str, plants: Sequence[str]) -> None:
    """Plant one after the other, each in a store of its own: a program takes longer to start."""
    trial = textwrap.indent(textwrap.dedent(SET_UP + PLANTS + USE + AFTER), "    ").strip()
    program = TRY_EACH.replace("PLANTED", repr(plants)).replace("PLACE", repr(place))
    run(program.replace("TRIAL", trial), tmp_path, seconds=300)

    for number, plant in enumerate(plants):
        outside = tmp_path / str(number) / "outside"
        assert [*contents(outside)] == ["file"], plant
        assert (outside / "file").read_text(encoding="utf-8") == "not yours", plant


@pytest.mark.slow("plants something in every place")
@pytest.mark.accept(129)
@pytest.mark.parametrize("place", FILES)
def test_what_is_in_the_place_of_a_file_is_not_written_through(tmp_path: Path, place: str) -> None:
    check(tmp_path, place, ("link to a file", "link to nothing", "hard link", "FIFO", "folder"))


@pytest.mark.slow("plants something in every place")
@pytest.mark.accept(129)
@pytest.mark.parametrize("place", FOLDERS)
def test_what_is_in_the_place_of_a_folder_is_not_written_into(tmp_path: Path, place: str) -> None:
    check(tmp_path, place, ("link to a folder", "link to nothing", "FIFO", "file"))


def test_a_session_id_cannot_lead_out_of_the_store(tmp_path: Path) -> None:
    program = """
        for odd in ("../../../outside/x", "/etc/x", "a/b", "..", "", "x" * 5000, "\\0", "\\udcff"):
            store.keep_session("claude", odd, b"{}")
            assert store.read_session("claude", odd) == b"{}", odd
        assert len(list((project.store / "sessions").iterdir())) == 8
    """

    run(program, tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "state", "tmp"]
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["store"]
