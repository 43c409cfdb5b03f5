"""Installing and uninstalling: plan, back up, write, validate, and put all back on trouble."""

import compileall
import sys
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path

import msgspec

from leftoff.environment import Environment
from leftoff.errors import LeftoffError
from leftoff.hooks import installation, replies, settle
from leftoff.store import disk
from leftoff.wiring import backups, foreign_files, settings_file, try_programs
from leftoff.wiring.foreign_files import FileChange

_WAIT_SECONDS = 30.0
_HOOK = "the program that hooks run"
_PYTHON = "which Python hooks run"
_MARK = "tells the plugin not to run the hooks twice"


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """Where everything goes."""

    environment: Environment
    state: Path
    settings: Path
    skills: tuple[Path, ...]
    """The skill, once where Claude Code looks and once where other agents do."""
    project: Path | None = None
    """The folder of the project whose settings are meant, if not the user's own."""

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
        """The file by which hooks of a plugin know that those in the settings do the work."""
        folder = replies.place_of(self.state, self.project) if self.project else self.state
        return folder / "wired.claude"


def find_places(environment: Environment, project: Path | None = None) -> Places:
    """Tell where everything goes: the user's own settings, or those of a project's folder."""
    folder = project / ".claude" if project else environment.find_agent_folder("claude")
    return Places(
        environment=environment,
        state=environment.state_folder,
        settings=folder / "settings.json",
        skills=tuple(each / "leftoff" / "SKILL.md" for each in environment.list_skill_folders()),
        project=project,
    )


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """A change that was made, with what it takes to put the file back."""

    change: FileChange
    backup: Path | None
    folders: list[Path]


# --- planning ---


def plan_install(places: Places, *, events: Iterable[str] = ()) -> list[FileChange]:
    """Tell what must change so that every hook is in place; nothing if all is.

    `events` are kinds of events that a profile needs beyond those that all do.
    """
    wanted = [
        _own(places.hook, _HOOK, read_shipped_hook(), mode=0o755),
        _own(places.python, _PYTHON, installation.lines(), mode=0o600),
        *(_skill(places, path) for path in places.skills),
        _plan_wiring(places, events),
        _own(places.mark, _MARK, b"", mode=0o600),
    ]
    return [change for change in wanted if change]


def plan_uninstall(places: Places) -> list[FileChange]:
    """Tell what must change so that nothing of leftoff is left but checkpoints and backups."""
    known = [Path(receipt.path) for receipt in backups.receipts(places.state)]
    wired = dict.fromkeys([places.settings, *(p for p in known if p not in places.skills)])
    projects = [
        find_places(places.environment, path.parent.parent)
        for path in wired
        if path != places.settings
    ]
    wanted = [_plan_unwiring(places, path) for path in wired]
    wanted += [_without_skill(places, path) for path in places.skills]
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
    """List the skills that someone edited, so that they are theirs now."""
    return [path for path in places.skills if _is_edited(places, path)]


def _is_edited(places: Places, skill: Path) -> bool:
    data = foreign_files.read(skill)
    if data is None or data == read_shipped_skill():
        return False
    return backups.original(places.state, skill, data) is None


def has_hooks_disabled(places: Places) -> bool:
    """Say whether the user told Claude Code to run no hooks at all."""
    values = settings_file.parse(foreign_files.read(places.settings), places.settings).values
    return isinstance(values, dict) and values.get("disableAllHooks") is True


def read_shipped_hook() -> bytes:
    """Return the letterbox as this version ships it."""
    return (resources.files("leftoff.hooks") / "letterbox.sh").read_bytes()


def read_shipped_skill() -> bytes | None:
    """Return the skill as this version ships it, if it does."""
    skill = resources.files("leftoff") / "skill" / "SKILL.md"
    return skill.read_bytes() if skill.is_file() else None


def _own(path: Path, what: str, data: bytes, *, mode: int) -> FileChange | None:
    before = foreign_files.read(path)
    if before == data and path.stat().st_mode & 0o777 == mode:
        return None
    return FileChange(path=path, what=what, before=before, after=data, mode=mode)


def _skill(places: Places, skill: Path) -> FileChange | None:
    data, before = read_shipped_skill(), foreign_files.read(skill)
    if data in {None, before} or _is_edited(places, skill):
        return None
    return FileChange(
        path=skill, what="the skill for agents", before=before, after=data, is_foreign=True
    )


def _without_skill(places: Places, skill: Path) -> FileChange | None:
    before = foreign_files.read(skill)
    if before is None or _is_edited(places, skill):
        return None
    was = backups.original(places.state, skill, before)
    return FileChange(
        path=skill,
        what="the skill for agents",
        before=before,
        after=was.data if was else None,
        is_foreign=True,
    )


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
    was = backups.original(places.state, path, before)
    if was is not None and not settings_file.parse(was.data, path).wires(places.hook):
        return _settings_change(path, before, was.data)
    return _settings_change(path, before, now.remove_hooks(places.hook))


def _settings_change(path: Path, before: bytes | None, after: bytes | None) -> FileChange:
    what = "the settings of Claude Code"
    return FileChange(path=path, what=what, before=before, after=after, is_foreign=True)


# --- doing ---


def check_python() -> None:
    """Make sure that hooks, which run Python isolated from its environment, will find leftoff."""
    answer = try_programs.ask([sys.executable, "-I", "-c", "import leftoff.hooks.settle"])
    if answer.code != 0:
        raise LeftoffError(
            f"Hooks could not run leftoff with {sys.executable}: {answer.last_line}",
            hint="Install leftoff into an environment of its own, as `uv tool install` and "
            "`pipx install` do.",
        )


def compile_package() -> bool:
    """Write byte code beforehand, so that no hook has to; say whether it could be written."""
    folder = Path(__file__).resolve().parent.parent
    return bool(compileall.compile_dir(folder, quiet=2))


def install(places: Places, changes: Sequence[FileChange]) -> list[Done]:
    """Make the changes of a plan and validate what is on disk; on trouble put all back."""
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
    """Make the changes of a plan; on trouble put all back."""
    # Nobody would settle what still waits, and it is raw text.
    settle.run_apart(places.state, wait_seconds=_WAIT_SECONDS)
    folders = [_folders(places, change) for change in changes]
    done = _make(places.state, changes)
    for made in folders:
        foreign_files.remove_folders(made)
    return done


def _folders(places: Places, change: FileChange) -> list[Path]:
    """Return the folders that were made for a file that goes again."""
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
    for each in reversed(done):
        foreign_files.put(each.change, each.change.before)
        foreign_files.remove_folders(each.folders)
