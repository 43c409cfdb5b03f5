"""Keep some folders in memory as they are at one moment, and restore them."""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path


class TreeState:
    """All files and folders below some folders, with their modes, times and inode numbers."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self.roots = roots
        self.folders: list[str] = []
        self.files: dict[str, tuple[int, bytes]] = {}
        self._modes: dict[str, int] = {}
        self._times: dict[str, int] = {}
        for root in roots:
            self.folders.append(str(root))
            for path in sorted(root.rglob("*")):
                self._take(path)

    def _take(self, path: Path) -> None:
        if path.is_dir():
            self.folders.append(str(path))
        elif path.is_file():
            found = path.stat()
            self.files[str(path)] = (found.st_ino, path.read_bytes())
            self._modes[str(path)] = found.st_mode & 0o777
            self._times[str(path)] = found.st_mtime_ns

    def restore(self) -> None:
        """Restore the folders to their state at the snapshot."""
        self.write(self.folders, {path: data for path, (_, data) in self.files.items()})

    def write(self, folders: Iterable[str], files: Mapping[str, bytes]) -> None:
        """Make the folders contain these files and nothing else."""
        for root in self.roots:
            shutil.rmtree(root, ignore_errors=True)
        for folder in sorted(folders):
            Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        for place, data in files.items():
            path = Path(place)
            path.write_bytes(data)
            path.chmod(self._modes.get(place, 0o600))
            # A session whose transcript was just written would look as if it were still running.
            if place in self.files and self.files[place][1] == data:
                os.utime(path, ns=(self._times[place], self._times[place]))
