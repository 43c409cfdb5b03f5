"""A preview of a profile reads the native files as a switch would, and changes nothing."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff import profiles
from leftoff.context import find_project

DAY = 1_763_000_000


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (DAY, DAY))


GUARDZ = """\
# Checkpoint: login-flow

- **Branch:** `main`
- **Saved:** 2026-11-15 18:40

## Left Off
The callback is not handled yet.
"""
OPENCLAW = """\
# Checkpoint: csv-import

**Created:** 2026-11-15 18:40 UTC
**Task:** Import supplier CSVs

## Progress
- Wrote importer/reader.py
"""
SAIL = {
    "timestamp": "2026-11-15T18:40:12Z",
    "summary": "Moving rate limits to Redis",
    "decisions": ["Chose a sliding window"],
    "next_action": "Write src/limit.lua",
}
QUOIN = """\
## Status
checkpoint save (voluntary)

## Active task
payment-retry

## Branch
main

## Last user intent
Make refunds retry.
"""
PROGRESS = {
    "lastUpdated": "2026-11-15T18:40:00Z",
    "lastSession": {"summary": "Exported orders", "nextSteps": ["Test zero orders"]},
}
# For each system: a file that is read, what is said of it, and one that nobody can read.
FILES: dict[str, tuple[str, str, str]] = {
    "guardz": ("checkpoint-login-flow.md", GUARDZ, "The callback is not handled yet."),
    "openclaw": ("memory/checkpoints/csv-import.md", OPENCLAW, "Import supplier CSVs"),
    "sail": ("checkpoints/20261115T184012Z.json", json.dumps(SAIL), "Moving rate limits to Redis"),
    "quoin": ("memory/checkpoints/2026-11-15-payment-retry.md", QUOIN, "Make refunds retry."),
    "harness": ("claude-progress.json", json.dumps(PROGRESS), "Exported orders"),
}
BROKEN = {
    "guardz": "checkpoint-broken.md",
    "openclaw": "memory/checkpoints/broken.md",
    "sail": "checkpoints/20261116T184012Z.json",
    "quoin": "memory/checkpoints/2026-11-16-broken.md",
    "harness": "sessions/s1/checkpoint.json",
}


def tree(*folders: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file with its bytes and time, and every folder with its time."""
    return {
        str(path): (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
        for folder in folders
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def place(cli: Cli, repo: Repo, profile: str) -> Path:
    """Put the files of a system where it keeps them; return where that is."""
    del cli
    folder = profiles.load(profile).home(find_project(repo.folder))
    name, text, _ = FILES[profile]
    write(folder, name, text)
    return folder


@pytest.mark.parametrize("profile", FILES)
def test_it_says_what_would_be_read_and_what_is_unclear_and_changes_nothing(
    cli: Cli, repo: Repo, place: Path, profile: str, tmp_path: Path
) -> None:
    # A folder in the place of a file, and a file without any content.
    (place / BROKEN[profile]).parent.mkdir(parents=True, exist_ok=True)
    (place / BROKEN[profile]).write_bytes(b"\x00\xff\x00")
    before = tree(repo.folder, tmp_path / "home")

    out = cli.ok("doctor", "--profile", profile).out
    preview: dict[str, Any] = cli.json("doctor", "--profile", profile)

    assert tree(repo.folder, tmp_path / "home") == before
    assert FILES[profile][2] in out
    assert preview["profile"] == profile
    assert preview["folder"] == str(place)
    assert preview["checkpoints"] >= 1
    assert "Nothing was changed." in out
    assert f"Would import {preview['checkpoints']} checkpoint" in out


@pytest.mark.parametrize("profile", FILES)
def test_a_switch_then_imports_as_many_checkpoints_as_it_said(
    cli: Cli, place: Path, profile: str
) -> None:
    preview = cli.json("doctor", "--profile", profile)

    out = cli.ok("init", "--profile", profile, "--yes").out

    assert f"Imported {preview['checkpoints']} checkpoint from {place}" in out


@pytest.mark.parametrize("profile", ["guardz"])
def test_what_has_to_be_guessed_is_named(cli: Cli, place: Path) -> None:
    thin = "# Checkpoint: thin\n\n## Modified Files\n- src/limits.py\n"
    write(place, "checkpoint-thin.md", thin)
    write(place, "MEMORY.md", "# Notes\n\n## Active Checkpoints\n- **gone** (main, Nov 1) — x\n")

    findings = cli.json("doctor", "--profile", "guardz")["findings"]

    unclear = [(each["check"], each["what"]) for each in findings if each["level"] == "warning"]
    assert ("checkpoint-thin.md", _NO_TIME) in unclear
    assert (
        "checkpoint-thin.md",
        "It says neither what the work is nor where it stopped.",
    ) in unclear
    assert ("checkpoint-login-flow.md", _NO_TIME) not in unclear
    assert ("gone", "The index lists it, but its file is missing.") in unclear


_SAYS_NOTHING = "It says neither what the work is nor where it stopped."
_NO_TIME = "It has no save time, so the time of the file is used."


@pytest.mark.parametrize("profile", ["sail"])
def test_the_settings_that_a_switch_changes_are_named(cli: Cli, place: Path) -> None:
    del place
    preview = cli.json("doctor", "--profile", "sail")

    assert preview["settings"]["profile"] == "sail"
    assert preview["settings"]["noise"] == "box"
    assert "budget" not in preview["settings"]


def test_without_files_nothing_would_be_imported(cli: Cli) -> None:
    assert "Would import 0 checkpoints" in cli.ok("doctor", "--profile", "quoin").out


def test_it_cannot_clear_anything(cli: Cli) -> None:
    assert cli("doctor", "--profile", "quoin", "--clear").code == 2


@pytest.mark.parametrize("profile", ["guardz", "openclaw", "quoin"])
def test_a_line_that_is_in_no_field_is_quoted(cli: Cli, place: Path, profile: str) -> None:
    name, text, _ = FILES[profile]
    write(place, name, f"Zebras queue quietly\n\n{text}")

    findings = cli.json("doctor", "--profile", profile)["findings"]
    quoted = [each["what"] for each in findings if "is not understood" in each["what"]]

    # A line that the import keeps is not unclear.
    cli.ok("import", "--from", profile)
    assert bool(quoted) is ("Zebras" not in cli.ok("show", "--json").out)


FULL = {
    "guardz": """\
# Checkpoint: invoice-rounding

- **Branch:** `fix/rounding`
- **Saved:** 2026-11-15 18:40
- **Plan:** `~/.claude/plans/billing-cleanup.md` (step 3 of 7)

## Left Off
Half-even rounding is in `money.py`; the currency table still uses floats.
Open choice: Decimal columns vs integer cents (user has not decided).

## Done This Session
- Replaced round() in `money.py`

## Failed Approaches
- None

## Modified Files
- src/money.py
""",
    "openclaw": """\
# Checkpoint: csv-importer

**Created:** 2026-11-15 18:40 UTC
**Task:** Import supplier CSVs with per-row error report

## Progress
<!-- What was completed -->
- Wrote `importer/reader.py` lines 1-140 (dialect sniffing, BOM)

## Next Action
Run `python -m importer samples/bad.csv` and make row 7 report "missing SKU"

## Blockers
None

## Key Decisions
- Stream rows instead of loading (files reach 2 GB; worker has 512 MB)

## Relevant Context
- Repo root: ~/work/importer; user wants messages in Spanish
""",
    "quoin": """\
## Status
checkpoint save (voluntary)

## Current stage
implement

## Active task
payment-retry

## Branch
feat/payment-retry

## Last user intent
Make refunds retry with backoff and keep them idempotent.

## In-flight artifacts
- current-plan.md: /w/.workflow_artifacts/payment-retry/current-plan.md
- architecture.md: (none found)
- latest critic-response: /w/.workflow_artifacts/payment-retry/critic-response-3.md
- latest review: (none found)
- session-state: (none found)

## Open questions
- Does the provider dedupe on our key for 24 h or 7 d?

## Decisions made
(none)

## Unfinished work
- T-04 wire processRefund()

## Restore hint
Run /checkpoint --restore in a fresh session to resume task 'payment-retry' from branch 'x'.
""",
}


@pytest.mark.parametrize("profile", FULL)
def test_a_file_as_its_system_writes_it_leaves_nothing_unclear(
    cli: Cli, place: Path, profile: str
) -> None:
    write(place, FILES[profile][0], FULL[profile])

    findings = cli.json("doctor", "--profile", profile)["findings"]

    assert [each["what"] for each in findings if each["level"] != "ok"] == []


def test_lines_that_only_frame_a_file_are_not_called_unclear(cli: Cli, repo: Repo) -> None:
    folder = repo.folder / ".workflow_artifacts/memory/checkpoints"
    folder.mkdir(parents=True)
    corpus = Path(__file__).parents[1] / "profiles/corpus/quoin"
    for task in ("cart-merge", "cron-drift", "dns-cache", "geo-fence", "avatar-crop"):
        name = f"2026-11-15-{task}.md"
        (folder / name).write_bytes((corpus / name).read_bytes())
    findings = cli.json("doctor", "--profile", "quoin")["findings"]

    assert [each for each in findings if each["level"] != "ok"] == []
    (folder / "2026-11-15-odd.md").write_text("# T\n" + "Entirely unrelated words\n" * 9, "utf-8")
    findings = cli.json("doctor", "--profile", "quoin")["findings"]
    assert [each["level"] for each in findings].count("warning") == 1
