import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.errors import NameRefused
from leftoff.names import (
    FORBIDDEN,
    NAME_LIMIT,
    RESERVED,
    check_name,
    clean_name,
    find_unused_name,
    kebab,
    suggest_name,
)
from rows import for_each


@for_each(
    ("text", "name"),
    [
        ("Feat/My Thing", "feat-my-thing"),
        ("login-form", "login-form"),
        ("  Login   FORM!! ", "login-form"),
        ("fix: parse_date(2)", "fix-parse-date-2"),
        ("../../x", "x"),
        ("a\x00b", "a-b"),
        ("..", ""),
        ("/", ""),
        ("", ""),
        ("🚀 launch 🚀", "launch"),
        ("🚀", ""),
        ("abc\u202etxt.exe", "abc-txt-exe"),
        ("Café Münster", "cafe-munster"),
        ("Straße", "strasse"),
        ("日本語の名前", "日本語の名前"),
        ("CON", "con"),
        ("C:\\temp\\x", "c-temp-x"),
    ],
)
def test_any_text_becomes_lowercase_words_joined_by_dashes(text: str, name: str) -> None:
    assert kebab(text) == name


@given(st.text(max_size=300))
def test_a_name_is_stable_short_and_never_a_path(text: str) -> None:
    name = kebab(text)

    assert kebab(name) == name
    assert len(name) <= NAME_LIMIT
    assert not set(name) & set("/\\\0.~ \n\u202e")
    assert not name.startswith("-")
    assert not name.endswith("-")
    assert name == name.casefold()


@given(st.text(alphabet="ab-é𝔄ﬃ日 ", max_size=200))
def test_cutting_a_long_name_leaves_a_name(text: str) -> None:
    assert kebab(kebab(text)) == kebab(text)


def test_ten_kilobytes_become_a_short_name_cut_between_words() -> None:
    name = kebab("word " * 2000)

    assert name == "-".join(["word"] * 12)


def test_names_that_differ_in_case_only_are_one_name() -> None:
    assert kebab("Login-Form") == kebab("LOGIN-FORM") == kebab("login form")


def test_names_that_look_the_same_are_one_name() -> None:
    assert kebab("caf\u00e9") == kebab("cafe\u0301")
    assert kebab("\uff4cogin") == kebab("login")


@pytest.mark.parametrize(
    "text", [*sorted(FORBIDDEN | RESERVED), "Task", "BACKUP!", "", "///", "🚀", "\0"]
)
def test_a_name_that_says_nothing_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(NameRefused) as refusal:
        check_name(text)

    assert refusal.value.exit_code == 2
    assert refusal.value.message.isprintable()
    assert refusal.value.hint


def test_a_refusal_does_not_repeat_what_would_upset_a_terminal() -> None:
    with pytest.raises(NameRefused) as refusal:
        check_name("\x1b[;\x07\u202e")

    assert "\x1b" not in refusal.value.message
    assert "\u202e" not in refusal.value.message


def test_strict_takes_only_what_is_kebab_case_already() -> None:
    assert check_name("login-form", strict=True) == "login-form"
    with pytest.raises(NameRefused, match="kebab-case") as refusal:
        check_name("Login Form", strict=True)
    assert "login-form" in refusal.value.hint


@pytest.mark.parametrize(
    ("texts", "branch", "name"),
    [
        (["Validate the login form before submit"], None, "validate-login-form-before"),
        (["Fix", None], "feat/search-page", "search-page"),
        ([None], "fix/PROJ-12-crash-on-start-of-app", "proj-12-crash-on"),
        ([], "main", "unnamed-session"),
        (["refactoring"], "main", "refactoring-session"),
        ([], None, "unnamed-session"),
        (["don't panic now"], None, "dont-panic"),
        (["Build the report page. Rule 1 says how."], None, "build-report-page"),
        (["Hm. Version 1.2 of the parser fails"], None, "hm-version-1-2"),
        (["\n\n First line\nsecond line"], None, "first-line"),
        (["Baue einen Rate-Limiter in die API ein"], None, "baue-rate-limiter-die"),
        (["Rédige le module de facturation"], None, "redige-module-de-facturation"),
        (["Añade búsqueda difusa al buscador"], None, "anade-busqueda-difusa-buscador"),
        (["Install the El Al app"], None, "install-app"),
    ],
)
def test_a_name_is_made_from_the_work(
    texts: list[str | None], branch: str | None, name: str
) -> None:
    assert suggest_name(texts, branch) == name


