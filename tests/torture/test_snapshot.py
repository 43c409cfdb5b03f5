import os
from pathlib import Path

from leftoff.torture.snapshot import TreeState


def test_files_come_back_with_their_bytes_modes_and_times(tmp_path: Path) -> None:
    old = tmp_path / "world" / "old"
    old.parent.mkdir()
    old.write_bytes(b"old")
    old.chmod(0o640)
    os.utime(old, ns=(5_000_000_000, 5_000_000_000))
    snapshot = TreeState([old.parent])
    old.write_bytes(b"changed")
    (old.parent / "new").touch()

    snapshot.restore()

    assert [*old.parent.iterdir()] == [old]
    assert old.read_bytes() == b"old"
    assert old.stat().st_mode & 0o777 == 0o640
    assert old.stat().st_mtime_ns == 5_000_000_000
