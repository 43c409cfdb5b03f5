"""Native Markdown files as tables: known sections by their titles, unknown ones kept."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.checkpoint import Checkpoint
from leftoff.profiles import markdown_codec
from leftoff.profiles.markdown_codec import Field, Layout, Section, Style, read_nothing
from stores import draft

STYLE = Style(
    read_text=lambda lines: markdown_codec.unescape("\n".join(lines).strip("\n")) or None,
    write_text=lambda text: markdown_codec.escape(text or ""),
    read_list=markdown_codec.read_bullets,
    write_list=lambda texts: markdown_codec.write_bullets(texts, none=""),
)
LAYOUT = Layout(
    fields=(Field("Task", lambda text: {"summary": text}, lambda each: each.summary),),
    sections=(
        STYLE.text("Left Off", "left_off", spellings=("Where I stopped",)),
        STYLE.texts("Done", "done", is_optional=True),
        Section("Hint", read_nothing, lambda _: "Run it."),
    ),
)
words = st.text("abc -#`~*\\", min_size=1, max_size=20).map(str.strip).filter(bool)
titles = st.text("xyz", min_size=1, max_size=6)


@dataclass
class Content:
    """What a checkpoint says in these files."""

    summary: str
    left_off: str
    done: list[str]
    unknown: dict[str, str]


@given(
    st.builds(
        Content,
        words.filter(lambda text: "#" not in text and "`" not in text and "~" not in text),
        words,
        st.lists(words, max_size=3),
        st.dictionaries(titles, st.text("abc ", min_size=1).map(str.strip).filter(bool)),
    )
)
def test_what_is_written_is_read_back_with_all_unknown_sections(content: Content) -> None:
    checkpoint = draft(summary=content.summary, left_off=content.left_off, done=content.done)

    parts = LAYOUT.split(_render(checkpoint, content.unknown))

    found = LAYOUT.read(parts)
    assert found["left_off"] == content.left_off
    assert found.get("done", []) == content.done
    assert found["summary"] == content.summary
    assert parts.unknown_sections == content.unknown


def _render(checkpoint: Checkpoint, unknown: dict[str, str]) -> str:
    head = ["# Title", *LAYOUT.write_fields(checkpoint), "", ""]
    return "\n".join(head) + LAYOUT.write_sections(checkpoint, unknown.items())


@pytest.mark.parametrize("heading", ["Left Off", "left off", "LEFT OFF", "where i stopped"])
def test_a_heading_is_known_by_each_of_its_spellings(heading: str) -> None:
    parts = LAYOUT.split(f"## {heading}\nIn the parser.\n")

    assert LAYOUT.read(parts) == {"left_off": "In the parser."}
    assert parts.unknown_sections == {}


def test_a_field_without_a_place_in_the_table_is_kept_as_it_is_written() -> None:
    parts = LAYOUT.split("# Title\nA word before.\n**Task:** Export\n**Owner:** \\- me\n")

    assert parts.fields == {"Task": "Export"}
    assert parts.unknown_fields == {"Owner": "\\- me"}
    assert parts.intro == "A word before."


@pytest.mark.parametrize(("joins", "left_off"), [(True, "One\nTwo"), (False, "One")])
def test_a_repeated_section_goes_on_with_the_first_or_is_left_out(
    *, joins: bool, left_off: str
) -> None:
    layout = Layout(sections=LAYOUT.sections, joins_repeated=joins)

    parts = layout.split("## Left Off\nOne\n## Left Off\nTwo")

    assert layout.read(parts) == {"left_off": left_off}


def test_an_empty_optional_section_is_left_out() -> None:
    assert (
        LAYOUT.write_sections(draft(left_off="Here")) == "## Left Off\nHere\n\n## Hint\nRun it.\n"
    )
