"""Secrets are cut out, and everything else stays byte for byte."""

import json
from collections.abc import Callable

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from leftoff.redact import find_secrets, redact, redact_value
from redact_cases import BEFORE, HEX, PASSWORD, PLACES, SHAPES, STAYS, made_up, pem
from rows import for_each


def in_json(text: str) -> str:
    return json.dumps({"type": "tool_result", "content": [{"text": f"ok\n{text}\ndone"}]})


def in_shell(text: str) -> str:
    return f"$ cat settings\n# comment\n{text}\nPATH=/usr/bin:/bin\nexit 0\n"


def in_prose(text: str) -> str:
    return f"I found this in the file: {text} and removed it. Then the tests passed."


WRAPPINGS = [in_json, in_shell, in_prose]
Wrapping = Callable[[str], str]


def as_written(secret: str, wrap: Wrapping) -> str:
    return json.dumps(secret)[1:-1] if wrap is in_json else secret


@for_each("wrap", WRAPPINGS)
@for_each("name", SHAPES)
def test_a_secret_of_known_shape_is_cut_out_and_nothing_else(name: str, wrap: Wrapping) -> None:
    kind, secret = SHAPES[name]
    text = wrap(BEFORE.get(name, "") + secret)

    assert redact(text) == text.replace(as_written(secret, wrap), f"[redacted: {kind}]")


@for_each("wrap", WRAPPINGS)
@for_each("name", PLACES)
def test_a_secret_known_by_its_place_is_cut_out_and_nothing_else(name: str, wrap: Wrapping) -> None:
    kind, template, secret = PLACES[name]
    text = wrap(template.format(secret))

    assert redact(text) == text.replace(as_written(secret, wrap), f"[redacted: {kind}]")


def test_more_than_forty_kinds_are_in_the_table() -> None:
    assert len({kind for kind, _ in SHAPES.values()}) > 40


@for_each(
    "secret",
    [
        pem(end="\\n"),
        pem(end="\\\\n"),
        pem(end='\\n" +\n  "'),
        pem(end="\n+"),
        pem().rsplit("\n", 3)[0],
        pem("PRIVATE KEY").split("\n", 2)[2],
        "\n".join(f"{n:6}→{line}" for n, line in enumerate(pem().split("\n"), 1)),
    ],
)
def test_a_private_key_is_cut_out_however_it_is_broken(secret: str) -> None:
    text = redact(f"before\n{secret}\nafter")

    assert text.startswith("before\n")
    assert text.endswith("\nafter")
    assert "[redacted: private key]" in text
    assert not any(len(word) > 40 for word in text.split())


@for_each("text", STAYS)
def test_what_is_not_a_secret_stays_whole(text: str) -> None:
    assert [redact(wrap(text)) for wrap in WRAPPINGS] == [wrap(text) for wrap in WRAPPINGS]


def test_colours_of_a_terminal_do_not_hide_a_secret() -> None:
    secret = SHAPES["github"][1]

    assert redact(f"\x1b[32m{secret}\x1b[0m") == "\x1b[32m[redacted: github token]\x1b[0m"


def test_the_secret_beside_another_one_is_found_too() -> None:
    text = f"GITHUB_TOKEN={SHAPES['github'][1]} AWS_ACCESS_KEY_ID={SHAPES['aws'][1]}"

    assert find_secrets(text) == [
        ("github token", SHAPES["github"][1]),
        ("aws access key", SHAPES["aws"][1]),
    ]


def test_a_value_is_judged_by_its_key_in_a_plain_value() -> None:
    value = {"user": "me", "password": PASSWORD, "nested": [{"apiKey": made_up(HEX, 32)}]}

    assert redact_value(value) == {
        "user": "me",
        "password": "[redacted: password]",
        "nested": [{"apiKey": "[redacted: key]"}],
    }


class Note(msgspec.Struct, frozen=True):
    text: str
    tags: tuple[str, ...] = ()
    count: int = 0


def test_a_struct_without_secrets_is_returned_as_it_is() -> None:
    note = Note("run the tests", ("a", "b"), 3)

    assert redact_value(note) is note


def test_the_texts_of_a_struct_are_redacted() -> None:
    secret = SHAPES["npm"][1]

    assert redact_value([Note(f"used {secret}", (secret,), 3)]) == [
        Note("used [redacted: npm token]", ("[redacted: npm token]",), 3)
    ]


FRAGMENTS = [
    *(secret for _, secret in SHAPES.values()),
    *(template.format(secret) for _, template, secret in PLACES.values()),
    *STAYS,
    *("\n", " ", "\\n", '"', "'", '\\"', "=", ":", ";", "[", "]", "@", "é", "\U0001f600", "\ud83d"),
    *("[redacted: password]", "token", "password", "--password ", "://a:", "value", " is "),
]


@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=12), max_size=8).map("".join))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)

    assert redact(once) == once


@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=12), max_size=8).map("".join))
def test_what_remains_was_there_before_and_in_this_order(text: str) -> None:
    at = 0
    for part in _without_markers(redact(text)):
        at = text.find(part, at)
        assert at >= 0
        at += len(part)


@given(st.text(alphabet=st.characters(), max_size=200))
def test_any_text_at_all_is_survived(text: str) -> None:
    assert isinstance(redact(text), str)


def _without_markers(text: str) -> list[str]:
    parts = text.split("[redacted: ")
    return [parts[0], *(part.partition("]")[2] for part in parts[1:])]
