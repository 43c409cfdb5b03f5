"""quoin's hooks: advice, compaction, and the banner of a new session."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from gitrepo import Repo
from hooks.letterboxes import DISTINCT, install_python, replied
from leftoff import context
from leftoff.hooks import replies, settle, start, trouble
from profiles.quoinspace import OTHER, SESSION, Workspace, followed, sections
from talk import Talk


@pytest.fixture
def work(cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Follow quoin, as an agent's session whose hooks are installed."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    install_python()
    return followed(cli, repo)


@pytest.fixture
def talk(work: Workspace, repo: Repo) -> Talk:
    """Begin a conversation, and report it to the hooks."""
    del work
    talk = Talk(repo.folder, SESSION)
    started(talk)
    talk.ask("Add a login form to app.py")
    talk.edit("app.py")
    talk.say("Half of it is done.")
    talk.fire("Stop")
    return talk


def started(talk: Talk, source: str = "startup") -> dict[str, Any]:
    """Start a session and return the whole reply, which must be one JSON document."""
    data = json.dumps(talk.payload("SessionStart", source=source)).encode()
    reply = start.answer("claude", data, context.state_folder())
    found: dict[str, Any] = json.loads(reply) if reply else {}
    return found


def compacting(talk: Talk, trigger: str = "auto", *, box: str = "sh", **env: str) -> dict[str, Any]:
    """Begin a compaction: run the real letterbox and return what it prints."""
    payload = talk.payload("PreCompact", trigger=trigger)
    return replied(talk, "PreCompact", payload, box=box, **env) or {}


def settled() -> None:
    assert settle.run(context.state_folder(), wait_seconds=120)


@pytest.mark.promise("quoin", 30, 32)
def test_only_a_save_on_purpose_adds_a_row(cli: Cli, work: Workspace, talk: Talk) -> None:
    work.state("2026-11-15-login-form.md")
    talk.fire("PreCompact", trigger="auto")
    talk.edit("app.py")
    talk.fire("SessionEnd", reason="other")
    assert len(work.checkpoints()) > 0
    assert [*work.root.glob("*/cost-ledger.md")] == []
    cli.ok("save")

    (ledger,) = work.root.glob("*/cost-ledger.md")
    rows = ledger.read_text(encoding="utf-8").splitlines()[2:]
    assert [row.split(" | ")[5] for row in rows] == ["save"]


@pytest.mark.promise("quoin", 68)
def test_go_on_consumes_nothing_until_a_restore(
    cli: Cli, work: Workspace, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("save", "login-form", "--summary", "Add a form")
    later = Talk(repo.folder, OTHER)
    started(later)
    later.ask("go on")
    later.fire("UserPromptSubmit", prompt="go on")
    assert work.marks() == [SESSION]
    ledger = work.root / "login-form" / "cost-ledger.md"
    assert ledger.read_text(encoding="utf-8").count("restore") == 0

    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", OTHER)
    assert "Resuming task: login-form." in cli.ok("restore").out
    assert work.marks() == []
    assert ledger.read_text(encoding="utf-8").count(f"{OTHER} |") == 1


@pytest.mark.promise("quoin", 69)
def test_unfinished_work_is_not_shown_as_last_words(cli: Cli, work: Workspace, talk: Talk) -> None:
    work.state("2026-11-15-login-form.md")
    talk.fire("PreCompact", trigger="auto")
    out = cli.ok("restore").out

    assert "Left off:\n > - T-04 wire processRefund()\n" in out
    assert "The agent's last words:" not in out


# Advice


@pytest.mark.promise("quoin", 4)
@pytest.mark.accept(108)
@pytest.mark.parametrize(
    ("percent", "expected"), [(84.99, ""), (85.0, "context at 85.00% — consider")]
)
def test_advice_comes_at_the_threshold_to_the_basis_point(
    cli: Cli, talk: Talk, percent: float, expected: str
) -> None:
    cli.ok("config", "set", "advise_at", "85", "--project")
    cli.ok("config", "set", "urge_at", "90", "--project")
    talk.say("More.", percent=percent)
    talk.fire("Stop")

    reply = talk.waiting_reply()
    assert (expected in reply) if expected else not reply


def test_the_use_of_the_context_is_counted_in_tokens_not_in_bytes(talk: Talk) -> None:
    """D17: a transcript goes on growing after a compaction, the context does not."""
    talk.run("cat big.log", "x" * 2_000_000)
    talk.say("Read it.", percent=12)
    talk.fire("Stop")

    assert talk.waiting_reply() == ""


# Compaction


@pytest.mark.accept(113)
@pytest.mark.parametrize("box", DISTINCT)
def test_the_state_is_on_disk_before_a_compaction_is_answered(
    work: Workspace, talk: Talk, box: str
) -> None:
    reply = compacting(talk, box=box)

    (path,) = work.checkpoints()
    assert path.name.endswith("-precompact.md")
    parts = sections(path)
    assert parts["Status"] == "checkpoint save (precompact)"
    assert parts["Session ID"] == SESSION
    mark = work.memory / f"pending-restore-{SESSION}.txt"
    assert mark.read_text(encoding="utf-8") == f"{path}\n"
    assert reply == {}
    settled()


@pytest.mark.accept(113)
@pytest.mark.parametrize("box", DISTINCT)
def test_a_session_known_by_nothing_but_its_json_is_saved_before_the_answer(
    cli: Cli, work: Workspace, repo: Repo, box: str
) -> None:
    cli.ok("init", "--profile", "quoin", "--yes")
    talk = Talk(repo.folder, OTHER)
    talk.work(percent=80)
    compacting(talk, box=box, CLAUDE_CODE_SESSION_ID="")

    assert work.marks() == [OTHER]
    assert [path.name.rpartition("-")[2] for path in work.checkpoints()] == ["precompact.md"]
    settled()


@pytest.mark.accept(113)
def test_what_was_saved_automatically_just_before_waits_from_the_compaction_on(
    work: Workspace, talk: Talk
) -> None:
    talk.work(percent=80)
    talk.fire("Stop")
    assert [path.name.rpartition("-")[2] for path in work.checkpoints()] == ["auto.md"]
    assert work.marks() == []
    compacting(talk)
    settled()

    path = next(path for path in work.checkpoints() if path.name.endswith("-precompact.md"))
    assert work.marks() == [SESSION]
    before = [each.name for each in work.checkpoints()]
    compacting(talk)
    settled()
    talk.fire("Stop")
    assert [each.name for each in work.checkpoints()] == before
    assert sections(path)["Status"] == "checkpoint save (precompact)"


@pytest.mark.accept(113)
def test_a_compaction_is_blocked_only_where_the_user_wants_that(
    cli: Cli, work: Workspace, talk: Talk
) -> None:
    """D15: the author of blocking gave it up, so compaction waits and passes by default."""
    cli.ok("config", "set", "compaction", "block", "--project")
    reply = compacting(talk)

    assert reply["decision"] == "block"
    assert len(work.checkpoints()) == 1
    settled()


@pytest.mark.accept(113)
@pytest.mark.parametrize("way", ["manual", "file", "environment"])
def test_a_compaction_that_is_allowed_passes_in_silence(
    cli: Cli, work: Workspace, talk: Talk, way: str
) -> None:
    cli.ok("config", "set", "compaction", "block", "--project")
    if way == "file":
        (talk.folder / ".allow-compact").touch()
    env = {"LEFTOFF_ALLOW_COMPACT": "1"} if way == "environment" else {}

    assert compacting(talk, "manual" if way == "manual" else "auto", **env) == {}
    settled()
    assert len(work.checkpoints()) == 1


@pytest.mark.promise("quoin", 67)
@pytest.mark.accept(113)
def test_a_compaction_is_not_blocked_while_somebody_is_at_work(
    cli: Cli, work: Workspace, talk: Talk
) -> None:
    """D16: a mark counts only while its process lives."""
    cli.ok("config", "set", "compaction", "block", "--project")
    folder = work.memory / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    lock = folder / f"implement-{os.getpid()}.pidfile.lock"
    lock.write_text(f"skill=implement\npid={os.getpid()}\n", encoding="utf-8")
    assert compacting(talk) == {}

    lock.write_text("skill=implement\npid=999999\n", encoding="utf-8")
    assert compacting(talk)["decision"] == "block"
    assert not lock.exists()
    settled()


@pytest.mark.accept(114)
def test_a_save_on_purpose_is_not_pushed_aside_by_a_compaction(
    cli: Cli, work: Workspace, talk: Talk
) -> None:
    cli.ok("save", "login-form", "--summary", "Add a login form")
    mark = work.memory / f"pending-restore-{SESSION}.txt"
    before = (mark.read_bytes(), [path.name for path in work.checkpoints()])
    talk.edit("other.py")
    talk.say("And more.")
    compacting(talk)
    settled()

    assert (mark.read_bytes(), [path.name for path in work.checkpoints()]) == before


def test_without_the_wish_to_wait_a_compaction_asks_no_python(
    cli: Cli, work: Workspace, talk: Talk
) -> None:
    del work
    cli.ok("config", "set", "compaction", "allow", "--project")
    compacting(talk)
    settled()
    place = replies.place_of(context.state_folder(), talk.folder)

    assert [*place.glob("*PreCompact*.ask")] == []


@pytest.mark.accept(86)
def test_files_that_cannot_be_written_do_not_fail_a_hook(work: Workspace, talk: Talk) -> None:
    work.root.write_text("a file where the folder should be", encoding="utf-8")

    assert compacting(talk) == {}
    settled()
    assert any("quoin" in each for each in trouble.list_of_files(context.find_project(talk.folder)))


# Session start


@pytest.mark.promise("quoin", 29)
@pytest.mark.accept(115)
@pytest.mark.parametrize("source", ["startup", "resume"])
@pytest.mark.parametrize("session", [SESSION, OTHER])
def test_one_banner_shows_what_waits_and_for_whom(
    cli: Cli, work: Workspace, repo: Repo, session: str, source: str
) -> None:
    fields = json.dumps({"summary": "Add a login form", "session_id": session})
    cli.ok("save", "login-form", "--from-json", "-", stdin=fields)
    reply = started(Talk(repo.folder, SESSION), source)

    (path,) = work.checkpoints()
    text = reply["hookSpecificOutput"]["additionalContext"]
    whose = "session-id match: current-session" if session == SESSION else "mismatch-warning: "
    line = "Pending restore detected. `leftoff resume --pending` is recommended"
    assert text.startswith(f"{line} (checkpoint: {path} — {whose}")
    assert text.count("Pending restore detected") == 1
    assert "Pending restore detected" in reply["systemMessage"]


@pytest.mark.accept(116)
def test_the_answer_is_one_json_document_whatever_the_paths_hold(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D10, D11: two documents, or a quote in a path, must not break the answer."""
    repo = Repo(tmp_path / 'a "quoted" \\ folder')
    repo.commit("Begin", {"app.py": "1\n"})
    monkeypatch.chdir(repo.folder)
    cli.ok("config", "set", "profile", "quoin", "--project")
    cli.ok("config", "set", "mirror", "quoin", "--project")
    work = Workspace(repo.folder)
    work.state("2026-11-15-payment-retry.md", OTHER)
    cli.ok("save")
    old = work.native("old-task", "stale-session", days=20)
    mark = work.mark("stale-session", old)
    os.utime(mark, (time.time() - 20 * 86400, time.time() - 20 * 86400))
    data = json.dumps(Talk(repo.folder, SESSION).payload("SessionStart", source="startup"))
    reply = start.answer("claude", data.encode(), context.state_folder())

    assert reply.count("\n") == 0
    assert 'a "quoted" \\ folder' in json.loads(reply)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.accept(117)
