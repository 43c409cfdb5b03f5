import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.runs import Cli, environment
from e2e.waiting import until
from leftoff import processes
from ship.conftest import cli, hub, shop
from ship.hub import Hub
from ship.shop import Shop, step

__all__ = ["cli", "hub", "shop"]


def test_the_commit_of_a_ship_is_where_the_work_stands(shop: Shop, cli: Cli) -> None:
    cli.ok("save", "csv", "--summary", "Export orders", "--next", "Test 0 orders")
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship", "--no-pr", "-m", "Export orders")

    shown = cli.json("resume", "csv")
    assert shown["checks"]["head"]["commits_since"] == 0
    assert f"Last commit: {shop.head()[:8]} Export orders" in shown["briefing"]
    for words in ("Changed since", "Uncommitted when saved", "stale"):
        assert words not in f"{shown['briefing']}{shown['question']}"

    shop.commit("Rename the field")
    later = cli.json("resume", "csv")
    assert "- HEAD moved by 1 commit" in later["briefing"]
    assert "Rename the field" in later["briefing"]


# --- the end ---


@pytest.mark.accept(150)
def test_the_panel_shows_the_commit_the_rest_and_where_things_are(
    shop: Shop, cli: Cli, hub: Hub
) -> None:
    cli.ok("save", "csv", "--next", "Test 0 orders", "--decision", "Stream :: memory")
    shop.write("app.py", "print('csv')\n")

    panel = cli.ok("ship", "-m", "Export orders").out.partition("\n\n")[2]

    assert hub.pulls
    assert panel.startswith("CHECKPOINT COMPLETE\n")
    for words in ("Commit ", "Push ", "Pull request ", "Next: Test 0 orders", "memory.jsonl"):
        assert words in panel
    assert "clear" not in panel


@pytest.mark.accept(150)
def test_clearing_the_context_is_advised_only_where_it_is_wanted(shop: Shop, cli: Cli) -> None:
    cli.ok("config", "set", "advise_clear", "true")
    shop.write("app.py", "print('csv')\n")

    assert "You can clear the agent's context now" in cli.ok("ship", "--no-pr").out
    shop.git("remote", "remove", "origin")
    assert "clear the agent's" not in cli("ship", "--no-pr").out


@pytest.mark.accept(157)
@pytest.mark.parametrize(
    "url",
    ["git@github.com:ada/shop.git", "ssh://git@github.com/ada/shop", "https://github.com/ada/shop"],
)
def test_owner_and_repository_are_reported(shop: Shop, cli: Cli, url: str) -> None:
    shop.git("remote", "set-url", "origin", url)

    assert cli.json("ship", "--dry-run")["repository"] == "ada/shop"


def test_the_answer_in_json_is_one_document_and_checks_speak_beside_it(
    shop: Shop, cli: Cli, hub: Hub
) -> None:
    cli.ok("config", "set", "verify", "echo one two")
    shop.write("app.py", "print('csv')\n")

    done = cli.ok("ship", "-m", "Export orders", "--json")

    assert hub.pulls
    assert "one two" in done.err
    answer = done.json
    assert answer["pull"]["url"] == "https://github.com/ada/shop/pull/12"
    assert (answer["is_new"], answer["pushed"], answer["failed"]) == (True, True, False)
    assert answer["commit"] == {"sha": shop.head(), "subject": "Export orders"}
    assert [each["has_passed"] for each in answer["checks"]] == [True]


def test_a_terminal_shows_what_is_under_way(shop: Shop, cli: Cli) -> None:
    shop.write("app.py", "print('csv')\n")

    with cli.terminal("ship", "--yes", "--no-pr", "-m", "Export orders") as terminal:
        terminal.expect("....  push")
        terminal.expect("Pushed to origin/feature/csv")
        terminal.rest()

    assert terminal.code == 0


def test_a_terminal_shows_what_it_will_commit_and_push_and_asks(shop: Shop, cli: Cli) -> None:
    shop.write("app.py", "print('csv')\n")
    head = shop.head()

    with cli.terminal("ship", "--no-pr", "-m", "Export orders") as terminal:
        terminal.expect("app.py")
        terminal.expect("Would commit: Export orders")
        terminal.expect("Would push to origin/feature/csv")
        terminal.expect("Ship this?")
        terminal.answer("n")
        terminal.rest()

    assert terminal.code == 1
    assert (shop.head(), shop.remote_head(), shop.status) == (head, "", " M app.py")
    assert cli.json("list") == []
    with cli.terminal("ship", "--no-pr", "-m", "Export orders") as terminal:
        terminal.expect("Ship this?")
        terminal.answer("y")
        terminal.rest()
    assert (terminal.code, shop.subjects()[0]) == (0, "Export orders")


