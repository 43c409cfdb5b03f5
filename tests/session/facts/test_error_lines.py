"""The cause of a failure is found in what a command printed."""

import pytest

from leftoff.session.facts import error_lines
from rows import for_each


@pytest.mark.parametrize(
    ("output", "telling"),
    [
        ("fine\nE   AssertionError: 1 != 2\n1 failed in 3 s", "E   AssertionError: 1 != 2"),
        ("a\nb\nrg: x.toml: No such file or directory", "rg: x.toml: No such file or directory"),
        ("nothing to see\nlast words", "last words"),
        ("0 errors\nfatal: no upstream", "fatal: no upstream"),
        ("", ""),
    ],
)
def test_the_error_lines_of_a_failure_are_picked(output: str, telling: str) -> None:
    assert telling in error_lines.pick_error_lines(output).splitlines() or telling == ""


def test_error_lines_are_few_and_short() -> None:
    output = "\n".join(f"error {n} " + "x" * 1000 for n in range(1000))

    lines = error_lines.pick_error_lines(output).splitlines()

    assert len(lines) <= 3
    assert all(len(line) <= 200 for line in lines)


def test_the_place_of_an_error_comes_before_its_summary() -> None:
    output = "> build\n---\nFAILED in 3s\nsrc/a.ts:3:1 - error TS1: no\nFound 1 error."

    assert error_lines.pick_error_lines(output).splitlines()[0] == "src/a.ts:3:1 - error TS1: no"


def test_the_place_of_an_error_is_found_in_a_coloured_output() -> None:
    output = (
        "\x1b[0Ksrc/a.ts\x1b[0m:\x1b[0m3\x1b[0m:1 \x1b]8;;https://e.x\x1b\\lint/no\x1b]8;;\x1b\\"
        " ━━━━━\x1b[0m\r\n\x1b[31mFound 1 error.\x1b[0m"
    )

    assert error_lines.pick_error_lines(output).splitlines()[0] == "src/a.ts:3:1 lint/no"
    # Such a line is not one of the output's own, and may seem to introduce the next one.
    assert error_lines.pick_error_lines("\x1b[1ma.c:3: x:\x1b[0m\nerror").startswith("a.c:3: x:")


def test_a_line_that_introduces_the_next_one_is_shown_with_it() -> None:
    output = "Failed to remove 1 worktree:\n- main: has changes\nHint: commit them"

    assert error_lines.pick_error_lines(output).splitlines()[0] == (
        "Failed to remove 1 worktree: - main: has changes"
    )


def test_a_rule_or_a_bare_mark_is_not_an_error() -> None:
    assert error_lines.pick_error_lines("---\nError\nzsh: no matches found: x*").splitlines() == [
        "zsh: no matches found: x*"
    ]


def test_the_file_that_a_linter_names_comes_first() -> None:
    output = "src/a.ts format ━━━━━━\n  × Formatter would change it\nFound 1 error."

    assert error_lines.pick_error_lines(output).startswith("src/a.ts format")


def test_a_timeout_is_an_error() -> None:
    output = "running 3 tests\nTest timeout of 30000ms exceeded.\nat run (a.js)\nlast line"

    assert "Test timeout of 30000ms exceeded." in error_lines.pick_error_lines(output)


@for_each(
    ("command", "output"),
    [
        ("pytest -q 2>&1 | tail -3", "1 failed, 2 passed in 0.1s"),
        ("pytest -q | tail -1", "FAILED tests/test_a.py::test_b - assert 1 == 2"),
        ("cargo build 2>&1 | grep -E error", "error[E0308]: mismatched types"),
        ("npx tsc --noEmit | head", "src/a.ts(3,1): error TS2322: no"),
        ("go test ./... 2>&1 | tail -3", "FAIL\tpkg\t0.1s"),
        ("npm test || true", "npm ERR! code ELIFECYCLE"),
        ("ruff check . ; echo done", "Found 2 errors.\ndone"),
        ("python app.py 2>&1 | tail -1", "ValueError: bad"),
        ("go build ./... 2>&1 | head", "# example.com/a\na/a.go:12:2: undefined: lookup"),
        ("dotnet build | tail", "/w/A.cs(12,13): error CS0103: The name 'a' does not exist"),
        (
            "mvn -q test | tail -4",
            "[ERROR] Failed to execute goal x:test: There are test failures.",
        ),
        ("bun test 2>&1 | tail -4", " 1 pass\n 1 fail\nRan 2 tests across 1 file."),
        ("docker build . 2>&1 | tail -1", 'ERROR: failed to solve: process "/bin/sh" did not end'),
        ("docker compose up -d | tail -1", "Error response from daemon: driver failed"),
        ("npm install 2>&1 | tail -5", "npm error code ERESOLVE"),
        ("git push 2>&1 | tail -3", "error: failed to push some refs to 'github.com:a/b.git'"),
        ("git pull | tail -2", "CONFLICT (content): Merge conflict in a.py"),
        ("pip install foo==9 | tail -1", "ERROR: No matching distribution found for foo==9"),
    ],
)
def test_a_pipe_or_chain_can_hide_a_failure(command: str, output: str) -> None:
    assert error_lines.hides_failure(command, output)


