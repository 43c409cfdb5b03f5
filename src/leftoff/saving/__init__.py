"""Saving: from what was told and what can be seen to a checkpoint on disk."""

from leftoff.saving.composing import compose, refresh
from leftoff.saving.keeping import Outcome, refused, save
from leftoff.saving.shaping import append_day, fitted, name_for, without_guess
from leftoff.saving.told import told_from

__all__ = [
    "Outcome",
    "append_day",
    "compose",
    "fitted",
    "name_for",
    "refresh",
    "refused",
    "save",
    "told_from",
    "without_guess",
]
