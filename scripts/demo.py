"""Run `make demo`: real commands, files and processes, and two real kills.

`demo_later.py` contains the second half. Everything happens in a temp folder with its own home
folder, and nothing is left behind.
"""

import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from demo_later import later
from demo_page import show_page
from narrate import command, flat, heading, output, say, show
from stage import Stage, stage

FILES = {
    "src/cart.py": "def total(items):\n    return sum(item.price for item in items)\n",
    "src/login.py": "def login(address, user, password):\n    return check(user, password)\n",
    "tests/test_cart.py": "def test_total():\n    assert total([]) == 0\n",
}
SAVE = {
    "--summary": "Round cart totals to cents, once and at the end",
    "--left-off": "src/cart.py sums floats; tests/test_cart.py fails on 0.1 + 0.2",
    "--done": "Wrote tests/test_cart.py with the failing sum",
    "--next": "Sum Decimal in total() in src/cart.py, then run pytest tests/test_cart.py",
    "--decision": "Decimal instead of floats :: a rounded float is still a float",
    "--failed": "round() on every item :: the errors add up over 100 items",
    "--file": "src/cart.py",
}
SESSION_ID = "5e55107e-0000-4000-8000-00000000dead"
_ID = re.compile(r'"id": *"([^"]+)"')
_HOUR = 3600


def main() -> None:
    """Run the whole demo."""
    started = time.monotonic()
    with stage(FILES) as world:
        _save(world)
        _kill_while_saving(world)
        _resume(world)
        _undo(world)
        _recover(world)
        later(world)
        show_page(world, is_opened=os.environ.get("UI") == "1")
    heading("All of this was real")
    program = f"{Path(sys.prefix).name}/bin/leftoff"
    say(
        f"It took {time.monotonic() - started:.0f} seconds and left nothing behind. "
        f"Try it in one of your projects: {program} save, then {program} resume"
    )


def _save(world: Stage) -> None:
    heading("1. A session saves where it left off")
    show(world, "leftoff", "save", "cart-totals", *flat(SAVE))


def _kill_while_saving(world: Stage) -> None:
    heading("2. Another session saves again and again until kill -9 stops it")
    words = ["leftoff", "save", "cart-totals", "--overwrite", "--json", *flat(SAVE)]
    loop = f"while :; do {shlex.join(words)}; done"
    command("while :; do leftoff save cart-totals --overwrite …; done &")
    process = subprocess.Popen(
        ["sh", "-c", loop],
        cwd=world.project,
        env=world.environment,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    acknowledged = _wait_for_saves(process, 8)
    time.sleep(random.uniform(0.05, 0.3))  # noqa: S311 - any moment will do
    command(f"kill -9 -{process.pid}")
    os.killpg(process.pid, signal.SIGKILL)
    rest, _ = process.communicate()
    acknowledged += _ID.findall(rest)
    _tell_what_survived(world, acknowledged)


def _wait_for_saves(process: subprocess.Popen[str], count: int) -> list[str]:
    found: list[str] = []
    while len(found) < count and process.stdout is not None:
        line = process.stdout.readline()
        if not line:
            raise SystemExit("The saving process ended before it was killed.")
        found += _ID.findall(line)
    return found


def _tell_what_survived(world: Stage, acknowledged: list[str]) -> None:
    torn = len(list((world.project / ".git/leftoff/tmp").iterdir()))
    command("leftoff log cart-totals --json")
    log = json.loads(world.run("leftoff", "log", "cart-totals", "--json"))
    kept = {revision["id"] for revision in log["revisions"]}
    newest = json.dumps(log["revisions"][0], indent=2)
    output(f"{newest}\n… and {len(kept) - 1} more revisions")
    lost = [each for each in acknowledged if each not in kept]
    say(
        f"leftoff had acknowledged {len(acknowledged)} saves when the process died, and "
        f"{len(acknowledged) - len(lost)} of them are in the store. "
        + (
            "It left a half-written file, which the next command that writes removes."
            if torn
            else ""
        )
    )
    if lost:
        raise SystemExit(f"Lost: {', '.join(lost)}")


def _resume(world: Stage) -> None:
    heading("3. A colleague changes a file, and the next session learns about it")
    world.write("src/cart.py", FILES["src/cart.py"].replace("items)", "items if item)"))
    command("git commit --all --message 'Skip empty items'")
    world.commit("Skip empty items")
    show(world, "leftoff", "resume", "cart-totals", "--accept")
    if any((world.project / ".git/leftoff/tmp").iterdir()):
        raise SystemExit("The half-written file is still there.")


def _undo(world: Stage) -> None:
    heading("4. Nothing is lost: undo brings back a cleared checkpoint")
    show(world, "leftoff", "clear", "cart-totals")
    show(world, "leftoff", "list")
    show(world, "leftoff", "undo")
    show(world, "leftoff", "list")


def _recover(world: Stage) -> None:
    heading("5. A session is killed before it ever saves")
    say(
        "This process imitates Claude Code: it edits src/limiter.py and writes a transcript as "
        "Claude Code does. It never asks leftoff to save."
    )
    world.transcripts.mkdir(parents=True)
    transcript = world.transcripts / f"{SESSION_ID}.jsonl"
    _die_in_the_middle(world, transcript)
    # A transcript that was just modified may belong to a running agent, so it is not recovered.
    earlier = time.time() - _HOUR
    os.utime(transcript, (earlier, earlier))
    say("An hour later (the demo backdates the transcript) you come back:")
    show(world, "leftoff", "recover")
    saved = json.loads(world.run("leftoff", "list", "--json"))
    recovered = next(each["name"] for each in saved if each["trigger"] == "recovered")
    show(world, "leftoff", "resume", recovered, "--accept")


def _die_in_the_middle(world: Stage, transcript: Path) -> None:
    agent = Path(__file__).with_name("demo_agent.py")
    with subprocess.Popen(
        [sys.executable, str(agent), str(transcript)],
        cwd=world.project,
        env=world.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        line = process.stdout.readline() if process.stdout else ""
        if "middle" not in line:
            raise SystemExit("The demo's agent did not start.")
        command(f"kill -9 {process.pid}")
        process.kill()
    end = transcript.read_text(encoding="utf-8").rpartition("\n")[2]
    say(f"The transcript now ends in the middle of a line: {end}")


if __name__ == "__main__":
    main()
