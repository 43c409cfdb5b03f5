"""Every way to run the letterbox: the script in each shell there is."""

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leftoff import context
from leftoff.hooks import replies, settle
from talk import Talk

SCRIPT = Path(settle.__file__).with_name("letterbox.sh")
RECORDED = sorted((Path(__file__).parent / "recorded" / "claude").glob("*.json"))
EVENTS = (
    "SessionStart UserPromptSubmit Stop StopFailure PreCompact SessionEnd PreToolUse PostToolUse "
    "Notification"
).split()
HOT = EVENTS[1:]

_SHELLS = {
    "sh": ["sh"],
    "dash": ["dash"],
    "bash": ["bash", "--posix"],
    "busybox": ["busybox", "sh"],
}
BOXES = {
    **{
        name: [*words, str(SCRIPT)]
        for name, words in _SHELLS.items()
        if shutil.which(words[0]) is not None
    },
}


# On most machines `sh` is one of the others.
DISTINCT = [name for name in BOXES if name != "sh" or not {"dash", "bash"} & set(BOXES)]


class Letterbox:
    """A letterbox in a folder, for a user who has nothing but a state folder."""

    def __init__(self, command: list[str], root: Path) -> None:
        self.command = command
        self.root = root
        self.folder = root / "work"
        self.folder.mkdir(exist_ok=True)
        self.state = root / "state" / "leftoff"
        self.env = {
            "HOME": str(root / "home"),
            "PATH": os.environ["PATH"],
            "TMPDIR": os.environ["TMPDIR"],
            "XDG_STATE_HOME": str(root / "state"),
        }

    def install(self, python: str = sys.executable) -> None:
        """Name the program that stands for Python; `true` keeps settle from running."""
        self.state.mkdir(parents=True, exist_ok=True)
        path = shutil.which(python)
        (self.state / "python").write_text(f"{path}\n{settle.__file__}\n", encoding="utf-8")

    def fire(
        self,
        event: str,
        payload: bytes | Mapping[str, Any] = b"",
        *,
        full_disk: bool = False,
        cwd: Path | None = None,
        agent: str = "claude",
    ) -> subprocess.CompletedProcess[bytes]:
        """Send an event as the agent does."""
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return subprocess.run(
            [*self.command, agent, event],
            input=data,
            env=self.env,
            cwd=cwd or self.folder,
            capture_output=True,
            check=False,
            timeout=120,
            # Without it a write beyond the limit would kill instead of failing.
            restore_signals=not full_disk,
            preexec_fn=_fill_disk if full_disk else None,
        )

    def spooled(self) -> list[Path]:
        """List the events that wait."""
        spool = self.state / "spool"
        return sorted(spool.iterdir()) if spool.is_dir() else []

    def reply(self, event: str, line: str, *, session: str = "any", agent: str = "claude") -> Path:
        """Lay a reply ready."""
        place = replies.place_of(self.state, self.folder) / f"{agent}.{event}.{session}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{line}\n", encoding="utf-8")
        return place


def install_python(python: str = sys.executable) -> None:
    """Name the Python that the hooks of this test's user run."""
    state = context.state_folder()
    state.mkdir(parents=True, exist_ok=True)
    (state / "python").write_text(f"{python}\n{settle.__file__}\n", encoding="utf-8")


def replied(
    talk: Talk, event: str, payload: bytes | Mapping[str, Any], *, box: str = "sh", **env: str
) -> Any:
    """Fire an event in a conversation, through the real hook; return its reply, None without."""
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    done = subprocess.run(
        [*BOXES[box], "claude", event],
        input=data,
        cwd=talk.folder,
        env={**os.environ, "CLAUDE_CODE_SESSION_ID": talk.session_id, **env},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout) if done.stdout.strip() else None


def _fill_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def is_harmless(done: subprocess.CompletedProcess[bytes]) -> bool:
    """Say whether a hook ended as every hook must: 0, at most one JSON document, no complaint."""
    if done.returncode != 0 or done.stderr:
        return False
    return not done.stdout.strip() or isinstance(json.loads(done.stdout), dict)
