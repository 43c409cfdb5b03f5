"""openclaw files are read back as they were written, and any other content is read too."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.runs import Cli
from gitrepo import Repo
from leftoff import profiles
from leftoff.checkpoint import Checkpoint, Decision, Failure, NextAction, Plan, from_plain, to_plain
from leftoff.profiles import import_native, openclaw
from leftoff.profiles.mirror.export_changes import export_all
from leftoff.profiles.openclaw import moments, openclaw_layout, section_items
from leftoff.profiles.profile import Profile  # noqa: TC001 - the annotation is the test
from leftoff.redact import redact_value
from leftoff.store import Store
from stores import NOON, Clock, contents, draft, project_at

GOLDEN = Path(__file__).parent / "golden" / "openclaw"
KEYS = sorted(openclaw.HOLDS)


def read(text: str, name: str = "some-work.md") -> dict[str, Any]:
    native = openclaw.read(Path(name), text.encode())
    assert native.problem is None, native.problem
    kept = openclaw_layout.TEXT
    return {key: value for key, value in native.fields.items() if value and key != kept}


def golden(folder: str) -> dict[str, Any]:
    (path,) = openclaw.list_natives(GOLDEN / folder)
    return read(path.read_bytes().decode(), path.name)


def test_the_package_is_a_profile() -> None:
    profile: Profile = openclaw

    assert profiles.load("openclaw") is profile


# Files made by other hands


@pytest.mark.accept(162)
def test_every_part_of_a_file_is_read() -> None:
    native = golden("plain")

    assert native == {
        "summary": "Answer 429 when a client sends more than 100 requests a minute",
        "done": [
            "Wrote `api/limits.py` lines 1-88 (sliding window in Redis)",
            "`pytest tests/test_limits.py` → 11 passed",
        ],
        "left_off": "Stopped while wiring the middleware.",
        "next_action": {
            "text": "Add `RateLimit` to `MIDDLEWARE` in `api/app.py`, "
            "then run `pytest tests/test_app.py -k limit`",
            "origin": "stated",
        },
        "blockers": ["`redis-server` 6 on staging has no `EXPIRETIME`"],
        "questions": ["Should health checks count?"],
        "decisions": [
            {
                "what": "Sliding window instead of fixed buckets",
                "why": "bursts at the edge of a bucket pass twice",
                "alternatives": [],
                "impact": "",
            },
            {
                "what": "One key per client",
                "why": "a key per route grows without end (we have 300 routes)",
                "alternatives": ["a key per route"],
                "impact": "limits are per client only",
            },
        ],
        "branch": "rate-limiter",
        "plan": {"path": "docs/limits.md", "step": 2, "total": 5},
        "files_modified": ["api/limits.py"],
        "files": [
            {"path": "api/app.py"},
            {"path": "tests/test_limits.py", "role": "mentioned"},
            {"path": "tests/test_app.py", "role": "mentioned"},
        ],
        "artifacts": {"load test": "bench/limits.js"},
        "failed": [
            {"what": "A lock in the process", "why": "three workers, three counters"},
        ],
        "notes": ["The user wants error texts in Spanish"],
    }


@pytest.mark.parametrize("folder", ["plain", "days", "unicode"])
def test_leftoffs_own_file_is_written_again_byte_for_byte(folder: str) -> None:
    (path,) = openclaw.list_natives(GOLDEN / folder)
    data = path.read_bytes()
    native = openclaw.read(path, data)
    fields = {key: value for key, value in native.fields.items() if value}
    assert native.saved_at is not None
    plain = {**fields, "schema": 1, "id": "", "trigger": "import", "name": native.name}
    again = from_plain({**plain, "saved_at": native.saved_at.isoformat()}, Checkpoint)

    text = openclaw_layout.render(again)

    created = f"**Created:** {moments.write(native.saved_at)}"
    expected = data.decode().replace("**Created:** 2026-11-13 17:30 GMT+1", created)
    assert text.replace("## Progress\n\n###", "## Progress\n###") == expected.replace(
        "## Progress\n\n###", "## Progress\n###"
    )


def test_days_are_headings_among_what_was_done() -> None:
    assert golden("days")["done"] == [
        "### Day 1 (2026-11-11)",
        "Wrote `ledger/models.py`",
        "### Day 2 (2026-11-12)",
        "Migrated 4,112 rows with `python -m ledger.migrate`",
        "Totals agree to the cent",
        "### Current Stack",
        "PostgreSQL 17",
        "Alembic",
    ]


def test_any_script_is_read() -> None:
    native = golden("unicode")

    assert native["summary"] == "让搜索更快 — größer als 10 000 Einträge 🚀"
    assert native["decisions"][0]["why"] == "因为扫描太慢"
    assert native["blockers"] == ["العربية من اليمين إلى اليسار"]


def test_line_ends_of_another_system_are_not_part_of_the_text() -> None:
    native = golden("crlf")

    assert native["done"] == ["Wrote `mail/retry.py`\nwith a table of delays"]
    assert native["notes"] == ["Port 2525 in tests"]


def test_what_is_there_is_read_when_sections_are_missing() -> None:
    assert golden("missing") == {
        "summary": "Find out why the cache is cold",
        "left_off": "Read `cache/store.py`; the key holds the host name.",
        "next_action": {
            "text": "Drop the host name in `cache/store.py:41`",
            "origin": "stated",
        },
        "files": [{"path": "cache/store.py", "role": "mentioned"}],
    }


def test_unknown_fields_and_sections_are_kept_and_written_again(store: Store) -> None:
    folder = store.project.root / "workspace"
    target = folder / "memory" / "checkpoints" / "invoice-pdf.md"
    target.parent.mkdir(parents=True)
    source = GOLDEN / "unknown" / "memory" / "checkpoints" / "invoice-pdf.md"
    target.write_bytes(source.read_bytes())
    import_native.import_all(store, "openclaw", openclaw, folder)
    export_all(store, "openclaw", store.project.root / "other")

    text = (store.project.root / "other/memory/checkpoints/invoice-pdf.md").read_text("utf-8")
    assert "**Owner:** Ada Lovelace\n" in text
    assert text.endswith("\n## Test Matrix\n" + source.read_text("utf-8").split("Matrix\n")[1])
    native = read(text)
    assert native["notes"] == ["Handed over by Ada.", "Totals:\n- net\n- gross"]
    assert native["done"] == ["Chose the library", "Wrote `pdf/page.py`", "Fonts are embedded"]
    assert native["blockers"] == ["No answer from the printer's support yet."]
    assert native["decisions"][0]["why"] == "licences of web fonts forbid embedding"


@pytest.mark.promise("openclaw", 54)
def test_the_remarks_of_the_template_are_not_content() -> None:
    """The original leaves them in every section (D3)."""
    path = GOLDEN / "legacy" / "memory" / "checkpoints" / "old-style.md"

    assert read(path.read_text("utf-8"), path.name) == {
        "next_action": {"text": "Run `make check`", "origin": "stated"}
    }


def test_the_log_of_autosaves_is_not_a_checkpoint() -> None:
    """The original lists it as one (D4)."""
    assert [path.name for path in openclaw.list_natives(GOLDEN / "legacy")] == ["old-style.md"]


def test_an_autosave_with_working_notes_is_read_by_their_headings() -> None:
    path = next(openclaw.list_natives(GOLDEN / "autosave-state"))
    native = openclaw.read(path, path.read_bytes())

    assert native.name is None
    assert native.saved_at == datetime(2026, 11, 15, 18, 52, tzinfo=UTC)
    assert native.fields == {
        "summary": "keep the shop's stock in step with the warehouse",
        "blockers": ["the warehouse's test login"],
        "questions": ["Poll every minute (webhooks get lost)"],
        "notes": ["the warehouse counts boxes, not pieces"],
        "next_action": {"text": "run tests/test_boxes.py"},
        "openclaw": {"state": path.read_text("utf-8").partition("True\n\n")[2]},
    }


def test_an_autosave_of_free_text_is_kept_as_a_note() -> None:
    text = "# Autosave\n\n**Created:** 2026-11-15 18:52 UTC\n**Auto-saved:** True\n\nOn the shop.\n"

    assert read(text, "autosave.md") == {
        "notes": ["On the shop."],
        "openclaw": {"state": "On the shop.\n"},
    }


# Times


@pytest.fixture
def _tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.accept(26)
@pytest.mark.usefixtures("_tokyo")
def test_a_moment_is_written_with_the_offset_that_holds() -> None:
    """The original stamps GMT+8 in any zone (D4)."""
    assert moments.write(datetime(2026, 11, 15, 18, 40, tzinfo=UTC)) == "2026-11-16 03:40 GMT+9"


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("UTC", "2026-11-15 18:40 UTC"),
        ("Asia/Kolkata", "2026-11-16 00:10 GMT+5:30"),
        ("America/St_Johns", "2026-11-15 15:10 GMT-3:30"),
        ("America/New_York", "2026-11-15 13:40 GMT-5"),
    ],
)
def test_a_moment_is_read_back(monkeypatch: pytest.MonkeyPatch, zone: str, shown: str) -> None:
    moment = datetime(2026, 11, 15, 18, 40, tzinfo=UTC)
    monkeypatch.setenv("TZ", zone)
    time.tzset()

    assert moments.write(moment) == shown
    assert moments.read(shown, Path("nowhere")) == moment
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-13-45 99:99 UTC", "9999-99-99 00:00", "2026-11-15"]
)
def test_what_is_not_a_moment_is_ignored(text: str) -> None:
    assert moments.read(text, Path("nowhere")) is None


@pytest.mark.promise("openclaw", 58)
@pytest.mark.usefixtures("_tokyo")
def test_the_zone_that_the_original_makes_up_is_not_believed(tmp_path: Path) -> None:
    """Local time under the label GMT+8: the file's own time decides (D4)."""
    path = tmp_path / "old.md"
    path.write_text("text")
    truly = datetime(2026, 11, 15, 9, 40, tzinfo=UTC)
    os.utime(path, (truly.timestamp() + 20,) * 2)

    assert moments.read("2026-11-15 18:40 GMT+8", path) == truly
    # Copied elsewhere, nothing contradicts the label.
    assert moments.read("2026-11-15 18:40 GMT+8", Path("gone")) == truly + timedelta(hours=1)


