"""Damage or replace one file of the store or state folder, and run the commands that read it.

Each command must end soon and without a traceback, and `list` must show every checkpoint whose own
file is intact. No command may change or show the file that a planted link points to.
"""

import contextlib
import os
import random
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import msgspec

from leftoff.torture.claims_ledger import tokens_in
from leftoff.torture.fake_session import Talk
from leftoff.torture.trials import Arena, attempt
from leftoff.torture.workloads import WORKLOADS
from leftoff.torture.world import Bench, install_hooks

BOUND_SECONDS = 30.0
_SECRET = "PRIVATE-7d1f-behind-the-link"  # noqa: S105 - made up
_HUGE_BYTES = 1 << 30
_BOUND_MEGABYTES = 700
# Together these workloads create most kinds of files that a store has.
_PREPARED = (
    "save", "save with a decision", "save over a name", "clear", "memory add", "feature add",
    "wal add", "wal reset", "prompts import", "config set", "settle", "resume and accept",
)  # fmt: skip
READERS: tuple[tuple[str, ...], ...] = (
    ("latest",),
    ("status",),
    ("dashboard",),
    ("start",),
    ("log",),
    ("search", "work"),
    ("lint",),
    ("briefing",),
    ("memory", "list"),
    ("feature", "list"),
    ("prompts", "list"),
    ("config", "explain"),
    ("trash", "list"),
    ("sessions",),
    ("resume",),
    ("wal", "show"),
)

Change = Callable[[Path, random.Random], None]


def _flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 8))):
        if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def _truncate(path: Path, chance: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: chance.randrange(len(data) + 1)])


def _zero(path: Path, chance: random.Random) -> None:
    data = path.read_bytes()
    at = chance.randrange(len(data) + 1)
    path.write_bytes(data[:at] + bytes(len(data) - at))


def _empty(path: Path, _: random.Random) -> None:
    path.write_bytes(b"")


def _append_garbage(path: Path, chance: random.Random) -> None:
    lines = (b"\xff\xfe\x00garbage\n", b'{"id": \n', b"{}\n", b"[" * 3000 + b"\n", b"null\n\n\n")
    path.write_bytes(path.read_bytes() + chance.choice(lines))


def _insert_line(path: Path, chance: random.Random) -> None:
    data = path.read_bytes()
    at = chance.randrange(len(data) + 1)
    path.write_bytes(data[:at] + b"\nnonsense\x00\n" + data[at:])


def _forbid(path: Path, _: random.Random) -> None:
    path.chmod(0)


