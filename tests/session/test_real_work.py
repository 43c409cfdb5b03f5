"""What counts as work, and what is only talk or a look around."""

import pytest

from leftoff.session.facts.looks import is_look
from leftoff.session.facts.report import Facts
from leftoff.session.real_work import is_substantial, shows_work


@pytest.mark.parametrize(
    "command",
    [
        "ls -l src",
        "cd src && git status",
        "git -C /tmp/x log --oneline | head -5",
        "grep -rn 'a > b' src 2>/dev/null | sort | uniq -c",
        "sed -n 1,20p app.py; wc -l app.py",
        "python --version",
        "leftoff save login-form --next 'Run pytest'",
        'echo "a && rm -rf b"',
    ],
)
def test_a_command_that_only_reads_is_a_look(command: str) -> None:
    assert is_look(command)
    assert not shows_work(Facts(commands=[command]))


@pytest.mark.parametrize(
    "command",
    [
        "",
        "echo x > app.py",
        "sed -i s/a/b/ app.py",
        "ls && rm app.py",
        "git branch -D old",
        "git commit -m x",
        "find . -name '*.pyc' -delete",
        "cat $(rm x)",
        "pytest",
        "npm install",
    ],
)
def test_a_command_that_may_change_something_is_not_a_look(command: str) -> None:
    assert not is_look(command)


@pytest.mark.parametrize(
    "command",
    [
        "pytest",
        "python3 -m pytest -q tests | tail -3",
        "npm test",
        "npm run lint",
        "make test",
        "cargo test",
        "curl -s localhost:8000/health",
    ],
)
def test_to_run_the_tests_is_not_work(command: str) -> None:
    assert not is_look(command)
    assert not shows_work(Facts(commands=[command]))


@pytest.mark.parametrize(
    "command",
    [
        "npm run build",
        "make",
        "ruff check --fix",
        "jest -u",
        "curl -X POST host/x",
        "curl -o f host",
    ],
)
def test_what_builds_fixes_or_sends_is_work(command: str) -> None:
    assert shows_work(Facts(commands=[command]))


@pytest.mark.parametrize(
    "text", ["", "ok thanks", "continue", "weiter", "yes", "/compact", "What is 2+2?", "bye"]
)
def test_small_talk_is_not_a_task(text: str) -> None:
    assert not is_substantial(text)


@pytest.mark.parametrize("text", ["Fix the login bug", "修复登录页面的错误", "Port the exporter"])
def test_a_request_is_a_task(text: str) -> None:
    assert is_substantial(text)


@pytest.mark.parametrize(
    "facts",
    [
        Facts(files_modified=["app.py"]),
        Facts(commit_sha="0a1b2c3"),
        Facts(plan_title="The plan"),
        Facts(commands=["ls", "make"]),
    ],
)
def test_edits_commits_plans_and_commands_are_work(facts: Facts) -> None:
    assert shows_work(facts)


def test_talk_is_not_work() -> None:
    assert not shows_work(Facts(task="How does it work?", last_words="It reads lines."))
