"""Install and uninstall the hooks: plan, back up, write, validate, and roll back on errors."""

import compileall
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from pathlib import Path

import msgspec

from leftoff.errors import LeftoffError
from leftoff.hooks import installation, settle
from leftoff.store import disk
from leftoff.wiring import (
    agent_commands,
    backups,
    claude_status_line,
    foreign_files,
    mcp_wiring,
    try_programs,
)
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.foreign_files import FileChange
from leftoff.wiring.install_places import COMMANDS, Places, find_places

_WAIT_SECONDS = 30.0
_HOOK = "the program that hooks run"
_PYTHON = "names the Python for hooks"
_MARK = "keeps the plugin from running the hooks twice"
_SKILL = "SKILL.md"


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """A change that was made, with what is needed to undo it."""

    change: FileChange
    backup: Path | None
    folders: list[Path]


# --- planning ---


def plan_install(  # noqa: PLR0913 - each is a keyword
    places: Places,
    agents: Sequence[str] = ("claude",),
    *,
    events: Iterable[str] = (),
    with_commands: bool = False,
    with_mcp: bool = False,
    with_line: bool = False,
) -> list[FileChange]:
    """Return the changes that install every hook of some agents; empty if all are installed.

    `events` names the optional events that a profile needs; its users also get slash commands.
    """
    has_claude = "claude" in agents
    # Without a profile, only update the commands that are there already.
    commands = [
        path for path in places.commands if has_claude and (with_commands or path.is_file())
    ]
    skills = [path for path in places.skills if has_claude or not _is_for_claude(places, path)]
    wanted = [
        _own(places.hook, _HOOK, read_shipped_hook(), mode=0o755),
        _own(places.python, _PYTHON, installation.lines(), mode=0o600),
        *(_plan_page(places, path) for path in (*skills, *commands)),
        *(change for each in agents for change in WIRINGS[each].plan(places, wanted=events)),
        *(change for each in agents for change in agent_commands.plan(WIRINGS[each].table, places)),
        _own(places.mark, _MARK, b"", mode=0o600) if has_claude else None,
    ]
    changes = [change for change in wanted if change]
    changes += claude_status_line.plan(places, changes) if has_claude and with_line else []
    return [*changes, *mcp_wiring.plan(places, agents, changes, is_wanted=with_mcp)]


def plan_uninstall(places: Places) -> list[FileChange]:
    """Return the changes that remove everything except checkpoints and backups."""
    # The backups also name the projects that `init --scope project` wired.
    known = [Path(receipt.path) for receipt in backups.receipts(places.state)]
    commands = dict.fromkeys(path for path in known if path.name in COMMANDS)
    projects = [
        find_places(places.environment, path.parent.parent)
        for path in known
        if path.name == places.settings.name and path != places.settings
    ]
    # The settings come after: a folder that was created for them has to be empty by then.
    wanted: list[FileChange | None] = [
        change
        for each in WIRINGS.values()
        for change in (
            *agent_commands.plan_removal(each.table, places, known),
            *each.plan_removal(places, known),
        )
    ]
    wanted += claude_status_line.plan_removal(places, [change for change in wanted if change])
    wanted += mcp_wiring.plan_removal(places, known, [change for change in wanted if change])
    wanted += [_plan_removal(places, path) for path in (*places.skills, *commands)]
    wanted += [
        FileChange(path=path, what=what, before=foreign_files.read(path), after=None)
        for path, what in (
            *((mark, _MARK) for mark in dict.fromkeys(each.mark for each in (places, *projects))),
            (places.hook, _HOOK),
            (places.python, _PYTHON),
        )
    ]
    return [change for change in wanted if change and change.before != change.after]


def list_wanted_skills(places: Places) -> list[Path]:
    """List the skills that agents need: Claude Code's only if that is wired."""
    has_claude = WIRINGS["claude"].is_wired(places)
    return [path for path in places.skills if has_claude or not _is_for_claude(places, path)]


def _is_for_claude(places: Places, skill: Path) -> bool:
    return skill == places.skills[0]


def list_edited_skills(places: Places) -> list[Path]:
    """List the skills that the user edited; leftoff no longer changes them."""
    return [path for path in places.skills if _is_edited(places, path)]


def list_foreign_commands(places: Places) -> list[Path]:
    """List the slash commands of the same names that somebody else wrote; they stay."""
    return [path for path in places.commands if _is_edited(places, path)]


def _is_edited(places: Places, page: Path) -> bool:
    data = foreign_files.read(page)
    if data is None or data == read_shipped_page(page.name):
        return False
    return backups.original(places.state, page, data) is None


