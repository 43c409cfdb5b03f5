"""`list --everywhere`, and `status` where there is no project."""

import os
import shutil
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.agents.hook_events import HookEvent
from leftoff.context import find_project
from leftoff.session import prompt_queue
from leftoff.store import Store
from stores import NOON, draft


def save(folder: Path, name: str) -> None:
    with closing(Store(find_project(folder))) as store:
        store.save(draft(name, f"Work on {name}"))


@pytest.fixture
def home() -> Path:
    """Make a home with two projects."""
    home = Path(os.environ["HOME"])
    for name in ("shop", "blog"):
        Repo(home / "src" / name)
        save(home / "src" / name, f"{name}-work")
    return home


@pytest.mark.usefixtures("home")
def test_a_list_of_everything_names_the_project_of_each_thread(cli: Cli) -> None:
    out = cli.ok("list", "--everywhere").out

    assert [line.split()[0] for line in out.splitlines()] == ["name", "blog-work", "shop-work"]
    assert "~/src/blog" in out
    found = cli.json("list", "--everywhere", "--limit", "1")
    assert [(each["name"], Path(each["project"]).name) for each in found] == [("blog-work", "blog")]
    assert (
        "… and more: leftoff list --everywhere"
        in cli.ok("list", "--everywhere", "--limit", "1").out
    )


def test_nothing_anywhere_is_said(cli: Cli) -> None:
    assert "Nothing is open in any project on this machine." in cli.ok("list", "--everywhere").out


def test_all_and_everywhere_contradict_each_other(cli: Cli) -> None:
    assert cli("list", "--everywhere", "--all").code == 2


def test_a_deleted_project_is_named_once(home: Path, cli: Cli) -> None:
    shutil.rmtree(home / "src" / "blog")

    first, again = cli("list", "--everywhere"), cli("list", "--everywhere")

    assert "1 project was moved or deleted (~/src/blog)" in first.err
    assert (again.code, again.err) == (0, "")


def test_a_project_on_a_disk_that_is_not_mounted_stays_on_the_list(home: Path, cli: Cli) -> None:
    (home / "src").rename(home / "elsewhere")
    assert "2 projects were moved or deleted" in cli("list", "--everywhere").err

    (home / "elsewhere").rename(home / "src")
    assert "blog-work" in cli.ok("list", "--everywhere").out


def test_status_outside_a_project_shows_all_projects(
    home: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (home, home / "src"):
        monkeypatch.chdir(folder)
        out = cli.ok("status").out
        assert "project  none here" in out
        assert "open     2 threads in 2 projects" in out
        assert "shop-work" in out
    found = cli.json("status")
    assert (found["project"], [each["name"] for each in found["everywhere"]]) == (
        None,
        ["blog-work", "shop-work"],
    )


def test_status_shows_the_last_save_and_waiting_prompts(cli: Cli, repo: Repo) -> None:
    cli.ok("save", "exporter", "--summary", "Export orders", "--next", "Run pytest")
    assert "prompts" not in cli.ok("status").out
    with closing(Store(find_project(repo.folder))) as store:
        prompt_queue.keep(
            store,
            HookEvent(agent="claude", kind="prompt", session_id="s", cwd="/w", prompt="Go", at=1.0),
        )

    out = cli.ok("status").out

    assert "saved    just now, exporter" in out
    assert "prompts  1 prompt waits for an answer; run `leftoff prompts`" in out


def test_recovered_work_is_as_old_as_it_is_and_not_saved_just_now(cli: Cli, repo: Repo) -> None:
    with closing(Store(find_project(repo.folder))) as store:
        made = draft("exporter", "Export orders", as_of=NOON)
        store.save(msgspec.structs.replace(made, trigger="recovered"))

    assert "just now" not in cli.ok("status").out
    assert cli.json("status")["saved_at"] is None


def test_status_says_what_broke_the_hooks(cli: Cli) -> None:
    cli.ok("init", "--agent", "claude", "--yes")
    assert cli.json("status")["hooks_state"] == "on"

    python = Path(os.environ["HOME"], ".local/state/leftoff/python")
    python.write_text("/gone/python\n", encoding="utf-8")
    assert "hooks    broken: /gone/python is gone; run `leftoff doctor`" in cli.ok("status").out
    python.unlink()
    assert cli.json("status")["hooks_state"] == "broken"
