import json

import msgspec
import pytest

from cli.runs import Cli
from knowledge.reflect.talks import corrected_talk, found_talk
from leftoff.checkpoint import NOTHING_NEXT, SCHEMA, Checkpoint, NextAction
from leftoff.knowledge import features, memory
from leftoff.ship.outcome import remaining
from leftoff.store import Store
from leftoff.store.store import utc_now
from ship.shop import Shop, step
from stores import set_orchestration


@pytest.mark.accept(131)
def test_progress_is_saved_with_summary_blockers_and_next_steps(
    shop: Shop, cli: Cli, store: Store
) -> None:
    words = ["--summary", "Export orders", "--next", "Test 0 orders", "--blocker", "No test data"]
    earlier = cli.json("save", "csv", *words)
    shop.write("app.py", "print('csv')\n")

    shipped = store.load(store.find(cli.json("ship", "--no-pr")["checkpoint"]))

    assert shipped.trigger == "ship"
    assert shipped.id > earlier["id"]
    assert (shipped.summary, shipped.blockers) == ("Export orders", ["No test data"])
    assert shipped.next_action is not None
    assert shipped.next_action.text == "Test 0 orders"


@pytest.mark.accept(132)
def test_files_of_the_feature_and_changed_files_are_saved_with_their_roles(
    shop: Shop, cli: Cli, store: Store
) -> None:
    draft = features.ItemDraft(name="Export orders", related_files=["app.py", "routes.py"])
    feature = features.add(store, draft)
    shop.write("app.py", "print('csv')\n")
    shop.write("export.py", "rows = []\n")

    answer = cli.json("ship", "--no-pr")

    context = answer["context"]
    assert context["feature"] == feature.id
    assert set(context["files"]) == {"app.py", "routes.py", "export.py"}
    assert len(json.dumps(context, indent=2).splitlines()) <= 40
    shipped = store.load(store.find(answer["checkpoint"]))
    assert shipped.feature == feature.id
    roles = {file.path: file.role for file in shipped.files}
    assert set(roles) == {"app.py", "routes.py", "export.py"}
    assert all(roles.values())


@pytest.mark.accept(132)
def test_the_feature_at_hand_comes_before_those_that_were_noted_earlier(
    shop: Shop, cli: Cli, store: Store
) -> None:
    for number in range(1, 8):
        features.add(store, features.ItemDraft(name=f"Feature {number}", related_files=["app.py"]))
    features.start(store, "7")
    shop.write("app.py", "print('csv')\n")

    answer = cli.json("ship", "--no-pr")

    assert answer["context"]["feature"] == "feature-007"
    assert answer["context"]["files"] == {"app.py": "modified - part of feature-007"}
    assert "feature-007 Feature 7 [in_progress]" in answer["remaining"]
    assert "- feature-007: Feature 7 [in_progress]" in cli.ok("briefing").out


@pytest.mark.accept(133)
def test_decisions_that_a_save_brought_are_counted_by_the_ship_of_it(shop: Shop, cli: Cli) -> None:
    cli.ok("memory", "add", "decision", "An old one")
    shop.write("app.py", "print('old')\n")
    cli.ok("ship", "--no-pr")
    words = [word for n in range(3) for word in ("--decision", f"Choice {n} :: reason")]
    cli.ok("save", "csv", "--summary", "Export", *words, "--decision", "an old one.")
    shop.write("app.py", "print('csv')\n")

    outcome = step(cli.json("ship", "--no-pr"), "memory")

    assert outcome["text"] == "Recorded 3 decisions"
    shop.write("app.py", "print('more')\n")
    assert step(cli.json("ship", "--no-pr"), "memory")["state"] == "skipped"


@pytest.mark.accept(135)
def test_a_new_pattern_is_reported_once_and_a_known_one_not_at_all(shop: Shop, cli: Cli) -> None:
    said: list[str] = []
    for number, pattern in enumerate(["Use builders", "use builders.", "Stream rows"]):
        cli.ok("memory", "add", "pattern", pattern)
        shop.write("app.py", f"print({number})\n")
        said.append(step(cli.json("ship", "--no-pr"), "memory")["text"])

    new, known = "Updated procedural patterns", "Nothing new to remember."
    assert said == [new, known, new]


