"""Show a person where they are: a few facts with their labels, then the newest threads."""

from collections.abc import Mapping, Sequence
from itertools import starmap

from leftoff.cli.app import App, clean_line, terminal_height
from leftoff.cli.look import Look, ThreadRow, draw_rule, layout_threads, wrap_line

_LABEL = 9
_TALL, _WIDE = 36, 60
_FEW, _MANY = 3, 5


def print_facts(app: App, facts: Mapping[str, str], warnings: Sequence[str] = ()) -> None:
    """Print facts, each behind its label; those that need attention are in the warning color."""
    look = app.out.look
    for label, text in facts.items():
        role = "warning" if label in warnings else ""
        app.out.lines(_layout_fact(label, clean_line(text), role, look))


def print_threads(
    app: App, rows: Sequence[ThreadRow], heading: str, more: str, *, is_cut: bool = False
) -> None:
    """Print as many of the newest threads as fit, and where to see the others."""
    look = app.out.look
    is_large = terminal_height() >= _TALL and look.columns >= _WIDE
    shown = rows[: _MANY if is_large else _FEW]
    app.out.lines(["", draw_rule(look, clean_line(heading)), *layout_threads(shown, look)])
    if is_cut or len(shown) < len(rows):
        app.out.lines(["", look.paint("quiet", more)])


def _layout_fact(label: str, text: str, role: str, look: Look) -> list[str]:
    rows = wrap_line(f"{label:{_LABEL}}{text}", look.columns, " " * _LABEL)

    def paint(number: int, row: str) -> str:
        head, rest = row[:_LABEL], row[_LABEL:]
        shown = look.paint(role, rest) if role else rest
        return f"{look.paint('quiet', head) if number == 0 else head}{shown}"

    return [*starmap(paint, enumerate(rows))]
