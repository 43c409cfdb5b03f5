from pathlib import Path

import pytest

from cli.runs import Cli
from leftoff.ship.user_checks import suggest_checks
from ship.hub import Hub
from ship.shop import Shop


@pytest.mark.accept(140)
def test_each_check_runs_live_and_is_summed_up(shop: Shop, cli: Cli) -> None:
    cli.ok("config", "set", "verify", "echo one two\ntest -f app.py")
    shop.write("app.py", "print('csv')\n")

    done = cli.ok("ship", "--no-pr")

    assert "       one two\n" in done.out
    assert "done  checks        2 checks passed" in done.out


@pytest.mark.accept(140)
def test_a_failing_check_loses_nothing_marks_the_pull_request_and_is_reported(
    shop: Shop, cli: Cli, hub: Hub
) -> None:
    cli.ok("config", "set", "verify", "echo $((1 + 2)) tests failed; exit 7")
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "-m", "Export orders")

    assert failed.code == 1
    assert "3 tests failed" in failed.out
    assert shop.remote_head() == shop.head()
    assert hub.labels() == {"status:failing"}
    assert "FAILING" in hub.pulls[0]["body"]
    assert "3 tests failed" not in hub.pulls[0]["body"]


@pytest.mark.accept(140)
def test_the_mark_goes_once_the_checks_pass(shop: Shop, cli: Cli, hub: Hub) -> None:
    cli.ok("config", "set", "verify", "test -f fixed")
    shop.write("app.py", "print('csv')\n")
    assert cli("ship", "-m", "Export orders").code == 1
    shop.write("fixed")

    cli.ok("ship", "-m", "Repair it")

    assert hub.labels() == {"status:ready-for-review"}
    assert "FAILING" not in hub.pulls[0]["body"]


@pytest.mark.accept(140)
def test_checks_are_listed_in_the_projects_file_and_all_run_after_one_that_fails(
    shop: Shop, cli: Cli
) -> None:
    cli.ok("config", "set", "--project", "verify", "true")
    file = shop.folder / ".git" / "leftoff" / "config.toml"
    file.write_text('verify = ["exit 3", "echo second >&2; test -d .git", "kill -9 $$"]\n')
    cli.ok("config", "allow", "verify")
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr", "-m", "Export", "--json")

    assert failed.code == 1
    passed = [each["has_passed"] for each in failed.json["checks"]]
    assert passed == [False, True, False]
    assert failed.json["checks"][1]["tail"] == ["second"]
    assert shop.remote_head() == shop.head()


@pytest.mark.parametrize(
    ("files", "commands"),
    [
        ({}, []),
        ({"Makefile": "all:\n\ntest:\n\techo\nlint: x\n"}, ["make test", "make lint"]),
        ({"package.json": '{"scripts": {"test": "x", "build": "y"}}'},
         ["npm run build", "npm run test"]),
        ({"package.json": "{", "go.mod": "module x"}, ["go test ./..."]),
        ({"package.json": '{"scripts": 3}', "Cargo.toml": ""}, ["cargo test"]),
        ({"requirements.txt": ""}, ["python -m pytest"]),
    ],
)  # fmt: skip
def test_commands_are_suggested_from_what_build_tools_leave(
    files: dict[str, str], commands: list[str], tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    assert suggest_checks(tmp_path) == commands