@for_each(
    ("command", "output"),
    [
        ("pytest -q | tail -1", "3 passed, 0 failed"),
        ("pytest -q | tail -1", "2 passed, 1 xfailed"),
        ("ruff check --fix . | tail -1", "Found 2 errors (2 fixed, 0 remaining)."),
        ("git log | head", "1 failed"),
        ("gh run view 1 --log | grep FAIL", "FAIL a"),
        ("cat build.log | grep FAILED", "FAILED tests/a.py::b"),
        ("node -e 'run(); stop()'", "npm error code E404"),
        ("go test ./... | tail -3", "ok  \ta/errors\t0.1s"),
        ("bun test | tail -3", " 3 pass\n 0 fail\n"),
        ("git push 2>&1 | tail -1", "To github.com:a/b.git"),
        ("git log -3 | cat", "error: failed to push some refs"),
        ("git merge-base a b; echo", "fatal: Not a valid object name a"),
    ],
)
def test_what_only_shows_a_failure_has_not_failed(command: str, output: str) -> None:
    assert not error_lines.hides_failure(command, output)


@pytest.mark.parametrize(
    ("output", "first"),
    [
        (
            ("error[E0308]: mismatched types\n  --> src/lexer.rs:57:20\n   |\n57 | line: line,\n"
            "error: could not compile `parser` (lib) due to 1 previous error"),
            "src/lexer.rs:57:20: error[E0308]: mismatched types",
        ),
        (
            (" \u276f src/a.test.tsx  (4 tests | 1 failed) 120ms\n FAIL  src/a.test.tsx > it\n"
            "FormError: no total\n \u276f src/a.test.tsx:31:10\n Tests  1 failed | 43 passed (44)"),
            "src/a.test.tsx:31:10: FormError: no total",
        ),
        (
            ("FAIL src/login.test.ts\n  TypeError: no secret\n"
            "    at f (/r/node_modules/jest/run.js:1:2)\n    at sign (src/session.ts:22:18)\n"
            "Tests: 1 failed, 6 passed, 7 total"),
            "src/session.ts:22:18: TypeError: no secret",
        ),
        (
            ('Traceback (most recent call last):\n  File "/r/jobs/daily.py", line 91, in main\n'
            '    load(rows)\n  File "/r/etl/load.py", line 40, in load\n    run(rows)\n'
            '  File "/usr/lib/python3.11/sqlite3/dump.py", line 7, in run\nKeyError: 3'),
            "/r/etl/load.py:40: KeyError: 3",
        ),
        (
            ("To github.com:a/b.git\n ! [rejected]        x -> x (non-fast-forward)\n"
            "error: failed to push some refs to 'github.com:a/b.git'"),
            "! [rejected]        x -> x (non-fast-forward)",
        ),
        (
            ("make: gcc: No such file or directory\nmake: *** [Makefile:3: all] Error 127\n"
            'Error: building at STEP "RUN make": exit status 2'),
            "make: gcc: No such file or directory",
        ),
    ],
)  # fmt: skip
def test_the_cause_comes_first_with_its_place(output: str, first: str) -> None:
    lines = error_lines.pick_error_lines(output).splitlines()

    assert lines[0] == first
    # Nothing is said twice.
    assert not any(line in first for line in lines[1:])


