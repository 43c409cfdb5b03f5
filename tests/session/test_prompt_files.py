"""Files of blocked prompts are read in both formats, and queued once."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.session import prompt_queue
from leftoff.session.prompt_files import LEGACY, parse
from leftoff.store import Store

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
SEVERAL = """\
delete the old table

=== BLOCKED PROMPT [2026-11-15T18:41:07Z] ===
rename the column and rerun the migrations

=== BLOCKED PROMPT [2026-11-15T18:43:55Z] [non-replayable:task-notification] ===
<task-notification>agent 3 finished</task-notification>
"""


def test_a_file_without_headers_is_one_prompt() -> None:
    (only,) = parse("rename the column\nand rerun\n", written_at=NOON)

    assert (only.text, only.written_at) == ("rename the column\nand rerun", LEGACY)


@pytest.mark.accept(103)
def test_text_before_the_first_header_is_the_first_entry_with_the_time_legacy(
    store: Store,
) -> None:
    found = parse(SEVERAL, written_at=NOON)

    prompt_queue.import_prompts(store, found, "session-1")

    waiting = prompt_queue.list_pending(store)
    assert [(each.written_at, each.text) for each in waiting] == [
        (LEGACY, "delete the old table"),
        ("", "rename the column and rerun the migrations"),
        ("", "<task-notification>agent 3 finished</task-notification>"),
    ]
    assert waiting[1].at == datetime(2026, 11, 15, 18, 41, 7, tzinfo=UTC)
    assert {each.session_id for each in waiting} == {"session-1"}


def test_taking_a_file_in_again_adds_nothing(store: Store) -> None:
    found = parse(SEVERAL, written_at=NOON)
    prompt_queue.import_prompts(store, found, "session-1")

    assert prompt_queue.import_prompts(store, found, "session-1") == []
    assert len(prompt_queue.list_pending(store)) == 3


@given(st.text())
def test_any_text_is_read_and_nothing_blank_comes_of_it(text: str) -> None:
    assert all(each.text.strip() for each in parse(text, written_at=NOON))


def test_windows_line_ends_are_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "pending-prompt-s.txt"
    path.write_bytes(SEVERAL.replace("\n", "\r\n").encode())

    assert len(parse(path.read_bytes().decode(), written_at=NOON)) == 3
