"""Real agents call leftoff's tools over MCP: one session saves, the next resumes."""

import json

import pytest

from e2e.bench import AgentBench
from e2e.claude import Bench
from e2e.model import Model
from e2e.turns import LEFTOFF_TOOL, Turn, call_leftoff, say
from leftoff.context import Environment
from leftoff.mcp.methods import INSTRUCTIONS
from leftoff.wiring.mcp_entries import add_entry, find_file, remove_entry

# Claude Code asks before each call, and nobody is there to say yes.
ALLOWED = ",".join(f"{LEFTOFF_TOOL}{tool}" for tool in ("save", "resume", "status"))
SAVE = {
    "name": "csv-export",
    "summary": "Export orders as CSV",
    "next_action": "Write the header in app.py",
    "left_off": "The rows are written in app.py",
}


def register(bench: AgentBench) -> None:
    """Let the agent know the server."""
    path = find_file(Environment({"HOME": str(bench.home)}), bench.agent)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    added = add_entry(bench.agent, text, (str(bench.root / "bin" / "leftoff"), "mcp"))
    path.write_text(added, encoding="utf-8")


def use(bench: AgentBench, *calls: Turn) -> None:
    """Run a session that calls these tools."""
    bench.model.will(*calls, say("Done."))
    result = bench.run("Please do it", *(bench.agent == "claude") * ("--allowedTools", ALLOWED))
    assert result.code == 0, result.err + result.out
    assert bench.model.turns_left == 0, result.err + result.out


def list_work(bench: AgentBench) -> list[dict[str, object]]:
    done = bench.program("leftoff", "list", "--json")
    return list(json.loads(done.out))


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode", "copilot"])
def test_a_session_saves_and_the_next_one_resumes(
    request: pytest.FixtureRequest, agent: str
) -> None:
    bench: AgentBench = request.getfixturevalue(agent)
    register(bench)
    use(bench, call_leftoff("save", **SAVE))

    (work,) = list_work(bench)
    assert (work["name"], work["summary"]) == ("csv-export", "Export orders as CSV")
    assert work["agent"] == agent
    first = work["session_id"]
    assert "csv-export" in bench.model.seen_text()

    later = call_leftoff("save", next_action="Write the totals in app.py")
    use(bench, call_leftoff("resume", accept=True), later)

    output = bench.model.seen_text()
    for words in ("Export orders as CSV", "Write the header in app.py", "leftoff-briefing"):
        assert words in output
    # The save that was running is not work that was cut short.
    assert "Interrupted during" not in output
    # The second session continues the thread: its task stays, and the next action is the new one.
    (work,) = list_work(bench)
    assert (work["name"], work["summary"]) == ("csv-export", "Export orders as CSV")
    assert work["next_action"] == "Write the totals in app.py"
    if agent in {"claude", "codex", "opencode"}:
        # The requests of these name their session.
        requests = bench.model.requests()
        assert (first, work["session_id"]) == (requests[0].session_id, requests[-1].session_id)
    assert len({None, first, work["session_id"]}) == 3


def test_the_model_sees_the_instructions_and_a_mistake_with_the_way_out(
    bench: Bench, model: Model
) -> None:
    path = bench.home / ".claude.json"
    before = path.read_text(encoding="utf-8")
    register(bench)
    assert remove_entry("claude", path.read_text(encoding="utf-8")) == before
    use(bench, call_leftoff("status"), call_leftoff("save", nxt="Write the header"))

    _, status, mistake = model.requests()
    assert INSTRUCTIONS[:60] in json.dumps(mistake.body)
    assert bench.repo.folder.name in status.news
    assert "save has no argument 'nxt'" in mistake.news
    assert "next_action" in mistake.news
    assert list_work(bench) == []