@for_each(
    ("output", "first"),
    [
        (  # The place of a warning is not that of the error.
            (
                "warning: unused `x`\n --> src/main.rs:3:9\nerror[E0308]: mismatched types\n"
                "  --> src/parse.rs:42:12\nerror: could not compile `app` due to 1 previous error"
            ),
            "src/parse.rs:42:12: error[E0308]: mismatched types",
        ),
        (
            (
                "test tests::adds ... FAILED\nthread 'tests::adds' panicked at src/lib.rs:14:9:\n"
                "assertion `left == right` failed\nerror: test failed, to rerun pass `--lib`"
            ),
            "src/lib.rs:14:9: assertion `left == right` failed",
        ),
        (
            "thread 'main' panicked at 'no entry', src/main.rs:7:5\nnote: run with `X=1`",
            "src/main.rs:7:5: no entry",
        ),
        (
            (
                "F401 [*] `os` imported but unused\n --> src/a.py:1:8\n  |\n1 | import os\n"
                "Found 1 error.\n[*] 1 fixable with the `--fix` option."
            ),
            "src/a.py:1:8: F401 [*] `os` imported but unused",
        ),
        (
            (
                "panic: runtime error: index out of range\ngoroutine 6 [running]:\n"
                "testing.tRunner()\n\t/usr/local/go/src/testing/testing.go:1545 +0x238\n"
                "a/store.TestX()\n\t/w/a/store_test.go:17 +0x1c\nFAIL\ta/store\t0.008s"
            ),
            "/w/a/store_test.go:17: panic: runtime error: index out of range",
        ),
        (
            (
                "/w/src/a.ts\n  3:7   error    'x' is never used  no-unused-vars\n"
                "  9:1   warning  Unexpected console statement  no-console\n✖ 2 problems"
            ),
            "/w/src/a.ts:3:7 error 'x' is never used no-unused-vars",
        ),
        (
            (
                "    def test_a():\n>       assert f() == 90\nE       assert 100 == 90\n"
                "E        +  where 100 = f()\n\ntests/test_a.py:7: AssertionError\n"
                "FAILED tests/test_a.py::test_a - assert 100 == 90"
            ),
            "tests/test_a.py:7: assert 100 == 90",
        ),
        (
            (
                "/usr/lib/python3.12/importlib/__init__.py:90: in find\n    return f(name)\n"
                "tests/test_api.py:3: in <module>\n    import app\n"
                "E   ModuleNotFoundError: No module named 'app'\n1 error in 0.12s"
            ),
            "tests/test_api.py:3: ModuleNotFoundError: No module named 'app'",
        ),
        (
            (
                "Failures:\n  1) Cart totals lines\n     Failure/Error: expect(total).to eq(30)\n"
                "       expected: 30\n            got: 20\n     # ./spec/cart_spec.rb:8:in `block'"
            ),
            "./spec/cart_spec.rb:8: Failure/Error: expect(total).to eq(30)",
        ),
        (
            (
                "1) CartTest::total\nFailed asserting that 20 matches 30.\n\n/w/CartTest.php:14\n\n"
                "FAILURES!\nTests: 2, Assertions: 2, Failures: 1."
            ),
            "/w/CartTest.php:14: Failed asserting that 20 matches 30.",
        ),
        (
            (
                "[INFO] BUILD FAILURE\n[ERROR] /w/App.java:[12,9] cannot find symbol\n"
                "[ERROR] Failed to execute goal x:compile: Compilation failure"
            ),
            "[ERROR] /w/App.java:[12,9] cannot find symbol",
        ),
        (
            (
                "Get-Item : Cannot find path 'C:\\w\\out'.\n"
                "At C:\\w\\build.ps1:3 char:1\n+ Get-Item out\n    + CategoryInfo : X"
                "\n    + FullyQualifiedErrorId : PathNotFound,GetItemCommand"
            ),
            "C:\\w\\build.ps1:3: Get-Item : Cannot find path 'C:\\w\\out'.",
        ),
        (
            (
                "node:internal/cjs/loader:1228\n  throw err;\nError: Cannot find module 'express'\n"
                "    at Object.<anonymous> (/w/server.js:1:17) {\n  code: 'X'\n}\nNode.js v22.1.0"
            ),
            "/w/server.js:1:17: Error: Cannot find module 'express'",
        ),
        (
            (
                "error: AssertionError: Values are not equal.\n"
                "    at assertEquals (https://jsr.io/@std/assert/equals.ts:51:9)\n"
                "    at file:///w/a_test.ts:4:3\nerror: Test failed"
            ),
            "/w/a_test.ts:4:3: error: AssertionError: Values are not equal.",
        ),
        (
            '│ Error: Reference to undeclared name\n│\n│   on main.tf line 12, in module "a":',
            "main.tf:12: Error: Reference to undeclared name",
        ),
        (
            (
                'File "/w/manage.py", line 22, in <module>\n'
                "x.OperationalError: connection on port 5432 failed: refused\n"
                "The above exception was the direct cause of the following exception:\n"
            ),
            "/w/manage.py:22: x.OperationalError: connection on port 5432 failed: refused",
        ),
        (
            (
                "FAIL src/a.test.ts\n  ● retries\n    expect(a).toBe(b)\n"
                "      at f (src/a.test.ts:9:1)"
            ),
            "src/a.test.ts:9:1: ● retries",
        ),
        (
            "Checking formatting...\n[warn] src/a.ts\n[warn] Code style issues found",
            "[warn] src/a.ts",
        ),
    ],
)
def test_the_first_line_says_what_is_wrong_and_where(output: str, first: str) -> None:
    assert error_lines.explain_failure(output, 1).splitlines()[0] == first