def test_decisions_reach_memory_and_helpers_results_are_folded(
    shop: Shop, cli: Cli, store: Store
) -> None:
    cli.ok("save", "csv", "--decision", "Stream rows :: tenants with a million rows")
    result = features.AgentResult(
        agent="helper", status="failed", summary="Buffered all", errors=["OOM"]
    )
    features.add_result(store, "s1", result)
    together = msgspec.structs.replace(
        features.load(store).orchestration, patterns=["Stream what is long"]
    )
    set_orchestration(store, together)
    shop.write("app.py", "print('csv')\n")

    outcome = step(cli.json("ship", "--no-pr"), "memory")

    assert outcome["state"] == "done"
    assert "Updated procedural patterns" in outcome["lines"]
    kinds = {entry.kind: entry.text for entry in memory.entries(store)}
    assert kinds == {
        "decision": "Stream rows",
        "failure": "Buffered all",
        "pattern": "Stream what is long",
    }
    assert features.load(store).orchestration.results == []
    shop.write("app.py", "print('again')\n")
    assert step(cli.json("ship", "--no-pr"), "memory")["state"] == "skipped"


def test_what_is_complete_is_archived_and_the_loop_set_back(
    shop: Shop, cli: Cli, store: Store
) -> None:
    features.add(store, features.ItemDraft(name="Export orders"))
    features.start(store, "1")
    features.pass_(store, "1")
    shop.write("app.py", "print('csv')\n")

    answer = cli.json("ship", "--no-pr")

    assert step(answer, "archive")["text"] == "Archived 1 completed features"
    assert "Loop completed and reset" in [
        step(answer, "tidy")["text"],
        *step(answer, "tidy")["lines"],
    ]
    assert shop.subjects()[0] == "feat(feature-001): Export orders"
    assert [loop.last_checkpoint for loop in features.load_loops(store).values()] == [shop.head()]


def test_an_agents_session_ships_with_what_it_says_and_what_it_was_taught(
    shop: Shop, cli: Cli, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = corrected_talk(shop.folder)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)
    cli.ok("save", "theirs", "--no-capture", "--summary", "Words of this session")
    shop.write("app.py", "print('csv')\n")

    answer = cli.json("ship", "--no-pr")

    shipped = store.load(store.find(answer["checkpoint"]))
    assert (shipped.agent, shipped.session_id) == ("claude", talk.session_id)
    assert (shipped.summary, bool(shipped.intent)) == ("Words of this session", True)
    outcome = step(answer, "memory")
    assert [outcome["text"], *outcome["lines"]] == [
        "AUTO-REFLECTION",
        "High-confidence rules auto-saved: 1",
        "- Use pnpm instead of npm.",
        "Lower-confidence (manual review needed): 1",
        "(Low-confidence rules queued for next checkpoint review: `leftoff reflect --review`)",
    ]
    assert step(cli.json("ship", "--no-pr"), "memory")["state"] == "skipped"


def test_the_call_that_ships_is_not_cut_short(
    shop: Shop, cli: Cli, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = corrected_talk(shop.folder)
    talk.edit("app.py")
    talk.begin("cd . && leftoff ship --no-push -m 'Export orders'")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)
    shop.write("app.py", "print('csv')\n")

    answer = cli.json("ship", "--no-push", "-m", "Export orders")

    shipped = store.load(store.find(answer["checkpoint"]))
    assert shipped.in_flight is None
    assert shipped.next_action is None or "cut short" not in shipped.next_action.text
    assert "cut short" not in cli.ok("briefing").out
    # The work is shipped, so what the session was about to do is over.
    assert "Next steps" not in cli.ok("briefing").out


def test_the_request_that_a_ship_fulfils_does_not_remain(
    shop: Shop, cli: Cli, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = found_talk(shop.folder)
    talk.ask("Ship the server")
    talk.edit("app.py")
    talk.begin("leftoff ship --no-push")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)
    shop.write("app.py", "print('csv')\n")

    answer = cli.json("ship", "--no-push")

    assert answer["remaining"] == []
    assert store.load(store.find(answer["checkpoint"])).next_action is None


def test_a_ship_that_ends_the_thread_lists_no_next_action_of_it(
    shop: Shop, cli: Cli, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = found_talk(shop.folder)
    talk.edit("app.py")
    talk.say("The server is there. Next I will ship it.")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)
    shop.write("app.py", "print('csv')\n")

    answer = cli.json("ship", "--no-push")

    assert store.load(store.find(answer["checkpoint"])).next_action is not None
    assert answer["remaining"] == []
    assert cli.json("list") == []


def test_newer_work_of_another_thread_does_not_hide_what_is_left_in_this_one(
    shop: Shop, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.write("app.py", "print('csv')\n")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "one")
    cli.ok("save", "exporter", "--summary", "Port the exporter", "--next", "Test 0 orders")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "another")
    cli.ok("save", "changelog", "--summary", "Write a changelog", "--file", "app.py")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "third")
    cli.ok("resume", "exporter", "--accept")

    answer = cli.json("ship", "--no-push")

    assert answer["remaining"] == ["Next: Test 0 orders"]
    assert {each["name"] for each in cli.json("list")} == {"exporter", "changelog"}


