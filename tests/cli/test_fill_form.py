"""`leftoff save` with nothing said, on a terminal: a form in the editor, or three questions."""

import json
import os
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from gitrepo import Repo

EDIT = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "app.py"}}
DONE = {"type": "tool_result", "tool_use_id": "t1", "content": "The file was updated."}


@pytest.fixture
def editor(tmp_path: Path) -> Any:
    """Return a function that makes an editor of a few lines of Python; `text` is the form."""

    def make(body: str) -> dict[str, str]:
        script = tmp_path / "my editor.py"
        lines = (
            "import os, pathlib, re, signal, subprocess, sys",
            "path = pathlib.Path(sys.argv[1])",
            "text = path.read_text()",
            body,
            "path.write_text(text)",
        )
        script.write_text("\n".join(lines), encoding="utf-8")
        return {"EDITOR": f"'{sys.executable}' '{script}'"}

    return make


FILL = (
    "text = text.replace('Task:', 'Task: Export orders')"
    ".replace('Next action:', 'Next action: Run pytest')"
)


def forms() -> list[Path]:
    return [*Path(os.environ["HOME"], ".local/state/leftoff").glob("forms/*")]


def test_a_filled_form_is_saved(cli: Cli, repo: Repo, editor: Any) -> None:
    (repo.folder / "a.py").write_text("1", encoding="utf-8")
    body = f"assert '#   git      main, 1 changed file: a.py' in text, text\n{FILL}"
    with cli.terminal("save", env=editor(body)) as terminal:
        shown = terminal.rest()

    assert terminal.code == 0, shown
    assert 'Saved checkpoint "export-orders"' in shown
    saved = cli.json("show", "export-orders")
    assert (saved["summary"], saved["next_action"]["text"]) == ("Export orders", "Run pytest")
    assert set(saved["stated"]) == {"summary", "next_action", "name"}
    assert saved["dirty"] == ["a.py"]
    assert forms() == []


def test_a_name_alone_says_nothing_about_the_work(cli: Cli, editor: Any) -> None:
    cli.ok(
        "save", "orders", "--summary", "Export orders", "--next", "Run pytest", "--done", "Header"
    )
    body = "assert 'Task: Export orders' in text, text\ntext = text.replace('pytest', 'make test')"

    with cli.terminal("save", "orders", env=editor(body)) as terminal:
        assert 'Saved checkpoint "orders"' in terminal.rest()
    with cli.terminal("save", "invoices", env=editor(FILL)) as terminal:
        assert 'Saved checkpoint "invoices"' in terminal.rest()

    saved = cli.json("show", "orders")
    assert (saved["summary"], saved["next_action"]["text"]) == ("Export orders", "Run make test")
    assert saved["done"] == ["Header"]
    assert cli.json("show", "invoices")["next_action"]["text"] == "Run pytest"


def test_under_another_name_only_new_lines_are_saved(cli: Cli, editor: Any) -> None:
    cli.ok(
        *("save", "orders", "--summary=Export orders", "--next=Run pytest"),
        *("--done=Header", "--failed=A :: b", "--decision=C :: d"),
    )
    body = (
        "text = text.replace('Name (optional): orders', 'Name (optional): invoices')"
        ".replace('- Header', '- Header\\n- Footer').replace('Export orders', 'Print invoices')"
    )

    with cli.terminal("save", env=editor(body)) as terminal:
        assert 'Saved checkpoint "invoices"' in terminal.rest()

    saved = cli.json("show", "invoices")
    assert (saved["summary"], saved["done"]) == ("Print invoices", ["Footer"])
    assert not saved.get("failed")
    assert not saved.get("decisions")
    assert cli.json("show", "orders")["done"] == ["Header"]


def test_a_thread_that_is_not_open_cannot_be_edited(cli: Cli, editor: Any) -> None:
    with cli.terminal("save", "--edit", "nosuch", env=editor(FILL)) as terminal:
        assert "No checkpoint named 'nosuch'" in terminal.rest()

    assert terminal.code == 1
    assert cli.json("list") == []


def test_visual_comes_before_editor(cli: Cli, editor: Any) -> None:
    env = {"VISUAL": editor(FILL)["EDITOR"], "EDITOR": "false"}
    with cli.terminal("save", env=env) as terminal:
        assert 'Saved checkpoint "export-orders"' in terminal.rest()


def test_editing_again_shows_what_was_saved_and_keeps_the_rest(cli: Cli, editor: Any) -> None:
    cli.ok("save", "exporter", "--summary=Export orders", "--next=Run pytest", "--decision=A :: b")
    body = "assert 'Task: Export orders' in text\ntext = text.replace('Run pytest', 'Run tox')"
    with cli.terminal("save", "--edit", "exporter", env=editor(body)) as terminal:
        assert 'Saved checkpoint "exporter"' in terminal.rest()

    assert len(cli.json("list")) == 1
    saved = cli.json("show", "exporter")
    assert saved["next_action"]["text"] == "Run tox"
    assert saved["decisions"] == [{"what": "A", "why": "b"}]
    assert len(cli.json("log", "exporter")) >= 2


