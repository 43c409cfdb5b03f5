"""The `leftoff torture` command: try to make leftoff lose data, in a temp folder."""

import os
import random
import sys

import click
import msgspec

from leftoff.cli import run
from leftoff.cli.app import App, command, printable
from leftoff.cli.option_types import Number
from leftoff.text.plural import format_count
from leftoff.torture import PARTS, TorturePlan, TortureReport, TortureResult, worker
from leftoff.torture import run as run_plan
from leftoff.torture.orders import WorkerTask

_DEFAULT_MINUTES = 2.0
_SHOWN = 5


@command()
@click.option("--minutes", type=Number(0.05, kind=float), help="How long to run (default: 2).")
@click.option("--seed", type=int, metavar="N", help="Repeat the run with this seed.")
@click.option(
    "--only", multiple=True, type=click.Choice([*PARTS]), help="Run only this part; repeatable."
)
@click.option("--rounds", type=Number(1), help="Limit each part by rounds, not by time.")
def torture(
    app: App, minutes: float | None, seed: int | None, only: tuple[str, ...], rounds: int | None
) -> int:
    """Try to make leftoff lose data, in a temp folder."""
    plan = TorturePlan(
        parts=only or [*PARTS],
        seed=random.randrange(1 << 31) if seed is None else seed,  # noqa: S311 - no secret
        seconds=60 * (minutes or _DEFAULT_MINUTES),
        rounds=rounds or 0,
        # At least two, so that commands compete for the store.
        workers=max(2, min(8, os.cpu_count() or 2)),
    )
    result = run_plan(plan, lambda report: _show_progress(app, report))
    _show(app, result)
    return 1 if result.failures else 0


def _show_progress(app: App, report: TortureReport) -> None:
    if not app.out.is_interactive or app.out.quiet or app.out.as_json:
        return
    line = f"{report.part}: {_format_totals(report)}; {format_count(report.failures, 'problem')}"
    click.echo("\r", nl=False, err=True)
    click.echo(printable(f"{line:<78}", sys.stderr), nl=False, err=True)
    if report.is_final:
        click.echo("", err=True)


def _format_totals(report: TortureReport) -> str:
    return ", ".join(f"{number:,} {what}" for what, number in report.tried.items()) or "nothing"


def _show(app: App, result: TortureResult) -> None:
    if app.out.as_json:
        app.out.result(msgspec.to_builtins(result) | {"failures": result.failures}, "")
        return
    app.out.table(
        {
            "part": [report.part for report in result.reports],
            "tried": [_format_totals(report) for report in result.reports],
            "lost": [str(len(report.lost)) for report in result.reports],
            "broken": [str(len(report.broken)) for report in result.reports],
        }
    )
    app.out.text("\n".join(_list_details(result)))


def _list_details(result: TortureResult) -> list[str]:
    lines = [""]
    for report in result.reports:
        lines += [f"Skipped in {report.part}: {why}." for why in report.skipped]
        for word, found in (("Lost", report.lost), ("Broken", report.broken)):
            lines += [f"{word}: {each.what} ({each.where})" for each in found[:_SHOWN]]
            if len(found) > _SHOWN:
                lines.append(f"{word}: {len(found) - _SHOWN} more; --json lists them all.")
    took = f"{result.seconds / 60:.1f} minutes (seed {result.seed})"
    if result.folder is None:
        return [*lines, f"Nothing was lost and nothing broke in {took}."]
    return [
        *lines,
        f"Found {format_count(result.failures, 'problem')} in {took}.",
        f"The damaged projects are in {result.folder}",
        f"Repeat this run with `leftoff torture --seed {result.seed}`.",
    ]


def work() -> None:
    """Run one part in a worker process; the task is the last argument of the command line."""
    task = msgspec.json.decode(sys.argv[-1], type=WorkerTask)
    # The commands under test also write to stdout, so reports use their own descriptor.
    own = os.dup(1)

    def emit(report: TortureReport) -> None:
        os.write(own, msgspec.json.encode(report) + b"\n")

    worker.run(task, run, emit)
