"""The `leftoff auto` command: show which signals would trigger an autosave."""

from typing import Any

import click

from leftoff.cli.app import App, command
from leftoff.cli.option_types import Number
from leftoff.errors import UsageError
from leftoff.hooks import autosave_step
from leftoff.phrases.match import says_goodbye
from leftoff.session import records, sessions


@command()
@click.option("--explain", is_flag=True, help="Show what would be saved, and why.")
@click.option("--percent", type=Number(0, 100, kind=float), help="Context use in percent.")
@click.option("--prompt", default="", help="The user's prompt.")
@click.option("--command", "started", default="", help="The command about to run.")
@click.option(
    "--timeout", type=Number(0, kind=float), default=0, help="The command's timeout in seconds."
)
@click.option("--idle", type=Number(0, kind=float), default=0, help="Minutes without activity.")
def auto(app: App, *, explain: bool, **given: Any) -> None:
    """Show which signals would trigger an autosave.

    Values that you do not pass come from the current session. Saves nothing.
    """
    if not explain:
        raise UsageError("Hooks save automatically.", hint="`leftoff auto --explain` shows when.")
    session = sessions.find_current(app.store)
    percent = given["percent"]
    if percent is None and session is not None:
        percent = session.facts.percent
    since = _count_idle_seconds(app, session)
    signals = [
        _signal(app, trigger, percent, since) for trigger in _find_due_triggers(app, percent, given)
    ]
    # Highest priority first, because the first one is the overall result.
    signals.sort(
        key=lambda each: autosave_step.PRIORITIES.index(each["priority"].lower()), reverse=True
    )
    status = {"percent": percent, "seconds_since_autosave": since, "signals": signals}
    app.out.result(
        {
            **status,
            "priority": signals[0]["priority"] if signals else None,
            **_build_verdict(signals),
        },
        [_format_signal(each) for each in signals] or "No signal: nothing would be saved.",
    )


def _find_due_triggers(app: App, percent: float | None, given: dict[str, Any]) -> list[str]:
    fired = {
        "context": autosave_step.is_autosave_due(percent, app.settings),
        "close": says_goodbye(given["prompt"]),
        "idle": given["idle"] * 60 > autosave_step.IDLE_SECONDS,
        "long-command": autosave_step.is_long(given["started"], given["timeout"]),
    }
    return [trigger for trigger, is_there in fired.items() if is_there]


def _signal(app: App, trigger: str, percent: float | None, since: float | None) -> dict[str, Any]:
    priority = autosave_step.priority(trigger, percent, app.settings)
    saves = autosave_step.is_wanted(priority, app.settings, since)
    return {"trigger": trigger, "priority": priority.upper(), "saves": saves}


def _build_verdict(signals: list[dict[str, Any]]) -> dict[str, bool]:
    return {"saves": any(each["saves"] for each in signals)}


def _format_signal(signal: dict[str, Any]) -> str:
    what = "saves the state" if signal["saves"] else "saves nothing"
    return f"{signal['priority']:8}  {signal['trigger']}: {what}"


def _count_idle_seconds(app: App, session: sessions.KnownSession | None) -> float | None:
    if session is None:
        return None
    last = records.load(app.store, session.agent, session.session_id).autosaved_at
    return (app.store.now() - last).total_seconds() if last else None
