"""What commit 9890827 wrote is read unchanged, for each profile.

Its stores, settings, sessions and native files are in previous_version/stores.tar.xz, and told.json
contains what that version itself read from them. previous_version/make.py created both.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import _utc
from cli.runs import Cli
from leftoff.context import find_project
from leftoff.profiles.mirror.mirror import Mirror
from leftoff.store import Store, plain_name
from previous_version.make import PROFILES, QUESTIONS
from previous_version.unpack import OLD_ROOT, munge, unpack
from stores import contents

__all__ = ["_utc"]

HERE = Path(__file__).parent / "previous_version"
ANSWERS: dict[str, dict[str, Any]] = json.loads((HERE / "told.json").read_bytes())
# These depend on the moment, or are sentences that may be worded better. The old version resumed
# where nothing is confirmed, so it had no choices there; now a look always offers them.
NOT_COMPARED = {"age_seconds", "briefing", "checks", "choices", "question", "snippet", "touched_at"}
# What doctor checks of a machine, not of what was saved.
MACHINE = {"settings", "python", "hook"}
# Defaults that a profile has changed since, on purpose.
CHANGED_DEFAULTS = {
    "advise_at", "fresh_at", "memory_budget", "offers", "same_name", "start_budget",
}  # fmt: skip
INDEXES = ("with its indexes", "without them")


@pytest.fixture(params=[(profile, how) for profile in PROFILES for how in INDEXES], ids=" ".join)
def profile(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Put what was written for a profile into a home and a repository, and stand there."""
    name, how = request.param
    root = tmp_path / name
    unpack(HERE / "stores.tar.xz", name, tmp_path)
    for index in root.rglob("*.sqlite") if how == "without them" else ():
        index.unlink()
    monkeypatch.setenv("HOME", str(root / "home"))
    monkeypatch.chdir(root / "repo")
    _move_hashed(name)
    return str(name)


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
    """Name what the old version answered and the new one does not."""
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
    # openclaw's one autosave has had that name since; before, it had none.
    is_named_since = where.endswith("/name") and (old, new) == (None, "autosave")
    return [] if old == new or is_named_since else [f"{where}: {old!r} is now {new!r}"]


def _expect(profile: str, question: str, place: Path) -> Any:
    text = json.dumps(ANSWERS[profile][question])
    text = text.replace("ROOT", str(place)).replace(munge(OLD_ROOT), munge(str(place)))
    if profile == "quoin":
        # Outside of a session, no waiting prompt is yours any more.
        text = text.replace('"is_own": true', '"is_own": false')
    answer = json.loads(text)
    if question == "search":
        # The old version listed every revision; now each thread has one row, its newest.
        newest = {each["name"] or each["id"]: each for each in reversed(answer)}
        return [*reversed(newest.values())]
    return answer


def test_reading_answers_as_the_old_version_did_and_changes_nothing_it_wrote(
    cli: Cli, profile: str, tmp_path: Path
) -> None:
    before = _written(Path.cwd().parent)
    # To resume is to mark: some profiles do so without being asked.
    *looks, resume = QUESTIONS
    assert resume == "resume"

    missing = [each for question in looks for each in _compare(cli, profile, question, tmp_path)]
    shown = cli.ok("wal", "show").out
    assert "csv-export" in cli.ok("status").out
    findings = cli("doctor", "--json").json["findings"]

    assert _written(Path.cwd().parent) == before
    assert missing + _compare(cli, profile, resume, tmp_path) == []
    assert [line for line in ANSWERS[profile]["notes"].splitlines() if line not in shown] == []
    # The hooks and the Python of the machine that made this are not here; all else is well.
    assert {each["check"] for each in findings if each["level"] == "broken"} <= MACHINE


def _compare(cli: Cli, profile: str, question: str, place: Path) -> list[str]:
    """Ask a question, and name what the old version answered and the new one does not."""
    session = ANSWERS[profile]["show session"]["id"]
    asked = [session if word == "SESSION" else word for word in QUESTIONS[question]]
    return _missing(_expect(profile, question, place), cli.json(*asked), question)


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


def test_the_resumed_briefing_shows_the_work(cli: Cli) -> None:
    output = cli.ok("resume", "csv-export", "--accept").out

    assert "Export orders as CSV" in output
    assert "Quote commas in rows" in output


def test_undo_brings_back_what_was_cleared_last(cli: Cli) -> None:
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
