"""Run the real opencode with its own home, repository and scripted model."""

import contextlib
import json
import re
import sqlite3
from pathlib import Path
from typing import Any, ClassVar

from e2e.bench import SHORT_BUN_RUNS, AgentBench
from e2e.chat import ChatHandler
from e2e.model import Model
from e2e.tui import Tui

WINDOW = 200_000


class OpencodeTui(Tui):
    """The screen of opencode."""

    turn_ended: ClassVar[re.Pattern[str]] = re.compile(r"▣ +\w+ · [^·\n]+ · \d")

    def typed(self) -> str | None:
        """Return what is in the input box, or nothing if there is no box."""
        lines = [line.strip() for line in self.screen().splitlines()]
        boxes = [line for line in lines if line.startswith("┃")]
        if not boxes:
            return None
        return "\n".join(line.removeprefix("┃").strip() for line in boxes[-4:])


class OpencodeBench(AgentBench):
    """A user of opencode."""

    agent: ClassVar[str] = "opencode"
    screen: ClassVar[type[Tui]] = OpencodeTui

    def __init__(self, root: Path, *, program: Path, tmux: Path) -> None:
        super().__init__(root, program=program, tmux=tmux, model=Model(ChatHandler))
        self.put_on_path()

    @property
    def config(self) -> Path:
        """The folder of opencode's settings."""
        return self.home / ".config" / "opencode"

    @property
    def _models(self) -> Path:
        return self.root / "models.json"

    @property
    def database(self) -> Path:
        """Where opencode keeps all sessions."""
        return self.home / ".local" / "share" / "opencode" / "opencode.db"

    def prepare(self, folder: Path) -> None:
        """Name the model."""
        del folder
        model = {"name": "Fake", "limit": {"context": WINDOW, "output": 8000}, "tool_call": True}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Fake",
            "options": {"baseURL": f"{self.model.url}/v1", "apiKey": "x"},
            "models": {"fake-model": model},
        }
        self.config.mkdir(parents=True, exist_ok=True)
        settings = {
            "$schema": "https://opencode.ai/config.json",
            "autoupdate": False,
            "share": "disabled",
            "model": "fake/fake-model",
            "small_model": "fake/fake-model",
            "provider": {"fake": provider},
            "permission": {"edit": "allow", "bash": "allow"},
            # Its own snapshots start git forty times in a run.
            "snapshot": False,
        }
        (self.config / "opencode.json").write_text(json.dumps(settings), encoding="utf-8")
        self._models.write_text("{}", encoding="utf-8")
        self._install_helper()

    def _install_helper(self) -> None:
        """Leave what says that opencode's helper for plugins is installed.

        Otherwise it would try to install that from the network at each start, and wait for it.
        Only plugins that import it need it.
        """
        wanted = {"dependencies": {"@opencode-ai/plugin": "1.18.33"}}
        lock = {"lockfileVersion": 3, "packages": {"": wanted}}
        (self.config / "node_modules").mkdir(exist_ok=True)
        (self.config / "package.json").write_text(json.dumps(wanted), encoding="utf-8")
        (self.config / "package-lock.json").write_text(json.dumps(lock), encoding="utf-8")

    def command(self, prompt: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command line of `opencode run`."""
        return (str(self.executable), "run", "--format", "json", *arguments, prompt)

    def variables(self) -> dict[str, str]:
        """Keep opencode from looking for updates, models and packages.

        It would check its own list of thousands of models at each start, and compile code that a
        short run never pays back: half of the CPU time of a run.
        """
        return {
            **SHORT_BUN_RUNS,
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_MODELS_PATH": str(self._models),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "npm_config_registry": "http://127.0.0.1:9",
        }

    def tui(self, *arguments: str, cwd: Path | None = None, **env: str) -> Tui:
        """Start the interactive program and wait for its input box."""
        tui = self.terminal(cwd, **env)
        tui.start(str(self.executable), *arguments)
        return tui

    def sessions(self) -> list[str]:
        """Return the ids of all sessions, oldest first."""
        rows = self._query("select id from session where parent_id is null order by time_created")
        return [row[0] for row in rows]

    def parts(self, session: str) -> list[dict[str, Any]]:
        """Return the parts of a session's messages."""
        query = "select data from part where session_id = ? order by id"
        return [json.loads(row[0]) for row in self._query(query, session)]

    def count_results(self, session: str) -> int:
        """Count the results of tools in a session, which may not be there yet."""
        tools = [part for part in self.parts(session) if part.get("type") == "tool"]
        return sum(part["state"]["status"] in {"completed", "error"} for part in tools)

    def _query(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        if not self.database.exists():
            return []
        address = f"{self.database.as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as database:
            try:
                return database.execute(query, values).fetchall()
            except sqlite3.OperationalError:
                # The tables are not there yet.
                return []
