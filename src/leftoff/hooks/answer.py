"""Answer a prompt that may have to be blocked: the one hot reply that depends on its words."""

import re
import sys
from pathlib import Path

from leftoff import paths
from leftoff.dialects import DIALECTS
from leftoff.hooks import spool, trouble
from leftoff.hooks.draining import start_settle

# These must always pass: they are the way out. Words after the command make it another one, but
# for --restore.
_EXEMPT = re.compile(r"\s*/(?:checkpoint(?:\s+--restore)?|compact|clear|help|leftoff:\S+)(?:\s|$)")
_NOT_EXEMPT = re.compile(r"\s*/checkpoint\s+--(?!restore\b)")


def is_exempt(prompt: str) -> bool:
    """Say whether a prompt passes however full the context is."""
    if _NOT_EXEMPT.match(prompt):
        return False
    return _EXEMPT.match(prompt) is not None or prompt.strip().startswith("leftoff ")


def answer(agent: str, event: str, ask_path: Path, data: bytes) -> str:
    """Keep a prompt, then return the reply to it: a block, or nothing for one that passes."""
    letter = spool.keep(paths.state_folder(), agent, event, data, durable=True)
    read = spool.read(letter)
    if read is None or is_exempt(read.prompt):
        return ""
    use = ask_path.read_text(encoding="utf-8").strip()
    return DIALECTS[agent].block_reply(
        f"leftoff: {use}. The prompt is kept (`leftoff prompts list`); /compact or a new session "
        "gets it back."
    )


def main(agent: str, event: str, ask_path: str) -> None:
    """Answer and settle; a prompt that cannot be kept or read is not blocked."""
    try:
        reply = answer(agent, event, Path(ask_path), sys.stdin.buffer.read())
        sys.stdout.write(f"{reply}\n" if reply else "")
        sys.stdout.flush()
    except Exception as error:  # noqa: BLE001 - a hook never fails; doctor tells
        trouble.note(paths.state_folder(), "answer", error)
    start_settle(paths.state_folder())


if __name__ == "__main__":
    main(*sys.argv[1:4])
    sys.exit(0)
