import contextlib
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli.runs import Cli, save_at
from gitrepo import Repo
from leftoff.context import find_project, read_environment, state_folder
from leftoff.knowledge import memory
from leftoff.projects.store_places import find_plain_store
from leftoff.session import records
from leftoff.store import Store
from talk import Talk


@pytest.mark.accept(33)
def test_with_nothing_saved_it_says_so(cli: Cli) -> None:
    assert cli.ok("list").out == "No checkpoints found.\n"
    assert cli.json("list") == []
    assert cli.json("list", "--all") == []


@pytest.mark.accept(32)
def test_the_table_has_name_date_age_and_task_newest_first(cli: Cli, repo: Repo) -> None:
    ages = {
        "just-saved": timedelta(0),
        "five-minutes": timedelta(minutes=5),
        "three-hours": timedelta(hours=3),
        None: timedelta(days=2),
    }
    save_at(repo.folder, ages)
    header, *rows = cli.ok("list").out.splitlines()

    assert header.split() == (
        "name active age branch agent trigger state summary next action".split()
    )
    starts = [header.index(word) for word in header.replace("next action", "next").split()]
    cells = [
        [row[a:b].strip() for a, b in zip(starts, [*starts[1:], 999], strict=True)] for row in rows
    ]
    assert [row[2] for row in cells] == ["just now", "5m ago", "3h ago", "2d ago"]
    assert [row[0].split()[0] for row in cells] == [
        "just-saved", "five-minutes", "three-hours", "work-none"
    ]  # fmt: skip
    assert cells[1][3:] == [
        "main", "claude", "saved on request", "open", "Work on five-minutes",
        "Run pytest tests/five-minutes",
    ]  # fmt: skip


def test_json_describes_each_checkpoint(cli: Cli, repo: Repo) -> None:
    save_at(repo.folder, {"three-hours": timedelta(hours=3)})
    (listed,) = cli.json("list")

    assert {*listed} == {
        "id", "thread", "name", "saved_at", "as_of", "age_seconds", "branch", "agent",
        "session_id", "worktree",
        "summary", "next_action", "trigger", "state",
    }  # fmt: skip
    assert 10_800 <= listed["age_seconds"] < 10_900
    assert listed["saved_at"].endswith("+00:00")


def test_a_clock_that_was_ahead_makes_no_negative_age(cli: Cli, repo: Repo) -> None:
    save_at(repo.folder, {"from-the-future": timedelta(days=-400)})
    cli.ok("save", "saved-now", "--summary=The clock was set back")

    assert cli.json("list")[0]["age_seconds"] == 0
    assert {line.split()[3] for line in cli.ok("list").out.splitlines()[1:]} == {"just"}
    assert cli.json("resume", "from-the-future")["checks"]["age_seconds"] == 0


def test_what_was_cleared_is_listed_on_demand(cli: Cli) -> None:
    for name in ("first-thing", "second-thing"):
        cli.ok("save", name, "--summary=Some work")
    cli.ok("clear", "first-thing")

    assert [each["name"] for each in cli.json("list")] == ["second-thing"]
    every = {each["name"]: each["state"] for each in cli.json("list", "--all")}
    assert every == {"first-thing": "cleared", "second-thing": "open"}


def test_a_limit_shows_how_many_more_there_are(cli: Cli, repo: Repo) -> None:
    save_at(repo.folder, {f"thing-{n}": timedelta(minutes=n) for n in range(5)})

    assert "… and 3 more: leftoff list --limit 5" in cli.ok("list", "--limit", "2").out
    assert len(cli.json("list", "--limit", "2")) == 2
    assert "more" not in cli.ok("list", "--limit", "5").out
    assert cli("list", "--limit", "0").code == 2


