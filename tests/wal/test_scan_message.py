"""Which parts of a message are worth a note, and which are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.wal.scan_message import scan
from rows import for_each


def found(message: str) -> list[tuple[str, str]]:
    return [(each.kind, each.text) for each in scan(message)]


@pytest.mark.accept(50)
def test_a_correction_with_a_value_is_both() -> None:
    assert found("no, use port 8081 not 8080") == [
        ("correction", "no, use port 8081 not 8080"),
        ("value", "port 8081"),
    ]


@for_each(
    ("message", "kind"),
    [
        ("No, the delimiter is a semicolon, not a comma.", "correction"),
        ("That's wrong, the total excludes tax.", "correction"),
        ("I meant the other table", "correction"),
        ("Actually it should be the staging server", "correction"),
        ("Use the builder instead of the factory", "correction"),
        ("不是8080端口，是8081", "correction"),
        ("Nein, das ist der falsche Zweig", "correction"),
        ("I prefer short error messages", "preference"),
        ("Always answer in Spanish", "preference"),
        ("From now on keep the commits small", "preference"),
        ("我喜欢简短的消息", "preference"),
        ("Let's go with Redis", "decision"),
        ("We decided to drop Windows", "decision"),
        ("Then we'll use the queue", "decision"),
        ("Wir nehmen Postgres", "decision"),
        ("Shorten the second paragraph", "draft"),
        ("Make the opening email friendlier", "draft"),
    ],
)
def test_statements_are_told_apart(message: str, kind: str) -> None:
    assert [each for each, _ in found(message)][:1] == [kind]


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("the service listens on port 9090", "port 9090"),
        ("look at src/auth/login.py first", "src/auth/login.py"),
        ("the file is ~/work/data", "~/work/data"),
        ("it needs Python 3.12", "Python 3.12"),
        ("we are on v2.4.1", "v2.4.1"),
        ("the timeout is 30 seconds", "30 seconds"),
        ("workers have 512 MB", "512 MB"),
        ("stop at 80 %", "80 %"),
        ("it costs $4,200", "$4,200"),
        ("the deadline is 2026-12-01", "2026-12-01"),
        ("the accent is #ff8800", "#ff8800"),
        ("it runs at https://example.org/status.", "https://example.org/status"),
        ("open config.toml", "config.toml"),
        ("it is on db.internal:5432", "db.internal:5432"),
    ],
)
def test_values_are_found(message: str, value: str) -> None:
    assert found(message) == [("value", value)]


@pytest.mark.parametrize(
    ("message", "noun"),
    [
        ("ask Ada Lovelace about it", "Ada Lovelace"),
        ("the client is called Acme", "Acme"),
        ("it goes to the Bank of England today", "Bank of England"),
    ],
)
def test_names_are_found(message: str, noun: str) -> None:
    assert found(message) == [("noun", noun)]


@for_each(
    "message",
    [
        "",
        "continue",
        "fix the failing test",
        "Add a login form",
        "fix the exit code tomorrow's test",
        "Why does port 8080 fail?",
        "Which of the two should we use?",
        "add and/or remove the read/write flag",
        "Implement the login page and write tests for it",
        "Fix bug 3 in step 2",
        "New York is big",
        "On Monday the API was down",
        "```\nno, use port 8081\n```",
        'Traceback (most recent call last):\n  File "a.py", line 3\nValueError: no, port 80',
        "/compact",
        "what about `port 8080`?",
    ],
)
def test_ordinary_messages_hold_nothing(message: str) -> None:
    assert found(message) == []


def test_a_long_paste_holds_nothing() -> None:
    assert found("No, use port 8081. " * 200) == []


def test_a_secret_is_never_in_what_is_found() -> None:
    message = "no, use ghp_abcdefghijklmnopqrstuvwxyz0123456789 as the token"

    assert "ghp_" not in str(found(message))


def test_the_same_thing_is_found_once() -> None:
    assert found("The timeout is 30 seconds. It was 30 seconds before.") == [
        ("value", "30 seconds")
    ]


@given(st.text())
def test_any_text_is_scanned_without_trouble(text: str) -> None:
    assert len(scan(text)) <= 8