def _replace(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


def _secret_of(path: Path) -> Path:
    """Return the folder of private files, far from the store, that planted links point to."""
    return next(parent for parent in path.parents if (parent / "private").is_dir()) / "private"


def _link(path: Path, _: random.Random) -> None:
    target = _secret_of(path) / "secret.txt"
    _replace(path, lambda place: place.symlink_to(target))


def _loop(path: Path, _: random.Random) -> None:
    _replace(path, lambda place: place.symlink_to(place.name))


def _hard_link(path: Path, _: random.Random) -> None:
    target = _secret_of(path) / "secret.txt"
    _replace(path, lambda place: place.hardlink_to(target))


def _fifo(path: Path, _: random.Random) -> None:
    _replace(path, os.mkfifo)


def _folder(path: Path, _: random.Random) -> None:
    _replace(path, lambda place: (place / "inside").mkdir(parents=True))


def _device(path: Path, _: random.Random) -> None:
    # Only root may create a device. Other users plant a link to one.
    path.unlink()
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except OSError:
        path.symlink_to("/dev/zero")


def _huge(path: Path, _: random.Random) -> None:
    # `truncate` makes a sparse file, which takes no room on the disk.
    os.truncate(path, _HUGE_BYTES)


GARBLED: dict[str, Change] = {
    "bits flipped": _flip,
    "truncated": _truncate,
    "zeros": _zero,
    "emptied": _empty,
    "garbage appended": _append_garbage,
    "a line inserted": _insert_line,
}
PLANTED: dict[str, Change] = {
    "a link to a private file": _link,
    "a link to itself": _loop,
    "a hard link to a private file": _hard_link,
    "a FIFO": _fifo,
    "a folder": _folder,
    "a device": _device,
    "1 GB of zeros": _huge,
    "no permission": _forbid,
}


def run(arena: Arena) -> None:
    """Damage one file after the other until the time is up."""
    bench = _populate_project(arena)
    kept = arena.root / "kept"
    shutil.copytree(bench.project, kept / "project", symlinks=True)
    shutil.copytree(bench.home, kept / "home", symlinks=True)
    # `_try` swaps two files itself and does not call the function for it.
    changes = {**GARBLED, **PLANTED, "swapped": _flip}
    chance = random.Random(arena.seed)  # noqa: S311 - no secret
    for _, name in arena.in_turn([*changes]):
        _restore(bench, kept)
        _try(arena, bench, name, changes[name], chance)
    for folder in (kept, bench.project):
        shutil.rmtree(folder, ignore_errors=True)


def _populate_project(arena: Arena) -> Bench:
    """Create a project that contains some of everything."""
    bench = arena.bench()
    install_hooks(bench.state)
    private = arena.root / "private"
    private.mkdir(exist_ok=True)
    (private / "secret.txt").write_text(f"{_SECRET}\n", encoding="utf-8")
    for name in _PREPARED:
        attempt(bench, WORKLOADS[name](bench), None)
    Talk(bench.project, "listed").write("Add a login form to app.py")
    arena.check(bench, "an untouched store")
    return bench


def _restore(bench: Bench, kept: Path) -> None:
    for place, copy in ((bench.project, kept / "project"), (bench.home, kept / "home")):
        for path in place.rglob("*"):
            if not path.is_symlink() and path.is_file():
                path.chmod(0o600)
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(copy, place, symlinks=True, dirs_exist_ok=True)


def _try(arena: Arena, bench: Bench, name: str, change: Change, chance: random.Random) -> None:
    files = [*_files(bench.store), *_files(bench.state)]
    path = chance.choice(files)
    place = path.relative_to(arena.root)
    trial = (f"{place}: {name}",)
    if name == "swapped":
        other = chance.choice(files)
        first, second = path.read_bytes(), other.read_bytes()
        path.write_bytes(second)
        other.write_bytes(first)
        touched = {path, other}
    else:
        change(path, chance)
        touched = {path}
    arena.tally.count("damaged files" if name in GARBLED or name == "swapped" else "replaced files")
    _check_list(arena, bench, touched, trial)
    for words in chance.sample(READERS, 3):
        _check_reader(arena, bench, words, trial)
    _check_private(arena, trial)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _check_list(arena: Arena, bench: Bench, touched: set[Path], trial: tuple[str, ...]) -> None:
    """Check that every checkpoint whose own file is intact is listed."""
    ended = _read(arena, bench, ("list", "--all", "--limit", "1000", "--json"), trial)
    if ended is None:
        return
    intact = {
        token
        for path in (bench.store / "checkpoints").rglob("*.json")
        if path not in touched and path.is_file()
        for token in tokens_in(path.read_text(encoding="utf-8"))
    }
    try:
        rows = msgspec.json.decode(ended)
    except msgspec.DecodeError:
        arena.tally.note_broken("`list --json` did not print JSON", arena.where(*trial))
        return
    # A replaced revision is in the log, not in the list.
    shown = tokens_in(str(rows)) | _in_log(bench)
    for token in sorted(intact - shown):
        arena.tally.note_lost(f"the intact checkpoint {token} is not listed", arena.where(*trial))


def _in_log(bench: Bench) -> set[str]:
    ended = bench.run("log", "shared-work", seconds=BOUND_SECONDS)
    return tokens_in(ended.output.decode("utf-8", "replace"))


def _check_reader(
    arena: Arena, bench: Bench, words: tuple[str, ...], trial: tuple[str, ...]
) -> None:
    _read(arena, bench, words, trial)


def _read(
    arena: Arena, bench: Bench, words: tuple[str, ...], trial: tuple[str, ...]
) -> bytes | None:
    """Run a command that reads, and record what it must not do."""
    ended = bench.run(*words, seconds=BOUND_SECONDS)
    arena.tally.count("commands")
    where = arena.where(f"leftoff {' '.join(words)}", *trial)
    if ended.hung:
        arena.tally.note_broken(f"it did not end within {BOUND_SECONDS:.0f} s", where)
    elif ended.has_crashed or ended.signal:
        arena.tally.note_broken(
            f"it ended with {ended.code or ended.signal}: {ended.last_line}", where
        )
    elif ended.megabytes > _BOUND_MEGABYTES:
        arena.tally.note_broken(f"it took {ended.megabytes} MB of memory", where)
    elif _SECRET.encode() in ended.all_output:
        arena.tally.note_broken("it showed a private file behind a link", where)
    else:
        return ended.output
    return None


def _check_private(arena: Arena, trial: tuple[str, ...]) -> None:
    path = arena.root / "private" / "secret.txt"
    with contextlib.suppress(OSError):
        path.chmod(0o600)
        if path.read_text(encoding="utf-8") != f"{_SECRET}\n":
            arena.tally.note_broken("a private file behind a link was changed", arena.where(*trial))
            path.write_text(f"{_SECRET}\n", encoding="utf-8")
