from pathlib import Path

import click
import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.cli.feature import feature
from leftoff.context import find_project
from leftoff.knowledge import features
from leftoff.store import Store


@pytest.fixture
def noted(cli: Cli) -> Cli:
    """Return a command line where two features are noted."""
    cli.ok("feature", "add", "Export orders", "--description=CSV for admins", "--issue=12")
    cli.ok("feature", "add", "Import", "orders", "--depends=1")
    return cli


def test_without_features_the_way_to_note_one_is_shown(cli: Cli) -> None:
    assert "leftoff feature add" in cli.ok("feature").out
    assert cli.json("feature", "list") == []


def test_features_are_listed_with_their_state(noted: Cli) -> None:
    noted.ok("feature", "start", "1")

    assert noted.ok("feature").out.splitlines() == [
        "id           state        attempts  summary",
        "feature-001  in_progress  -         Export orders",
        "feature-002  pending      -         Import orders",
        "In progress: feature-001 Export orders (attempt 1 of 15)",
    ]


def test_a_list_can_be_of_one_state_only(noted: Cli) -> None:
    noted.ok("feature", "fail", "2", "--blocked")

    found = noted.json("feature", "list", "--status=blocked")

    assert [each["id"] for each in found] == ["feature-002"]


def test_everything_stated_about_a_feature_is_shown_again(cli: Cli) -> None:
    cli.ok(
        "feature", "add", "Export orders", "--description=CSV for admins", "--priority=2",
        "--scenario=No orders :: no orders :: exported :: only a header", "--scenario=Big ones",
        "--file=app.py", "--label=csv", "--issue=12", "--branch=feature/export",
    )  # fmt: skip

    shown = cli.ok("feature", "show").out.splitlines()
    plain = cli.json("feature", "show", "1")

    assert shown[0] == "feature-001: Export orders [pending]"
    for line in (
        "what         CSV for admins", "priority     2", "files        app.py",
        "issue        #12", "branch       feature/export", "labels       csv",
        "must hold    No orders: given no orders, when exported, then only a header",
        "must hold    Big ones",
    ):  # fmt: skip
        assert line in shown
    assert plain["priority"] == 2
    assert plain["scenarios"][0]["then"] == "only a header"
    assert plain["status"] == "pending"


