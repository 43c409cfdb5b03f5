"""`import leftoff` gives a documented, typed and silent API."""

import os
import pwd
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import leftoff
from cli.runs import environment
from gitrepo import Repo
from leftoff.store import BY_PROMPT
from talk import Talk


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "repo")
    made.commit("First")
    return made


def open_project(repo: Repo) -> leftoff.Workspace:
    return leftoff.open_project(repo.folder, variables=os.environ)


def test_every_public_name_is_there_and_has_a_docstring() -> None:
    assert {*leftoff.__all__} <= {*dir(leftoff)}
    for name in leftoff.__all__:
        assert getattr(leftoff, name).__doc__, name


def test_a_name_that_is_not_public_is_missing() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = leftoff.nothing


def test_importing_the_package_loads_nothing_else() -> None:
    program = (
        "import sys, leftoff; print([name for name in sys.modules if name.startswith('leftoff.')])"
    )

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert found.stdout.strip() == b"[]"


def test_what_was_saved_is_resumed_with_its_checks(repo: Repo) -> None:
    (repo.folder / "export.py").write_text("rows = []\n", encoding="utf-8")
    with open_project(repo) as work:
        saved = work.save(
            "csv-export",
            summary="Export orders as CSV",
            next_action="Write the header",
            decisions=["Stream the rows :: files reach 2 GB"],
            files=["export.py"],
        )
    (repo.folder / "export.py").write_text("rows = [1]\n", encoding="utf-8")

    with open_project(repo) as work:
        resumed = work.resume("csv-export")
        [entry] = work.list_checkpoints()

    assert resumed.checkpoint == saved.saved.checkpoint
    assert [(file.path, file.state) for file in resumed.checks.files] == [("export.py", "changed")]
    assert "Write the header" in resumed.briefing
    assert "files reach 2 GB" in resumed.briefing
    assert entry.state == "resumed"


def test_looking_notes_nothing(repo: Repo) -> None:
    with open_project(repo) as work:
        work.save("csv-export", summary="Export orders as CSV")
        work.resume("csv-export", accept=False)

        assert [entry.state for entry in work.list_checkpoints()] == ["open"]


def test_without_any_checkpoint_there_is_nothing_to_resume(repo: Repo) -> None:
    with open_project(repo) as work:
        assert work.resume() is None


def test_a_checkpoint_is_found_by_its_words(repo: Repo) -> None:
    with open_project(repo) as work:
        work.save("csv-export", summary="Export orders as CSV")
        work.save("login-form", summary="Add a login form")

        assert [hit.entry.name for hit in work.search("orders")] == ["csv-export"]


def test_a_name_in_use_is_a_choice(repo: Repo) -> None:
    with open_project(repo) as work:
        work.save("csv-export", summary="Export orders as CSV")

        with pytest.raises(leftoff.ChoiceNeeded):
            work.save("csv-export", summary="Export orders as JSON")
        work.save("csv-export", summary="Export orders as JSON", overwrite=True)

        assert work.load("csv-export").summary == "Export orders as JSON"


def test_a_misspelled_field_is_refused(repo: Repo) -> None:
    with open_project(repo) as work:
        with pytest.raises(leftoff.UsageError, match="no field 'sumary'") as refused:
            work.save("csv-export", sumary="Export orders")  # type: ignore[call-arg]

        assert "summary, next_action" in refused.value.hint
        assert work.list_checkpoints() == []


def test_a_folder_that_does_not_exist_is_not_a_project(tmp_path: Path) -> None:
    with pytest.raises(leftoff.NotAProject, match="does not exist"):
        leftoff.open_project(tmp_path / "nothing", variables=os.environ)


def test_a_session_that_died_is_recovered(repo: Repo) -> None:
    talk = Talk(repo.folder, "s1")
    folder = Path(
        os.environ["HOME"], ".claude", "projects", re.sub("[^a-zA-Z0-9]", "-", str(repo.folder))
    )
    folder.mkdir(parents=True)
    talk.transcript = folder / "s1.jsonl"
    talk.ask("Export the orders as CSV")
    talk.edit("export.py")
    an_hour_ago = time.time() - 3600
    os.utime(talk.transcript, (an_hour_ago, an_hour_ago))

    with open_project(repo) as work:
        assert [each.session_id for each in work.list_unsaved()] == ["s1"]
        [saved] = work.recover()
        assert work.list_unsaved() == []

    assert saved.checkpoint.intent == "Export the orders as CSV"


