"""The estimate is never below the true count, and close to it."""

import random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.text.tokens import estimate


class Truth(NamedTuple):
    """Counts measured with js-tiktoken, @anthropic-ai/tokenizer and ctok (without its frame)."""

    cl100k: int
    o200k: int
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
        Truth(78, 78, 78, 78, 110),
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
        Truth(101, 101, 119, 118, 155),
    ),
    "python": (
        (
            "def choose(checkpoints: Sequence[Checkpoint], *, branch: str) -> Checkpoint | None:\n"
            '    """Pick the newest checkpoint of this branch."""\n'
            "    here = [c for c in checkpoints if c.git.branch == branch]\n"
            "    return max(here, key=lambda c: (not c.is_autosave, c.saved_at), default=None)\n"
        ),
        Truth(71, 71, 79, 87, 120),
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
        Truth(80, 81, 94, 98, 132),
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
        Truth(91, 93, 120, 117, 147),
    ),
    "json": (
        (
            '{"type":"tool_result","tool_use_id":"toolu_01A9x","is_error":true,"content":[{"type"'
            ':"text","text":"Exit code 1\\nFAILED tests/test_login.py::test_redirect - '
            'AssertionError: 302 != 200"}],"usage":{"input_tokens":18234,"output_tokens":512}}'
        ),
        Truth(67, 69, 75, 90, 114),
    ),
    "minified": (
        (
            '!function(e,t){"object"==typeof exports&&"undefined"!=typeof '
            'module?t(exports):"function"==typeof '
            'define&&define.amd?define(["exports"],t):t((e=e||self).Lib={})}(this,function(e){"us'
            'e strict";var t=Object.keys,n=function(e){return null!=e&&"object"==typeof '
            "e};e.isObject=n;for(var r=0,o=t(e);r<o.length;r++){var i=o[r];e[i].displayName=i}});"
        ),
        Truth(110, 111, 133, 138, 164),
    ),
    "hashes": (
        (
            "3f2a1bc9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a3 550e8400-e29b-41d4-a716-446655440000 "
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
        ),
        Truth(104, 104, 107, 108, 114),
    ),
    "log": (
        (
            "2026-11-15T20:39:12.345Z ERROR [pool-3-thread-17] c.e.shop.CheckoutService - "
            "payment 48151623 failed after 3 retries (timeout=30000ms)\n"
            "\tat com.example.shop.CheckoutService.pay(CheckoutService.java:214)\n"
        ),
        Truth(64, 63, 71, 79, 102),
    ),
    "chinese": (
        (
            "会话在压缩之前保存检查点,新的会话就知道上一个会话停在哪里。请检查文件是否已更改"
            ",然后运行测试。"
        ),
        Truth(46, 34, 40, 51, 51),
    ),
    "japanese": (
        (
            "セッションが圧縮される前にチェックポイントを保存します。ファイルが変更されたかど"
            "うかを確認して、テストを実行してください。"
        ),
        Truth(55, 35, 54, 48, 48),
    ),
    "korean": (
        (
            "세션이 압축되기 전에 체크포인트를 저장합니다. 파일이 변경되었는지 "
            "확인하고 테스트를 실행하세요."
        ),
        Truth(41, 29, 48, 54, 54),
    ),
    "russian": (
        (
            "Перед сжатием сессия сохраняет "
            "контрольную точку. Проверьте, "
            "изменились ли файлы, и запустите тесты."
        ),
        Truth(43, 32, 52, 45, 45),
    ),
    "german": (
        (
            "Vor der Verdichtung speichert die "
            "Sitzung einen Prüfpunkt. Prüfe, ob sich "
            "Dateien geändert haben, und führe die "
            "Tests aus."
        ),
        Truth(38, 28, 41, 45, 60),
    ),
    "emoji": (
        ("✅ 12 passed ❌ 2 failed ⚠️ 1 warning 🚀 done 🎉 → see ├── src └── tests"),
        Truth(32, 30, 32, 46, 50),
    ),
    "capitals": (
        ("ERROR: CONNECTION REFUSED BY REMOTE HOST. DO NOT EDIT. MAX_RETRIES=5 DB_HOST=LOCALHOST"),
        Truth(24, 24, 26, 29, 63),
    ),
}
# How far above the truth the estimate may be, by how much there is to guess.
CLOSE = {
    "prose": 1.3,
    "markdown": 1.3,
    "python": 1.35,
    "typescript": 1.35,
    "paths": 1.35,
    "json": 1.35,
}
FAR = 1.75


@pytest.mark.parametrize("name", MEASURED)
def test_the_estimate_is_never_below_the_dearest_tokenizer(name: str) -> None:
    text, truth = MEASURED[name]

    assert estimate(text) >= max(truth)


@pytest.mark.parametrize("name", MEASURED)
def test_the_estimate_is_close_to_the_dearest_tokenizer(name: str) -> None:
    text, truth = MEASURED[name]

    assert estimate(text) <= max(truth) * CLOSE.get(name, FAR)


@pytest.mark.parametrize("name", MEASURED)
def test_without_the_newest_claude_the_estimate_still_covers_all_others(name: str) -> None:
    text, truth = MEASURED[name]

    assert max(truth[:4]) <= estimate(text, newest_claude=False)


def test_a_long_english_text_costs_less_without_the_newest_claude() -> None:
    text = MEASURED["prose"][0] * 8

    assert estimate(text, newest_claude=False) < 0.85 * estimate(text)


def test_nothing_costs_nothing() -> None:
    assert estimate("") == 0


@pytest.mark.parametrize(
    "text", ["a", " ", "\n", "\0", "é", "中", "\U0001f600", "\ud83d", "\ue000"]
)
def test_anything_costs_something(text: str) -> None:
    assert estimate(text) >= 1


@given(st.text(), st.text())
def test_two_texts_together_cost_hardly_more_than_apart(first: str, second: str) -> None:
    # A word that is common alone may be part of a rare one.
    assert estimate(first + second) <= estimate(first) + estimate(second) + 8


@given(st.text(), st.sampled_from([" ", "\n"]), st.text())
def test_more_words_never_cost_less(first: str, gap: str, more: str) -> None:
    assert estimate(first + gap + more) >= estimate(first)


def test_random_letters_cost_more_than_words() -> None:
    letters = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=300))  # noqa: S311

    assert estimate(letters) > 2 * estimate(MEASURED["prose"][0][:300])
