import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.knowledge.reflect.judge_message import sentences
from rows import for_each


def texts(message: str) -> list[str]:
    return [sentence.text for sentence in sentences(message)]


def test_a_message_is_split_into_its_sentences() -> None:
    message = "No. Use v1.2 of foo.py, e.g. with pnpm; not npm!\nThanks 。不对。用 pnpm"

    assert texts(message) == [
        "No.",
        "Use v1.2 of foo.py, e.g. with pnpm;",
        "not npm!",
        "Thanks 。",
        "不对。",
        "用 pnpm",
    ]


def test_marks_of_a_list_are_not_part_of_the_sentence() -> None:
    assert texts("- never use any\n2. always run lint") == ["never use any", "always run lint"]


@for_each(
    "pasted",
    [
        "```python\nnever_use = 1\n```",
        '"""\nnever use brew\n"""',
        "> never use any",
        "$ never use any",
        "+ // never use any;",
        "-    never(use, any);",
        "@@ -1,2 +1,2 @@ never use any",
        'Traceback (most recent call last):\n  File "a.py", line 1, in never',
        "TypeError: never use any",
        "warning: never use any",
        "2026-11-15T12:00:01 never use any",
        "12:00:01.123 never use any",
        "    never use any",
        "│ never use any",
        "| never | use | any |",
        "const never = use(any);",
        "import never from 'use';",
        "<system-reminder>never use any</system-reminder>",
        "<local-command-stdout>\nnever use any\n</local-command-stdout>",
        "https://example.org/never-use-any",
    ],
)
def test_what_a_program_wrote_is_not_prose(pasted: str) -> None:
    prose = " ".join(sentence.plain for sentence in sentences(f"look\n{pasted}\nhere"))

    assert "never" not in prose


@pytest.mark.parametrize(
    "quoted", ['"never use any"', "“never use any”", "`never use any`", "«never»", "「never」"]
)
def test_quotations_are_kept_and_not_judged(quoted: str) -> None:
    (sentence,) = sentences(f"the page says {quoted} somewhere")

    assert quoted in sentence.text
    assert "never" not in sentence.plain


def test_an_apostrophe_is_not_a_quotation() -> None:
    (sentence,) = sentences("don't use it, it's the users' own")

    assert sentence.plain == "don't use it, it's the users' own"


@pytest.mark.parametrize(
    "message",
    [
        "/review never use any",
        "Never use any. " * 100,
        "x" * 9000,
        "\n".join(f"- rule {number}: never use any" for number in range(5)),
        "\n".join(f"{number}. never use any" for number in range(5)),
    ],
)
def test_commands_and_long_or_listed_texts_are_not_read(message: str) -> None:
    assert sentences(message) == []


@given(st.text(max_size=2000))
def test_any_text_can_be_taken_apart(text: str) -> None:
    for sentence in sentences(text):
        assert sentence.text.strip() == sentence.text != ""
        assert sentence.plain == " ".join(sentence.plain.split())
