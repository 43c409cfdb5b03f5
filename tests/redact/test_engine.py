"""Redaction ends in linear time, changes only secrets, and changes nothing the second time."""

import random

import pytest
from bench.hostile import repeated, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

from leftoff.redact import engine, redact, rule_index
from leftoff.redact.markers import is_marker, split_at_markers
from leftoff.redact.shapes import Span
from redact_cases import BEFORE, PLACES, SHAPES, STAYS
from rows import for_each

SECRETS = [secret for name, (_, secret) in SHAPES.items() if name not in BEFORE]
SCHEMES = [
    "Negotiate",
    "Digest",
    "OAuth",
    "Hawk",
    "Signature",
    "NTLM",
    "AWS4-HMAC-SHA256",
    "Kerberos",
]
KINDS = sorted({kind for kind, _ in SHAPES.values()} | {kind for kind, _, _ in PLACES.values()})
FRAGMENTS = [
    *SECRETS,
    *(template.format(secret) for _, template, secret in PLACES.values()),
    *STAYS,
    *(f"Authorization: {scheme} " for scheme in SCHEMES),
    *(f"[redacted: {kind}]" for kind in KINDS),
    *("[redacted: ", "redacted: password]", "[redacted: [redacted: key]]", "[", "[redacted: x]"),
    *("\n", " ", "\\n", '"', "'", '\\"', "=", ":", ";", "@", "é", "\U0001f600", "\ud83d", "\u200b"),
    *("%3D", "\\u0022", "&quot;", "=3D", "=\n", "\x1b[m\x1b[K", "\x1b]8;;", "| ", "  3\u2192", "+"),
    *("token", "password", "--password ", "://a:", "value", " is ", "curl -u a:", "mysql -p"),
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=12), max_size=10).map("".join)


@for_each("scheme", SCHEMES)
def test_a_marker_behind_a_header_is_not_redacted_again(scheme: str) -> None:
    once = redact(f"< Authorization: {scheme} " + "YIIJvwYG" * 12 + "\n< Host: x.test")

    assert "YIIJ" not in once
    assert redact(once) == once
    assert once.endswith("\n< Host: x.test")


@settings(max_examples=5 * settings().max_examples)
@given(TEXTS)
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)

    assert redact(once) == once


@settings(max_examples=5 * settings().max_examples)
@given(TEXTS)
def test_what_remains_was_there_before_and_in_this_order(text: str) -> None:
    at = 0
    for part in split_at_markers(redact(text).encode("utf-8", "surrogatepass"))[::2]:
        at = text.encode("utf-8", "surrogatepass").find(part, at)
        assert at >= 0
        at += len(part)


@settings(max_examples=3 * settings().max_examples)
@given(TEXTS, st.sampled_from(SECRETS), TEXTS)
def test_a_secret_between_blanks_is_gone_whatever_is_around_it(
    before: str, secret: str, after: str
) -> None:
    if "\n" in secret or len(secret) < 30:
        return

    assert f"\n {secret} \n" not in redact(f"{before} \n {secret} \n {after}")


@for_each("kind", KINDS)
def test_the_marker_of_each_kind_is_a_border(kind: str) -> None:
    for text in (
        f"[redacted: {kind}]",
        f"password=[redacted: {kind}]",
        f'"token": "[redacted: {kind}]"',
    ):
        assert redact(text) == text
    assert is_marker(f"[redacted: {kind}]".encode())


@for_each("name", ["aws", "github", "stripe", "npm", "jwt"])
@for_each("around", ["[redacted: {}]", "[redacted: {} key]", "[redacted: key {}]"])
def test_nobody_hides_a_secret_in_a_marker(around: str, name: str) -> None:
    assert SHAPES[name][1] not in redact(around.format(SHAPES[name][1]))


def test_a_chain_of_secrets_is_cut_in_a_few_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def counted(data: bytes) -> list[Span]:
        looked.append(len(data))
        return find(data)

    find = engine._find  # noqa: SLF001 - what it reads is the measure of the work
    monkeypatch.setattr(engine, "_find", counted)
    text = ("dop_v1_" + "0123456789abcdef" * 4) * 500

    clean = redact(text)

    assert redact(clean) == clean
    assert sum(looked) < 8 * len(text) + 40_000


def test_a_chain_of_cuts_pays_for_the_search_of_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def counted(data: bytes) -> list[Span]:
        looked.append(len(data))
        return find(data)

    find = engine._find  # noqa: SLF001 - what it reads is the measure of the work
    monkeypatch.setattr(engine, "_find", counted)
    text = repeated("db.test:*:a", 8000)

    redact(text)

    assert sum(looked) < 8 * len(text)


def test_a_long_text_is_looked_at_again_only_near_a_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def counted(data: bytes) -> list[Span]:
        looked.append(len(data))
        return find(data)

    find = engine._find  # noqa: SLF001 - what it reads is the measure of the work
    monkeypatch.setattr(engine, "_find", counted)
    filler = "Nothing to see in this line.\n" * 4000

    clean = redact(filler + SECRETS[0] + "\n" + filler)

    assert SECRETS[0] not in clean
    assert sum(looked) < 1.1 * 2 * len(filler)


@for_each("seed", range(40))
def test_a_long_text_with_secrets_is_redacted_once_and_for_all(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - not a secret
    lines = ["Nothing to see in this line.\n"] * 400
    for at in chance.sample(range(400), 8):
        lines[at] = "".join(chance.choices(FRAGMENTS, k=6))

    once = redact("".join(lines))

    assert redact(once) == once


@for_each("chunk", range(8))
def test_hostile_texts_are_redacted_once_and_for_all(chunk: int) -> None:
    chosen = random.Random(chunk).sample(sorted(set(seeds())), 60)  # noqa: S311 - not a secret
    for seed in chosen:
        once = redact(repeated(seed, 3000))

        assert redact(once) == once


def test_characters_of_many_bytes_are_never_cut_in_two() -> None:
    for text in (
        "password='" + "é" * 300,
        "Cookie: a=" + "\U0001f600" * 2000,
        "://a:" + "ü" * 250 + "@b",
    ):
        assert redact(text).encode("utf-8")


PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-,./!?() \n")
PLAIN_PARTS = [
    *sorted({"".join(c for c in text if c in PLAIN) for text in FRAGMENTS}),
    *sorted(word.decode() for word in rule_index.ANCHOR_WORDS),
    *("the ", "tests/test_export.py ", "is ", "Port the exporter", "a" * 19, "1" * 19, "_", "\n"),
]


@pytest.mark.slow("tries many texts")
@given(
    st.lists(
        st.sampled_from(PLAIN_PARTS) | st.from_regex(r"[A-Za-z0-9_ ,.;!?()/-]{0,24}"), max_size=12
    )
)
@settings(max_examples=1000)
def test_a_text_that_is_taken_for_harmless_has_no_secret(parts: list[str]) -> None:
    text = "".join(parts)
    if engine.is_harmless(text):
        assert engine.find_secrets(text) == []


@for_each("text", ["Port the exporter to streaming writes", "/tmp/project/src/app.py"])
def test_plain_words_and_paths_are_harmless(text: str) -> None:
    assert engine.is_harmless(text)


@for_each("text", [*FRAGMENTS, *(f"Now say {text}" for text in FRAGMENTS)])
def test_no_text_with_a_secret_is_taken_for_harmless(text: str) -> None:
    assert not (engine.is_harmless(text) and engine.find_secrets(text))