@given(st.lists(st.none() | st.text(max_size=80), max_size=4), st.none() | st.text(max_size=80))
def test_a_suggested_name_can_be_used_as_it_is(texts: list[str | None], branch: str | None) -> None:
    name = suggest_name(texts, branch)

    assert check_name(name, strict=True) == name


def test_a_taken_name_gets_the_first_free_number() -> None:
    assert find_unused_name("login-form", []) == "login-form"
    assert find_unused_name("login-form", ["login-form"]) == "login-form-2"
    assert find_unused_name("login-form", ["login-form", "login-form-2"]) == "login-form-3"
    assert find_unused_name("login-form", ["login-form", "login-form-3"]) == "login-form-2"


@given(st.text(min_size=1, max_size=90), st.integers(0, 12))
def test_a_numbered_name_is_a_name_of_its_own(text: str, count: int) -> None:
    name = kebab(text)
    if name:
        taken: list[str] = []
        for _ in range(count + 1):
            free = find_unused_name(name, taken)
            assert free not in taken
            assert kebab(free) == free
            taken.append(free)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Fix_Login.v2", "fix_login.v2"),
        ("größe", "größe"),
        ("gro\u0308sse", "grösse"),
        ("My  Feature / Two", "my--feature---two"),
        (" Feat/ ", "feat-"),
        ("../../etc", "etc"),
        ("--.x", "x"),
        ("**bold** `code`", "**bold**-`code`"),
        ("fix: C:\\temp", "fix:-c:\\temp"),
        ("a\x00b\nc", "a-b-c"),
        ("/", ""),
        ("...", ""),
    ],
)
def test_a_plain_name_keeps_its_spelling(text: str, name: str) -> None:
    assert clean_name(text) == name


@given(st.text(max_size=300))
def test_a_plain_name_is_stable_and_the_name_of_a_file(text: str) -> None:
    name = clean_name(text)

    assert clean_name(name) == name
    assert not set(name) & set("/ \n\0")
    assert not name.startswith((".", "-"))
    assert len(f"checkpoint-{name}.md".encode()) <= 255


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "no thanks, let's do something else: rename cart.py to basket.py",
            "rename-cart-basket",
        ),
        ("hey look why the build fails", "why-build-fails"),
        ("Ok, please can you fix the date parser", "fix-date-parser"),
        ("I want you to port the exporter", "port-exporter"),
        ("let’s add a login form", "add-login-form"),
        ("let's continue with the shopping cart", "shopping-cart"),
        ("No-op the cache in tests", "no-op-cache-tests"),
        ("no retries for uploads", "no-retries-uploads"),
        ("look up users by mail", "look-users-mail"),
        ("so-called fast path", "called-fast-path"),
    ],
)
def test_a_name_leaves_out_what_people_say_first(text: str, name: str) -> None:
    assert suggest_name([text], None) == name


@pytest.mark.parametrize("text", ["continue", "yes please", "ok, thanks!", "Let's go on"])
def test_a_go_ahead_is_never_a_name(text: str) -> None:
    assert suggest_name([text], None) == "unnamed-session"
    assert suggest_name([text, "Edit z.py"], None) == "edit-z"


_TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "app.py", line 3, in <module>\n'
    '    order["user_id"]\n'
    "KeyError: 'user_id'"
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (_TRACEBACK, "fix-keyerror-user-id"),
        (f"I get this error:\n{_TRACEBACK}", "fix-keyerror-user-id"),
        (f"fix this\n\n{_TRACEBACK}\n", "fix-keyerror-user-id"),
        (f"Orders of guests cannot be shown:\n{_TRACEBACK}", "orders-guests-cannot-shown"),
        (f"{_TRACEBACK}\n\nmake guests able to order", "make-guests-able-order"),
        ("can you add a retry to the client?", "add-retry-client"),
        ("Could you please add a retry to the client?", "add-retry-client"),
        ("can you maybe fix the login form", "fix-login-form"),
        ("no, something else: bump the version", "bump-version"),
        ("Port export() in src/export.py to streaming writes", "port-export-streaming-writes"),
        ("The test in tests/test_export.py is flaky on CI", "test-export-flaky-ci"),
        ("Update README.md.", "update-readme"),
        ("Why does /api/users return 500?", "why-does-api-users"),
        ("Rename foo.bar to foo.baz", "rename-foo-bar-baz"),
    ],
)
def test_a_name_comes_from_the_request_and_not_from_what_is_around_it(text: str, name: str) -> None:
    assert suggest_name([text], None) == name
