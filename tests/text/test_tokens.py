"""The estimate is never below the true count, and close to it."""

import random
import string
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.text.budget import estimate
from rows import for_each


class Truth(NamedTuple):
    """Counts measured with the packages that docs/budget.md lists."""

    cl100k: int
    o200k: int
    gemini: int
    gemma_3: int
    claude_2: int
    claude_3_to_4_6: int
    claude_4_7: int


MEASURED: dict[str, tuple[str, Truth]] = {
    "prose": (
        (
            "The session stopped while the agent was moving the login form to the new router. "
            "Two tests still fail because the redirect after a wrong password keeps the old "
            "query string. The next step is to read the handler again, fix the redirect, and run "
            "the tests for the whole folder before anything is committed. Nobody has looked at "
            "the mobile layout yet, and the plan says that it comes last."
        ),
        Truth(78, 78, 78, 78, 78, 77, 110),
    ),
    "markdown": (
        (
            "## Next\n"
            "\n"
            "Run `pytest tests/auth -x` and fix the first failure.\n"
            "\n"
            "- [x] Move the form to `src/routes/login.tsx`\n"
            "- [x] Keep the **return path** in the session\n"
            "- [ ] Redirect after a wrong password\n"
            "- [ ] Mobile layout (see [the plan](docs/plan.md))\n"
            "\n"
            "| file | state |\n"
            "|---|---|\n"
            "| `src/auth/session.ts` | changed |\n"
            "| `src/routes/index.ts` | untouched |\n"
        ),
        Truth(101, 101, 115, 116, 119, 117, 154),
    ),
    "python": (
        (
            "def choose(checkpoints: Sequence[Checkpoint], *, branch: str) -> Checkpoint | None:\n"
            '    """Pick the newest checkpoint of this branch."""\n'
            "    here = [c for c in checkpoints if c.git.branch == branch]\n"
            "    return max(here, key=lambda c: (not c.is_autosave, c.saved_at), default=None)\n"
        ),
        Truth(71, 71, 82, 83, 79, 86, 120),
    ),
    "typescript": (
        (
            "export async function loadSession(id: string, options: LoadOptions = {}): "
            "Promise<Session | undefined> {\n"
            "  const response = await fetch(`${BASE_URL}/sessions/${id}`, { headers: { Accept: "
            "'application/json' } });\n"
            "  if (!response.ok) {\n"
            "    throw new HttpError(response.status, response.statusText);\n"
            "  }\n"
            "  return (await response.json()) as Session;\n"
            "}\n"
        ),
        Truth(80, 81, 95, 96, 94, 97, 132),
    ),
    "paths": (
        (
            "src/leftoff/store/files.py\n"
            "tests/agents/recorded/claude-2.1.204/session-start.json\n"
            "/home/maria/projects/web-shop/packages/checkout/src/components/PaymentForm.test.tsx:"
            "118:24\n"
            "C:\\Users\\maria\\AppData\\Local\\Temp\\build-7f3a\\output.log\n"
            "../node_modules/.pnpm/react-dom@18.3.1/node_modules/react-dom/index.js\n"
        ),
        Truth(91, 93, 121, 121, 120, 116, 147),
    ),
    "json": (
        (
            '{"type":"tool_result","tool_use_id":"toolu_01A9x","is_error":true,"content":[{"type"'
            ':"text","text":"Exit code 1\\nFAILED tests/test_login.py::test_redirect - '
            'AssertionError: 302 != 200"}],"usage":{"input_tokens":18234,"output_tokens":512}}'
        ),
        Truth(67, 69, 89, 88, 75, 89, 114),
    ),
    "minified": (
        (
            '!function(e,t){"object"==typeof exports&&"undefined"!=typeof '
            'module?t(exports):"function"==typeof '
            'define&&define.amd?define(["exports"],t):t((e=e||self).Lib={})}(this,function(e){"us'
            'e strict";var t=Object.keys,n=function(e){return null!=e&&"object"==typeof '
            "e};e.isObject=n;for(var r=0,o=t(e);r<o.length;r++){var i=o[r];e[i].displayName=i}});"
        ),
        Truth(110, 111, 131, 132, 133, 137, 164),
    ),
    "hashes": (
        (
            "3f2a1bc9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a3 550e8400-e29b-41d4-a716-446655440000 "
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
        ),
        Truth(104, 104, 140, 140, 107, 107, 113),
    ),
    "log": (
        (
            "2026-11-15T20:39:12.345Z ERROR [pool-3-thread-17] c.e.shop.CheckoutService - "
            "payment 48151623 failed after 3 retries (timeout=30000ms)\n"
            "\tat com.example.shop.CheckoutService.pay(CheckoutService.java:214)\n"
        ),
        Truth(64, 63, 93, 94, 71, 78, 101),
    ),
    "chinese": (
        (
            "会话在压缩之前保存检查点,新的会话就知道上一个会话停在哪里。请检查文件是否已更改"
            ",然后运行测试。"
        ),
        Truth(46, 34, 28, 31, 40, 50, 50),
    ),
    "japanese": (
        (
            "セッションが圧縮される前にチェックポイントを保存します。ファイルが変更されたかど"
            "うかを確認して、テストを実行してください。"
        ),
        Truth(55, 35, 24, 24, 54, 47, 48),
    ),
    "korean": (
        (
            "세션이 압축되기 전에 체크포인트를 저장합니다. 파일이 변경되었는지 "
            "확인하고 테스트를 실행하세요."
        ),
        Truth(41, 29, 33, 26, 48, 53, 53),
    ),
    "russian": (
        (
            "Перед сжатием сессия сохраняет "
            "контрольную точку. Проверьте, "
            "изменились ли файлы, и запустите тесты."
        ),
        Truth(43, 32, 28, 27, 52, 44, 45),
    ),
    "german": (
        (
            "Vor der Verdichtung speichert die "
            "Sitzung einen Prüfpunkt. Prüfe, ob sich "
            "Dateien geändert haben, und führe die "
            "Tests aus."
        ),
        Truth(38, 28, 30, 30, 41, 44, 60),
    ),
    "emoji": (
        ("✅ 12 passed ❌ 2 failed ⚠️ 1 warning 🚀 done 🎉 → see ├── src └── tests"),
        Truth(32, 30, 26, 27, 32, 45, 49),
    ),
    "capitals": (
        ("ERROR: CONNECTION REFUSED BY REMOTE HOST. DO NOT EDIT. MAX_RETRIES=5 DB_HOST=LOCALHOST"),
        Truth(24, 24, 25, 24, 26, 28, 63),
    ),
    "briefing": (
        (
            "## Where this work was left off\n"
            "Task: Port the CSV exporter to streaming writes, and keep the old flag until the "
            "next release.\n"
            "Left off 2 hours ago on branch `export-stream`, 3 commits ahead of main.\n"
            "\n"
            "Done:\n"
            "- The writer yields rows in batches of 500 instead of building a list.\n"
            "- `exporter.close()` flushes the last batch; the test for an empty table passes.\n"
            "\n"
            "Failing: `pytest tests/test_export.py -x`\n"
            "  tests/test_export.py:88: AssertionError: expected 1200 rows, got 1000\n"
            "Next action: find out why the last two batches aren't written when the reader stops "
            "early.\n"
            "\n"
            "Decisions:\n"
            "- Batches, not single rows: one write per row was four times slower.\n"
            "Files: src/export/writer.py (edited), tests/test_export.py (uncommitted), "
            "docs/export.md (to create)\n"
        ),
        Truth(182, 183, 212, 214, 201, 218, 272),
    ),
    "answer": (
        (
            "I've read the failing test and the handler it calls. The problem isn't the redirect "
            "itself: the middleware drops the query string before the handler sees it, so "
            "there's nothing left to keep. I'd rather fix that in one place than patch every "
            "route. Shall I change the middleware, or would you prefer a smaller change for now?"
        ),
        Truth(69, 65, 73, 73, 69, 69, 97),
    ),
    "git log": (
        (
            "commit 4f1c2d9ab07e6358\n"
            "Author: Maria Keller <maria@example.org>\n"
            "Date:   Mon Nov 2 18:04:11 2026 +0100\n"
            "\n"
            "    Keep the query string when a login fails\n"
        ),
        Truth(55, 55, 67, 67, 52, 58, 73),
    ),
    "base64": (
        (
            "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljN"
            "BAAO9TXL0Y4OHwAAAABJRU5ErkJggg=="
        ),
        Truth(67, 66, 67, 69, 67, 80, 105),
    ),
    "digits": (
        ("3141592653589793238462643383279502884197 27182818284590452353602874713526"),
        Truth(26, 26, 73, 73, 32, 26, 26),
    ),
    "backticks": (
        ("`````````````````````````````````````````````````"),
        Truth(24, 24, 13, 24, 6, 12, 13),
    ),
    "one word": (
        ("the the the the the the the the the the the the the the the the the the the the"),
        Truth(20, 20, 20, 20, 20, 19, 20),
    ),
    "random letters": (
        ("qzxvkjwpy fhgtrbnmq XKQJZ wvUTsrQPon zzqqxxjj kqwvxz jxqzkv PQZXWV bqkzjx vwxqzk"),
        Truth(47, 46, 41, 40, 44, 65, 71),
    ),
    "spaced marks": (
        ("] ; ^ ~ [ ) ( ' ` @ $ _ \\ + / { } ? ! , ] ; ^ ~ [ ) ( ' ` @ $ _ \\"),
        Truth(33, 33, 33, 33, 33, 34, 63),
    ),
    "box drawing": (
        ("┌──────┬──────┐\n│ name │ size │\n├──────┼──────┤\n│ a.py │ 12 K │\n└──────┴──────┘\n"),
        Truth(48, 47, 41, 35, 50, 51, 51),
    ),
    "emoji alone": (
        ("🚀 🎉 🤖 🥊 🧪 🧹 🪄 🫠 🦀 🐍 🐘 🧭 🪤 🫧"),
        Truth(42, 39, 26, 29, 40, 55, 55),
    ),
    "rare ideographs": (
        ("龘靐齉爩龗麤鱻灪籲纞虋驫鸞鬱讟"),
        Truth(35, 31, 31, 37, 33, 33, 33),
    ),
    "curly": (
        ("It’s “done”, she said — but the ‘old’ tests still fail…"),
        Truth(17, 17, 18, 18, 18, 17, 24),
    ),
}
# Session text must be close. Texts with many digits, symbols or foreign letters may cost more.
CLOSE = (
    "prose",
    "markdown",
    "python",
    "typescript",
    "paths",
    "json",
    "minified",
    "capitals",
    "briefing",
    "answer",
    "base64",
    "random letters",
)
FAR = 1.65


