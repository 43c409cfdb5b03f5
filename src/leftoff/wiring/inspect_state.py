"""Check permissions, byte code, checkpoints, disk space and versions."""

import importlib.util
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from leftoff import DISTRIBUTION, __version__, config, processes, snapshots
from leftoff.errors import LeftoffError
from leftoff.projects.project import Project
from leftoff.store import Store
from leftoff.text.plural import format_bytes, format_count, join_words
from leftoff.wiring import detect_agents, try_programs
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.findings import DoctorFinding, World, fault, ok, warning
from leftoff.wiring.try_programs import ProgramAnswer

# Warn while there is time to react; below the second limit, saves are about to fail.
_LITTLE_BYTES = 200_000_000
_TOO_LITTLE_BYTES = 10_000_000
_PACKAGE = Path(__file__).resolve().parent.parent


def check_permissions(world: World) -> Iterator[DoctorFinding]:
    """Check that only the user can read leftoff's files."""
    folders = [world.places.state, world.places.state / "spool"]
    folders += [world.project.store] if world.project else []
    open_ = [path for path in _list_own_paths(folders) if path.lstat().st_mode & 0o077]
    if open_:
        more = f" and {len(open_) - 1} more" if len(open_) > 1 else ""
        yield warning(
            "permissions",
            f"Other users can read {open_[0]}{more} (mode {_format_mode(open_[0])})",
            why="It may contain what you typed.",
            do=f"chmod -R go= {open_[0] if open_[0].is_dir() else open_[0].parent}",
        )
    else:
        yield ok("permissions", "Only you can read leftoff's files")


def check_byte_code(world: World) -> Iterator[DoctorFinding]:
    """Check that byte code exists, so that hooks do not compile Python files."""
    del world  # all checks have the same signature
    sources = list(_PACKAGE.rglob("*.py"))
    missing = [path for path in sources if not _is_compiled(path)]
    if missing:
        yield warning(
            "byte code",
            f"{len(missing)} of {len(sources)} modules are not compiled",
            why="Sessions start more slowly.",
            do="Run `leftoff init` as the user who installed leftoff.",
        )
    else:
        yield ok("byte code", "Compiled")


def check_store(world: World) -> Iterator[DoctorFinding]:
    """Check that every checkpoint is readable and that none is in the fallback folder."""
    project = world.project
    if project is None:
        return
    waiting = project.fallback / "checkpoints"
    if waiting.is_dir() and any(waiting.glob("*/*.json")):
        yield warning(
            "store",
            f"Some checkpoints are in {project.fallback}",
            why=f"{project.store} was not writable when they were saved.",
            do="Make the store writable; the next leftoff command moves them there.",
        )
    if project.store.is_dir():
        yield _check_readable(project)
    else:
        yield ok("store", f"No checkpoints yet in {project.root}")


def _check_readable(project: Project) -> DoctorFinding:
    store = Store(project)
    try:
        unreadable = store.index().unreadable()
    except (LeftoffError, OSError) as error:
        return fault(
            "store",
            str(error),
            why="leftoff cannot read this project's checkpoints.",
            do="See the message.",
        )
    finally:
        store.close()
    if not unreadable:
        return ok("store", f"All checkpoints in {project.store} can be read")
    return warning(
        "store",
        f"Cannot read {format_count(len(unreadable), 'checkpoint')}, such as {unreadable[0].id}",
        why="leftoff does not offer or find them.",
        do=f"Run `leftoff show {unreadable[0].id} --raw` to see the file.",
    )


