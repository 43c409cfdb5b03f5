"""Headings are found however they are spelled, and leftoff's own files are never changed."""

import pytest

from leftoff.profiles.loose_headings import fold_title, level_fields, level_headings

TITLES = frozenset({"status", "branch", "open questions"})


@pytest.mark.parametrize(
    "title",
    [
        "Open questions",
        "OPEN QUESTIONS:",
        "**Open questions**",
        "3. Open questions",
        "❓ Open questions",
        "Open-Questions",
        "`Open questions`",
        "Open questions (2)",
        "Open questions ##",
        "open_questions：",
    ],
)
def test_spellings_of_a_title_are_one(title: str) -> None:
    assert fold_title(title) == "open questions"


def test_a_title_in_brackets_is_another_one() -> None:
    assert fold_title("Next action (inferred)") != fold_title("Next action")


@pytest.mark.parametrize(
    "text",
    [
        "# Status\nx\n### Branch\nmain\n",
        "**Status:** x\n__Branch__: main\n",
        "- **Status**: x\n**Branch:**\nmain\n",
        "Status: x\nBranch: main\nOpen questions: none\n",
    ],
)
def test_a_heading_in_another_form_becomes_one_of_the_second_level(text: str) -> None:
    lines = level_headings(text, TITLES).split("\n")
    assert lines[:4] == ["## Status", "x", "## Branch", "main"]


@pytest.mark.parametrize(
    "text",
    [
        "## Status\n**Status:** in the text\n## Branch\nmain\n## Open questions\n# Branch\n",
        "```\n# Status\n**Branch:** x\n```\n",
        "A sentence: with a colon\nStatus: only one line of them\n",
    ],
)
def test_a_text_that_only_looks_like_a_heading_stays(text: str) -> None:
    assert level_headings(text, TITLES) == text


def test_fields_are_found_above_the_sections_only() -> None:
    text = "# Title\nTask: a\n- **Created**: b\nTask: again\n## Progress\nTask: c\n"

    assert level_fields(text, {"task", "created"}) == (
        "# Title\n**Task:** a\n**Created:** b\nTask: again\n## Progress\nTask: c\n"
    )
