"""What an event leaves behind, and where it leaves nothing."""

from pathlib import Path

import pytest

from leftoff.session import records
from leftoff.store import Store
from talk import Talk


def test_a_turn_refreshes_what_is_known_and_saves_no_checkpoint(talk: Talk, store: Store) -> None:
    talk.work()

    talk.fire("Stop")

    record = records.load(store, "claude", talk.session_id)
    assert store.index().newest(100) == []
    assert record.transcript_path == str(talk.transcript)
    assert b"Add a login form" in bytes(record.memory)


def test_a_folder_that_is_gone_is_not_a_project(talk: Talk, tmp_path: Path) -> None:
    talk.folder = tmp_path / "gone"

    talk.fire("Stop")

    assert not (tmp_path / "gone").exists()


def test_a_project_that_is_switched_off_gets_nothing(talk: Talk, store: Store) -> None:
    store.project.store.mkdir()
    (store.project.store / "off").touch()
    talk.work(percent=99)

    talk.fire("Stop")
    talk.fire("SessionEnd", reason="other")

    assert [path.name for path in store.project.store.iterdir()] == ["off"]
    assert talk.start() == ""
    assert talk.waiting_reply() == ""


@pytest.mark.parametrize("event", ["Stop", "StopFailure", "PreToolUse", "PreCompact"])
def test_an_event_that_the_end_overtook_does_not_revive_the_session(
    talk: Talk, store: Store, event: str
) -> None:
    talk.start()
    talk.work()
    talk.fire("SessionEnd", reason="dispose")
    ended = records.load(store, "claude", talk.session_id).ended_at

    talk.fire(event)

    assert records.list_lives(store.project.state_folder, store.project) == []
    assert records.load(store, "claude", talk.session_id).ended_at == ended is not None
    # Nobody works on the thread, so the next session is offered it.
    talk.session_id = "another"
    assert "Add a login form" in talk.start()


def test_a_prompt_after_the_end_shows_that_the_session_goes_on(talk: Talk, store: Store) -> None:
    talk.start()
    talk.work()
    talk.fire("SessionEnd", reason="other")

    talk.fire("UserPromptSubmit", prompt="and the tests")

    (life,) = records.list_lives(store.project.state_folder, store.project)
    assert life.session_id == talk.session_id
    assert records.load(store, "claude", talk.session_id).ended_at is None
