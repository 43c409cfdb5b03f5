"""The `leftoff off` and `leftoff on` commands: turn leftoff off and on for a project."""

from leftoff.cli.app import App, command
from leftoff.wiring import project_switch


@command()
def off(app: App) -> None:
    """Turn leftoff off for this project."""
    _print_state(
        app, [str(folder) for folder in project_switch.switch_off(app.project)], is_on=False
    )


@command(name="on")
def on_(app: App) -> None:
    """Turn leftoff back on for this project."""
    _print_state(app, [str(folder) for folder in project_switch.switch_on(app.project)], is_on=True)


def _print_state(app: App, folders: list[str], *, is_on: bool) -> None:
    state = "on" if is_on else "off; your checkpoints stay, and `leftoff save` still works"
    text = f"leftoff is {state}: {app.project.root}"
    app.out.result({"project": str(app.project.root), "on": is_on, "folders": folders}, text)
