"""Load and change settings, and record where each value comes from."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import msgspec

from leftoff import consent, profiles
from leftoff.checkpoint import explain_error
from leftoff.errors import LeftoffError, StoreRefused, UsageError
from leftoff.projects.project import Project, leads_out
from leftoff.store import disk

if TYPE_CHECKING:
    from leftoff.context import Environment

ProfileName = Literal["default", "guardz", "openclaw", "sail", "quoin", "harness"]


QualityRule = Literal[
    "task", "progress", "next-action", "blockers", "decisions", "paths", "name", "raw-chat", "size"
]  # fmt: skip


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings with their defaults; a profile can change these defaults."""

    budget: Annotated[int, msgspec.Meta(ge=100)] = 1500
    on_resume: Literal["keep", "consume"] = "keep"
    on_decline: Literal["keep", "trash"] = "keep"
    confirm: Literal["never", "ask", "always"] = "ask"
    naming: Literal["ask", "auto", "required"] = "ask"
    names: Literal["kebab", "plain"] = "kebab"
    same_name: Literal["ask", "always", "revise"] = "ask"
    questions: bool = False
    noise: Literal["silent", "line", "full", "box", "report", "panel"] = "full"
    content: Literal["notes", "paths"] = "notes"
    strict: bool = False
    quality: list[QualityRule] = msgspec.field(default_factory=lambda: [*get_args(QualityRule)])
    next_action: Literal["any", "stated"] = "any"
    advise_at: float = 70.0
    autosave_at: float = 70.0
    autosave_from: Literal["low", "medium", "high", "critical"] = "low"
    autosave_pause: float = 0.0
    urge_at: float = 75.0
    fresh_at: float = 90.0
    capture_at: float = 95.0
    prompts: Literal["keep", "block"] = "keep"
    compaction: Literal["allow", "wait", "block"] = "allow"
    guard: Literal["off", "warn", "block"] = "off"
    safety: Literal["off", "on"] = "off"
    start_budget: int = 400
    offer_days: int = 14
    offers: Literal["all", "saved", "latest"] = "all"
    buffer_at: float = 60.0
    notes: Literal["project", "worktree", "profile"] = "project"
    note_prompts: bool = False
    memory_budget: int = 1000
    briefing_file: str = ""
    reflect: bool = True
    reflect_at: Literal["low", "medium", "high", "never"] = "high"
    verify: list[str] = []
    not_secret: list[str] = []
    advise_clear: bool = False
    snapshots: Literal["off", "on"] = "on"
    snapshot_limit: Annotated[int, msgspec.Meta(ge=1)] = 500
    profile: ProfileName = "default"
    mirror: list[Literal["guardz", "openclaw", "sail", "quoin", "harness"]] = []

    def follows(self, name: str) -> bool:
        """Return whether the project follows or mirrors this system."""
        return name == self.profile or name in self.mirror


