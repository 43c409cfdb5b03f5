"""Looking for many words at once finds what looking for each of them finds."""

from hypothesis import given
from hypothesis import strategies as st

from leftoff.redact.lookup import Lookup

WORDS = (
    *(b"pass", b"passord:", b"key", b"echo", b"senha:", b":*:", b"<<<", "密码".encode()),
    *(b"cred", b"secret", b"create_", b"login ", b"login("),
)
TEXTS = st.lists(st.sampled_from([*WORDS, b"pas", b"s", b"k", b" ", b":", b"\xe5"])).map(b"".join)


def find_each(data: bytes) -> set[tuple[bytes, int]]:
    places = range(len(data))
    return {(word, at) for word in WORDS for at in places if data.startswith(word, at)}


@given(TEXTS)
def test_every_word_is_found_where_it_is(data: bytes) -> None:
    # Of two places of a word that share a byte, the first is enough.
    hits = Lookup(WORDS).hits(data)

    assert set(hits) <= find_each(data)
    assert {word for word, _ in hits} == {word for word, _ in find_each(data)}


def test_a_word_that_begins_with_another_is_found_beside_it() -> None:
    assert set(Lookup(WORDS).hits(b"a passord: b")) == {(b"pass", 2), (b"passord:", 2)}


def test_a_guard_decides_what_may_follow_a_word() -> None:
    assert Lookup((b"auth",), {b"auth": rb"(?!or)"}).hits(b"author auth=") == [(b"auth", 7)]