# What is written is read back

LINES = st.sampled_from(
    [
        "# Title", "## Progress", "### Day 1 (2026-11-15)", "- bullet", "* star", "-", "n/a",
        "None", "<!-- remark -->", "**Task:** x", "**Age:** y", "```", "~~~", "Open question: why?",
        "File: a.py", "Why: so", "\\- escaped", "\\# escaped", "\\None", "  indented", "what (why)",
        "a — b", "a :: b", "(inferred from the session)", "1. one", "\\File: x", "Failed: x (y)",
    ]
)  # fmt: skip
WORDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=40
)
TEXTS = (
    st.lists(st.one_of(LINES, WORDS, st.just("")), min_size=1, max_size=4)
    .map(lambda lines: section_items.tidy("\r\n".join(lines)))
    .filter(bool)
)
ONE_LINE = TEXTS.map(lambda text: " ".join(text.split())).filter(bool)
PATHS = st.from_regex(r"[a-zä0-9_./ -]{0,20}[a-z]", fullmatch=True).map(str.strip).filter(bool)
LISTS = st.lists(TEXTS, max_size=3)
DECISIONS = st.builds(
    Decision,
    what=TEXTS,
    why=st.one_of(st.just(""), TEXTS),
    alternatives=LISTS,
    impact=st.one_of(st.just(""), TEXTS),
)
FAILURES = st.builds(Failure, what=TEXTS, why=st.one_of(st.just(""), TEXTS))
ACTIONS = st.builds(NextAction, text=TEXTS, origin=st.sampled_from(["stated", "inferred"]))
PLANS = st.builds(
    Plan,
    path=PATHS,
    title=st.none() | ONE_LINE,
    step=st.integers(1, 9),
    total=st.integers(9, 20),
    stage=st.none() | ONE_LINE,
)
HELD: dict[str, st.SearchStrategy[Any]] = {
    "left_off": st.none() | TEXTS,
    "done": LISTS,
    "next_action": st.none() | ACTIONS,
    "blockers": LISTS,
    "questions": LISTS,
    "decisions": st.lists(DECISIONS, max_size=2),
    "failed": st.lists(FAILURES, max_size=2),
    "notes": LISTS,
    "files_modified": st.lists(PATHS, max_size=3, unique=True),
    "artifacts": st.dictionaries(ONE_LINE, PATHS, max_size=2),
    "plan": st.none() | PLANS,
    "branch": st.none() | PATHS,
}


