"""Create the home folder of somebody who uses all agents, with hooks and a few sessions."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import msgspec

from bench import transcript, venv
from bench.harness import ROOT

_RECORDED = ROOT / "tests" / "agents" / "recorded"
# Where the sessions were recorded.
_WHERE = b"/home/dev/repo"
_FOLDERS = (
    *(".claude", ".codex", ".copilot", ".cursor", ".gemini"),
    *(".config/opencode", ".local/share/opencode"),
)
_PLACES = {
    "codex/rollout-0.166.jsonl": ".codex/sessions/2026/11/15/"
    "rollout-2026-11-15T19-15-08-01a1e0a2-7ec6-7e31-a1a5-d152003beb90.jsonl",
    "gemini/session.jsonl": ".gemini/tmp/repo/chats/session-2026-11-15T19-21-7a911f14.jsonl",
    "copilot/events-todos.jsonl": ".copilot/session-state/"
    "9e296613-1bae-4c83-8d3b-b1b682407937/events.jsonl",
}
_SIZE = 70_000
_OWN_SESSIONS = 3
_HOUR_SECONDS = 3600.0


def make_home(home: Path, project: Path) -> Path:
    """Install the hooks of all agents and leave sessions of four, none of them saved."""
    shutil.rmtree(home, ignore_errors=True)
    for each in _FOLDERS:
        (home / each).mkdir(parents=True)
    init = [str(venv.leftoff()), "init", "--all", "--yes", "--quiet"]
    environment = venv.environment(home)
    subprocess.run(init, env=environment, cwd=project, check=True, stdout=subprocess.DEVNULL)
    for recorded, place in _PLACES.items():
        path = home / place
        path.parent.mkdir(parents=True)
        data = (_RECORDED / recorded).read_bytes()
        path.write_bytes(data.replace(_WHERE, os.fsencode(project)))
    known = {"projects": {str(project): "repo"}}
    (home / ".gemini" / "projects.json").write_bytes(msgspec.json.encode(known))
    key = "".join(sign if sign.isalnum() else "-" for sign in str(project))
    folder = home / ".claude" / "projects" / key
    folder.mkdir(parents=True)
    for number in range(_OWN_SESSIONS):
        shutil.copy(transcript.at_least(_SIZE, seed=number + 1), folder / f"old-{number}.jsonl")
    hour_ago = time.time() - _HOUR_SECONDS
    for path in (*folder.iterdir(), *(home / place for place in _PLACES.values())):
        os.utime(path, (hour_ago, hour_ago))
    return home