def test_the_words_of_another_session_stay_with_it(
    shop: Shop, cli: Cli, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "one")
    cli.ok("save", "theirs", "--summary", "Words of one", "--next", "Run pytest tests/one")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "another")
    shop.write("app.py", "print('csv')\n")

    shipped = store.load(store.find(cli.json("ship", "--no-pr")["checkpoint"]))

    assert (shipped.session_id, shipped.summary, shipped.next_action) == ("another", None, None)
    assert shop.message() == "Update app.py"


def test_other_work_on_the_branch_lends_no_words_to_a_commit(
    shop: Shop, cli: Cli, store: Store
) -> None:
    shop.write("export.py", "rows = []\n")
    cli.ok("save", "exporter", "--summary", "Port the exporter", "--next", "Run pytest")
    shop.git("stash", "-q", "-u")
    shop.write("README.md", "A typo is gone.\n")

    shipped = store.load(store.find(cli.json("ship", "--no-pr")["checkpoint"]))

    assert shop.message() == "Update README.md"
    assert shipped.summary is None
    shop.git("stash", "pop", "-q")
    cli.ok("ship", "--no-pr")
    assert shop.message() == "Update export.py"


def test_work_goes_along_to_a_branch_that_is_made_for_it(
    shop: Shop, cli: Cli, store: Store
) -> None:
    shop.write("export.py", "rows = []\n")
    cli.ok("save", "exporter", "--summary", "Port the exporter", "--next", "Test 0 orders")
    shop.git("switch", "-q", "-c", "feature/exporter")

    planned = cli.ok("ship", "--dry-run", "--no-pr").out
    shipped = store.load(store.find(cli.json("ship", "--no-pr")["checkpoint"]))

    assert "Would commit: Port the exporter" in planned
    assert shop.message().startswith("Port the exporter")
    assert (shipped.name, shipped.branch) == ("exporter", "feature/exporter")
    assert [each["name"] for each in cli.json("list", "--all")] == ["exporter"]


def test_work_of_another_branch_lends_no_words_to_changes_from_another_commit(
    shop: Shop, cli: Cli
) -> None:
    shop.write("export.py", "rows = []\n")
    cli.ok("save", "exporter", "--summary", "Port the exporter", "--next", "Test 0 orders")
    shop.git("stash", "-q", "-u")
    shop.git("switch", "-q", "-c", "other")
    shop.commit("Something else", {"app.py": "print('other')\n"})
    shop.write("export.py", "rows = [1]\n")

    cli.ok("ship", "--no-pr")

    assert shop.message() == "Update export.py"


def test_work_that_was_shipped_without_a_save_is_found_by_the_name_that_lists_show(
    shop: Shop, cli: Cli
) -> None:
    shop.write("app.py", "print('csv')\n")
    shipped = cli.json("ship", "--no-pr")["checkpoint"]

    assert "csv-session" in cli.ok("list", "--all").out
    assert cli.json("show", "csv-session")["id"] == shipped


def test_what_was_shipped_is_not_shown_again_but_what_is_to_be_done_is(
    shop: Shop, cli: Cli, store: Store
) -> None:
    cli.ok("save", "csv", "--summary", "Export", "--done", "Streamed", "--next", "Test 0 orders")
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship", "--no-pr")
    shop.write("export.py")

    shipped = store.load(store.find(cli.json("ship", "--no-pr")["checkpoint"]))

    assert shop.subjects()[:2] == ["Update export.py", "Export"]
    assert (shipped.summary, shipped.done) == (None, [])
    assert shipped.next_action is not None
    assert shipped.next_action.text == "Test 0 orders"


def test_what_is_shipped_does_not_remain_because_nobody_knows_what_comes_next() -> None:
    def list_remaining(action: NextAction) -> list[str]:
        saved = Checkpoint(
            schema=SCHEMA, id="x", saved_at=utc_now(), trigger="ship", next_action=action
        )
        return remaining([], saved, [], features.Board())

    unknown = NextAction(text=f"{NOTHING_NEXT} The agent said last: Done.", origin="inferred")

    assert list_remaining(unknown) == []
    assert list_remaining(NextAction(text="Test 0 orders")) == ["Next: Test 0 orders"]


def test_a_ship_leaves_the_thread_of_a_feature_in_progress_open(shop: Shop, cli: Cli) -> None:
    cli.ok("feature", "add", "Export orders", "--start")
    cli.ok("save", "csv", "--summary", "Export orders", "--done", "Wrote the rows in app.py")
    shop.write("app.py", "print('rows')\n")

    cli.ok("ship", "--no-pr")

    assert [each["name"] for each in cli.json("list")] == ["csv"]
    cli.ok("feature", "pass")
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship", "--no-pr")
    assert cli.json("list") == []
