"""Install and uninstall the hooks: plan, back up, write, validate, and roll back on errors."""

import compileall
import sys
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path

import msgspec

from leftoff.context import Environment
from leftoff.errors import LeftoffError
from leftoff.hooks import installation, replies, settle
from leftoff.store import disk
from leftoff.wiring import backups, foreign_files, settings_file, try_programs
from leftoff.wiring.foreign_files import FileChange

_WAIT_SECONDS = 30.0
_HOOK = "the program that hooks run"
_PYTHON = "names the Python for hooks"
_MARK = "keeps the plugin from running the hooks twice"
_SKILL = "SKILL.md"
_COMMANDS = ("checkpoint.md", "continue.md", "dashboard.md")


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """The paths of everything that leftoff installs."""

    environment: Environment
    state: Path
    settings: Path
    skills: tuple[Path, ...]
    """The skill: one copy for Claude Code and one for other agents."""
    commands: tuple[Path, ...] = ()
    """The slash commands that come with a profile."""
    project: Path | None = None
    """The project whose settings to change; None for the user's own settings."""

    @property
    def hook(self) -> Path:
        """The program that hooks run."""
        return self.state / "hook"

    @property
    def python(self) -> Path:
        """The file that names the Python for hooks."""
        return self.state / "python"

    @property
    def mark(self) -> Path:
        """The file that makes the plugin's hooks defer to those in the settings."""
        folder = replies.place_of(self.state, self.project) if self.project else self.state
        return folder / "wired.claude"


def find_places(environment: Environment, project: Path | None = None) -> Places:
    """Return where to install: in the user's settings, or in those of a project."""
    folder = project / ".claude" if project else environment.find_agent_folder("claude")
    return Places(
        environment=environment,
        state=environment.state_folder,
        settings=folder / "settings.json",
        skills=tuple(each / "leftoff" / "SKILL.md" for each in environment.list_skill_folders()),
        commands=tuple(folder / "commands" / name for name in _COMMANDS),
        project=project,
    )


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """A change that was made, with what is needed to undo it."""

    change: FileChange
    backup: Path | None
    folders: list[Path]


# --- planning ---


def plan_install(
    places: Places, *, events: Iterable[str] = (), with_commands: bool = False
) -> list[FileChange]:
    """Return the changes that install every hook; empty if all are installed.

    `events` names the optional events that a profile needs; its users also get slash commands.
    """
    # Without a profile, only update the commands that are there already.
    commands = [path for path in places.commands if with_commands or path.is_file()]
    wanted = [
        _own(places.hook, _HOOK, read_shipped_hook(), mode=0o755),
        _own(places.python, _PYTHON, installation.lines(), mode=0o600),
        *(_plan_page(places, path) for path in (*places.skills, *commands)),
        _plan_wiring(places, events),
        _own(places.mark, _MARK, b"", mode=0o600),
    ]
    return [change for change in wanted if change]


def plan_uninstall(places: Places) -> list[FileChange]:
    """Return the changes that remove everything except checkpoints and backups."""
    # The backups also name the projects that `init --scope project` wired.
    known = [Path(receipt.path) for receipt in backups.receipts(places.state)]
    settings = [path for path in known if path.name == places.settings.name]
    wired = dict.fromkeys([places.settings, *settings])
    commands = dict.fromkeys(path for path in known if path.name in _COMMANDS)
    projects = [
        find_places(places.environment, path.parent.parent)
        for path in wired
        if path != places.settings
    ]
    wanted = [_plan_unwiring(places, path) for path in wired]
    wanted += [_plan_removal(places, path) for path in (*places.skills, *commands)]
    wanted += [
        FileChange(path=path, what=what, before=foreign_files.read(path), after=None)
        for path, what in (
            *((each.mark, _MARK) for each in (places, *projects)),
            (places.hook, _HOOK),
            (places.python, _PYTHON),
        )
    ]
    return [change for change in wanted if change and change.before != change.after]


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


