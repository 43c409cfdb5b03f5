"""The end of the demo: the same threads on a web page."""

import contextlib
import json
import shlex
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

from narrate import command, heading, say
from stage import Stage


def show_page(world: Stage, *, is_opened: bool) -> None:
    """Start the web page and show its address, or open it until Ctrl-C."""
    heading("11. The same threads on a web page")
    if is_opened:
        words = ["leftoff", "ui"]
        command(shlex.join(words))
        sys.stdout.flush()
        # Ctrl-C goes to both; the page ends, and the demo goes on.
        with contextlib.suppress(KeyboardInterrupt):
            subprocess.run(words, cwd=world.project, env=world.environment, check=False)
        return
    command("leftoff ui")
    with serve_page(world) as link:
        with urllib.request.urlopen(link) as answer:  # noqa: S310 - our own, on this machine
            is_there = answer.status == 200
        if not is_there:
            raise SystemExit(f"The page at {link} does not answer.")
        say(
            f"The page was at {link.partition('/open')[0]} and has ended again. To look at it "
            "yourself, run: make demo UI=1"
        )


@contextlib.contextmanager
def serve_page(world: Stage, *options: str) -> Iterator[str]:
    """Serve the page of a project until the end of the block, and yield its link."""
    words = ["leftoff", "ui", "--json", "--no-open", *options]
    server = subprocess.Popen(
        words, cwd=world.project, env=world.environment, stdout=subprocess.PIPE, text=True
    )
    try:
        yield str(json.loads(_read_object(server))["link"])
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)


def _read_object(server: "subprocess.Popen[str]") -> str:
    lines: list[str] = []
    while server.stdout is not None and not (lines and lines[-1].startswith("}")):
        line = server.stdout.readline()
        if not line:
            raise SystemExit("The page could not be served.")
        lines.append(line)
    return "".join(lines)
