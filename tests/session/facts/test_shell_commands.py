"""What a command did is read from its text and output."""

import pytest

from leftoff.session.facts import shell_commands
from rows import for_each


@pytest.mark.parametrize(
    ("command", "plain"),
    [
        ("cd /r && make", "make"),
        ("cd '/a b' && cd c; make", "make"),
        ("make  test", "make  test"),
        ("cdrecord x", "cdrecord x"),
    ],
)
def test_the_change_of_folder_is_left_out(command: str, plain: str) -> None:
    assert shell_commands.without_cd(command) == plain


@pytest.mark.parametrize(
    ("command", "is_one"),
    [
        ("leftoff save login --summary 'Add a; b && c'", True),
        ("cd /r && /opt/bin/leftoff --json save", True),
        ("leftoff save login && make test", False),
        ("leftoff save --stdin <<'EOF'\nfirst; then && there\nEOF", True),
        ("leftoff ship", False),
        ("echo leftoff save", False),
    ],
)
def test_a_save_of_the_session_by_itself_is_known_by_its_words(
    command: str, *, is_one: bool
) -> None:
    assert shell_commands.is_own_save(command) == is_one


@pytest.mark.parametrize(
    ("command", "rest"),
    [
        ("leftoff resume login --accept", ""),
        ("cd /r && leftoff list | head -3", ""),
        ("uv run leftoff save 'a && b'", ""),
        ("git add -A && leftoff save login", "git add -A"),
        ("leftoff save; make test", "make test"),
        ("make leftoff", "make leftoff"),
        ("leftoff --json ship", "leftoff --json ship"),
        ("cat docs/leftoff.md && make", "cat docs/leftoff.md && make"),
        ("pip install leftoff", "pip install leftoff"),
        ("git commit -m 'leftoff save'", "git commit -m 'leftoff save'"),
    ],
)
def test_leftoff_s_own_commands_are_left_out(command: str, rest: str) -> None:
    assert shell_commands.without_own(command) == rest


def test_a_command_is_shortened_to_one_line() -> None:
    assert shell_commands.shorten("cd x && git commit -m 'a\n\nb'") == (
        "cd x && git commit -m 'a b'"
    )
    assert shell_commands.shorten("make it " * 99, 30) == "make it make it make it make …"


def test_the_lines_of_a_script_are_joined_as_a_shell_reads_them() -> None:
    script = "cd /r\nmake all\ngrep -c 'a\nb' x |\n  sort"

    assert shell_commands.shorten(script) == "cd /r; make all; grep -c 'a b' x | sort"


def test_the_words_of_a_program_in_quotes_are_no_commands() -> None:
    command = "node -e 'const r = run();\nconsole.log(r)' && make test; git status"

    assert shell_commands.heads_of(command) == ["node -e", "make test", "git status"]


def test_trimmings_do_not_change_the_key() -> None:
    key = shell_commands.key_of("make test")

    assert shell_commands.key_of("cd a && make test 2>&1 | tail -20") == key
    assert shell_commands.key_of("make tests") != key


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
def test_the_telling_lines_of_a_failure_are_picked(output: str, telling: str) -> None:
    assert telling in shell_commands.telling_lines(output).splitlines() or telling == ""


def test_telling_lines_are_few_and_short() -> None:
    output = "\n".join(f"error {n} " + "x" * 1000 for n in range(1000))

    lines = shell_commands.telling_lines(output).splitlines()

    assert len(lines) <= 3
    assert all(len(line) <= 200 for line in lines)


@pytest.mark.parametrize(
    ("command", "output", "commit"),
    [
        ("git commit -m x", "[main 1a2b3c4] Add x", ("1a2b3c4", "Add x")),
        ("git commit -m x", "[main (root-commit) 1a2b3c4] Add x", ("1a2b3c4", "Add x")),
        ("git -C r commit -qm x", "", None),
        ("echo commit", "[main 1a2b3c4] Add x", None),
        ("git log", "[main 1a2b3c4] Add x", None),
        ("git commit -am a && git commit -am b", "[m 1111111] a\n[m 2222222] b", ("2222222", "b")),
    ],
)
def test_a_commit_is_read_from_git_s_own_words(
    command: str, output: str, commit: tuple[str, str] | None
) -> None:
    assert shell_commands.commit_in(command, output) == commit


def test_the_place_of_an_error_comes_before_its_summary() -> None:
    output = "> build\n---\nFAILED in 3s\nsrc/a.ts:3:1 - error TS1: no\nFound 1 error."

    assert shell_commands.telling_lines(output).splitlines()[0] == "src/a.ts:3:1 - error TS1: no"