@for_each("name", MEASURED)
def test_the_estimate_is_never_below_the_dearest_tokenizer(name: str) -> None:
    text, truth = MEASURED[name]

    assert estimate(text) >= max(truth)


@for_each("name", MEASURED)
def test_the_estimate_is_close_to_the_dearest_tokenizer(name: str) -> None:
    text, truth = MEASURED[name]

    assert estimate(text) <= max(truth) * (1.15 if name in CLOSE else FAR)


def test_nothing_costs_nothing() -> None:
    assert estimate("") == 0


@pytest.mark.parametrize(
    "text", ["a", " ", "\n", "\0", "é", "中", "\U0001f600", "\ud83d", "\ue000"]
)
def test_anything_costs_something(text: str) -> None:
    assert estimate(text) >= 1


@given(st.text(), st.text())
def test_two_texts_together_cost_hardly_more_than_apart(first: str, second: str) -> None:
    # A word that is one token alone may be part of one that is not.
    assert estimate(first + second) <= estimate(first) + estimate(second) + 8


@given(st.text(), st.sampled_from([" ", "\n"]), st.text())
def test_more_words_never_cost_less(first: str, gap: str, more: str) -> None:
    assert estimate(first + gap + more) >= estimate(first)


@given(st.text(st.characters(max_codepoint=0x7E, min_codepoint=0x21), min_size=1))
def test_no_text_costs_more_than_two_tokens_a_character(text: str) -> None:
    assert estimate(text) <= 2 * len(text) + 2


# How many tokens the dearest tokenizer needs for 100 of a character with spaces in between.
SPACED = {"\u2282": 498, "\u28ff": 498, "\U0001f94a": 399, "\u3400": 399, "]": 199}
# And for a line of 300 marks; it needs one for each of the marks that are missing here.
LINES = {"#": 19, ".": 19, "=": 19, "*": 25, "_": 38, "-": 50, "/": 75, "?": 75} | dict.fromkeys(
    "\"'()+:`|", 150
)


@pytest.mark.parametrize("character", SPACED)
def test_symbols_pay_for_the_spaces_beside_them(character: str) -> None:
    assert estimate(" ".join([character] * 100)) >= SPACED[character]


@for_each("mark", string.punctuation)
def test_a_line_of_one_mark_is_never_below_the_dearest_tokenizer(mark: str) -> None:
    assert estimate(mark * 300) >= LINES.get(mark, 300)


def test_random_letters_cost_more_than_words() -> None:
    letters = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=300))  # noqa: S311

    assert estimate(letters) > 2 * estimate(MEASURED["prose"][0][:300])


def test_a_very_long_word_is_priced_by_its_length() -> None:
    assert estimate("ab" * 200_000) >= 10 * estimate("ab" * 10_000)
