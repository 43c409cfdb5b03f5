"""quoin files are read, what is written is read back, and no content breaks a reader."""

import os
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cli.runs import Cli
from gitrepo import Repo
from leftoff import profiles
from leftoff.checkpoint import (
    TRIGGERS,
    Checkpoint,
    ContextUse,
    Decision,
    NextAction,
    Plan,
    Transcript,
    from_plain,
    to_plain,
)
from leftoff.profiles import cost_ledger, import_native, quoin
from leftoff.profiles.mirror.export_changes import export_all
from leftoff.profiles.profile import Native, Profile
from leftoff.profiles.quoin import quoin_layout, section_values
from leftoff.store import Store
from stores import MEMORY, contents, draft, project_at

GOLDEN = Path(__file__).parent / "golden" / "quoin"
CHECKPOINTS = Path("memory") / "checkpoints"
SESSION = "6f0c1d3e-1111-4b5c-9d0e-000000000001"


def read(path: Path) -> Any:
    native = quoin.read(path, path.read_bytes())
    assert native.problem is None
    return native


def test_the_folder_is_a_profile() -> None:
    profile: Profile = quoin

    assert profiles.load("quoin") is profile


# Golden files


@pytest.mark.accept(162)
@pytest.mark.parametrize("kind", ["plain", "crlf"])
def test_a_file_of_quoin_is_read(kind: str) -> None:
    native = read(GOLDEN / kind / CHECKPOINTS / "2026-11-14-payment-retry.md")

    folder = "/w/shop/.workflow_artifacts"
    plan = f"{folder}/payment-retry/current-plan.md"
    assert native.name == "payment-retry"
    assert native.fields["branch"] == "feat/payment-retry"
    assert native.fields["intent"] == "Make refunds retry with backoff and keep them idempotent."
    assert native.fields["plan"] == {"stage": "implement", "path": plan}
    assert native.fields["artifacts"] == {
        "current-plan.md": plan,
        "latest critic-response": f"{folder}/payment-retry/critic-response-3.md",
        "session-state": f"{folder}/memory/sessions/2026-11-14-payment-retry.md",
    }
    assert native.fields["questions"] == [
        "Does the provider dedupe on our key for 24 h or 7 d?",
        "Who owns the dead letters?",
    ]
    assert [each["what"] for each in native.fields["decisions"]] == [
        "Exponential backoff with jitter",
        "Idempotency key per refund",
    ]
    assert native.fields["left_off"] == "- T-04 wire processRefund()\n- T-05 document the limits"
    assert f"{native.saved_at:%Y-%m-%d}" == "2026-11-14"


@pytest.mark.accept(162)
def test_the_mark_shows_whose_checkpoint_it_is_and_that_it_waits() -> None:
    folder = GOLDEN / "plain" / CHECKPOINTS
    waits = read(folder / "2026-11-14-payment-retry.md")
    does_not = read(folder / "2026-11-13-login-form.md")

    assert (waits.fields["session_id"], waits.is_open) == (SESSION, True)
    assert (does_not.fields["session_id"], does_not.is_open) == (None, False)


@pytest.mark.accept(162)
def test_a_precompact_file_has_no_name_and_keeps_what_is_unknown() -> None:
    native = read(GOLDEN / "plain" / CHECKPOINTS / "2026-11-14-payment-retry-precompact.md")

    assert native.name is None
    assert native.fields["trigger"] == "precompact"
    assert native.fields["session_id"] == "6f0c1d3e-2222-4b5c-9d0e-000000000002"
    assert native.fields["quoin"] == {
        "sections": {"Active skills": "implement (pid 4242)"},
        "task": "payment-retry",
    }