def test_marks_that_nobody_came_for_go_to_the_trash_but_for_our_own(
    cli: Cli, work: Workspace, repo: Repo
) -> None:
    """D13: what is swept is moved to the trash, never deleted."""
    cli.ok("save", "begin-here", "--summary", "Begin")
    path = work.checkpoints()[0]
    for session, days in ((OTHER, 8), ("young", 6), (SESSION, 30)):
        mark = work.mark(session, path)
        os.utime(mark, (time.time() - days * 86400, time.time() - days * 86400))
    started(Talk(repo.folder, SESSION))

    assert work.marks() == [SESSION, "young"]
    assert work.trashed() == [f"pending-restore-{OTHER}.txt"]


@pytest.mark.accept(129)
def test_a_mark_that_is_not_a_file_is_neither_followed_nor_waited_for(
    cli: Cli, work: Workspace, repo: Repo, tmp_path: Path
) -> None:
    work.memory.mkdir(parents=True)
    target = tmp_path / "elsewhere"
    target.write_text("not ours\n", encoding="utf-8")
    (work.memory / f"pending-restore-{SESSION}.txt").symlink_to(target)
    os.mkfifo(work.memory / f"pending-restore-{OTHER}.txt")
    result = cli.ok("save", "login-form", "--summary", "Add a login form")
    started(Talk(repo.folder, SESSION))

    assert "is not a regular file" in result.err
    assert target.read_text(encoding="utf-8") == "not ours\n"
    assert cli.json("show", "login-form")["summary"] == "Add a login form"