# --- dry run ---


def test_a_dry_run_stops_where_a_ship_does_at_checks_that_nobody_allowed(
    shop: Shop, cli: Cli
) -> None:
    store = shop.folder / ".git" / "leftoff"
    store.mkdir()
    (store / "config.toml").write_text('verify = ["make test"]\n', encoding="utf-8")
    shop.write("app.py", "print('csv')\n")

    planned, shipped = cli("ship", "--dry-run", "--no-pr"), cli("ship", "--no-pr")

    why = "This project sets checks to run before a commit, and you have not allowed them."
    assert (planned.code, shipped.code) == (1, 1)
    assert f"FAIL  checks        {why}\n       make test\n" in planned.out
    assert why in shipped.err
    assert "No checks are set" not in planned.out


def test_a_dry_run_shows_everything_and_touches_nothing(shop: Shop, cli: Cli, hub: Hub) -> None:
    cli.ok("save", "csv", "--summary", "Export orders", "--done", "Streamed the rows")
    cli.ok("config", "set", "verify", "make test")
    shop.write("app.py", "print('csv')\n")
    shop.write(".env", "TOKEN=x\n")
    before = _stamps(shop.folder)

    done = cli.ok("ship", "--dry-run")

    assert _stamps(shop.folder) == before
    assert hub.calls == []
    for words in ("app.py", "left out .env", "Would commit: Export orders", "- Streamed the rows"):
        assert words in done.out
    for words in (
        "Would run make test",
        "Would push to origin/feature/csv",
        "request for feature/csv",
    ):
        assert words in done.out


def test_a_dry_run_names_what_would_be_archived_and_mirrored_and_writes_neither(
    shop: Shop, cli: Cli
) -> None:
    cli.ok("config", "set", "--project", "mirror", "harness")
    cli.ok("feature", "add", "Export orders", "--start")
    cli.ok("feature", "pass")
    shop.write("app.py", "print('csv')\n")
    before = _stamps(shop.folder)

    done = cli.ok("ship", "--dry-run")

    assert "Would archive feature-001" in done.out
    assert "Would update: harness" in done.out
    assert _stamps(shop.folder) == before


def test_a_dry_run_shows_what_stands_in_the_way(shop: Shop, cli: Cli) -> None:
    assert "Nothing to commit." in cli.ok("ship", "--dry-run", "--no-push").out
    assert "Would push to origin/feature/csv" in cli.ok("ship", "--dry-run", "--no-pr").out
    shop.git("switch", "--quiet", "main")
    assert "You are on main" in cli.ok("ship", "--dry-run").out
    shop.git("remote", "remove", "origin")
    assert "There is no remote" in cli("ship", "--dry-run").out
    shop.git("checkout", "--quiet", "--detach")
    assert "You are not on a branch" in cli("ship", "--dry-run").out
    assert not (shop.folder / ".git" / "leftoff").exists()


@pytest.mark.parametrize("has_gh", [True, False])
def test_the_plan_of_a_pushed_branch_says_what_the_ship_says(
    shop: Shop, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_gh: bool
) -> None:
    _choose_gh(tmp_path, monkeypatch, has_gh=has_gh)
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship", "--no-pr", "-m", "Export orders")

    planned, shipped = cli.json("ship", "--dry-run"), cli.json("ship")

    assert step(planned, "push") == step(shipped, "push")
    assert step(planned, "push")["text"] == "origin/feature/csv is already up to date"
    if has_gh:
        text = step(planned, "pull request")["text"]
        assert text.endswith("for feature/csv; GitHub was not asked")
    else:
        assert step(planned, "pull request") == step(shipped, "pull request")
        assert step(planned, "pull request")["state"] == "skipped"


def _choose_gh(folder: Path, monkeypatch: pytest.MonkeyPatch, *, has_gh: bool) -> None:
    """Put a fake gh on the PATH, or leave nothing there but git and a shell."""
    if has_gh:
        Hub(folder / "github").install(monkeypatch)
        return
    programs = folder / "programs"
    programs.mkdir()
    for name in ("git", "sh"):
        (programs / name).symlink_to(shutil.which(name) or "")
    monkeypatch.setenv("PATH", str(programs))


