from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from talk import Talk

WHOLE = """{
 "summary": "Validate the login form", "intent": "Go on", "left_off": "One line\\nand another",
 "done": ["d1"], "next_action": {"text": "Run make", "origin": "inferred"}, "blockers": ["b1"],
 "questions": ["q1"], "decisions": ["what :: why"], "failed": ["tried :: broke"], "notes": ["n1"],
 "todos": [{"text": "t1", "status": "completed"}, {"text": "t2", "status": "in_progress"}],
 "plan": {"path": "p.md", "title": "Plan", "step": 2, "total": 3, "stage": "test"},
 "in_flight": {"tool": "Bash", "what": "make"}, "last_failure": {"command": "make", "error": "E1"},
 "context": {"tokens": 100000, "window": 200000, "percent": 50.0},
 "artifacts": {"a": "b"}, "pending_prompts": ["p1"], "files": [{"path": "app.py", "role": "main"}]
}"""


def test_everything_is_shown_in_words(cli: Cli) -> None:
    cli.ok("save", "login-form", "--from-json", "-", stdin=WHOLE)
    shown = cli.ok("show", "login-form").out

    for line in (
        "login-form (open)", "task          Validate the login form",
        "next action   Run make (inferred from the session)",
        "left off      One line\n > and another",
        "decisions     - what — why", "failed        - tried — broke",
        "todos         - [x] t1\n              - [>] t2",
        "plan          p.md (step 2 of 3) Plan test",
        "interrupted   Bash: make", "last failure  make\n > E1",
        "context       50 %, 100000 of 200000 tokens", "artifacts     a b",
        "files         - app.py (main)", "unanswered    - p1",
    ):  # fmt: skip
        assert line in shown
    assert "{" not in shown


def test_json_holds_the_checkpoint_its_state_and_its_path(cli: Cli) -> None:
    saved = cli.json("save", "login-form", "--summary=Some work")
    shown = cli.json("show", "login-form")

    assert shown["state"] == "open"
    assert shown["path"] == saved["path"]
    assert shown["summary"] == "Some work"


def test_a_checkpoint_is_found_by_name_by_id_and_by_part_of_its_id(cli: Cli) -> None:
    saved = cli.json("save", "login-form", "--summary=Some work")

    for key in ("login-form", "Login Form", saved["id"], saved["id"][-8:]):
        assert cli.json("show", key)["id"] == saved["id"]


@pytest.mark.parametrize("key", ["nothing-here", "", "../../etc/passwd", "%", "x" * 10_000, "\x00"])
@pytest.mark.parametrize("command", ["show", "resume", "delete", "complete", "clear", "lint"])
@pytest.mark.accept(38)
def test_an_unknown_name_is_told_with_a_way_out(cli: Cli, command: str, key: str) -> None:
    cli.ok("save", "login-form", "--summary=Some work")
    result = cli(command, "--", key)

    assert result.code == 1
    assert "No checkpoint named" in result.err
    assert "Run `leftoff list`" in result.err


def test_a_near_miss_is_suggested(cli: Cli) -> None:
    cli.ok("save", "login-form", "--summary=Some work")

    assert "Did you mean login-form?" in cli("show", "login-from").err


def test_raw_prints_the_file_as_it_is(cli: Cli) -> None:
    saved = cli.json("save", "login-form", "--summary=Some work")

    assert cli.ok("show", "--raw", "login-form").out == Path(saved["path"]).read_text()


def test_latest_shows_the_newest(cli: Cli) -> None:
    cli.ok("save", "first-thing", "--summary=Some work")
    cli.ok("save", "second-thing", "--summary=Some work")

    assert cli.json("latest")["name"] == "second-thing"
    assert cli.ok("latest").out.startswith("second-thing (open)")


def test_latest_with_nothing_saved_says_so(cli: Cli) -> None:
    assert cli("latest").code == 1
    assert cli("latest", "--json").json["error"] == "No saved checkpoints found."


def test_status_tells_where_one_is_and_what_is_open(cli: Cli, repo: Repo) -> None:
    assert "nothing; run `leftoff save` to create a checkpoint" in cli.ok("status").out
    repo.write("new.txt")
    cli.ok("save", "login-form", "--from-json", "-", stdin=WHOLE)
    status = cli.ok("status").out

    assert f"project  {repo.folder}\n" in status
    assert "branch   main\n" in status
    assert "changed  1 file\n" in status
    assert "context  50 % at the last save\n" in status
    assert "open     1\n" in status
    assert "login-form" in status
    told = cli.json("status")
    assert (told["branch"], told["changed"], told["count"]) == ("main", 1, 1)
    assert told["context"]["percent"] == 50.0
    assert told["checkpoints"][0]["name"] == "login-form"