def test_what_a_test_expected_is_shown_with_what_it_got() -> None:
    output = (
        "FAIL src/a.test.ts\n  ● Parser › formats\n    expect(received).toBe(expected)\n"
        '    Expected: "E1"\n    Received: "E2"\n      at f (src/a.test.ts:16:24)\nTests: 1 failed'
    )

    assert 'Expected: "E1" Received: "E2"' in error_lines.pick_error_lines(output).splitlines()


def test_the_name_of_the_task_before_a_place_is_allowed() -> None:
    output = (
        "[lint:go] a/hooks.go:16:15: G304: Potential file inclusion\n[lint:go] ERROR task failed"
    )

    assert error_lines.pick_error_lines(output).splitlines()[0] == (
        "[lint:go] a/hooks.go:16:15: G304: Potential file inclusion"
    )


def test_what_passed_is_not_an_error() -> None:
    output = "(pass) parser > reports errors of a file [4ms]\n(fail) parser > reads a file\n1 fail"

    assert "(pass)" not in error_lines.pick_error_lines(output)


def test_the_last_step_of_a_script_is_the_one_that_failed() -> None:
    output = (
        "$ bun test src/\nerror: All fail\n      at x (src/limit.test.ts:89:16)\n 9 pass\n 0 fail\n"
        "$ biome check\n at src/form.test.ts format \u2501\u2501\u2501\nFound 1 error.\n"
        'error: script "lint" exited with code 1'
    )

    assert error_lines.pick_error_lines(output).splitlines()[0] == "src/form.test.ts format"


def test_a_conflict_is_the_cause() -> None:
    output = "CONFLICT (content): Merge conflict in a.md\nerror: could not apply f34d38b... docs"

    assert error_lines.pick_error_lines(output).startswith("CONFLICT (content)")


def test_a_place_that_can_be_fixed_is_a_place() -> None:
    output = (
        "at src/app.tsx:40:13 lint/noUnusedImports  FIXABLE  \u2501\u2501\u2501\n"
        "Some errors were emitted while applying fixes."
    )

    assert error_lines.pick_error_lines(output).startswith("src/app.tsx:40:13 lint/noUnusedImports")


def test_a_call_that_led_to_an_error_is_not_the_error() -> None:
    output = (
        "FAIL src/level.test.ts\n  Test suite failed to run\n"
        "    Cannot find module './enemy' from 'src/level.ts'\n"
        "      at Resolver._throwModNotFoundError (node_modules/jest-resolve/resolver.js:427:11)\n"
        "      at Object.<anonymous> (src/level.ts:3:1)\nTest Suites: 1 failed, 8 total"
    )

    assert error_lines.pick_error_lines(output).splitlines()[0] == (
        "src/level.ts:3:1: Cannot find module './enemy' from 'src/level.ts'"
    )


def test_what_gradle_quotes_is_not_a_step_of_a_script() -> None:
    output = (
        "> Task :api:compileTestJava FAILED\nsrc/A.java:14: error: package x does not exist\n"
        "> Compilation failed; see the compiler output below.\nBUILD FAILED in 4s"
    )

    assert error_lines.pick_error_lines(output).startswith("src/A.java:14: error:")


def test_the_message_of_an_error_is_whole_although_its_place_is_long() -> None:
    place = f"/home/me/{'worktree-' * 15}/test/config.test.ts:309:28"
    output = (
        "(pass) config > errors on a bad name\n306 |     const error = find(\n307 |       name);\n"
        "error: expect(received).toContain(expected)\n"
        f"      at <anonymous> ({place})\n(fail) config > reports a removed policy\n 1 fail"
    )

    assert error_lines.pick_error_lines(output).splitlines() == [
        f"{place}: error: expect(received).toContain(expected)",
        "(fail) config > reports a removed policy",
        "1 fail",
    ]


