"""A save uses an agent's notes to fill in what it was not given."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff import config
from leftoff.session import state_file
from leftoff.store import Store
from leftoff.threads import persist
from stores import compose

NOTES = """\
# SESSION-STATE.md
<!-- keep this file short -->
## Active task
**Name:** csv-importer
**Goal:** one error line per bad row
**Started:** 2026-11-15
**Blocking on:** nothing
## Open decisions
- Is row 7 an error?
## Decisions made
- Stream rows instead of loading (files reach 2 GB)
## Corrections & preferences observed this session
- [2026-11-15 18:21] delimiter is ";" not ","
## Next-turn hint
- run bad.csv
"""


def test_the_notes_are_read_by_their_headings() -> None:
    assert state_file.parse(NOTES) == {
        "summary": "one error line per bad row",
        "questions": ["Is row 7 an error?"],
        "decisions": [
            {"what": "Stream rows instead of loading", "why": "files reach 2 GB"},
        ],
        "notes": ['delimiter is ";" not ","'],
        "next_action": {"text": "run bad.csv"},
    }


@pytest.mark.accept(28)
def test_notes_of_other_hands_are_read_as_well() -> None:
    notes = """\
# Session state

## Current goal
Import supplier files
with a report per row

## Decisions
- Use the csv module because it needs no install
- Keep the order

## Progress
- Wrote reader.py

## Blockers
- utf16.csv raises UnicodeDecodeError

## Next action
Run pytest tests/reader
"""
    assert state_file.parse(notes) == {
        "summary": "Import supplier files with a report per row",
        "done": ["Wrote reader.py"],
        "blockers": ["utf16.csv raises UnicodeDecodeError"],
        "decisions": [
            {"what": "Use the csv module", "why": "it needs no install"},
            {"what": "Keep the order", "why": ""},
        ],
        "next_action": {"text": "Run pytest tests/reader"},
    }


@pytest.mark.parametrize(
    "line", ["Goal: read it all", "- **Goal**: read it all", "**task:** read it all"]
)
def test_a_field_may_be_written_in_other_ways(line: str) -> None:
    assert state_file.parse(line) == {"summary": "read it all"}


def test_a_template_has_no_content() -> None:
    notes = (
        "## Active task\n**Goal:**\n## Open decisions\n_(none)_\n## Next-turn hint\n(none yet)\n"
    )

    assert state_file.is_empty(notes)


TEMPLATE = """\
# SESSION-STATE.md — Active Working Memory

**Purpose:** details go here *before* the agent
responds.

## Active task

**Name:**
**Goal:**
**Started:** YYYY-MM-DD
**Blocking on:** *(human decision / external event / nothing)*

## Open decisions

*(things the human will need to decide)*

-

## Corrections & preferences observed this session

*(short, specific, dated)*

- [YYYY-MM-DD HH:MM]

## Proper nouns & specific values

- **Name** →
- **Value** →

## Drafts in flight

- `PROPOSALS.md` § <title>  — status: pending-review
- `<file>.md` § <section>   — status: drafting

## Next-turn hint

*(what the agent expects to do next)*

-
"""


@pytest.mark.promise("openclaw", 62)
def test_the_remarks_and_gaps_of_the_template_are_not_content() -> None:
    assert state_file.is_empty(TEMPLATE)
    filled = TEMPLATE.replace("**Goal:**", "**Goal:** one error line per bad row")
    filled = filled.replace("to decide)*\n\n-", "to decide)*\n\n- Is row 7 an error?")
    filled = filled.replace("- **Value** →", "- **Port** → 8080")

    assert state_file.parse(filled) == {
        "summary": "one error line per bad row",
        "questions": ["Is row 7 an error?"],
        "notes": ["**Port** → 8080"],
    }


def test_decisions_that_an_older_version_noted_as_open_stay_decisions() -> None:
    notes = "## Open decisions\n- [2026-11-16 17:29] Keep the order\n- ship on Friday\n"

    assert state_file.parse(notes) == {
        "decisions": [{"what": "Keep the order", "why": ""}],
        "questions": ["ship on Friday"],
    }


def test_tables_are_read_row_by_row() -> None:
    notes = """\
| Field | Value |
|---|---|
| Goal | one error line per bad row |

## Decisions made
| # | Decision | Rationale |
|:-:|---|---|
| 1 | Stream rows | files reach 2 GB |

## Blockers
| Blocker | Where |
| --- | --- |
| UnicodeDecodeError | samples/utf16.csv |
"""
    assert state_file.parse(notes) == {
        "summary": "one error line per bad row",
        "decisions": [{"what": "Stream rows", "why": "files reach 2 GB"}],
        "blockers": ["UnicodeDecodeError (Where: samples/utf16.csv)"],
    }


@pytest.mark.accept(28)
def test_a_save_without_flags_is_filled_from_the_notes(store: Store) -> None:
    (store.project.worktree / "SESSION-STATE.md").write_text(NOTES, encoding="utf-8")
    config.set_for(store.project, "notes", "worktree")

    draft = compose({"next_action": {"text": "Told by the user"}}, store)

    assert draft.summary == "one error line per bad row"
    assert draft.decisions[0].what == "Stream rows instead of loading"
    assert draft.next_action is not None
    assert draft.next_action.text == "Told by the user"


@pytest.mark.accept(28)
@pytest.mark.parametrize("text", ["", "# SESSION-STATE.md\n## Active task\n**Goal:** none\n", None])
def test_a_save_happens_without_notes(store: Store, text: str | None) -> None:
    config.set_for(store.project, "notes", "worktree")
    if text is not None:
        (store.project.worktree / "SESSION-STATE.md").write_text(text, encoding="utf-8")

    draft = compose({"summary": "Import CSV files"}, store)

    assert persist.save(store, draft, name="csv-import").saved.path.exists()
    assert draft.decisions == []


@pytest.mark.parametrize("foot", ["---\n*Last updated: today*\n", "\n* * *\n\nKept by hand.\n"])
def test_what_is_below_a_rule_is_not_part_of_the_section_above(foot: str) -> None:
    fields = state_file.parse(f"## Blockers\nNone\n{foot}\n## Next action\nRun pytest\n{foot}")

    assert fields == {"next_action": {"text": "Run pytest"}}


def test_a_list_goes_on_below_a_rule() -> None:
    assert state_file.parse("## Blockers\n- the key\n---\n- the mail\n") == {
        "blockers": ["the key", "the mail"]
    }


def test_tables_fences_and_the_time_of_writing_are_not_items() -> None:
    fields = state_file.parse(
        "## Decisions\n| what | why |\n|---|---|\n\n"
        "## Next\n```\npytest -x\n```\n_Last updated: now_\n"
    )

    assert fields == {"next_action": {"text": "pytest -x"}}


def test_a_decision_or_value_may_begin_with_the_word_of_a_field() -> None:
    fields = state_file.parse("## Decisions\n- Name: kebab-case\n## Values\n- Task: is our word\n")

    assert fields == {
        "decisions": [{"what": "Name: kebab-case", "why": ""}],
        "notes": ["Task: is our word"],
    }


@given(st.text())
def test_any_text_is_read_without_trouble(text: str) -> None:
    assert isinstance(state_file.parse(text), dict)


def test_a_folder_in_its_place_does_not_count_as_notes(tmp_path: Path) -> None:
    (tmp_path / "SESSION-STATE.md").mkdir()

    assert state_file.read(tmp_path / "SESSION-STATE.md") == {}
