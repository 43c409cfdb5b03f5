"""Measure other projects' hooks for the same job in the same run, if they can be installed."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from bench import stage
from bench.harness import CACHE, Case, Figure, Sample, compare, run
from bench.stage import Stage

_PACKAGE = "claude-session-continuity-mcp"
_COMMAND = "claude-hook-user-prompt"
_NPM_SECONDS = 300

# What hooks of this kind do, in bash: find the session and its last context usage, and write both.
_BASH = r"""#!/bin/bash
set -euo pipefail
input=$(cat)
session=$(jq -r '.session_id // "unknown"' <<<"$input")
transcript=$(jq -r '.transcript_path // ""' <<<"$input")
tokens=0
if [ -f "$transcript" ]; then
  tokens=$(tail -n 50 "$transcript" | jq -rs '
    [.[] | .message.usage? // empty] | last |
    (.input_tokens // 0) + (.cache_read_input_tokens // 0) + (.cache_creation_input_tokens // 0)')
fi
mkdir -p .checkpoints
jq -n --arg session "$session" --arg transcript "$transcript" --argjson tokens "${tokens:-0}" \
  --arg branch "$(git branch --show-current)" \
  '{session: $session, transcript: $transcript, tokens: $tokens, branch: $branch}' \
  >".checkpoints/$session.json.new"
mv ".checkpoints/$session.json.new" ".checkpoints/$session.json"
"""


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    """Another hook; without a case it cannot run here, and the note says why."""

    what: str
    key: str
    case: Case | None = None
    note: str = ""


def find(folder: Path, payload: bytes) -> dict[str, Peer]:
    """Set up every other hook that can run here."""
    given = folder / "given.json"
    project = stage.new_project(folder / "project")
    given.write_bytes(payload)
    here = Stage(home=folder, project=project)
    return {peer.key: peer for peer in (_bash(here, given), _node(here, given))}


def figure(peer: Peer, samples: Mapping[str, Sequence[Sample]], base: str) -> Figure:
    """Show how long a hook takes; there is no limit for it."""
    if peer.case is None:
        return Figure(what=peer.what, value=float("nan"), unit="", note=peer.note)
    made = compare(peer.what, samples, (peer.key, base))
    return msgspec.structs.replace(made, note="; ".join(filter(None, (made.note, peer.note))))


def _bash(here: Stage, given: Path) -> Peer:
    what, key = "bash and jq hook, same event / python -c pass", "bash"
    if shutil.which("jq") is None or not Path("/bin/bash").exists():
        return Peer(what=what, key=key, note="jq or bash is not installed")
    script = here.home / "hook.sh"
    script.write_text(_BASH, encoding="utf-8")
    script.chmod(0o755)
    program = here.program(str(script), given=given)
    return Peer(what=what, key=key, case=lambda: run(program), note=_version("jq"))


def _node(here: Stage, given: Path) -> Peer:
    what, key = "passbaton's prompt hook / python -c pass", "passbaton"
    npm = shutil.which("npm")
    if npm is None:
        return Peer(what=what, key=key, note="npm is not installed")
    folder = CACHE / "npm"
    if not (folder / "node_modules" / ".bin" / _COMMAND).exists() and not _installed(npm, folder):
        return Peer(what=what, key=key, note=f"{_PACKAGE} cannot be installed here")
    # The command that it installs in the agent's settings. --offline keeps npm from asking a
    # registry.
    program = here.program(
        npm, "exec", "--offline", "--prefix", str(folder), "--", _COMMAND, given=given
    )
    has_database = any(folder.glob("node_modules/better-sqlite3/build/**/*.node"))
    note = "" if has_database else "without its database, so it ends before it does any work"
    try:
        run(program)
    except AssertionError:
        return Peer(what=what, key=key, note="it cannot run offline")
    return Peer(what=what, key=key, case=lambda: run(program), note=note)


def _installed(npm: str, folder: Path) -> bool:
    folder.mkdir(parents=True, exist_ok=True)
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        subprocess.run(
            [npm, "install", *quiet, "--prefix", str(folder), _PACKAGE],
            check=True,
            capture_output=True,
            timeout=_NPM_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _version(program: str) -> str:
    done = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    return done.stdout.strip()
