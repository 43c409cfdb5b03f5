"""Profiles: the habits and native files of the five systems that leftoff unites."""

import importlib
from collections.abc import Iterable
from typing import cast

from leftoff.profiles.base import Profile

# Loaded when one is named: most users have none.
PROFILES = {
    "guardz": "leftoff.profiles.guardz",
    "openclaw": "leftoff.profiles.openclaw",
    "sail": "leftoff.profiles.sail",
    "quoin": "leftoff.profiles.quoin",
    "harness": "leftoff.profiles.harness",
}


def wanted_events(names: Iterable[str]) -> frozenset[str]:
    """Return the kinds of hook events that some profiles need beyond those that all do."""
    known = [load(name) for name in names if name in PROFILES]
    wanted: list[frozenset[str]] = [getattr(each, "EVENTS", frozenset()) for each in known]
    return frozenset[str]().union(*wanted)


def load(name: str) -> Profile:
    """Return a profile by its name: a module, or a folder of them, is one."""
    return cast("Profile", importlib.import_module(PROFILES[name]))
