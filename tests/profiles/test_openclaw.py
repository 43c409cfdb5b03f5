"""openclaw: the quality bar of checkpoints, autosaves and the buffer, through the commands."""

import hashlib
import json
import os
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli.runs import Cli, save_at, truth
from gitrepo import Repo
from leftoff.context import find_project
from leftoff.profiles import openclaw
from leftoff.store import Store
from stores import Clock, contents, draft
from talk import Talk

GOOD = (
    "--task=Import supplier CSVs with a report per row",
    "--progress=Wrote importer/reader.py lines 1-140",
    "--next=Run python -m importer samples/bad.csv",
    "--blocker=samples/utf16.csv raises UnicodeDecodeError at byte 0",
    "--decision=Stream rows :: files reach 2 GB",
    "--context=The user wants messages in Spanish",
)
MENTIONED = {"mentioned", "expected"}


@pytest.fixture
def claw(cli: Cli, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Follow openclaw, with the files that `GOOD` mentions; return the workspace."""
    for path in ("importer/reader.py", "samples/bad.csv", "samples/utf16.csv"):
        repo.write(path)
    monkeypatch.setenv("OPENCLAW_WORKSPACE", str(tmp_path / "claw"))
    for key in ("profile", "mirror"):
        cli.ok("config", "set", key, "openclaw", "--project")
    return tmp_path / "claw"


@pytest.fixture
def talk(repo: Repo) -> Talk:
    return Talk(repo.folder)


def native(claw: Path, name: str) -> Path:
    return claw / "memory" / "checkpoints" / f"{name}.md"


def text_of(claw: Path, name: str) -> str:
    return native(claw, name).read_text("utf-8")


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def work(talk: Talk, what: str = "Import the supplier files", *, percent: float = 1.0) -> None:
    talk.ask(what)
    talk.edit("app.py")
    talk.say("Next I will run the tests.", percent=percent)


# Where the files are


@pytest.mark.promise("openclaw", 74)
def test_the_workspace_is_the_named_one_the_projects_own_or_the_users(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = find_project(repo.folder)
    assert openclaw.home(project) == Path.home() / ".openclaw" / "workspace"
    notes = repo.folder / "SESSION-STATE.md"
    notes.touch()
    assert openclaw.home(project) == repo.folder
    notes.unlink()
    (repo.folder / "memory" / "checkpoints").mkdir(parents=True)
    assert openclaw.home(project) == repo.folder
    monkeypatch.setenv("OPENCLAW_WORKSPACE", str(tmp_path / "claw"))
    assert openclaw.home(find_project(repo.folder)) == tmp_path / "claw"


def test_two_projects_share_a_workspace_and_leave_each_others_files_alone(
    cli: Cli, claw: Path, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("save", "csv-import", *GOOD)
    _neighbour(cli, tmp_path, monkeypatch)
    cli.ok("save", "shop-front", *GOOD)
    before = sha(native(claw, "csv-import"))

    assert [each["name"] for each in cli.json("list")] == ["shop-front"]
    cli.ok("clear", "--all")
    assert sha(native(claw, "csv-import")) == before
    assert not native(claw, "shop-front").exists()
    result = cli.json("import", "--from", "openclaw")
    assert (result["imported"], len(result["problems"])) == (0, 1)
    assert "belongs to another project" in result["problems"][0]["problem"]
    monkeypatch.chdir(repo.folder)
    assert [each["name"] for each in cli.json("list")] == ["csv-import"]


def test_files_of_another_project_are_imported_from_a_folder_that_is_named(
    cli: Cli, claw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("save", "csv-import", *GOOD)
    cli.ok("export", "--to", "openclaw", str(tmp_path / "out"))
    other = Repo(tmp_path / "other")
    monkeypatch.chdir(other.folder)

    assert cli.json("import", "--from", "openclaw", str(tmp_path / "out"))["imported"] == 1
    assert native(claw, "csv-import").exists()


def test_a_name_that_another_project_uses_gets_a_file_beside_it(
    cli: Cli, claw: Path, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("save", "csv-import", *GOOD)
    theirs = text_of(claw, "csv-import")
    _neighbour(cli, tmp_path, monkeypatch)
    cli.ok("save", "csv-import", "--task=Quite another import of files")

    (beside,) = native(claw, "x").parent.glob("csv-import--*.md")
    assert "Quite another" in beside.read_text("utf-8")
    assert text_of(claw, "csv-import") == theirs
    edited = beside.read_text("utf-8").replace("Quite another", "One more")
    beside.write_text(edited, encoding="utf-8")
    assert cli.json("show", "csv-import")["summary"] == "One more import of files"
    cli.ok("delete", "csv-import")
    assert not beside.exists()
    assert text_of(claw, "csv-import") == theirs
    monkeypatch.chdir(repo.folder)
    assert [each["name"] for each in cli.json("list")] == ["csv-import"]


def test_a_file_beside_anothers_stays_where_it_is_once_that_is_gone(
    cli: Cli, claw: Path, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("save", "csv-import", *GOOD)
    other = _neighbour(cli, tmp_path, monkeypatch)
    cli.ok("save", "csv-import", *GOOD)
    monkeypatch.chdir(repo.folder)
    cli.ok("delete", "csv-import")
    monkeypatch.chdir(other)

    cli.ok("save", "csv-import", "--overwrite", "--task=Quite another import of files")

    (path,) = native(claw, "x").parent.glob("csv-import*.md")
    assert "Quite another" in path.read_text("utf-8")
    assert len(cli.json("list")) == 1


def test_a_file_that_another_project_took_the_place_of_is_not_missed(
    cli: Cli, claw: Path, tmp_path: Path
) -> None:
    cli.ok("save", "csv-import", *GOOD)
    path = native(claw, "csv-import")
    text = re.sub(
        r"(?m)^\*\*Project:.*$", f"**Project:** {tmp_path / 'other'}", text_of(claw, path.stem)
    )
    path.write_text(text, encoding="utf-8")
    assert len(cli.json("list")) == 1

    path.unlink()

    assert len(cli.json("list")) == 1


def _neighbour(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to another project with the same workspace."""
    other = Repo(tmp_path / "other")
    other.commit("Begin", {"b.py": "2\n"})
    monkeypatch.chdir(other.folder)
    for key in ("profile", "mirror"):
        cli.ok("config", "set", key, "openclaw", "--project")
    return other.folder


# Saving


@pytest.mark.promise("openclaw", 1, 2, 3)
@pytest.mark.accept(26)
def test_a_save_writes_created_task_and_five_sections(cli: Cli, claw: Path) -> None:
    cli.ok("save", "csv-import", *GOOD)

    text = text_of(claw, "csv-import")
    parts = [
        "# Checkpoint: csv-import\n",
        "**Created:** ",
        "**Task:** Import supplier CSVs with a report per row\n",
        "## Progress\n- Wrote importer/reader.py lines 1-140\n",
        "## Next Action\nRun python -m importer samples/bad.csv\n",
        "## Blockers\n- samples/utf16.csv raises UnicodeDecodeError at byte 0\n",
        "## Key Decisions\n- Stream rows (files reach 2 GB)\n",
        "## Relevant Context\n",
        "- The user wants messages in Spanish\n",
    ]
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    assert re.search(r"\*\*Created:\*\* \d{4}-\d\d-\d\d \d\d:\d\d UTC\n", text)


@pytest.mark.promise("openclaw", 4)
@pytest.mark.accept(26)
def test_the_time_has_the_zone_that_holds(
    cli: Cli, claw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D4: the original writes GMT+8 everywhere."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    cli.ok("save", "csv-import", *GOOD)

    assert re.search(r"\*\*Created:\*\* .* GMT-[45]\n", text_of(claw, "csv-import"))


@pytest.mark.promise("openclaw", 11)
@pytest.mark.accept(27)
@pytest.mark.parametrize("name", ["task", "work", "save", "untitled", "backup", "My Thing", "a_b"])
def test_a_name_that_says_nothing_or_is_not_kebab_case_is_refused(
    cli: Cli, claw: Path, name: str
) -> None:
    """D2: the original takes any name."""
    result = cli("save", name, *GOOD)

    assert result.code == 2
    assert "says nothing about the work" in result.err or "is not kebab-case" in result.err
    assert not claw.exists()


def test_a_name_that_leads_elsewhere_is_refused(cli: Cli, claw: Path, tmp_path: Path) -> None:
    """D1: the original writes outside the folder."""
    before = contents(tmp_path)

    assert cli("save", "../../evil", *GOOD).code == 2
    assert {path for path in contents(tmp_path) if "evil" in path} == set()
    assert not claw.exists()
    assert set(before) <= set(contents(tmp_path))


@pytest.mark.promise("openclaw", 13)
def test_a_name_in_use_is_not_overwritten_silently(cli: Cli, claw: Path) -> None:
    """D2: the original overwrites without a word."""
    cli.ok("save", "csv-import", *GOOD)
    before = sha(native(claw, "csv-import"))

    assert cli("save", "csv-import", "--task=Other").code == 3
    assert sha(native(claw, "csv-import")) == before


@pytest.mark.promise("openclaw", 8)
@pytest.mark.accept(28)
def test_a_save_is_filled_from_the_working_notes(cli: Cli, claw: Path) -> None:
    """D3: the original reads them and leaves every section empty."""
    claw.mkdir()
    (claw / "SESSION-STATE.md").write_text(
        "# SESSION-STATE.md\n## Active task\n**Goal:** one error line per bad row\n"
        "## Open decisions\n- Is row 7 an error?\n"
        "## Decisions made\n- Stream rows (files reach 2 GB)\n## Next-turn hint\n- run bad.csv\n",
        "utf-8",
    )
    cli.ok("save", "csv-import", "--progress=Wrote importer/reader.py")

    text = text_of(claw, "csv-import")
    assert "**Task:** one error line per bad row\n" in text
    assert "## Key Decisions\n- Stream rows (files reach 2 GB)\n" in text
    assert "## Blockers\n- Open question: Is row 7 an error?\n" in text
    assert "## Next Action\nrun bad.csv\n" in text
    assert "<!--" not in text


@pytest.mark.accept(28)
@pytest.mark.parametrize("state", [None, "", "# SESSION-STATE.md\n## Active task\n"])
def test_without_notes_the_save_happens_and_says_what_is_none(
    cli: Cli, claw: Path, state: str | None
) -> None:
    """D3: no section is left as an empty remark."""
    if state is not None:
        claw.mkdir()
        (claw / "SESSION-STATE.md").write_text(state, "utf-8")
    cli.ok("save", "csv-import", "--task=Import supplier CSVs")

    text = text_of(claw, "csv-import")
    assert "<!--" not in text
    assert re.findall(r"## .*\n(?=\n|\Z)", text) == []


@pytest.mark.promise("openclaw", 7)
@pytest.mark.accept(29)
def test_a_save_confirms_name_paths_task_and_next_action(cli: Cli, claw: Path) -> None:
    out = cli.ok("save", "csv-import", *GOOD).out

    assert 'Saved checkpoint "csv-import"' in out
    assert "Import supplier CSVs with a report per row" in out
    assert "Run python -m importer samples/bad.csv" in out
    # The file comes first; the store keeps its own.
    assert f"  Path  {native(claw, 'csv-import')}\n  Also  " in out


@pytest.mark.promise("openclaw", 43, 46)
@pytest.mark.accept(30)
def test_every_broken_rule_is_named(cli: Cli, claw: Path) -> None:
    del claw
    vague = ["--task=work", "--progress=worked on the task", "--next=continue", "--decision=Use X"]
    vague += [
        "--blocker=stuck",
        "--file=nowhere.py",
        *[f"--context=User: hello {n}" for n in "1234"],
    ]
    cli.ok("save", "vague-one", *vague)
    linted, strict = cli("lint", "vague-one"), cli("save", "vague-two", "--strict", *vague)

    for result in (linted, strict):
        assert result.code == 4
        for rule in (
            "task",
            "progress",
            "next-action",
            "blockers",
            "decisions",
            "paths",
            "raw-chat",
        ):
            assert rule in result.err


@pytest.mark.promise("openclaw", 42)
@pytest.mark.accept(56)
def test_a_pasted_conversation_is_rejected(cli: Cli, claw: Path) -> None:
    del claw
    chat = "\n".join(f"{who}: something {n}" for n in range(3) for who in ("User", "Assistant"))

    assert cli("save", "csv-import", *GOOD, f"--context={chat}", "--strict").code == 4


@pytest.mark.promise("openclaw", 44)
@pytest.mark.accept(31)
def test_a_task_without_a_next_action_is_not_complete(cli: Cli, claw: Path) -> None:
    cli.ok("save", "csv-import", "--task=Import supplier CSVs")
    result = cli("complete", "csv-import")

    assert result.code == 1
    assert "it has no next action" in result.err
    assert native(claw, "csv-import").exists()


@pytest.mark.parametrize("words", [["save"], ["save", "csv-import", "--task"], ["delete"]])
def test_an_option_without_its_value_is_refused(cli: Cli, claw: Path, words: list[str]) -> None:
    """D4: the original ignores it."""
    assert cli(*words).code == 2
    assert not claw.exists()


@pytest.mark.accept(55)
def test_another_day_is_added_below_the_earlier_ones(cli: Cli, claw: Path, repo: Repo) -> None:
    clock = Clock(datetime.now(UTC) - timedelta(days=2))
    store = Store(find_project(repo.folder), now=clock)
    store.save(draft("csv-import", "Import supplier CSVs", done=["Wrote the reader"]))
    store.close()
    cli.ok("list")
    cli.ok("save", "csv-import", "--append-day", "--progress=Wrote the report")
    cli.ok("save", "csv-import", "--append-day", "--progress=And its tests")

    today, then = (datetime.now(UTC) - timedelta(days=n) for n in (0, 2))
    expected = (
        f"## Progress\n### Day 1 ({then:%Y-%m-%d})\n- Wrote the reader\n\n"
        f"### Day 2 ({today:%Y-%m-%d})\n- Wrote the report\n- And its tests\n"
    )
    assert expected in text_of(claw, "csv-import")


# Looking


@pytest.mark.promise("openclaw", 14)
@pytest.mark.accept(32)
def test_list_shows_ages_names_the_autosave_and_never_shows_its_log(
    cli: Cli, claw: Path, repo: Repo
) -> None:
    """D4: the original lists autosave-log as a checkpoint."""
    ages = {
        "brand-new": timedelta(),
        "minutes-old": timedelta(minutes=5),
        "hours-old": timedelta(hours=3),
        None: timedelta(days=2),
    }
    save_at(repo.folder, ages)
    cli.ok("list")
    out = cli.ok("list").out

    for age in ("just now", "5m ago", "3h ago", "2d ago"):
        assert age in out
    assert [line.split()[0] for line in out.splitlines()[1:]] == [
        "brand-new", "minutes-old", "hours-old", "autosave",
    ]  # fmt: skip
    assert "Work on None" in cli.ok("resume", "autosave").out
    assert "autosave-log" not in out
    assert (claw / "memory/checkpoints/autosave-log.md").exists()
    assert len(cli.json("list")) == 4


@pytest.mark.promise("openclaw", 15)
@pytest.mark.accept(33)
def test_without_checkpoints_list_says_so(cli: Cli, claw: Path) -> None:
    del claw
    assert cli.ok("list").out == "No checkpoints found.\n"
    assert cli.json("list") == []


@pytest.mark.promise("openclaw", 23)
@pytest.mark.accept(34)
def test_resume_shows_all_and_does_nothing_before_yes(cli: Cli, claw: Path, stored: Path) -> None:
    cli.ok("save", "csv-import", *GOOD)
    before, files = truth(stored), contents(claw)
    out = cli.ok("resume", "csv-import").out

    for part in (
        "📌 Resume: Import supplier CSVs", "(just now)", "- Wrote importer/reader.py",
        "🔜 Next action: Run python -m importer", "UnicodeDecodeError at byte 0",
    ):  # fmt: skip
        assert part in out
    assert out.endswith("To start fresh, run `leftoff resume csv-import --decline`.\n")
    assert (truth(stored), contents(claw)) == (before, files)


@pytest.mark.promise("openclaw", 24)
@pytest.mark.accept(34)
def test_a_yes_on_a_terminal_takes_it_up_and_keeps_the_file(cli: Cli, claw: Path) -> None:
    cli.ok("save", "csv-import", *GOOD)
    with cli.terminal("resume", "csv-import") as terminal:
        terminal.expect("(yes/no) ")
        terminal.answer("perhaps")
        terminal.expect("one of the words in brackets")
        terminal.expect("(yes/no) ")
        terminal.answer("yes")
        terminal.rest()

    assert cli.json("list")[0]["state"] == "resumed"
    assert native(claw, "csv-import").exists()


@pytest.mark.accept(34)
def test_the_question_is_asked_even_of_one_who_accepts(cli: Cli, claw: Path) -> None:
    del claw
    cli.ok("save", "csv-import", *GOOD)
    with cli.terminal("resume", "csv-import", "--accept") as terminal:
        terminal.expect("(yes/no) ")
        terminal.answer("yes")
        terminal.rest()


@pytest.mark.promise("openclaw", 25)
@pytest.mark.accept(36)
def test_a_no_moves_it_to_the_trash_and_undo_brings_it_back(cli: Cli, claw: Path) -> None:
    cli.ok("save", "csv-import", *GOOD)
    before = text_of(claw, "csv-import")
    with cli.terminal("resume", "csv-import") as terminal:
        terminal.expect("(yes/no) ")
        terminal.answer("no")
        assert "Starting fresh; csv-import is moved to the trash." in terminal.rest()

    assert not native(claw, "csv-import").exists()
    assert cli.json("list") == []
    cli.ok("undo")
    assert text_of(claw, "csv-import") == before


@pytest.mark.accept(36)
def test_without_the_profile_a_no_keeps_it(cli: Cli) -> None:
    cli.ok("save", "csv-import", *GOOD)

    assert "csv-import is kept" in cli.ok("resume", "csv-import", "--decline").out
    assert cli.json("list")[0]["state"] == "declined"


@pytest.mark.promise("openclaw", 27)
@pytest.mark.accept(35)
@pytest.mark.accept(37)
def test_stale_references_are_flagged_and_the_choice_is_another(
    cli: Cli, claw: Path, repo: Repo
) -> None:
    repo.write("gone.py")
    repo.write("edited.py")
    cli.ok("save", "csv-import", *GOOD, "--file=gone.py", "--file=edited.py")
    (repo.folder / "gone.py").unlink()
    repo.write("edited.py", "other\n")
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("Move on")
    result = cli.json("resume", "csv-import")

    states = {each["path"]: each["state"] for each in result["checks"]["files"]}
    assert states | {"gone.py": "missing", "edited.py": "changed"} == states
    assert set(states.values()) == {"same", "missing", "changed"}
    assert result["question"].endswith("yes means resume anyway, no means start fresh.")
    assert [each["choice"] for each in result["choices"]] == [
        "resume anyway", "start fresh", "refresh",
    ]  # fmt: skip
    assert "HEAD moved by 1 commit" in result["briefing"]
    assert "you are on `side`" in result["briefing"]
    with cli.terminal("resume", "csv-import") as terminal:
        terminal.expect("no means start fresh. ")
        terminal.answer("start fresh")
        terminal.rest()
    assert not native(claw, "csv-import").exists()


@pytest.mark.accept(37)
def test_resume_anyway_takes_it_up(cli: Cli, claw: Path, repo: Repo) -> None:
    cli.ok("save", "csv-import", *GOOD)
    repo.commit("Move on")
    with cli.terminal("resume", "csv-import") as terminal:
        terminal.expect("no means start fresh. ")
        terminal.answer("resume anyway")
        terminal.rest()

    assert cli.json("list")[0]["state"] == "resumed"
    assert native(claw, "csv-import").exists()


@pytest.mark.accept(37)
def test_refresh_rewrites_it_to_the_present_first(cli: Cli, claw: Path, repo: Repo) -> None:
    for name in ("gone.py", "edited.py"):
        repo.write(name)
    repo.write("plan.md", "# Plan\n\n- [x] One\n- [ ] Two\n- [ ] Three\n")
    cli.ok("save", "csv-import", *GOOD, "--file=gone.py", "--file=edited.py", "--plan=plan.md")
    (repo.folder / "gone.py").unlink()
    repo.write("edited.py", "other\n")
    repo.write("plan.md", "# Plan\n\n- [x] One\n- [x] Two\n- [ ] Three\n")
    sha_now = repo.commit("Move on")
    result = cli.json("resume", "csv-import", "--refresh")

    checkpoint = result["checkpoint"]
    assert result["question"].endswith("Ready to continue? (yes/no)")
    assert checkpoint["head"] == sha_now
    assert checkpoint["plan"]["step"] == 3
    assert "Gone when it was refreshed: gone.py" in checkpoint["notes"]
    assert [each["path"] for each in checkpoint["files"] if each.get("role") not in MENTIONED] == [
        "edited.py", "plan.md",
    ]  # fmt: skip
    assert "Gone when it was refreshed: gone.py" in text_of(claw, "csv-import")
    assert len(cli.json("log", "csv-import")["revisions"]) == 2


@pytest.mark.accept(38)
@pytest.mark.parametrize("verb", ["resume", "delete"])
def test_an_unknown_name_is_reported_with_a_hint(cli: Cli, claw: Path, verb: str) -> None:
    del claw
    result = cli(verb, "nothing-here")

    assert result.code == 1
    assert "No checkpoint named 'nothing-here'" in result.err
    assert "leftoff list" in result.err


@pytest.mark.promise("openclaw", 28)
@pytest.mark.accept(39)
def test_delete_moves_the_file_to_the_trash(cli: Cli, claw: Path, stored: Path) -> None:
    cli.ok("save", "csv-import", *GOOD)
    before = text_of(claw, "csv-import")

    assert cli("delete", "autosave").code == 1
    assert cli.ok("delete", "csv-import").out == 'Deleted checkpoint "csv-import"\n'
    assert not native(claw, "csv-import").exists()
    assert [each.read_text("utf-8") for each in (stored / "trash").rglob("*.md")] == [before]


@pytest.mark.promise("openclaw", 29)
@pytest.mark.accept(39)
def test_what_is_active_is_deleted_only_by_force(cli: Cli, claw: Path) -> None:
    cli.ok("save", "csv-import", *GOOD)
    cli.ok("resume", "csv-import", "--accept")

    assert cli("delete", "csv-import").code == 1
    assert native(claw, "csv-import").exists()
    cli.ok("delete", "csv-import", "--force")
    assert not native(claw, "csv-import").exists()


# Hand edits


@pytest.mark.promise("openclaw", 20)
def test_an_edit_by_hand_becomes_the_newest_revision_and_keeps_what_the_file_cannot_hold(
    cli: Cli, claw: Path
) -> None:
    cli.ok("save", "csv-import", *GOOD, "--file=app.py")
    path = native(claw, "csv-import")
    path.write_text(text_of(claw, "csv-import").replace("in Spanish", "in French"), "utf-8")
    result = cli.json("show", "csv-import")
    [file] = [each for each in result["files"] if each.get("role") not in MENTIONED]

    assert result["notes"] == ["The user wants messages in French"]
    assert result["head"]
    assert file["sha256"]
    checked = cli.json("resume", "csv-import")["checks"]["files"]
    assert {"path": "app.py", "state": "same"} in checked
    assert {each["state"] for each in checked} == {"same"}


def test_a_file_removed_by_hand_is_cleared_and_a_new_one_imported(cli: Cli, claw: Path) -> None:
    cli.ok("save", "csv-import", *GOOD)
    native(claw, "csv-import").unlink()
    native(claw, "by-hand").write_text("**Task:** Written by hand\n", "utf-8")

    assert [each["name"] for each in cli.json("list")] == ["by-hand"]


def test_an_imported_file_says_what_changed_since_it_was_saved(
    cli: Cli, repo: Repo, tmp_path: Path
) -> None:
    folder = tmp_path / "old" / "memory" / "checkpoints"
    folder.mkdir(parents=True)
    repo.write("new.py")
    long_ago = (datetime.now(UTC) - timedelta(days=3)).timestamp()
    os.utime(repo.folder / "app.py", (long_ago, long_ago))
    yesterday = datetime.now(UTC) - timedelta(days=1)
    context = "- File: app.py\n- File: new.py\n- File: gone.py\n"
    (folder / "old-work.md").write_text(
        f"**Created:** {yesterday:%Y-%m-%d %H:%M} UTC\n**Task:** Old\n\n"
        f"## Relevant Context\n{context}",
        "utf-8",
    )
    cli.ok("import", "--from", "openclaw", str(tmp_path / "old"))
    files = cli.json("resume", "old-work")["checks"]["files"]

    assert {each["path"]: each["state"] for each in files} == {
        "app.py": "same", "new.py": "changed", "gone.py": "missing",
    }  # fmt: skip


# Autosaves


def autosaves(claw: Path) -> list[str]:
    log = claw / "memory" / "checkpoints" / "autosave-log.md"
    return log.read_text("utf-8").splitlines()[1:] if log.exists() else []


@pytest.mark.promise("openclaw", 30)
@pytest.mark.accept(40)
@pytest.mark.parametrize(("percent", "count"), [(70.0, 0), (71.0, 1)])
def test_a_full_context_saves_automatically(
    claw: Path, talk: Talk, percent: float, count: int
) -> None:
    work(talk, percent=percent)
    talk.fire("UserPromptSubmit", prompt="go on with the import")

    assert len(autosaves(claw)) == count
    assert native(claw, "autosave").exists() == bool(count)


@pytest.mark.promise("openclaw", 31)
@pytest.mark.accept(41)
@pytest.mark.parametrize("word", ["goodnight", "晚安", "logout", "exit", "明天见"])
def test_a_goodbye_saves_and_the_log_has_the_word(claw: Path, talk: Talk, word: str) -> None:
    work(talk)
    talk.fire("UserPromptSubmit", prompt=word)

    [line] = autosaves(claw)
    assert re.fullmatch(
        rf"- \[\d{{4}}-\d\d-\d\d \d\d:\d\d\] autosave written \(close signal: {word}\)", line
    )


@pytest.mark.promise("openclaw", 32)
@pytest.mark.accept(42)
def test_idle_work_is_saved_with_its_reason(claw: Path, talk: Talk, repo: Repo) -> None:
    work(talk)
    talk.fire("Stop")
    [record] = (repo.folder / ".git/leftoff/sessions").glob("*.json")
    plain = json.loads(record.read_text())
    plain["seen_at"] = (datetime.now(UTC) - timedelta(minutes=11)).isoformat()
    record.write_text(json.dumps(plain))
    talk.fire("UserPromptSubmit", prompt="go on with the import")

    assert "(idle 11 min)" in autosaves(claw)[0]


@pytest.mark.promise("openclaw", 33)
@pytest.mark.accept(43)
def test_a_long_command_saves_before_it_runs(claw: Path, talk: Talk) -> None:
    work(talk)
    talk.fire("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
    assert autosaves(claw) == []
    talk.fire("PreToolUse", tool_name="Bash", tool_input={"command": "docker build ."})

    assert "(long command: docker build .)" in autosaves(claw)[0]


@pytest.mark.accept(45)
@pytest.mark.parametrize(("minutes", "count"), [(4, 1), (6, 2)])
def test_a_second_signal_waits_five_minutes(
    claw: Path, talk: Talk, repo: Repo, minutes: int, count: int
) -> None:
    """D4: the original writes two in one minute."""
    work(talk, percent=71.0)
    talk.fire("UserPromptSubmit", prompt="go on with the import")
    [record] = (repo.folder / ".git/leftoff/sessions").glob("*.json")
    plain = json.loads(record.read_text())
    plain["autosaved_at"] = (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat()
    record.write_text(json.dumps(plain))
    work(talk, "Now the export, please", percent=72.0)
    talk.fire("UserPromptSubmit", prompt="and the totals")

    assert len(autosaves(claw)) == count


def test_the_end_of_a_session_never_waits(claw: Path, talk: Talk) -> None:
    work(talk, percent=71.0)
    talk.fire("UserPromptSubmit", prompt="go on with the import")
    work(talk, "Now the export, please", percent=72.0)
    talk.fire("SessionEnd", reason="other")

    assert len(autosaves(claw)) == 2


@pytest.mark.accept(46)
def test_an_empty_session_or_a_completed_task_saves_nothing(
    cli: Cli, claw: Path, talk: Talk
) -> None:
    talk.fire("UserPromptSubmit", prompt="goodnight")
    assert autosaves(claw) == []
    work(talk)
    cli.ok("save", "csv-import", *GOOD, "--from", str(talk.transcript))
    cli.ok("complete", "csv-import")
    talk.fire("UserPromptSubmit", prompt="goodnight")

    assert autosaves(claw) == []


@pytest.mark.promise("openclaw", 36, 37)
@pytest.mark.accept(47)
def test_an_autosave_is_silent_and_adds_one_line(claw: Path, talk: Talk) -> None:
    for number in range(1, 4):
        work(talk, f"Import part {number} of the files")
        talk.fire("PreCompact", trigger="auto")
        assert len(autosaves(claw)) == number
        assert talk.waiting_reply() == ""

    assert all(re.match(r"- \[.*\] autosave written \(compaction: auto\)$", each)
               for each in autosaves(claw))  # fmt: skip


@pytest.mark.promise("openclaw", 35)
@pytest.mark.accept(47)
def test_the_autosave_holds_the_working_notes_word_for_word(claw: Path, talk: Talk) -> None:
    claw.mkdir()
    state = "# SESSION-STATE.md\n\n## Active task\n**Goal:** Ümlaute — “quoted”\n\n\n## Mine\n* x\n"
    (claw / "SESSION-STATE.md").write_text(state, "utf-8")
    work(talk)
    talk.fire("PreCompact", trigger="auto")

    text = text_of(claw, "autosave")
    assert text.startswith("# Autosave\n\n**Created:** ")
    assert "\n**Auto-saved:** True\n" in text
    assert text.endswith(f"\n\n{state}")


def test_without_working_notes_the_autosave_has_the_sections(claw: Path, talk: Talk) -> None:
    work(talk)
    talk.fire("PreCompact", trigger="auto")

    text = text_of(claw, "autosave")
    assert "**Task:** Import the supplier files\n" in text
    assert "- Modified: app.py\n" in text


@pytest.mark.accept(47)
def test_notes_that_do_not_show_the_task_come_below_the_sections(claw: Path, talk: Talk) -> None:
    claw.mkdir()
    state = "# SESSION-STATE.md\n\n## Proper nouns & values\n- [2026-11-16 03:40] app.py\n"
    (claw / "SESSION-STATE.md").write_text(state, "utf-8")
    work(talk)
    talk.fire("PreCompact", trigger="auto")

    text = text_of(claw, "autosave")
    assert "**Task:** Import the supplier files\n" in text
    assert text.endswith(f"\n## Working notes\n\n{state}")
    assert openclaw.read(native(claw, "autosave"), text.encode()).fields["summary"]


@pytest.mark.promise("openclaw", 38)
@pytest.mark.slow("takes many files")
@pytest.mark.accept(48)
def test_a_hundred_autosaves_leave_a_named_checkpoint_as_it_is(
    cli: Cli, claw: Path, talk: Talk
) -> None:
    cli.ok("save", "csv-import", *GOOD)
    before = sha(native(claw, "csv-import"))
    for number in range(100):
        talk.ask(f"Import part {number} of the files")
        talk.edit(f"part{number}.py")
        talk.post("PreCompact", trigger="auto")
        if number % 10 == 9:
            talk.fire("Stop")

    assert sha(native(claw, "csv-import")) == before
    assert len(autosaves(claw)) >= 10


@pytest.mark.promise("openclaw", 34)
@pytest.mark.accept(44)
@pytest.mark.parametrize(
    ("words", "priority"),
    [
        (["--percent=62", "--command=docker build ."], "HIGH"),
        (["--percent=76", "--prompt=goodnight"], "CRITICAL"),
        (["--percent=20", "--prompt=goodnight"], "MEDIUM"),
        (["--percent=20", "--command=docker build ."], "LOW"),
        (["--percent=71"], "HIGH"),
        (["--percent=20", "--idle=11"], "MEDIUM"),
        (["--percent=20", "--command=ls"], None),
    ],
)
def test_the_priority_of_signals_is_explained(
    cli: Cli, words: list[str], priority: str | None
) -> None:
    result = cli.json("auto", "--explain", *words)

    assert result["priority"] == priority
    assert result["saves"] == (priority is not None)


@pytest.mark.accept(44)
def test_the_setting_decides_whether_a_low_signal_saves(cli: Cli) -> None:
    cli.ok("config", "set", "autosave_from", "medium")

    assert not cli.json("auto", "--explain", "--percent=20", "--command=docker build .")["saves"]
    assert cli.json("auto", "--explain", "--percent=20", "--prompt=exit")["saves"]
    assert cli("auto").code == 2


@pytest.mark.accept(44)
def test_a_signal_below_the_setting_saves_nothing(cli: Cli, claw: Path, talk: Talk) -> None:
    cli.ok("config", "set", "autosave_from", "medium")
    work(talk)
    talk.fire("PreToolUse", tool_name="Bash", tool_input={"command": "docker build ."})

    assert autosaves(claw) == []


# The buffer and the working notes


@pytest.mark.promise("openclaw", 49)
@pytest.mark.accept(51)
def test_the_buffer_is_restarted_once_and_then_continued(claw: Path, talk: Talk) -> None:
    buffer = claw / "memory" / "working-buffer.md"
    (claw / "memory").mkdir(parents=True)
    buffer.write_text("# Working Buffer (Danger Zone Log)\nold\n", "utf-8")
    work(talk, percent=50.0)
    talk.fire("UserPromptSubmit", prompt="below the mark")
    assert "old" in buffer.read_text("utf-8")
    for number in (1, 2):
        work(talk, percent=61.0 + number)
        talk.fire("UserPromptSubmit", prompt=f"use semicolons\n## {number}")
        talk.say(f"Switched the reader to semicolons, run {number}.", percent=61.0 + number)
        talk.fire("Stop")

    text = buffer.read_text("utf-8")
    assert text.startswith(
        "# Working Buffer (Danger Zone Log)\n**Status:** ACTIVE\n**Started:** 20"
    )
    assert "old" not in text
    assert text.count("**Status:** ACTIVE") == 1
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*Z"
    for number in (1, 2):
        assert re.search(
            rf"\n## {stamp} Human\nuse semicolons\n## {number}\n\n## {stamp} Agent \(summary\)\n"
            rf"Switched the reader to semicolons, run {number}\.\n",
            text,
        )
    # It stays when the context is small again, until it next fills up.
    talk.line(
        type="system",
        subtype="compact_boundary",
        compactMetadata={"trigger": "auto", "preTokens": 630_000, "postTokens": 12_000},
    )
    work(talk, percent=2.0)
    talk.fire("UserPromptSubmit", prompt="go on")
    assert buffer.read_text("utf-8") == text
    work(talk, percent=65.0)
    talk.fire("UserPromptSubmit", prompt="full again")
    assert "use semicolons" not in buffer.read_text("utf-8")
    assert "full again" in buffer.read_text("utf-8")


@pytest.mark.promise("openclaw", 53)
@pytest.mark.accept(49)
@pytest.mark.accept(50)
def test_what_a_prompt_holds_is_noted_before_the_session_goes_on(claw: Path, talk: Talk) -> None:
    work(talk)
    talk.fire("UserPromptSubmit", prompt="no, use port 8081 not 8080")

    text = (claw / "SESSION-STATE.md").read_text("utf-8")
    assert "] no, use port 8081 not 8080\n" in text
    assert "] port 8081\n" in text


@pytest.mark.promise("openclaw", 18)
@pytest.mark.accept(54)
def test_a_new_session_is_told_how_many_there_are_and_declining_keeps_them(
    cli: Cli, claw: Path, talk: Talk
) -> None:
    cli.ok("save", "csv-import", *GOOD)
    cli.ok("save", "shop-front", *GOOD)
    text = talk.start()

    assert "2 threads were left off" in text
    assert "csv-import" in text
    assert "shop-front" in text
    assert native(claw, "csv-import").exists()
    assert len(cli.json("list")) == 2
