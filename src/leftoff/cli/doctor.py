"""The `leftoff doctor` command: check the hooks by running a real event through them."""

import click
import msgspec

from leftoff import profiles
from leftoff.cli.app import App, command
from leftoff.cli.look import wrap_line
from leftoff.errors import NotAProject, UsageError
from leftoff.projects.project import Project, find_project
from leftoff.text.plural import format_count
from leftoff.wiring import checkup as checks
from leftoff.wiring import inspect_spool, preview_profile
from leftoff.wiring.findings import DoctorFinding, World
from leftoff.wiring.install_places import find_places

_MARKS = {"ok": "ok      ", "warning": "warning ", "broken": "BROKEN  "}
_COLORS = {"ok": "green", "warning": "yellow", "broken": "red"}


@command()
@click.option("--clear", is_flag=True, help="First clear past problems and skipped events.")
@click.option(
    "--profile",
    type=click.Choice([*profiles.PROFILES]),
    help="Instead, show what switching to this system would read; change nothing.",
)
def doctor(app: App, profile: str | None, *, clear: bool) -> int:
    """Check the hooks by running a real event through them.

    Exits with 1 if something is broken.
    """
    if profile is not None:
        if clear:
            raise UsageError("--profile changes nothing, so it cannot be combined with --clear.")
        _show_preview(app, preview_profile.preview_profile(app.project, profile))
        return 0
    world = World(places=find_places(app.environment), project=_find_project(app))
    if clear:
        inspect_spool.clear(world)
    findings = []
    # Print each finding at once: the test session takes a few seconds.
    for finding in checks.examine(world):
        findings.append(finding)
        if not app.out.as_json:
            _show(app, finding)
    is_broken = checks.is_broken(findings)
    if app.out.as_json:
        app.out.json({"broken": is_broken, "findings": msgspec.to_builtins(findings)})
    else:
        app.out.text(_conclude(findings))
    return int(is_broken)


def _show_preview(app: App, preview: preview_profile.Preview) -> None:
    if app.out.as_json:
        app.out.json(msgspec.to_builtins(preview))
        return
    for finding in preview.findings:
        _show(app, finding)
    app.out.text(preview_profile.summarize(preview))


def _find_project(app: App) -> Project | None:
    try:
        return find_project(app.environment)
    except (NotAProject, OSError):
        # doctor must run where nothing else does.
        return None


def _show(app: App, finding: DoctorFinding) -> None:
    head = f"{_MARKS[finding.level]}{finding.check}: {finding.what}"
    app.out.text(wrap_line(head, app.out.look.columns, _INDENT), fg=_COLORS[finding.level])
    for line in filter(None, (finding.why, finding.do)):
        app.out.text(f"{_INDENT}{line}")


_INDENT = " " * 8


def _conclude(findings: list[DoctorFinding]) -> str:
    count = {level: sum(each.level == level for each in findings) for level in _MARKS}
    if count["broken"]:
        return f"{count['broken']} broken, {format_count(count['warning'], 'warning')}."
    return (
        f"Nothing is broken; {format_count(count['warning'], 'warning')}."
        if count["warning"]
        else "Everything works."
    )
