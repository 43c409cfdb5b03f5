"""Go-aheads ask for nothing new, and rules say how to work."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.phrases.short_answers import (
    begins_with_answer,
    drop_greeting,
    find_rules,
    is_follow_up,
    is_go_ahead,
    list_untouched,
)
from rows import for_each


@for_each(
    "message",
    [
        *["continue", "Yes!", "ok thanks", "5", "option 1", "let's go with option 1", "y", ""],
        *["lets do option B please", "sounds good, proceed", "go on with step 2", "thank you"],
        *["weiter", "Danke, mach weiter", "nimm Variante 2", "oui, continue", "sí, adelante"],
        *["はい、お願いします", "好的，继续", "ok, weiter so"],
        *[
            "good morning",
            "Hi there!",
            "Guten Morgen",
            "buenos días",
            "bonsoir",
            "早上好",
            "こんにちは",
        ],
    ],
)
def test_a_go_ahead_is_recognized_in_every_language(message: str) -> None:
    assert is_go_ahead(message)


@pytest.mark.parametrize(
    "message",
    [
        *["fix it", "commit this", "What is 2+2?", "go ahead, including the rename"],
        *[
            "good morning, fix the bug",
            "ok lets get a pr up for this",
            "weiter mit den Tests",
            f"yes {'x' * 100}",
        ],
    ],
)
def test_a_message_that_asks_for_something_is_not_one(message: str) -> None:
    assert not is_go_ahead(message)


@pytest.mark.parametrize(
    ("message", "rules"),
    [
        ("Port it. Stop after each slice.", ["Stop after each slice."]),
        ("no Node 14\nUse bun.", ["no Node 14"]),
        ("If no issues, merge.", ["If no issues, merge."]),
        (
            "Kein Node 14. Nach jedem Schritt stoppen.",
            ["Kein Node 14.", "Nach jedem Schritt stoppen."],
        ),
        ("Why don't we use x?", []),
        ("Fix the form.", []),
    ],
)
def test_rules_are_found_as_they_were_written(message: str, rules: list[str]) -> None:
    assert find_rules(message) == rules


@given(st.text(max_size=100))
def test_any_text_can_be_asked_about(message: str) -> None:
    assert is_go_ahead(f"{message} fix the parser") is False


@for_each(
    "message",
    [
        *[
            "good morning, {}",
            "hi\n{}",
            "Hello Claude! {}",
            "hey there - {}",
            "Good morning.\n\n{}",
        ],
        *["Guten Morgen, {}", "Moin moin! {}", "Bonjour, {}", "buenos días, {}", "你好，{}"],
        *["こんにちは、{}", "{}"],
    ],
)
def test_a_greeting_is_not_part_of_a_request(message: str) -> None:
    assert drop_greeting(message.format("port the exporter")) == "port the exporter"


@for_each(
    "message",
    [
        *[
            "hi",
            "good morning",
            "Hello world program in C, please",
            "Good morning message is wrong",
        ],
        *["hi-res images are blurred", "Morning report: add totals", "hello", "Hola", "早上好"],
    ],
)
def test_what_only_looks_like_a_greeting_stays(message: str) -> None:
    assert drop_greeting(message) == message


@for_each(
    "message",
    [
        *["and also the one in the docstring", "And the changelog, please", "also rename the test"],
        *["oh, and the README", "same for the importer", "one more thing: bump the version"],
        *["while you're at it, sort the imports", "und auch das im Docstring", "et aussi le test"],
        *["y también la prueba", "还有文档字符串里的那个", "あと、テストも直して"],
    ],
)
def test_a_follow_up_goes_on_from_an_earlier_request(message: str) -> None:
    assert is_follow_up(message)


@for_each(
    "message",
    [
        *["yes, log them hashed", "Yes log them", "yep and bump the version", "no, leave them out"],
        *["no", "sure, but later", "both. And rename the flag", "the second one, please"],
        *[
            "option B: shorter",
            "ja, aber gehasht",
            "Nein, lass es",
            "oui, avec un test",
            "Sí, claro",
        ],
        *["好的，加上日志", "不用，先提交", "はい、お願いします", "いいえ。後で"],
    ],
)
def test_a_reply_to_a_question_begins_with_an_answer(message: str) -> None:
    assert begins_with_answer(message)


@for_each(
    "message",
    [
        *[
            "no tests run in CI",
            "Yesterday's build fails",
            "sure the parser is right?",
            "both tests fail",
        ],
        *[
            "ok, add a parser",
            "the first test fails",
            "Jakarta is missing",
            "不要用 Redis",
            "add yes/no flags",
            "",
        ],
    ],
)
def test_another_request_does_not_begin_with_an_answer(message: str) -> None:
    assert not begins_with_answer(message)


@for_each(
    ("message", "clauses"),
    [
        (
            "Add a flag. Don't touch src/app.py, b.py or c.py.",
            ["Don't touch src/app.py, b.py or c.py"],
        ),
        ("rename it but leave config.py alone, please", ["leave config.py alone"]),
        ("Fix a.py without changing its tests, then push", ["without changing its tests"]),
        ("Räum auf, setup.py bitte nicht anfassen", ["setup.py bitte nicht anfassen"]),
        ("Corrige a.py sans toucher à b.py", ["sans toucher à b.py"]),
        ("Arregla a.py, no toques b.py", ["no toques b.py"]),
        ("修复 a.py，不要改 b.py。", ["不要改 b.py"]),
        ("a.py を直して、b.py は変更しないで", ["b.py は変更しない"]),
        ("Why don't you change a.py?", []),
        ("Add touch support to app.py", []),
    ],
)
def test_what_must_stay_untouched_is_found(message: str, clauses: list[str]) -> None:
    assert list_untouched(message) == clauses


@for_each(
    "message",
    [
        *["Android build fails", "add the changelog and also the README", "andere Farbe bitte"],
        *[
            "Plus sign is missing in the URL",
            "oh no, the build fails",
            "the same bug again in main.py",
            "continue",
            "",
        ],
        *["Also" + " x" * 300, "fix the alsoran module", "new task: and-or parser"],
    ],
)
def test_a_request_that_stands_alone_is_not_a_follow_up(message: str) -> None:
    assert not is_follow_up(message)
