"""Checks of the project: whether its repository is trusted, its settings, stores left behind."""

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
    """Name a repository that is left alone because it belongs to another user."""
    distrust = explain_distrust(world.project) if world.project else None
    if distrust is not None:
        what, do = distrust
        yield warning("repository", what, why="git does not trust it either.", do=do)


def check_config(world: World) -> Iterator[DoctorFinding]:
    """Name the settings that are ignored."""
    loaded = Context(world.places.environment, world.project).configuration
    problems = [*loaded.problems]
    if world.project is not None:
        problems += _check_briefing_file(world.project, loaded.settings)
    for problem in problems:
        yield warning(
            "settings of leftoff",
            problem,
            why="The value has no effect.",
            do="`leftoff config` shows the settings that count.",
        )


def _check_briefing_file(project: Project, settings: config.Settings) -> Iterator[str]:
    try:
        memory_page.file_of(project, settings.briefing_file)
    except StoreRefused as error:
        yield error.message


def check_kept_apart(world: World) -> Iterator[DoctorFinding]:
    """Name what an earlier store held under a name that this one had already."""
    found = list_conflicts(world.project.store) if world.project else []
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield warning(
            "store",
            f"Files of an earlier store are not in use: {found[0]}{more}",
            why="This project had other files of the same name when that store moved in.",
            do="Take over what you need from them, then remove the folder.",
        )


def check_lost(world: World) -> Iterator[DoctorFinding]:
    """Name the stores that no project uses: of folders that are gone, or before LEFTOFF_HOME."""
    lost = store_places.list_lost(world.places.environment)
    if world.project is not None and world.project.is_git:
        elsewhere = [each for each in list_stores_elsewhere(world.project) if each not in lost]
        for folder, store in elsewhere[:_SHOWN]:
            yield warning(
                "store",
                f"There are checkpoints of {folder} in {store}, where they are not used",
                why="They were saved in a plain folder, or while LEFTOFF_HOME was not set.",
                do=f"If they belong here: leftoff import --from-store {store}",
            )
    for folder, store in lost[:_SHOWN]:
        yield warning(
            "store",
            f"{folder} no longer exists, and its checkpoints are in {store}",
            why="leftoff recognises a folder that was renamed, but not one copied to another disk.",
            do=f"In the folder they belong to now: leftoff import --from-store {store}",
        )
    if len(lost) > _SHOWN:
        yield warning(
            "store",
            f"{len(lost) - _SHOWN} more folders with checkpoints no longer exist",
            why="See above.",
            do=f"Their stores are in {lost[0][1].parent}",
        )
