import pytest

from gitrepo import Repo
from leftoff.repository import find_repository, slug


def told(repo: Repo) -> str | None:
    found = find_repository(repo.folder)
    assert found is not None
    return slug(found)


@pytest.mark.accept(157)
@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:ada/shop.git",
        "ssh://git@github.com/ada/shop",
        "https://github.com/ada/shop.git",
        "https://ada:word@github.com/ada/shop",
    ],
)
def test_the_settings_of_a_repository_tell_owner_and_name(repo: Repo, url: str) -> None:
    repo.git("remote", "add", "origin", url)
    repo.git("remote", "add", "other", "https://github.com/bob/shop")
    repo.git("config", "branch.main.remote", "origin")

    assert told(repo) == "ada/shop"


def test_another_remote_counts_where_it_is_the_only_one(repo: Repo) -> None:
    assert told(repo) is None
    repo.git("remote", "add", "mine", "git@github.com:ada/shop.git")
    assert told(repo) == "ada/shop"
    repo.git("remote", "add", "theirs", "git@github.com:bob/shop.git")
    assert told(repo) is None


def test_a_folder_as_remote_has_no_owner(repo: Repo) -> None:
    repo.git("remote", "add", "origin", "../shop.git")

    assert told(repo) is None


def test_an_address_of_odd_bytes_can_still_be_told(repo: Repo) -> None:
    with (repo.folder / ".git" / "config").open("ab") as file:
        file.write(b'[remote "origin"]\n\turl = https://github.com/ad\xffa/shop.git\n')

    assert (told(repo) or "").encode() == "ad\ufffda/shop".encode()