def test_a_file_is_named_as_seen_from_the_project(
    cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("src/export.py")
    monkeypatch.chdir(repo.folder / "src")

    assert cli.json("feature", "add", "Export", "--file=export.py")["related_files"] == [
        "src/export.py"
    ]


def test_a_fix_belongs_to_its_feature(noted: Cli) -> None:
    fix = noted.json("feature", "add", "Quotes are lost", "--fixes=1", "--start")

    assert (fix["id"], fix["linked_to"], fix["status"]) == (
        "fix-feature-001-1", "feature-001", "in_progress",
    )  # fmt: skip
    assert (
        "fix          fix-feature-001-1: Quotes are lost [in_progress]"
        in noted.ok("feature", "show", "1").out
    )
    assert "repairs      feature-001" in noted.ok("feature", "show", fix["id"]).out


def test_starting_without_a_name_takes_the_first_unfinished(noted: Cli) -> None:
    noted.ok("feature", "pass", "1")

    assert noted.json("feature", "start")["feature"] == "feature-002"


def test_starting_warns_of_what_should_come_first(noted: Cli) -> None:
    started = noted.ok("feature", "start", "2")

    assert started.err == "warning: feature-002 depends on unfinished features: feature-001\n"


def test_an_attempt_is_shown_with_its_number_and_remembered(noted: Cli) -> None:
    noted.ok("feature", "start", "1")

    result = noted.ok(
        "feature", "attempt", "Stringify", "all", "--error=out of memory", "--why=unbounded"
    )

    assert result.out == "Recorded attempt 1 of 15 on feature-001: failed\n"
    assert "  1. failed: Stringify all -> unbounded" in noted.ok("feature", "start", "1").out
    [failure] = noted.json("memory", "list", "--kind=failure")
    assert (failure["text"], failure["why"]) == ("Stringify all", "unbounded")


def test_after_an_attempt_that_worked_the_way_to_say_done_is_shown(noted: Cli) -> None:
    noted.ok("feature", "start", "1")

    assert "leftoff feature pass" in noted.ok("feature", "attempt", "Stream", "--passed").out


def test_the_last_attempt_says_that_a_person_has_to_look(noted: Cli) -> None:
    noted.ok("feature", "start", "1")
    for number in range(14):
        noted.ok("feature", "attempt", f"Way {number}")

    assert "escalated to a person" in noted.ok("feature", "attempt", "Way 15").out
    assert noted.json("feature", "show", "1")["status"] == "escalated"


def test_a_feature_passes_with_what_was_checked(noted: Cli) -> None:
    noted.ok("feature", "start", "1")

    result = noted.ok("feature", "pass", "--approach=Stream the rows", "--check=tests=passed")

    assert result.out == "feature-001 passes: Export orders\n"
    shown = noted.json("feature", "show", "1")
    assert (shown["status"], shown["verification"]) == ("passing", {"tests": "passed"})
    [success] = noted.json("memory", "list", "--kind=success")
    assert success["text"] == "Stream the rows"


def test_a_feature_given_up_says_how_to_go_on(noted: Cli) -> None:
    noted.ok("feature", "start", "1")

    result = noted.ok("feature", "fail", "--escalate", "--approach=All at once", "--why=too big")

    assert result.out.splitlines() == [
        "feature-001 is escalated: Export orders",
        "Run `leftoff feature start feature-001` to continue.",
    ]
    assert noted.json("memory", "list")[0]["why"] == "too big"


@pytest.mark.accept(148)
def test_archiving_counts_what_it_moves_and_moves_nothing_twice(noted: Cli) -> None:
    noted.ok("feature", "add", "Quotes are lost", "--fixes=1")
    noted.ok("feature", "pass", "1")
    noted.ok("feature", "pass", "fix-feature-001-1")

    assert noted.ok("feature", "archive").out.splitlines() == [
        "Archived 1 completed features",
        "Archived 1 completed fixes",
    ]
    assert noted.ok("feature", "archive").out == "Nothing to archive: no feature passes.\n"
    assert [each["id"] for each in noted.json("feature", "list")] == ["feature-002"]
    kept = noted.json("feature", "list", "--all")
    assert [each["id"] for each in kept if "archived_at" in each] == [
        "feature-001", "fix-feature-001-1",
    ]  # fmt: skip
    noted.ok("feature", "pass", "2")
    noted.ok("feature", "archive")
    assert "--all" in noted.ok("feature").out


def test_what_was_archived_by_mistake_is_brought_back(noted: Cli) -> None:
    noted.ok("feature", "pass", "1")
    noted.ok("feature", "archive")

    assert "--restore feature-001" in noted("feature", "start", "1").err
    assert (
        noted.ok("feature", "archive", "--restore=1").out == "Restored feature-001: Export orders\n"
    )
    assert noted.json("feature", "start", "1")["feature"] == "feature-001"


@pytest.mark.accept(158)
def test_a_helper_is_told_what_it_needs_in_few_words(noted: Cli) -> None:
    noted.ok("config", "set", "verify", "make test")
    noted.ok("memory", "add", "rule", "Use absolute imports")
    noted.ok("feature", "add", "Print", "--scenario=No printer", "--start")
    for number in range(5):
        noted.ok("feature", "attempt", f"Way {number}", "--why=slow")

    output = noted.ok("feature", "show", "--for-helper").out

    assert output.splitlines() == [
        "Feature feature-003: Print (attempt 6/15)",
        "Verify: make test",
        *(f"Avoid: {number + 1}. Way {number} -> slow" for number in (2, 3, 4)),
        "Rule: Use absolute imports",
        "Must hold: No printer",
    ]
    assert noted.json("feature", "show", "--for-helper") == {"text": output.rstrip("\n")}
    assert noted.ok("feature", "show", "1", "--for-helper").out.startswith(
        "Feature feature-001: Ex"
    )


@pytest.mark.accept(154)
def test_what_broke_off_is_a_choice_with_the_failed_approaches(
    noted: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "first")
    noted.ok("feature", "start", "1")
    noted.ok("feature", "attempt", "Stringify", "--why=unbounded")
    store = Store(find_project(repo.folder))
    features.mark_interrupted(store, "first", "crashed")
    store.close()
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "second")

    asked = noted("feature", "start", "1", "--json")

    assert asked.code == 3
    assert [each["choice"] for each in asked.json["choices"]] == ["fresh", "retry", "reset"]
    assert "1. Stringify -> unbounded" in asked.out
    assert "INTERRUPTED: feature-001" in noted.ok("feature").out
    assert noted.json("feature", "start", "1", "--again=fresh")["attempt"] == 3
    assert noted.ok("feature").out.endswith(
        "In progress: feature-001 Export orders (attempt 3 of 15)\n"
    )


@pytest.mark.accept(154)
def test_on_a_terminal_the_way_to_go_on_is_asked(noted: Cli, repo: Repo) -> None:
    env = {"CLAUDE_CODE_SESSION_ID": "first"}
    noted.process("feature", "start", "1", env=env)
    store = Store(find_project(repo.folder))
    features.mark_interrupted(store, "first", "crashed")
    store.close()

    with noted.terminal("feature", "start", "1") as terminal:
        terminal.expect("3. RESET")
        terminal.expect("How do you want to go on?")
        terminal.answer("2")
        assert "Started: feature-001 Export orders (attempt 1 of 15)" in terminal.rest()
        assert terminal.code == 0


