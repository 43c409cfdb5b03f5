"""Texts are shortened so that what is left still makes sense."""

from leftoff.session.facts.excerpts import clip
from leftoff.session.facts.sentences import keep_end, split_sentences


def test_a_clipped_text_has_no_half_line_at_the_seam() -> None:
    text = "\n".join(f"line number {n} of the output" for n in range(99))

    kept = clip(text, 400).split("\n…\n")[1]

    assert all(line in text.splitlines() for line in kept.splitlines())


def test_the_end_of_a_message_does_not_start_inside_a_block_of_code() -> None:
    code = "\n".join(f"key_{n}: value" for n in range(30))

    assert keep_end(f"Like this:\n```yaml\n{code}\n```\nShall I go on?", 120) == "Shall I go on?"


def test_a_command_in_backticks_stays_whole() -> None:
    assert split_sentences("Run `go build ./... 2>&1. x`. Then go on to ./... as well.") == [
        "Run `go build ./... 2>&1. x`.",
        "Then go on to ./... as well.",
    ]
