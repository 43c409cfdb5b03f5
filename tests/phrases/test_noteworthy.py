"""What a sentence states, and what introduces values and names."""

import pytest

from leftoff.phrases.match import find_names, find_statement, is_negated, is_question
from rows import for_each


@for_each(
    ("sentence", "kind"),
    [
        ("i prefer tabs", "preference"),
        ("immer tabs verwenden", "preference"),
        ("je prefere les onglets", "preference"),
        ("prefiero tabs", "preference"),
        ("以后都用 pnpm", "preference"),
        ("let's go with redis", "decision"),
        ("wir nehmen redis", "decision"),
        ("vamos con redis", "decision"),
        ("on prend redis", "decision"),
        ("shorten the second paragraph", "draft"),
        ("no, it is blue", "correction"),
        ("nicht rot, sondern blau", "correction"),
        ("non, le bleu", "correction"),
        ("no rojo sino azul", "correction"),
        ("不对", "correction"),
        ("from now on use tabs instead of spaces", "preference"),
        ("the build is green", None),
    ],
)
def test_a_sentence_states_the_first_kind_that_fits(sentence: str, kind: str | None) -> None:
    assert find_statement(sentence) == kind


def test_a_question_has_its_mark_or_begins_as_one() -> None:
    assert is_question("redis?")
    assert is_question("用 redis 吗？")
    assert is_question("which port is it")
    assert not is_question("whichever port it is")


@pytest.mark.parametrize("before", ["use 1, not ", "Not the ", "instead of on ", "und nicht "])
def test_a_value_after_a_negation_does_not_hold(before: str) -> None:
    assert is_negated(before)


@pytest.mark.parametrize("before", ["", "knot ", "not that it matters: ", "nicht so schnell, "])
def test_a_negation_of_something_else_is_none_of_the_value(before: str) -> None:
    assert not is_negated(before)


def test_a_name_is_what_a_text_introduces_as_one() -> None:
    text = 'The client is Acme, the tool is called "Rake" and es heißt Blau; it named nobody.'

    assert find_names(text, r"[A-Z]\w+") == ["Acme", "Rake", "Blau"]
