"""Real git repositories for tests, with a fixed identity, fixed dates and nobody's settings."""

import functools
import hashlib
import os
import shutil
import struct
import subprocess
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

# Set these for the code under test as well, so that the settings of the machine play no part.
ISOLATED_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
_IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "LC_ALL": "C",
}
# A commit would start git once more to see whether there is anything to tidy up.
_SETTINGS = ("-c", "protocol.file.allow=always", "-c", "maintenance.auto=false", "-c", "gc.auto=0")
# conftest.py names a folder that lasts as long as the run of the tests.
template_folder: Path | None = None
# An entry of git's index begins with two times, the device and the inode of its file.
_INDEX_HEAD, _STAT = struct.Struct(">4sLL"), struct.Struct(">LLLLLL")
_ENTRY_BYTES, _HASH_BYTES = 62, 20
_FIRST_COMMIT_AT = datetime(2026, 1, 1, tzinfo=UTC)


class Repo:
    """A repository in a folder; each commit is made one minute after the one before."""

    def __init__(self, folder: Path, *, init: bool = True, bare: bool = False) -> None:
        self.folder = folder
        self._commits = 0
        folder.mkdir(parents=True, exist_ok=True)
        if init:
            shutil.copytree(_empty_repository(bare=bare), folder, dirs_exist_ok=True)

    @classmethod
    def begun(cls, folder: Path) -> "Repo":
        """Return a repository with one commit."""
        shutil.copytree(_begun_repository(), folder)
        made = cls(folder, init=False)
        made.refresh()
        made._commits = 1
        return made

    def refresh(self) -> None:
        """Let the index know the files that were copied: it knows a file by its inode, too.

        `git update-index --refresh` does the same, and takes ten times as long.
        """
        index = self.folder / ".git" / "index"
        data = bytearray(index.read_bytes()[:-_HASH_BYTES])
        _, version, entries = _INDEX_HEAD.unpack_from(data)
        assert version == 2, "The entries of other versions are not aligned."
        at = _INDEX_HEAD.size
        for _ in range(entries):
            name = bytes(data[at + _ENTRY_BYTES : data.index(0, at + _ENTRY_BYTES)])
            found = (self.folder / os.fsdecode(name)).lstat()
            times = (*divmod(found.st_ctime_ns, 10**9), *divmod(found.st_mtime_ns, 10**9))
            values = (*times, found.st_dev, found.st_ino)
            _STAT.pack_into(data, at, *(value & 0xFFFFFFFF for value in values))
            at += (_ENTRY_BYTES + len(name) + 8) // 8 * 8
        index.write_bytes(data + hashlib.sha1(data, usedforsecurity=False).digest())

    def git(self, *arguments: str, check: bool = True) -> str:
        """Run git here and return what it prints."""
        done = subprocess.run(
            ("git", *_SETTINGS, *arguments),
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"git {arguments}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def write(self, path: str, text: str = "text\n") -> Path:
        """Write a file, with the folders it needs."""
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        return place

    def commit(self, subject: str, files: dict[str, str] | None = None) -> str:
        """Write the files, commit everything and return the hash."""
        for path, text in (files or {}).items():
            self.write(path, text)
        self._commits += 1
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", f"--message={subject}")
        return self.head()

    def head(self) -> str:
        """Return the hash of HEAD."""
        # Starting git takes a hundred times as long as reading where it keeps the hash.
        head = self.folder / ".git" / "HEAD"
        text = os.fsdecode(head.read_bytes()) if head.is_file() else ""
        name = text.strip().removeprefix("ref: ")
        found = self.folder / ".git" / name
        if name.startswith("refs/") and found.is_file():
            return found.read_text().strip()
        return self.git("rev-parse", "HEAD")

    def worktree(self, folder: Path, branch: str) -> "Repo":
        """Add a linked worktree on a new branch."""
        self.git("worktree", "add", "--quiet", "-b", branch, os.fspath(folder))
        return Repo(folder, init=False)

    def _environment(self) -> dict[str, str]:
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_")
        }
        made_at = (_FIRST_COMMIT_AT + timedelta(minutes=self._commits)).isoformat()
        dates = {"GIT_AUTHOR_DATE": made_at, "GIT_COMMITTER_DATE": made_at}
        return inherited | ISOLATED_ENVIRONMENT | _IDENTITY | dates


# Made once per process and copied: a copy costs a fraction of starting git several times.


@functools.cache
def _empty_repository(*, bare: bool) -> Path:
    repo = Repo(new_template(), init=False)
    repo.git("init", "--quiet", "--initial-branch=main", *(["--bare"] if bare else []))
    for sample in repo.folder.rglob("*.sample"):
        sample.unlink()
    return repo.folder


@functools.cache
def _begun_repository() -> Path:
    repo = Repo(new_template())
    repo.commit("Begin", {"app.py": "print('hello')\n"})
    return repo.folder


def new_template() -> Path:
    """Return a new folder that lasts as long as this process."""
    return Path(tempfile.mkdtemp(prefix="template-", dir=template_folder))
