"""Which commands and words repeat a failed approach, and which do not."""

import pytest

from leftoff.knowledge import memory
from leftoff.knowledge.memory import EntryDraft
from leftoff.store import Store


def failed(store: Store, text: str, *files: str) -> None:
    memory.add(store, [EntryDraft(kind="failure", text=text, files=list(files))])


@pytest.mark.parametrize(
    ("failure", "command"),
    [
        ("pytest -n 8", "pytest -n 8 tests/store"),
        ("Running `cargo build --offline` on CI", "cd core && cargo build --offline --release"),
        ("Running cargo build --offline.", "cargo build --offline"),
        ("`make`", "make"),
        ("Ran pytest -n 8 in the container, deadlocks", "pytest -n 8"),
        ("git rebase main", "git  rebase   MAIN"),
    ],
)
def test_the_same_command_is_a_repeat(store: Store, failure: str, command: str) -> None:
    failed(store, failure)

    found = memory.find_repeat(store, command=command)

    assert found is not None
    assert found.text == failure


@pytest.mark.parametrize(
    ("failure", "command"),
    [
        ("pytest -n 8", "pytest -n 4"),
        ("pytest -n 8", "pytest"),
        ("`make`", "make test"),
        ("`make`", "ls"),
        ("npm test hangs in watch mode", "npm test"),
        ("cargo build --offline", "cargo build"),
        ("Upgrading to React 19", "npm install react"),
        ("pytest -n 8", ""),
    ],
)
def test_another_command_is_none(store: Store, failure: str, command: str) -> None:
    failed(store, failure)

    assert memory.find_repeat(store, command=command) is None


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        ("Switching the pool to asyncpg", "Let's switch the connection pool to asyncpg"),
        ("Raise the timeout", "raise the timeout."),
        (
            "Parse the CSV with a regular expression",
            "I will parse that CSV using regular expressions",
        ),
        ("缓存用户会话数据", "我们缓存用户的会话数据吧"),
    ],
)
def test_the_same_words_are_a_repeat(store: Store, failure: str, text: str) -> None:
    failed(store, failure)

    assert memory.find_repeat(store, text=text) is not None


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        ("Switching the pool to asyncpg", "Make the pool larger"),
        ("Raise the timeout", "Why did the timeout change?"),
        ("Use it", "use the new parser for it"),
        ("Switching the pool to asyncpg", ""),
    ],
)
def test_other_words_are_none(store: Store, failure: str, text: str) -> None:
    failed(store, failure)

    assert memory.find_repeat(store, text=text) is None


def test_words_scattered_over_a_long_text_are_none(store: Store) -> None:
    failed(store, "Switching the pool to asyncpg", "src/pool.py")
    text = "Switch the theme.\nThe pool is closed! I read about asyncpg; it is quick. More lines."

    assert memory.find_repeat(store, text=text, files=["src/pool.py"]) is None


def test_in_a_file_of_the_failure_half_of_its_words_are_enough(store: Store) -> None:
    failed(store, "Rewriting the tokenizer with lookahead groups", "src/lexer.py")
    text = "I will use lookahead in the tokenizer"

    assert memory.find_repeat(store, text=text) is None
    assert memory.find_repeat(store, text=text, files=["src/other.py"]) is None
    assert memory.find_repeat(store, text=text, files=["src/lexer.py"]) is not None


def test_a_file_named_in_the_failure_counts_as_its_file(store: Store) -> None:
    failed(store, "Caching tokens in lexer.py by offset")

    assert memory.find_repeat(store, text="caching all tokens", files=["src/lexer.py"]) is not None


def test_only_active_failures_are_repeated(store: Store) -> None:
    failed(store, "pytest -n 8")
    memory.add(store, [EntryDraft(kind="decision", text="git rebase main")])
    [entry] = memory.entries(store, kinds=["failure"])
    memory.change(store, entry.id, status="rejected")

    assert memory.find_repeat(store, command="pytest -n 8", text="pytest -n 8") is None
    assert memory.find_repeat(store, command="git rebase main") is None


def test_what_is_asked_may_hold_anything(store: Store) -> None:
    failed(store, "pytest -n 8")

    for odd in ('" OR kind : *', "'; DROP TABLE entries; --", "\x00\ud800" * 9, "(" * 9_999, "*"):
        assert memory.find_repeat(store, command=odd, text=odd) is None
