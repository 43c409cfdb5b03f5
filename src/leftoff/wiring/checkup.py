"""Run all checks of `leftoff doctor`: everything that hooks need, and a test session."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from leftoff import hooks
from leftoff.errors import LeftoffError
from leftoff.hooks import installation
from leftoff.wiring import (
    foreign_files,
    inspect_project,
    inspect_settings,
    inspect_skill,
    inspect_spool,
    inspect_state,
    roundtrip,
)
from leftoff.wiring.findings import DoctorFinding, World, fault

_OF_WIRING = (
    inspect_settings.check_settings,
    inspect_settings.check_hook,
    inspect_settings.check_python,
    inspect_settings.check_disabled,
    inspect_skill.check_skill,
)
_OF_STATE = (
    inspect_state.check_byte_code,
    inspect_state.check_permissions,
    inspect_spool.check_places,
    inspect_spool.check_spool,
    inspect_spool.check_poison,
    inspect_spool.check_trouble,
    inspect_project.check_trust,
    inspect_project.check_config,
    inspect_project.check_lost,
    inspect_project.check_kept_apart,
    inspect_state.check_store,
    inspect_project.check_index,
    inspect_project.check_memory,
    inspect_state.check_space,
    inspect_state.check_versions,
)


def examine(world: World) -> Iterator[DoctorFinding]:
    """Run all checks, the test session last; a check that fails to run is a finding, too."""
    wiring = inspect_settings.read_wiring(world)
    for check in _OF_WIRING:
        yield from _run_check(check.__name__, partial(check, world, wiring))
    for look in _OF_STATE:
        yield from _run_check(look.__name__, partial(look, world))
    yield from _run_check("round trip", partial(_prove, world, wiring))


def _prove(world: World, wiring: inspect_settings.Wiring) -> list[DoctorFinding]:
    if wiring.commands:
        return roundtrip.prove(wiring.commands, foreign_files.read(world.places.python))
    if wiring.has_plugin:
        # The settings do not contain the plugin's hooks, so run the same program directly.
        letterbox = Path(hooks.__file__).parent / "letterbox.sh"
        return roundtrip.prove(roundtrip.build_commands(letterbox), installation.lines())
    return []


def _run_check(name: str, check: Callable[[], Iterable[DoctorFinding]]) -> Iterator[DoctorFinding]:
    """Report a check that raises OSError, as on a full disk, so that the others still run."""
    try:
        yield from check()
    except (LeftoffError, OSError) as error:
        yield fault(
            name.removeprefix("check_").replace("_", " "),
            f"The check failed: {error}",
            why="Hooks fail there in the same way.",
            do="Fix the problem, then run `leftoff doctor` again.",
        )


def is_broken(findings: list[DoctorFinding]) -> bool:
    """Return whether a finding keeps leftoff from working."""
    return any(finding.level == "broken" for finding in findings)