@st.composite
def checkpoints(drawn: st.DrawFn) -> Checkpoint:
    values = {key: drawn(strategy) for key, strategy in HELD.items()}
    values.setdefault("next_action", None)
    base = to_plain(draft("some-work", drawn(TEXTS)))
    plain = {key: value for key, value in base.items() if key != "next_action"}
    checkpoint = Checkpoint(**{**_plain_head(), **values})
    return from_plain({**plain, **_some(to_plain(checkpoint))}, Checkpoint)


def _plain_head() -> dict[str, Any]:
    return {"schema": 1, "id": "", "saved_at": NOON, "trigger": "manual"}


def _some(plain: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in plain.items() if key in HELD and value}


def held(checkpoint: Checkpoint) -> dict[str, Any]:
    return {key: to_plain(checkpoint).get(key) for key in KEYS if key != openclaw_layout.TEXT}


@given(checkpoints())
def test_every_value_of_a_checkpoint_is_read_back(checkpoint: Checkpoint) -> None:
    text = openclaw_layout.render(checkpoint)
    native = openclaw.read(Path("some-work.md"), text.encode())
    plain = {key: value for key, value in native.fields.items() if value}
    again = from_plain({**_plain_json(), **plain, "name": native.name}, Checkpoint)

    assert held(again) == held(checkpoint)
    assert openclaw_layout.render(again) == text


