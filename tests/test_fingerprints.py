import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leftoff.checkpoint import FileRef
from leftoff.fingerprints import (
    can_be_path,
    fingerprint,
    fingerprints,
    is_modified_since,
    locate_file,
    name_path,
    state_of,
)


def test_a_file_is_described_by_size_time_and_hash_never_by_content(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("secret")
    seen = fingerprint("a.txt", tmp_path, role="main")

    assert (seen.path, seen.role, seen.size) == ("a.txt", "main", 6)
    assert seen.sha256 == "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
    assert "secret" not in repr(seen)


@pytest.mark.accept(35)
def test_size_and_time_are_asked_first_and_the_hash_only_when_they_differ(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one")
    seen = fingerprint("a.txt", tmp_path)
    found = path.stat()

    assert state_of(seen, tmp_path) == "same"
    os.utime(path, (1, 1))
    assert state_of(seen, tmp_path) == "same"
    path.write_text("two")
    assert state_of(seen, tmp_path) == "changed"
    # Same size, same time: not even opened, which is why this one goes unseen.
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert state_of(seen, tmp_path) == "same"
    path.write_text("longer")
    assert state_of(seen, tmp_path) == "changed"
    path.unlink()
    assert state_of(seen, tmp_path) == "missing"


def test_a_file_too_big_to_hash_is_reported_by_size_and_time(tmp_path: Path) -> None:
    path = tmp_path / "big"
    with path.open("wb") as file:
        file.truncate(64 * 1024 * 1024 + 1)
    seen = fingerprint("big", tmp_path)

    assert seen.sha256 is None
    assert state_of(seen, tmp_path) == "same"
    os.utime(path, (1, 1))
    assert state_of(seen, tmp_path) == "changed"


@pytest.mark.parametrize("kind", ["folder", "fifo", "missing", "loop"])
def test_what_is_not_a_file_is_named_and_not_waited_for(tmp_path: Path, kind: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    seen = fingerprint(kind, tmp_path)

    assert (seen.path, seen.size) == (kind, None)
    assert state_of(seen, tmp_path) == ("same" if kind in {"folder", "fifo"} else "missing")


def test_what_came_or_became_something_else_has_changed(tmp_path: Path) -> None:
    missing = fingerprint("later", tmp_path)
    (tmp_path / "later").write_text("")
    file = fingerprint("later", tmp_path)

    assert state_of(missing, tmp_path) == "changed"
    (tmp_path / "later").unlink()
    (tmp_path / "later").mkdir()
    assert state_of(file, tmp_path) == "changed"


def test_paths_are_named_from_the_root_and_outside_of_it_whole(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)

    assert name_path(root / "sub", "a.txt", root) == "sub/a.txt"
    assert name_path(root / "sub", "../a.txt", root) == "a.txt"
    assert name_path(root / "sub", "../../a.txt", root) == str(tmp_path / "a.txt")
    assert name_path(root, "~/a.txt", root) == str(tmp_path / "home" / "a.txt")
    assert fingerprint("./sub/../a.txt", root).path == "a.txt"


def test_a_tilde_that_is_nobody_is_a_name(tmp_path: Path) -> None:
    (tmp_path / "~nosuchuser").write_text("x")
    seen = fingerprint("~nosuchuser", tmp_path)

    assert seen.size == 1
    # As a relative path it would be taken for a home folder by its readers.
    assert seen.path == str(tmp_path / "~nosuchuser")
    assert state_of(seen, tmp_path) == "same"


def test_stray_bytes_in_a_name_lead_back_to_the_file(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    (tmp_path / name).write_text("x")
    seen = fingerprint(name, tmp_path)

    assert seen.path == r"caf\xe9.txt"
    assert locate_file(seen.path, tmp_path) == tmp_path / name
    assert state_of(seen, tmp_path) == "same"


def test_a_name_that_really_holds_a_backslash_is_found_first(tmp_path: Path) -> None:
    (tmp_path / r"caf\xe9.txt").write_text("x")

    assert fingerprint(r"caf\xe9.txt", tmp_path).size == 1


def test_each_file_is_described_once_and_what_cannot_be_one_is_left_out(tmp_path: Path) -> None:
    found = fingerprints(["a", "b", "a", "x" * 5000, "nul\0"], tmp_path, role="modified")

    assert found == [FileRef(path="a", role="modified"), FileRef(path="b", role="modified")]


@settings(deadline=None)
@given(st.text(max_size=20))
def test_no_path_is_too_strange(tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
    root = tmp_path_factory.getbasetemp()
    if not can_be_path(path):
        return
    seen = fingerprint(path, root)

    seen.path.encode()
    assert state_of(seen, root) in {"same", "missing"}


def test_files_written_since_a_moment_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x")
    os.utime(path, (1000, 1000))

    assert is_modified_since("a.txt", tmp_path, 1000)
    assert not is_modified_since("a.txt", tmp_path, 1001)
    assert not is_modified_since("missing", tmp_path, 0)
