import json
import threading
import time
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff import context
from leftoff.hooks import session_event, settle, spool
from leftoff.hooks.session_event import wait_for_words
from leftoff.session import records
from leftoff.session.sessions import read_memory
from leftoff.store import Store
from recordings import SESSION_IDS, leave_session

SAID = 'First "line".\nThe last line: ünïcode, \\ and all.'


def entry(text: str) -> str:
    return json.dumps({"type": "assistant", "text": text}, ensure_ascii=False) + "\n"


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_text(entry("Something else"), encoding="utf-8")
    return path


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(entry(text))


def waited(
    path: Path, words: str = SAID, *, after: int = 0, ago: float = 0.0, is_alive: bool = True
) -> bool:
    return wait_for_words(
        words, path, sent_at=time.time() - ago, after=after, is_writer_alive=lambda: is_alive
    )


def test_words_that_are_there_are_found(transcript: Path) -> None:
    append(transcript, SAID)

    assert waited(transcript)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait however long a busy machine takes."""
    monkeypatch.setattr(session_event, "_WAIT_SECONDS", 120.0)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where anyone waits."""
    monkeypatch.setattr(session_event, "_WAIT_SECONDS", 3600.0)
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it waits"))


@pytest.mark.usefixtures("patient")
def test_words_that_come_late_are_waited_for(transcript: Path) -> None:
    timer = threading.Timer(0.1, append, (transcript, SAID))
    timer.start()

    assert waited(transcript)
    timer.join()


def test_words_said_before_do_not_count(transcript: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_event, "_WAIT_SECONDS", 0.05)
    append(transcript, SAID)

    assert not waited(transcript, after=transcript.stat().st_size)


@pytest.mark.parametrize("words", ["", " \n "])
def test_no_words_are_not_waited_for(transcript: Path, words: str) -> None:
    assert not waited(transcript, words)


@pytest.mark.usefixtures("patient")
def test_a_transcript_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "new.jsonl"
    timer = threading.Timer(0.1, append, (path, SAID))
    timer.start()

    assert waited(path)
    timer.join()


@pytest.mark.usefixtures("hurried")
def test_a_transcript_whose_folder_is_gone_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "session.jsonl"

    assert not waited(path)


@pytest.mark.usefixtures("hurried")
def test_a_writer_that_has_died_is_not_waited_for(transcript: Path) -> None:
    assert not waited(transcript, is_alive=False)


@pytest.mark.usefixtures("hurried")
def test_words_of_an_event_that_had_to_wait_itself_are_not_waited_for(transcript: Path) -> None:
    assert not waited(transcript, ago=60)


@pytest.mark.usefixtures("patient")
def test_copilot_names_no_words_at_the_end_of_a_turn_but_notes_its_hook(
    repo: Repo, store: Store
) -> None:
    root = context.read_environment().find_agent_folder("copilot")
    path = leave_session("copilot", root, repo.folder)
    written = path.read_bytes()
    path.write_bytes(written[: written.index(b'"type":"assistant.message"')])
    fields = {"session_id": SESSION_IDS["copilot"], "cwd": str(repo.folder)}
    spool.keep(context.state_folder(), "copilot", "Stop", json.dumps(fields).encode())
    timer = threading.Timer(0.1, path.write_bytes, (written,))
    timer.start()
    assert settle.run(context.state_folder())
    timer.join()

    memory = read_memory(records.load(store, "copilot", SESSION_IDS["copilot"]))
    assert memory is not None
    assert memory.cursor.offset == len(written)