@pytest.mark.accept(162)
def test_a_later_file_with_unicode_and_free_text_is_read() -> None:
    native = read(GOLDEN / "plain" / CHECKPOINTS / "2026-11-15T1840-größe-der-körbe.md")

    assert native.saved_at == datetime(2026, 11, 15, 18, 40, tzinfo=UTC)
    assert native.fields["branch"] is None
    assert native.fields["intent"].startswith("Die Körbe 🧺")
    assert native.fields["artifacts"]["architecture.md"] == "C:\\work\\shop\\architecture.md"
    assert native.fields["artifacts"]["session-state-resolution"] == "uuid-anchor"
    assert native.fields["questions"] == ["Is 50 the limit, or 500?", "Who tells the customer?"]
    assert native.fields["left_off"].count("\n") == 2
    assert native.fields["quoin"]["sections"] == {"Pollution": "score 4711"}
    assert native.fields["transcript"]["path"].endswith("000000000003.jsonl")


@pytest.mark.accept(162)
def test_a_folder_is_imported_once_and_left_as_it_was(cli: Cli) -> None:
    before = contents(GOLDEN)

    first = cli.json("import", "--from", "quoin", str(GOLDEN / "plain"))
    again = cli.json("import", "--from", "quoin", str(GOLDEN / "plain"))

    assert (first["imported"], first["prompts"], first["problems"]) == (4, 4, [])
    assert (again["imported"], again["known"], again["prompts"]) == (0, 4, 0)
    assert contents(GOLDEN) == before


@pytest.mark.accept(162)
def test_only_what_waits_is_open_after_an_import(cli: Cli) -> None:
    cli.ok("import", "--from", "quoin", str(GOLDEN / "plain"))

    states = {each["name"]: each["state"] for each in cli.json("list")}
    assert states["payment-retry"] == "open"
    assert states["login-form"] == "declined"


@pytest.mark.accept(103)
def test_both_formats_of_prompt_files_are_queued(cli: Cli) -> None:
    cli.ok("import", "--from", "quoin", str(GOLDEN / "plain"))

    texts = {each["text"]: each for each in cli.json("prompts", "list")}
    assert set(texts) == {
        "rename the column and rerun migrations",
        "<task-notification>agent 3 finished</task-notification>",
        "then write the notes\nfor the release",
        "one prompt as it was typed\nin two lines",
    }
    assert not texts["<task-notification>agent 3 finished</task-notification>"]["is_from_a_person"]


@pytest.mark.accept(88)
def test_rows_of_six_seven_and_eight_columns_are_read() -> None:
    rows = [*cost_ledger.rows(GOLDEN / "plain", "payment-retry")]

    assert [row.fallback_fires for row in rows] == [0, 2, 0, 0]
    assert [row.attribution for row in rows] == [None, None, "usd=0.42;tok=81000;src=jsonl", None]
    assert [row.phase for row in rows] == ["plan", "implement", "review", "checkpoint"]


# What is written is read back

_LINES = st.sampled_from(
    ["## Status", "# Title", "- bullet", "- why: x", "(none)", "(none found)", "```", "~~~", "\\",
     "\\## x", "  ", "", "\r", "a: b", "=== x ===", "1. one", '"quoted"', "<!-- x -->"]
)  # fmt: skip
_WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40)
TEXTS = _WORDS | st.lists(_LINES | _WORDS, min_size=1, max_size=5).map("\n".join).filter(bool)
LISTS = st.lists(TEXTS, max_size=4)
OPTIONAL = st.none() | TEXTS
NAMES = st.from_regex(r"[a-z][a-z0-9]{2,8}(-[a-z0-9]{1,8}){1,3}", fullmatch=True)


