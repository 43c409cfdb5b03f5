"""The fold of a session's events to facts: what a machine can know without asking anyone."""

from typing import TYPE_CHECKING

from leftoff.load_on_use import load_on_use

if TYPE_CHECKING:
    from leftoff.session.facts import report as report

__getattr__ = load_on_use(__name__)
