"""What commit 9890827 wrote is read unchanged, for each profile.

Its stores, settings, sessions and native files are in previous_version/stores.tar.xz, and told.json
contains what that version itself read from them. previous_version/make.py created both.
"""

import hashlib
import json
import os
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import _utc
from cli.runs import Cli
from leftoff.context import find_project
from leftoff.profiles.mirror.mirror import Mirror
from leftoff.store import Store, plain_name
from previous_version.make import PROFILES, QUESTIONS
from stores import contents

__all__ = ["_utc"]

HERE = Path(__file__).parent / "previous_version"
TOLD: dict[str, dict[str, Any]] = json.loads((HERE / "told.json").read_bytes())
# Where it was written.
OLD_ROOT = "/tmp/work"
# These depend on the moment, or are sentences that may be worded better. The old version resumed
# where nothing is confirmed, so it had no choices there; now a look always offers them.
NOT_COMPARED = {"age_seconds", "briefing", "checks", "choices", "question", "snippet", "touched_at"}
# What doctor checks of a machine, not of what was saved.
MACHINE = {"settings", "python", "hook"}
# Defaults that a profile has changed since, on purpose.
CHANGED_DEFAULTS = {"advise_at", "fresh_at", "memory_budget", "offers", "start_budget"}
INDEXES = ("with its indexes", "without them")


