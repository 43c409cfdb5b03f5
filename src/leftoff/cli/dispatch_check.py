"""The `leftoff dispatch-check` command: check whether a skill should run on this model."""

import click
import msgspec

from leftoff.cli.app import App, command
from leftoff.errors import LeftoffError
from leftoff.profiles import tier_guard


@command(name="dispatch-check")
@click.option("--declared", required=True, metavar="TIER", help="The tier that the skill declares.")
@click.option("--current", required=True, metavar="TIER", help="The current model.")
@click.option("--spawn-failed", is_flag=True, help="Starting a cheaper agent failed.")
@click.argument("prompt", required=False, default="")
def dispatch_check(
    app: App, declared: str, current: str, prompt: str, *, spawn_failed: bool
) -> None:
    """Check whether a skill should run on the current model.

    The answer is to run it, to hand it to a cheaper agent, or to stop.
    """
    found = tier_guard.decide(declared, current, prompt, can_spawn=not spawn_failed)
    if found.action == "abort":
        raise LeftoffError(found.message)
    app.out.result(msgspec.to_builtins(found), found.action)
    if found.message and not app.out.as_json:
        app.out.warn(found.message)