@st.composite
def checkpoints(draw: st.DrawFn) -> Checkpoint:
    """Make a checkpoint with anything in the keys that quoin's files hold."""
    number = st.none() | st.integers(1, 99)
    plan = st.builds(Plan, path=OPTIONAL, title=OPTIONAL, step=number, total=number, stage=OPTIONAL)
    decision = st.builds(Decision, what=TEXTS, why=st.just("") | TEXTS, alternatives=LISTS)
    origin = st.sampled_from(["stated", "inferred"])
    shown = st.sampled_from(section_values.LISTED)
    return Checkpoint(
        schema=1,
        id="20261115T120000000Z-00000000",
        saved_at=datetime(2026, 11, 15, 12, 0, 0, 4711, tzinfo=UTC),
        trigger=draw(st.sampled_from(TRIGGERS)),
        name=draw(st.none() | NAMES),
        agent=draw(OPTIONAL),
        session_id=draw(OPTIONAL),
        transcript=draw(st.none() | st.builds(Transcript, path=TEXTS, offset=st.integers(0, 9**9))),
        branch=draw(OPTIONAL.filter(lambda text: text != "unknown")),
        summary=draw(OPTIONAL),
        intent=draw(OPTIONAL),
        left_off=draw(OPTIONAL),
        done=draw(LISTS),
        next_action=draw(st.none() | st.builds(NextAction, text=TEXTS, origin=origin)),
        blockers=draw(LISTS),
        questions=draw(LISTS),
        decisions=draw(st.lists(decision, max_size=3)),
        notes=draw(LISTS),
        artifacts=draw(st.dictionaries(TEXTS | shown, TEXTS, max_size=4)),
        plan=draw(st.none() | plan),
        pending_prompts=draw(LISTS),
        context=draw(st.none() | st.builds(ContextUse, percent=st.none() | st.floats(0, 100))),
        extra=draw(st.just({}) | st.just({"quoin": {"sections": {"Mood": "## calm\n(none)"}}})),
    )


EMPTY: tuple[object, ...] = (None, [], {}, "")


def held(plain: dict[str, Any]) -> dict[str, Any]:
    """Return what the files must hold, without what says nothing."""
    kept = {key: value for key, value in plain.items() if key in quoin.HOLDS}
    if isinstance(kept.get("plan"), dict):
        kept["plan"] = {key: value for key, value in kept["plan"].items() if value is not None}
    return {key: value for key, value in kept.items() if value not in EMPTY}


def again(native: Native) -> Checkpoint:
    """Make a checkpoint of what was read."""
    fields = {key: value for key, value in native.fields.items() if value not in EMPTY}
    given = {"schema": 1, "id": "x", "saved_at": native.saved_at, "name": native.name}
    return from_plain({**fields, **given}, Checkpoint)


@pytest.mark.parametrize("id_", ["x; touch pwned", "$(touch pwned)", "--model", "a\nb", "`b`", "é"])
def test_no_session_id_becomes_a_command_or_an_option(id_: str) -> None:
    checkpoint = Checkpoint(
        schema=1,
        id="20261115T120000000Z-00000000",
        saved_at=datetime(2026, 11, 15, tzinfo=UTC),
        trigger="manual",
        agent="claude",
        session_id=id_,
    )

    assert "claude --resume" not in quoin_layout.render(checkpoint)
    plain = msgspec.structs.replace(checkpoint, session_id="6f0c1d3e-1111")
    assert "claude --resume 6f0c1d3e-1111\n" in quoin_layout.render(plain)


@pytest.mark.slow("tries many examples")
@pytest.mark.accept(162)
@given(checkpoints(), st.booleans())
def test_a_checkpoint_written_and_read_is_the_same(
    checkpoint: Checkpoint,
    is_crlf: bool,  # noqa: FBT001 - hypothesis gives it
) -> None:
    text = quoin_layout.render(checkpoint)
    if is_crlf and "\r" not in text:
        text = text.replace("\n", "\r\n")
    native = quoin.read(Path("x/memory/checkpoints/2026-11-15-x.md"), text.encode())

    assert native.problem is None
    assert held(to_plain(again(native))) == held(to_plain(checkpoint))
    assert native.saved_at == checkpoint.saved_at
    kept = native.fields["quoin"].get("sections", {})
    assert kept == checkpoint.extra.get("quoin", {}).get("sections", {})


