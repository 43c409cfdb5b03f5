"""Corrections are recognized in the language of their text."""

import pytest

from leftoff.phrases.match import Corrections, find_spoken, read_languages


def only(text: str) -> Corrections:
    (found,) = find_spoken(text, text.split())
    return found


@pytest.mark.parametrize(
    ("text", "opener"),
    [
        ("that is not the right way to do it", "that's wrong."),
        ("das ist nicht der richtige weg", "nein,"),
        ("eso no es lo que quiero para el proyecto", "eso esta mal"),
        ("ce n'est pas la bonne facon pour le projet", "non,"),
        ("不要用 npm", "不对，"),
        ("npm を使わないで", "違う。"),
    ],
)
def test_a_language_is_known_by_its_frequent_words_or_its_script(text: str, opener: str) -> None:
    assert only(text).openers.match(opener)


def test_a_text_of_unknown_words_may_be_in_any_language_with_frequent_words() -> None:
    spelt = [language for language in read_languages() if language.known_by]

    assert len(find_spoken("foo bar", ["foo", "bar"])) == len(spelt) > 1


def test_where_words_do_not_decide_english_counts_first() -> None:
    first = find_spoken("foo bar", ["foo", "bar"])[0]

    assert first is only("you should use the")


def test_a_language_without_blanks_is_dense() -> None:
    assert only("不要用 npm").is_dense
    assert not only("use the other one").is_dense
