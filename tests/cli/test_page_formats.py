"""`leftoff show --format`: a page for people without leftoff, in which no text is markup."""

from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cli.runs import Cli
from leftoff.checkpoint import Decision
from leftoff.cli.checkpoint_view import list_fields
from leftoff.cli.page_formats import to_html, to_markdown
from stores import draft

SAVE = ("save", "exporter", "--summary=Export orders", "--next=Run pytest", "--decision=A :: b")


def test_markdown_has_the_task_as_title_and_a_heading_for_each_field(cli: Cli) -> None:
    cli.ok(*SAVE, "--done=Wrote a.py", "--done=Wrote b.py")

    out = cli.ok("show", "exporter", "--format", "md").out

    assert out.startswith("# Export orders\n\nexporter (open), left off 2")
    assert "\n## Next action\n\nRun pytest\n\n" in out
    assert "\n## Done\n\n- Wrote a.py\n- Wrote b.py\n" in out
    assert "\n## Decisions\n\n- A — b\n" in out


def test_a_web_page_needs_nothing_else(cli: Cli) -> None:
    cli.ok(*SAVE)

    out = cli.ok("show", "--format", "html").out

    assert out.startswith("<!doctype html>")
    assert "<h2>Next action</h2>\n<p>Run pytest</p>" in out
    assert "http://" not in out.replace("http-equiv", "")


def test_json_is_the_same_as_the_option(cli: Cli) -> None:
    cli.ok(*SAVE)

    assert cli.ok("show", "--format", "json").json == cli.json("show")


@pytest.mark.parametrize("other", ["--raw", "--json"])
def test_contradicting_options_are_refused(cli: Cli, other: str) -> None:
    cli.ok(*SAVE)

    assert cli("show", "--format", "md", other).code == 2


class Tags(HTMLParser):
    """Collects the tags of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.headings = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Note a tag."""
        del attrs
        self.found.add(tag)
        self.headings += tag in {"h1", "h2", "h3"}


OURS = {"html", "meta", "title", "style", "h1", "h2", "p", "ul", "li"}
HOSTILE = st.text(st.sampled_from("<>/!'\"=&;`#-_* \nascript"), max_size=40)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_no_text_becomes_markup(one: str, two: str, three: str) -> None:
    made = draft("x", f"Export {one}", notes=[two], decisions=[Decision(what="a", why=three)])

    assert Tags("\n".join(to_html(made, "open"))).found <= OURS
    headings = [line for line in to_markdown(made, "open") if line.startswith("#")]
    assert [line.partition(" ")[0] for line in headings] == ["#", *["##"] * (len(headings) - 1)]


MARKS = (
    r"<script> <!-- </p> <a ` `` ``` ~~~ \ [a] ](javascript:x) [a]: ! # - -- = + * 1. 1) > | x"
).split(" ")
MARKED = st.lists(
    st.sampled_from([*MARKS, " ", "    ", "\t", "\n", "\n\n", "\r", "\u2028"]), max_size=12
).map("".join)


@given(MARKED, MARKED, MARKED)
@example("", "`\n\n<script>`", "")
@example("", "``a` <img src=x>", "[a [b]](javascript:x)")
@example("x\r## Next action", "~~~\n", "\\`<b>`")
def test_no_text_becomes_markup_in_a_viewer_of_markdown(one: str, two: str, three: str) -> None:
    made = draft("x", f"Export {one}", notes=[two], decisions=[Decision(what="a", why=three)])

    page = Tags(MarkdownIt("commonmark").render("\n".join(to_markdown(made, "open"))))

    assert page.found <= {"h1", "h2", "p", "ul", "li", "code", "pre", "em", "strong", "br"}
    assert page.headings == 1 + len([*list_fields(made)])
