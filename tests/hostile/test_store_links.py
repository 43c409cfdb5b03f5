"""Nothing is read or written through a link, a FIFO or a hard link in a store."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from hostile.trees import SECRET
from leftoff.errors import StoreRefused
from stores import contents
from talk import Talk

FOLDERS = ["", "checkpoints", "loops", "mirrors", "sessions", "tmp", "trash"]
FILES = [
    "config.toml", "events.jsonl", "memory.jsonl", "prompts.jsonl", "features.json",
    "features.jsonl", "trash.jsonl", "SESSION-STATE.md", "index.sqlite", "memory.sqlite",
    "lock", "off",
]  # fmt: skip
READERS = [
    ("list",), ("resume",), ("show", "first"), ("memory", "list"), ("feature", "list"),
    ("prompts", "list"), ("config",), ("trash", "list"), ("wal", "show"), ("status",), ("doctor",),
    ("dashboard",), ("start",), ("search", "the"), ("briefing",), ("log", "first"),
]  # fmt: skip
WRITERS = [
    ("save", "second", "--summary", "Also mine"),
    ("memory", "add", "decision", "Use tabs"),
    ("feature", "add", "The export"),
    ("config", "set", "budget", "900", "--project"),
    ("wal", "add", "--kind", "value", "Remember the milk"),
    ("off",), ("on",),
    ("clear", "first"),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository whose store holds something of every kind, and go there."""
    repo = Repo(tmp_path / "unpacked")
    repo.commit("Begin", {"app.py": "print('hello')\n"})
    monkeypatch.chdir(repo.folder)
    cli = Cli(monkeypatch)
    cli.ok("config", "set", "mirror", "sail", "--project")
    for words in (
        ("save", "first", "--summary", "Mine", "--decision", "Use spaces"),
        ("feature", "add", "The import"),
        ("wal", "add", "--kind", "value", "Remember the bread"),
    ):
        cli.ok(*words)
    talk = Talk(repo.folder)
    talk.start()
    talk.work()
    talk.fire("UserPromptSubmit", prompt="Do the export")
    return repo.folder


def planted(place: Path, elsewhere: Path) -> None:
    """Put a link in a place, to a copy of what was there that holds a secret."""
    if place.is_dir():
        shutil.copytree(place, elsewhere)
        shutil.rmtree(place)
        (elsewhere / "secret.json").write_text(f'{{"summary": "{SECRET}"}}\n')
    else:
        held = place.read_bytes() if place.exists() else b""
        if place.suffix == ".toml":
            held = f'budget = "{SECRET}"\nMine = 1\n'.encode()
        place.unlink(missing_ok=True)
        elsewhere.write_bytes(held.replace(b"Mine", SECRET.encode()) or f"{SECRET}\n".encode())
    place.symlink_to(elsewhere)


@pytest.mark.slow("plants something in every place")
@pytest.mark.parametrize("name", [*FOLDERS, *FILES])
def test_nothing_is_written_through_a_link_in_a_store(
    folder: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = folder / ".git" / "leftoff"
    elsewhere = tmp_path / "elsewhere"
    planted(store / name if name else store, elsewhere)
    before = contents(elsewhere) if elsewhere.is_dir() else elsewhere.read_bytes()

    shown = "".join(_everything(folder, monkeypatch))

    after = contents(elsewhere) if elsewhere.is_dir() else elsewhere.read_bytes()
    assert after == before
    assert SECRET not in shown
    found = [] if store.is_symlink() else store.rglob("*")
    kept = [each for each in found if each.is_file() and not each.is_symlink()]
    assert not [each for each in kept if SECRET.encode() in each.read_bytes()]
    assert "Traceback" not in shown


def _everything(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    cli = Cli(monkeypatch)
    yield _started(folder, "two")
    for words in [*READERS, *WRITERS, *READERS]:
        result = cli(*words)
        assert result.code in {0, 1, 2, 3, 4}, (words, result)
        yield result.out + result.err
    yield _started(folder, "three")


def _started(folder: Path, session: str) -> str:
    try:
        return Talk(folder, session).start()
    except StoreRefused as refused:
        # The hook itself notes it for `leftoff doctor`, and answers nothing.
        return str(refused)