def test_the_plan_of_a_branch_that_only_needs_a_push_says_so(shop: Shop, cli: Cli) -> None:
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship", "--no-pr", "--no-push", "-m", "Export orders")

    planned = cli.json("ship", "--dry-run", "--no-pr")

    assert step(planned, "commit")["text"] == "Nothing to commit."
    assert step(planned, "push")["text"] == "Would push to origin/feature/csv"


def test_failing_checks_name_no_pull_request_that_does_not_exist(shop: Shop, cli: Cli) -> None:
    cli.ok("config", "set", "verify", "false")
    shop.write("app.py", "print('csv')\n")

    done = cli("ship", "--no-pr", "-m", "Export orders")

    assert done.code == 1
    assert "Fix it, then run `leftoff ship` again." in done.out + done.err
    assert "marked" not in done.out + done.err
    assert "Remains       Fix the check `false`\n" in done.out


def test_a_pull_request_with_failing_checks_names_its_label(shop: Shop, cli: Cli, hub: Hub) -> None:
    cli.ok("config", "set", "verify", "false")
    shop.write("app.py", "print('csv')\n")

    done = cli("ship", "-m", "Export orders", "--json")

    assert "status:failing" in hub.labels()
    lines = step(done.json, "pull request")["lines"]
    assert lines == ["Its label is status:failing until the checks pass."]


def _stamps(folder: Path) -> dict[str, tuple[int, int]]:
    found = [folder, *folder.rglob("*")]
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in found}


# --- Ctrl-C ---


@pytest.mark.parametrize("where", ["check", "pre-commit", "pre-push"])
def test_ctrl_c_ends_it_cleanly_and_the_next_run_goes_on(
    shop: Shop, cli: Cli, where: str, tmp_path: Path
) -> None:
    reached = tmp_path / "reached"
    script = f"touch '{reached}'; sleep 60"
    if where == "check":
        cli.ok("config", "set", "verify", script)
    else:
        shop.hook(where, script)
    shop.write("app.py", "print('csv')\n")
    child = subprocess.Popen(
        (sys.executable, "-m", "leftoff", "ship", "--no-pr", "-m", "Export orders"),
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until(lambda: reached.exists() or child.poll() is not None, where)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=120)

    assert child.returncode == 130
    assert "Interrupted" in err
    assert not (shop.folder / ".git" / "index.lock").exists()
    if where == "check":
        cli.ok("config", "unset", "verify")
    else:
        (shop.folder / ".git" / "hooks" / where).unlink()
    cli.ok("ship", "--no-pr", "-m", "Export orders")
    assert shop.subjects("main..") == ["Export orders"]
    assert shop.remote_head() == shop.head()


def test_ctrl_c_on_a_terminal_ends_a_hook_as_well(shop: Shop, cli: Cli, tmp_path: Path) -> None:
    shop.hook("pre-push", f"echo $$ > '{tmp_path}/pid'; echo at it > /dev/tty; exec sleep 60")
    shop.write("app.py", "print('csv')\n")

    with cli.terminal("ship", "--yes", "--no-pr", "-m", "Export orders") as terminal:
        terminal.expect("at it")
        found = terminal.leave("c")

    assert terminal.code == 130
    assert "Interrupted" in found
    hook = int((tmp_path / "pid").read_text())
    until(lambda: not processes.is_alive(hook, 0), "the end of the hook")
    (shop.folder / ".git" / "hooks" / "pre-push").unlink()
    cli.ok("ship", "--no-pr")
    assert shop.remote_head() == shop.head()


def test_on_a_terminal_ship_asks_before_it_runs_the_checks_of_an_archive(
    shop: Shop, cli: Cli, tmp_path: Path
) -> None:
    store = shop.folder / ".git" / "leftoff"
    store.mkdir()
    ran = tmp_path / "ran"
    (store / "config.toml").write_text(f'verify = ["touch {ran}"]\n', encoding="utf-8")
    shop.write("app.py", "print('csv')\n")

    with cli.terminal("ship", "--no-push", "-m", "Export") as terminal:
        terminal.expect(f"touch {ran}")
        terminal.expect("Allow them on this machine?")
        assert not ran.exists()
        terminal.answer("y")
        terminal.expect("Ship this?")
        terminal.answer("y")
        terminal.rest()

    assert ran.exists()
    assert shop.subjects()[0] == "Export"