def _plain_json() -> dict[str, Any]:
    return {"schema": 1, "id": "", "saved_at": NOON.isoformat(), "trigger": "import"}


@pytest.mark.slow("tries many checkpoints")
@pytest.mark.accept(162)
@given(st.lists(checkpoints(), min_size=1, max_size=3))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_export_that_is_imported_again_holds_the_same(
    tmp_path_factory: pytest.TempPathFactory, made: list[Checkpoint]
) -> None:
    base = tmp_path_factory.mktemp("export")
    one, two = (Store(project_at(base / name), now=Clock()) for name in ("one", "two"))
    for store in (one, two):
        store.project.worktree.mkdir(parents=True)
    try:
        for number, checkpoint in enumerate(made):
            plain = {**to_plain(checkpoint), "name": f"work-number-{number}"}
            # As every save does: what only looks like a secret would be read back without it.
            one.save(redact_value(from_plain(plain, Checkpoint)))
        export_all(one, "openclaw", base / "files")
        report = import_native.import_all(two, "openclaw", openclaw, base / "files")

        assert report.imported == len(made)
        assert report.problems == []
        for number in range(len(made)):
            there = one.load(one.find(f"work-number-{number}"))
            assert held(two.load(two.find(f"work-number-{number}"))) == held(there)
    finally:
        one.close()
        two.close()


def test_the_keys_it_holds_are_all_of_the_layout() -> None:
    assert set(HELD) | {"name", "summary", "openclaw"} == openclaw.HOLDS - {openclaw_layout.TEXT}


# Broken files, and many


