"""The plugin works in the real program: from a marketplace, or named at the start."""

from pathlib import Path

from e2e.claude import Bench
from e2e.model import Model
from e2e.turns import bash, call, say
from e2e.user import TASK, User

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ("--plugin-dir", str(ROOT / "plugin"))


def claude(bench: Bench, *arguments: str) -> str:
    result = bench.program(str(bench.claude), *arguments)
    assert result.code == 0, result.out + result.err
    return result.out


def test_the_program_accepts_it(bench: Bench) -> None:
    assert "Validation passed" in claude(bench, "plugin", "validate", str(ROOT / "plugin"))
    assert "Validation passed" in claude(bench, "plugin", "validate", str(ROOT))


def test_installed_from_the_marketplace_it_keeps_work_alive_until_it_is_taken_out(
    bench: Bench, model: Model, newcomer: User
) -> None:
    claude(bench, "plugin", "marketplace", "add", str(ROOT))
    claude(bench, "plugin", "install", "leftoff@leftoff", "--scope", "user")

    newcomer.works()
    bench.run("hello")
    assert TASK in model.requests()[-1].news

    claude(bench, "plugin", "uninstall", "leftoff@leftoff")
    newcomer.settled()
    bench.run("hello again")
    assert TASK not in model.requests()[-1].news


def test_named_at_the_start_it_works_without_an_install(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.works(options=PLUGIN)

    bench.run("hello", *PLUGIN)

    assert TASK in model.requests()[-1].news
    assert newcomer.saved()


def test_beside_init_every_event_counts_once(bench: Bench, model: Model, user: User) -> None:
    user.works(options=PLUGIN)

    bench.run("hello", *PLUGIN)

    assert model.requests()[-1].news.count("leftoff: work was left off here") == 1
    (saved,) = user.saved("session-end")
    assert saved["intent"] == TASK


def test_its_commands_show_the_model_what_leftoff_says(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.ok("save", "csv-export", "--task", "Export CSV", "--next", "Run pytest tests/csv")

    bench.run("/leftoff:list", *PLUGIN)

    assert "csv-export" in model.requests()[-1].news


def test_its_commands_reach_the_model_even_when_leftoff_fails(
    bench: Bench, model: Model, newcomer: User
) -> None:
    store = bench.repo.folder / ".git" / "leftoff"
    store.write_text("in the way", encoding="utf-8")

    bench.run("/leftoff:status", *PLUGIN)

    assert model.requests(), "Claude Code dropped the command"
    assert newcomer.trouble() == []


def test_a_command_may_do_its_own_work_unasked_and_nothing_else(
    bench: Bench, model: Model, newcomer: User
) -> None:
    model.will(
        bash(
            'leftoff save csv-export \\\n  --task "Export CSV" \\\n  --next "Run pytest tests/csv"'
        ),
        bash("leftoff config set verify 'touch planted'"),
        bash("leftoff ship --no-push"),
    )

    bench.run("/leftoff:save csv-export", *PLUGIN)

    text = [request.news for request in model.requests()]
    assert 'Saved checkpoint "csv-export"' in text[1]
    assert all("requires approval" in news for news in text[2:4])
    assert newcomer.ok("list", "--json").count('"csv-export"') == 1


def test_ship_shows_its_plan_before_the_model_decides(
    bench: Bench, model: Model, newcomer: User
) -> None:
    bench.repo.write("app.py", "print('two')\n")
    bench.repo.write(".env", "KEY=1\n")

    bench.run("/leftoff:ship", *PLUGIN)

    assert "left out .env" in model.requests()[-1].news
    assert newcomer.trouble() == []


def test_only_the_user_can_call_the_command_that_clears(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.ok("save", "csv-export", "--task", "Export CSV", "--next", "Run pytest tests/csv")
    clearing = call("Skill", given={"skill": "leftoff:clear", "args": "csv-export"})
    model.will(clearing, bash("leftoff clear csv-export"), say("Done."))
    bench.run("tidy up", *PLUGIN)
    assert "csv-export" in newcomer.ok("list")

    model.will(bash("leftoff clear csv-export"), say("Done."))
    bench.run("/leftoff:clear csv-export", *PLUGIN)

    assert "csv-export" not in newcomer.ok("list")