@pytest.mark.accept(119)
@pytest.mark.parametrize("ending", ["save", "compaction"])
def test_advice_that_was_put_off_comes_again_after_a_save_or_a_compaction(
    cli: Cli, talk: Talk, ending: str
) -> None:
    talk.say("More.", percent=72)
    talk.fire("Stop")
    assert "context at 72.00%" in talk.waiting_reply()
    cli.ok("defer")
    assert talk.waiting_reply() == ""
    talk.say("Still more.", percent=76)
    talk.fire("Stop")
    assert talk.waiting_reply() == ""
    if ending == "save":
        cli.ok("save", "login-form", "--summary", "Add a login form")
    else:
        talk.fire("PreCompact", trigger="manual")
    talk.say("And on.", percent=77)
    talk.fire("Stop")

    assert "context at 77.00%" in talk.waiting_reply()


def test_only_a_session_can_put_advice_off(cli: Cli) -> None:
    assert cli("defer").code == 2


def test_what_another_session_noted_long_ago_is_not_saved_as_the_work_of_this_one(
    cli: Cli, work: Workspace, talk: Talk
) -> None:
    work.state("2026-03-01-old-billing.md", OTHER, age=90 * 86_400)
    talk.fire("SessionEnd", reason="prompt_input_exit")

    saved = cli.json("show", cli.json("list")[0]["id"])
    assert (saved["intent"], saved.get("decisions", [])) == ("Add a login form to app.py", [])
