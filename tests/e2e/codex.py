"""Run the real Codex with its own home, repository and scripted model."""

import json
import re
from pathlib import Path
from typing import Any, ClassVar

from e2e.bench import AgentBench
from e2e.model import Model
from e2e.responses import ResponsesHandler
from e2e.tui import Tui
from e2e.waiting import LONG_PAUSE, becomes_true, until

WINDOW = 200_000
_CONFIG = """\
model = "fake-model"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
model_context_window = {window}

[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[tools.update_plan]
enabled = true

[analytics]
enabled = false

[features]
plugins = false
apps = false
"""


_PROMPT, _HINT = "\u203a", "Ask Codex to do anything"


class CodexTui(Tui):
    """The screen of Codex."""

    turn_ended: ClassVar[re.Pattern[str]] = re.compile(r"^\s*Worked for ", re.MULTILINE)

    def typed(self) -> str | None:
        """Return what is in the input box, or nothing if there is no box."""
        lines = [line for line in self.screen().splitlines() if line.startswith(_PROMPT)]
        if not lines or lines[-1].startswith(f"{_PROMPT} 1."):
            return None
        return lines[-1].removeprefix(_PROMPT).strip().removeprefix(_HINT)


class CodexBench(AgentBench):
    """A user of Codex."""

    agent: ClassVar[str] = "codex"
    screen: ClassVar[type[Tui]] = CodexTui

    def __init__(self, root: Path, *, program: Path, tmux: Path) -> None:
        super().__init__(root, program=program, tmux=tmux, model=Model(ResponsesHandler))
        self.put_on_path()

    @property
    def config(self) -> Path:
        """The configuration of Codex."""
        return self.home / ".codex" / "config.toml"

    @property
    def hooks(self) -> Path:
        """The file that names Codex's hooks."""
        return self.home / ".codex" / "hooks.json"

    def prepare(self, folder: Path) -> None:
        """Name the model, and trust the folder."""
        self._trusted = [*getattr(self, "_trusted", []), folder]
        text = _CONFIG.format(url=self.model.url, window=WINDOW)
        trusted = [f'\n[projects."{each}"]\ntrust_level = "trusted"\n' for each in self._trusted]
        self.config.parent.mkdir(exist_ok=True)
        self.config.write_text("".join([text, *trusted]), encoding="utf-8")

    def command(self, prompt: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command line of `codex exec`, which runs hooks that nobody has trusted."""
        options = ("exec", "--json", "--dangerously-bypass-hook-trust")
        # `resume` is a command of `exec`, and comes before its arguments.
        return (str(self.executable), *options, *arguments, prompt)

    def tui(self, *arguments: str, cwd: Path | None = None, **env: str) -> Tui:
        """Start the interactive program, without its daemon, and wait for its input box."""
        tui = self.terminal(cwd, **env)
        bypass = "--dangerously-bypass-hook-trust"
        tui.start(str(self.executable), "--no-daemon", bypass, *arguments)
        return tui

    def trust_hooks(self) -> None:
        """Start the interactive program as users do, and trust all hooks in its dialog."""
        until(self._answer_dialog, "the end of Codex's dialog about hooks")

    def _answer_dialog(self) -> bool:
        """Trust the hooks; return False if Codex did not take the keys.

        It shows the dialog before it reads keys, and then throws away those that came before.
        """
        tui = self.terminal()
        tui.run(str(self.executable), "--no-daemon")
        tui.wait("Hooks need review")
        tui.keys("2", "Enter")
        if not becomes_true(lambda: tui.typed() is not None, 10, LONG_PAUSE):
            tui.close()
            return False
        tui.send("/quit")
        tui.wait_for_end()
        return True

    def rollouts(self) -> list[Path]:
        """Return all rollouts, oldest first."""
        return sorted((self.home / ".codex" / "sessions").glob("*/*/*/rollout-*.jsonl"))

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have a transcript."""
        return [path.stem[-36:] for path in self.rollouts()]

    def rollout(self, session: str) -> list[dict[str, Any]]:
        """Read the whole lines of a session's rollout."""
        found = [path for path in self.rollouts() if path.stem.endswith(session)]
        text = found[0].read_text(encoding="utf-8") if found else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def count_results(self, session: str) -> int:
        """Count the results of tools in a transcript, which may not be there yet."""
        payloads = [line.get("payload") or {} for line in self.rollout(session)]
        return sum(str(each.get("type", "")).endswith("_call_output") for each in payloads)