HELP = {
    "budget": "Maximum tokens of a briefing.",
    "on_resume": "What to do with a checkpoint after resuming it: keep or consume.",
    "on_decline": "What to do with a checkpoint after you decline it: keep or trash.",
    "confirm": "When to ask before resuming: never, ask (on a terminal) or always "
    "(even with --accept).",
    "naming": "What to do when a save has no name: ask, auto (make one) or required "
    "(refuse; kebab-case only).",
    "names": "How to spell names: kebab (words and dashes), or plain (as typed, in lowercase).",
    "same_name": "What to do when a name is in use: ask (unless it is this session's work), always "
    "(ask), or revise (save a new revision).",
    "questions": "Ask for the task, decisions and next action when a save gives no summary.",
    "noise": "What a save prints: silent, line, full, box, report or panel.",
    "content": "What a checkpoint keeps of its artifacts: notes (and paths), or paths only.",
    "strict": "Refuse to save below the quality bar, instead of warning.",
    "quality": "Rules of the quality bar that a save warns about.",
    "next_action": "Which next action to save: any, or stated (never one inferred from "
    "the session).",
    "advise_at": "Context use in percent at which leftoff advises the agent to save.",
    "autosave_at": "Context use in percent above which leftoff saves automatically.",
    "autosave_from": "Lowest priority that triggers an autosave: low, medium, high or critical.",
    "autosave_pause": "Minutes after an autosave in which only a critical signal saves again.",
    "urge_at": "Context use in percent at which the advice gets stronger.",
    "fresh_at": "Context use in percent at which leftoff advises compacting or a new session.",
    "capture_at": "Context use in percent at which leftoff starts to queue every prompt.",
    "prompts": "What to do with prompts at capture_at: keep a copy, or block them.",
    "compaction": "How to treat an automatic compaction: allow, wait (until all is "
    "saved) or block.",
    "guard": "How to treat tool calls as the context fills up: off, warn, or block (until a save).",
    "safety": "Deny commands that destroy work, such as a force push: off or on.",
    "start_budget": "Maximum tokens of the offer at session start.",
    "offer_days": "How many days to offer an autosave at session start.",
    "offers": "Which open checkpoints to offer: all, saved (autosaves only if there is nothing "
    "else), or the latest saved one.",
    "buffer_at": "Context use in percent at which leftoff starts to keep requests verbatim.",
    "notes": "Where to keep SESSION-STATE.md: project (beside its checkpoints), "
    "worktree, or profile.",
    "note_prompts": "Scan prompts for facts that belong in SESSION-STATE.md.",
    "memory_budget": "Maximum tokens of the memory briefing at session start; 0 turns it off.",
    "briefing_file": "File to keep the memory briefing in; new sessions get its contents.",
    "reflect": "Turn your corrections into rules.",
    "reflect_at": "Lowest confidence for a correction to become a rule at once: low, "
    "medium, high, or never (all wait for review).",
    "verify": "Commands that ship runs before it commits, one per line.",
    "not_secret": "Patterns of files that ship commits even if they look like secrets.",
    "advise_clear": "Advise you to clear the agent's context at the end of a save or ship panel.",
    "snapshots": "Keep uncommitted code that commands could destroy: off or on.",
    "snapshot_limit": "Maximum size of a project's snapshots in megabytes.",
    "profile": "System to follow: default, guardz, openclaw, sail, quoin or harness.",
    "mirror": "Profiles to write files for after each save; none for no files "
    "(default: the profile in use).",
}


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A setting's value and its source."""

    key: str
    value: Any
    source: str


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """The settings in force; `problems` lists the values and files that were ignored."""

    settings: Settings
    values: list[Value]
    problems: list[str] = []
    pending: list[Value] = []
    """The project's values that need the user's consent."""

    @property
    def ignored_checks(self) -> list[str]:
        """Problems of checks that only `ship` would run: most commands need not repeat them."""
        return [_explain_not_allowed(each) for each in self.pending if each.key == _FOR_SHIP]


def find_project_file(project: Project) -> Path:
    """Return the project's configuration file; it is in the store, which git does not clone."""
    return project.store / _FILE


_FILE = "config.toml"
_FOR_SHIP = "verify"
# Every command and hook reads these files, so a huge one must not slow them down.
_MAX_BYTES = 1_000_000


def load(project: Project) -> Loaded:
    """Load the settings from defaults, the profile, both files and the environment."""
    return _load(project.environment, project)


def load_outside(environment: "Environment") -> Loaded:
    """Load the settings that apply outside a project."""
    return _load(environment, None)


def _load(environment: "Environment", project: Project | None) -> Loaded:
    defaults = msgspec.structs.asdict(Settings())
    values = {key: Value(key=key, value=value, source="default") for key, value in defaults.items()}
    problems: list[str] = []
    pending: list[Value] = []
    found = _collect_values(environment, project, problems)
    defaults_of_profile = _list_profile_defaults(found, project)
    native = _list_native_values(defaults_of_profile, found, project)
    foreign = {source for _, _, source in native}
    for key, value, source in [*defaults_of_profile, *native, *found]:
        try:
            new = Value(key=key, value=_parse_value(key, value), source=source)
        except UsageError as error:
            problems.append(f"{source}: {error.message}")
            continue
        is_theirs = source in foreign or (project and _is_of_project(source, project))
        if project is None or not is_theirs or new.value == values[key].value:
            values[key] = new
        elif (problem := _refuse_leading_out(new, project)) is not None:
            problems.append(problem)
        elif _is_pending(new, project):
            pending.append(new)
            problems += [] if key == _FOR_SHIP else [_explain_not_allowed(new)]
        else:
            values[key] = new
    settings = Settings(**{key: each.value for key, each in values.items()})
    settings = _drop_linked_profiles(settings, project, problems)
    return Loaded(
        settings=settings, values=list(values.values()), problems=problems, pending=pending
    )


