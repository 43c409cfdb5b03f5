import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.runs import Cli, environment
from gitrepo import Repo
from leftoff.knowledge import features, memory
from leftoff.store import Store
from ship.shop import Shop


def test_who_you_are_must_be_known(shop: Shop, cli: Cli) -> None:
    shop.git("config", "--unset", "user.name")
    shop.git("config", "--unset", "user.email")
    shop.git("config", "user.useConfigOnly", "true")
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr")

    assert failed.code == 1
    assert "git does not know who you are, so nothing was committed." in failed.out
    assert "git config --global user.name" in failed.out


def test_a_hook_that_refuses_the_commit_is_named_with_its_words(shop: Shop, cli: Cli) -> None:
    shop.hook("pre-commit", "echo line too long >&2; exit 1")
    head = shop.head()
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr")

    assert failed.code == 1
    assert "The pre-commit hook refused the commit" in failed.out
    assert "line too long" in failed.out
    assert shop.head() == head
    (shop.folder / ".git" / "hooks" / "pre-commit").unlink()
    cli.ok("ship", "--no-pr")
    assert len(shop.subjects("main..")) == 1


def test_what_a_hook_changes_behind_the_commit_is_reported(shop: Shop, cli: Cli) -> None:
    shop.hook("post-commit", "echo tidy >> app.py")
    shop.write("app.py", "print('csv')\n")

    assert "Not committed: app.py" in cli.ok("ship", "--no-pr").out


def test_on_no_branch_nothing_is_committed(shop: Shop, cli: Cli) -> None:
    shop.git("checkout", "--quiet", "--detach")
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr")

    assert failed.code == 1
    assert "You are not on a branch (detached HEAD)" in failed.out
    assert "git switch --create NAME" in failed.out
    assert "done  save" in failed.out


def test_conflicts_are_named_and_nothing_is_committed(shop: Shop, cli: Cli) -> None:
    shop.commit("Ours", {"app.py": "ours\n"})
    shop.git("switch", "--quiet", "--create", "other", "main")
    shop.commit("Theirs", {"app.py": "theirs\n"})
    shop.git("merge", "feature/csv", check=False)
    head = shop.head()

    failed = cli("ship", "--no-pr")

    assert failed.code == 1
    assert "There are merge conflicts in app.py" in failed.out
    shop.write("app.py", "both\n")
    shop.git("add", "app.py")
    assert "A merge is in progress" in cli("ship", "--no-pr").out
    assert shop.head() == head


def test_where_git_cannot_tell_what_changed_the_save_stays(shop: Shop, cli: Cli) -> None:
    (shop.folder / ".git" / "index").write_bytes(b"garbage")

    failed = cli("ship", "--no-pr")

    assert failed.code == 1
    assert "done  save" in failed.out
    assert "git cannot report what changed" in failed.out


@pytest.mark.accept(156)
def test_in_another_worktree_its_own_branch_is_shipped_and_the_project_remembers(
    shop: Shop, cli: Cli, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    features.add(store, features.ItemDraft(name="Export orders"))
    features.start(store, "1")
    other = shop.worktree(tmp_path / "other", "feature/other")
    monkeypatch.chdir(other.folder)
    other.write("other.py")
    cli.ok("save", "other", "--decision", "Use rows :: simpler")

    cli.ok("ship", "--no-pr", "-m", "Other work")

    assert other.git("log", "-1", "--format=%s") == "Other work"
    assert shop.remote_head("feature/other") == other.head()
    assert [entry.text for entry in memory.entries(store)] == ["Use rows"]
    assert shop.status == ""


def test_outside_git_it_says_what_to_use_instead(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")

    failed = cli("ship")

    assert failed.code == 1
    assert "not in a git repository" in failed.err


def test_a_lock_left_behind_is_reported_with_the_file(
    shop: Shop, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leftoff.ship.choose_files._LOCK_SECONDS", 0.2)
    (shop.folder / ".git" / "index.lock").touch()
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr")

    assert failed.code == 1
    assert "left its lock behind" in failed.out
    assert "index.lock" in failed.out


def test_a_repository_that_cannot_be_written_is_reported_at_once(
    shop: Shop, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("git")
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    words = "fatal: Unable to create '.git/index.lock': Read-only file system"
    refusal = f'case "$*" in *" add "*) echo "{words}" >&2; exit 128;; esac'
    fake.write_text(f'#!/bin/sh\n{refusal}\nexec {real} "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr")

    assert failed.code == 1
    assert "cannot be staged" in failed.out
    assert "Read-only file system" in failed.out
    assert "done  save" in failed.out


def test_it_ships_everything_from_a_subfolder_too(
    shop: Shop, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.write("src/deep/a.py")
    shop.write("b.py")
    monkeypatch.chdir(shop.folder / "src" / "deep")

    cli.ok("ship", "--no-pr", "-m", "Both")

    assert {"src/deep/a.py", "b.py"} <= shop.committed()


def test_a_first_commit_can_be_shipped(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = Repo(tmp_path / "fresh")
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        fresh.git("config", key, value)
    fresh.write("a.py")
    monkeypatch.chdir(fresh.folder)

    cli.ok("ship", "--no-push", "-m", "Begin")

    assert fresh.git("log", "--format=%s") == "Begin"


def test_the_subject_is_reported_as_hooks_have_left_it(shop: Shop, cli: Cli) -> None:
    shop.hook("prepare-commit-msg", "sed -i '1s/^/SHOP-7 /' \"$1\"")
    shop.write("app.py", "print('csv')\n")

    answer = cli.json("ship", "--no-pr", "-m", "Export orders")

    assert answer["commit"] == {"sha": shop.head(), "subject": "SHOP-7 Export orders"}


def test_two_ships_at_once_make_one_commit(shop: Shop, cli: Cli) -> None:
    shop.hook("pre-commit", "sleep 0.3")
    shop.write("app.py", "print('csv')\n")
    words = (sys.executable, "-m", "leftoff", "ship", "--no-pr", "-m", "Export orders")

    both = [
        subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    output = [each.communicate(timeout=120)[0] for each in both]

    assert [each.returncode for each in both] == [0, 0], output
    assert shop.subjects("main..") == ["Export orders"]
    assert shop.remote_head() == shop.head()
    assert "NOTHING TO SHIP" in cli.ok("ship", "--no-pr").out


def test_features_that_cannot_be_read_keep_nothing_from_being_saved_and_committed(
    shop: Shop, cli: Cli
) -> None:
    broken = shop.folder / ".git" / "leftoff" / "features.json"
    broken.parent.mkdir(exist_ok=True)
    broken.write_text('{"features":[{"id":"fea')
    shop.write("a.py")

    planned = cli("ship", "--no-pr", "--dry-run", "--json")
    result = cli("ship", "--no-pr", "--json")

    assert [each["name"] for each in planned.json["steps"]][-2:] == ["commit", "push"]
    states = {each["name"]: each["state"] for each in result.json["steps"]}
    assert (states["save"], states["memory"], states["archive"]) == ("done", "skipped", "failed")
    assert (states["commit"], states["push"]) == ("done", "done")
    assert result.code == 1
    assert broken.read_text() == '{"features":[{"id":"fea'
