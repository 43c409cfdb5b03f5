"""The `leftoff guide` command: print how an agent saves and resumes in this project."""

import click

from leftoff import config, profiles
from leftoff.agents.registry import AGENTS
from leftoff.cli.app import App, command
from leftoff.profiles.guides import DEFAULT, compose_guide

# The settings that change what an agent has to do.
_HABITS = (
    "on_resume", "on_decline", "confirm", "naming", "same_name", "questions", "next_action",
    "content", "strict",
)  # fmt: skip


@command()
@click.option(
    "--for",
    "agent",
    type=click.Choice([*AGENTS]),
    help="Write for this agent (default: the one that runs leftoff).",
)
@click.option(
    "--profile",
    type=click.Choice([DEFAULT, *profiles.PROFILES]),
    help="Show the instructions of this system (default: this project's).",
)
def guide(app: App, agent: str | None, profile: str | None) -> None:
    """Print how an agent saves and resumes in this project."""
    running = app.environment.find_session()
    agent = agent or (running[0] if running else None)
    # Another profile's page is shown as it would be, without this project's own settings.
    changed = _list_changed(app) if profile is None else {}
    profile = profile or app.settings.profile
    text = compose_guide(profile, agent, changed)
    if app.out.is_for_person:
        _show_page(app, text)
        return
    app.out.result({"profile": profile, "agent": agent, "guide": text}, text.splitlines())


def _show_page(app: App, text: str) -> None:
    """Show the guide to a person: wrapped, except for commands, which somebody may copy."""
    with app.out.paged():
        for number, part in enumerate(text.strip().split("```")):
            if number % 2:
                app.out.gap()
                app.out.exact(part.strip("\n").splitlines())
                app.out.gap()
            else:
                app.out.text(part.strip("\n").splitlines())


def _list_changed(app: App) -> dict[str, str]:
    """Return the settings that somebody set, and that change what an agent has to do."""
    return {
        each.key: config.format_value(each.value)
        for each in app.workspace.configuration.values
        if each.key in _HABITS and each.source != "default" and not config.is_of_profile(each)
    }