def test_a_file_that_cannot_be_read_is_named_and_stops_nothing(cli: Cli, stored: Path) -> None:
    cli.ok("save", "good-one", "--summary=Some work")
    bad = cli.json("save", "bad-one", "--summary=Other work")
    Path(bad["path"]).write_text("{ torn")
    result = cli.ok("list")

    assert f"unreadable: {bad['path']}" in result.err
    assert f"leftoff show --raw {bad['id']}" in result.err
    assert "good-one" in result.out
    assert {each["state"] for each in cli.json("list")} == {"open", "unreadable"}
    assert cli.ok("show", "--raw", bad["id"]).out == "{ torn"
    assert cli.json("show", "--raw", bad["id"])["raw"] == "{ torn"
    assert cli("show", bad["id"]).code == 1
    assert cli.json("latest")["name"] == "good-one"
    assert cli.json("resume")["checkpoint"]["name"] == "good-one"
    for command in (["status"], ["log"], ["search", "work"], ["lint"], ["trash"], ["config"]):
        assert cli(*command).code in {0, 4}, command
    cli.ok("clear", "--all")
    cli.ok("undo")
    assert Path(bad["path"]).read_text() == "{ torn"
    assert stored.is_dir()


def test_columns_stay_aligned_whatever_the_script(cli: Cli) -> None:
    cli.ok("save", "検索機能", "--summary=日本語の要約 with 🎉")
    cli.ok("save", "plain-name", "--summary=Plain")
    header, *rows = cli.ok("list").out.splitlines()
    at = header.index("active")

    assert rows[0][at:].startswith("20")
    # Four wide characters take eight places on the screen.
    assert rows[1][at - 4 :].startswith("20")


def test_texts_cannot_steer_the_terminal(cli: Cli) -> None:
    cli.ok("save", "login-form", "--summary=\x1b[31mred\x1b]0;title\x07 \u202eback \x9b2J")
    cli.ok("clear", "login-form")
    cli.ok("undo")

    for command in ("list", "show login-form", "status", "log", "search red", "resume login-form"):
        out = cli.ok(*command.split()).out
        assert not {*"\x1b\x07\x9b\u202e"} & {*out}, command


@pytest.mark.parametrize("command", ["list", "status", "resume"])
def test_checkpoints_of_a_folder_below_are_named_with_the_command_that_moves_them(
    cli: Cli, repo: Repo, tmp_path: Path, command: str
) -> None:
    (repo.folder / ".git" / "leftoff").mkdir(mode=0o700)
    (repo.folder / ".git").rename(tmp_path / "away")
    (repo.folder / "sub" / "src").mkdir(parents=True)
    save_at(repo.folder / "sub", {"login-form": timedelta()})
    (tmp_path / "away").rename(repo.folder / ".git")
    place = find_plain_store(read_environment(), repo.folder / "sub")

    output = cli.ok(command).err
    assert f"leftoff import --from-store {place}" in output
    cli.ok("import", "--from-store", str(place))

    assert "login-form" in cli.ok("list").out
    assert "--from-store" not in cli.ok(command).err


def test_status_does_not_claim_a_count_that_it_did_not_finish(cli: Cli, repo: Repo) -> None:
    for number in range(2001):
        repo.write(f"out/{number}.txt", "")

    assert "changed  more than 2,000 files\n" in cli.ok("status").out
    assert "more than 2,000 files changed" in cli.ok("status", "--next").out
    result = cli.json("status")
    assert (result["changed"], result["changed_is_more"]) == (2000, True)
    repo.git("clean", "-fdqx")
    assert cli.json("status")["changed_is_more"] is False


