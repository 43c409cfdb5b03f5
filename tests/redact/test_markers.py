"""Markers are recognized, and nothing else is taken for one."""

from leftoff.redact.markers import is_marker, marker, split_at_markers
from rows import for_each


@for_each("kind", ["password", "password in url", "auth0 token", "crates.io token"])
def test_the_marker_of_a_kind_is_known(kind: str) -> None:
    assert marker(kind) == f"[redacted: {kind}]".encode()
    assert is_marker(marker(kind))


@for_each("kind", ["Some Thing", "a]b", "", "x" * 60, "hunter2"])
def test_the_marker_of_an_unknown_kind_is_still_a_marker(kind: str) -> None:
    assert marker(kind) == b"[redacted: secret]"


@for_each(
    "text",
    [b"[redacted: x]", b"[redacted: a1b2c3d4 key]", b"[redacted: password", b"[redacted:key]"],
)
def test_what_only_looks_like_a_marker_is_text(text: bytes) -> None:
    assert split_at_markers(b"a " + text + b" b") == [b"a " + text + b" b"]


def test_a_text_is_split_at_its_markers() -> None:
    text = b"a[redacted: [redacted: key]][redacted: x][redacted: token]"

    assert split_at_markers(text) == [
        b"a[redacted: ",
        b"[redacted: key]",
        b"][redacted: x]",
        b"[redacted: token]",
        b"",
    ]
