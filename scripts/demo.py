"""The story of `make demo`: real commands, real files, real processes, and two real kills.

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
import textwrap
import time
from pathlib import Path

import click

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
    """Play the whole story."""
    started = time.monotonic()
    with stage(FILES) as world:
        _save(world)
        _kill_while_saving(world)
        _resume(world)
        _undo(world)
        _recover(world)
    _heading("That was all real")
    _say(
        f"It took {time.monotonic() - started:.0f} seconds and left nothing behind. "
        "Try it in a project of yours: .venv/bin/leftoff save, then .venv/bin/leftoff resume"
    )


def _save(world: Stage) -> None:
    _heading("1. A session works, and saves where it left off")
    _show(world, "leftoff", "save", "cart-totals", *_flat(SAVE))


def _kill_while_saving(world: Stage) -> None:
    _heading("2. The next one saves over and over, and is killed with kill -9 in the middle")
    words = ["leftoff", "save", "cart-totals", "--overwrite", "--json", *_flat(SAVE)]
    loop = f"while :; do {shlex.join(words)}; done"
    _command("while :; do leftoff save cart-totals --overwrite …; done &")
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
    _command(f"kill -9 -{process.pid}")
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
    _command("leftoff log cart-totals --json")
    log = json.loads(world.run("leftoff", "log", "cart-totals", "--json"))
    kept = {revision["id"] for revision in log["revisions"]}
    lost = [each for each in acknowledged if each not in kept]
    _say(
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
    _heading("3. Meanwhile a colleague changes a file; a fresh session is told so")
    world.write("src/cart.py", FILES["src/cart.py"].replace("items)", "items if item)"))
    _command("git commit --all --message 'Skip empty items'")
    world.commit("Skip empty items")
    _show(world, "leftoff", "resume", "cart-totals", "--accept")
    if any((world.project / ".git/leftoff/tmp").iterdir()):
        raise SystemExit("The half-written file is still there.")


def _undo(world: Stage) -> None:
    _heading("4. Nothing is gone for good: a cleared checkpoint comes back")
    _show(world, "leftoff", "clear", "cart-totals")
    _show(world, "leftoff", "list")
    _show(world, "leftoff", "undo")
    _show(world, "leftoff", "list")


def _recover(world: Stage) -> None:
    _heading("5. Another session never saves anything, and is killed while it writes")
    _say(
        "This one plays Claude Code: it edits src/limiter.py and writes the transcript that "
        "Claude Code would write. Nobody asks leftoff to save."
    )
    transcript = _transcript(world)
    _die_in_the_middle(world, transcript)
    # A transcript touched a moment ago may belong to an agent still at work.
    earlier = time.time() - _HOUR
    os.utime(transcript, (earlier, earlier))
    _say("An hour passes (the demo sets the transcript's time back), and someone comes back:")
    _show(world, "leftoff", "recover")
    saved = json.loads(world.run("leftoff", "list", "--json"))
    recovered = next(each["id"] for each in saved if each["trigger"] == "recovered")
    _show(world, "leftoff", "resume", recovered, "--accept")


def _transcript(world: Stage) -> Path:
    key = re.sub(r"[^A-Za-z0-9]", "-", str(world.project))
    folder = world.home / ".claude" / "projects" / key
    folder.mkdir(parents=True)
    return folder / f"{SESSION_ID}.jsonl"


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
        _command(f"kill -9 {process.pid}")
        process.kill()
    end = transcript.read_text(encoding="utf-8").rpartition("\n")[2]
    _say(f"The transcript now ends in the middle of a line: {end}")


def _flat(options: dict[str, str]) -> list[str]:
    return [word for option in options.items() for word in option]


def _show(world: Stage, *words: str) -> None:
    """Show a command and let it print by itself."""
    _command(_shown(words))
    sys.stdout.flush()
    done = subprocess.run(
        words,
        cwd=world.project,
        env=world.environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"The command ended with {done.returncode}.")


def _shown(words: tuple[str, ...]) -> str:
    line = shlex.join(words)
    return line if len(line) <= 90 else line.replace(" --", " \\\n    --")


def _heading(text: str) -> None:
    click.secho(f"\n{text}", bold=True, fg="cyan")
    click.secho("─" * len(text), fg="cyan")


def _command(line: str) -> None:
    click.secho(f"\n$ {line}", bold=True)


def _say(text: str) -> None:
    click.echo()
    click.secho(textwrap.fill(text, 92), fg="green")


if __name__ == "__main__":
    main()
