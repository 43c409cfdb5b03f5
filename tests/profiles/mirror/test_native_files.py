"""New native files are private, and existing ones keep their mode."""

import os
import stat
from pathlib import Path

import pytest

from faulting import CAREFUL_RENAMES, LINKS, library
from leftoff.profiles.mirror.manifest import Manifest
from leftoff.profiles.mirror.native_files import NativeFiles
from leftoff.store import utc_now
from programs import run


def opened(folder: Path) -> NativeFiles:
    return NativeFiles(
        folder / "native",
        Manifest(folder),
        store=folder,
        now=utc_now,
        on_edit=lambda *_: None,
        is_source=lambda *_: False,
    )


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def _usual_umask() -> None:
    os.umask(0o022)


def test_new_files_are_for_their_user_alone(tmp_path: Path) -> None:
    files = opened(tmp_path)

    files.create("created.md", b"text")
    files.replace("replaced.md", b"text")
    files.edit("edited.md", lambda text: text + "text")
    files.append("appended.md", "text", key="1")

    found = {path.name: mode_of(path) for path in (tmp_path / "native").iterdir()}
    assert found == dict.fromkeys(["created.md", "replaced.md", "edited.md", "appended.md"], 0o600)


@pytest.mark.parametrize("mode", [0o644, 0o664, 0o666, 0o755, 0o400, 0o600])
def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    files = opened(tmp_path)
    for name in ("replaced.md", "edited.md"):
        files.replace(name, b"before")
        (tmp_path / "native" / name).chmod(mode)

    files.replace("replaced.md", b"after")
    files.edit("edited.md", lambda _: "after")

    for name in ("replaced.md", "edited.md"):
        assert (tmp_path / "native" / name).read_bytes() == b"after"
        assert mode_of(tmp_path / "native" / name) == mode


@pytest.mark.parametrize("lack", [LINKS, LINKS | CAREFUL_RENAMES])
def test_new_files_need_no_hard_links(tmp_path: Path, lack: int) -> None:
    program = """
        from profiles.mirror.test_native_files import opened
        files = opened(folder)
        print(files.create("one.md", b"one"), files.create("one.md", b"two"))
    """
    by = ["env", f"LD_PRELOAD={library()}", f"LEFTOFF_LACKS={tmp_path}|{lack}"]

    assert run(program, tmp_path, by=by) == "one.md one-1.md\n"

    native = tmp_path / "native"
    assert {path.name: path.read_bytes() for path in native.iterdir()} == {
        "one.md": b"one",
        "one-1.md": b"two",
    }


def test_a_writer_killed_before_its_temp_file_was_gone_does_not_block(tmp_path: Path) -> None:
    opened(tmp_path).create("20261116.json", b"text")
    target = tmp_path / "native" / "20261116.json"
    # No process has this number.
    (target.parent / ".20261116.json.99999999-0a0b0c0d.leftoff").hardlink_to(target)
    (tmp_path / "files.jsonl").unlink()

    assert opened(tmp_path).create("20261116.json", b"text") == "20261116.json"
    assert [*target.parent.iterdir()] == [target]
