"""The `leftoff capture` command: show where a session's file left off; save nothing."""

from pathlib import Path

import click

from leftoff.checkpoint import encode, to_plain
from leftoff.cli.app import App, command
from leftoff.session import capture as use_case
from leftoff.threads import briefing


@command()
@click.argument("session_file", type=click.Path(path_type=Path))
@click.option("--agent", help="The session's agent, if the file does not show it.")
@click.option("--budget", type=click.IntRange(min=100), help="Maximum tokens of the briefing.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write briefing.txt and checkpoint.json to this folder.",
)
def capture(
    app: App, session_file: Path, agent: str | None, budget: int | None, out: Path | None
) -> None:
    """Show what a session's file says; save nothing."""
    with app.out.progress(session_file) as progress:
        captured = use_case.capture(session_file, agent=agent, progress=progress)
    budget = budget or app.settings.budget
    text = briefing.render(captured.checkpoint, None, budget=budget)
    said: str = text
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "briefing.txt").write_text(text, encoding="utf-8")
        (out / "checkpoint.json").write_bytes(encode(captured.checkpoint))
        said = f"Wrote briefing.txt and checkpoint.json to {out}"
    app.out.result({"checkpoint": to_plain(captured.checkpoint), "briefing": text}, said)
