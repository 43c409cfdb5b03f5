"""The score of a capture measures how much of the truth is in the checkpoint."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "fidelity.py"

TRUTH: dict[str, Any] = {
    "roots": ["/u/r"],
    "basenames": {"login.py": 1},
    "files": ["src/login.py"],
    "maybe": [],
    "intent": "build the login page with a form",
    "todos": [{"text": "Add the form", "status": "pending"}],
    "open": ["Add the form"],
    "failure": {"command": "make test", "error": "error: no form"},
    "next_knowable": ["src/login.py"],
    "next_heads_knowable": ["make test"],
    "plan": None,
    "step": [1, 1],
    "branch": "main",
    "commit": None,
    "in_flight": None,
    "pending_prompts": [],
}


def line(kind: str, content: object) -> str:
    entry = {"parentUuid": None, "type": kind, "cwd": "/u/r", "gitBranch": "main"}
    return json.dumps({**entry, "message": {"role": kind, "content": content}})


def call(name: str, **given: object) -> str:
    return line("assistant", [{"type": "tool_use", "id": name, "name": name, "input": given}])


def result(name: str, content: str, *, is_error: bool = False) -> str:
    block = {"type": "tool_result", "tool_use_id": name, "content": content, "is_error": is_error}
    return line("user", [block])


def make_folder(folder: Path, said: list[str] | None = None) -> Path:
    lines = said or [
        line("user", TRUTH["intent"]),
        call("TodoWrite", todos=[{"content": "Add the form", "status": "pending"}]),
        result("TodoWrite", "ok"),
        call("Edit", file_path="/u/r/src/login.py"),
        result("Edit", "ok"),
        call("Bash", command="make test"),
        result("Bash", "Exit code 2\nerror: no form", is_error=True),
    ]
    cut = len(lines)
    lines = [*lines, line("user", "and what came after the cut")]
    (folder / "truth").mkdir()
    (folder / "session.jsonl").write_text("\n".join(lines), encoding="utf-8")
    case = {
        "session": "session.jsonl",
        "agent": "claude",
        "family": "60",
        "cut": cut,
        "truth": TRUTH,
    }
    (folder / "truth" / "dev.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    return folder


def scores(folder: Path, *options: str) -> dict[str, Any]:
    table = folder / "rows.json"
    command = [sys.executable, str(SCRIPT), str(folder), "--json", str(table), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "1 cases" in done.stdout
    row: dict[str, Any] = json.loads(table.read_bytes())[0]
    return row


def test_a_right_capture_scores_one_with_and_without_a_torn_line(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)

    for options in ([], ["--torn"]):
        row = scores(folder, *options)
        found = {
            key: value
            for key, value in row.items()
            if key not in {"tokens", "case", "agent", "names_failure"}
        }
        assert set(found.values()) == {1.0}


def show(folder: Path, *options: str) -> str:
    command = [sys.executable, str(SCRIPT), str(folder), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("error", "is_named"),
    [
        ("error: no form", True),
        ("(fail) login > refuses an error", True),
        ("(pass) login > refuses an error [4.00ms]\n(fail) login > has a form", True),
        ("FAILED tests/test_a.py::test_errors", True),
        ("1 passed, 1 failed", True),
        ("(pass) login > refuses an error [4.00ms]", False),
        ("tests/test_a.py::test_errors PASSED [ 50%]\ntest errors ... ok", False),
        ("ok 12 errors on nothing", False),
        ("\u2713 fails without a form", False),
        ("<shellId: 51 completed with exit code 128>", False),
        ("Process exited with code 1", False),
    ],
)
def test_truths_that_name_no_failure_are_counted_and_listed(
    tmp_path: Path, error: str, *, is_named: bool
) -> None:
    folder = make_folder(tmp_path)
    path = folder / "truth" / "dev.jsonl"
    case = json.loads(path.read_text(encoding="utf-8"))
    case["truth"]["failure"]["error"] = error
    path.write_text(json.dumps(case) + "\n", encoding="utf-8")

    shown = show(folder)

    # The score of all truths stays in the table.
    assert "  fail_err  " in shown
    assert ("1 of 1 truths name no failure" in shown) is not is_named
    assert ("claude session.jsonl 60 7" in shown) is not is_named


def test_a_capture_by_a_command_that_prints_nothing_scores_nothing(tmp_path: Path) -> None:
    nothing = "echo > {outdir}/briefing.txt; echo '{{}}' > {outdir}/checkpoint.json; : {session}"

    assert scores(make_folder(tmp_path), "--command", nothing)["composite"] == 0.0


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("failure", "Fix what made `npm run other` fail: no."),
        ("call", "Check, then repeat, the call that was cut short: Bash: make."),
        ("todo", "Continue step 1 of 1: Something else."),
        ("prompt", "Answer the prompt that is still waiting: hello"),
        ("proposal", "Take a rest."),
        ("proposal", "Ask the user what comes next. The agent said last: Good night."),
        ("request", "Start with the request: build the login page with a form"),
        ("stated", "Anything"),
        ("", "Anything"),
    ],
)
def test_a_next_action_whose_source_does_not_hold_scores_nothing(
    tmp_path: Path, source: str, text: str
) -> None:
    assert judge(make_folder(tmp_path), source, text) == 0.0


def judge(folder: Path, source: str, text: str) -> float:
    """Return whether the source of this next action holds at the cut."""
    fields = {"next_action": {"text": text, "origin": "inferred", "source": source}}
    (folder / "told.json").write_text(json.dumps(fields), encoding="utf-8")
    command = f"cp {folder}/told.json {{outdir}}/checkpoint.json; echo x > {{outdir}}/briefing.txt"
    found = scores(folder, "--command", command)["next_action_true"]
    assert isinstance(found, float)
    return found


HIDDEN = [call("Bash", command="npm test | tail -3"), result("Bash", "2 tests failed")]
EDIT = [call("Edit", file_path="/u/r/src/login.py"), result("Edit", "ok")]
ASKED = [line("user", "build the login page")]


def says(text: str) -> str:
    return line("assistant", [{"type": "text", "text": text}])


PLAN = says("I'll add the form to the login page next.")
ASIDE = [line("user", "why is it red?"), says("That is the colour of the brand.")]


@pytest.mark.parametrize(
    ("said", "source", "text", "holds"),
    [
        ([*ASKED, *HIDDEN], "failure", "Fix what made `npm test | tail -3` fail: no.", 1.0),
        # A question leaves the failure in force; a request, a commit or a success overtakes it.
        ([*ASKED, *HIDDEN, *ASIDE], "failure", "Fix what made `npm test | tail -3` fail: no.", 1.0),
        (
            [*ASKED, *HIDDEN, line("user", "now the docs")],
            *("failure", "Fix what made `npm test | tail -3` fail: no.", 0.0),
        ),
        (
            [*ASKED, *HIDDEN, call("Bash", command="npm test"), result("Bash", "ok")],
            *("failure", "Fix what made `npm test | tail -3` fail: no.", 0.0),
        ),
        ([*ASKED, PLAN, *ASIDE], "announced", "Add the form to the login page next.", 1.0),
        ([*ASKED, PLAN, *EDIT, *ASIDE], "announced", "Add the form to the login page next.", 0.0),
        ([*ASKED, PLAN], "announced", "Add the form to the login page next.", 0.0),
        ([*ASKED, PLAN, *ASIDE], "announced", "Write all of the docs anew.", 0.0),
        ([*ASKED, *EDIT], "trail", "Continue with the request: build the login page.", 1.0),
        ([*ASKED, *EDIT], "trail", "Write all of the docs anew.", 0.0),
        ([*ASKED, *EDIT, PLAN], "trail", "Continue with the request: build the login page.", 0.0),
    ],
)
def test_a_source_holds_only_while_nothing_has_overtaken_it(
    tmp_path: Path, said: list[str], source: str, text: str, holds: float
) -> None:
    assert judge(make_folder(tmp_path, said), source, text) == holds
