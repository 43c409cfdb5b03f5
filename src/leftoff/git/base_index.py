"""Write files of an object store as a patch on a commit of the user, and read such a patch.

Both need objects of the user's repository, and only read them: what git writes goes to the object
store, and the index is a file of its own.
"""

import contextlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from leftoff.errors import LeftoffError
from leftoff.git.object_store import ObjectStore, TreeEntry, quote
from leftoff.git.repository import Repository, decode_path

if TYPE_CHECKING:
    from leftoff.subprocesses import Ended

# Git knows this tree even where it is not stored.
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_NO_BLOB = "0" * 40
_DIFF = "diff-index --cached --no-renames --no-ext-diff --no-textconv".split()
_PATCH = (*_DIFF, *"--patch --binary --full-index --src-prefix=a/ --dst-prefix=b/".split())
_RAW = (*_DIFF, *"--raw -z --no-abbrev".split())
_APPLY = "apply --cached --whitespace=nowarn -".split()


class PatchedFiles(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between a commit and the index."""

    entries: list[TreeEntry] = []
    """Files, links and submodules that are new or changed."""
    absent: list[str] = []


class BaseIndex:
    """An index of leftoff's own that starts at a commit of the user."""

    def __init__(
        self, objects: ObjectStore, base: str | None, variables: Mapping[str, str]
    ) -> None:
        self._objects = objects
        self._base = base or _EMPTY_TREE
        self._variables = variables
        self._run("read-tree", base or "--empty")

    def put(self, entries: Iterable[TreeEntry], absent: Iterable[str]) -> None:
        """Add or replace files, and remove others."""
        gone = [TreeEntry("0", _NO_BLOB, path) for path in absent]
        # Removed first: a file may have become a folder.
        lines = [f"{each.mode} {each.blob}\t{each.path}\0" for each in (*gone, *entries)]
        given = "".join(lines).encode("utf-8", "surrogateescape")
        self._run("update-index", "--replace", "-z", "--index-info", given=given)

    def diff(self) -> bytes:
        """Return the index as a patch on the commit; empty if they are the same."""
        return self._run(*_PATCH, self._base).out

    def apply(self, patch: bytes) -> None:
        """Apply a patch to the index; git stores the new files in the object store."""
        self._run(*_APPLY, given=patch)

    def list_changes(self) -> PatchedFiles:
        """List what differs from the commit."""
        fields = self._run(*_RAW, self._base).out.split(b"\0")[:-1]
        entries, absent = [], []
        for about, name in zip(fields[::2], fields[1::2], strict=True):
            _, mode, _, blob, change = about.decode("ascii").split(" ")
            path = decode_path(name)
            if change == "D":
                absent.append(path)
            else:
                entries.append(TreeEntry(mode, blob, path))
        return PatchedFiles(entries=entries, absent=absent)

    def sizes(self, entries: Iterable[TreeEntry]) -> list[int]:
        """Return the sizes of files."""
        given = "".join(f"{each.blob}\n" for each in entries).encode("ascii")
        asked = self._run("cat-file", "--batch-check=%(objectsize)", given=given)
        return [*map(int, asked.text.split())]

    def read(self, entries: Iterable[TreeEntry]) -> dict[str, bytes]:
        """Return the contents of files by their blobs."""
        wanted = dict.fromkeys(each.blob for each in entries)
        return dict(self._objects.read(wanted, variables=self._variables))

    def _run(self, *arguments: str, given: bytes = b"") -> "Ended":
        ended = self._objects.run(*arguments, given=given, variables=self._variables)
        if not ended.is_done:
            reason = ended.trouble_lines[0] if ended.trouble_lines else "git gave no reason"
            raise LeftoffError(f"git {arguments[0]} failed: {reason}")
        return ended


@contextlib.contextmanager
def open_index(
    objects: ObjectStore, repository: Repository, base: str | None
) -> Iterator[BaseIndex]:
    """Open an index that starts at a commit of the user, or empty without one."""
    lent = quote(str(repository.common_dir / "objects")).decode("utf-8", "surrogateescape")
    with tempfile.TemporaryDirectory(prefix="leftoff-") as folder:
        variables = {
            "GIT_INDEX_FILE": str(Path(folder) / "index"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": lent,
        }
        yield BaseIndex(objects, base, variables)
