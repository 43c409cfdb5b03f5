"""A command that succeeded repairs one that failed."""

import pytest

from leftoff.session.facts import repairs
from rows import for_each


def test_trimmings_do_not_change_the_key() -> None:
    key = repairs.key_of("make test")

    assert repairs.key_of("cd a && make test 2>&1 | tail -20") == key
    assert repairs.key_of("make tests") != key


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
    assert repairs.covers(passed, failed, error) == is_covered


CONFLICT = "CONFLICT (content): Merge conflict in a.py"


@pytest.mark.parametrize(
    ("command", "failed", "error", "is_over"),
    [
        ("git add . && git rebase --continue", "git fetch && git rebase origin/main", CONFLICT, 1),
        ("GIT_EDITOR=true git rebase --skip", "git pull --rebase", CONFLICT, 1),
        ("git commit --no-edit", "git merge topic", CONFLICT, 1),
        ("git cherry-pick --continue", "git rebase main", CONFLICT, 0),
        ("git rebase --abort", "git rebase main", CONFLICT, 0),
        ("git commit -m x", "git merge topc", "merge: topc - not something we can merge", 0),
        ("cd /a && git rebase --continue", "cd /b && git rebase main", CONFLICT, 0),
    ],
)
def test_what_a_conflict_interrupted_ends_with_its_continuation(
    command: str, failed: str, error: str, is_over: int
) -> None:
    assert repairs.concludes(command, failed, error) == bool(is_over)


@for_each(
    ("command", "failed", "is_covered"),
    [
        ("npm test", "npx jest src/a.test.ts", True),
        ("npx vitest run", "npm test", True),
        ("make test", "pytest tests/test_a.py", True),
        ("cargo test", "cargo build", True),
        ("npm run build", "npx tsc --noEmit", True),
        ("npx eslint --fix src", "npm run lint", True),
        ("npm --prefix web test", "cd /r/web && npm test", True),
        ("./gradlew build", "./gradlew test", True),
        ("npm install", "npm ci", True),
        ("pytest", "npm test", False),
        ("ruff check .", "pytest", False),
        ("pytest tests/test_b.py", "pytest", False),
        ("npx jest src/b.test.ts", "npm test", False),
        ("cargo check", "cargo test", False),
        ("npm test", "npm run test:e2e", False),
        ("npm run build", "npm run build && npm test", False),
        ("cd /r/api && npm test", "cd /r/web && npm test", False),
        ("pip install b", "pip install a", False),
        ("pytest", "python3 tools/check.py", False),
    ],
)
def test_another_check_may_include_a_failed_one(
    command: str,
    failed: str,
    is_covered: bool,  # noqa: FBT001 - a row of the table
) -> None:
    assert repairs.may_cover(command, failed) == is_covered


@for_each(
    ("command", "failed", "is_covered"),
    [
        ("go test ./...", "go test ./a", True),
        ("go test ./a", "go test -run TestX ./a", True),
        ("ruff check .", "ruff check src", True),
        ("go test ./b", "go test ./a", False),
        ("go test -run TestX ./a", "go test ./a", False),
        ("go test -run TestY ./a", "go test -run TestX ./a", False),
    ],
)
def test_a_whole_run_covers_a_part(
    command: str,
    failed: str,
    is_covered: bool,  # noqa: FBT001 - a row of the table
) -> None:
    assert repairs.covers(command, failed) == is_covered


def test_a_later_push_repairs_a_rejected_one() -> None:
    assert repairs.pushes_again("git push -u origin HEAD", "git add . && git push")
    assert not repairs.pushes_again("git push --tags", "git push")
    assert not repairs.pushes_again("git pull", "git push")
    assert not repairs.pushes_again("git push", "make")