@pytest.fixture(params=[(profile, how) for profile in PROFILES for how in INDEXES], ids=" ".join)
def profile(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Put what was written for a profile into a home and a repository, and stand there."""
    name, how = request.param
    root = tmp_path / name
    with tarfile.open(HERE / "stores.tar.xz") as archive:
        members = [each for each in archive if each.name.split("/")[0] == name]
        # Python 3.11 has filters only from 3.11.4 on; the archive is our own.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(tmp_path, members)  # noqa: S202 - filtered above
    _move(root, tmp_path)
    for index in root.rglob("*.sqlite") if how == "without them" else ():
        index.unlink()
    monkeypatch.setenv("HOME", str(root / "home"))
    monkeypatch.chdir(root / "repo")
    _move_hashed(name)
    return str(name)


def _move(root: Path, place: Path) -> None:
    """Let the files speak of the place where they are now, and of each other's new hashes."""
    for old in [*root.rglob(f"{_munged(OLD_ROOT)}-*")]:
        old.rename(old.with_name(old.name.replace(_munged(OLD_ROOT), _munged(str(place)))))
    hashes: dict[str, str] = {}
    for path, text in _texts(root):
        moved = text.replace(OLD_ROOT, str(place)).replace(_munged(OLD_ROOT), _munged(str(place)))
        if moved != text:
            hashes[_hash(text)] = _hash(moved)
            _rewrite(path, moved)
    for path, text in _texts(root):
        moved = re.sub(r"\b[0-9a-f]{64}\b", lambda found: hashes.get(found[0], found[0]), text)
        if moved != text:
            _rewrite(path, moved)


def _texts(root: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and "objects" not in path.parts and path.name != "index":
            data = path.read_bytes()
            if b"\0" not in data:
                yield path, data.decode()


def _rewrite(path: Path, text: str) -> None:
    stat = path.stat()
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def _munged(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _move_hashed(profile: str) -> None:
    """Rename what is named by the hash of a path."""
    store = Store(find_project())
    (mirror,) = (store.project.store / "mirrors").iterdir()
    mirror.rename(Mirror(store, profile).state)
    for loop in [*Path.cwd().rglob("worktree-*")]:
        loop.rename(loop.with_name(f"worktree-{plain_name(str(Path.cwd()))}{loop.suffix}"))
    store.close()


@pytest.fixture
def cli(profile: str, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run leftoff there; allow the project's settings, for which the old version did not ask."""
    cli = Cli(monkeypatch)
    assert cli.json("config", "allow") == {"allowed": ["profile", "mirror"]}, profile
    return cli


def _missing(old: Any, new: Any, where: str = "") -> list[str]:
    """Name what the old version told and the new one does not."""
    if isinstance(old, dict) and isinstance(new, dict):
        if old.get("key") in CHANGED_DEFAULTS and new.get("source", "").startswith("profile "):
            return []
        keys = [key for key in old if key not in NOT_COMPARED]
        return [each for key in keys for each in _missing(old[key], new.get(key), f"{where}/{key}")]
    if isinstance(old, list) and isinstance(new, list) and old and "key" in old[0]:
        # Settings are known by their keys, and a later version may have more of them.
        by_key = {each["key"]: each for each in new}
        return [x for each in old for x in _missing(each, by_key.get(each["key"]), where)]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [each for n, (a, b) in pairs for each in _missing(a, b, f"{where}/{n}")]
    return [] if old == new else [f"{where}: {old!r} is now {new!r}"]


def _told(profile: str, question: str, place: Path) -> Any:
    text = json.dumps(TOLD[profile][question])
    text = text.replace("ROOT", str(place)).replace(_munged(OLD_ROOT), _munged(str(place)))
    return json.loads(text)


def test_every_answer_holds_what_the_old_version_answered(
    cli: Cli, profile: str, tmp_path: Path
) -> None:
    missing = []
    for question, words in QUESTIONS.items():
        wanted = _told(profile, question, tmp_path)
        session = TOLD[profile]["show session"]["id"]
        asked = [session if word == "SESSION" else word for word in words]
        missing += _missing(wanted, cli.json(*asked), question)

    assert missing == []
    shown = cli.ok("wal", "show").out
    assert [line for line in TOLD[profile]["notes"].splitlines() if line not in shown] == []


def test_reading_leaves_every_checkpoint_log_and_native_file_as_it_is(
    cli: Cli, profile: str
) -> None:
    before = _written(Path.cwd().parent)

    session = TOLD[profile]["show session"]["id"]
    for words in (*QUESTIONS.values(), ("status",), ("doctor",)):
        # To resume is to mark: some profiles do so without being asked.
        if words[0] != "resume":
            cli(*(session if each == "SESSION" else each for each in words))

    assert _written(Path.cwd().parent) == before


def _written(root: Path) -> dict[str, str]:
    """Tell what files hold that users or agents wrote, and that leftoff must never lose."""
    kept = contents(root)
    ours = {
        path: digest
        for path, digest in kept.items()
        if "/.git/leftoff/" in f"/{path}" and path.endswith((".json", ".jsonl", ".toml", ".md"))
        and "/mirrors/" not in path and "/sessions/" not in path
    }  # fmt: skip
    natives = {
        path: digest
        for path, digest in kept.items()
        if re.search(r"/\.(claude|claude-harness|openclaw|workflow_artifacts)/", f"/{path}")
        # A page that is written anew from what is known.
        and not path.endswith("/session-briefing.md")
    }
    return ours | natives


def test_the_resumed_briefing_tells_the_work(cli: Cli) -> None:
    told = cli.ok("resume", "csv-export", "--accept").out

    assert "Export orders as CSV" in told
    assert "Quote commas in rows" in told


def test_status_and_doctor_find_it_sound(cli: Cli) -> None:
    assert "csv-export" in cli.ok("status").out
    findings = cli("doctor", "--json").json["findings"]

    # The hooks and the Python of the machine that made this are not here; all else is well.
    assert {each["check"] for each in findings if each["level"] == "broken"} <= MACHINE


def test_undo_brings_back_what_was_put_away_last(cli: Cli) -> None:
    assert "old-idea" not in [each["name"] for each in cli.json("list")]

    cli.ok("undo")

    assert "old-idea" in [each["name"] for each in cli.json("list")]


def test_work_goes_on_and_every_old_checkpoint_stays_byte_for_byte(cli: Cli) -> None:
    folder = Path.cwd() / ".git" / "leftoff" / "checkpoints"
    before = contents(folder)

    said = ("--summary", "Export orders as CSV", "--decision", "Stream :: memory")
    cli.ok("save", "csv-export", "--overwrite", *said, "--next", "Run make test", "--no-capture")
    cli.ok("memory", "add", "rule", "Keep lines short")
    cli.ok("feature", "add", "Import orders")
    cli.ok("wal", "add", "--kind", "value", "port 9090")

    after = contents(folder)
    assert before.items() <= after.items()
    assert len(after) == len(before) + 1
    assert "Import with @/ from src" in cli.ok("memory", "list").out
    assert "Import orders" in cli.ok("feature", "list").out
    assert "Tabs, not spaces" in cli.ok("wal", "show").out