PIECES = st.sampled_from(["a", " — ", "—", " ", "\n", "\\", "(none)", "- why: ", ":"])
DASHED = st.lists(PIECES, max_size=6).map("".join)


@pytest.mark.accept(162)
@given(DASHED.filter(str.strip), DASHED.filter(lambda text: not text or bool(text.strip())))
def test_a_decision_and_its_reason_are_told_apart_again(what: str, why: str) -> None:
    saved = Checkpoint(
        schema=1,
        id="20261115T120000000Z-00000000",
        saved_at=datetime(2026, 11, 15, 12, tzinfo=UTC),
        trigger="manual",
        name="some-task",
        decisions=[Decision(what=what, why=why)],
    )
    path = Path("x/memory/checkpoints/2026-11-15-x.md")
    native = quoin.read(path, quoin_layout.render(saved).encode())

    assert again(native).decisions == saved.decisions


@pytest.mark.slow("tries many checkpoints")
@pytest.mark.accept(162)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(checkpoint=checkpoints())
def test_any_checkpoint_survives_export_and_import(checkpoint: Checkpoint) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        here, there = (Store(project_at(Path(folder) / name)) for name in ("here", "there"))
        saved = here.save(checkpoint).checkpoint
        export_all(here, "quoin", Path(folder) / "out")
        report = import_native.import_all(there, "quoin", quoin, Path(folder) / "out")
        found = there.load(there.index().newest(2)[0])
        for store in (here, there):
            store.close()

    # A name in a native file means that somebody chose it.
    shown = msgspec.structs.replace(saved, name=None) if saved.is_autosave else saved
    assert (report.imported, report.problems) == (1, [])
    assert held(to_plain(found)) == held(to_plain(shown))


@pytest.mark.accept(162)
def test_export_and_import_through_real_folders_lose_nothing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = (
        '{"summary": "Round\\r\\n## Status", "intent": "All totals", "questions": ["- a\\nb", "c"],'
        ' "decisions": [{"what": "Half even", "why": "banks", "alternatives": ["up", "down"]}],'
        ' "left_off": "```\\n# not a fence", "artifacts": {"a: b": "x/y.md"}, "session_id": "s-1",'
        ' "next_action": "Run pytest", "done": ["one"], "blockers": ["none yet"]}'
    )
    cli.ok("save", "rounding-totals", "--from-json", "-", stdin=fields)
    before = cli.json("show", "rounding-totals")
    cli.ok("export", "--to", "quoin", str(tmp_path / "out"))
    other = Repo(tmp_path / "other")
    other.commit("Begin", {"app.py": "1\n"})
    monkeypatch.chdir(other.folder)
    report = cli.json("import", "--from", "quoin", str(tmp_path / "out"))

    assert report["imported"] == 1
    after = cli.json("show", "rounding-totals")
    assert held(after) == held(before)


