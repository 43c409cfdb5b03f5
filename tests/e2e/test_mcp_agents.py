"""Real agents call leftoff's tools over MCP: one session saves, the next resumes.

Codex, Gemini CLI, opencode and Copilot CLI, each with its own home and on a scripted model.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.tool_model import Call, ToolModel
from e2e.waiting import PATIENCE
from gitrepo import ISOLATED_ENVIRONMENT, Repo
from leftoff.context import Environment
from leftoff.wiring.mcp_entries import add_entry, find_file

AGENTS = ("codex", "gemini", "opencode", "copilot")
INSTALLER = Path(__file__).resolve().parents[2] / "scripts" / "agents.py"
LEFTOFF = Path(sys.executable).parent / "leftoff"
SAVE: Call = (
    "save",
    {
        "name": "csv-export",
        "summary": "Export orders as CSV",
        "next_action": "Write the header in app.py",
        "left_off": "The rows are written in app.py",
    },
)
LATER: Call = ("save", {"next_action": "Write the totals in app.py"})
OPTIONS = {
    "codex": ("exec", "--json"),
    "gemini": ("-m", "gemini-2.5-flash", "--skip-trust", "--yolo", "-o", "stream-json", "-p"),
    "opencode": ("run", "--format", "json"),
    "copilot": ("--allow-all-tools", "--output-format", "json", "-p"),
}
CODEX = """\
model = "fake-model"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[features]
plugins = false
apps = false
"""


class AgentRun:
    """One agent with a home, a repository and a model."""

    def __init__(self, agent: str, program: Path, root: Path, model: ToolModel) -> None:
        self._agent, self._program, self.model = agent, program, model
        self._home = root / "home"
        self._home.mkdir()
        self.repo = Repo.begun(root / "repo")
        path = find_file(Environment({"HOME": str(self._home)}), agent)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = _configure(agent, model.url)
        added = add_entry(agent, text, (str(LEFTOFF), "mcp"))
        path.write_text(added, encoding="utf-8")

    def use(self, *calls: Call) -> str:
        """Run a session that calls these tools; return the last request of the model."""
        self.model.calls = [*calls]
        done = subprocess.run(
            (str(self._program), *OPTIONS[self._agent], "please do it"),
            cwd=self.repo.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        assert self.model.calls == [], done.stderr + done.stdout
        return max(self.model.requests[-3:], key=len)

    def list_work(self) -> list[dict[str, Any]]:
        """List the open work, as the user sees it."""
        done = subprocess.run(
            (str(LEFTOFF), "list", "--json"),
            cwd=self.repo.folder,
            env=self._environment(),
            capture_output=True,
            check=True,
        )
        return list(json.loads(done.stdout))

    def _environment(self) -> dict[str, str]:
        # Gemini CLI is a script of node.
        node = Path(shutil.which("node") or "/usr/bin/node").parent
        return {
            **ISOLATED_ENVIRONMENT,
            "HOME": str(self._home),
            "PATH": f"{node}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "GEMINI_API_KEY": "fake",
            "GOOGLE_GEMINI_BASE_URL": self.model.url,
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_MODEL": "fake-model",
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{self.model.url}/v1",
        }


def _configure(agent: str, url: str) -> str:
    """Return the settings that let an agent use the model."""
    if agent == "codex":
        return CODEX.format(url=url)
    if agent == "gemini":
        chosen = {"auth": {"selectedType": "gemini-api-key"}}
        return json.dumps({"security": chosen, "privacy": {"usageStatisticsEnabled": False}})
    if agent == "copilot":
        return ""
    model = {"name": "Fake", "tool_call": True, "limit": {"context": 200_000, "output": 8_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": "x"},
        "models": {"fake-model": model},
    }
    small = {"model": "fake/fake-model", "small_model": "fake/fake-model"}
    settings = {"autoupdate": False, "share": "disabled", **small, "provider": {"fake": provider}}
    return json.dumps(settings, indent=2)


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest, folder: Path) -> Iterator[AgentRun]:
    found = subprocess.run(
        (sys.executable, INSTALLER, request.param), capture_output=True, text=True, check=False
    )
    if found.returncode:
        if os.environ.get("CI") == "true":
            pytest.fail(found.stderr.strip(), pytrace=False)
        pytest.skip(found.stderr.strip())
    model = ToolModel()
    with model.serve():
        yield AgentRun(request.param, Path(found.stdout.strip()), folder, model)


def test_a_session_saves_and_the_next_one_resumes(
    agent: AgentRun, request: pytest.FixtureRequest
) -> None:
    agent.use(SAVE)

    (work,) = agent.list_work()
    assert (work["name"], work["summary"]) == ("csv-export", "Export orders as CSV")
    assert work["agent"] in request.node.name
    first = work["session_id"]
    assert first

    reply = agent.use(("resume", {"accept": True}), LATER)

    for words in ("leftoff-briefing", "Export orders as CSV", "Write the header in app.py"):
        assert words in reply
    # The save that was running is not work that was cut short.
    assert "Interrupted during" not in reply
    # The second session continues the thread: its task stays, and the next action is the new one.
    (work,) = agent.list_work()
    assert (work["name"], work["summary"]) == ("csv-export", "Export orders as CSV")
    assert work["next_action"] == "Write the totals in app.py"
    assert work["session_id"] not in {None, first}
