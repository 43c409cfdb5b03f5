"""Start sessions and run commands in each hostile repository."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from leftoff.context import state_folder
from leftoff.hooks import start
from leftoff.torture import forks
from leftoff.torture.claims_ledger import text_of
from leftoff.torture.fake_session import Talk
from leftoff.torture.forks import ChildExit
from leftoff.torture.hostile import FORGED, REPOSITORIES, Outside
from leftoff.torture.trials import Arena
from leftoff.torture.workload import save_words
from leftoff.torture.world import install_hooks

BOUND_SECONDS = 60.0
_BOUND_MEGABYTES = 700
_TOKEN = "job-9-9z"  # noqa: S105 - no secret
_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("status",),
    save_words(_TOKEN, text_of(_TOKEN), "--file", "app.py"),
    ("list",),
    ("start",),
    ("dashboard",),
    ("briefing",),
    ("resume", _TOKEN),
    ("wal", "show"),
    ("sessions",),
    ("config", "explain"),
)
# A line that looks as if leftoff had written it.
_FORGED_LINE = re.compile(rf"^(Next action|Task|Changed since then): {FORGED}", re.MULTILINE)


def run(arena: Arena) -> None:
    """Visit the repositories until the time is up."""
    install_hooks(state_folder())
    for number, (_, name) in enumerate(arena.in_turn([*REPOSITORIES])):
        visit(arena, name, arena.root / f"visit-{number}")


def visit(arena: Arena, name: str, place: Path) -> None:
    """Start a session in a hostile repository and run commands there."""
    place.mkdir()
    outside = Outside(place / "outside")
    folder = REPOSITORIES[name](place / "repository", outside)
    # Building the repository may have run the planted program.
    outside.trace.unlink(missing_ok=True)
    arena.tally.count("repositories")
    for source in ("startup", "resume"):
        _check(arena, outside, name, f"session start ({source})", _session_start(folder, source))
    for words in _COMMANDS:
        ended = forks.run(_command(arena, words), cwd=folder, seconds=BOUND_SECONDS)
        _check(arena, outside, name, f"leftoff {words[0]}", ended)
    if not arena.tally.failures:
        shutil.rmtree(place, ignore_errors=True)


def _command(arena: Arena, words: tuple[str, ...]) -> Callable[[], int]:
    return lambda: arena.program(words)


def _session_start(folder: Path, source: str) -> ChildExit:
    talk = Talk(folder, "hostile")
    payload = talk.payload("SessionStart", source=source)

    def work() -> None:
        os.write(1, (start.answer("claude", payload, state_folder()) or "").encode())

    return forks.run(work, cwd=folder, seconds=BOUND_SECONDS)


def _check(arena: Arena, outside: Outside, name: str, what: str, ended: ChildExit) -> None:
    arena.tally.count("commands")
    text = ended.all_output.decode("utf-8", "replace").replace("\\n", "\n")
    problems = [
        "it did not end in time" if ended.hung else "",
        f"it ended with {ended.code}: {ended.last_line}" if _is_crash(ended) else "",
        f"it took {ended.megabytes} MB of memory" if ended.megabytes > _BOUND_MEGABYTES else "",
        "it showed a private file" if outside.text in text else "",
        f"it printed a forged line: {found[0]}" if (found := _FORGED_LINE.search(text)) else "",
        outside.changes(),
    ]
    for problem in filter(None, problems):
        arena.tally.note_broken(problem, arena.where(what, name))
    outside.trace.unlink(missing_ok=True)


def _is_crash(ended: ChildExit) -> bool:
    return bool(ended.signal) or (ended.has_crashed and not ended.hung)