@pytest.mark.slow("takes many files")
def test_five_hundred_files_are_imported_and_listed_by_task(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "many" / CHECKPOINTS
    folder.mkdir(parents=True)
    for number in range(500):
        checkpoint = draft(f"task-{number % 50}", f"Step {number}", branch="main")
        day = f"2026-{1 + number // 50:02d}-15"
        path = folder / f"{day}-task-{number % 50}.md"
        lines = quoin_layout.render(checkpoint).partition("## Saved at")[0]
        path.write_text(lines, encoding="utf-8")
    report = cli.json("import", "--from", "quoin", str(tmp_path / "many"))

    assert (report["imported"], report["problems"]) == (500, [])
    assert len(cli.json("list", "--limit", "1000")) == 50
    assert cli.json("show", "task-7")["summary"] == "Step 457"
    assert cli.json("import", "--from", "quoin", str(tmp_path / "many"))["imported"] == 0


# Damage


@pytest.mark.accept(97)
def test_conflict_copies_tiny_files_and_files_without_a_task_are_reported_and_skipped(
    cli: Cli, tmp_path: Path
) -> None:
    shutil.copytree(GOLDEN / "plain", tmp_path / "q")
    folder = tmp_path / "q" / CHECKPOINTS
    whole = (folder / "2026-11-14-payment-retry.md").read_bytes()
    (folder / "2026-11-14-payment-retry 2.md").write_bytes(whole)
    (folder / "2026-11-14-tiny.md").write_text("## Active task\ntiny\n", encoding="utf-8")
    nameless = whole.replace(b"## Active task", b"## Work").replace(b"## Restore hint", b"## Hint")
    (folder / "nameless.md").write_bytes(nameless)
    report = cli.json("import", "--from", "quoin", str(tmp_path / "q"))

    assert report["imported"] == 4
    assert {Path(each["path"]).name for each in report["problems"]} == {
        "2026-11-14-payment-retry 2.md",
        "2026-11-14-tiny.md",
        "nameless.md",
    }


# Cut right behind the title of the artifacts.
@example(data=b"", cut=228, at=0)
@given(data=st.binary(max_size=400), cut=st.integers(0, 1200), at=st.integers(0, 1200))
def test_whatever_a_file_holds_the_reader_answers(data: bytes, cut: int, at: int) -> None:
    whole = (GOLDEN / "plain" / CHECKPOINTS / "2026-11-14-payment-retry.md").read_bytes()
    for garbled in (whole[:cut], data, whole[:at] + data + whole[at:]):
        native = quoin.read(Path("x/memory/checkpoints/2026-11-14-x.md"), garbled)
        assert native.problem or native.name or native.fields["trigger"] == "precompact"


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_folders_are_imported_as_far_as_they_go(
    cli: Cli, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged") / "q"
    shutil.copytree(GOLDEN / "plain", folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files:
        whole = path.read_bytes()
        cut = data.draw(st.integers(0, len(whole)))
        junk = data.draw(st.binary(max_size=20))
        path.write_bytes(data.draw(st.sampled_from([whole, whole[:cut], whole[:cut] + junk])))
    before = contents(folder)
    result = cli("import", "--from", "quoin", str(folder), "--json")

    assert result.code in {0, 1}
    assert "Traceback" not in result.err
    assert contents(folder) == before
    if result.code == 0:
        assert result.json["imported"] + result.json["known"] + len(result.json["problems"]) == 4
        assert cli.json("import", "--from", "quoin", str(folder))["imported"] == 0


def test_what_is_not_a_regular_file_is_neither_read_nor_waited_for(
    cli: Cli, tmp_path: Path
) -> None:
    shutil.copytree(GOLDEN / "plain", tmp_path / "q")
    folder = tmp_path / "q" / CHECKPOINTS
    os.mkfifo(folder / "2026-11-14-pipe.md")
    (folder / "2026-11-14-link.md").symlink_to(folder / "2026-11-13-login-form.md")
    os.mkfifo(tmp_path / "q" / "memory" / "pending-restore-x.txt")
    report = cli.json("import", "--from", "quoin", str(tmp_path / "q"))

    assert (report["imported"], len(report["problems"])) == (4, 2)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("notes", "a/b (1)"),
        ("notes", "x/y.md, z/w.md"),
        ("notes", "p/q — r"),
        ("notes", "<code>a/b</code>"),
        ("notes", "—"),
        ("计划：x", "a/b.md"),
        ("x : y", "a/b.md"),
    ],
)
def test_a_path_that_looks_like_a_remark_or_a_list_stays_one(name: str, path: str) -> None:
    saved = msgspec.structs.replace(draft("some-task"), artifacts={name: path})
    text = quoin_layout.render(saved).encode()
    native = quoin_layout.read(Path("2026-11-15-some-task.md"), text, {})

    assert native.fields["artifacts"] == {name: path}
