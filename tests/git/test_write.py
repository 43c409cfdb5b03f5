from pathlib import Path

import pytest

from gitrepo import Repo as Made
from leftoff.errors import LeftoffError
from leftoff.git.write import Remote, Repo
from ship.shop import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.fixture
def repo(shop: Shop) -> Repo:
    return Repo(shop.folder)


def test_paths_are_staged_to_the_letter(shop: Shop, repo: Repo) -> None:
    odd = ["*.py", "-x", ":(top)a", "a b\n.txt", "é.txt", '"q".txt']
    for path in [*odd, "other.py"]:
        shop.write(path)

    assert repo.stage(odd).is_done

    assert sorted(repo.list_staged()) == sorted(odd)


def test_a_path_of_stray_bytes_is_staged(shop: Shop, repo: Repo) -> None:
    name = b"caf\xe9".decode("utf-8", "surrogateescape")
    (shop.folder / name).write_text("x")

    assert repo.stage([name]).is_done

    assert repo.list_staged() == [name]


def test_what_is_gone_is_staged_as_gone_and_unstaged_again(shop: Shop, repo: Repo) -> None:
    (shop.folder / "app.py").unlink()
    repo.stage(["app.py"])
    assert repo.list_staged() == ["app.py"]

    repo.unstage(["app.py"])

    assert repo.list_staged() == []
    assert not (shop.folder / "app.py").exists()


def test_a_message_is_kept_to_the_letter(shop: Shop, repo: Repo) -> None:
    shop.git("config", "commit.cleanup", "strip")
    shop.write("app.py", "x\n")
    repo.stage(["app.py"])

    repo.commit("Subject é\n\n# not a comment\n- bullet\n")

    assert shop.message() == "Subject é\n\n# not a comment\n- bullet"
    assert repo.message("HEAD") == "Subject é\n\n# not a comment\n- bullet"


def test_a_commit_of_some_files_leaves_others_staged(shop: Shop, repo: Repo) -> None:
    for path in ("state.json", "mine.py"):
        shop.write(path)
    repo.stage(["state.json", "mine.py"])

    assert repo.commit_only(["state.json"], "State").is_done

    assert repo.list_staged() == ["mine.py"]
    assert "state.json" in shop.committed()


def test_hooks_do_not_inherit_how_paths_are_taken(shop: Shop, repo: Repo) -> None:
    shop.hook(
        "pre-commit", 'test -z "$GIT_LITERAL_PATHSPECS" && git diff --cached --quiet -- "*.c"'
    )
    shop.write("app.py", "x\n")
    repo.stage(["app.py"])

    assert repo.commit("With a hook").is_done


def test_the_identity_and_keys_of_the_environment_are_kept_and_its_repository_is_not(
    shop: Shop, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.git("config", "--unset", "user.name")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Grace")
    monkeypatch.setenv("GIT_COMMITTER_NAME", "Grace")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    shop.write("app.py", "x\n")
    repo.stage(["app.py"])

    assert repo.commit("By Grace").is_done

    assert shop.git("log", "-1", "--format=%an") == "Grace"


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        ({}, "origin"),
        ({"branch.feature/csv.remote": "fork"}, "fork"),
        ({"remote.pushDefault": "fork"}, "fork"),
        ({"branch.feature/csv.pushRemote": "fork", "remote.pushDefault": "origin"}, "fork"),
        ({"branch.feature/csv.remote": "."}, "origin"),
        ({"remote.pushDefault": "gone"}, "origin"),
    ],
)
def test_a_branch_is_pushed_where_git_itself_would_push_it(
    shop: Shop, repo: Repo, settings: dict[str, str], chosen: str
) -> None:
    shop.git("remote", "add", "fork", "https://github.com/ada/shop")
    for key, value in settings.items():
        shop.git("config", key, value)

    remote = repo.push_remote("feature/csv")

    assert remote is not None
    assert remote.name == chosen


def test_an_upstream_that_was_chosen_is_not_changed(shop: Shop, repo: Repo) -> None:
    shop.git("branch", "--set-upstream-to=origin/main")
    shop.commit("More", {"app.py": "more\n"})
    remote = repo.push_remote("feature/csv")
    assert remote is not None

    assert repo.push(remote, "feature/csv").state == "pushed"

    assert shop.git("rev-parse", "--abbrev-ref", "@{upstream}") == "origin/main"
    assert shop.remote_head("main") != shop.head() == shop.remote_head("feature/csv")


def test_pushing_twice_finds_it_there(shop: Shop, repo: Repo) -> None:
    remote = Remote(name="origin")

    assert repo.push(remote, "feature/csv").state == "pushed"
    assert repo.push(remote, "feature/csv").state == "unchanged"
    assert repo.remote_head("origin", "feature/csv") == shop.head()


def test_a_push_is_never_forced(tmp_path: Path, shop: Shop, repo: Repo) -> None:
    other = Made(tmp_path / "other", init=False)
    other.git("clone", "--quiet", str(shop.remote.folder), ".")
    other.git("switch", "--quiet", "--create", "feature/csv")
    theirs = other.commit("Theirs", {"b.py": "b\n"})
    other.git("push", "--quiet", "origin", "feature/csv")
    shop.commit("Ours", {"app.py": "ours\n"})

    assert repo.push(Remote(name="origin"), "feature/csv").state == "behind"
    assert shop.remote_head() == theirs


def test_a_remote_that_asks_for_a_password_is_not_waited_for(
    shop: Shop, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GIT_ASKPASS", raising=False)
    monkeypatch.delenv("SSH_ASKPASS", raising=False)
    ssh = shop.folder.parent / "ssh"
    ssh.write_text(
        '#!/bin/sh\n"$SSH_ASKPASS" || echo "host: Permission denied (publickey)." >&2\nexit 255\n'
    )
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    shop.git("remote", "set-url", "origin", "git@host:ada/shop.git")

    pushed = repo.push(Remote(name="origin"), "feature/csv")

    assert pushed.state == "login"
    assert "Permission denied" in pushed.output[0]


def test_the_main_branch_of_a_remote_is_known_where_it_was_recorded(shop: Shop, repo: Repo) -> None:
    assert repo.default_branch("origin") is None
    shop.git("remote", "set-head", "origin", "main")
    assert repo.default_branch("origin") == "main"


def test_a_question_takes_no_lock(shop: Shop, repo: Repo) -> None:
    shop.write("app.py", "x\n")
    index = shop.folder / ".git" / "index"
    before = index.stat().st_mtime_ns

    repo.list_staged()

    assert index.stat().st_mtime_ns == before


def test_what_is_staged_is_not_nothing_if_git_cannot_tell(shop: Shop, repo: Repo) -> None:
    shop.write("app.py", "x\n")
    repo.stage(["app.py"])
    (shop.folder / ".git" / "index").write_bytes(b"garbage")

    with pytest.raises(LeftoffError, match="git cannot list what is staged"):
        repo.list_staged()