def check_snapshots(world: World) -> Iterator[DoctorFinding]:
    """Check how much the snapshots take, and that the newest is complete."""
    project = world.project
    if project is None or not project.is_git:
        return
    settings = config.load(project).settings
    if settings.snapshots == "off":
        yield ok("snapshots", "Off; turn them on with `leftoff config set snapshots on`")
        return
    found = snapshots.shelf.list_snapshots(project)
    size = snapshots.retention.measure(project)
    text = f"{format_count(len(found), 'snapshot')}, {format_bytes(size)}"
    try:
        for shelf, newest in found[:1]:
            shelf.content(newest)
    except LeftoffError as error:
        yield fault(
            "snapshots",
            f"The newest snapshot cannot be read: {error.message}",
            why="Uncommitted code could not be restored from it.",
            do="Run `leftoff snapshot` to take a new one.",
        )
        return
    # Packing is behind if it is far above the limit; the newest of each open thread always stay.
    if size > 2 * settings.snapshot_limit * 1_000_000:
        yield warning(
            "snapshots",
            f"{text}, above the limit of {settings.snapshot_limit} MB",
            why="The newest snapshot of each open thread is always kept.",
            do="End threads with `leftoff done`, or raise snapshot_limit.",
        )
    else:
        yield ok("snapshots", text)


def check_space(world: World) -> Iterator[DoctorFinding]:
    """Check that there is enough free disk space."""
    folders = [world.places.state] + ([world.project.store] if world.project else [])
    places = dict.fromkeys(_find_existing(folder) for folder in folders)
    free = {place: shutil.disk_usage(place).free for place in places}
    place = min(free, key=lambda each: free[each])
    free_space = f"{free[place] / 1e9:.1f} GB free at {place}"
    if free[place] >= _LITTLE_BYTES:
        yield ok("space", free_space)
        return
    make = fault if free[place] < _TOO_LITTLE_BYTES else warning
    yield make(
        "space",
        free_space,
        why="leftoff needs space for events and checkpoints.",
        do="Free some space.",
    )


def check_versions(world: World) -> Iterator[DoctorFinding]:
    """Report the versions of leftoff, git and the agents."""
    git = try_programs.ask(["git", "--version"])
    installed = detect_agents.list_installed(world.places.environment)
    answers = {agent: _ask_version(agent) for agent in WIRINGS if agent in installed}
    agents = {agent: answer.line if answer.code == 0 else "" for agent, answer in answers.items()}
    versions = [f"leftoff {__version__} ({DISTRIBUTION})"]
    versions += [answer.line for answer in (git,) if answer.code == 0]
    versions += [f"{agent} {version}" for agent, version in agents.items() if version]
    yield ok("versions", ", ".join(versions))
    if git.code != 0:
        is_there = shutil.which("git") is not None
        yield warning(
            "versions",
            f"git does not run: {_explain(git)}" if is_there else "git is not on the PATH",
            why="Checkpoints will not record branches, commits and changed files.",
            do="Run `git --version` to see what is wrong." if is_there else "Install git.",
        )
    yield from _report_missing([agent for agent in agents if not _find_programs(agent)])
    for agent, answer in answers.items():
        if answer.code != 0 and _find_programs(agent):
            yield _report_failing(agent, answer)
    for agent, version in agents.items():
        yield from _compare_version(agent, version)


def check_command(world: World, *, is_wired: bool) -> Iterator[DoctorFinding]:
    """Check that agents find leftoff's command on the PATH, and not another program."""
    del world
    program = shutil.which("leftoff")
    if program is None:
        if is_wired:
            yield warning("command", _NOT_FOUND, why=_WHY_NEEDED, do=_advise_path())
        return
    # Another program may read its input, and gets none.
    answer = try_programs.ask([program, "--version"])
    failure = f"{program} --version fails: {_explain(answer)}. " if answer.code != 0 else ""
    if not answer.line.endswith(f"({DISTRIBUTION})"):
        yield warning(
            "command",
            f"{program} is not leftoff {__version__} from {DISTRIBUTION}",
            why=f"{failure}Agents run the first `leftoff` on the PATH. It is "
            f"{'broken, ' if failure else ''}an older version, or the program that PyPI has "
            "under the name leftoff.",
            do=f"Uninstall it, or put the folder of {DISTRIBUTION}'s `leftoff` before it in PATH.",
        )


