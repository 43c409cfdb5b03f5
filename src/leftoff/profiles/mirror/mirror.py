"""A mirror: one profile's native files in one folder, and its position in the store's log."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path

import msgspec

from leftoff import profiles
from leftoff.digests import sha256
from leftoff.errors import LeftoffError
from leftoff.git import query
from leftoff.profiles.mirror.edited_file import import_edit
from leftoff.profiles.mirror.manifest import Manifest
from leftoff.profiles.mirror.native_files import NativeFiles, sweep
from leftoff.profiles.profile import Waited
from leftoff.profiles.regular_files import compute_digest, read_regular
from leftoff.projects.project import list_folders
from leftoff.store import LISTED, CheckpointEntry, Store, StoreEvent, StoreIndex, disk

# Waiting longer for another writer would hold up the save.
_WAIT_SECONDS = 10.0


class Mirror:
    """A profile's native files for one project."""

    def __init__(self, store: Store, name: str, folder: Path | None = None) -> None:
        self.store = store
        self.name = name
        self.profile = profiles.load(name)
        self.folder = folder or self.profile.home(store.project)
        self.is_elsewhere = folder is not None
        key = sha256(os.fsencode(self.folder)).hexdigest()[:12]
        self.state = store.project.store / "mirrors" / f"{name}-{key}"
        self.problems: list[str] = []
        self.warnings: list[str] = []

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock out other processes that write the same files, or raise an error."""
        disk.ensure_folder(self.state)
        with disk.lock(self.state / "lock", seconds=_WAIT_SECONDS) as is_held:
            if not is_held:
                raise LeftoffError(
                    f"Another process is writing to {self.folder}",
                    hint="Wait until it has finished, then try again.",
                )
            # The mark survives a kill, and then shows the next writer that there may be leftovers.
            mark = self.state / "writing"
            if mark.exists():
                self._sweep()
            disk.touch(mark)
            yield
            mark.unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Clean up after a writer that died, where it can have been: a workspace may be large."""
        written = {(self.folder / path).parent for path in self.manifest.files}
        for folder in {self.folder, *self.profile.folders(self.folder), *written}:
            sweep(folder)

    def files(self) -> NativeFiles:
        """Open the folder."""
        return NativeFiles(
            self.folder,
            self.manifest,
            store=self.store.project.store,
            now=self.store.now,
            on_edit=partial(import_edit, self),
            is_source=self.is_source,
            beside=self._beside,
        )

    def _beside(self, worktree: str | None) -> NativeFiles | None:
        """Open the folder of a worktree; one that the user named serves all worktrees."""
        project = self.store.project
        named = worktree or query.printable(str(project.worktree))
        here = [each for each in list_folders(project) if query.printable(str(each)) == named]
        if self.is_elsewhere or not here:
            return self.files() if self.is_elsewhere else None
        home = self.profile.home(msgspec.structs.replace(project, root=here[0], worktree=here[0]))
        if home == self.folder:
            return self.files()
        other = Mirror(self.store, self.name, home)
        disk.ensure_folder(other.state)
        return other.files()

    @property
    def index(self) -> StoreIndex:
        """The store's index, as last updated."""
        return self.store.open_index()

    def shows(self, name: str) -> bool:
        """Return whether a name is listed; the index is updated only before answering no."""
        head = self.index.find_named(name)
        if head is None or head.state not in LISTED:
            head = self.store.index().find_named(name)
        return head is not None and head.state in LISTED

    def entry(self, checkpoint_id: str) -> CheckpointEntry | None:
        """Return what is known about a checkpoint; its log line may be known before its file."""
        return self.index.get(checkpoint_id) or self.store.index().get(checkpoint_id)

    def catch_up(self, events: Sequence[StoreEvent]) -> None:
        """Update the index, unless it already knows the last of these events."""
        if not events or self.index.event(events[-1].id) is None:
            self.store.index()

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest of this mirror, in the store."""
        return Manifest(self.state)

    @property
    def wants_knowledge(self) -> bool:
        """Whether its files show features and memory too."""
        return self.profile.WANTS_KNOWLEDGE

    @property
    def wants_prompts(self) -> bool:
        """Whether its files contain waiting prompts."""
        return isinstance(self.profile, Waited)

    def stamps(self) -> dict[str, str]:
        """Return the state of the files that show features and memory."""
        if not self.wants_knowledge:
            return {}
        found = {}
        for path in self.profile.folders(self.folder):
            if path.is_file():
                seen = path.stat()
                name = str(path.relative_to(self.folder))
                found[name] = f"{seen.st_ino}.{seen.st_size}.{seen.st_mtime_ns}"
        return found

    def stamp(self) -> int:
        """Return when the folders, or the files named with them, last changed."""
        folders = self.profile.folders(self.folder)
        return max((each.stat().st_mtime_ns for each in folders if each.exists()), default=0)

    def wrote(self, path: Path) -> bool:
        """Return whether a file is as we left it."""
        entry = self.manifest.files.get(str(path.relative_to(self.folder)))
        found = read_regular(path) if entry is not None else None
        return entry is not None and found is not None and entry.sha256 == compute_digest(found[0])

    def is_source(self, checkpoint_id: str, data: bytes) -> bool:
        """Return whether a checkpoint was read from this very content."""
        entry = self.index.get(checkpoint_id)
        if entry is None or entry.trigger != "import" or entry.problem:
            return False
        source = self.store.load(entry).source
        return source is not None and source.sha256 == compute_digest(data)
