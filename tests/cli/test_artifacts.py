"""A resume lists artifacts and reads them again on demand; their content is never stored."""

import json

import pytest

from cli.runs import Cli
from gitrepo import Repo

CANARY = "CANARY-CONTENT-OF-THE-PLAN"


def save(cli: Cli, repo: Repo) -> None:
    repo.write("docs/plan.md", f"# Plan\n{CANARY}\n")
    cli.ok(
        "save",
        "login-form",
        "--summary=Validate the login form",
        "--question=Option A or B?",
        "--artifact=plan=docs/plan.md",
        "--artifact=review=docs/review.md",
    )


@pytest.mark.accept(98)
def test_resume_counts_artifacts_and_questions_and_asks_before_reading(
    cli: Cli, repo: Repo
) -> None:
    save(cli, repo)

    output = cli.ok("resume").out

    assert "Task: Validate the login form" in output
    assert "on branch main" in output
    assert "Artifacts: 2 (1 missing). Open questions: 1." in output
    assert "To print the artifacts, add --read-artifacts." in output
    assert CANARY not in output


@pytest.mark.accept(98)
def test_yes_prints_what_is_there_and_flags_what_is_missing(cli: Cli, repo: Repo) -> None:
    save(cli, repo)

    output = cli.ok("resume", "--read-artifacts").out

    assert CANARY in output
    assert "review: docs/review.md is missing." in output
    assert "To print the artifacts" not in output


@pytest.mark.accept(98)
def test_no_prints_none(cli: Cli, repo: Repo) -> None:
    save(cli, repo)

    output = cli.ok("resume", "--no-read-artifacts").out

    assert CANARY not in output
    assert "To print the artifacts" not in output


def test_the_store_holds_the_paths_and_not_the_content(cli: Cli, repo: Repo) -> None:
    save(cli, repo)

    raw = cli.ok("show", "login-form", "--raw").out

    assert "docs/plan.md" in raw
    assert CANARY not in raw


def test_an_artifact_needs_a_name_and_a_path(cli: Cli) -> None:
    result = cli("save", "login-form", "--artifact=plan")

    assert result.code == 2
    assert "NAME=PATH" in result.err


def test_a_checkpoint_without_artifacts_asks_nothing_about_them(cli: Cli) -> None:
    cli.ok("save", "login-form", "--summary=Validate the login form")

    assert "rtifact" not in cli.ok("resume").out


def test_an_artifact_whose_name_begins_like_someones_home_is_read(cli: Cli, repo: Repo) -> None:
    repo.write("~nobody-here/plan.md", CANARY)
    fields = {"summary": "Validate the login form", "artifacts": {"plan": "~nobody-here/plan.md"}}
    cli.ok("save", "login-form", "--from-json=-", stdin=json.dumps(fields))

    assert CANARY in cli.ok("resume", "--read-artifacts").out
