"""What a command did is read from its text and output."""

import pytest

from leftoff.session.facts import shell_commands
from leftoff.session.facts.looks import is_run_again


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
def test_a_save_by_the_session_itself_is_known_by_its_words(command: str, *, is_one: bool) -> None:
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


def test_the_words_of_a_program_in_quotes_are_not_commands() -> None:
    command = "node -e 'const r = run();\nconsole.log(r)' && make test; git status"

    assert shell_commands.heads_of(command) == ["node -e", "make test", "git status"]


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


def test_the_syntax_of_a_script_is_not_a_command() -> None:
    script = "set -e; for f in a b; do curl -s $f; done; echo --- && make test || true"

    assert shell_commands.heads_of(script) == ["curl -s", "make test"]


def test_a_script_is_shown_with_more_than_its_first_line() -> None:
    script = "python3 - <<'PY'\nimport json\nprint(json.load(open('a.json'))['x'])" + "\n# end" * 90

    assert "open('a.json')" in shell_commands.shorten(script)
    assert "second" not in shell_commands.shorten(f"cat > a.md <<'EOF'\nfirst\nsecond{' x' * 60}")


@pytest.mark.parametrize(
    ("command", "output", "branch"),
    [
        ("git checkout -b form", "Switched to a new branch 'form'", "form"),
        ("cd /r && git switch main", "Switched to branch 'main'\nYour branch is behind", "main"),
        ("git status", "On branch feat/x\nnothing to commit", "feat/x"),
        ("git status -sb", "## form...origin/form [ahead 1]\n M a.py", "form"),
        ("git status -sb", "## HEAD (no branch)", ""),
        ("git commit -m x", "[form (root-commit) 1a2b3c4] Add x", "form"),
        ("git commit -m x", "[detached HEAD 1a2b3c4] Add x", ""),
        ("git branch --show-current", "form\n", "form"),
        ("git rev-parse --abbrev-ref HEAD", "HEAD", ""),
        # What a file says, and what git says of another folder.
        ("cat git.md", "On branch form", ""),
        ("git -C ../other status", "On branch form", ""),
        ("make && cd ../other && git status", "On branch form", ""),
        ("git worktree add ../w -b form", "Switched to a new branch 'form'", ""),
    ],
)
def test_the_branch_is_read_from_git_s_own_words(command: str, output: str, branch: str) -> None:
    assert shell_commands.branch_in(command, output) == branch


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


@pytest.mark.parametrize(
    "command",
    [
        *["pnpm --filter web test -- --run", "npm --prefix web run build", "make -C docs check"],
        *["yarn workspace web test", "cargo --locked test"],
        *["go -C tools vet ./...", "podman build -t app .", "uv run pytest"],
    ],
)
def test_options_before_the_verb_do_not_hide_a_command_to_run_again(command: str) -> None:
    assert is_run_again(command)


def test_an_option_does_not_make_a_look_a_check() -> None:
    assert not is_run_again("npm --prefix web ls")
    assert not is_run_again("make-believe -C x y")


DOCUMENT = (
    "cat > /tmp/body.md <<'EOF'\n## It's done\n\n{body}EOF\ngh pr edit 7 --body-file /tmp/body.md"
)


@pytest.mark.parametrize("lines", [1, 9, 900])
def test_what_follows_a_here_document_is_kept(lines: int) -> None:
    command = DOCUMENT.format(body="It was missing; make test.\n" * lines)

    assert shell_commands.heads_of(command)[-1] == "gh pr"
    assert "make test" not in shell_commands.heads_of(command)
    assert shell_commands.shorten(command).endswith("gh pr edit 7 --body-file /tmp/body.md")
    assert len(shell_commands.cut_documents(command)) < 600


def test_a_command_after_a_message_is_kept() -> None:
    message = "Add the form\n\n" + "It was missing. " * 9
    command = f"git commit -m \"$(cat <<'EOF'\n{message}\nEOF\n)\" && git push -u origin x"

    assert shell_commands.shorten(command).endswith("Add the form … && git push -u origin x")
    assert shell_commands.heads_of(command)[-1] == "git push"


def test_a_long_line_of_a_here_document_is_not_cut_in_the_middle() -> None:
    command = f"cat > a <<E\nfirst\nkey = {'k' * 900}\nE\nmake"

    assert shell_commands.cut_documents(command) == "cat > a <<E\nfirst\n…\nE\nmake"
