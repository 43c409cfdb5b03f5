"""The `leftoff briefing` command: show on one page what the project knows."""

from collections.abc import Iterator
from pathlib import Path

import click

from leftoff.cli.app import App, command, printable
from leftoff.cli.look import Look, draw_rule, wrap_line
from leftoff.text.budget import estimate
from leftoff.threads import memory_briefing

# What click passes for --write without a PATH.
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
    text = memory_briefing.page(app.store)
    if path is None and app.out.is_for_person:
        with app.out.paged():
            app.out.lines(_layout(printable(text), app.out.look))
        return
    if path is None:
        app.out.result({**_measure_text(text), "text": text}, text)
        return
    target = _find_target(app, path)
    is_new = memory_briefing.write_page(target, text)
    outcome = "Wrote" if is_new else "Nothing new for"
    app.out.result(
        {**_measure_text(text), "path": str(target), "written": is_new}, f"{outcome} {target}"
    )


def _layout(text: str, look: Look) -> Iterator[str]:
    """Lay out the page for a person: headings in bold, and text that wraps at words."""
    for line in text.rstrip("\n").split("\n"):
        if line.startswith("## "):
            yield look.paint("title", line.removeprefix("## "))
        elif line.startswith("# "):
            yield look.paint("title", line.removeprefix("# "))
            yield draw_rule(look)
        else:
            yield from wrap_line(line, look.columns)


def _measure_text(text: str) -> dict[str, int]:
    return {"lines": text.count("\n"), "tokens": estimate(text)}


def _find_target(app: App, path: str) -> Path:
    if path != _DEFAULT:
        return Path.cwd() / path
    return memory_briefing.find_page_path(app.project, app.settings.briefing_file) or (
        app.project.store / "briefing.md"
    )
