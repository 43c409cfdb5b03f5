"""Rescue what somebody changed in a native file that is about to be replaced."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from leftoff.profiles import import_native
from leftoff.store import trash

if TYPE_CHECKING:
    from leftoff.profiles.mirror.mirror import Mirror


def import_edit(mirror: "Mirror", path: Path, data: bytes) -> None:
    """Import somebody's changes to a file that is about to be replaced or archived."""
    edit = make_edit(mirror, path)
    taken = import_native.import_file(mirror.store, mirror.name, mirror.profile, path, edit=edit)
    if taken.problem is None and not taken.is_foreign:
        return
    # It cannot become a checkpoint of this project, so a copy goes to the trash.
    trashed = trash.put(mirror.store.project.store, _copy(path, data), mirror.store.now())
    why = "belonged to another project" if taken.is_foreign else "could not be read"
    mirror.problems.append(f"{path} was changed and {why}; a copy is at {trashed}")


def make_edit(mirror: "Mirror", path: Path) -> import_native.NativeEdit:
    """Return when a file was changed, and what it showed before."""
    entry = mirror.manifest.files.get(str(path.relative_to(mirror.folder)))
    checkpoint = mirror.index.get(entry.of) if entry and entry.of else None
    return import_native.NativeEdit(
        at=datetime.fromtimestamp(path.lstat().st_mtime, UTC),
        base=mirror.store.load(checkpoint) if checkpoint and not checkpoint.problem else None,
    )


def _copy(path: Path, data: bytes) -> Path:
    copy = path.with_name(f"{path.stem}-edited{path.suffix}")
    copy.write_bytes(data)
    return copy