def _drop_linked_profiles(
    settings: Settings, project: Project | None, problems: list[str]
) -> Settings:
    """Ignore a profile whose folder in the project is a link that leads outside."""
    named = {settings.profile, *settings.mirror} - {"default"}
    if project is None or not named:
        return settings
    out = {name for name in named if leads_out(profiles.load(name).home(project))}
    for name in sorted(out):
        place = profiles.load(name).home(project)
        problems.append(f"{place} points outside the project, so leftoff ignores the {name} files")
    mirror = [name for name in settings.mirror if name not in out]
    # Working notes may be kept in the profile's folder, which must not be used either.
    notes = "project" if settings.profile in out else settings.notes
    return msgspec.structs.replace(settings, mirror=mirror, notes=notes) if out else settings


def _is_of_project(source: str, project: Project) -> bool:
    return source in map(str, _list_project_files(project))


def _is_pending(value: Value, project: Project) -> bool:
    return (
        value.key in consent.GUARDED
        and (value.key, value.value) != ("safety", "on")  # it only forbids more
        and consent.is_needed(project)
        and not consent.is_given(project, value.key, value.value)
    )


def _awaits_consent(profile: Any, source: str, project: Project | None) -> bool:
    """Return whether the project chose a profile that the user has not allowed."""
    if project is None or not _is_of_project(source, project) or not isinstance(profile, str):
        return False
    return _is_pending(Value(key="profile", value=profile, source=source), project)


def _explain_not_allowed(value: Value) -> str:
    return (
        f"{value.source}: {value.key} is ignored because you have not allowed it on this machine; "
        f"run `leftoff config allow {value.key}` to see and allow it"
    )


def _refuse_leading_out(value: Value, project: Project) -> str | None:
    """Return why a project's value is refused if it names a file outside the project."""
    if value.key != "briefing_file" or not value.value.strip():
        return None
    target = os.path.normpath(project.worktree / value.value)
    inside = [project.worktree, project.store]
    if not Path(value.value).is_absolute() and any(map(Path(target).is_relative_to, inside)):
        return None
    return (
        f"{value.source}: {value.key} is ignored because it points outside the project; "
        "only your own settings can name such a file"
    )


def set_for(project: Project, key: str, value: str) -> None:
    """Set a key for a project; setting a value also counts as consent to it."""
    checked = _parse_value(key, value)
    if problem := _refuse_leading_out(
        Value(key=key, value=checked, source="This project"), project
    ):
        # Without the source at the start of the message: the user just typed the value.
        raise UsageError(problem.partition(": ")[2], hint="Drop --project to set it for yourself.")
    file = find_project_file(project)
    before = dict(_read_table(file, [], is_own=False))
    write(file, key, value)
    if (key, checked) == ("profile", "default") and "mirror" in before:
        _stop_mirroring(project, before["mirror"], before.get("profile"))
    if key in consent.GUARDED:
        consent.give(project, key, checked)


def _stop_mirroring(project: Project, mirror: Any, profile: Any) -> None:
    """End the files of a profile, which `init` of 0.1 listed; keep those that somebody chose."""
    kept = [name for name in _parse_value("mirror", mirror) if name != profile]
    if kept:
        set_for(project, "mirror", ",".join(kept))
    else:
        write(find_project_file(project), "mirror", None)


def write(path: Path, key: str, value: str | None, *, is_own: bool = False) -> None:
    """Set or unset a key in a configuration file; leave the rest of the file unchanged.

    `is_own` is for the user's own file, which may be a link. A project's file may not.
    """
    import tomlkit  # noqa: PLC0415 - 9 ms, and only this function needs it

    if key not in HELP:
        raise _refuse_unknown(key)
    try:
        document = tomlkit.parse(_read_text(path, is_own=is_own, limit=None))
    except ValueError as error:
        raise LeftoffError(
            f"{path} is not valid TOML: {error}", hint="Fix it by hand, then try again."
        ) from error
    if value is not None:
        document[key] = _parse_value(key, value)
    else:
        document.pop(key, None)
    if is_own:
        # Dotfile managers link to the real file: write to that, so the link stays.
        path = path.resolve()
    disk.ensure_folder(path.parent)
    disk.replace(path, tomlkit.dumps(document).encode(), temps=path.parent)


