"""Paths are found in the sentences that people and agents write, and nothing else is."""

import pytest

from leftoff.text.mentioned_paths import find_paths


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("Wrote src/auth.py lines 45-120", ["src/auth.py"]),
        ("`src/auth.py:45-120` fails, see (docs/login.md).", ["src/auth.py", "docs/login.md"]),
        ("Read ./a/b.ts, ~/notes/x.md and ../c.yml", ["a/b.ts", "~/notes/x.md", "../c.yml"]),
        ("在 `search/rank.py` 第 33 行，然后看 日志/一.txt。", ["search/rank.py", "日志/一.txt"]),
        ("/srv/app/settings.toml#L12-L20", ["/srv/app/settings.toml"]),
        ("Node.js 22 and/or Vue.js, 24/7, n/a, v1.2.3, e.g. TCP/IP", []),
        ("https://example.com/a.html and example.com/page.html", []),
        ("on feat/payment-retry at 18:40, mail ada@example.md", []),
        ("src/*.py and <path>/x.py", []),
        ("Add it to `api/app.py`, then run `pytest tests/test_app.py`", ["tests/test_app.py"]),
    ],
)
def test_paths_are_found(text: str, paths: list[str]) -> None:
    assert [path for path, must_exist in find_paths(text) if must_exist] == paths


@pytest.mark.parametrize(
    "text", ["Create src/new.py", "Add a test to tests/test_x.py", "Fixed app.py", "mv a.md b/c.md"]
)
def test_a_file_to_be_made_and_a_bare_name_need_not_exist(text: str) -> None:
    assert [must_exist for _, must_exist in find_paths(text)][-1] is False
