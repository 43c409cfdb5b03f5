from pathlib import Path
from typing import Any

import pytest

from leftoff.git.github import GhRefused, GitHub
from leftoff.git.repository import parse_repository_name
from ship.conftest import hub
from ship.hub import Hub

__all__ = ["hub"]


@pytest.mark.accept(157)
@pytest.mark.parametrize(
    ("url", "slug"),
    [
        ("git@github.com:ada/shop.git", "ada/shop"),
        ("git@github.com:ada/shop", "ada/shop"),
        ("ssh://git@github.com/ada/shop.git", "ada/shop"),
        ("ssh://git@github.com:22/ada/shop", "ada/shop"),
        ("https://github.com/ada/shop.git", "ada/shop"),
        ("https://github.com/ada/shop", "ada/shop"),
        ("https://ada@github.example/ada/shop.js.git/", "ada/shop.js"),
        ("git://github.com/ada/shop.git", "ada/shop"),
        ("github.com:ada/shop", "ada/shop"),
        ("/srv/git/shop.git", None),
        ("../shop.git", None),
        ("file:///srv/git/shop.git", None),
        ("C:/git/shop", None),
        ("", None),
    ],
)
def test_owner_and_name_are_read_from_every_kind_of_address(url: str, slug: str | None) -> None:
    assert parse_repository_name(url) == slug


@pytest.mark.parametrize(
    ("rollup", "word"),
    [
        ([], "none"),
        ([{"conclusion": "SUCCESS"}, {"conclusion": "SKIPPED"}], "passing"),
        ([{"conclusion": "SUCCESS"}, {"conclusion": "FAILURE"}], "failing"),
        ([{"conclusion": "", "status": "IN_PROGRESS"}, {"conclusion": "SUCCESS"}], "pending"),
        ([{"state": "SUCCESS"}], "passing"),
        ([{"state": "ERROR"}, {"conclusion": ""}], "failing"),
    ],
)
def test_checks_are_folded_into_one_word(
    hub: Hub, tmp_path: Path, rollup: list[dict[str, Any]], word: str
) -> None:
    github = GitHub(tmp_path)
    number = github.create(head="csv", title="Export", body="Text").number
    hub.know(pulls=[{**hub.pulls[0], "statusCheckRollup": rollup}])

    assert github.view(number).checks == word


def test_labels_that_the_repository_lacks_are_made_first(hub: Hub, tmp_path: Path) -> None:
    github = GitHub(tmp_path)
    number = github.create(head="csv", title="Export", body="Text").number

    github.set_labels(number, add=["bug", "status:ready-for-review"], remove=[])
    github.set_labels(number, add=["more"], remove=["bug"])

    assert hub.labels() == {"status:ready-for-review", "more"}


def test_a_body_of_any_words_arrives_as_it_is(hub: Hub, tmp_path: Path) -> None:
    body = "--title \"x\" $(id) `id` 'y'\n\né ✓ \\ %s\n"

    GitHub(tmp_path).create(head="csv", title="--draft; $(id)", body=body)

    assert (hub.pulls[0]["title"], hub.pulls[0]["body"]) == ("--draft; $(id)", body)


def test_no_pull_request_is_none_and_a_closed_one_is_none(hub: Hub, tmp_path: Path) -> None:
    github = GitHub(tmp_path)
    assert github.open_pull("csv") is None
    github.create(head="csv", title="Export", body="Text")
    assert github.open_pull("csv") is not None
    hub.know(pulls=[{**hub.pulls[0], "state": "MERGED"}])
    assert github.open_pull("csv") is None


def test_the_pull_request_of_another_ones_branch_is_never_taken_for_ours(
    hub: Hub, tmp_path: Path
) -> None:
    github = GitHub(tmp_path)
    github.create(head="csv", title="Export", body="Text")
    theirs = {"headRepositoryOwner": {"login": "Grace"}, "isCrossRepository": True}
    hub.know(pulls=[{**hub.pulls[0], **theirs}])

    assert github.open_pull("csv") is None
    assert github.open_pull("csv", "ada") is None
    assert github.open_pull("csv", "grace") is not None


def test_what_gh_says_is_passed_on(hub: Hub, tmp_path: Path) -> None:
    hub.know(trouble={"pr create": "GraphQL: was submitted too quickly (createPullRequest)"})

    with pytest.raises(GhRefused, match="gh pr create failed: GraphQL: was submitted too quickly"):
        GitHub(tmp_path).create(head="csv", title="Export", body="Text")


def test_an_answer_that_is_not_json_is_reported(hub: Hub, tmp_path: Path) -> None:
    (hub.folder / "bin" / "gh").write_text("#!/bin/sh\necho surprise\n")

    with pytest.raises(GhRefused, match="did not answer in JSON"):
        GitHub(tmp_path).open_pull("csv")
    with pytest.raises(GhRefused, match="did not report which"):
        GitHub(tmp_path).create(head="csv", title="Export", body="Text")
