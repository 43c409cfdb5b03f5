from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from ship.shop import Shop


@pytest.mark.accept(144)
def test_the_branch_is_pushed_and_its_hash_reported(shop: Shop, cli: Cli) -> None:
    shop.write("app.py", "print('csv')\n")

    done = cli.ok("ship", "--no-pr", "-m", "Export orders")

    assert shop.remote_head() == shop.head()
    assert f"Commit        {shop.head()[:12]} Export orders" in done.out
    assert shop.git("rev-parse", "--abbrev-ref", "@{upstream}") == "origin/feature/csv"


@pytest.mark.accept(144)
def test_without_a_remote_the_commit_stays_and_a_second_run_goes_on(shop: Shop, cli: Cli) -> None:
    shop.git("remote", "remove", "origin")
    shop.write("app.py", "print('csv')\n")
    failed = cli("ship", "-m", "Export orders")
    head = shop.head()
    assert failed.code == 1
    assert "There is no remote to push to" in failed.out
    assert shop.subjects()[0] == "Export orders"
    shop.git("remote", "add", "origin", str(shop.remote.folder))

    cli.ok("ship", "--no-pr")

    assert shop.remote_head() == head == shop.head()


@pytest.mark.accept(144)
def test_a_rejected_push_says_how_to_get_what_is_missing(
    tmp_path: Path, shop: Shop, cli: Cli
) -> None:
    shop.git("push", "--quiet", "--set-upstream", "origin", "feature/csv")
    other = Repo(tmp_path / "other", init=False)
    other.git("clone", "--quiet", "--branch=feature/csv", str(shop.remote.folder), ".")
    other.commit("Meanwhile", {"other.py": "x = 1\n"})
    other.git("push", "--quiet")
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr", "-m", "Export orders")

    assert failed.code == 1
    assert "origin/feature/csv has commits that you do not have" in failed.out
    assert "git pull --rebase origin feature/csv" in failed.out
    shop.git("pull", "--quiet", "--rebase", "origin", "feature/csv")
    cli.ok("ship", "--no-pr")
    assert shop.remote_head() == shop.head()
    assert shop.subjects()[:2] == ["Export orders", "Meanwhile"]


@pytest.mark.accept(144)
@pytest.mark.parametrize("where", ["", ">&2"])
def test_a_pre_push_hook_that_refuses_is_named(where: str, shop: Shop, cli: Cli) -> None:
    shop.hook("pre-push", f"echo tests are red {where}; exit 1")
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr", "-m", "Export orders")

    assert failed.code == 1
    assert "The pre-push hook refused the push" in failed.out
    assert "tests are red" in failed.out
    assert shop.remote_head() == ""


def test_a_remote_that_refuses_is_quoted(shop: Shop, cli: Cli) -> None:
    hook = shop.remote.folder / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not on Sundays >&2\nexit 1\n")
    hook.chmod(0o755)
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr", "-m", "Export orders")

    assert failed.code == 1
    assert (
        "The remote refused the push: [remote rejected] (pre-receive hook declined)" in failed.out
    )
    assert "not on Sundays" in failed.out


def test_a_remote_that_is_gone_fails_the_push_alone(shop: Shop, cli: Cli) -> None:
    shop.git("remote", "set-url", "origin", str(shop.folder.parent / "nowhere"))
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr", "-m", "Export orders")

    assert failed.code == 1
    assert "The push failed" in failed.out
    assert shop.subjects()[0] == "Export orders"


def test_several_remotes_and_none_chosen_is_a_question_to_the_user(shop: Shop, cli: Cli) -> None:
    shop.git("remote", "rename", "origin", "one")
    shop.git("remote", "add", "two", str(shop.remote.folder))
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr")

    assert failed.code == 1
    assert "none is set as the one to push to: one, two" in failed.out
    shop.git("config", "remote.pushDefault", "two")
    cli.ok("ship", "--no-pr")
