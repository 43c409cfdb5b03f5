"""guardz: checkpoint-{name}.md and a section of MEMORY.md, consumed by a resume."""

import hashlib
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.runs import Cli
from gitrepo import Repo
from leftoff import profiles
from leftoff.checkpoint import Checkpoint, Decision, Failure, NextAction, Plan, to_plain
from leftoff.profiles import guardz, guardz_file, guardz_index
from leftoff.profiles.profile import Profile  # noqa: TC001 - the annotation is the test
from profiles.guarding import index, memory
from programs import run_side_by_side
from stores import draft

__all__ = ["memory"]

GOLDEN = Path(__file__).parent / "golden" / "guardz"


def save(cli: Cli, name: str, *words: str) -> str:
    return cli.ok("save", name, "--summary", f"Work on {name}", *words).out


@pytest.mark.accept(162)
def test_the_summary_is_read_from_the_index(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "native"
    folder.mkdir()
    text = (GOLDEN / "plain" / "checkpoint-invoice-rounding.md").read_text(encoding="utf-8")
    (folder / "checkpoint-invoice-rounding.md").write_text(text, encoding="utf-8")
    line = "- **invoice-rounding** (fix/rounding, Nov 15) — rounding done, cents pending\n"
    (folder / "MEMORY.md").write_text(f"# M\n\n## Active Checkpoints\n{line}", encoding="utf-8")
    cli.ok("import", "--from", "guardz", str(folder))

    assert cli.json("show", "invoice-rounding")["summary"] == "rounding done, cents pending"


@pytest.mark.accept(162)
@pytest.mark.parametrize("summary", ["Round the totals", "w" * 199, "A very long one" + " x" * 200])
def test_a_hand_edit_keeps_the_summary(cli: Cli, memory: Path, summary: str) -> None:
    cli.ok("save", "login-flow", "--summary", summary, "--left-off", "At the callback")
    path = memory / "checkpoint-login-flow.md"
    path.write_text(path.read_text(encoding="utf-8").replace("callback", "form"), encoding="utf-8")

    shown = cli.json("show", "login-flow")
    assert (shown["left_off"], shown["summary"]) == ("At the form", summary)


def test_what_the_index_showed_before_a_hand_edit_becomes_no_summary(
    cli: Cli, memory: Path
) -> None:
    cli.ok("save", "login-flow", "--left-off", "At the callback")
    path = memory / "checkpoint-login-flow.md"
    path.write_text(path.read_text(encoding="utf-8").replace("callback", "form"), encoding="utf-8")

    assert "summary" not in cli.json("show", "login-flow")
    assert "— At the form\n" in index(memory)


def test_the_module_is_a_profile() -> None:
    profile: Profile = guardz

    assert profiles.load("guardz") is profile


@pytest.mark.promise("guardz", 12, 15, 27)
@pytest.mark.accept(1)
def test_a_save_writes_the_file_with_its_parts_in_order(cli: Cli, memory: Path) -> None:
    words = ["--left-off", "Half of it", "--done", "A", "--failed", "x :: why", "--file", "a.py"]
    cli.ok("save", "my-feature", *words)

    text = (memory / "checkpoint-my-feature.md").read_text(encoding="utf-8")
    parts = [
        "# Checkpoint: my-feature",
        "- **Branch:** `main`",
        "- **Saved:** ",
        "## Left Off\nHalf of it",
        "## Done This Session\n- A",
        "## Failed Approaches\n- x — why",
        "## Modified Files\n- a.py",
    ]
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    assert re.search(r"- \*\*Saved:\*\* \d{4}-\d\d-\d\d \d\d:\d\d\n", text)


@pytest.mark.promise("guardz", 24, 31)
@pytest.mark.accept(4)
def test_nothing_failed_is_said_so(cli: Cli, memory: Path) -> None:
    save(cli, "login-flow")

    text = (memory / "checkpoint-login-flow.md").read_text(encoding="utf-8")
    assert "## Failed Approaches\n- None\n" in text
    assert "**Plan:**" not in text


@pytest.mark.accept(4)
def test_where_no_file_was_named_what_git_sees_changed_is_listed(
    cli: Cli, memory: Path, repo: Repo
) -> None:
    for number in range(14):
        (repo.folder / f"new-{number:02}.py").write_text("x\n", encoding="utf-8")
    (repo.folder / "p.md").write_text("# Plan\n\n- [ ] One\n", encoding="utf-8")
    save(cli, "login-flow", "--plan", "p.md")

    text = (memory / "checkpoint-login-flow.md").read_text(encoding="utf-8")
    listed = "".join(f"- new-{number:02}.py\n" for number in range(10))
    assert text.endswith(f"## Modified Files\n{listed}")


@pytest.mark.accept(10)
@pytest.mark.parametrize("kind", ["byte order mark", "front matter"])
def test_the_first_heading_is_found_behind_what_is_none(cli: Cli, memory: Path, kind: str) -> None:
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_text(OTHERS[kind], encoding="utf-8")
    save(cli, "login-flow")

    assert "# Memory\n\n## Active Checkpoints\n- **login-flow**" in index(memory)


@pytest.mark.accept(5)
def test_the_plan_is_a_line_with_its_step(cli: Cli, memory: Path, repo: Repo) -> None:
    steps = "".join(f"- [{'x' if n <= 3 else ' '}] Step {n}\n" for n in range(1, 8))
    (repo.folder / "p.md").write_text(f"# Plan\n\n{steps}", encoding="utf-8")
    save(cli, "billing", "--plan", "p.md")
    save(cli, "billing-two", "--plan", "p.md", "--step", "3/7")

    text = (memory / "checkpoint-billing.md").read_text(encoding="utf-8")
    other = (memory / "checkpoint-billing-two.md").read_text(encoding="utf-8")
    assert "- **Plan:** `p.md` (step 4 of 7)\n" in text
    assert "- **Plan:** `p.md` (step 3 of 7)\n" in other


@pytest.mark.promise("guardz", 9)
@pytest.mark.accept(3)
def test_without_a_name_one_is_offered_on_a_terminal(cli: Cli, memory: Path) -> None:
    del memory
    with cli.terminal("save", "--summary", "Round the invoice totals") as terminal:
        terminal.expect("1. Use 'round-invoice-totals' (Recommended)")
        terminal.expect("2. Provide different name")
        terminal.answer("1")
        terminal.expect('Checkpoint "round-invoice-totals" saved.')


@pytest.mark.accept(3)
def test_a_bare_enter_takes_what_is_recommended(cli: Cli, memory: Path) -> None:
    del memory
    with cli.terminal("save", "--summary", "Round the invoice totals") as terminal:
        terminal.expect("Which name? [1]")
        terminal.answer("")
        terminal.expect('Checkpoint "round-invoice-totals" saved.')


@pytest.mark.promise("guardz", 7)
@pytest.mark.accept(3)
def test_without_a_terminal_the_name_is_used_and_printed(cli: Cli, memory: Path) -> None:
    out = cli.ok("save", "--summary", "Round the invoice totals").out

    assert out == (
        'Checkpoint "round-invoice-totals" saved. Resume anytime: `continue round-invoice-totals`\n'
    )
    assert (memory / "checkpoint-round-invoice-totals.md").exists()


@pytest.mark.promise("guardz", 35, 37)
@pytest.mark.accept(9)
def test_a_missing_memory_file_is_made(cli: Cli, memory: Path) -> None:
    save(cli, "login-flow")

    day = time.strftime("%b %d")
    assert index(memory) == (
        "# Project Memory\n\n## Active Checkpoints\n"
        f"- **login-flow** (main, {day}) — Work on login-flow\n"
        "Resume any: `continue` or `continue {name}`\n"
    )


OTHERS = {
    "plain": "# Project Memory\n\n## Conventions\nTabs, always.\n",
    "crlf": "# Memory\r\n\r\nFirst.\r\n\r\n## Ideas\r\n- one\r\n",
    "no heading": "Just a note without a heading.\n",
    "no last newline": "# Memory\n\nLast words",
    "fenced": "# Memory\n\n```\n## Active Checkpoints\n- **fake** (x, Nov 1) — no\n```\n\n## End\n",
    "unicode": "# Gedächtnis 🧠\n\n## 約束\n- ja\n",
    "not utf-8": "# Memory\n\n\udce4\n",
    "our title alone": "# Project Memory\n",
    "byte order mark": "\ufeff# Memory\nFirst.\n",
    "front matter": "---\n# a comment\nname: x\n---\n# Memory\nFirst.\n",
}


@pytest.mark.promise("guardz", 38)
@pytest.mark.accept(10)
@pytest.mark.parametrize("kind", OTHERS)
def test_every_byte_outside_the_section_stays(cli: Cli, memory: Path, kind: str) -> None:
    before = OTHERS[kind].encode("utf-8", "surrogateescape")
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_bytes(before)
    save(cli, "login-flow")
    save(cli, "cart-totals")
    during = (memory / "MEMORY.md").read_bytes()
    cli.ok("resume", "login-flow", "--accept")
    cli.ok("clear", "cart-totals")

    after = (memory / "MEMORY.md").read_bytes()
    assert b"**cart-totals**" in during
    assert all(line in during.splitlines() for line in before.splitlines())
    assert hashlib.sha256(after).digest() == hashlib.sha256(before).digest()


@pytest.mark.promise("guardz", 34)
@pytest.mark.accept(10)
def test_the_section_sits_after_the_first_heading(cli: Cli, memory: Path) -> None:
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_text(OTHERS["plain"], encoding="utf-8")
    save(cli, "login-flow")

    assert index(memory).startswith("# Project Memory\n\n## Active Checkpoints\n- **login-flow**")
    assert index(memory).endswith("`continue {name}`\n\n## Conventions\nTabs, always.\n")


@pytest.mark.promise("guardz", 32, 33, 36)
@pytest.mark.accept(11)
def test_a_name_listed_already_gets_its_line_replaced(cli: Cli, memory: Path) -> None:
    save(cli, "login-flow")
    save(cli, "cart-totals")
    cli.ok("save", "login-flow", "--summary", "Now with tokens", "--overwrite")

    lines = [line for line in index(memory).splitlines() if line.startswith("- ")]
    assert len(lines) == 2
    assert re.fullmatch(
        r"- \*\*login-flow\*\* \(main, [A-Z][a-z]{2} \d\d\) — Now with tokens", lines[0]
    )


@pytest.mark.accept(13)
def test_a_save_prints_exactly_one_line(cli: Cli, memory: Path) -> None:
    del memory

    assert save(cli, "login-flow") == (
        'Checkpoint "login-flow" saved. Resume anytime: `continue login-flow`\n'
    )


@pytest.mark.accept(17)
def test_a_line_whose_file_is_gone_is_cleaned_up(cli: Cli, memory: Path) -> None:
    save(cli, "login-flow")
    save(cli, "cart-totals")
    (memory / "checkpoint-login-flow.md").unlink()
    result = cli.ok("resume", "login-flow")

    assert result.out == "Checkpoint file missing (cleaned up stale entry)\n"
    assert "login-flow" not in index(memory)
    assert "cart-totals" in index(memory)
    assert "login-flow" in cli.ok("undo").out


@pytest.mark.accept(17)
def test_a_line_that_nobody_knows_is_cleaned_up_too(cli: Cli, memory: Path) -> None:
    save(cli, "cart-totals")
    stale = index(memory).replace("Resume any", "- **old-one** (main, Nov 01) — gone\nResume any")
    (memory / "MEMORY.md").write_text(stale, encoding="utf-8")
    result = cli.ok("resume", "old-one")

    assert result.out == "Checkpoint file missing (cleaned up stale entry)\n"
    assert "old-one" not in index(memory)


@pytest.mark.promise("guardz", 52, 54, 59)
@pytest.mark.accept(21)
def test_resuming_consumes_without_a_word_and_undo_brings_it_back(cli: Cli, memory: Path) -> None:
    """D26: the only copy must not be gone before the new session has done anything."""
    save(cli, "login-flow", "--left-off", "At the callback")
    result = cli.ok("resume", "login-flow", "--accept")

    assert "At the callback" in result.out
    assert "clear" not in result.out.lower()
    assert "consum" not in result.out.lower()
    assert not (memory / "checkpoint-login-flow.md").exists()
    assert index(memory) == "# Project Memory\n"
    cli.ok("undo")
    assert "At the callback" in (memory / "checkpoint-login-flow.md").read_text(encoding="utf-8")
    assert "**login-flow**" in index(memory)


@pytest.mark.promise("guardz", 55)
@pytest.mark.accept(22)
@pytest.mark.parametrize("words", [["resume", "login-flow", "--accept"], ["clear", "login-flow"]])
def test_the_last_one_takes_the_section_with_it(cli: Cli, memory: Path, words: list[str]) -> None:
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_text(OTHERS["plain"], encoding="utf-8")
    save(cli, "login-flow")
    cli.ok(*words)

    assert index(memory) == OTHERS["plain"]


@pytest.mark.promise("guardz", 58)
@pytest.mark.accept(23)
def test_clear_all_takes_every_file(cli: Cli, memory: Path) -> None:
    for name in ("login-flow", "cart-totals", "csv-import"):
        save(cli, name)

    assert cli.ok("clear", "--all").out == "Cleared 3 checkpoint(s)\n"
    assert [each.name for each in memory.iterdir()] == ["MEMORY.md"]
    assert index(memory) == "# Project Memory\n"


@pytest.mark.promise("guardz", 17, 18)
@pytest.mark.accept(25)
def test_a_guessed_next_action_is_left_out_and_questions_stay(cli: Cli, memory: Path) -> None:
    fields = (
        '{"summary": "Round", "next_action": {"text": "Guess", "origin": "inferred"}, '
        '"questions": ["Cents or Decimal?"], "decisions": [{"what": "Half even", "why": "banks"}]}'
    )
    cli.ok("save", "rounding", "--from-json", "-", stdin=fields)

    text = (memory / "checkpoint-rounding.md").read_text(encoding="utf-8")
    assert "Guess" not in text
    assert "Open question: Cents or Decimal?" in text
    assert cli.json("show", "rounding")["decisions"][0]["what"] == "Half even"


@pytest.mark.slow("lets processes race")
@pytest.mark.accept(12)
def test_two_processes_saving_at_once_lose_nothing(cli: Cli, memory: Path, repo: Repo) -> None:
    del cli
    program = """
        import sys
        from leftoff.cli import run
        for number in range(50):
            assert run(["save", f"{sys.argv[1]}-{number}", "--summary", "Work"]) == 0
    """
    run_side_by_side(program, repo.folder, "left", "right")

    names = {f"{who}-{number}" for who in ("left", "right") for number in range(50)}
    assert {path.stem.removeprefix("checkpoint-") for path in memory.glob("c*.md")} == names
    assert set(re.findall(r"- \*\*(.+?)\*\*", index(memory))) == names
    assert len(index(memory).splitlines()) == 2 + 1 + 100 + 1


def test_an_edit_by_hand_becomes_the_newest_revision(cli: Cli, memory: Path) -> None:
    save(cli, "login-flow", "--left-off", "At the callback", "--next", "Run pytest tests/x.py")
    path = memory / "checkpoint-login-flow.md"
    edited = path.read_text(encoding="utf-8").replace("At the callback", "At the token")
    path.write_text(edited, encoding="utf-8")

    shown = cli.json("show", "login-flow")
    assert shown["left_off"] == "At the token"
    assert shown["summary"] == "Work on login-flow"
    assert path.read_text(encoding="utf-8") == edited
    assert len(cli.json("log", "login-flow")["revisions"]) == 2


def test_an_edit_that_cannot_be_read_is_kept_and_reported(
    cli: Cli, memory: Path, stored: Path
) -> None:
    save(cli, "login-flow")
    path = memory / "checkpoint-login-flow.md"
    path.write_text("my own words", encoding="utf-8")
    result = cli.ok("save", "login-flow", "--summary", "Again", "--overwrite")

    assert f"Could not import {path}" in result.err
    assert "# Checkpoint: login-flow" in path.read_text(encoding="utf-8")
    kept = [each for each in (stored / "trash").rglob("*") if each.is_file()]
    assert [each.read_text(encoding="utf-8") for each in kept] == ["my own words"]


# Reading what others wrote


@pytest.mark.accept(162)
@pytest.mark.parametrize("kind", ["plain", "crlf", "unicode", "missing"])
def test_golden_files_are_read(kind: str) -> None:
    path = GOLDEN / kind / "checkpoint-invoice-rounding.md"
    native = guardz.read(path, path.read_bytes())

    assert native.problem is None
    assert native.name == "invoice-rounding"
    assert native.fields["branch"] == "fix/rounding"
    assert native.saved_at is not None
    assert native.saved_at.strftime("%Y-%m-%d %H:%M") == "2026-11-15 18:40"
    if kind != "missing":
        assert native.fields["plan"] == {
            "path": "~/.claude/plans/billing.md",
            "step": 3,
            "total": 7,
        }
        assert len(native.fields["done"]) == 2
        assert native.fields["failed"][0]["why"]
        assert native.fields["files_modified"] == ["src/money.py", "tests/test_money.py"]


@pytest.mark.accept(162)
def test_a_folder_is_imported_once_and_left_as_it_was(cli: Cli) -> None:
    before = {path: path.read_bytes() for path in GOLDEN.rglob("*.md")}
    first = cli.json("import", "--from", "guardz", str(GOLDEN / "plain"))
    second = cli.json("import", "--from", "guardz", str(GOLDEN / "plain"))

    assert (first["imported"], first["known"]) == (1, 0)
    assert (second["imported"], second["known"]) == (0, 1)
    assert {path: path.read_bytes() for path in GOLDEN.rglob("*.md")} == before
    assert cli.json("show", "invoice-rounding")["saved_at"].startswith("2026-11-15T18:40")


@pytest.mark.slow("imports many files")
def test_five_hundred_are_imported(cli: Cli, tmp_path: Path) -> None:
    text = (GOLDEN / "plain" / "checkpoint-invoice-rounding.md").read_text(encoding="utf-8")
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(500):
        (folder / f"checkpoint-work-{number}.md").write_text(text, encoding="utf-8")

    assert cli.json("import", "--from", "guardz", str(folder))["imported"] == 500
    assert len(cli.json("list", "--limit", "1000")) == 500


def test_a_broken_file_is_reported_and_the_rest_imported(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    good = (GOLDEN / "plain" / "checkpoint-invoice-rounding.md").read_bytes()
    (folder / "checkpoint-good.md").write_bytes(good)
    (folder / "checkpoint-bad.md").write_bytes(b"\x00\xff nothing")
    result = cli.ok("import", "--from", "guardz", str(folder))

    assert result.out == "Imported 1 checkpoint; 0 already existed.\n"
    assert "checkpoint-bad.md: It has none of" in result.err


@given(data=st.data())
def test_damaged_files_never_raise(data: st.DataObject) -> None:
    whole = (GOLDEN / "unicode" / "checkpoint-invoice-rounding.md").read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    noise = data.draw(st.binary(max_size=20))
    at = data.draw(st.integers(0, cut))
    garbled = whole[:at] + noise + whole[at:cut]

    native = guardz.read(Path("checkpoint-x.md"), garbled)
    assert native.problem is None or native.fields == {}


LINE = st.sampled_from(["None", "n/a", "\\none", "-", "--", "=", "|", "*", "_", "`a`"]) | st.text(
    st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=30
)
TEXT = st.lists(LINE | st.sampled_from(["# a", "## Left Off", "- x", "```", "\\- y"]), min_size=1)


@given(
    left_off=TEXT.map("\n".join),
    done=st.lists(TEXT.map("\n".join), max_size=4),
    failed=st.lists(st.tuples(LINE, LINE), max_size=3),
    files=st.lists(LINE, max_size=3),
    step=st.none() | st.tuples(st.integers(1, 50), st.integers(1, 50)),
    decisions=st.lists(st.tuples(LINE, LINE), max_size=2),
    notes=st.lists(TEXT.map("\n".join), max_size=3),
)
def test_what_is_written_is_read_back(
    *,
    left_off: str,
    done: list[str],
    failed: list[tuple[str, str]],
    files: list[str],
    step: tuple[int, int] | None,
    decisions: list[tuple[str, str]],
    notes: list[str],
) -> None:
    plan = Plan(path="docs/plan.md", step=step[0], total=step[1]) if step else None
    checkpoint = draft(
        "some-work",
        left_off=left_off,
        done=done,
        failed=[Failure(what=what, why=why) for what, why in failed],
        files_modified=files,
        decisions=[Decision(what=what, why=why) for what, why in decisions],
        notes=notes,
        plan=plan,
        branch="fix/rounding",
    )
    native = guardz.read(Path("checkpoint-some-work.md"), guardz_file.render(checkpoint).encode())

    plain = to_plain(checkpoint)
    read = {key: value for key, value in native.fields.items() if value}
    for key in guardz.HOLDS - {"name", guardz_file.TEXT}:
        assert read.get(key) == plain.get(key), key
    assert isinstance(checkpoint.next_action, NextAction)
    assert read["next_action"] == {"text": checkpoint.next_action.text}


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_memory_file_comes_back_as_it_was(head: str, rest: str) -> None:
    before = f"# Memory\n\n{head}\n\n## More\n{rest}\n".replace("\r", "")
    checkpoint: Checkpoint = draft("some-work", branch="main")
    during = guardz_index.with_bullets(before, {"some-work": checkpoint})
    after = guardz_index.with_bullets(during, {"some-work": None})

    assert "- **some-work** (main, Nov 15) — Summary of some-work" in during
    assert after == before


def test_what_failed_in_imported_work_is_remembered(cli: Cli) -> None:
    cli.ok("import", "--from", "guardz", str(GOLDEN / "plain"))

    found = cli.json("memory", "list")
    assert [(each["kind"], each["text"]) for each in found] == [
        ("failure", "Patching `round` everywhere")
    ]
    assert found[0]["at"].startswith("2026-11-15T18:40")


@pytest.mark.promise("guardz", 28)
@pytest.mark.accept(4)
def test_on_a_detached_head_the_commit_stands_for_the_branch(
    cli: Cli, memory: Path, repo: Repo
) -> None:
    repo.git("checkout", "-q", "--detach")
    save(cli, "login-flow")

    text = (memory / "checkpoint-login-flow.md").read_bytes()
    assert f"- **Branch:** `{repo.head()[:7]}`\n".encode() in text
    assert guardz.read(memory / "checkpoint-login-flow.md", text).fields["branch"] is None
