"""The `leftoff ui` command: open the web page, served on this machine only."""

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

import leftoff
from leftoff import web
from leftoff.cli.app import App, command
from leftoff.cli.option_types import Number
from leftoff.context import Environment
from leftoff.errors import LeftoffError, NotAProject
from leftoff.projects.known_projects import list_known

if TYPE_CHECKING:
    from leftoff.web.serve import Serving

_NEEDED = ("starlette", "uvicorn", "jinja2")
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")


@command()
@click.option("--port", type=Number(1, 65535), help="Port to use (default: any free).")
@click.option("--no-open", is_flag=True, help="Print the link; do not open a browser.")
@click.option("--everywhere", is_flag=True, help="Show all projects on this machine.")
@click.option("--read-only", is_flag=True, help="Show everything, but change nothing.")
def ui(app: App, *, port: int | None, no_open: bool, everywhere: bool, read_only: bool) -> None:
    """Show threads, history and memory on a web page.

    Only this machine can open the page, and its link works once. Press Ctrl-C to stop serving it.
    It also stops after 30 minutes without use.
    """
    insist_on_extra()
    here = _find_here(app, is_everywhere=everywhere)

    def list_folders() -> list[Path]:
        return [*here, *(list_known(app.environment) if everywhere else [])]

    def announce(serving: "Serving") -> None:
        _announce(app, serving)
        if not no_open and not app.out.as_json and has_screen(app.environment):
            click.launch(serving.link)

    site = web.site.Site(
        app.environment, list_folders, is_read_only=read_only, is_everywhere=everywhere
    )
    is_idle = web.serve.serve(site, port=port or 0, announce=announce)
    if not app.out.as_json:
        app.out.text("Ended: nobody used the page for 30 minutes." if is_idle else "Ended.")


def _announce(app: App, serving: "Serving") -> None:
    if app.out.as_json:
        app.out.json({"address": serving.address, "link": serving.link})
    else:
        app.out.text(["Open this link in a browser; it works once:", serving.link])
        app.out.text("Press Ctrl-C to end.")


def insist_on_extra() -> None:
    """Refuse to go on without the packages of the extra `ui`."""
    missing = [each for each in _NEEDED if importlib.util.find_spec(each) is None]
    if missing:
        raise LeftoffError(
            f"The web page needs packages that are not installed: {', '.join(missing)}.",
            hint=f"Install the extra `ui`, such as: uv tool install '{leftoff.DISTRIBUTION}[ui]'",
        )


def _find_here(app: App, *, is_everywhere: bool) -> list[Path]:
    """Return the current project's folder; outside a project, other projects may be shown."""
    try:
        return [app.project.worktree]
    except NotAProject:
        if not is_everywhere:
            raise
        return []


def has_screen(environment: Environment) -> bool:
    """Return whether a browser can open a window; one for terminals would block this command."""
    return sys.platform == "darwin" or any(environment.variables.get(each) for each in _SCREENS)
