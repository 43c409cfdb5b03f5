"""What an event leaves behind, and where it leaves nothing."""

from pathlib import Path

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


def test_a_folder_that_is_gone_is_no_project(talk: Talk, tmp_path: Path) -> None:
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
