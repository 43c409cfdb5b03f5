"""Escapes, colours and invisible characters do not hide a secret, and only the secret is cut."""

import html
import json
import quopri
import urllib.parse
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.redact import redact, views
from leftoff.redact.views import blank_escapes, decode_views
from redact_cases import SHAPES
from rows import for_each

TOKEN = SHAPES["github"][1]
MARKER = "[redacted: github token]"
# What a program may write in the place of `=`, a blank, a quote or a colon before a secret.
BORDERS = [
    *("%3D", "%20", "%22", "%3A", "%253D", "%25253D", "%2522", "%5Cu003d"),
    *("\\u003d", "\\u0022", "\\u0020", "\\u003a", "\\u{3d}", "\\\\u003d", "\\\\\\\\u0022"),
    *("\\x22", "\\x3d", "\\x20", "\\\\x22", "\\075", "\\042", "\\040"),
    *("=3D", "=20=3D"),
    *("&quot;", "&#34;", "&#x3D;", "&#x22;", "&amp;", "&amp;quot;", "&amp;#34;", "&equals;"),
    *("\\n", "\\t", "\\r\\n", "\\\\n", "\\u000a", "%0A", "&#10;"),
    *("\x1b[m\x1b[K", "\x1b[01;31m\x1b[K", "\x1b[0m", "\x1b[38;5;196m", "\x1b]8;;https://x.test\x1b\\"),
    *("\\u001b[0m", "\\x1b[32m", "\\033[1m", "\\e[0;31m", "^[[0m", "[0m ", " [1;31m\x1b[0m"),
    *("\u200b", "\ufeff", "\u2060", "\u200d", "\\u200b"),
]  # fmt: skip
INSIDE = ["\u200b", "\u00ad", "\ufeff", "\x1b[m\x1b[K", "\x1b[0m\x1b[1m", "\\u200b", "\\u00ad"]


@for_each("border", BORDERS)
@for_each("before", ["token", "a ", 'echo "', "x.test/?q=", "=3D "])
def test_a_secret_after_an_escape_is_cut_and_the_escape_stays(before: str, border: str) -> None:
    text = f"{before}{border}{TOKEN}"

    # `token=3D…` is a token already before it is decoded, and is cut as one.
    kept = before + "=" if before + border[0] == "token=" else before + border
    assert redact(text) == f"{kept}{MARKER}"


@for_each("mark", INSIDE)
def test_a_secret_with_something_invisible_in_it_is_cut(mark: str) -> None:
    text = f"use {TOKEN[:9]}{mark}{TOKEN[9:20]}{mark}{TOKEN[20:]} here"

    assert redact(text) == f"use {MARKER} here"


def test_a_secret_struck_over_is_cut() -> None:
    assert redact("".join(f"{c}\b{c}" for c in TOKEN) + " end").endswith(f"{MARKER} end")


def test_colours_inside_and_around_a_secret_go_with_it_or_stay() -> None:
    text = f"a.env:3:\x1b[01;31m\x1b[Kghp_\x1b[m\x1b[K{TOKEN[4:]}\x1b[0m"

    assert redact(text) == f"a.env:3:\x1b[01;31m\x1b[K{MARKER}\x1b[0m"


ENCODINGS: dict[str, Callable[[str], str]] = {
    "percent": urllib.parse.quote,
    "form": urllib.parse.quote_plus,
    "percent twice": lambda text: urllib.parse.quote(urllib.parse.quote(text)),
    "json": json.dumps,
    "json twice": lambda text: json.dumps(json.dumps(text)),
    "html": html.escape,
    "html twice": lambda text: html.escape(html.escape(text)),
    "html in json": lambda text: json.dumps(html.escape(text)),
    "percent in html": lambda text: html.escape(urllib.parse.quote(text)),
    "mail": lambda text: quopri.encodestring(text.encode(), quotetabs=True).decode(),
    "unicode": lambda text: text.replace('"', "\\u0022").replace("=", "\\u003d"),
}
PASSWORD = "hunter22" + "Xy"


@for_each("encoding", ENCODINGS)
@for_each(
    "text",
    [
        f'{{"db_password": "{PASSWORD}"}} a=1',
        f"DB_PASSWORD={PASSWORD}",
        f'password="{PASSWORD}"',
        f"postgres://app:{PASSWORD}@db.test/app",
        f"<password>{PASSWORD}</password>",
    ],
)
def test_a_password_is_cut_out_of_an_encoded_text(encoding: str, text: str) -> None:
    clean = redact(ENCODINGS[encoding](text))

    assert PASSWORD not in clean.replace("=\n", "")


def test_what_is_cut_out_of_json_leaves_json() -> None:
    text = json.dumps({"a": f"\u00e9 \x1b[1m{TOKEN}\x1b[0m", "b": f'he said "{TOKEN}"'})

    assert json.loads(redact(text)) == {
        "a": f"\u00e9 \x1b[1m{MARKER}\x1b[0m",
        "b": f'he said "{MARKER}"',
    }


PIECES = [
    "%3D",
    "%2",
    "%25",
    "\\u00",
    "\\u003d",
    "\\x4",
    "&",
    "&amp;",
    "&#3",
    "=3D",
    "=\n",
    "\x1b[",
    "[0m",
    "a\b",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=30).map("".join))
def test_each_byte_of_a_view_comes_from_the_text_in_order(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    for view in decode_views(data, blank_escapes(data)[1]):
        places = [view.origin(at, at + 1) for at in range(len(view.data))]

        assert all(0 <= start < end <= len(data) for start, end in places)
        assert all(left[1] <= right[0] or left == right for left, right in pairwise(places))


@for_each("mark", ["%", "&", "D", "[", "\x1b", "^"])
@for_each("count", [0, 1, 3, 4, 5000])
def test_an_escape_is_found_however_many_marks_precede_it(mark: str, count: int) -> None:
    secret = "hx7Qp2" + "Lm9Rt4"

    clean = redact(f"{mark} " * count + f"\nDB_PASSWORD%3D{secret}\n")

    assert secret not in clean


@for_each("colour", ["^[[31m", "\\e[31m", "\\033[31m", "^[]8;;x.test\x07"])
def test_a_written_colour_beside_a_real_one_hides_nothing(colour: str) -> None:
    text = f"\x1b[1muse\x1b[0m {TOKEN[:9]}{colour}{TOKEN[9:]} here"

    assert redact(text) == f"\x1b[1muse\x1b[0m {MARKER} here"


def test_a_view_is_traced_once_for_all_its_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    traced: list[int] = []

    def counted(data: bytes, gap: bytes) -> object:
        traced.append(len(data))
        return trace(data, gap)

    trace = views._trace  # noqa: SLF001 - how often it runs is the measure of the work
    monkeypatch.setattr(views, "_trace", counted)
    text = f"\x1b[1mkey\x1b[0m={TOKEN}\n" * 50

    assert TOKEN not in redact(text)
    assert sum(traced) < 10 * len(text)
