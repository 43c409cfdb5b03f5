"""What agents do differently: no reply at the start, no start after a compaction, odd endings."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitrepo import Repo
from leftoff import context
from leftoff.agents.codex import codex_dialect
from leftoff.agents.dialects import DIALECTS
from leftoff.config import Settings
from leftoff.hooks import context_usage, replies, settle, spool, start
from leftoff.session import records
from leftoff.store import LISTED, Store
from leftoff.threads import persist
from recordings import RECORDED, leave_session
from reply_contracts import check_reply
from stores import compose

SESSION = "01a1e0a2-7ec6-7e31-a1a5-d152003beb90"
TASK = "please write notes and list"
# More than the highest process id of Linux.
GONE_PID = 4_194_304


class Codex:
    """A recorded session of Codex, whose hooks fire in this process."""

    def __init__(self, repo: Repo) -> None:
        root = context.read_environment().find_agent_folder("codex")
        self.folder = repo.folder
        self.transcript = leave_session("codex", root, repo.folder)

    def payload(self, session: str, fields: dict[str, Any]) -> bytes:
        path = str(self.transcript) if session == SESSION else None
        values = {"session_id": session, "transcript_path": path, "cwd": str(self.folder), **fields}
        return json.dumps(values).encode()

    def fire(self, event: str, session: str = SESSION, **fields: Any) -> None:
        """Put an event into the spool and settle it."""
        spool.keep(context.state_folder(), "codex", event, self.payload(session, fields))
        assert settle.run(context.state_folder())

    def start(self, session: str, source: str = "startup") -> str:
        """Return the reply to a session start."""
        data = self.payload(session, {"source": source})
        return start.answer("codex", data, context.state_folder())

    def waiting_reply(self, session: str = SESSION) -> str:
        """Return the context that lies ready for the next prompt."""
        path = replies.path_of(
            context.state_folder(), str(self.folder), "codex", "UserPromptSubmit", session
        )
        if not path.exists():
            return ""
        answer: str = json.loads(path.read_bytes())["hookSpecificOutput"]["additionalContext"]
        return answer


@pytest.fixture
def codex(repo: Repo) -> Codex:
    return Codex(repo)


def count_work(store: Store) -> int:
    return len(store.index().heads([*LISTED], 99))


def test_an_agent_that_adds_nothing_at_the_start_gets_the_offer_with_its_first_prompt(
    codex: Codex, monkeypatch: pytest.MonkeyPatch
) -> None:
    codex.fire("SessionEnd", reason="other")
    monkeypatch.setattr(codex_dialect, "ADDS_AT_START", False)

    assert codex.start("two") == ""

    assert "leftoff: work was left off here." in codex.waiting_reply("two")
    codex.fire("UserPromptSubmit", "two", prompt="hello")
    assert codex.waiting_reply("two") == ""


def test_an_agent_without_a_start_after_a_compaction_gets_its_state_with_the_next_prompt(
    codex: Codex, monkeypatch: pytest.MonkeyPatch
) -> None:
    codex.start(SESSION)
    codex.fire("UserPromptSubmit", prompt=TASK)
    codex.fire("PreCompact", trigger="auto")
    assert codex.waiting_reply() == ""
    monkeypatch.setattr(codex_dialect, "STARTS_AFTER_COMPACTION", False)

    codex.fire("PreCompact", trigger="auto")

    # Codex may give it up: the transcript does not show it.
    assert "leftoff: a compaction of this session was started." in codex.waiting_reply()
    codex.fire("Stop", last_assistant_message="")
    assert TASK in codex.waiting_reply()
    codex.fire("UserPromptSubmit", prompt="go on")
    assert codex.waiting_reply() == ""


@pytest.mark.parametrize(
    "ending",
    [
        ["Stop", "SessionEnd"],
        ["SessionEnd", "SessionEnd", "SessionEnd"],
        ["SessionEnd", "Stop"],
        ["Stop", "SessionEnd", "Stop", "SessionEnd"],
    ],
)
def test_a_session_may_end_in_any_number_and_order(
    codex: Codex, store: Store, ending: list[str]
) -> None:
    codex.start(SESSION)
    codex.fire("UserPromptSubmit", prompt=TASK)
    for event in ending:
        codex.fire(event, reason="other")

    codex.start("two")

    assert count_work(store) == 1


def test_an_end_that_comes_after_the_next_session_took_over_changes_nothing(
    codex: Codex, store: Store
) -> None:
    """Codex ends a session sixty seconds after its terminal was closed; Gemini CLI, three times."""
    codex.start(SESSION)
    codex.fire("UserPromptSubmit", prompt=TASK)
    codex.fire("SessionEnd", reason="other")
    codex.start("two")
    codex.fire("UserPromptSubmit", "two", prompt="continue")
    (head,) = store.index().heads([*LISTED], 99)
    fields = {"next_action": {"text": "Write the test"}, "agent": "codex", "session_id": "two"}
    persist.save(store, compose(fields, store), name=head.name or "")

    for _ in range(3):
        codex.fire("SessionEnd", reason="other")

    (kept,) = store.index().heads([*LISTED], 99)
    assert (kept.session_id, kept.task) == ("two", TASK)
    assert kept.next_action == "Write the test"


def test_a_session_without_an_end_is_recovered_once_nothing_holds_its_lock(
    codex: Codex, store: Store
) -> None:
    lock = codex.transcript.parents[4] / "thread-writer-locks" / f"{SESSION}.lock"
    lock.parent.mkdir()
    lock.touch()
    codex.start(SESSION)
    codex.fire("UserPromptSubmit", prompt=TASK)
    life = records.life_of(context.state_folder(), "codex", SESSION)
    assert life is not None
    assert (life.lock, life.pid, life.has_crashed) == (str(lock), 0, True)

    reply = codex.start("two")

    assert TASK in reply
    assert count_work(store) == 1


def test_a_session_of_copilot_is_recovered_once_the_process_in_its_lock_is_gone(
    repo: Repo, store: Store
) -> None:
    root = context.read_environment().find_agent_folder("copilot")
    transcript = leave_session("copilot", root, repo.folder)
    fields = {"session_id": transcript.parent.name, "cwd": str(repo.folder)}
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        # One process was killed there before, and its file is still there.
        for pid in (GONE_PID, process.pid):
            (transcript.parent / f"inuse.{pid}.lock").touch()
        start.answer("copilot", json.dumps(fields).encode(), context.state_folder())
        life = records.life_of(context.state_folder(), "copilot", fields["session_id"])
        assert life is not None
        assert (life.pid, life.has_crashed) == (process.pid, False)

    data = json.dumps({**fields, "session_id": "two"}).encode()
    reply = start.answer("copilot", data, context.state_folder())

    assert TASK in reply
    assert count_work(store) == 1


def test_a_torn_event_is_completed_from_the_rollout(codex: Codex, store: Store) -> None:
    spool_folder = context.state_folder() / "spool"
    spool_folder.mkdir(parents=True, mode=0o700)
    assert codex.transcript.is_file()
    torn = spool_folder / "codex.SessionEnd.999999999.0"
    torn.write_bytes(f'{{"session_id":"{SESSION}","transcript_path":"'.encode())
    torn_at = torn.stat().st_mtime - 60
    os.utime(torn, (torn_at, torn_at))

    assert settle.run(context.state_folder())

    assert count_work(store) == 1


def test_a_compaction_that_only_the_transcript_shows_is_followed_by_the_state(
    repo: Repo,
) -> None:
    root = context.read_environment().find_agent_folder("gemini")
    transcript = leave_session("gemini", root, repo.folder)
    lines = (RECORDED / "gemini" / "session-compressed.jsonl").read_bytes().splitlines(True)
    session = json.loads(lines[0])["sessionId"]
    values = {"session_id": session, "transcript_path": str(transcript), "cwd": str(repo.folder)}
    place = replies.path_of(
        context.state_folder(), str(repo.folder), "gemini", "UserPromptSubmit", session
    )

    def fire(event: str, until: bytes, **fields: str) -> str:
        """Let the transcript grow to a line, fire an event and return the waiting reply."""
        (end,) = [number for number, line in enumerate(lines) if until in line][-1:]
        text = b"".join(lines[: end + 1])
        transcript.write_bytes(text.replace(b"/home/dev/repo", str(repo.folder).encode()))
        payload = json.dumps({**values, **fields}).encode()
        spool.keep(context.state_folder(), "gemini", event, payload)
        assert settle.run(context.state_folder())
        return place.read_text(encoding="utf-8") if place.exists() else ""

    assert "compacted" not in fire("Stop", b'"content":"two"', prompt_response="two")
    # Before every request, Gemini says that it might compress.
    assert "compact" not in fire("PreCompact", b'"content":"two"', trigger="auto")

    reply = fire("Stop", b'"content":"three"', prompt_response="three")

    assert "leftoff: this session was compacted." in reply
    assert "Add a retry to the HTTP client" in reply
    assert fire("UserPromptSubmit", b'"content":"three"', prompt="once more") == ""


def test_an_event_that_does_not_name_the_transcript_is_understood(repo: Repo, store: Store) -> None:
    root = context.read_environment().find_agent_folder("copilot")
    session = leave_session("copilot", root, repo.folder).parent.name
    below = repo.folder / "below"
    below.mkdir()
    payload = json.dumps({"session_id": session, "cwd": str(below), "reason": "complete"})

    spool.keep(context.state_folder(), "copilot", "SessionEnd", payload.encode())
    assert settle.run(context.state_folder())

    (saved,) = store.index().heads([*LISTED], 99)
    assert (saved.session_id, saved.task) == (session, TASK)


@pytest.mark.parametrize(("agent", "command"), [("gemini", "/compress"), ("copilot", "/compact")])
def test_advice_names_the_agent_s_own_command(agent: str, command: str) -> None:
    advice = context_usage.format_advice(context_usage.FRESH, 92.0, Settings(), agent)

    assert f"after {command}," in advice


PAYLOAD_FOLDER = Path(__file__).parent / "recorded"


def _list_first(folder: Path) -> list[Path]:
    """Return one payload for each event."""
    return [*{path.name.split(".")[0]: path for path in sorted(folder.glob("*.json"))}.values()]


PAYLOADS = [
    pytest.param(agent, path, id=f"{agent}-{path.stem}")
    for agent in DIALECTS
    for path in sorted((PAYLOAD_FOLDER / agent).glob("*.json"))
    if path.name.split(".")[0] in DIALECTS[agent].KINDS
    # Claude Code's are played whole in test_letterbox.py; one per event is enough here.
    and (agent != "claude" or path in _list_first(PAYLOAD_FOLDER / agent))
]


@pytest.mark.parametrize(("agent", "path"), PAYLOADS)
def test_a_payload_that_is_whole_cut_garbled_or_huge_does_no_harm(
    repo: Repo, store: Store, agent: str, path: Path
) -> None:
    # There is something to say to a session.
    persist.save(store, compose({"summary": "Add a login form"}, store), name="login")
    known = json.loads(path.read_bytes())
    folder = str(repo.folder)
    # Where each agent names its folder.
    fields = {**known, "cwd": folder, "transcript_path": None}
    fields |= {"workspace_roots": [folder]} if "workspace_roots" in known else {}
    whole = json.dumps(fields).encode()
    huge = json.dumps({**fields, "more": "x" * 5_000_000}).encode()
    event, state = path.name.split(".")[0], context.state_folder()

    broken = [whole[: len(whole) // 2], whole.replace(b'"', b"'", 5)]
    for data in (whole, *broken, huge):
        if event == "SessionStart":
            reply = start.answer(agent, data, state)
            check_reply(agent, event, reply)
        else:
            letter = spool.keep(state, agent, event, data)
            os.utime(letter.path, (1, 1))
            assert settle.run(state)

    assert list((state / "spool").glob("*")) == []
    # What cannot be understood is set aside, and nothing else.
    assert {each.read_bytes() for each in (state / "poison").glob("*")} <= {*broken}
