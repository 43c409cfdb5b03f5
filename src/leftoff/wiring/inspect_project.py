"""Inspect a project for `doctor`: its folders, index and memory."""

from collections.abc import Callable, Iterator
from pathlib import Path
from shlex import quote

from leftoff import config
from leftoff.context import Context
from leftoff.errors import LeftoffError, StoreRefused
from leftoff.knowledge import features, memory
from leftoff.projects import store_places
from leftoff.projects.project import Project, explain_distrust, list_stores_elsewhere
from leftoff.store import Store, disk
from leftoff.store.adoption import list_conflicts
from leftoff.store.log import SkippedLines
from leftoff.text.plural import format_count
from leftoff.threads import memory_briefing
from leftoff.wiring.findings import DoctorFinding, World, fault, ok, warning

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
    problems = [*loaded.problems, *loaded.ignored_checks]
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
        memory_briefing.find_page_path(project, settings.briefing_file)
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
    """Report stores not in use: their folder is gone, or they predate git or LEFTOFF_HOME."""
    lost = store_places.list_lost(world.places.environment)
    if world.project is not None and world.project.is_git:
        elsewhere = [each for each in list_stores_elsewhere(world.project) if each not in lost]
        for folder, store in elsewhere[:_SHOWN]:
            yield warning(
                "store",
                f"The checkpoints of {folder} in {store} are not used",
                why="They were saved in a plain folder, or while LEFTOFF_HOME was not set.",
                do=f"If they belong here, run: leftoff import --from-store {quote(str(store))}",
            )
    for folder, store in lost[:_SHOWN]:
        yield warning(
            "store",
            f"{folder} no longer exists; its checkpoints are in {store}",
            why="leftoff recognizes a renamed folder, but not one that was copied to another disk.",
            do="In the folder they belong to now, run: "
            f"leftoff import --from-store {quote(str(store))}",
        )
    if len(lost) > _SHOWN:
        yield warning(
            "store",
            f"{format_count(len(lost) - _SHOWN, 'more folder')} with checkpoints no longer exist",
            why="leftoff recognizes a renamed folder, but not one that was copied to another disk.",
            do=f"Their stores are in {lost[0][1].parent}",
        )


# --- indexes ---


def check_index(world: World) -> Iterator[DoctorFinding]:
    """Check that the indexes match the files; rebuild those that do not."""
    if world.project is None or not world.project.store.is_dir():
        return
    store = Store(world.project)
    try:
        yield _check_one(
            "index",
            lambda: store.index().is_sound(),
            lambda: store.index().rebuild(),
            files="the checkpoints",
        )
        if not memory.is_empty(store):
            yield _check_one(
                "memory index",
                lambda: memory.is_sound(store),
                lambda: memory.rebuild(store),
                files="memory.jsonl",
            )
    finally:
        store.close()


def _check_one(
    check: str, is_sound: Callable[[], bool], rebuild: Callable[[], None], *, files: str
) -> DoctorFinding:
    if is_sound():
        return ok(check, f"It matches {files}")
    rebuild()
    return warning(
        check,
        f"The {check} did not match {files}; it was rebuilt",
        why="Commands may have missed checkpoints or entries, or reused a name. "
        "Nothing was lost: the files have everything.",
        do="If this comes back, check the disk for errors.",
    )


# --- memory and features ---


def check_memory(world: World) -> Iterator[DoctorFinding]:
    """Check every line of the memory, and all features."""
    if world.project is None or not world.project.store.is_dir():
        return
    store = Store(world.project)
    try:
        if not memory.is_empty(store):
            yield _check_memory_log(store, world.project.store / "memory.jsonl")
        yield from _check_features_file(store)
    finally:
        store.close()


def _check_memory_log(store: Store, log: Path) -> DoctorFinding:
    if log.exists() and not disk.is_regular(log):
        return fault(
            "memory",
            f"{log} is not a regular file",
            why="leftoff cannot read the memory, and new entries go to the fallback folder.",
            do="Move it away; the next entry creates a new file.",
        )
    try:
        skipped = memory.count_unreadable(store)
    except OSError as error:
        return fault(
            "memory",
            f"{log} cannot be read: {error.strerror}",
            why="leftoff cannot use the memory.",
            do="Make it readable and writable for you.",
        )
    if not skipped.count:
        return ok("memory", "Every entry can be read")
    return warning(
        "memory",
        f"{format_count(skipped.count, 'line')} of {log} cannot be read: {_format_lines(skipped)}",
        why="leftoff skips these lines and uses all others.",
        do="Add what they said with `leftoff memory add`, then remove the lines. A line that a "
        "crash cut off was never confirmed as saved; just remove it.",
    )


def _check_features_file(store: Store) -> Iterator[DoctorFinding]:
    try:
        features.load(store)
    except (LeftoffError, OSError) as error:
        hint = error.hint if isinstance(error, LeftoffError) else ""
        yield fault(
            "features",
            str(error),
            why="You cannot start, add or ship features.",
            do=hint or "Check that you own the project's store and can read and write it.",
        )


def _format_lines(skipped: SkippedLines) -> str:
    rest = skipped.count - len(skipped.first)
    word = "line" if skipped.count == 1 else "lines"
    return f"{word} {', '.join(map(str, skipped.first))}{f' and {rest} more' if rest else ''}"
