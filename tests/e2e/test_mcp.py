"""The real Claude Code calls leftoff's tools over MCP: one session saves, the next resumes."""

import json

import pytest

from e2e.bench import Result
from e2e.claude import Bench
from e2e.model import Model
from e2e.turns import call, say
from leftoff.mcp.methods import INSTRUCTIONS
from leftoff.wiring.mcp_entries import add_entry, remove_entry

ALLOWED = ("--allowedTools", "mcp__leftoff__save,mcp__leftoff__resume,mcp__leftoff__status")
SAVE: dict[str, object] = {
    "name": "csv-export",
    "summary": "Export orders as CSV",
    "next_action": "Write the header in app.py",
    "left_off": "The rows are written in app.py",
}


@pytest.fixture
def registered(bench: Bench) -> Bench:
    """Return a bench whose Claude Code knows the server."""
    path = bench.home / ".claude.json"
    text = path.read_text(encoding="utf-8")
    added = add_entry("claude", text, ("leftoff", "mcp"))
    assert remove_entry("claude", added) == text
    path.write_text(added, encoding="utf-8")
    return bench


def use(bench: Bench, *calls: tuple[str, dict[str, object]]) -> Result:
    """Run a session that calls these tools."""
    turns = [call(f"mcp__leftoff__{tool}", given=given) for tool, given in calls]
    bench.model.will(*turns, say("Done."))
    result = bench.run("Please do it", *ALLOWED)
    assert result.code == 0, result.err
    assert bench.model.turns_left == 0
    return result


def list_work(bench: Bench) -> list[dict[str, object]]:
    done = bench.program("leftoff", "list", "--json")
    return list(json.loads(done.out))


def test_a_session_saves_and_the_next_one_resumes(registered: Bench, model: Model) -> None:
    first = use(registered, ("save", SAVE))

    (work,) = list_work(registered)
    assert work["name"] == "csv-export"
    assert (work["agent"], work["session_id"]) == ("claude", first.session_id)
    assert "csv-export" in model.seen_text()

    later: dict[str, object] = {"next_action": "Write the totals in app.py"}
    second = use(registered, ("resume", {"accept": True}), ("save", later))

    assert second.session_id != first.session_id
    output = model.seen_text()
    for words in ("Export orders as CSV", "Write the header in app.py", "leftoff-briefing"):
        assert words in output
    # The second session continues the thread: its task stays, and the next action is the new one.
    (work,) = list_work(registered)
    assert (work["name"], work["summary"]) == ("csv-export", "Export orders as CSV")
    assert work["next_action"] == later["next_action"]
    assert work["session_id"] == second.session_id


def test_the_model_sees_the_instructions_and_the_tools(registered: Bench, model: Model) -> None:
    use(registered, ("status", {}))

    request = model.requests()[-1]
    assert INSTRUCTIONS[:60] in json.dumps(request.body)
    assert registered.repo.folder.name in request.news


def test_a_mistake_is_reported_to_the_model_with_the_way_out(
    registered: Bench, model: Model
) -> None:
    use(registered, ("save", {"nxt": "Write the header"}))

    assert "save has no argument 'nxt'" in model.seen_text()
    assert "next_action" in model.seen_text()
    assert list_work(registered) == []