def test_what_was_removed_from_the_form_is_gone(cli: Cli, editor: Any) -> None:
    cli.ok(
        "save", "exporter", "--summary=Export orders", "--next=Run pytest", "--blocker=No access"
    )
    body = "text = text.replace('- No access', '- ')"
    with cli.terminal("save", "--edit", "exporter", env=editor(body)) as terminal:
        terminal.rest()

    assert "blockers" not in cli.json("show", "exporter")


def test_another_name_starts_another_thread(cli: Cli, editor: Any) -> None:
    cli.ok("save", "exporter", "--summary=Export orders", "--next=Run pytest")
    body = "text = text.replace(': exporter', ': importer')"
    with cli.terminal("save", env=editor(body)) as terminal:
        assert 'Saved checkpoint "importer"' in terminal.rest()

    assert {each["name"] for each in cli.json("list")} == {"exporter", "importer"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("text = ''", "The form is empty, so nothing was saved."),
        ("pass", "The form is empty, so nothing was saved."),
        ("sys.exit(1)", "The editor failed"),
        ("path.unlink(); sys.exit(0)", "The form is gone, so nothing was saved."),
    ],
)
def test_a_form_that_is_not_filled_in_saves_nothing(
    cli: Cli, editor: Any, body: str, said: str
) -> None:
    with cli.terminal("save", env=editor(body)) as terminal:
        shown = terminal.rest()

    assert (terminal.code, cli.json("list"), forms()) == (1, [], [])
    assert said in shown


def test_an_editor_that_does_not_exist_is_named(cli: Cli) -> None:
    with cli.terminal("save", env={"EDITOR": "/no/such/editor"}) as terminal:
        assert "The editor failed (/no/such/editor), so nothing was saved." in terminal.rest()
    assert terminal.code == 1


def test_ctrl_c_in_the_editor_saves_nothing(cli: Cli, editor: Any) -> None:
    body = (
        "os.kill(os.getppid(), signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGINT)"
    )
    with cli.terminal("save", env=editor(body)) as terminal:
        shown = terminal.rest()

    assert (terminal.code, cli.json("list"), forms()) == (130, [], []), shown
    assert "Interrupted" in shown


def test_an_unchanged_form_is_saved_only_if_you_say_so(cli: Cli, editor: Any) -> None:
    cli.ok("save", "exporter", "--summary=Export orders", "--next=Run pytest")
    with cli.terminal("save", env=editor("pass")) as terminal:
        terminal.expect("You changed nothing in the form. Save it as it is? [y/N]")
        terminal.answer("")
        assert "Nothing was saved." in terminal.rest()
    assert terminal.code == 1


def test_a_torn_form_can_be_edited_again_and_is_never_lost(cli: Cli, editor: Any) -> None:
    with cli.terminal("save", env=editor("text = 'Lost words'")) as terminal:
        terminal.expect("Line 1 of the form cannot be read: 'Lost words' belongs to no field.")
        terminal.expect("Edit the form again? [Y/n]")
        terminal.answer("n")
        shown = terminal.rest()

    assert terminal.code == 1
    (kept,) = forms()
    assert str(kept) in shown.replace("\n", "")
    assert kept.read_text(encoding="utf-8") == "Lost words"
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_name_that_is_refused_loses_nothing(cli: Cli, editor: Any) -> None:
    body = (
        "name = 'good-name' if 'Name: task' in text else 'task'\n"
        "text = re.sub('Name.*', 'Name: ' + name, text)\n"
        + FILL.replace("'Task:'", "'Task:\\n'").replace("orders'", "orders\\n'")
    )
    with cli.terminal("save", env=editor(body)) as terminal:
        terminal.expect("Edit the form again? [Y/n]")
        terminal.answer("y")
        assert 'Saved checkpoint "good-name"' in terminal.rest()


def test_a_save_from_another_terminal_is_detected(cli: Cli, editor: Any) -> None:
    cli.ok("save", "exporter", "--summary=Export orders", "--next=Run pytest")
    other = [sys.executable, "-m", "leftoff", "save", "exporter", "--overwrite", "--summary=Theirs"]
    body = f"subprocess.run({other!r}, check=True)\ntext = text.replace('Run pytest', 'Run tox')"
    with cli.terminal("save", "--edit", "exporter", env=editor(body)) as terminal:
        terminal.expect('"exporter" was saved again while you wrote (just now).')
        terminal.answer("n")
        shown = terminal.rest()

    assert terminal.code == 1
    assert cli.json("show", "exporter")["summary"] == "Theirs"
    assert "Your text is still in" in shown


