"""The second half of the demo: memory, import, lost code and shipping."""

import json
import re
import subprocess
import time
from pathlib import Path

from leftoff.hooks import replies
from narrate import command, flat, heading, say, shell, show
from stage import Stage

SESSION_ID = "5e55107e-0000-4000-8000-00000000beef"
NATIVE = """\
# Checkpoint: vat-report

- **Branch:** `main`
- **Saved:** 2026-11-13 17:05

## Left Off
The yearly report sums net prices. It should sum the VAT of each line.

## Failed Approaches
- One query per order — two minutes for a month
"""
SOLUTION = """\
from decimal import Decimal


def total(items):
    return sum((Decimal(item) for item in items), Decimal(0)).quantize(Decimal("0.01"))
"""
RECEIPT = """\
def show(total):
    return f"{total:.2f}"
"""
TEST = """\
import unittest

from src.cart import total


class Total(unittest.TestCase):
    def test_cents(self):
        self.assertEqual(str(total(["0.1", "0.2"])), "0.30")
"""
SAVE = {
    "--summary": "Round cart totals to cents, once and at the end",
    "--done": "Summed Decimal in src/cart.py; tests/test_cart.py passes",
    "--next": "Show totals with two digits in src/receipt.py",
    "--decision": "Quantize once, in total() :: prices keep all their digits",
}
MEMORY = "~/.claude/projects/*/memory"
_PATIENCE_SECONDS = 20
_RESTORE = re.compile(r"leftoff snapshot restore \w+ --here")


def later(world: Stage) -> None:
    """Run the second half."""
    _about_to_repeat(world)
    _remember(world)
    _take_in(world)
    _lose_code(world)
    _ship(world)


def _about_to_repeat(world: Stage) -> None:
    heading("6. A session is about to repeat a failed approach, and gets a warning")
    show(world, "leftoff", "init", "--agent", "claude", "--yes", "--quiet")
    say(
        "Claude Code now calls leftoff's hook at each prompt. The demo calls it in the same way. "
        "A hook must not keep the agent waiting, so it only writes the prompt to a file. leftoff "
        "processes the file in the background."
    )
    _prompt(world, "Call round() on every item in total(), please.")
    _wait_for_reply(world)
    say("The agent gets the warning with the next prompt:")
    _prompt(world, "And then run the tests.")
    _wait_for_settle(world)


def _remember(world: Stage) -> None:
    heading("7. Every new session gets the decisions and failed approaches")
    show(world, "leftoff", "briefing")


def _take_in(world: Stage) -> None:
    heading("8. Import the checkpoint of a colleague who used guardz session-checkpoint")
    memory = world.transcripts / "memory"
    memory.mkdir(parents=True)
    (memory / "checkpoint-vat-report.md").write_text(NATIVE, encoding="utf-8")
    shell(world, f"cat {MEMORY}/checkpoint-vat-report.md")
    show(world, "leftoff", "init", "--profile", "guardz", "--yes")
    show(world, "leftoff", "resume", "vat-report", "--accept")


def _lose_code(world: Stage) -> None:
    heading("9. The agent runs git reset --hard, and the code comes back")
    world.write("src/cart.py", SOLUTION)
    world.write("src/receipt.py", RECEIPT)
    destroyer = "git reset --hard && git clean -fdq src"
    say("Three files have uncommitted work. Claude Code calls the hook before each command:")
    _fire(world, "PreToolUse", tool_name="Bash", tool_input={"command": destroyer})
    shell(world, destroyer)
    _fire(world, "Stop", last_assistant_message="")
    _wait_for_reply(world)
    say("The agent learns from the next prompt what happened:")
    output = _prompt(world, "Go on.")
    restore = _RESTORE.search(output)
    if restore is None:
        raise SystemExit("The loss was not noticed.")
    show(world, *restore[0].split())
    if (world.project / "src/receipt.py").read_text(encoding="utf-8") != RECEIPT:
        raise SystemExit("The code did not come back.")
    _wait_for_settle(world)
    say("The receipt is not finished, so it must not be shipped yet:")
    shell(world, "rm src/receipt.py")


def _ship(world: Stage) -> None:
    heading("10. Ship the work: save, check, commit without secrets, push")
    finish_work(world)
    say(
        "The code is on the branch cents, `python -B -m unittest` is set as the check, and .env "
        "contains a key."
    )
    show(world, "leftoff", "feature", "add", "Round cart totals to cents", "--start")
    show(world, "leftoff", "save", "cart-totals", "--overwrite", *flat(SAVE))
    say("Since step 8, leftoff also keeps the guardz files up to date:")
    shell(world, f"cat {MEMORY}/MEMORY.md")
    show(world, "leftoff", "ship", "--no-pr")
    show(world, "git", "-C", "../shop.git", "show", "--stat", "--format=%s", "cents")
    if ".env" in world.run("git", "ls-tree", "-r", "--name-only", "origin/cents"):
        raise SystemExit("The secret was pushed.")


def finish_work(world: Stage) -> None:
    """Write the solution on a branch with a remote, and put a secret beside it."""
    world.run("git", "init", "--quiet", "--bare", "../shop.git")
    world.run("git", "remote", "add", "origin", "../shop.git")
    world.run("git", "switch", "--quiet", "--create", "cents")
    world.run("leftoff", "config", "set", "--project", "verify", "python -B -m unittest")
    world.write("src/cart.py", SOLUTION)
    world.write("tests/test_cart.py", TEST)
    world.write("tests/__init__.py", "")
    world.write(".env", "STRIPE_KEY=not-for-anyone-else\n")


def _prompt(world: Stage, text: str) -> str:
    """Run the prompt hook as Claude Code does; print and return what the agent receives."""
    return _fire(world, "UserPromptSubmit", prompt=text)


def _fire(world: Stage, name: str, **fields: object) -> str:
    """Run a hook as Claude Code does; print and return what the agent receives."""
    hook = world.home / ".local/state/leftoff/hook"
    event = {
        "session_id": SESSION_ID,
        "transcript_path": str(world.transcripts / f"{SESSION_ID}.jsonl"),
        "cwd": str(world.project),
        "hook_event_name": name,
        **fields,
    }
    given = json.dumps(fields)[:-1]
    command(f"echo '{given}, …}}' | {_tilde(world, hook)} claude {name}")
    done = subprocess.run(
        [hook, "claude", name],
        cwd=world.project,
        env=world.environment | {"CLAUDE_CODE_SESSION_ID": SESSION_ID},
        input=json.dumps(event),
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=True,
    )
    output = (
        json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""
    )
    if output:
        print(output)
    return str(output)


def _wait_for_reply(world: Stage) -> None:
    place = replies.place_of(world.home / ".local/state/leftoff", world.project)
    _wait(place / f"claude.UserPromptSubmit.{SESSION_ID}", is_there=True)


def _wait_for_settle(world: Stage) -> None:
    """Wait until the background processes have ended, before their folder is removed."""
    state = world.home / ".local/state/leftoff"
    for event in list((state / "spool").iterdir()):
        _wait(event, is_there=False)
    for mark in list(state.glob("settling.*")):
        _wait(mark, is_there=False)


def _wait(path: Path, *, is_there: bool) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while path.exists() is not is_there:
        if time.monotonic() > deadline:
            raise SystemExit(f"The hooks did not finish: {path}")
        time.sleep(0.01)


def _tilde(world: Stage, path: Path) -> str:
    return f"~/{path.relative_to(world.home)}"
