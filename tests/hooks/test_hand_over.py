"""A thread that the user hands over is given to the next session of that agent, and only to it."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from gitrepo import Repo
from leftoff import context
from leftoff.hooks import hand_over, settle, spool, start
from leftoff.session import records
from leftoff.store import BY_HAND_OVER, CheckpointEntry, Store
from leftoff.threads import persist
from stores import compose

HANDED_OVER = "leftoff: the user handed this work over to this session."
FIRST = "ses_1"


@pytest.fixture
def entry(store: Store) -> CheckpointEntry:
    plain = {"summary": "Add a login form", "next_action": {"text": "Run pytest -k login"}}
    persist.save(store, compose(plain, store), name="login")
    return store.find("login")


def begin(
    folder: Path, agent: str = "opencode", session: str = FIRST, source: str = "startup"
) -> str:
    """Return the reply to a session start."""
    fields: dict[str, Any] = {"session_id": session, "cwd": str(folder), "source": source}
    reply = start.answer(agent, json.dumps(fields).encode(), context.state_folder())
    return str(json.loads(reply).get("context", reply)) if reply else ""


def test_the_next_session_gets_the_briefing_and_joins_the_thread(
    store: Store, repo: Repo, entry: CheckpointEntry
) -> None:
    hand_over.expect(store, repo.folder, "opencode", entry)

    reply = begin(repo.folder)

    assert HANDED_OVER in reply
    assert "Run pytest -k login" in reply
    assert "Ask the user" not in reply
    events = store.index().events_of(entry.id)
    assert [(each.action, each.trigger) for each in events][-1] == ("resumed", BY_HAND_OVER)
    joined = store.index().find_joined(FIRST)
    assert joined is not None
    assert joined.ids == [entry.id]


def test_a_first_prompt_that_comes_before_the_start_adds_no_second_resume(
    store: Store, repo: Repo, entry: CheckpointEntry
) -> None:
    hand_over.expect(store, repo.folder, "copilot", entry)
    # Copilot CLI runs the hooks for the start and for the prompt at once.
    fields = {"session_id": FIRST, "cwd": str(repo.folder), "prompt": "continue"}
    state = context.state_folder()
    spool.keep(state, "copilot", "UserPromptSubmit", json.dumps(fields).encode())
    assert settle.run(state)

    assert HANDED_OVER in begin(repo.folder, agent="copilot")

    events = store.index().events_of(entry.id)
    resumed = [each.trigger for each in events if each.action == "resumed"]
    assert resumed == [BY_HAND_OVER]
    life = records.life_of(state, "copilot", FIRST)
    assert life is not None
    assert life.offered == ""


def test_only_one_session_gets_it(store: Store, repo: Repo, entry: CheckpointEntry) -> None:
    hand_over.expect(store, repo.folder, "opencode", entry)

    assert HANDED_OVER in begin(repo.folder)
    assert HANDED_OVER not in begin(repo.folder, session="ses_2")


def test_a_session_in_a_folder_below_gets_it(
    store: Store, repo: Repo, entry: CheckpointEntry
) -> None:
    (repo.folder / "sub").mkdir()
    hand_over.expect(store, repo.folder, "opencode", entry)

    assert HANDED_OVER in begin(repo.folder / "sub")


@pytest.mark.parametrize(
    ("agent", "source"), [("codex", "startup"), ("opencode", "resume"), ("opencode", "clear")]
)
def test_another_agent_or_an_older_session_does_not_get_it(
    store: Store, repo: Repo, entry: CheckpointEntry, agent: str, source: str
) -> None:
    hand_over.expect(store, repo.folder, "opencode", entry)

    assert HANDED_OVER not in begin(repo.folder, agent=agent, source=source)
    assert HANDED_OVER in begin(repo.folder, session="ses_2")


def test_a_thread_that_nobody_fetched_is_offered_as_usual_later(
    store: Store, repo: Repo, entry: CheckpointEntry
) -> None:
    hand_over.expect(store, repo.folder, "opencode", entry)
    mark = hand_over.find_mark(context.state_folder(), repo.folder, "opencode")
    old = {**json.loads(mark.read_bytes()), "at": time.time() - 3600}
    mark.write_text(json.dumps(old), encoding="utf-8")

    reply = begin(repo.folder)

    assert HANDED_OVER not in reply
    assert "leftoff: work was left off here." in reply
    assert not mark.exists()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"thread": 1, "at": "x"}', b"\xff"])
def test_a_broken_mark_does_no_harm(
    store: Store, repo: Repo, entry: CheckpointEntry, data: bytes
) -> None:
    hand_over.expect(store, repo.folder, "opencode", entry)
    hand_over.find_mark(context.state_folder(), repo.folder, "opencode").write_bytes(data)

    assert "leftoff: work was left off here." in begin(repo.folder)


def test_a_thread_that_ended_in_the_meantime_is_not_given(
    store: Store, repo: Repo, entry: CheckpointEntry
) -> None:
    hand_over.expect(store, repo.folder, "opencode", entry)
    store.record("consumed", [entry.id])

    assert begin(repo.folder) == ""
