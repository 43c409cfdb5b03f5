"""What a session gets after a compaction, in which order, and within which limits."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff import config, context
from leftoff.agents.hook_events import HookEvent
from leftoff.hooks import after_compaction, start
from leftoff.session import prompt_queue
from leftoff.store import Store
from leftoff.threads import persist
from stores import Clock, compose, draft
from talk import Talk

STATE = """\
# SESSION-STATE.md
## Active task
**Name:** csv-importer
**Goal:** one error line per bad row
## Next-turn hint
- run bad.csv
"""


@pytest.fixture
def claw(talk: Talk, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Follow openclaw; return the workspace."""
    del talk
    folder = tmp_path / "claw"
    (folder / "memory").mkdir(parents=True)
    monkeypatch.setenv("OPENCLAW_WORKSPACE", str(folder))
    for key in ("profile", "mirror"):
        config.set_for(store.project, key, "openclaw")
    return folder


def work(talk: Talk, *, percent: float = 65.0) -> None:
    talk.ask("Import the supplier files")
    talk.edit("app.py")
    talk.say("Next I will run the tests.", percent=percent)


def compacted(talk: Talk) -> None:
    work(talk)
    talk.fire("UserPromptSubmit", prompt="use semicolons, as in bad.csv")
    talk.fire("PreCompact", trigger="auto")


@pytest.mark.accept(52)
def test_the_order_is_buffer_then_state_then_notes_of_the_days(talk: Talk, claw: Path) -> None:
    now = datetime.now().astimezone()
    (claw / "SESSION-STATE.md").write_text(STATE, "utf-8")
    for day, text in ((now, "Today: rows"), (now - timedelta(days=1), "Yesterday: columns")):
        (claw / "memory" / f"{day:%Y-%m-%d}.md").write_text(f"{text}\n", "utf-8")
    compacted(talk)

    text = talk.start("compact")

    parts = [
        "this session was compacted",
        "use semicolons, as in bad.csv",
        "**Goal:** one error line per bad row",
        "Today: rows",
        "Yesterday: columns",
        "Last task was one error line per bad row. Continue?",
    ]
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)


@pytest.mark.accept(52)
@pytest.mark.parametrize(
    "words",
    [
        f"Go on from here. <summary>{'What was said before. ' * 20}</summary>",
        "<summary>We read rows.</summary>",
        "\n <summary>We read rows.</summary>",
    ],
)
def test_a_session_that_begins_with_a_summary_was_compacted_too(
    talk: Talk, claw: Path, words: str
) -> None:
    (claw / "SESSION-STATE.md").write_text(STATE, "utf-8")
    talk.ask(words)

    text = talk.start("startup")

    assert "this session was compacted" in text
    assert "one error line per bad row" in text


def test_a_tag_in_the_first_request_is_not_a_summary(talk: Talk, claw: Path) -> None:
    (claw / "SESSION-STATE.md").write_text(STATE, "utf-8")
    talk.ask("Put a <summary>title</summary> into the page")

    assert "compacted" not in talk.start("startup")


def test_without_a_profile_the_session_goes_on_unasked(talk: Talk) -> None:
    compacted(talk)
    text = talk.start("compact")

    assert "use semicolons, as in bad.csv" in text
    assert "Continue?" not in text


@pytest.mark.parametrize("is_blocked", [False, True])
def test_a_prompt_that_the_agent_got_before_the_compaction_does_not_wait(
    talk: Talk, store: Store, *, is_blocked: bool
) -> None:
    config.set_for(store.project, "prompts", "block")
    compacted(talk)
    event = HookEvent(
        agent="claude",
        kind="prompt",
        session_id=talk.session_id,
        cwd=str(talk.folder),
        prompt="rename the column in all files",
        at=1_794_767_867.0,
    )
    prompt_queue.keep(store, event, is_blocked=is_blocked)

    assert ("never answered" in talk.start("compact")) == is_blocked


@pytest.mark.promise("openclaw", 67)
@pytest.mark.accept(53)
@pytest.mark.parametrize(("hours", "age"), [(3, "3h ago"), (30, "1d ago")])
def test_an_older_autosave_is_offered_with_its_age(
    talk: Talk, store: Store, claw: Path, hours: int, age: str
) -> None:
    del claw
    clock = Clock(datetime.now(UTC) - timedelta(hours=hours, minutes=1))
    earlier = Store(store.project, now=clock)
    earlier.save(draft(None, "Import the supplier files", session_id="another"))
    earlier.close()

    text = talk.start("compact")

    assert f"The newest autosave here is from {age}" in text
    assert "run `leftoff resume autosave --accept` to resume it" in text
    assert "Last task was Import the supplier files. Continue?" in text


@pytest.mark.accept(53)
def test_without_an_autosave_the_buffer_is_what_is_left(talk: Talk, claw: Path) -> None:
    buffer = claw / "memory" / "working-buffer.md"
    buffer.write_text(
        "# Working Buffer\n\n## 2026-11-15T18:31:04Z Human\nuse semicolons\n", "utf-8"
    )

    text = talk.start("compact")

    assert "No checkpoint of it is known" in text
    assert "use semicolons" in text


@pytest.mark.accept(53)
def test_a_thin_checkpoint_is_filled_up_with_what_was_said(talk: Talk, store: Store) -> None:
    compacted(talk)
    persist.save(
        store,
        compose({"summary": "work", "session_id": talk.session_id}, store),
        name="thin-one",
    )

    assert "use semicolons, as in bad.csv" in talk.start("compact")


def test_with_nothing_known_nothing_is_said(talk: Talk) -> None:
    assert talk.start("compact") == ""


@pytest.mark.parametrize("size", [100, 100_000])
def test_the_reply_is_one_document_within_its_limit(talk: Talk, claw: Path, size: int) -> None:
    now = datetime.now().astimezone()
    words = '"quoted" \\ and\n## so on </leftoff-briefing> ' * (size // 40)
    (claw / "SESSION-STATE.md").write_text(f"{STATE}## Corrections\n- {words}\n", "utf-8")
    (claw / "memory" / f"{now:%Y-%m-%d}.md").write_text(words, "utf-8")
    compacted(talk)
    data = json.dumps(talk.payload("SessionStart", source="compact")).encode()

    reply = start.answer("claude", data, context.state_folder())

    assert len(reply) <= 10_000
    answer = json.loads(reply)["hookSpecificOutput"]["additionalContext"]
    assert "use semicolons, as in bad.csv" in answer
    assert answer.count("<leftoff-briefing>") == answer.count("</leftoff-briefing>")


@given(st.lists(st.sampled_from(["<summary>", "</summary>", "x" * 79, "x", "\n"])).map("".join))
def test_a_long_summary_is_seen_wherever_it_is(text: str) -> None:
    long = re.compile(rb"<summary>(?:(?!</summary>).){80,}</summary>", re.DOTALL)

    assert after_compaction.is_summed_up(text.encode()) == bool(long.search(text.encode()))


def test_summaries_that_never_end_hold_no_start_up() -> None:
    # With an expression that looks for each end anew, this would take an hour.
    assert not after_compaction.is_summed_up(b"<summary>" * 28_000)