_UNITTEST = """FF
======================================================================
{kind}: test_comma (tests.test_export.T.test_comma)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/r/tests/test_export.py", line 8, in test_comma
    self.assertEqual('x', '"a,b",2')
AssertionError: 'x' != '"a,b",2'
- x
+ "a,b",2


======================================================================
FAIL: test_simple (tests.test_export.T.test_simple)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/r/tests/test_export.py", line 6, in test_simple
    self.assertEqual('x', '1,2')
AssertionError: 'x' != '1,2'
- x
+ 1,2


----------------------------------------------------------------------
Ran 2 tests in 0.001s

FAILED (failures=2)
"""
_CHAINED = """Traceback (most recent call last):
  File "/r/src/export.py", line 3, in export
    return row[9]
IndexError: list index out of range

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/r/src/main.py", line 30, in main
    export(rows)
RuntimeError: cannot export
"""
_PYTEST = """FF                                                     [100%]
=========================== FAILURES ===========================
__________________________ test_comma __________________________

    def test_comma():
>       assert export([["a,b", 2]]) == '"a,b",2'
E       assert 'x' == '"a,b",2'

tests/test_export.py:8: AssertionError
_________________________ test_simple __________________________

    def test_simple():
>       raise ValueError("simple")
E       ValueError: simple

tests/test_export.py:12: ValueError
=================== short test summary info ====================
FAILED tests/test_export.py::test_comma - assert 'x' == '"a,b",2'
FAILED tests/test_export.py::test_simple - ValueError: simple
2 failed in 0.02s
"""
_RSPEC = """Failures:

  1) Export quotes commas
     Failure/Error: expect(export(rows)).to eq('"a,b",2')

       expected: "a,b"
            got: "x"
     # ./spec/export_spec.rb:8:in `block (2 levels) in <top (required)>'

  2) Export fails
     Failure/Error: raise "error: simple"

     RuntimeError:
       simple: an error
     # ./spec/export_spec.rb:12:in `block (2 levels) in <top (required)>'

2 examples, 2 failures
"""
_PHPUNIT = """There were 2 failures:

1) ExportTest::testComma
Failed asserting that two strings are identical.

/r/tests/ExportTest.php:8

2) ExportTest::testSimple
Error: simple

/r/tests/ExportTest.php:13

FAILURES!
Tests: 2, Assertions: 2, Failures: 2.
"""
_JEST = """FAIL tests/export.test.js
  ● comma

    expect(received).toBe(expected) // Object.is equality

    Expected: "a,b"
    Received: "x"

      at Object.toBe (tests/export.test.js:8:29)

  ● simple

    TypeError: simple: is not a function

      at Object.toBe (tests/export.test.js:12:23)

Tests:       2 failed, 2 total
"""
_GO = """--- FAIL: TestComma (0.00s)
    export_test.go:8: got "x", want "a,b"
--- FAIL: TestSimple (0.00s)
    export_test.go:14: error: simple
FAIL
FAIL\texample.com/x\t0.002s
"""


@pytest.mark.parametrize(
    ("output", "place", "named"),
    [
        (_UNITTEST.format(kind="FAIL"), "test_export.py:8: AssertionError: 'x' != '", "comma"),
        (_UNITTEST.format(kind="ERROR"), "test_export.py:8: AssertionError: 'x' != '", "comma"),
        (_CHAINED, "/r/src/export.py:3: IndexError: list index out of range", ""),
        (_PYTEST, "tests/test_export.py:8: assert 'x' == '\"a,b\",2'", "test_comma"),
        (_RSPEC, "./spec/export_spec.rb:8: Failure/Error: expect(", ""),
        (_PHPUNIT, "/r/tests/ExportTest.php:8: Failed asserting that two strings", ""),
        (_JEST, "tests/export.test.js:8:29: ", "comma"),
        (_GO, 'export_test.go:8: got "x", want "a,b"', "TestComma"),
    ],
)  # fmt: skip
def test_message_place_and_name_are_those_of_the_first_failure(
    output: str, place: str, named: str
) -> None:
    said = error_lines.explain_failure(output, 1, "make test")

    assert place in said.splitlines()[0]
    assert named in said
    assert "simple" not in said.lower()