@pytest.mark.slow("tries many files")
@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_broken_file_is_reported_and_the_rest_is_imported(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    base = tmp_path_factory.mktemp("broken")
    folder = base / "workspace" / "memory" / "checkpoints"
    folder.mkdir(parents=True)
    whole = (GOLDEN / "plain/memory/checkpoints/rate-limiter.md").read_bytes()
    (folder / "whole-file.md").write_bytes(whole)
    at = data.draw(st.integers(0, len(whole)))
    garbage = data.draw(st.binary(max_size=30))
    cut = data.draw(st.booleans())
    for name in ("broken-file.md", "autosave.md"):
        (folder / name).write_bytes(whole[:at] + garbage + (b"" if cut else whole[at:]))
    before = contents(base / "workspace")
    store = Store(project_at(base), now=Clock())
    store.project.worktree.mkdir(parents=True)
    try:
        first = import_native.import_all(store, "openclaw", openclaw, base / "workspace")
        second = import_native.import_all(store, "openclaw", openclaw, base / "workspace")

        assert first.imported + len(first.problems) == 3
        assert (second.imported, second.known) == (0, first.imported)
        assert store.find("whole-file").name == "whole-file"
        assert contents(base / "workspace") == before
    finally:
        store.close()


def test_every_truncation_is_read_or_refused_in_words() -> None:
    whole = (GOLDEN / "plain/memory/checkpoints/rate-limiter.md").read_bytes()
    for at in range(len(whole)):
        native = openclaw.read(Path(("some-work.md", "autosave.md")[at % 2]), whole[:at])
        assert native.problem is None or native.problem.endswith(".")


@pytest.mark.parametrize("text", ["", "\n\n", "# Checkpoint: x\n", "\x00\x01", "## Progress\n"])
def test_a_file_without_content_is_skipped_with_a_reason(cli: Cli, repo: Repo, text: str) -> None:
    folder = repo.folder / "memory" / "checkpoints"
    folder.mkdir(parents=True)
    (folder / "empty-one.md").write_text(text)
    (folder / "good-one.md").write_text("**Task:** Do it\n")
    result = cli.ok("import", "--from", "openclaw")

    if text == "\x00\x01":
        assert "Imported 2 checkpoints" in result.out
        return
    assert "Imported 1 checkpoint;" in result.out
    assert "empty-one.md: It is empty" in result.err


@pytest.mark.slow("takes many files")
def test_five_hundred_files_are_imported_once(cli: Cli, repo: Repo) -> None:
    folder = repo.folder / "memory" / "checkpoints"
    folder.mkdir(parents=True)
    text = (GOLDEN / "plain/memory/checkpoints/rate-limiter.md").read_text("utf-8")
    for number in range(500):
        name = f"work-{number:03d}"
        (folder / f"{name}.md").write_text(text.replace("rate-limiter", name), "utf-8")
    before = contents(folder)

    assert cli.json("import", "--from", "openclaw")["imported"] == 500
    assert cli.json("import", "--from", "openclaw") == {
        "imported": 0, "known": 500, "prompts": 0, "memories": 0, "features": 0, "snapshots": 0,
        "problems": [],
    }  # fmt: skip
    assert contents(folder) == before
    assert len(cli.json("list", "--limit", "1000")) == 500


def test_a_bold_word_in_a_section_is_not_a_heading_of_a_section_that_is_there() -> None:
    text = (
        "# Checkpoint: csv-import\n\n**Task:** Import CSVs\n\n"
        "## Progress\n- **Files:** `importer/reader.py` lines 1-140\n- **Status:** 18 tests pass\n"
        "- sniffs the dialect\n\n## Next Action\nRun the importer\n\n"
        "## Relevant Context\n- **Next step:** was agreed with Kim\n"
    )
    fields = read(text, "csv-import.md")

    assert fields["done"] == [
        "**Files:** `importer/reader.py` lines 1-140",
        "**Status:** 18 tests pass",
        "sniffs the dialect",
    ]
    assert fields["next_action"]["text"] == "Run the importer"
    assert fields["notes"] == ["**Next step:** was agreed with Kim"]
