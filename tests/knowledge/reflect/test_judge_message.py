import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.knowledge.reflect.judge_message import (
    CorrectingSentence,
    UserMessage,
    essence,
    is_at_least,
    judge,
)
from leftoff.phrases.match import read_languages
from phrases.cases import HIGH, MEDIUM, NOTHING, listed
from rows import for_each


def grades(text: str) -> list[str]:
    return [finding.grade for finding in judge(UserMessage(text=text))]


@pytest.mark.promise("harness", 138)
@for_each(("language", "sentence"), listed(HIGH))
def test_a_plain_correction_is_certain(language: str, sentence: str) -> None:
    del language
    assert grades(sentence) == ["high"]


@for_each(("language", "sentence"), listed(MEDIUM))
def test_a_preference_or_a_custom_waits_for_review(language: str, sentence: str) -> None:
    del language
    assert grades(sentence) == ["medium"]


@for_each(("language", "sentence"), listed(NOTHING))
def test_what_only_looks_like_a_correction_is_left_alone(language: str, sentence: str) -> None:
    del language
    assert grades(sentence) == []


@pytest.mark.parametrize("table", [HIGH, MEDIUM, NOTHING])
def test_every_language_has_its_cases(table: dict[str, str]) -> None:
    languages = [each for each in read_languages() if each.corrections.high]

    assert set(table) == {language.code for language in languages}


def test_the_sentence_is_kept_as_it_was_typed() -> None:
    said = UserMessage(text="Thanks!  No, use `pnpm install`\tinstead.   Then run the tests.")

    assert judge(said) == [CorrectingSentence("No, use `pnpm install` instead.", "high")]


def test_a_no_of_its_own_counts_for_the_sentence_after_it_only() -> None:
    assert grades("No. Use pnpm instead.") == ["high"]
    assert grades("No. The build is green. Use pnpm instead.") == ["medium"]


def test_what_opens_a_session_corrects_nothing() -> None:
    assert judge(UserMessage(text="use pnpm instead of npm", is_answer=False)) == []


@pytest.mark.accept(138)
def test_a_no_that_opens_a_session_answers_an_earlier_one() -> None:
    (found,) = judge(UserMessage(text="no, use pnpm instead", is_answer=False))

    assert found.grade == "high"


def test_a_standing_order_that_opens_a_session_waits_for_review() -> None:
    (found,) = judge(UserMessage(text="Never commit to main.", is_answer=False))

    assert found.grade == "medium"


def test_the_reason_for_a_refusal_is_at_least_a_hint() -> None:
    reason = UserMessage(text="the tests belong beside the sources", is_refusal=True)

    assert judge(reason) == [CorrectingSentence("the tests belong beside the sources", "low")]
    assert judge(UserMessage(text=reason.text)) == []


@pytest.mark.parametrize(
    "reason", ["no", "why?", "not yet, I look at it first", "have you made it up?"]
)
def test_a_refusal_that_says_nothing_for_later_is_not_a_rule(reason: str) -> None:
    assert judge(UserMessage(text=reason, is_refusal=True)) == []


def test_a_refusal_with_a_plain_correction_is_graded_as_one() -> None:
    (found,) = judge(UserMessage(text="No, use pnpm instead of npm.", is_refusal=True))

    assert found.grade == "high"


def test_grades_are_ordered_as_words_not_as_letters() -> None:
    assert is_at_least("high", "medium")
    assert is_at_least("medium", "low")
    assert not is_at_least("medium", "high")
    assert not is_at_least("low", "medium")
    assert not is_at_least(None, "low")


@pytest.mark.parametrize(
    "again",
    [
        "use pnpm instead of npm",
        "No, please use `pnpm` instead of npm!",
        "NO.  Use pnpm instead of npm.",
        "nope, use pnpm instead of npm",
    ],
)
def test_a_rule_is_recognized_whatever_comes_before_its_point(again: str) -> None:
    assert essence(again) == essence("No, use pnpm instead of npm.")


def test_rules_that_differ_are_told_apart() -> None:
    assert essence("always use pnpm") != essence("never use pnpm")
    assert essence("不要添加注释") != essence("不要添加测试")


@given(st.text(max_size=400))
def test_any_text_is_judged_and_every_finding_is_part_of_it(text: str) -> None:
    for finding in judge(UserMessage(text=text, is_refusal=True)):
        assert "".join(finding.text.split()) in "".join(text.split())
        assert essence(finding.text)


_sentences = st.sampled_from([each for table in (HIGH, NOTHING) for _, each in listed(table)])


@given(st.lists(_sentences.map(lambda each: each.rstrip("。.?？") + ".")))
def test_a_text_fenced_as_code_or_quoted_is_never_a_correction(lines: list[str]) -> None:
    text = "\n".join(lines)

    assert judge(UserMessage(text=f"Look at this:\n```\n{text}\n```\nthanks")) == []
    assert judge(UserMessage(text="\n".join(f"> {line}" for line in lines))) == []
