"""Run the real Copilot CLI with its own home, repository and scripted model."""

import functools
import json
import re
import subprocess
from pathlib import Path
from typing import Any, ClassVar

from e2e.bench import AgentBench
from e2e.chat import ChatHandler
from e2e.model import Model
from e2e.tui import Tui
from gitrepo import new_template

WINDOW = 128_000
_PROMPT = "\u276f"


@functools.cache
def _unpack(program: Path) -> Path:
    """Let the program unpack its 240 MB once, and not at each user's first start."""
    cache = new_template()
    command = (str(program), "--version")
    subprocess.run(
        command,
        env={"HOME": str(cache), "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        check=True,
    )
    return cache / "copilot"


class CopilotTui(Tui):
    """The screen of Copilot CLI."""

    def typed(self) -> str | None:
        """Return what is in the input box, or nothing if there is no box."""
        found = re.findall(
            rf"^[ \u2502]*[{_PROMPT}>] *(.*?)[ \u2502]*$", self.screen(), re.MULTILINE
        )
        return str(found[-1]) if found else None


class CopilotBench(AgentBench):
    """A user of Copilot CLI."""

    agent: ClassVar[str] = "copilot"
    screen: ClassVar[type[Tui]] = CopilotTui

    def __init__(self, root: Path, *, program: Path, tmux: Path) -> None:
        super().__init__(root, program=program, tmux=tmux, model=Model(ChatHandler))
        unpacked = self.home / ".cache" / "copilot"
        if not unpacked.is_symlink():
            unpacked.parent.mkdir(exist_ok=True)
            unpacked.symlink_to(_unpack(program))

    @property
    def hooks(self) -> Path:
        """leftoff's file in the folder of hooks."""
        return self.home / ".copilot" / "hooks" / "leftoff.json"

    def prepare(self, folder: Path) -> None:
        """Trust the folder."""
        path = self.home / ".copilot" / "config.json"
        path.parent.mkdir(exist_ok=True)
        known = json.loads(path.read_bytes()) if path.exists() else {"trustedFolders": []}
        known["trustedFolders"].append(str(folder))
        path.write_text(json.dumps(known), encoding="utf-8")

    def variables(self) -> dict[str, str]:
        """Return where the model is, and what keeps the program from doing anything else."""
        return {
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_MODEL": "fake-model",
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{self.model.url}/v1",
            # Compiled once, and not in each run.
            "NODE_COMPILE_CACHE": str(_unpack(self.executable).with_name("compiled")),
        }

    def command(self, prompt: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command line of `copilot -p`."""
        options = ("--allow-all-tools", "--output-format", "json", *arguments)
        return (str(self.executable), *options, "-p", prompt)

    def tui(self, *arguments: str, cwd: Path | None = None, **env: str) -> Tui:
        """Start the interactive program and wait for its input box."""
        tui = self.terminal(cwd, **env)
        tui.start(str(self.executable), "--allow-all-tools", *arguments)
        return tui

    def logs(self) -> list[Path]:
        """Return the event logs of all sessions, oldest first."""
        found = (self.home / ".copilot" / "session-state").glob("*/events.jsonl")
        return sorted(found, key=lambda path: path.parent.stat().st_ctime_ns)

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have a transcript."""
        return [path.parent.name for path in self.logs()]

    def events(self, session: str) -> list[dict[str, Any]]:
        """Read the whole lines of a session's log."""
        path = self.home / ".copilot" / "session-state" / session / "events.jsonl"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def count_results(self, session: str) -> int:
        """Count the results of tools in a transcript, which may not be there yet."""
        return sum(each["type"] == "tool.execution_complete" for each in self.events(session))
