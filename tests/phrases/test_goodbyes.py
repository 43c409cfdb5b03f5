"""A message that is nothing but a goodbye, and others that only contain its words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.phrases.match import is_goodbye, read_languages, says_goodbye
from rows import for_each


@for_each(
    "message",
    [
        *["goodnight", "exit", "/exit", "Logout!", " Good night. ", "bye bye", "ok bye"],
        *["Thanks, goodnight!", "Okay, thank you: see you tomorrow then.", "Great. Later, all!"],
        *["good night, see you tomorrow", "lunch break, brb"],
        *["ok I have to go, let's continue tomorrow"],
        *["Gute Nacht", "Danke, bis morgen!", "Feierabend!", "bis morgen, ich mache Schluss"],
        *["bye, I'm going to bed", "gute Nacht, ich gehe ins Bett"],
        *["Buenas noches", "Gracias. Hasta mañana.", "Merci, à demain !", "bonne nuit"],
        *["晚安", "好的，晚安", "谢谢！明天见。", "おやすみ", "また明日"],
        *["thanks, that's all for today", "OK, that's it for now.", "Great, I'm off to bed!"],
        *["danke, das war's für heute", "merci, c'est tout pour aujourd'hui"],
        *["Gracias, eso es todo por hoy.", "谢谢，今天就到这里吧", "今日はここまでにします"],
    ],
)
def test_a_goodbye_is_recognised_whatever_surrounds_it(message: str) -> None:
    assert is_goodbye(message)
    assert says_goodbye(message)


@pytest.mark.parametrize(
    "message",
    [
        *["", "ok", "thanks", "danke", "谢谢", "fix the exit code tomorrow's test"],
        *["say goodnight to the user", "later we refactor", "does bye work?", "exit 1"],
        *["bis morgen fertig", "退出 code", f"goodnight {'x' * 200}"],
        *["that's all", "c'est bon", "das reicht", "that's all for today's report"],
    ],
)
def test_its_words_in_a_sentence_mean_nothing(message: str) -> None:
    assert not is_goodbye(message)
    assert not says_goodbye(message)


@for_each(
    "message",
    [
        *["Please keep the branch as it is, goodnight!", "I need to catch a train. Bye!"],
        *["Leave the tests for now; see you tomorrow.", "push it when CI is green - good night"],
        *["We stop at the parser and that's all for today good night", "Fix it on Monday\nttyl"],
        *["Lass die Tests so, gute Nacht", "Den Rest machen wir am Montag. Bis morgen!"],
        *["Ich bin fertig für heute und das war's für heute tschüss"],
        *["Laisse les tests comme ça, bonne nuit", "On verra le reste lundi. À demain !"],
        *["Deja las pruebas así, buenas noches", "El resto lo vemos el lunes. ¡Hasta mañana!"],
        *["测试先不改，晚安", "剩下的周一再看。明天见！", "分支先留着，今天就到这里吧晚安"],
        *["テストはそのままで。おやすみなさい", "残りは月曜日に、また明日"],
    ],
)
def test_a_goodbye_at_the_end_of_a_sentence_counts_and_the_rest_is_still_a_request(
    message: str,
) -> None:
    assert says_goodbye(message)
    assert not is_goodbye(message)


@pytest.mark.parametrize(
    "message",
    [
        *["rename the greeting, then the exit", "print 'hello, goodbye'", 'say "hi, good night"'],
        *["mach das bis morgen", "do it later", "the job runs until tomorrow", "fix the logout"],
        *["写一个函数打印晚安", "termínalo para hasta mañana", "Was heißt „gute Nacht“?"],
    ],
)
def test_its_words_at_the_end_mean_nothing_without_a_pause_before_them(message: str) -> None:
    assert not says_goodbye(message)


def test_every_language_has_goodbyes_for_the_end_of_a_sentence() -> None:
    for language in read_languages():
        assert language.goodbyes.farewells, language.code
        for farewell in language.goodbyes.farewells:
            assert says_goodbye(f"That is the last file. {farewell.capitalize()}!"), farewell


@given(st.text(max_size=300))
def test_any_text_can_be_asked_about(message: str) -> None:
    assert is_goodbye(f"{message} fix it now") is False
    assert says_goodbye(f"{message} fix it now") is False
