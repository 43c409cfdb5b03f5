from datetime import timedelta

import pytest

from cli.runs import Cli, save_at
from gitrepo import Repo
from rows import for_each


@pytest.fixture
def filled(cli: Cli, repo: Repo) -> Cli:
    save_at(repo.folder, {"old-parser": timedelta(days=30), "new-parser": timedelta(hours=1)})
    cli.ok("save", "cjk-search", "--summary=日本語の全文検索を追加する", "--next=검색 시험")
    repo.git("checkout", "-q", "-b", "feat/tokens")
    cli.ok("save", "token-work", "--summary=Rotate the refresh tokens", "--blocker=The clock skews",
           "--failed=Sliding expiry :: the proxy strips cookies", "--file=app.py")  # fmt: skip
    return cli


def found(cli: Cli, *words: str) -> list[str]:
    return [each["name"] for each in cli.json("search", *words)]


@for_each(
    ("words", "names"),
    [
        (["refresh", "tokens"], ["token-work"]),
        (["TOKENS", "refresh"], ["token-work"]),
        (["toke"], ["token-work"]),
        (["proxy"], ["token-work"]),
        (["skews"], ["token-work"]),
        (["app.py"], ["token-work"]),
        (["parser"], ["new-parser", "old-parser"]),
        (["全文検索"], ["cjk-search"]),
        (["検索"], ["cjk-search"]),
        (["검색"], ["cjk-search"]),
        (["refresh", "parser"], []),
        (["absent"], []),
    ],
)
def test_all_words_must_occur_and_the_last_may_be_a_beginning(
    filled: Cli, words: list[str], names: list[str]
) -> None:
    assert found(filled, *words) == names


@for_each(
    "words",
    ['"', '""', "*", "a*", "NEAR", "NEAR(a b)", "-x", "--", "text:", "col:x", "AND", "OR NOT", "(",
     ")", "^a", "{a b}", "a + b", "'; DROP TABLE words; --", "\\", "%", "\x00", "🎉", "'", "-q-x",
     ""],
)  # fmt: skip
def test_operators_of_the_index_are_only_words(filled: Cli, words: str) -> None:
    result = filled("search", "--json", "--", words)

    assert result.code == 0, result
    assert isinstance(result.json, list)
    assert found(filled, "refresh") == ["token-work"]


def test_a_word_with_a_dash_needs_no_quoting(filled: Cli) -> None:
    filled.ok("save", "flag-work", "--summary=Explain what -x does")

    assert found(filled, "-x") == ["flag-work"]


def test_filters_narrow_by_branch_agent_and_date(filled: Cli) -> None:
    assert found(filled, "work", "--branch", "feat/tokens") == ["token-work"]
    assert found(filled, "work", "--branch", "feat") == []
    assert found(filled, "parser", "--agent", "claude") == ["new-parser", "old-parser"]
    assert found(filled, "parser", "--agent", "codex") == []
    assert found(filled, "parser", "--since", "7d") == ["new-parser"]
    assert found(filled, "parser", "--until", "7d") == ["old-parser"]
    assert found(filled, "parser", "--since", "60d", "--until", "20d") == ["old-parser"]


def test_a_date_until_includes_its_day(filled: Cli) -> None:
    today = filled.json("show", "token-work")["saved_at"][:10]

    assert found(filled, "tokens", "--until", today) == ["token-work"]
    assert found(filled, "tokens", "--since", today) == ["token-work"]
    assert found(filled, "tokens", "--until", "2020-01-01") == []
    assert found(filled, "tokens", "--since", "0001-01-01", "--until", "9999-12-31") == [
        "token-work"
    ]


@pytest.mark.parametrize("when", ["soon", "2026-13-01", "7", "2026-11-15T25:00"])
def test_a_date_that_is_none_is_refused(filled: Cli, when: str) -> None:
    assert filled("search", "x", "--since", when).code == 2


def test_people_see_the_words_around_the_match(filled: Cli) -> None:
    name, snippet = filled.ok("search", "cookies").out.splitlines()

    assert name == "token-work  just now  feat/tokens"
    assert "the proxy strips cookies" in snippet
    assert "\n" not in filled.json("search", "cookies")[0]["snippet"]
    assert filled.ok("search", "absent").out == "Nothing found.\n"


def test_what_was_cleared_is_found_on_demand(filled: Cli) -> None:
    filled.ok("clear", "token-work")

    assert found(filled, "refresh") == []
    assert "add --all" in filled.ok("search", "refresh").out
    assert filled.ok("search", "refresh", "--all").out.startswith("token-work")
    assert found(filled, "refresh", "--all") == ["token-work"]


def test_a_limit_keeps_the_newest(filled: Cli) -> None:
    assert found(filled, "parser", "--limit", "1") == ["new-parser"]


def test_there_must_be_a_word(filled: Cli) -> None:
    assert filled("search").code == 2


def test_a_thread_is_one_hit_however_many_of_its_revisions_match(filled: Cli) -> None:
    for step in range(5):
        filled.ok("save", "token-work", "--overwrite", f"--summary=Rotate the tokens, part {step}")
    for step in range(2):
        filled.ok("save", "old-tokens", "--overwrite", f"--summary=Old tokens {step}", "--next=Go")
    filled.ok("done", "old-tokens")

    hits = filled.json("search", "tokens")

    assert [each["name"] for each in hits] == ["token-work"]
    assert "part 4" in hits[0]["snippet"]
    assert found(filled, "tokens", "--all") == ["old-tokens", "token-work"]
    assert found(filled, "tokens", "--all", "--limit", "1") == ["old-tokens"]


def test_a_thread_is_found_by_what_an_older_revision_said(filled: Cli) -> None:
    filled.ok("save", "token-work", "--overwrite", "--summary=Something else", "--next=Run it")

    (hit,) = filled.json("search", "refresh", "tokens")
    # What comes next in the older revision may have been done since.
    assert (hit["summary"], hit["next_action"]) == ("Something else", "Run it")
    assert hit["is_earlier"]
    assert "  earlier: Rotate the refresh tokens" in filled.ok("search", "refresh", "tokens").out
    assert not filled.json("search", "something")[0]["is_earlier"]