def has_hooks_disabled(places: Places) -> bool:
    """Return whether the settings disable all hooks of Claude Code."""
    values = settings_file.parse(foreign_files.read(places.settings), places.settings).values
    return isinstance(values, dict) and values.get("disableAllHooks") is True


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


def _plan_wiring(places: Places, events: Iterable[str]) -> FileChange | None:
    before = foreign_files.read(places.settings)
    after = settings_file.parse(before, places.settings).add_hooks(places.hook, wanted=events)
    if after == before:
        return None
    foreign_files.check_writable(places.settings)
    return _settings_change(places.settings, before, after)


def _plan_unwiring(places: Places, path: Path) -> FileChange | None:
    before = foreign_files.read(path)
    now = settings_file.parse(before, path)
    if before is None or not now.wires(places.hook):
        return None
    foreign_files.check_writable(path)
    # Restore the original byte for byte if nobody else edited the file since.
    was = backups.original(places.state, path, before)
    if was is not None and not settings_file.parse(was.data, path).wires(places.hook):
        return _settings_change(path, before, was.data)
    return _settings_change(path, before, now.remove_hooks(places.hook))


def _settings_change(path: Path, before: bytes | None, after: bytes | None) -> FileChange:
    what = "Claude Code's settings"
    return FileChange(path=path, what=what, before=before, after=after, is_foreign=True)


# --- doing ---


def check_python() -> None:
    """Check that Python finds leftoff in isolated mode, which is how hooks run it."""
    answer = try_programs.ask([sys.executable, "-I", "-c", "import leftoff.hooks.settle"])
    if answer.code != 0:
        raise LeftoffError(
            f"Hooks cannot run leftoff with {sys.executable}: {answer.last_line}",
            hint="Install leftoff in its own environment, with `uv tool install` or "
            "`pipx install`.",
        )


def compile_package() -> bool:
    """Compile the package, so that no hook has to; return whether that worked."""
    folder = Path(__file__).resolve().parent.parent
    return bool(compileall.compile_dir(folder, quiet=2))


def install(places: Places, changes: Sequence[FileChange]) -> list[Done]:
    """Make the changes and validate the files on disk; undo everything if that fails."""
    done = _make(places.state, changes)
    try:
        for change in changes:
            if change.path == places.settings:
                _check(change, places)
        _note(places.state, done)
    except BaseException:
        _put_back(done)
        raise
    return done


def _check(change: FileChange, places: Places) -> None:
    was = settings_file.parse(change.before, change.path)
    now = settings_file.parse(foreign_files.read(change.path), change.path)
    settings_file.check_result(was, now, places.hook)


def uninstall(places: Places, changes: Sequence[FileChange]) -> list[Done]:
    """Make the changes; undo everything if one fails."""
    # Process waiting events first: later nothing would, and they contain raw text.
    settle.run_apart(places.state, wait_seconds=_WAIT_SECONDS)
    folders = [_folders(places, change) for change in changes]
    done = _make(places.state, changes)
    for made in folders:
        foreign_files.remove_folders(made)
    return done


def _folders(places: Places, change: FileChange) -> list[Path]:
    """Return the folders that were created for a file that is now removed."""
    if change.after is not None or change.before is None or not change.is_foreign:
        return []
    was = backups.original(places.state, change.path, change.before)
    return was.folders if was else []


def _make(state: Path, changes: Sequence[FileChange]) -> list[Done]:
    done: list[Done] = []
    disk.ensure_folder(state)
    try:
        for change in changes:
            backup = None
            if change.is_foreign and change.before is not None:
                backup = backups.keep(state, change.path, change.before)
            folders = foreign_files.apply(change)
            done.append(Done(change=change, backup=backup, folders=folders))
    except BaseException:
        _put_back(done)
        raise
    return done


def _note(state: Path, done: list[Done]) -> None:
    for each in done:
        if each.change.is_foreign:
            backups.note(state, each.change, each.backup, each.folders)


def _put_back(done: list[Done]) -> None:
    # In reverse: a folder can only be removed after the files that came later.
    for each in reversed(done):
        foreign_files.write_or_remove(each.change, each.change.before)
        foreign_files.remove_folders(each.folders)
