"""Checks of the project: whether its repository is trusted, its settings, stores left behind."""

from collections.abc import Iterator

from leftoff import config, paths
from leftoff.wiring.findings import Finding, World, warning

_SHOWN = 3


def check_trust(world: World) -> Iterator[Finding]:
    """Name a repository that is left alone because it belongs to another user."""
    distrust = paths.distrust_of(world.project) if world.project else None
    if distrust is not None:
        what, do = distrust
        yield warning("repository", what, why="git does not trust it either.", do=do)


def check_config(world: World) -> Iterator[Finding]:
    """Name the settings that are ignored."""
    for problem in config.load(world.project).problems:
        yield warning(
            "settings of leftoff",
            problem,
            why="The value has no effect.",
            do="`leftoff config` shows the settings that count.",
        )


def check_lost(world: World) -> Iterator[Finding]:
    """Name the stores of plain folders that are gone: they may only have another name now."""
    del world
    lost = paths.lost_stores()
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
            do=f"Their stores are in {paths.plain_store(lost[0][0]).parent}",
        )
