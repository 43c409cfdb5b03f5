"""A native file that somebody changed and that is about to be replaced: its words are kept."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from leftoff.profiles import import_native
from leftoff.store import trash

if TYPE_CHECKING:
    from leftoff.profiles.mirror.mirror import Mirror


def import_edit(mirror: "Mirror", path: Path, data: bytes) -> None:
    """Import what somebody wrote into a file that is about to be replaced or put away."""
    edit = make_edit(mirror, path)
    taken = import_native.import_file(mirror.store, mirror.name, mirror.profile, path, edit=edit)
    if taken.problem is None and not taken.is_foreign:
        return
    # It cannot be taken for a checkpoint of this project, so it is kept as it is.
    trashed = trash.put(mirror.store.project.store, _copy(path, data), mirror.store.now())
    why = "belonged to another project" if taken.is_foreign else "could not be read"
    mirror.problems.append(f"{path} had been changed and {why}; it is kept as {trashed}")


def make_edit(mirror: "Mirror", path: Path) -> import_native.NativeEdit:
    """Tell when a file was changed, and what it showed before."""
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