def test_status_outside_git_and_on_a_detached_head(
    cli: Cli, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.git("checkout", "-q", "--detach")
    assert f"branch   detached at {repo.head()[:8]}" in cli.ok("status").out
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")

    assert "branch" not in cli.ok("status").out


def test_status_in_a_linked_worktree_names_both_folders(
    cli: Cli, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = repo.worktree(tmp_path / "other", "side")
    monkeypatch.chdir(other.folder)

    assert cli.json("status")["worktree"] == str(other.folder)
    assert cli.json("status")["project"] == str(repo.folder)


def test_the_log_tells_revisions_and_events(cli: Cli) -> None:
    assert cli.ok("log").out == "Nothing has happened yet.\n"
    cli.ok("save", "login-form", "--summary=First words")
    cli.ok("save", "login-form", "--summary=Second words", "--overwrite")
    cli.ok("clear", "login-form")
    cli.ok("undo")
    told = cli.json("log", "login-form")

    assert [each["summary"] for each in told["revisions"]] == ["Second words", "First words"]
    assert [each["action"] for each in told["events"]] == ["undone", "cleared", "saved", "saved"]
    lines = cli.ok("log", "login-form").out.splitlines()
    assert lines[1].startswith("* ")
    assert [line[18:].split("  ")[0] for line in lines[4:]] == [
        "undone (cleared)", "cleared", "saved", "saved"
    ]  # fmt: skip
    assert all(line.endswith("login-form") for line in lines[4:])
    assert len(cli.json("log", "--limit", "2")["events"]) == 2


@pytest.mark.accept(47)
def test_the_log_tells_when_and_why_something_was_saved_by_itself(cli: Cli, repo: Repo) -> None:
    talk = Talk(repo.folder)
    talk.work()
    talk.fire("SessionEnd", reason="other")
    cli.ok("save", "login-form", "--summary=First words")

    by_hand, by_itself = cli.ok("log").out.splitlines()

    assert by_itself[16:].startswith("  saved (session-end)  ")
    assert by_hand[16:].startswith("  saved  ")


def test_diff_tells_what_went_and_what_came(cli: Cli) -> None:
    old = cli.json("save", "login-form", "--summary=Some work", "--done=a", "--done=b")
    cli.ok("save", "login-form", "--summary=Some work", "--done=b", "--done=c", "--next=Run make",
           "--decision=x :: y", "--overwrite")  # fmt: skip

    assert cli.ok("diff", old["id"], "login-form").out == (
        "done\n  - a\n  + c\nnext action\n  + Run make\ndecisions\n  + x — y\n"
    )
    assert cli.json("diff", old["id"], "login-form")[0] == {
        "key": "done", "removed": ["a"], "added": ["c"]
    }  # fmt: skip
    assert cli.ok("diff", "login-form", "login-form").out == "The checkpoints do not differ.\n"
    assert cli.json("diff", "login-form", "login-form") == []


@pytest.mark.accept(30)
def test_lint_names_every_broken_rule_and_exits_4(cli: Cli) -> None:
    weak = ("--summary=wip", "--progress=worked on the task", "--next=continue", "--blocker=stuck",
            "--decision=sqlite", "--file=missing.py",
            "--note=User: a\nAssistant: b\nUser: c\nAssistant: d")  # fmt: skip
    cli.ok("save", "login-form", *weak)
    result = cli("lint", "login-form")

    assert result.code == 4
    assert (
        "below the quality bar: task, progress, next-action, blockers, decisions, paths, raw-chat"
        in result.err
    )
    assert len(cli("lint", "--json").json["findings"]) == 7


def test_lint_passes_a_good_checkpoint_the_newest_if_none_is_named(cli: Cli) -> None:
    cli.ok("save", "weak-one", "--summary=wip")
    cli.ok("save", "good-one", "--summary=Validate the form", "--done=Wrote app.py",
           "--next=Run pytest tests/test_app.py")  # fmt: skip

    assert cli.ok("lint").out == "good-one passes the quality bar.\n"
    assert cli.json("lint") == {"name": "good-one", "findings": []}
    assert cli("lint", "weak-one").code == 4


def test_lint_with_nothing_saved_says_so(cli: Cli) -> None:
    assert cli("lint").code == 1
    assert "No saved checkpoints found." in cli("lint").err
