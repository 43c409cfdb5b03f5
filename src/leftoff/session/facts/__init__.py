"""Derive facts from a session's events: files, commands, failures, todos and next action."""

from typing import TYPE_CHECKING

from leftoff.load_on_use import load_on_use

if TYPE_CHECKING:
    from leftoff.session.facts import looks as looks
    from leftoff.session.facts import report as report

__getattr__ = load_on_use(__name__)
