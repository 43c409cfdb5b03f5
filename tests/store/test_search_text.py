"""Which search words find which checkpoints."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leftoff.checkpoint import Commit, Decision, Failure, FileRef, LastFailure, Plan, Todo
from leftoff.store import Query, Store
from leftoff.store.search_text import join_cjk, snippet, split_cjk
from stores import NOON, Clock, draft


def found(store: Store, words: str, **filters: object) -> list[str | None]:
    return [hit.entry.name for hit in store.search(Query(words=words, **filters))]  # type: ignore[arg-type]  # filters of a query


def test_every_text_of_a_checkpoint_is_found(store: Store) -> None:
    store.save(
        draft(
            "apricot-name",
            "banana",
            intent="cherry",
            left_off="damson",
            done=["elder"],
            blockers=["feijoa"],
            questions=["grape"],
            decisions=[Decision(what="honeydew", why="imbe")],
            failed=[Failure(what="jambul", why="kumquat")],
            notes=["lemon"],
            todos=[Todo(text="mango")],
            files_modified=["src/nectarine.py"],
            files=[FileRef(path="orange.py")],
            pending_prompts=["papaya"],
            plan=Plan(title="quince"),
            last_failure=LastFailure(command="raspberry", error="satsuma"),
            last_commit=Commit(sha="1", subject="tangerine"),
            commands=["git commit -m tangerine"],
            feature="ugli",
        )
    )
    words = (
        "apricot banana cherry damson elder feijoa grape honeydew imbe jambul kumquat lemon mango "
        "nectarine orange papaya quince raspberry satsuma tangerine ugli pytest"
    )

    assert [word for word in words.split() if found(store, word) != ["apricot-name"]] == []


def test_a_commit_that_the_work_did_not_make_is_not_its_text(store: Store) -> None:
    store.save(draft("one-thing", "Fix", last_commit=Commit(sha="1", subject="Export orders")))

    assert found(store, "export") == []


def test_all_words_must_be_there_and_the_last_may_be_begun(store: Store) -> None:
    store.save(draft("one-thing", "Validate the login form"))
    store.save(draft("two-things", "Validate the search page"))

    assert found(store, "validate") == ["two-things", "one-thing"]
    assert found(store, "validate login") == ["one-thing"]
    assert found(store, "login vali") == ["one-thing"]
    assert found(store, "log vali") == []
    assert found(store, "VALIDATE") == ["two-things", "one-thing"]
    assert found(store, "nothing") == []


@pytest.mark.parametrize("words", ["café", "cafe", "CAFÉ", "cafe\u0301"])
def test_accents_and_case_do_not_matter(store: Store, words: str) -> None:
    store.save(draft("one-thing", "Open the Café page"))

    assert found(store, words) == ["one-thing"]


@pytest.mark.parametrize("words", ["登录", "登录表单", "表单", "修复", "ログ", "로그"])
def test_parts_of_texts_without_spaces_are_found(store: Store, words: str) -> None:
    store.save(draft("one-thing", "修复登录表单 ログイン 로그인"))
    store.save(draft("other-thing", "登 录 is not the word"))

    assert "one-thing" in found(store, words)
    assert found(store, "录登") == []


@pytest.mark.parametrize(
    "words", ["", "  ", "-", "*", '"', "''", "()", "_", "__", "^", ":", "🚀", "\0", "́"]
)
def test_what_holds_no_word_finds_nothing_and_does_not_fail(store: Store, words: str) -> None:
    store.save(draft("one-thing", "text"))

    assert found(store, words) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.text(max_size=40) | st.text(alphabet='ab"*:()^-_{}+ NOTANDORNEAR', max_size=30))
def test_any_words_may_be_asked_for(store: Store, words: str) -> None:
    if not store.index().newest(1):
        store.save(draft("one-thing", "text"))
    index = store.project.store / "index.sqlite"
    before = index.stat().st_ino

    found(store, words)

    # A question that SQLite cannot take would look like damage, and lead to another index.
    assert index.stat().st_ino == before


def test_a_book_may_be_asked_for(store: Store) -> None:
    store.save(draft("one-thing", "word " * 700))

    assert found(store, "word " * 5000) == ["one-thing"]


def test_file_names_and_identifiers_are_found_by_their_parts(store: Store) -> None:
    store.save(draft("one-thing", "Fix parse_date in src/date-utils/parse.py"))

    for words in ("parse_date", "parse", "date-utils", "src/date-utils/parse.py", "utils parse.py"):
        assert found(store, words) == ["one-thing"], words


def test_filters_narrow_the_answer(store: Store, clock: Clock) -> None:
    store.save(draft("one-thing", "word", branch="main", agent="claude"))
    clock.move(days=10)
    store.save(draft("two-things", "word", branch="feat/main-page", agent="codex"))

    assert found(store, "word", branch="main") == ["one-thing"]
    assert found(store, "word", branch="feat/main-page") == ["two-things"]
    assert found(store, "word", branch="-") == []
    assert found(store, "word", agent="codex") == ["two-things"]
    assert found(store, "word", since=NOON + timedelta(days=5)) == ["two-things"]
    assert found(store, "word", until=NOON + timedelta(days=5)) == ["one-thing"]
    assert found(store, "word", limit=1) == ["two-things"]


def test_what_was_cleared_is_found_only_when_asked_for(store: Store) -> None:
    saved = store.save(draft("one-thing", "word"))
    store.record("cleared", [saved.checkpoint.id])

    assert found(store, "word") == []
    assert found(store, "word", with_trashed=True) == ["one-thing"]


def test_the_words_around_the_match_are_shown_on_one_line() -> None:
    text = "some-name\n" + "begin " * 40 + "needle in a haystack " + "finish " * 60

    shown = snippet(text, "needle")

    assert "needle in a haystack" in shown
    assert shown.startswith("…begin")
    assert shown.endswith("finish…")
    assert len(shown) < 200


def test_each_field_that_matches_is_shown_apart() -> None:
    text = "cart-totals\nRound the cart totals\nWrite a test of the drift\nSomething else"

    assert snippet(text, "cart drift") == "Round the cart totals · Write a test of the drift"
    assert snippet(text, "cart-totals") == "Round the cart totals"
    assert snippet("cart-totals\nRound it", "totals") == "cart-totals"


def test_a_short_text_is_shown_whole() -> None:
    assert snippet("needle in a haystack", "needle") == "needle in a haystack"


@given(st.text(alphabet="ab 登录ログ로", max_size=30))
def test_setting_characters_apart_can_be_taken_back(text: str) -> None:
    assert join_cjk(split_cjk(text)).replace(" ", "") == text.replace(" ", "")