def test_work_of_a_running_session_is_as_old_as_its_last_event_in_every_list(
    cli: Cli, repo: Repo
) -> None:
    save_at(repo.folder, {"resumed": timedelta(days=2), "newer": timedelta(hours=3)})
    with contextlib.closing(Store(find_project(repo.folder))) as store:
        store.record("resumed", [store.find("resumed").id], session=("claude", "now"))
        life = records.Life(
            agent="claude",
            session_id="now",
            store=str(store.project.store),
            pid=os.getpid(),
            seen_at=time.time(),
        )
    records.keep_life(state_folder(), life)

    for command in ("list", "status"):
        rows = [
            line for line in cli.ok(command).out.splitlines() if line.startswith(("res", "new"))
        ]
        assert [row.split()[0] for row in rows] == ["resumed", "newer"]
        assert "just now" in rows[0]
        assert "3h ago" in rows[1]
    everywhere = cli.json("list", "--everywhere")
    assert [each["name"] for each in everywhere] == ["resumed", "newer"]
    assert everywhere[0]["age_seconds"] < 60
    # The picker lists what these offer.
    for command in ("done", "resume"):
        choices = cli(command, "--json").json["choices"]
        assert [each["choice"] for each in choices] == ["resumed", "newer"]
        assert datetime.now(UTC) - datetime.fromisoformat(choices[0]["saved_at"]) < timedelta(1)


def test_the_work_of_a_running_session_is_named(
    cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Talk(repo.folder, "now")
    key = "".join(each if each.isalnum() else "-" for each in str(repo.folder))
    folder = read_environment().find_agent_folder("claude") / "projects" / key
    folder.mkdir(parents=True)
    talk.transcript = folder / "now.jsonl"
    talk.ask("what is 2+2?")
    store = str(find_project(repo.folder).store)
    life = records.Life(
        agent="claude", session_id="now", store=store, pid=os.getpid(), seen_at=time.time()
    )
    records.keep_life(state_folder(), life)
    named = "1 session is working here, not saved yet:\n- claude, just now: Build the dashboard"
    assert not any("working here" in cli.ok(each).out for each in ("list", "status"))

    talk.ask("Build the dashboard")
    talk.edit("dash.py")
    for command in ("list", "status", "resume"):
        assert named in cli.ok(command).out

    cli.ok("save", "--from", "now")
    for command in ("list", "status"):
        assert "working here" not in cli.ok(command).out
    for command in ("status", "resume"):
        assert "claude is working on build-dashboard (active just now).\n" in cli.ok(command).out
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "now")
    monkeypatch.setenv("CLAUDECODE", "1")
    for command in ("status", "resume"):
        assert "is working on" not in cli.ok(command).out


@pytest.mark.parametrize("command", [("list",), ("status",)])
def test_where_nothing_was_announced_the_last_words_have_the_room(
    cli: Cli, command: tuple[str, ...]
) -> None:
    said = "Ask the user what comes next. The agent said last: The coupons work in the cart."
    cli.ok("save", "coupons", "--summary", "Add coupons", "--next", said)

    out = cli.ok(*command).out

    assert "The agent said last: The coupons work in the cart." in out
    assert "Ask the user" not in out


def test_a_checkpoint_that_cannot_be_read_is_not_open_work(cli: Cli, repo: Repo) -> None:
    kept = cli.json("save", "kept", "--summary=Export orders")
    broken = cli.json("save", "broken", "--summary=Import orders")
    path = next(find_project(repo.folder).store.rglob(f"{broken['id']}.json"))
    path.write_bytes(b"{")

    shown = cli.ok("status").out

    assert "open     1 thread\n" in shown
    assert "damaged  1 checkpoint; run `leftoff list`\n" in shown
    assert broken["id"] not in shown
    found = cli.json("status")
    assert found["count"] == 1
    assert [each["id"] for each in found["checkpoints"]] == [kept["id"]]
    assert "unreadable" in cli.ok("list").out


def test_the_rules_that_wait_for_review_are_counted(cli: Cli, repo: Repo) -> None:
    store = Store(find_project(repo.folder))
    with contextlib.closing(store):
        draft = memory.EntryDraft(kind="rule", text="Always use pytest", confidence="medium")
        memory.add(store, [draft], status="queued")

    line = "memory   1 rule waits for review; run `leftoff reflect --review`\n"
    assert cli.ok("status").out.count(line) == 1
    with contextlib.closing(Store(find_project(repo.folder))) as store:
        (entry,) = memory.entries(store, statuses=("queued",))
        memory.change(store, entry.id, status="active")
    assert "review" not in cli.ok("status").out
