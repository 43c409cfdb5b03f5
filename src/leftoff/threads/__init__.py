"""Saving: from what was told and what can be seen to a checkpoint on disk."""

from leftoff.threads.apply_settings import append_day, drop_unwanted, name_for, without_guess
from leftoff.threads.compose import compose, refresh
from leftoff.threads.parse_input import parse_fields
from leftoff.threads.persist import Outcome, build_quality_error, save

__all__ = [
    "Outcome",
    "append_day",
    "build_quality_error",
    "compose",
    "drop_unwanted",
    "name_for",
    "parse_fields",
    "refresh",
    "save",
    "without_guess",
]
