import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.reflect.talks import NO, PREFER, corrected_talk, found_talk
from leftoff import context
from leftoff.errors import SessionUnreadable
from leftoff.knowledge.reflect.harvest import Correction
from leftoff.knowledge.reflect.read_sessions import (
    SessionSource,
    find_source,
    keep_mark,
    read_corrections,
    sources,
)
from leftoff.projects.project import Project
from leftoff.store import Store
from recordings import RECORDED
from stores import Clock, project_at

SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2


def source(path: Path, agent: str = "claude") -> SessionSource:
    return SessionSource(agent=agent, session_id=path.stem, path=path)


def read_and_keep(store: Store, where: SessionSource) -> list[Correction]:
    found = read_corrections(store, where)
    keep_mark(store, found)
    return found.corrections


def test_a_session_is_searched_once(project: Project, store: Store) -> None:
    talk = corrected_talk(project.root)
    where = source(talk.transcript)

    assert [found.text for found in read_and_keep(store, where)] == [NO, PREFER]
    assert read_and_keep(store, where) == []
    talk.ask("Never use eval.")
    assert [found.text for found in read_and_keep(store, where)] == ["Never use eval."]


def test_what_was_searched_is_not_read_again(project: Project, store: Store) -> None:
    talk = corrected_talk(project.root)
    read_and_keep(store, source(talk.transcript))
    size = talk.transcript.stat().st_size

    # Were it read again, it would be missed: only samples of head and tail are compared.
    data = bytearray(talk.transcript.read_bytes())
    data[size // 2 - 10 : size // 2 + 10] = b"\n" * 20
    talk.transcript.write_bytes(bytes(data))

    assert read_corrections(store, source(talk.transcript)).mark.cursor.offset == size
    assert read_corrections(store, source(talk.transcript)).corrections == []


def test_a_rewritten_transcript_is_searched_again(project: Project, store: Store) -> None:
    talk = corrected_talk(project.root)
    read_and_keep(store, source(talk.transcript))
    talk.transcript.unlink()
    corrected_talk(project.root).ask("Never use eval.")

    found = read_and_keep(store, source(talk.transcript))

    assert "Never use eval." in [each.text for each in found]


def test_a_mark_that_is_garbled_or_lost_costs_only_time(
    project: Project, store: Store, tmp_path: Path
) -> None:
    del tmp_path
    where = source(corrected_talk(project.root).transcript)
    read_and_keep(store, where)
    store.keep_session("reflected-claude", where.session_id, b"{garbled")

    assert [found.text for found in read_corrections(store, where).corrections] == [NO, PREFER]


def test_no_secret_is_kept_of_what_was_searched(project: Project, store: Store) -> None:
    talk = found_talk(project.root)
    talk.run(f"curl -H 'Authorization: Bearer {SECRET}' example.org")
    talk.say(f"The token is {SECRET}")
    talk.ask(f"No, use {SECRET} instead of the old token.")

    found = read_corrections(store, source(talk.transcript))
    keep_mark(store, found)

    kept = store.read_session("reflected-claude", talk.session_id)
    assert kept is not None
    assert SECRET not in kept.decode()
    assert SECRET not in repr(found.corrections)


def entries() -> st.SearchStrategy[dict[str, object]]:
    """Make lines of a transcript: messages, answers, calls, and results with a refusal."""
    texts = st.sampled_from(
        [
            NO,
            PREFER,
            "No.",
            "Never use eval.",
            "go on",
            "不要添加注释",
            "don't push yet",
            "```\nNo\n```",
        ]
    )
    said = texts.map(lambda text: {"type": "user", "message": {"role": "user", "content": text}})
    answers = texts.map(
        lambda text: {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}
    )
    ids = st.sampled_from(["a", "b"])
    calls = ids.map(
        lambda each: {
            "type": "assistant",
            "message": {
                "content": [
                    {"type": "tool_use", "id": each, "name": "Bash", "input": {"command": each}}
                ]
            },
        }
    )
    refusals = st.builds(
        lambda each, text: {
            "type": "user",
            "message": {
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": each,
                        "is_error": True,
                        "content": "The user doesn't want to proceed with this tool use. "
                        f"To tell you how to proceed, the user said:\n{text}",
                    }
                ]
            },
        },
        ids,
        texts,
    )
    return st.one_of(said, answers, calls, refusals)


