"""Run the real Claude Code with its own home, repository and scripted model."""

import json
import re
from pathlib import Path
from typing import Any, ClassVar

from e2e.bench import SHORT_BUN_RUNS, AgentBench
from e2e.model import Model
from e2e.tui import Tui

_SETTINGS: dict[str, str] = {
    "ANTHROPIC_API_KEY": "test",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}


class Bench(AgentBench):
    """One user with one repository, and all the agents that the test starts for them."""

    agent: ClassVar[str] = "claude"
    rules: ClassVar[tuple[str, str]] = ("CLAUDE.md", "# Project rules\nPROJECT-RULE-MARK\n")

    def __init__(self, root: Path, *, program: Path, tmux: Path) -> None:
        self.claude = program
        super().__init__(root, program=program, tmux=tmux, model=Model())

    def prepare(self, folder: Path) -> None:
        """Answer beforehand what the interactive program asks at its first start."""
        path = self.home / ".claude.json"
        known = json.loads(path.read_bytes()) if path.exists() else {}
        answers = {
            "hasCompletedOnboarding": True,
            "lastOnboardingVersion": "9.9.9",
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["test"], "rejected": []},
        }
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        projects = {**known.get("projects", {}), str(folder): trusted}
        text = json.dumps({**known, **answers, "projects": projects})
        path.write_text(text, encoding="utf-8")

    def variables(self) -> dict[str, str]:
        """Return where the model is, and what keeps the program from doing anything else."""
        return {**_SETTINGS, **SHORT_BUN_RUNS, "ANTHROPIC_BASE_URL": self.model.url}

    def command(self, prompt: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command line of `claude -p`."""
        options = ("-p", "--output-format", "stream-json", "--verbose")
        return (str(self.claude), *options, *arguments, "--", prompt)

    def tui(self, *arguments: str, cwd: Path | None = None, **env: str) -> Tui:
        """Start the interactive program in a terminal and wait for its input box."""
        tui = self.terminal(cwd, **env)
        tui.start(str(self.claude), "--permission-mode", "default", *arguments)
        return tui

    # --- looking ---

    def memory(self) -> Path:
        """Return where Claude Code keeps its own memory of the repository."""
        key = re.sub(r"[^A-Za-z0-9]", "-", str(self.repo.folder))
        return self.home / ".claude" / "projects" / key / "memory"

    def transcript_path(self, session_id: str) -> Path:
        """Find the transcript of a session."""
        return next(path for path in self._transcripts() if path.stem == session_id)

    def transcript(self, session_id: str) -> list[dict[str, Any]]:
        """Read the whole lines of a session's transcript."""
        text = self.transcript_path(session_id).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have a transcript."""
        return [path.stem for path in self._transcripts()]

    def _transcripts(self) -> list[Path]:
        return sorted((self.home / ".claude" / "projects").glob("*/*.jsonl"))

    def count_results(self, session: str) -> int:
        """Count the results of tools in a transcript, which may not be there yet."""
        if session not in self.sessions():
            return 0
        found = [entry for entry in self.transcript(session) if entry["type"] == "user"]
        return sum('"tool_result"' in json.dumps(entry) for entry in found)

    def hook_errors(self) -> list[str]:
        """Return what Claude Code notes about hooks that failed."""
        found = (
            entry.get("attachment") or {}
            for session in self.sessions()
            for entry in self.transcript(session)
        )
        return [str(each) for each in found if each.get("type") == "hook_non_blocking_error"]
