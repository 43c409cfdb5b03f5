"""The line for a shell prompt is right, loads next to nothing and never fails."""

import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff import prompt_segment, user_state
from leftoff.context import find_project
from leftoff.store import Store
from stores import draft


@pytest.fixture
def repo(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.chdir(repo.folder)
    return repo


def save(folder: Path, name: str) -> None:
    with closing(Store(find_project(folder))) as store:
        store.save(draft(name, worktree=str(folder)), overwrite=True)


def quick() -> str | None:
    return prompt_segment.show(now=time.time())


@pytest.fixture
def cli(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Cli:
    del repo
    return Cli(monkeypatch)


def made(cli: Cli) -> str:
    return cli.ok("prompt-segment").out.rstrip("\n")


def test_what_was_made_once_is_shown_without_looking_again(cli: Cli, repo: Repo) -> None:
    save(repo.folder, "exporter")
    assert quick() is None

    assert made(cli) == "exporter · just now"
    assert quick() == "exporter · just now"
    assert prompt_segment.show(now=time.time() + 7200) == "exporter · 2h ago"


def test_anything_new_in_the_store_is_detected(cli: Cli, repo: Repo) -> None:
    save(repo.folder, "exporter")
    made(cli)
    save(repo.folder, "importer")
    assert quick() is None
    assert made(cli) == "importer · just now · +1"

    cli.ok("done", "importer")
    assert quick() is None
    assert made(cli) == "exporter · just now"
    cli.ok("done", "exporter")
    assert (made(cli), quick()) == ("", "")


def test_it_works_in_subfolders_and_worktrees(
    cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(repo.folder, "exporter")
    made(cli)
    (repo.folder / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(repo.folder / "a" / "b")
    assert quick() == "exporter · just now"

    other = repo.worktree(repo.folder.parent / "other", "topic")
    monkeypatch.chdir(other.folder)
    assert (quick(), made(cli), quick()) == (None, "", "")


def test_plain_folders_count_too(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    save(plain, "exporter")
    monkeypatch.chdir(plain)

    assert quick() is None
    assert (made(cli), quick()) == ("exporter · just now", "exporter · just now")


def test_outside_a_project_and_where_leftoff_is_off_it_is_silent(
    cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert quick() == ""
    save(repo.folder, "exporter")
    made(cli)
    cli.ok("off")
    assert (quick(), made(cli)) == ("", "")
    monkeypatch.chdir("/")
    assert (quick(), made(cli)) == ("", "")


def test_a_moved_project_shows_its_own_work(
    cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(repo.folder, "exporter")
    made(cli)
    moved = repo.folder.rename(repo.folder.with_name("moved"))
    monkeypatch.chdir(moved)

    assert quick() is None


def test_damaged_files_are_made_anew(cli: Cli, repo: Repo) -> None:
    save(repo.folder, "exporter")
    made(cli)
    (kept,) = Path(user_state.state_folder(), "segments").iterdir()
    for data in (
        b"",
        b"1\n",
        b"\xff" * 9,
        b"1\n2\n3\n4\n5\n6\n7\n8\n",
        b"2" + kept.read_bytes()[1:],
    ):
        kept.write_bytes(data)
        assert quick() is None
    assert made(cli) == "exporter · just now"


def test_a_name_cannot_steer_the_shell_or_the_terminal() -> None:
    assert prompt_segment.clean("a\x1b[2J%F{red}$(id)`id`\\w b" + "x" * 60) == (
        "a[2JFredididw b" + "x" * 24 + "…"
    )


def test_it_loads_next_to_nothing(cli: Cli, repo: Repo) -> None:
    save(repo.folder, "exporter")
    made(cli)
    script = (
        "import sys; before = set(sys.modules); sys.argv[1:] = ['prompt-segment'];"
        "from leftoff.__main__ import main; main();"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r};{script}"],
        capture_output=True,
        check=True,
        env=dict(os.environ),
    )

    line, loaded = done.stdout.decode().splitlines()
    assert line == "exporter · just now"
    heavy = {"json", "re", "pathlib", "typing", "click", "msgspec", "sqlite3"}
    assert heavy.isdisjoint(loaded.split())
    assert [each for each in loaded.split() if each.startswith("leftoff")] == [
        "leftoff",
        "leftoff.__main__",
        "leftoff.prompt_segment",
        "leftoff.text",
        "leftoff.text.plural",
        "leftoff.user_state",
    ]
