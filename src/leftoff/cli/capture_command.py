"""The `leftoff capture` command: show where a session's file left off; save nothing."""

from pathlib import Path

import click

from leftoff import cli
from leftoff.checkpoint import encode, to_plain
from leftoff.cli.app import App, command
from leftoff.cli.option_types import Number
from leftoff.session import capture as use_case
from leftoff.threads import briefing


@command()
@click.argument("session_file", type=click.Path(path_type=Path))
@click.option("--agent", help="The session's agent, if the file does not show it.")
@click.option("--budget", type=Number(100), help="Maximum tokens of the briefing.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write briefing.txt and checkpoint.json to this folder.",
)
def capture(
    app: App, session_file: Path, agent: str | None, budget: int | None, out: Path | None
) -> None:
    """Show what a session file contains; save nothing."""
    size = session_file.stat().st_size if session_file.is_file() else 0
    with cli.progress_bar.show_progress(app.out, session_file.name, size) as advance:
        captured = use_case.capture(session_file, agent=agent, progress=advance)
    budget = budget or app.settings.budget
    text = briefing.render(captured.checkpoint, None, budget=budget)
    said: str = text
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "briefing.txt").write_text(text, encoding="utf-8")
        (out / "checkpoint.json").write_bytes(encode(captured.checkpoint))
        said = f"Wrote briefing.txt and checkpoint.json to {out}"
    app.out.result({"checkpoint": to_plain(captured.checkpoint), "briefing": text}, said)
