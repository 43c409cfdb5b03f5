"""Run the real Gemini CLI with its own home, repository and scripted model."""

import json
import re
import shutil
from pathlib import Path
from typing import Any, ClassVar

from e2e.bench import AgentBench
from e2e.gemini_api import GeminiHandler
from e2e.model import Model
from e2e.tui import Tui

_SETTINGS: dict[str, Any] = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {
        "enableAutoUpdate": False,
        "enableAutoUpdateNotification": False,
        "defaultApprovalMode": "auto_edit",
    },
    "ui": {"hideTips": True, "hideBanner": True},
}
_MODEL = "gemini-2.5-flash"


class GeminiTui(Tui):
    """The screen of Gemini CLI."""

    def typed(self) -> str | None:
        """Return what is in the input box, or nothing if there is no box."""
        screen = self.screen()
        found = re.findall(r"^[ \u2502]*[>*] +(.*?)[ \u2502]*$", screen, re.MULTILINE)
        # At its end, it leaves the last command on the screen, without the box.
        if not found or "Agent powering down" in screen:
            return None
        return "" if str(found[-1]).startswith("Type your message") else str(found[-1])


class GeminiBench(AgentBench):
    """A user of Gemini CLI."""

    agent: ClassVar[str] = "gemini"
    rules: ClassVar[tuple[str, str]] = ("GEMINI.md", "# Project rules\nPROJECT-RULE-MARK\n")
    screen: ClassVar[type[Tui]] = GeminiTui

    def __init__(self, root: Path, *, program: Path, tmux: Path) -> None:
        super().__init__(root, program=program, tmux=tmux, model=Model(GeminiHandler))
        # A script of node.
        (self._bin / "node").symlink_to(shutil.which("node") or "/usr/bin/node")

    @property
    def settings(self) -> Path:
        """The settings of Gemini CLI."""
        return self.home / ".gemini" / "settings.json"

    def prepare(self, folder: Path) -> None:
        """Choose how to log in, and trust the folder."""
        self.settings.parent.mkdir(exist_ok=True)
        self.settings.write_text(json.dumps(_SETTINGS, indent=2), encoding="utf-8")
        path = self.settings.with_name("trustedFolders.json")
        known = json.loads(path.read_bytes()) if path.exists() else {}
        path.write_text(json.dumps({**known, str(folder): "TRUST_FOLDER"}), encoding="utf-8")

    def variables(self) -> dict[str, str]:
        """Return where the model is, and what keeps the program in one process."""
        return {
            "GEMINI_API_KEY": "fake",
            "GOOGLE_GEMINI_BASE_URL": self.model.url,
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }

    def command(self, prompt: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command line of `gemini -p`."""
        options = ("-m", _MODEL, "--yolo", "-o", "stream-json", *arguments)
        return (str(self.executable), *options, "-p", prompt)

    def tui(self, *arguments: str, cwd: Path | None = None, **env: str) -> Tui:
        """Start the interactive program and wait for its input box."""
        tui = self.terminal(cwd, **env)
        tui.start(str(self.executable), "-m", _MODEL, "--yolo", *arguments)
        return tui

    def chats(self) -> list[Path]:
        """Return the files of all sessions, oldest first."""
        found = (self.home / ".gemini" / "tmp").glob("*/chats/session-*.json*")
        return sorted(found, key=lambda path: path.stat().st_mtime_ns)

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have a transcript, if only its first line."""
        return [lines[0]["sessionId"] for lines in map(_read, self.chats()) if lines]

    def count_results(self, session: str) -> int:
        """Count the results of tools in a transcript, which may not be there yet."""
        found = [path for path in self.chats() if path.stem.endswith(session[:8])]
        lines = _read(found[0]) if found else []
        calls = [call for line in lines for call in line.get("toolCalls") or []]
        return len({call["id"] for call in calls if call.get("status") != "executing"})


def _read(path: Path) -> list[dict[str, Any]]:
    """Read the whole lines of a session."""
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
