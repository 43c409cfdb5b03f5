"""Doctor: look at everything that hooks need, and prove that they work."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from leftoff import hooks
from leftoff.wiring import files, inspect_settings, inspect_state, roundtrip
from leftoff.wiring.findings import Finding, World

_OF_WIRING = (
    inspect_settings.check_settings,
    inspect_settings.check_hook,
    inspect_settings.check_python,
    inspect_settings.check_disabled,
)
_OF_STATE = (
    inspect_state.check_byte_code,
    inspect_state.check_permissions,
    inspect_state.check_spool,
    inspect_state.check_poison,
    inspect_state.check_trouble,
    inspect_state.check_store,
    inspect_state.check_space,
    inspect_state.check_versions,
)


def examine(world: World) -> Iterator[Finding]:
    """Run all checks, the round trip last."""
    wiring = inspect_settings.look(world)
    for check in _OF_WIRING:
        yield from check(world, wiring)
    for look in _OF_STATE:
        yield from look(world)
    if wiring.commands:
        yield from roundtrip.prove(wiring.commands, files.read(world.places.python))
    elif wiring.has_plugin:
        letterbox = Path(hooks.__file__).parent / "letterbox.sh"
        python = os.fsencode(sys.executable) + b"\n"
        yield from roundtrip.prove(roundtrip.shipped_commands(letterbox), python)


def is_broken(findings: list[Finding]) -> bool:
    """Say whether something keeps leftoff from working."""
    return any(finding.level == "broken" for finding in findings)
