"""The `leftoff stats` command: count sessions, saves, context use and time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

import click
import msgspec

from leftoff.cli.app import App, command, shows_signs
from leftoff.cli.look import wrap_line
from leftoff.cli.option_types import Number
from leftoff.cli.progress_bar import show_progress
from leftoff.text.plural import format_count
from leftoff.threads.field_labels import format_trigger
from leftoff.threads.usage_stats import Stats, TimeKept, read_stats

_LABEL = 13
_MOST_COUNTED = 100_000
_LEAST_BAR, _WIDEST_BAR = 4, 24
# Two gaps, a plural s and a number of six digits.
_NUMBER = 10
_USUAL_COLUMNS = 90
_SPARKS, _PLAIN_SPARKS = "▁▂▃▄▅▆▇█", "_.-=+*#@"
_STATES = {"consumed": "done", "resumed": "open", "declined": "open"}
_HOW = "Times are lower bounds; `leftoff stats --help` says how they are counted."


@command()
@click.option(
    "--days",
    default=30,
    show_default=True,
    type=Number(1, 3650),
    help="How many days to look back.",
)
def stats(app: App, days: int) -> None:
    """Count sessions, saves, context use and time.

    It counts the saves in this project's store. Times are lower bounds: a pause of more than 30
    minutes does not count. "Kept automatically" is the time of sessions that you never saved by
    hand: without automatic saves, it would have been lost. "Recovered" is the part of that time in
    sessions that died. Compactions count if a hook or the transcript
    shows them.
    """
    count = len(app.store.index().newest(_MOST_COUNTED))
    with show_progress(app.out, "Reading checkpoints", count) as advance:
        found = read_stats(app.store, days=days, on_checkpoint=advance)
    unsaved = len(app.workspace.find_unsaved())
    if app.out.as_json:
        app.out.json({**msgspec.to_builtins(found), "unsaved_sessions": unsaved})
    else:
        columns = app.out.look.columns if app.out.is_for_person else _USUAL_COLUMNS
        lines = [*_format_stats(found, unsaved, columns)]
        shown = [row for line in lines for row in wrap_line(line, columns, " " * _LABEL)]
        app.out.text([*shown, *(["", *wrap_line(_HOW, columns)] if found.saves else [])])


def _format_stats(found: Stats, unsaved: int, columns: int) -> Iterator[str]:
    yield f"{_format_date(found.since)} to {_format_date(found.until)}"
    yield ""
    if not found.saves:
        yield "Nothing was saved in this period."
        return
    room = max(_LEAST_BAR, columns - _LABEL - _NUMBER - 2)
    yield _format_line("threads", _format_counts(_merge_states(found.threads)))
    yield _format_line("sessions", _format_counts(found.agents))
    automatic = found.saves - found.by_hand
    yield _format_line("saves", f"{found.saves}: {found.by_hand} by hand, {automatic} automatic")
    yield _format_line("  over time", draw_sparkline(_squeeze(found.saves_by_day, room, sum)))
    reasons = {format_trigger(why): count for why, count in found.triggers.items()}
    yield from (_format_line("", line) for line in draw_bars(reasons, columns - _LABEL))
    yield _format_line("compactions", str(found.compactions))
    if any(found.peaks.values()):
        peaks = _squeeze(found.context_by_day, room, max)
        yield _format_line("context", "the highest use of each session")
        yield _format_line("  over time", draw_sparkline(peaks, 100.0))
        sessions = {label: count for label, count in found.peaks.items() if count}
        yield from (
            _format_line("", line) for line in draw_bars(sessions, columns - _LABEL, "session")
        )
    yield ""
    yield _format_line("time", f"kept automatically: {_format_time(found.automatic)}")
    yield _format_line("", f"recovered: {_format_time(found.recovered)}")
    if unsaved:
        yield _format_line(
            "", f"not saved yet: {format_count(unsaved, 'session')}; run `leftoff recover`"
        )


def _format_line(label: str, text: str) -> str:
    return f"{label:{_LABEL}}{text}"


def _format_date(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d}"


def _merge_states(threads: Mapping[str, int]) -> dict[str, int]:
    merged = {"open": 0}
    for state, count in threads.items():
        word = _STATES.get(state, state)
        merged[word] = merged.get(word, 0) + count
    return {word: count for word, count in merged.items() if count}


def _format_counts(counts: Mapping[str, int]) -> str:
    parts = ", ".join(f"{count} {what}" for what, count in counts.items())
    return f"{sum(counts.values())}: {parts}" if parts else "0"


def _format_time(kept: TimeKept) -> str:
    if not kept.sessions:
        return "nothing"
    sessions = format_count(kept.sessions, "session")
    # They are rounded to a tenth.
    if not kept.hours:
        return f"less than 0.1 hours in {sessions}"
    return f"at least {kept.hours:g} {'hour' if kept.hours == 1 else 'hours'} in {sessions}"


# --- drawing ---


def _squeeze(
    values: Sequence[float], room: int, join: Callable[[Sequence[float]], float]
) -> list[float]:
    """Join neighbours until the values fit into the room."""
    each = -(-len(values) // room)
    return [join(values[at : at + each]) for at in range(0, len(values), each)]


def draw_sparkline(values: Sequence[float], most: float | None = None) -> str:
    """Draw one sign for each value, as high as its share of the largest; nothing is a space."""
    signs = _SPARKS if shows_signs() else _PLAIN_SPARKS
    largest = most or max(values, default=0) or 1
    top = len(signs) - 1
    return "".join(
        signs[min(top, int(value / largest * top + 0.5))] if value else " " for value in values
    )


def draw_bars(counts: Mapping[str, int], columns: int, thing: str = "") -> list[str]:
    """Draw one bar for each count, with its label and its number."""
    sign = "█" if shows_signs() else "#"
    largest = max(counts.values(), default=1)
    labels = max(map(len, counts), default=0)
    room = columns - labels - len(thing) - _NUMBER
    is_beside = room >= _LEAST_BAR
    widest = min(_WIDEST_BAR, room if is_beside else columns - _NUMBER - len(thing))
    bars = [
        f"{sign * max(1, round(count / largest * widest))} "
        f"{format_count(count, thing) if thing else count}"
        for count in counts.values()
    ]
    if is_beside:
        return [f"{label:{labels}}  {bar}" for label, bar in zip(counts, bars, strict=True)]
    # On a narrow screen, a bar is below its label.
    return [line for label, bar in zip(counts, bars, strict=True) for line in (label, f"  {bar}")]
