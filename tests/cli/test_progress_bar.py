"""Progress is shown on a terminal, and only once a command has taken a second."""

import contextlib
import io
import time

import pytest

from cli.runs import Cli
from leftoff.cli.app import Output
from leftoff.cli.progress_bar import show_progress


class Screen(io.StringIO):
    """A terminal that keeps what was printed."""

    def isatty(self) -> bool:
        """Return that it is one."""
        return True


def show(label: str, seconds: float, *, fails: bool = False, **given: bool) -> str:
    """Return what four steps show in a command that has run for some seconds."""
    out = Output(quiet=given.get("quiet", False))
    out.is_interactive = given.get("is_interactive", True)
    out.began = time.monotonic() - seconds
    screen = Screen()
    with (
        contextlib.redirect_stderr(screen),
        contextlib.suppress(ValueError),
        show_progress(out, label, 4) as advance,
    ):
        for done in range(5):
            advance(done)
            if fails:
                raise ValueError("broken")
    return screen.getvalue()


def test_work_that_takes_long_shows_a_bar() -> None:
    shown = show("Reading\x1b[2J", 5)

    assert "Reading" in shown
    assert "100%" in shown
    assert "\x1b[2J" not in shown
    assert shown.endswith("\n")


def test_quick_work_shows_nothing() -> None:
    assert show("Reading", -1000) == ""


@pytest.mark.parametrize("given", [{"is_interactive": False}, {"quiet": True}])
def test_without_a_person_nothing_is_shown(given: dict[str, bool]) -> None:
    assert show("Reading", 5, **given) == ""


def test_an_error_leaves_the_terminal_on_a_new_line() -> None:
    assert show("Reading", 5, fails=True).endswith("\n")


def test_a_pipe_gets_no_bar(cli: Cli) -> None:
    assert cli.process("recover").stderr == ""
