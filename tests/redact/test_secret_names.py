"""The words before `key` and `token` that decide whether it is a secret."""

import re

from leftoff.redact.secret_names import KEY_GUARD, KEY_OF, NOT_OF, names_secret
from rows import for_each


@for_each("word", [*KEY_OF, *NOT_OF])
def test_every_word_has_the_three_letters_that_are_looked_up_first(word: bytes) -> None:
    assert len(word) >= 3
    assert word.isalpha()
    assert word.islower()


@for_each("joint", [b"", b"_", b"-", b" "])
@for_each("word", KEY_OF)
def test_the_guard_lets_every_key_that_names_a_secret_through(word: bytes, joint: bytes) -> None:
    name = word + joint + b"key"

    assert names_secret(name, name, b"key", len(name) - 3)
    assert re.search(b"key" + KEY_GUARD, name)
