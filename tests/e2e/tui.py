"""Run an interactive program in its own terminal: a private tmux server."""

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

from e2e.waiting import LONG_PAUSE, becomes_true, until

_WIDTH, _HEIGHT = "150", "50"
_PROMPT = "\u276f"
_TURN_ENDED = re.compile(r"^\u273b \w+ for .*\bdone\b", re.MULTILINE)
# How long to wait after each try, in seconds: keys may be lost while a program starts, and a busy
# machine may be slow to show them.
_TYPING_WAITS = (4, 8, 16, 32, 64, 128)
_SENDING_WAITS = (10, 20, 40, 80, 160)


class Tui:
    """The program, its screen and its keyboard; this one knows the screen of Claude Code."""

    turn_ended: ClassVar[re.Pattern[str]] = _TURN_ENDED
    """The line that ends a turn."""

    def __init__(self, tmux: Path, socket: Path, folder: Path, env: Mapping[str, str]) -> None:
        self._command = (str(tmux), "-S", str(socket), "-f", os.devnull)
        self._folder, self._env = folder, dict(env)

    def start(self, *command: str) -> None:
        """Start the program and wait for its input box."""
        self.run(*command)
        self._until(lambda: self.typed() is not None, "the input box")

    def run(self, *command: str) -> None:
        """Start the program."""
        pairs = [f"{name}={value}" for name, value in self._env.items()]
        size = ("-x", _WIDTH, "-y", _HEIGHT, "-c", str(self._folder))
        self._tmux(
            "new-session", "-d", *size, "env", "-i", *pairs, *command,
            ";", "set-option", "-g", "remain-on-exit", "on",
        )  # fmt: skip

    def close(self) -> None:
        """End the terminal and the program in it; what it still writes is written then."""
        panes = self._tmux("list-panes", "-F", "#{pane_pid}", check=False).split()
        self._tmux("kill-server", check=False)
        for pid in panes:
            if not becomes_true(lambda pid=pid: _is_gone(int(pid)), seconds=10):  # type: ignore[misc]
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)

    # --- screen ---

    def screen(self) -> str:
        """Return the lines on the screen that are not empty, with those that left it at the top."""
        text = self._tmux("capture-pane", "-p", "-J", "-S", "-500", check=False)
        return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())

    def wait(self, words: str) -> str:
        """Wait until the screen shows these words, and return it."""
        self._until(lambda: words in self.screen(), repr(words))
        return self.screen()

    def wait_for_turns(self, count: int) -> None:
        """Wait until so many turns have ended: hooks, then the line that says how long."""

        def ended() -> int:
            return len(self.turn_ended.findall(self.screen()))

        self._until(lambda: ended() >= count, f"the end of turn {count}")

    def _until(self, condition: Callable[[], object], what: str) -> None:
        """Wait for a condition of the screen; each look starts tmux."""
        until(condition, lambda: f"{what} on:\n{self.screen()}", pause=LONG_PAUSE)

    def typed(self) -> str | None:
        """Return what is in the input box, or nothing if there is no box."""
        lines = self.screen().splitlines()
        for number in range(len(lines) - 2, 0, -1):
            if lines[number].startswith(_PROMPT) and set(lines[number - 1][:20]) == {"\u2500"}:
                return lines[number].removeprefix(_PROMPT).strip()
        return None

    # --- keyboard ---

    def keys(self, *keys: str) -> None:
        """Press keys by their tmux names."""
        self._tmux("send-keys", *keys)

    def type(self, words: str) -> None:
        """Type into the input box, again if the program was not listening yet."""
        for seconds in _TYPING_WAITS:
            self._tmux("send-keys", "-l", words)
            if becomes_true(lambda: words[:60] in (self.typed() or ""), seconds, LONG_PAUSE):
                return
            self.keys("C-u")
        raise AssertionError(f"{words!r} cannot be typed on:\n{self.screen()}")

    def send(self, words: str) -> None:
        """Type and press Enter until the program has taken the words."""
        self.type(words)
        for seconds in _SENDING_WAITS:
            self.keys("Enter")
            if becomes_true(lambda: words[:60] not in (self.typed() or ""), seconds, LONG_PAUSE):
                return
        raise AssertionError(f"{words!r} is not taken on:\n{self.screen()}")

    # --- life ---

    def pid(self) -> int:
        """Return the process id of the program."""
        return int(self._tmux("list-panes", "-F", "#{pane_pid}").split()[0])

    def is_alive(self) -> bool:
        """Say whether the program still runs."""
        return self._tmux("list-panes", "-F", "#{pane_dead}", check=False).strip() == "0"

    def signal(self, number: signal.Signals) -> None:
        """Send the program a signal and wait for its end."""
        os.kill(self.pid(), number)
        self.wait_for_end()

    def kill(self) -> None:
        """End it as a crash would: kill -9."""
        self.signal(signal.SIGKILL)

    def close_pane(self) -> None:
        """Close the terminal under the program, as a closed window does, and wait for its end."""
        pid = self.pid()
        self._tmux("kill-pane")
        until(lambda: _is_gone(pid), "the end of the program")

    def wait_for_end(self) -> None:
        """Wait until the program has ended."""
        self._until(lambda: not self.is_alive(), "the end of the program")

    def _tmux(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            (*self._command, *arguments),
            env=self._env,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"tmux {arguments[0]}: {done.stderr}")
        return done.stdout


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False
