"""A damaged or replaced cursor only makes the mirror start again."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.context import find_project
from leftoff.profiles.mirror import open_mirrors
from leftoff.profiles.mirror.mirror import Mirror
from leftoff.store import Store
from stores import draft


def _garble(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


def _link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


PLANTED: dict[str, Callable[[Path], object]] = {
    "torn": _garble(b'{"inode": 1'),
    "nothing": _garble(b""),
    "no text": _garble(bytes(range(256))),
    "before the beginning": _garble(b'{"inode": 1, "offset": -5}'),
    "beyond any file": _garble(b'{"inode": 1, "offset": 99999999999999999999999}'),
    "of odd types": _garble(b'{"inode": "x", "offset": []}'),
    "a link": _link,
    "a FIFO": os.mkfifo,
}


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_a_planted_cursor_does_not_stop_mirrors(
    repo: Repo, plant: Callable[[Path], object]
) -> None:
    store = Store(find_project(repo.folder))
    open_mirrors(["guardz"]).export_changes(store)
    path = Mirror(store, "guardz").state / "cursor.json"
    path.unlink()
    plant(path)
    store.save(draft("login-form", "Validate the form"))

    followed = open_mirrors(["guardz"]).export_changes(store)

    assert followed.problems == []
    assert followed.written["guardz"]
    assert Mirror(store, "guardz").manifest.read_cursor() is not None
    store.close()
