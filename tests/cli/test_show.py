import re
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
 "feature": "feature-001", "tdd_phase": "red", "files_deleted": ["old.py"],
 "artifacts": {"a": "b"}, "pending_prompts": ["p1"], "files": [{"path": "app.py", "role": "main"}]
}"""


def test_everything_is_shown_in_words(cli: Cli) -> None:
    cli.ok("save", "login-form", "--from-json", "-", stdin=WHOLE)
    shown = cli.ok("show", "login-form").out

    for line in (
        "Thread: login-form (open)\n", "\n\nTask: Validate the login form\n",
        "Next action: Run make (inferred from the session)",
        "Left off: One line\n > and another",
        "Decisions:\n- what — why\nFailed approaches:\n- tried — broke",
        "Todos:\n- [x] t1\n- [>] t2",
        "Plan: p.md (step 2 of 3) Plan test\nFeature: feature-001\nTDD phase: red\n",
        "Deleted or renamed:\n- old.py",
        "Interrupted: Bash: make", "Last failure: make\n > E1",
        "Context: 50 %, 100000 of 200000 tokens", "Artifacts: a b",
        "Files:\n- app.py (main)", "Unanswered prompts:\n- p1",
    ):  # fmt: skip
        assert line in shown
    assert "{" not in shown


def test_other_commands_are_shown_in_words(cli: Cli) -> None:
    given = '{"summary": "Some work", "commands": ["make"], "also_ran": ["git add"]}'
    cli.ok("save", "login-form", "--from-json", "-", stdin=given)

    assert "Commands:\n- make\nAlso ran:\n- git add\n" in cli.ok("show", "login-form").out


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


@pytest.mark.parametrize("command", ["show", "resume", "delete", "complete", "clear", "lint"])
@pytest.mark.accept(38)
def test_an_unknown_name_is_reported_with_a_way_out(cli: Cli, command: str) -> None:
    cli.ok("save", "login-form", "--summary=Some work")

    for key in ("nothing-here", "", "../../etc/passwd", "%", "x" * 10_000, "a" * 60_000, "\x00"):
        result = cli(command, "--", key)

        assert result.code == 1, key
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
    assert cli.ok("latest").out.startswith("Thread: second-thing (open)\n")


def test_latest_with_nothing_saved_says_so(cli: Cli) -> None:
    assert cli("latest").code == 1
    result = cli("latest", "--json").json
    assert result["error"] == "No saved checkpoints found."
    assert result["hint"] == "Run `leftoff save` to create one."


def test_show_asks_for_a_name_if_all_threads_have_ended(cli: Cli) -> None:
    cli.ok("save", "first-thing", "--summary=Some work")
    cli.ok("done", "first-thing")

    result = cli("show", "--json").json
    assert result["error"].startswith("Nothing is open; 1 thread is done")
    assert result["hint"] == "Name one, or run `leftoff save` to create one."


def test_status_shows_where_one_is_and_what_is_open(cli: Cli, repo: Repo) -> None:
    assert "nothing; run `leftoff save` to create a checkpoint" in cli.ok("status").out
    repo.write("new.txt")
    cli.ok("save", "login-form", "--from-json", "-", stdin=WHOLE)
    status = cli.ok("status").out

    assert f"project  {repo.folder}\n" in status
    assert "branch   main\n" in status
    assert "changed  1 file\n" in status
    assert "context  50 % at the last save\n" in status
    assert "open     1 thread\n" in status
    assert "login-form" in status
    result = cli.json("status")
    assert (result["branch"], result["changed"], result["count"]) == ("main", 1, 1)
    assert result["context"]["percent"] == 50.0
    assert result["checkpoints"][0]["name"] == "login-form"


def test_the_context_use_is_that_of_the_last_save_also_if_its_thread_has_ended(cli: Cli) -> None:
    cli.ok("save", "login-form", "--from-json", "-", stdin=WHOLE)
    assert "context  50 % at the last save\n" in cli.ok("status").out
    cli.ok("save", "manual", "--summary", "Write the manual")
    cli.ok("done", "manual")

    status = cli.ok("status").out

    assert "saved    just now, manual\n" in status
    assert "at the last save" not in status


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


def test_the_log_shows_revisions_and_events(cli: Cli) -> None:
    assert cli.ok("log").out == "Nothing has happened yet.\n"
    cli.ok("save", "login-form", "--summary=First words")
    cli.ok("save", "login-form", "--summary=Second words", "--overwrite")
    cli.ok("clear", "login-form")
    cli.ok("undo")
    result = cli.json("log", "login-form")

    assert [each["summary"] for each in result["revisions"]] == ["Second words", "First words"]
    assert [each["action"] for each in result["events"]] == ["undone", "cleared", "saved", "saved"]
    lines = cli.ok("log", "login-form").out.splitlines()
    assert lines[1].startswith("* ")
    assert [line[18:].split("  ")[0] for line in lines[4:]] == [
        "undone (cleared)", "cleared", "saved on request", "saved on request"
    ]  # fmt: skip
    assert all(line.endswith("login-form") for line in lines[4:])
    assert len(cli.json("log", "--limit", "2")["events"]) == 2


@pytest.mark.accept(47)
def test_the_log_shows_when_and_why_something_was_saved_automatically(cli: Cli, repo: Repo) -> None:
    talk = Talk(repo.folder)
    talk.work()
    talk.fire("SessionEnd", reason="other")
    cli.ok("save", "login-form", "--summary=First words")

    by_hand, by_itself = cli.ok("log").out.splitlines()

    assert by_itself[16:].startswith("  saved when the session ended, in claude  ")
    assert by_hand[16:].startswith("  saved on request  ")


def test_the_log_calls_work_without_a_name_by_its_task(cli: Cli, repo: Repo) -> None:
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        repo.git("config", key, value)
    repo.write("app.py", "print('csv')\n")
    cli.ok("ship", "--no-push", "-m", "Export orders as CSV")

    lines = cli.ok("log").out.splitlines()

    assert [line.split()[-1] for line in lines if "saved" in line or "done" in line] == [
        "export-orders-csv"
    ] * 2


def test_diff_shows_what_went_and_what_came(cli: Cli) -> None:
    old = cli.json("save", "login-form", "--summary=Some work", "--done=a", "--done=b")
    cli.ok("save", "login-form", "--summary=Some work", "--done=b", "--done=c", "--next=Run make",
           "--decision=x :: y", "--overwrite")  # fmt: skip

    assert cli.ok("diff", old["id"], "login-form").out == (
        "Next action\n  + Run make\nDone\n  - a\n  + c\nDecisions\n  + x — y\n"
    )
    assert cli.json("diff", old["id"], "login-form")[0] == {
        "key": "done", "removed": ["a"], "added": ["c"]
    }  # fmt: skip
    assert cli.ok("diff", "login-form", "login-form").out == "The checkpoints do not differ.\n"
    assert cli.json("diff", "login-form", "login-form") == []


def test_a_diff_names_what_a_person_can_see_the_difference_of(cli: Cli, repo: Repo) -> None:
    repo.write("app.py", "old\n")
    cli.ok("save", "login-form", "--summary=Some work", "--next=Run make", "--file=app.py")
    repo.write("app.py", "new\n")
    repo.commit("Change the app")
    cli.ok("save", "login-form", "--summary=Some work", "--next=Run make", "--file=app.py",
           "--overwrite")  # fmt: skip
    shown = cli.ok("diff", "login-form").out

    assert "Change the app" in shown
    assert not re.search(r"HEAD|project|Files|- app.py\n  \+ app.py", shown), shown


def test_diff_of_one_thread_shows_what_its_last_save_changed(cli: Cli) -> None:
    cli.ok("save", "login-form", "--summary=Some work", "--next=Run make")
    once = cli("diff")
    cli.ok("save", "login-form", "--summary=Some work", "--next=Run pytest", "--overwrite")
    cli.ok("save", "other-form", "--summary=Other work", "--next=Run make")
    named = cli.ok("diff", "login-form").out
    cli.ok("drop", "other-form")

    assert once.code == 1
    assert "login-form was saved only once" in once.err
    assert named.startswith("What changed in login-form since ")
    assert named.endswith(":\nNext action\n  - Run make\n  + Run pytest\n")
    assert cli.ok("diff").out == named


def test_show_lists_the_revisions_and_each_file_once(cli: Cli, repo: Repo) -> None:
    repo.write("app.py")
    first = cli.json("save", "login-form", "--summary=Some work", "--file=app.py")
    second = cli.json("save", "login-form", "--summary=Some work", "--file=app.py", "--overwrite")

    shown = cli.ok("show").out

    history = shown.partition("\nHistory:\n")[2].splitlines()[:2]
    assert [line.endswith(f"({second['id']})") for line in history] == [True, False]
    assert [line.endswith(f"({first['id']})") for line in history] == [False, True]
    assert "the newest" in history[0]
    assert shown.partition("\nFiles:\n")[2].count("- app.py (uncommitted)\n") == 1


def test_an_unknown_key_of_a_checkpoint_is_shown_and_cannot_pose_as_ours(cli: Cli) -> None:
    odd = '{"summary": "Some work", "mood": "good", "task": "Delete it", "a\\nTask": "No"}'
    cli.ok("save", "login-form", "--from-json", "-", stdin=odd)
    shown = cli.ok("show").out

    assert "\nAlso mood: good\n" in shown
    assert shown.count("\nTask:") == 1


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


def test_a_chain_and_a_part_of_it_are_one_command(cli: Cli) -> None:
    given = '{"summary": "Some work", "also_ran": ["make && git log -1", "git log", "ls -la"]}'
    cli.ok("save", "login-form", "--from-json", "-", stdin=given)

    assert "Also ran:\n- make && git log -1\n- ls -la\n" in cli.ok("show", "login-form").out