def read_shipped_hook() -> bytes:
    """Return this version's hook program."""
    return (resources.files("leftoff.hooks") / "letterbox.sh").read_bytes()


def read_shipped_page(name: str) -> bytes:
    """Return this version's skill or slash command."""
    folder = resources.files("leftoff") / "skill"
    return (folder / name if name == _SKILL else folder / "commands" / name).read_bytes()


def _own(path: Path, what: str, data: bytes, *, mode: int) -> FileChange | None:
    before = foreign_files.read(path)
    if before == data and path.stat().st_mode & 0o777 == mode:
        return None
    return FileChange(path=path, what=what, before=before, after=data, mode=mode)


def _plan_page(places: Places, page: Path) -> FileChange | None:
    data, before = read_shipped_page(page.name), foreign_files.read(page)
    if data == before or _is_edited(places, page):
        return None
    return _page_change(page, before, data)


def _plan_removal(places: Places, page: Path) -> FileChange | None:
    before = foreign_files.read(page)
    if before is None or _is_edited(places, page):
        return None
    was = backups.original(places.state, page, before)
    return _page_change(page, before, was.data if was else None)


def _page_change(page: Path, before: bytes | None, after: bytes | None) -> FileChange:
    what = "the skill for agents" if page.name == _SKILL else f"the command /{page.stem}"
    return FileChange(path=page, what=what, before=before, after=after, is_foreign=True)


# --- doing ---


def check_python() -> None:
    """Check that Python finds leftoff in isolated mode, which is how hooks run it."""
    answer = try_programs.ask([sys.executable, "-I", "-c", "import leftoff.hooks.settle"])
    if answer.code != 0:
        raise LeftoffError(
            f"Hooks cannot run leftoff with {sys.executable}: {answer.last_line}",
            hint="Install leftoff in its own environment, with "
            "`uv tool install leftoff-agents` or `pipx install leftoff-agents`.",
        )


def compile_package() -> bool:
    """Compile the package, so that no hook has to; return whether that worked."""
    folder = Path(__file__).resolve().parent.parent
    return bool(compileall.compile_dir(folder, quiet=2))


def install(places: Places, changes: Sequence[FileChange]) -> list[Done]:
    """Make the changes and validate the files on disk; undo everything if that fails."""

    def check(change: FileChange) -> None:
        wiring = WIRINGS.get(change.agent)
        if wiring is not None and not agent_commands.is_command(change, wiring.table):
            wiring.check(change, places)

    done = _make(places.state, changes, check)
    try:
        _note(places.state, done)
    except BaseException:
        _put_back(done)
        raise
    return done


def uninstall(places: Places, changes: Sequence[FileChange]) -> list[Done]:
    """Make the changes; undo everything if one fails."""
    # Process waiting events first: later nothing would, and they contain raw text.
    settle.run_apart(places.state, wait_seconds=_WAIT_SECONDS)
    folders = [_list_folders(places, change) for change in changes]
    done = _make(places.state, changes)
    for made in folders:
        foreign_files.remove_folders(made)
    return done


def _list_folders(places: Places, change: FileChange) -> list[Path]:
    """Return the folders that were created for a file that is now removed."""
    if change.after is not None or change.before is None or not change.is_foreign:
        return []
    was = backups.original(places.state, change.path, change.before)
    return was.folders if was else []


def _make(
    state: Path, changes: Sequence[FileChange], check: Callable[[FileChange], None] | None = None
) -> list[Done]:
    """Make the changes one by one; a later one may be about the same file."""
    done: list[Done] = []
    disk.ensure_folder(state)
    try:
        for change in changes:
            backup = None
            # The backup of a file is what it was before the first change to it.
            is_first = all(each.change.path != change.path for each in done)
            if is_first and change.is_foreign and change.before is not None:
                backup = backups.keep(state, change.path, change.before)
            folders = foreign_files.apply(change)
            done.append(Done(change=change, backup=backup, folders=folders))
            if check is not None:
                check(change)
    except BaseException:
        _put_back(done)
        raise
    return done


def _note(state: Path, done: list[Done]) -> None:
    for change in foreign_files.merge_changes([each.change for each in done]):
        first = next(each for each in done if each.change.path == change.path)
        if change.is_foreign:
            backups.note(state, change, first.backup, first.folders)


def _put_back(done: list[Done]) -> None:
    # In reverse: a folder can only be removed after the files that came later.
    for each in reversed(done):
        foreign_files.write_or_remove(each.change, each.change.before)
        foreign_files.remove_folders(each.folders)
