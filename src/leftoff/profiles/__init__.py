"""Profiles: the habits and native files of the five systems that leftoff unites."""

import importlib
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


def load(name: str) -> Profile:
    """Return a profile by its name: a module, or a folder of them, is one."""
    return cast("Profile", importlib.import_module(PROFILES[name]))
