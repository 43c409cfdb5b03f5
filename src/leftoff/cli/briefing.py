"""leftoff briefing."""

from pathlib import Path

import click

from leftoff import memorybriefing, memorypage
from leftoff.cli.app import App, command
from leftoff.tokens import estimate

_DEFAULT = "-"


@command()
@click.option(
    "--write",
    "path",
    is_flag=False,
    flag_value=_DEFAULT,
    metavar="[PATH]",
    help="Write it to PATH (default: the `briefing_file` setting).",
)
def briefing(app: App, path: str | None) -> None:
    """Show on one page what the project knows.

    Features, decisions, failures, rules and status.
    """
    text = memorybriefing.page(app.store)
    if path is None:
        app.out.result({**_measured(text), "text": text}, text)
        return
    target = _target(app, path)
    is_new = memorypage.keep(target, text)
    told = "Wrote" if is_new else "Nothing new for"
    app.out.result({**_measured(text), "path": str(target), "written": is_new}, f"{told} {target}")


def _measured(text: str) -> dict[str, int]:
    return {"lines": text.count("\n"), "tokens": estimate(text)}


def _target(app: App, path: str) -> Path:
    if path != _DEFAULT:
        return Path.cwd() / path
    return memorypage.file_of(app.project, app.settings.briefing_file) or (
        app.project.store / "briefing.md"
    )
