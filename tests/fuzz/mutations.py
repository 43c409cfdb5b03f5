"""Cut, mix, repeat and damage known inputs."""

from collections.abc import Sequence

from hypothesis import strategies as st

# What tends to hurt: ends of encodings, of lines, of structures, and what hides between letters.
_PIECES = (
    b"\x00", b"\n", b"\r", b"\r\n", b"\xff\xfe", b"\xed\xa0\x80", b"\xc2\x85", b"\xe2\x80\xa8",
    b"\xef\xb8\x8f", b"\xe2\x80\xae", b"\xef\xbb\xbf", b'"', b"\\", b"\\u003d", b"%3D", b"=3D",
    b"\x1b[01;31m\x1b[K",
    b"{" * 50, b"[" * 50, b"<", b">", b"</", b"---\n", b"# ", b"- ", b"null", b"1e999", b"-1",
    b"9" * 40, b"../" * 9, b"\t" * 9,
)  # fmt: skip
_LONGEST = 200_000


@st.composite
def mutated(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """Draw an input: a seed with some changes, or none."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 5))):
        change = draw(st.sampled_from(("cut", "drop", "insert", "flip", "repeat", "splice", "own")))
        at = draw(st.integers(0, max(0, len(data))))
        if change == "cut":
            data = data[:at]
        elif change == "drop":
            data = data[:at] + data[at + draw(st.integers(1, 40)) :]
        elif change == "insert":
            data = data[:at] + draw(st.sampled_from(_PIECES)) + data[at:]
        elif change == "flip":
            data = data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
        elif change == "repeat":
            data = data[:at] + data[at : at + 80] * draw(st.integers(2, 60)) + data[at:]
        elif change == "splice":
            data = data[:at] + draw(st.sampled_from(seeds))[at:]
        else:
            data = data[:at] + draw(st.binary(max_size=40)) + data[at:]
    return data[:_LONGEST]