def format_value(value: Any) -> str:
    """Format a value as in a configuration file."""
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _list_project_files(project: Project) -> list[Path]:
    """List the project's file, and those of earlier stores that have not moved here yet."""
    return [store / _FILE for store in (*project.earlier, project.store)]


def _collect_values(
    environment: "Environment", project: Project | None, problems: list[str]
) -> list[tuple[str, Any, str]]:
    files = [environment.config_file, *(_list_project_files(project) if project else [])]
    found = [
        (key, value, str(path))
        for path in files
        for key, value in _read_table(path, problems, is_own=path == environment.config_file)
    ]
    named = ((key, environment.find_setting(key)) for key in HELP)
    found += [(key, text, f"environment LEFTOFF_{key.upper()}") for key, text in named if text]
    return found


def _list_profile_defaults(
    found: Sequence[tuple[str, Any, str]], project: Project | None
) -> list[tuple[str, Any, str]]:
    """Return the defaults of the profile in force; it mirrors its own files by default."""
    named = [
        value
        for key, value, source in found
        if key == "profile" and not _awaits_consent(value, source, project)
    ]
    # A file may contain any type here; the later check reports one that is not a name.
    if not named or named[-1] not in [*profiles.PROFILES]:
        return []
    defaults = {"mirror": [named[-1]], **profiles.load(named[-1]).SETTINGS}
    return [(key, value, f"{_PROFILE} {named[-1]}") for key, value in defaults.items()]


def _list_native_values(
    defaults: Sequence[tuple[str, Any, str]],
    found: Sequence[tuple[str, Any, str]],
    project: Project | None,
) -> list[tuple[str, Any, str]]:
    """Return what the profile's own settings file says, except for what leftoff's files set.

    It is part of the repository, so it needs the same consent as the project's settings.
    """
    if project is None or not defaults:
        return []
    name = defaults[0][2].removeprefix(f"{_PROFILE} ")
    native = profiles.read_native_settings(name, project)
    if native is None:
        return []
    ours = {key for key, _, _ in found}
    return [(key, value, str(native[0])) for key, value in native[1].items() if key not in ours]


def is_of_profile(value: Value) -> bool:
    """Return whether a value is a default of the profile."""
    return value.source.partition(" ")[0] == _PROFILE


_PROFILE = "profile"


def _read_table(path: Path, problems: list[str], *, is_own: bool) -> list[tuple[str, Any]]:
    try:
        text = _read_text(path, is_own=is_own)
    except (OSError, ValueError, StoreRefused) as error:
        problems.append(f"{path} cannot be read and is ignored: {error}")
        return []
    if not text.strip():
        return []
    import tomllib  # noqa: PLC0415 - 2 ms, and most users have no file to read

    try:
        return list(tomllib.loads(text).items())
    except ValueError as error:
        problems.append(f"{path} is not valid TOML and is ignored: {error}")
        return []


def _read_text(path: Path, *, is_own: bool, limit: int | None = _MAX_BYTES) -> str:
    """Read a settings file; only the user's own may be a link."""
    if not is_own:
        return disk.read_from(path, 0, limit=limit).decode()
    # Reading a FIFO would block forever.
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return file.read(limit).decode()


def _parse_value(key: str, value: Any) -> Any:
    if key not in HELP:
        raise _refuse_unknown(key)
    if isinstance(value, str) and isinstance(getattr(Settings(), key), list):
        # Commands contain spaces and commas, so `verify` is split by lines only.
        between = r"\n" if key == "verify" else r"[,\s]+"
        # Also accept a list as it is written in a file: ["one", "two"].
        value = re.sub(r"[][\"']", " ", value) if key == "mirror" else value
        value = "" if value.strip() == format_value([]) else value
        value = [each.strip() for each in re.split(between, value) if each.strip()]
    try:
        return getattr(msgspec.convert({key: value}, Settings, strict=False), key)
    except msgspec.ValidationError as error:
        why = explain_error(error)
        # For a word that is not one of the choices, it only says that it is invalid.
        reason = "" if why.startswith("Invalid value") else f": {why}"
        raise UsageError(f"Invalid value {value!r} for {key}{reason}", hint=HELP[key]) from error


def _refuse_unknown(key: str) -> UsageError:
    known = ", ".join(HELP)
    return UsageError(f"Unknown setting {key!r}.", hint=f"The settings are {known}.")