def test_the_environment_counts_only_where_it_is_passed(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEFTOFF_HOME", str(tmp_path / "elsewhere"))

    with leftoff.open_project(repo.folder, variables={"HOME": os.environ["HOME"]}) as work:
        assert work.project.store == repo.folder / ".git" / "leftoff"
    with open_project(repo) as work:
        assert work.project.store.is_relative_to(tmp_path / "elsewhere")


def test_nothing_is_printed(repo: Repo) -> None:
    program = """
        import os, sys, leftoff
        with leftoff.open_project(sys.argv[1], variables=os.environ) as work:
            work.save(summary="x")
            work.resume()
            work.recover()
            work.search("x")
    """
    lines = "\n".join(line.removeprefix("        ") for line in program.splitlines())

    done = subprocess.run(
        [sys.executable, "-c", lines, str(repo.folder)],
        env=environment(),
        capture_output=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_examples_of_the_docs_run_in_their_order(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.folder)
    # Without variables the system says where the user's home is.
    user = pwd.struct_passwd(("me", "x", 0, 0, "", os.environ["HOME"], "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: user)
    assert len(BLOCKS) > 4
    names: dict[str, object] = {}

    for block in BLOCKS:
        exec(compile(block, "docs/api.md", "exec"), names)  # noqa: S102 - our own examples


def test_the_docs_show_every_public_name() -> None:
    assert {name for name in leftoff.__all__ if f"`{name}`" not in PAGE} == set()
    methods = {name for name in vars(leftoff.Workspace) if not name.startswith("_")}
    documented = set(re.findall(r"`work\.(\w+)", PAGE))
    assert documented <= methods
    assert {"save", "resume", "list_checkpoints", "recover", "search"} <= documented


def test_a_store_is_closed_if_opening_the_project_fails(repo: Repo) -> None:
    """`conftest.py` fails the test if a database is left open."""
    settings = Path(os.environ["HOME"], ".config", "leftoff", "config.toml")
    settings.parent.mkdir(parents=True)
    settings.write_text('mirror = "sail"\n', encoding="utf-8")
    for name in ("first-work", "second-work"):
        with open_project(repo) as work:
            work.save(name, summary="Export orders", next_action="Write the header")
    first, second = sorted((repo.folder / ".claude" / "checkpoints").glob("*.json"))
    first.write_text(first.read_text(encoding="utf-8").replace("orders", "rows"), encoding="utf-8")
    second.write_text("{", encoding="utf-8")

    def refuse(warning: str) -> None:
        raise RuntimeError(warning)

    work = leftoff.Workspace(open_project(repo).context, warn=refuse)
    with pytest.raises(RuntimeError, match="Could not import"):
        _ = work.store
    work.close()


def test_ending_a_thread_can_be_undone_and_redone(repo: Repo) -> None:
    with open_project(repo) as work:
        for name in ("csv-export", "login"):
            work.save(name, summary=f"Work on {name}", next_action="Go on", done=["Begun"])
        assert work.finish("csv-export").name == "csv-export"
        assert [entry.name for entry in work.drop("login")] == ["login"]
        assert work.list_checkpoints() == []

        undone = work.undo()
        assert undone is not None
        assert undone.action == "dropped"
        assert [entry.name for entry in work.list_checkpoints()] == ["login"]
        redone = work.redo()
        assert redone is not None
        assert redone.id == undone.id
        assert work.list_checkpoints() == []


def test_undo_with_an_act_refuses_if_something_else_happened_since(repo: Repo) -> None:
    with open_project(repo) as work:
        work.save("csv-export", summary="Export orders", next_action="Go on")
        work.drop("csv-export")
        act = work.store.index().find_undoable()
        assert act is not None
        work.save("login", summary="Log in", next_action="Go on")

        with pytest.raises(leftoff.LeftoffError, match="Something else happened since"):
            work.undo(act.act_id)
        assert work.undo() is not None
        assert work.undo(act.act_id) is not None
        assert [entry.name for entry in work.list_checkpoints()] == ["csv-export"]


def test_nothing_to_undo_or_redo_is_none(repo: Repo) -> None:
    with open_project(repo) as work:
        assert work.undo() is None
        assert work.redo() is None


def test_two_revisions_of_a_thread_are_compared(repo: Repo) -> None:
    with open_project(repo) as work:
        work.save("csv-export", summary="Export orders", next_action="Write the header")
        work.save("csv-export", summary="Export orders", next_action="Test it", overwrite=True)
        newest, first = work.list_revisions("csv-export")

        (change,) = work.compare(first.id, newest.id)

    assert change.key == "next_action"
    assert [each["text"] for each in change.removed] == ["Write the header"]
    assert [each["text"] for each in change.added] == ["Test it"]


def test_a_thread_that_a_hook_joins_meanwhile_is_resumed_once(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = ("claude", "session-1")
    with open_project(repo) as earlier:
        earlier.save("csv-export", summary="Export orders", next_action="Run make test")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session[1])

    with open_project(repo) as work, open_project(repo) as hook:
        entry = work.find("csv-export")
        hook.store.record("resumed", [entry.id], session=session, trigger=BY_PROMPT)
        work.accept(entry, once=True)
        events = work.store.index().events_of(entry.id)

    assert [each.action for each in events].count("resumed") == 1
