"""The story of `make demo`: real commands, real files, real processes, and two real kills.

`demo_later.py` tells how it goes on.
Everything happens in a temp folder with a home folder of its own; nothing is left behind.
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
from stage import Stage, stage
from telling import command, flat, heading, say, show

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
    """Play the whole story."""
    started = time.monotonic()
    with stage(FILES) as world:
        _save(world)
        _kill_while_saving(world)
        _resume(world)
        _undo(world)
        _recover(world)
        later(world)
    heading("That was all real")
    program = f"{Path(sys.prefix).name}/bin/leftoff"
    say(
        f"It took {time.monotonic() - started:.0f} seconds and left nothing behind. "
        f"Try it in a project of yours: {program} save, then {program} resume"
    )


def _save(world: Stage) -> None:
    heading("1. A session works, and saves where it left off")
    show(world, "leftoff", "save", "cart-totals", *flat(SAVE))


def _kill_while_saving(world: Stage) -> None:
    heading("2. The next one saves over and over, and is killed with kill -9 in the middle")
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
            raise SystemExit("The saving process ended by itself.")
        found += _ID.findall(line)
    return found


def _tell_what_survived(world: Stage, acknowledged: list[str]) -> None:
    torn = len(list((world.project / ".git/leftoff/tmp").iterdir()))
    command("leftoff log cart-totals --json")
    log = json.loads(world.run("leftoff", "log", "cart-totals", "--json"))
    kept = {revision["id"] for revision in log["revisions"]}
    lost = [each for each in acknowledged if each not in kept]
    say(
        f"{len(acknowledged)} saves had been acknowledged when the process died, and "
        f"{len(acknowledged) - len(lost)} of them are in the store. "
        + (
            "A half-written file was left over; the next command that writes sweeps it away."
            if torn
            else ""
        )
    )
    if lost:
        raise SystemExit(f"Lost: {', '.join(lost)}")


def _resume(world: Stage) -> None:
    heading("3. Meanwhile a colleague changes a file; a fresh session is told so")
    world.write("src/cart.py", FILES["src/cart.py"].replace("items)", "items if item)"))
    command("git commit --all --message 'Skip empty items'")
    world.commit("Skip empty items")
    show(world, "leftoff", "resume", "cart-totals", "--accept")
    if any((world.project / ".git/leftoff/tmp").iterdir()):
        raise SystemExit("The half-written file is still there.")


def _undo(world: Stage) -> None:
    heading("4. Nothing is gone for good: a cleared checkpoint comes back")
    show(world, "leftoff", "clear", "cart-totals")
    show(world, "leftoff", "list")
    show(world, "leftoff", "undo")
    show(world, "leftoff", "list")


def _recover(world: Stage) -> None:
    heading("5. Another session never saves anything, and is killed while it writes")
    say(
        "This one plays Claude Code: it edits src/limiter.py and writes the transcript that "
        "Claude Code would write. Nobody asks leftoff to save."
    )
    world.transcripts.mkdir(parents=True)
    transcript = world.transcripts / f"{SESSION_ID}.jsonl"
    _die_in_the_middle(world, transcript)
    # A transcript touched a moment ago may belong to an agent still at work.
    earlier = time.time() - _HOUR
    os.utime(transcript, (earlier, earlier))
    say("An hour passes (the demo sets the transcript's time back), and someone comes back:")
    show(world, "leftoff", "recover")
    saved = json.loads(world.run("leftoff", "list", "--json"))
    recovered = next(each["id"] for each in saved if each["trigger"] == "recovered")
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
        told = process.stdout.readline() if process.stdout else ""
        if "middle" not in told:
            raise SystemExit("The agent of the demo did not start.")
        command(f"kill -9 {process.pid}")
        process.kill()
    end = transcript.read_text(encoding="utf-8").rpartition("\n")[2]
    say(f"The transcript now ends in the middle of a line: {end}")


if __name__ == "__main__":
    main()
