"""Plain sentences mean commands, but sentences about the work do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.phrases.intents import find_intent, find_topic, passes_always
from rows import for_each

NAMES = ["my-feature", "login"]


def meant(text: str, *, at_start: bool = False, can_resume: bool = True) -> str | None:
    found = find_intent(text, names=NAMES, can_resume=can_resume, at_start=at_start)
    return " ".join(found.command) if found else None


@pytest.mark.accept(24)
@for_each(
    ("text", "command"),
    [
        ("resume work", "leftoff resume"),
        ("Where did we stop?", "leftoff resume"),
        ("pick up where we left off", "leftoff resume"),
        ("continue my-feature", "leftoff resume my-feature"),
        ("Continue `login`", "leftoff resume login"),
        ("resume checkpoint other one", "leftoff resume other-one"),
        ("save my progress", "leftoff save"),
        ("Please save my progress.", "leftoff save"),
        ("checkpoint", "leftoff save"),
        ("save my place", "leftoff save"),
        ("save where we are", "leftoff save"),
        ("preserve the session state", "leftoff save"),
        ("resume task login form", "leftoff resume login-form"),
        ("continue with the task login", "leftoff resume login"),
        ("resume from the last checkpoint", "leftoff resume"),
        ("restore my session", "leftoff resume --pending"),
        ("restore from checkpoint", "leftoff resume --pending"),
        ("open a pull request", "leftoff ship"),
        ("ship it!", "leftoff ship"),
        ("save checkpoint login form", "leftoff save login-form"),
        ("save as Feat/My Thing", "leftoff save feat-my-thing"),
        ("clear all checkpoints", "leftoff clear --all"),
        ("clear my checkpoints!", "leftoff clear --all"),
        ("delete the checkpoint login", "leftoff clear login"),
        ("list checkpoints", "leftoff list"),
        ("which checkpoints are there?", "leftoff list"),
        ("show pending prompts", "leftoff prompts list"),
        ("bring my checkpoints back", "leftoff undo"),
        ("leftoff status", "leftoff status"),
    ],
)
def test_english_sentences_mean_commands(text: str, command: str) -> None:
    assert meant(text) == command


@pytest.mark.accept(24)
@for_each(
    ("text", "command"),
    [
        ("Wo haben wir aufgehört?", "leftoff resume"),
        ("Wo sind wir stehengeblieben?", "leftoff resume"),
        ("Arbeit fortsetzen", "leftoff resume"),
        ("weiter mit my-feature", "leftoff resume my-feature"),
        ("Bitte speichere den Stand", "leftoff save"),
        ("Fortschritt speichern", "leftoff save"),
        ("speichere als login-form", "leftoff save login-form"),
        ("Lösche alle Checkpoints", "leftoff clear --all"),
        ("Checkpoint wiederherstellen", "leftoff resume --pending"),
        ("vom letzten Checkpoint fortsetzen", "leftoff resume"),
        ("reanudar desde el checkpoint", "leftoff resume"),
        ("reprendre depuis le checkpoint", "leftoff resume"),
        ("从检查点恢复", "leftoff resume"),
        ("Aufgabe login fortsetzen", "leftoff resume login"),
        ("Setze die Aufgabe login fort", "leftoff resume login"),
        ("Weitermachen, wo wir aufgehört haben", "leftoff resume"),
        ("Woran habe ich zuletzt gearbeitet?", "leftoff resume"),
        ("Sur quoi je travaillais ?", "leftoff resume"),
        ("¿En qué estaba trabajando?", "leftoff resume"),
        ("我之前在做什么？", "leftoff resume"),
        ("昨日は何をしていたっけ？", "leftoff resume"),
        ("タスク login を再開して", "leftoff resume login"),
        ("speichere den Checkpoint login-form", "leftoff save login-form"),
        ("sauvegarde le checkpoint login-form", "leftoff save login-form"),
        ("guarda el punto de control login-form", "leftoff save login-form"),
        ("保存检查点 login-form", "leftoff save login-form"),
        ("restaura el punto de control", "leftoff resume --pending"),
        ("retoma la tarea login", "leftoff resume login"),
        ("restaure le point de contrôle", "leftoff resume --pending"),
        ("reprends la tâche login", "leftoff resume login"),
        ("恢复检查点", "leftoff resume --pending"),
        ("继续任务 login", "leftoff resume login"),
        ("進捗を保存してください", "leftoff save"),
        ("チェックポイント", "leftoff save"),
        ("前回の続きから始めて", "leftoff resume"),
        ("どこまでやったっけ？", "leftoff resume"),
        ("チェックポイントから復元して", "leftoff resume --pending"),
        ("チェックポイント一覧を表示して", "leftoff list"),
        ("すべてのチェックポイントを削除してください", "leftoff clear --all"),
        ("Zeig mir alle Checkpoints", "leftoff list"),
        ("¿Dónde nos quedamos?", "leftoff resume"),
        ("continuar con el trabajo", "leftoff resume"),
        ("Guarda mi progreso", "leftoff save"),
        ("guardar como login-form", "leftoff save login-form"),
        ("borra todos los checkpoints", "leftoff clear --all"),
        ("muestra los puntos de control", "leftoff list"),
        ("Où en étions-nous ?", "leftoff resume"),
        ("reprendre le travail", "leftoff resume"),
        ("Sauvegarde ma progression", "leftoff save"),
        ("enregistre l’état sous login-form", "leftoff save login-form"),
        ("supprime tous les points de contrôle", "leftoff clear --all"),
        ("affiche les checkpoints", "leftoff list"),
        ("我们上次做到哪里了？", "leftoff resume"),
        ("继续上次的工作", "leftoff resume"),
        ("继续 my-feature", "leftoff resume my-feature"),
        ("请保存进度", "leftoff save"),
        ("保存为 login-form", "leftoff save login-form"),
        ("清除所有检查点", "leftoff clear --all"),
        ("列出所有检查点", "leftoff list"),
    ],
)
def test_other_languages_mean_the_same(text: str, command: str) -> None:
    assert meant(text) == command


@pytest.mark.accept(24)
@pytest.mark.parametrize(
    "word",
    [
        *["continue", "Resume!", "weiter", "continuar", "reprends", "继续", "続けて"],
        *["yes, continue", "Yes go on.", "ja, weiter", "sure, go ahead please"],
    ],
)
def test_a_bare_continue_resumes_only_at_the_start_and_with_a_checkpoint(word: str) -> None:
    assert meant(word, at_start=True) == "leftoff resume"
    assert meant(word, at_start=True, can_resume=False) is None
    assert meant(word) is None


@for_each(
    "text",
    [
        "",
        "continue with the tests",
        "continue the refactoring",
        "resume the download after a failure",
        "save the file",
        "save my work and commit it",
        "add a button that says: save my progress",
        "clear the cache",
        "delete all users",
        "restore the database from the last dump",
        "resume the upload task after a failure of the network in the middle",
        "open the pull request page in the browser",
        "テストを保存して",
        "woran arbeitet die Schleife?",
        "我在做什么都不对",
        "list the open pull requests",
        "why does save my progress fail?",
        "checkpoint the model every 10 epochs",
        "mach weiter mit den Tests",
        "continúa con las pruebas",
        "继续写测试",
        "save my progress " * 40,
    ],
)
def test_sentences_about_the_work_mean_no_command(text: str) -> None:
    assert meant(text, at_start=True) is None


@given(st.text(max_size=300))
def test_any_text_is_judged_without_trouble(text: str) -> None:
    found = find_intent(text, names=NAMES, can_resume=True, at_start=True)

    assert found is None or found.command[0] == "leftoff"
    passes_always(text)


@pytest.mark.accept(111)
@pytest.mark.parametrize(
    "prompt",
    [
        "/checkpoint",
        "\n /checkpoint --restore",
        "/checkpoint before the refactoring",
        "/compact",
        "/compact keep the plan",
        "/clear",
        "/help",
        "/leftoff:save",
        "/leftoff:resume my-feature",
        "save my progress",
    ],
)
def test_the_ways_out_always_pass(prompt: str) -> None:
    assert passes_always(prompt)


@pytest.mark.accept(111)
@pytest.mark.parametrize(
    "prompt",
    [
        "/checkpoint --purge",
        "/checkpoint --restored",
        "/checkpointfoo",
        "/compactor",
        "run /compact for me",
        "/leftoff",
        "continue",
        "where did we stop?",
        "",
    ],
)
def test_nothing_else_passes(prompt: str) -> None:
    assert not passes_always(prompt)


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("let's continue with the cart", "the cart"),
        ("Ok, can you please go on with the CSV exporter?", "the CSV exporter"),
        ("resume the exporter", "the exporter"),
        ("keep working on login", "login"),
        ("mach bitte weiter mit dem Exporter", "Exporter"),
        ("Lass uns mit der Suche weitermachen", "Suche"),
        ("continuons avec l'export", "export"),
        ("Continúa con el carrito", "carrito"),
        ("继续购物车", "购物车"),
        ("カートの続きをお願いします", "カート"),
        ("continue with this", None),
        ("continue", None),
        ("the loop may continue with the next row", None),
        ("continue with the cart\nand write tests", None),
    ],
)
def test_a_message_says_what_to_continue_with(text: str, topic: str | None) -> None:
    assert find_topic(text) == topic
