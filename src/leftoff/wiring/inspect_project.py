"""Check the project: its repository's owner, its settings, and stores it no longer uses."""

from collections.abc import Iterator

from leftoff import config
from leftoff.context import Context
from leftoff.errors import StoreRefused
from leftoff.projects import store_places
from leftoff.projects.project import Project, explain_distrust, list_stores_elsewhere
from leftoff.store.move_in import list_conflicts
from leftoff.threads import memory_page
from leftoff.wiring.findings import DoctorFinding, World, warning

_SHOWN = 3


def check_trust(world: World) -> Iterator[DoctorFinding]:
    """Report a repository that leftoff ignores because another user owns it."""
    distrust = explain_distrust(world.project) if world.project else None
    if distrust is not None:
        what, do = distrust
        yield warning("repository", what, why="git does not trust it either.", do=do)


def check_config(world: World) -> Iterator[DoctorFinding]:
    """Report the settings that leftoff ignores."""
    loaded = Context(world.places.environment, world.project).configuration
    problems = [*loaded.problems]
    if world.project is not None:
        problems += _check_briefing_file(world.project, loaded.settings)
    for problem in problems:
        yield warning(
            "settings of leftoff",
            problem,
            why="The value has no effect.",
            do="Run `leftoff config` to see the settings in force.",
        )


def _check_briefing_file(project: Project, settings: config.Settings) -> Iterator[str]:
    try:
        memory_page.file_of(project, settings.briefing_file)
    except StoreRefused as error:
        yield error.message


def check_kept_apart(world: World) -> Iterator[DoctorFinding]:
    """Report files of an earlier store whose names this store already had."""
    found = list_conflicts(world.project.store) if world.project else []
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield warning(
            "store",
            f"Files of an earlier store are not used: {found[0]}{more}",
            why="This project already had other files of the same name.",
            do="Copy what you need from them, then remove the folder.",
        )


def check_lost(world: World) -> Iterator[DoctorFinding]:
    """Report unused stores: of folders that no longer exist, or from before LEFTOFF_HOME."""
    lost = store_places.list_lost(world.places.environment)
    if world.project is not None and world.project.is_git:
        elsewhere = [each for each in list_stores_elsewhere(world.project) if each not in lost]
        for folder, store in elsewhere[:_SHOWN]:
            yield warning(
                "store",
                f"The checkpoints of {folder} in {store} are not used",
                why="They were saved in a plain folder, or while LEFTOFF_HOME was not set.",
                do=f"If they belong here, run: leftoff import --from-store {store}",
            )
    for folder, store in lost[:_SHOWN]:
        yield warning(
            "store",
            f"{folder} no longer exists; its checkpoints are in {store}",
            why="leftoff recognises a renamed folder, but not one that was copied to another disk.",
            do=f"In the folder they belong to now, run: leftoff import --from-store {store}",
        )
    if len(lost) > _SHOWN:
        yield warning(
            "store",
            f"{len(lost) - _SHOWN} more folders with checkpoints no longer exist",
            why="See above.",
            do=f"Their stores are in {lost[0][1].parent}",
        )
