"""Saves work on file systems without links, locks or folder syncs."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from faulting import CAREFUL_RENAMES, FOLDER_SYNC, LINKS, LOCKS, library
from leftoff.store import Store, disk, name_file
from programs import finish, run, start
from stores import draft, names_listed, project_at

ALL = LINKS | CAREFUL_RENAMES | LOCKS | FOLDER_SYNC
LACKS = {
    "no links": LINKS,
    "no links and no careful renames": LINKS | CAREFUL_RENAMES,
    "no links, no careful renames, no locks": LINKS | CAREFUL_RENAMES | LOCKS,
    "no folder syncs": FOLDER_SYNC,
    "no locks": LOCKS,
    "nothing": ALL,
}


@pytest.fixture
def poor(tmp_path: Path) -> list[str]:
    """Return words to put before a program so that it lacks something; `{}` stands for what."""
    shim = library()
    return ["env", f"LD_PRELOAD={shim}", f"LEFTOFF_LACKS={tmp_path}|{{}}"]


def lacking(poor: list[str], mask: int) -> list[str]:
    return [word.format(mask) for word in poor]


@pytest.mark.parametrize("lack", LACKS)
def test_a_save_stays_in_the_store_and_is_found_at_once(
    tmp_path: Path, poor: list[str], lack: str
) -> None:
    program = """
        for name in ("login-form", "search-page"):
            assert store.save(draft(name)).notice is None
        store.save(draft("login-form", "again"), overwrite=True)
        try:
            Store(project).save(draft("search-page"))
        except ChoiceNeeded:
            print(sorted(map(str, names_listed(Store(project)))))
        assert list((project.store / "tmp").iterdir()) == []
        assert not project.fallback.exists()
    """

    output = run(program, tmp_path, by=lacking(poor, LACKS[lack]))

    assert output == "['login-form', 'search-page']\n"
    store = Store(project_at(tmp_path))
    assert store.find("login-form").task == "again"
    store.close()


@pytest.mark.slow("lets processes race")
@pytest.mark.parametrize("lack", LACKS)
def test_of_many_that_want_one_name_exactly_one_gets_it(
    tmp_path: Path, poor: list[str], lack: str
) -> None:
    program = """
        from leftoff.store import disk
        won = 0
        for round in range(60):
            try:
                mine = f"{round} {number}".encode()
                temps = folder / "t" / f"{number}"
                disk.write_new(folder / f"{round}", mine, temps=temps)
                won += 1
                assert (folder / f"{round}").read_bytes() == mine
            except FileExistsError:
                pass
        print(won)
    """
    folder = tmp_path / "race"
    for number in range(3):
        (folder / "t" / str(number)).mkdir(parents=True)

    by = lacking(poor, LACKS[lack])
    running = [start(program, folder, number, by=by) for number in range(3)]

    won = sum(int(finish(process)) for process in running)
    assert won == 60
    assert all((folder / str(round_)).stat().st_size for round_ in range(60))


def test_a_claim_whose_owner_was_killed_is_nothing_to_readers_and_blocks_nobody(
    tmp_path: Path, poor: list[str]
) -> None:
    program = """
        import signal
        real = os.replace
        def dying(*given, **more):
            if "dst_dir_fd" in more:
                os.kill(os.getpid(), signal.SIGKILL)
            real(*given, **more)
        os.replace = dying
        store.save(draft("login-form"))
    """
    process = start(program, tmp_path, by=lacking(poor, LINKS | CAREFUL_RENAMES))
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    project = project_at(tmp_path)
    (claim,) = (project.store / "checkpoints").rglob("*.json")
    assert claim.stat().st_size == 0

    store = Store(project)
    assert names_listed(store) == []
    assert store.index().unreadable() == []
    assert store.save(draft("login-form")).notice is None
    store.close()

    adopt = f"""
        from leftoff.store.layout import Area
        Area(project.store).write_raw("{claim.stem}", b"whole")
    """
    run(adopt, tmp_path, by=lacking(poor, LINKS | CAREFUL_RENAMES))
    assert claim.read_bytes() == b"whole"


def test_a_claim_that_is_held_is_taken(tmp_path: Path) -> None:
    with _open_folder(tmp_path) as folder:
        claim = name_file.claim_name("name", folder)
        (tmp_path / "temp").write_bytes(b"mine")
        with pytest.raises(FileExistsError):
            name_file.replace_claim(tmp_path / "temp", "name", folder)
        os.close(claim)
        name_file.replace_claim(tmp_path / "temp", "name", folder)

    assert (tmp_path / "name").read_bytes() == b"mine"


def test_a_careful_rename_never_replaces(tmp_path: Path) -> None:
    rename = name_file.rename_carefully()
    if rename is None:
        pytest.skip("this system has no rename that refuses to replace")
    (tmp_path / "one").write_bytes(b"one")
    (tmp_path / "two").write_bytes(b"two")

    with _open_folder(tmp_path) as folder:
        with pytest.raises(FileExistsError):
            rename(tmp_path / "one", "two", folder)
        rename(tmp_path / "one", "three", folder)

    assert (tmp_path / "two").read_bytes() == b"two"
    assert (tmp_path / "three").read_bytes() == b"one"


@contextlib.contextmanager
def _open_folder(path: Path) -> Iterator[int]:
    folder = os.open(path, os.O_RDONLY)
    yield folder
    os.close(folder)


def _can_mount_ext2() -> bool:
    if os.geteuid() != 0:
        return False
    return not subprocess.run(["which", "mkfs.ext2"], capture_output=True, check=False).returncode


@pytest.fixture
def ext2(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Mount a file system without a journal; return its image and where it is mounted."""
    if not _can_mount_ext2():
        pytest.skip("needs root and mkfs.ext2")
    image, place = tmp_path / "image", tmp_path / "place"
    image.write_bytes(b"")
    os.truncate(image, 16_000_000)
    place.mkdir()
    subprocess.run(["mkfs.ext2", "-q", "-F", str(image)], check=True)
    mounted = subprocess.run(
        ["mount", "-o", "loop", image, place], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no image can be mounted here: {mounted.stderr.decode()}")
    yield image, place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow("replays power cuts")
def test_no_acknowledged_save_is_lost_when_the_power_fails_on_ext2(
    ext2: tuple[Path, Path], tmp_path: Path
) -> None:
    """The image holds what reached the disk; a copy of it is what a power cut leaves."""
    image, place = ext2
    store = Store(project_at(place))
    ids = []
    for number in range(20):
        ids.append(store.save(draft(f"name-{number}")).checkpoint.id)
        cut = tmp_path / "cut"
        subprocess.run(["cp", "--sparse=always", image, cut], check=True)
        subprocess.run(["e2fsck", "-fy", cut], capture_output=True, check=False)
        assert _found_in(cut, tmp_path / "after", ids) == ids, number
    store.record("cleared", [ids[0]])
    subprocess.run(["cp", "--sparse=always", image, cut], check=True)
    subprocess.run(["e2fsck", "-fy", cut], capture_output=True, check=False)
    log = tmp_path / "log"
    dump = f"dump state/store/events.jsonl {log}"
    subprocess.run(["debugfs", "-R", dump, cut], capture_output=True, check=True)
    assert b'"cleared"' in log.read_bytes()
    store.close()


def _found_in(image: Path, place: Path, ids: list[str]) -> list[str]:
    found = []
    for checkpoint_id in ids:
        shard = f"{checkpoint_id[:4]}-{checkpoint_id[4:6]}"
        target = place.with_suffix(".json")
        target.unlink(missing_ok=True)
        dump = f"dump state/store/checkpoints/{shard}/{checkpoint_id}.json {target}"
        subprocess.run(["debugfs", "-R", dump, image], capture_output=True, check=True)
        if target.exists() and target.stat().st_size:
            found.append(checkpoint_id)
    return found


def test_the_name_of_a_new_log_is_synced_with_its_first_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    disk.append(tmp_path / "events.jsonl", b"{}", durable=False)
    disk.append(tmp_path / "events.jsonl", b"{}", durable=True)

    assert synced == [str(tmp_path), str(tmp_path / "events.jsonl")]