def transcript_of(lines: list[dict[str, object]]) -> bytes:
    head = {"parentUuid": None, "sessionId": "s", "cwd": "/p"}
    return b"".join(json.dumps({**head, **line}).encode() + b"\n" for line in lines)


@pytest.mark.slow("tries many splits")
@given(lines=st.lists(entries(), min_size=1, max_size=12), data=st.data())
def test_the_same_is_found_however_the_reading_is_split(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[dict[str, object]],
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("split")
    whole = transcript_of(lines)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=4)))
    stores = [Store(project_at(folder / name), now=Clock()) for name in ("once", "split")]
    once, split = (folder / "once.jsonl", folder / "split.jsonl")
    once.write_bytes(whole)

    at_once = read_and_keep(stores[0], source(once))
    in_parts: list[Correction] = []
    for cut in [*cuts, len(whole)]:
        split.write_bytes(whole[:cut])
        in_parts += read_and_keep(stores[1], source(split))
    for store in stores:
        store.close()

    assert in_parts == at_once


def gemini(messages: list[tuple[str, str]]) -> bytes:
    return msgspec.json.encode(
        {
            "sessionId": "s",
            "projectHash": "h",
            "messages": [
                {"id": str(number), "type": kind, "content": text}
                for number, (kind, text) in enumerate(messages)
            ],
        }
    )


@pytest.mark.parametrize(
    "write",
    [
        lambda path, data: path.write_bytes(data),
        lambda path, data: (path.unlink(missing_ok=True), path.write_bytes(data)),
    ],
)
def test_of_a_document_only_new_messages_are_judged(
    store: Store, tmp_path: Path, write: Callable[[Path, bytes], None]
) -> None:
    path = tmp_path / "session-2026.json"
    messages = [("user", "add express"), ("gemini", "I use npm."), ("user", NO)]
    write(path, gemini(messages))
    where = source(path, "gemini")

    assert [found.text for found in read_and_keep(store, where)] == [NO]
    assert read_and_keep(store, where) == []
    write(path, gemini([*messages, ("gemini", "Done."), ("user", "Never use eval.")]))
    assert [found.text for found in read_and_keep(store, where)] == ["Never use eval."]


def test_a_document_with_fewer_messages_than_before_is_searched_again(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "session-2026.json"
    talk = [("user", "hello"), ("gemini", "I use npm."), ("user", NO), ("user", "go on")]
    path.write_bytes(gemini(talk))
    read_and_keep(store, source(path, "gemini"))
    path.write_bytes(gemini([("gemini", "I use var."), ("user", "Never use var.")]))

    found = read_and_keep(store, source(path, "gemini"))

    assert [each.text for each in found] == ["Never use var."]


@pytest.mark.parametrize("path", sorted(RECORDED.rglob("*.jsonl")), ids=lambda path: path.name)
def test_recorded_sessions_of_every_agent_can_be_searched(store: Store, path: Path) -> None:
    agent = path.relative_to(RECORDED).parts[0]

    assert read_corrections(store, source(path, agent)).mark.context.judged >= 0


def test_an_opencode_database_can_be_searched(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with sqlite3.connect(path) as database:
        database.executescript((RECORDED / "opencode" / "schema.sql").read_text(encoding="utf-8"))
    database.close()

    assert read_corrections(store, source(path, "opencode")).corrections == []


def test_sessions_are_found_newest_first_and_by_id_or_file(project: Project, store: Store) -> None:
    old = found_talk(project.root, "aaaa-1")
    new = found_talk(project.root, "aaaa-2")
    os.utime(old.transcript, (1, 1))

    assert [each.session_id for each in sources(store)] == ["aaaa-2", "aaaa-1"]
    assert find_source(store, "aaaa-1").path == old.transcript
    assert find_source(store, str(new.transcript)).session_id == "aaaa-2"
    at_home = new.transcript.relative_to(context.read_environment().home)
    assert find_source(store, f"~/{at_home}").session_id == "aaaa-2"
    with pytest.raises(SessionUnreadable, match="Several sessions begin with aaaa"):
        find_source(store, "aaaa")
    with pytest.raises(SessionUnreadable, match="There is no session zzzz"):
        find_source(store, "zzzz")


def test_a_file_from_elsewhere_goes_by_its_name(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "copied.jsonl"
    path.write_bytes(transcript_of([]) or b'{"parentUuid":null,"type":"user"}\n')

    found = find_source(store, str(path))

    assert (found.agent, found.session_id) == ("claude", "copied")