def test_the_place_of_an_error_is_found_in_a_coloured_output() -> None:
    output = (
        "\x1b[0Ksrc/a.ts\x1b[0m:\x1b[0m3\x1b[0m:1 \x1b]8;;https://e.x\x1b\\lint/no\x1b]8;;\x1b\\"
        " ━━━━━\x1b[0m\r\n\x1b[31mFound 1 error.\x1b[0m"
    )

    assert shell_commands.telling_lines(output).splitlines()[0] == "src/a.ts:3:1 lint/no"
    # Such a line is not one of the output's own, and may seem to introduce the next one.
    assert shell_commands.telling_lines("\x1b[1ma.c:3:\x1b[0m\nerror").startswith("a.c:3:")


def test_a_line_that_introduces_the_next_one_is_shown_with_it() -> None:
    output = "Failed to remove 1 worktree:\n- main: has changes\nHint: commit them"

    assert shell_commands.telling_lines(output).splitlines()[0] == (
        "Failed to remove 1 worktree: - main: has changes"
    )


def test_a_rule_or_a_bare_mark_is_not_an_error() -> None:
    assert shell_commands.telling_lines("---\nError\nzsh: no matches found: x*").splitlines() == [
        "zsh: no matches found: x*"
    ]


def test_a_command_is_shown_whole_or_by_its_first_words() -> None:
    assert shell_commands.one_line("cd /r && make test  | tail -80") == (
        "cd /r && make test | tail -80"
    )
    assert shell_commands.one_line("cat <<E\nx\nE") == ""
    assert shell_commands.heads_of("cd /r && CI=1 npm run build && git add -A") == [
        "npm run build",
        "git add",
    ]
    # Another task of the same runner is another command.
    assert shell_commands.heads_of("mise run fmt && mise run test:all") == [
        "mise run fmt",
        "mise run test:all",
    ]


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m \"$(cat <<'EOF'\nAdd the form\n\n{body}\nEOF\n)\"",
        'git commit -m "Add the form\n\n{body}"',
    ],
)
def test_of_a_long_message_only_the_subject_is_kept(command: str) -> None:
    short = shell_commands.shorten(command.format(body="It was missing. " * 9))

    assert "Add the form …" in short
    assert "It was missing" not in short


def test_the_file_that_a_linter_names_comes_first() -> None:
    output = "src/a.ts format ━━━━━━\n  × Formatter would change it\nFound 1 error."

    assert shell_commands.telling_lines(output).startswith("src/a.ts format")


def test_a_timeout_is_an_error() -> None:
    output = "running 3 tests\nTest timeout of 30000ms exceeded.\nat run (a.js)\nlast line"

    assert "Test timeout of 30000ms exceeded." in shell_commands.telling_lines(output)


def test_the_syntax_of_a_script_is_no_command() -> None:
    script = "set -e; for f in a b; do curl -s $f; done; echo --- && make test || true"

    assert shell_commands.heads_of(script) == ["curl -s", "make test"]


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("pytest -q", "pytest -q"),
        ("cd tests && pytest -q", "cd tests && pytest -q"),
        ("cd /r/tests; cd unit; pytest", "cd tests/unit && pytest"),
        ("cd /r && make", "make"),
        ("cd /elsewhere && make", "cd /elsewhere && make"),
        ("cd '/r/a b' && make", "cd 'a b' && make"),
        ('cd "$ROOT" && make', 'cd "$ROOT" && make'),
    ],
)
def test_a_command_is_shown_as_it_runs_in_the_folder_of_the_work(command: str, shown: str) -> None:
    placed = shell_commands.place(command, "/r")

    assert shell_commands.unplace(placed, "/r") == shown


def test_a_command_in_a_folder_below_is_shown_with_it() -> None:
    placed = shell_commands.place("pytest -q", "/r/tests")

    assert shell_commands.unplace(placed, "/r") == "cd tests && pytest -q"


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
    ],
)
def test_a_pipe_or_chain_can_hide_a_failure(command: str, output: str) -> None:
    assert shell_commands.hides_failure(command, output)


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
    ],
)
def test_what_only_shows_a_failure_has_not_failed(command: str, output: str) -> None:
    assert not shell_commands.hides_failure(command, output)


@for_each(
    ("passed", "failed", "error", "is_covered"),
    [
        ("pytest", "pytest tests/test_a.py -q", "", True),
        ("python -m pytest -q", "uv run pytest", "", True),
        ("pytest tests", "pytest tests/test_a.py", "", True),
        ("pytest tests/test_b.py", "pytest -q", "FAILED tests/test_b.py::x", True),
        ("pytest tests/test_b.py", "pytest -q", "FAILED tests/test_a.py::x", False),
        ("npm run build", "npm run test", "", False),
        ("cd /r/b && npm test", "cd /r/a && npm test", "", False),
        ("cd /r && npm test", "cd /r/a && npm test", "", True),
        ("git status", "git rm a && git status", "", False),
    ],
)
def test_a_success_covers_a_failed_check(
    passed: str, failed: str, error: str, *, is_covered: bool
) -> None:
    assert shell_commands.covers(passed, failed, error) == is_covered