_NOT_FOUND = "leftoff is not on the PATH"
_WHY_NEEDED = "Hooks save without it, but agents cannot run `leftoff resume` and `leftoff save`."


def explain_missing_command() -> list[str]:
    """Explain what does not work if leftoff is not on the PATH."""
    if shutil.which("leftoff"):
        return []
    return [f"{_NOT_FOUND}. {_WHY_NEEDED} {_advise_path()}"]


def _advise_path() -> str:
    folder = Path(sys.executable).parent
    place = folder if (folder / "leftoff").exists() else "its folder"
    return f"Add {place} to the PATH of the shell in which you start your agent."


def _ask_version(agent: str) -> ProgramAnswer:
    """Return what an agent says about its version, or why it cannot be run."""
    with tempfile.TemporaryDirectory() as folder:
        # Gemini CLI leaves two files in its home each time.
        env = processes.copy_for_child(GEMINI_CLI_HOME=folder)
        answers = [try_programs.ask([each, "--version"], env=env) for each in _find_programs(agent)]
        works = (answer for answer in answers if answer.code == 0)
        return next(works, answers[0] if answers else ProgramAnswer(code=None))


def _find_programs(agent: str) -> list[str]:
    """Return the paths of an agent's programs that are on the PATH."""
    return [*filter(None, map(shutil.which, WIRINGS[agent].table.programs))]


def _explain(answer: ProgramAnswer) -> str:
    """Say how a program failed, with the last line of its errors."""
    if answer.code is None:
        return answer.line
    ended = f"it exits with {answer.code}"
    return f"{ended}: {answer.last_line}" if answer.last_line else ended


def _report_failing(agent: str, answer: ProgramAnswer) -> DoctorFinding:
    """Report an agent whose program is there, but does not run."""
    table = WIRINGS[agent].table
    program = table.programs[0]
    return warning(
        "versions",
        f"{program} does not run: {_explain(answer)}",
        why="leftoff cannot check its version. The hooks do not need that.",
        do=f"Run `{program} --version` to see what is wrong with {table.title}.",
    )


def _report_missing(agents: Sequence[str]) -> Iterator[DoctorFinding]:
    """Report the agents that are not on the PATH."""
    if not agents:
        return
    tables = [WIRINGS[agent].table for agent in agents]
    programs = join_words([table.programs[0] for table in tables])
    are, whose = ("is", "its version") if len(agents) == 1 else ("are", "their versions")
    yield warning(
        "versions",
        f"{programs} {are} not on the PATH",
        why=f"leftoff cannot check {whose}. The hooks do not need that.",
        do="You can ignore this if you start "
        f"{join_words([table.title for table in tables])} in another way.",
    )


def _compare_version(agent: str, version: str) -> Iterator[DoctorFinding]:
    """Report an agent in a version that was not tested."""
    table = WIRINGS[agent].table
    if not version:
        return
    if not table.tested:
        yield ok("versions", f"leftoff was not tested with any version of {table.title}")
    elif not re.search(rf"(?<![\d.]){re.escape(table.tested)}(?!\.?\d)", version):
        yield ok("versions", f"leftoff was tested with {table.title} {table.tested}")


def _list_own_paths(folders: list[Path]) -> Iterator[Path]:
    # The hook program is readable by design and contains no data. A link's own mode says nothing.
    for folder in folders:
        if folder.is_dir():
            yield folder
            yield from (
                path
                for path in folder.iterdir()
                if path.name != "hook" and not stat.S_ISLNK(path.lstat().st_mode)
            )


def _format_mode(path: Path) -> str:
    return f"{path.stat().st_mode & 0o777:04o}"


def _is_compiled(source: Path) -> bool:
    return os.access(importlib.util.cache_from_source(str(source)), os.R_OK)


def _find_existing(folder: Path) -> Path:
    # The folder may not exist yet; its nearest parent is on the same disk.
    return next(place for place in (folder, *folder.parents) if place.exists())