def test_without_an_editor_three_questions_are_asked(cli: Cli) -> None:
    with cli.terminal("save", env={"EDITOR": "", "VISUAL": ""}) as terminal:
        for question, answer in (
            ("What are you working on?", "Export orders"),
            ("Where did it stop?", ""),
            ("What is the next action?", "Run pytest"),
        ):
            terminal.expect(question)
            terminal.answer(answer)
        shown = terminal.rest()
    assert 'Saved checkpoint "export-orders"' in shown
    # Nobody asked for the progress.
    assert "progress" not in shown

    with cli.terminal("save", env={"EDITOR": "", "VISUAL": ""}) as terminal:
        terminal.expect("This continues export-orders.")
        terminal.expect("What are you working on? [Export orders]")
        terminal.answer("")
        terminal.expect("Where did it stop?")
        terminal.answer("In a.py")
        terminal.expect("What is the next action? [Run pytest]")
        terminal.answer("")
        terminal.rest()
    saved = cli.json("show", "export-orders")
    assert (saved["summary"], saved["left_off"]) == ("Export orders", "In a.py")


def test_no_answer_saves_nothing(cli: Cli) -> None:
    with cli.terminal("save", env={"EDITOR": "", "VISUAL": ""}) as terminal:
        for question in ("working on?", "stop?", "next action?"):
            terminal.expect(question)
            terminal.answer("")
        assert "You did not name a task, so nothing was saved." in terminal.rest()
    assert terminal.code == 1


def test_edit_needs_a_terminal(cli: Cli) -> None:
    result = cli("save", "--edit", "exporter")

    assert (result.code, result.err.splitlines()[0]) == (2, "leftoff: --edit needs a terminal.")


def test_a_project_cannot_name_the_editor(cli: Cli, repo: Repo, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    repo.git("config", "core.editor", f"touch {ran}")
    (repo.folder / "leftoff.toml").write_text(f'editor = "touch {ran}"\n', encoding="utf-8")
    with cli.terminal("save", env={"EDITOR": "", "VISUAL": ""}) as terminal:
        terminal.expect("What are you working on?")
        terminal.leave("c")

    assert not ran.exists()


# --- sessions ---


@pytest.fixture
def sessions(repo: Repo) -> None:
    """Leave two sessions of Claude Code behind: work, and then small talk."""
    key = re.sub("[^a-zA-Z0-9]", "-", str(repo.folder))
    folder = Path(os.environ["HOME"], ".claude", "projects", key)
    folder.mkdir(parents=True)
    talks: dict[str, list[tuple[str, object]]] = {
        "s-work": [
            ("user", "Add the password rule to app.py"),
            ("assistant", [EDIT]),
            ("user", [DONE]),
        ],
        "s-talk": [("user", "What is 2+2?"), ("assistant", [{"type": "text", "text": "4"}])],
    }
    for number, (name, talk) in enumerate(talks.items()):
        lines = [
            {"type": kind, "cwd": str(repo.folder), "sessionId": name, "gitBranch": "main",
             "timestamp": f"{datetime.now(UTC) - timedelta(days=2):%Y-%m-%dT%H:%M:%SZ}",
             "message": {"role": kind, "content": content}}
            for kind, content in talk
        ]  # fmt: skip
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        at = path.stat().st_mtime - 1000 + number
        os.utime(path, (at, at))


@pytest.mark.usefixtures("sessions")
@pytest.mark.parametrize("source", ["latest", "claude"])
def test_the_newest_session_with_work_is_saved(cli: Cli, source: str) -> None:
    cli.ok("save", "rule", "--from", source, "--next", "Run pytest")

    assert cli.json("show", "rule")["session_id"] == "s-work"


def test_an_agent_without_sessions_is_named(cli: Cli) -> None:
    result = cli("save", "--from", "codex")

    assert result.code == 1
    assert "No session of codex with work was found in this project." in result.err


@pytest.mark.usefixtures("sessions")
def test_a_form_is_filled_from_the_newest_session(cli: Cli, editor: Any) -> None:
    body = (
        "assert 'Task: Add the password rule to app.py' in text, text\n"
        "assert '#   session  claude, ' in text, text\n"
        "text = text.replace('Blockers:\\n- ', 'Blockers:\\n- No access to app.py')"
    )
    with cli.terminal("save", env=editor(body)) as terminal:
        shown = terminal.rest()

    assert terminal.code == 0, shown
    saved = cli.json("show")
    assert (saved["session_id"], saved["blockers"]) == ("s-work", ["No access to app.py"])


@pytest.mark.usefixtures("sessions")
def test_what_a_person_answers_is_about_now_and_names_the_thread(cli: Cli) -> None:
    with cli.terminal("save") as terminal:
        for question, answer in (
            ("What are you working on?", "Translate the invoices"),
            ("Where did it stop?", "Half way"),
            ("What is the next action?", "Run make check"),
        ):
            terminal.expect(question)
            terminal.answer(answer)
        assert 'Saved checkpoint "translate-invoices"' in terminal.rest()

    saved = cli.json("show")
    assert saved["session_id"] == "s-work"
    assert saved.get("as_of") is None
    assert "just now" in cli.ok("list").out