@pytest.mark.accept(154)
@pytest.mark.parametrize("is_saved", [True, False])
def test_resume_shows_what_broke_off_what_failed_and_the_ways_to_go_on(
    noted: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch, *, is_saved: bool
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "first")
    noted.ok("feature", "start", "1")
    noted.ok("feature", "attempt", "Stringify", "--why=unbounded")
    if is_saved:
        noted.ok("save", "export-orders", "--summary=Export orders", "--no-capture")
    assert "INTERRUPTED" not in noted("resume").out
    store = Store(find_project(repo.folder))
    features.mark_interrupted(store, "first", "crashed")
    store.close()

    output = noted.ok("resume").out

    assert "INTERRUPTED: feature-001 Export orders broke off at attempt 2 of 15 (crashed)" in output
    assert "1. Stringify -> unbounded" in output
    for way, choice in {"FRESH APPROACH": "fresh", "RETRY SAME": "retry", "RESET": "reset"}.items():
        assert f"{way}: " in output
        assert f"`leftoff feature start feature-001 --again {choice}`" in output
    assert noted.json("resume")["interrupted"][0]["feature"] == "feature-001"


def test_features_that_cannot_be_read_keep_nobody_from_resuming(noted: Cli, stored: Path) -> None:
    noted.ok("save", "export-orders", "--summary=Export orders", "--no-capture")
    noted.ok("feature", "start", "1")
    (stored / "features.json").write_bytes(b"{")

    result = noted.ok("resume")

    assert "Export orders" in result.out
    assert "contains no readable features" in result.err


@pytest.mark.accept(155)
def test_sessions_side_by_side_work_on_different_features(
    noted: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, session in enumerate(("one", "two"), 1):
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session)
        noted.ok("feature", "start", str(number))
    noted.ok("feature", "attempt", "Of two")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "one")
    noted.ok("feature", "attempt", "Of one")

    shown = (
        noted.json("feature", "show", "1")["loops"] + noted.json("feature", "show", "2")["loops"]
    )

    assert [[each["approach"] for each in loop["history"]] for loop in shown] == [
        ["Of one"], ["Of two"],
    ]  # fmt: skip


@pytest.mark.accept(156)
def test_features_noted_in_a_worktree_are_the_projects(
    noted: Cli, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted.ok("feature", "start", "1")
    other = repo.worktree(tmp_path / "other", "side")
    monkeypatch.chdir(other.folder)

    noted.ok("feature", "add", "Print orders", "--start")

    assert len(noted.json("feature")) == 3
    assert "In progress: feature-003" in noted.ok("feature").out
    monkeypatch.chdir(repo.folder)
    assert "In progress: feature-001" in noted.ok("feature").out
    assert repo.git("status", "--porcelain") == ""
    assert other.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        ("show 9", 1, "There is no feature or fix feature-009"),
        ("start 9", 1, "There is no feature or fix feature-009"),
        ("attempt Something", 1, "No feature is in progress here."),
        ("pass", 1, "No feature is in progress here."),
        ("fail", 1, "No feature is in progress here."),
        ("add", 2, "Missing argument"),
        ("add X --scenario=a::b", 2, "Invalid scenario 'a::b'."),
        ("add X --depends=9", 1, "There is no feature or fix feature-009"),
        ("add X --fixes=9", 1, "There is no feature or fix feature-009"),
        ("add X --issue=0", 2, "Invalid value for '--issue'"),
        ("pass 1 --check=tests", 2, "Invalid check 'tests'."),
        ("start 1 --again=never", 2, "Invalid value for '--again'"),
    ],
)
def test_what_cannot_be_done_is_reported_with_the_way_out_and_changes_nothing(
    noted: Cli, arguments: str, code: int, expected: str
) -> None:
    before = noted.json("feature", "list", "--all")

    for flags in ([], ["--json"]):
        result = noted("feature", *arguments.split(), *flags)
        assert (result.code, expected in result.out + result.err) == (code, True), result
    assert noted.json("feature", "list", "--all") == before


def test_without_any_feature_start_and_show_say_how_to_note_one(cli: Cli) -> None:
    for name in ("start", "show"):
        result = cli("feature", name)
        assert result.code == 1
        assert "leftoff feature add" in result.err


def test_while_the_store_cannot_be_written_the_user_is_told_where_it_is_kept(
    cli: Cli, stored: Path
) -> None:
    stored.write_text("in the way", encoding="utf-8")

    result = cli.ok("feature", "add", "Export orders")

    assert "The next command that can write to the store moves it there." in result.err
    assert [each["name"] for each in cli.json("feature")] == ["Export orders"]
    stored.unlink()
    assert cli.ok("feature", "start").err == ""
    assert (stored / "features.json").exists()


def test_the_shell_is_offered_the_ids_that_are_not_archived(noted: Cli) -> None:
    noted.ok("feature", "pass", "1")
    noted.ok("feature", "archive")
    show = feature.commands["show"]
    argument = next(each for each in show.params if each.name == "key")

    offered = argument.shell_complete(click.Context(show), "fea")

    assert [each.value for each in offered] == ["feature-002"]
