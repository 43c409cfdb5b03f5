"""Wire Codex: its hooks file, and the user's trust in the hooks, which leftoff only reads."""

import os
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from leftoff.agents.codex import hook_trust
from leftoff.agents.codex.codex_hook_table import TABLE
from leftoff.agents.codex.hook_trust import TrustState
from leftoff.errors import LeftoffError
from leftoff.processes import is_alive
from leftoff.wiring import foreign_files, settings_file
from leftoff.wiring.findings import DoctorFinding, World, fault, ok, warning
from leftoff.wiring.foreign_files import FileChange
from leftoff.wiring.group_wiring import GroupWiring
from leftoff.wiring.hook_groups import HookGroups
from leftoff.wiring.install_places import Places

_TRUST = "Start `codex` in a terminal. When it says that hooks need review, review and trust them."
_AGENT = TABLE.agent
# Any other key makes Codex ignore the whole file.
_KNOWN_KEYS = {"hooks", "description"}


class _Identity(msgspec.Struct, rename="camel"):
    start_ticks: float = 0.0


class _Daemon(msgspec.Struct, rename="camel"):
    """The file in which Codex's daemon names its process."""

    pid: int = 0
    process_identity: _Identity | None = None


class CodexWiring(GroupWiring):
    """Wires Codex."""

    def __init__(self) -> None:
        self._groups = HookGroups(TABLE)
        super().__init__(TABLE, self._groups, what="Codex's hooks")

    def plan_removal(self, places: Places, known: Sequence[Path]) -> list[FileChange]:
        """Remove the hooks, and what Codex noted about the user's trust in them."""
        changes = super().plan_removal(places, known)
        notes = [self._plan_distrust(change, places) for change in changes]
        return [*changes, *(change for change in notes if change is not None)]

    def check(self, change: FileChange, places: Places) -> None:
        """Raise an error if the hooks file is not as planned."""
        if change.path.name == TABLE.file:
            super().check(change, places)

    def is_active(self, places: Places) -> bool:
        """Return whether the hooks are wired and enabled, and the user trusts all of them."""
        states = {*self._read_trust(places).values()}
        is_on = not hook_trust.disables_hooks(self._read_config(places))
        return is_on and self.is_wired(places) and states == {"trusted"}

    def explain(self, places: Places) -> list[str]:
        """Say that Codex asks for trust, until it has it, or that its hooks are disabled."""
        config = self._read_config(places)
        if hook_trust.disables_hooks(config):
            path = self._find_config(places)
            return [f"features.hooks is false in {path}: hooks will not run until you change that."]
        notes = []
        states = self._read_trust(places)
        if not states or any(state != "trusted" for state in states.values()):
            notes.append(
                "Codex does not run new hooks until you trust them. Start `codex`. It says that "
                "hooks need review: choose `Review hooks` to look at each command, or `Trust all`. "
                "Until then, `codex exec` skips them silently. `leftoff doctor` shows the state."
            )
        if hook_trust.has_inline_hooks(config):
            notes.append(
                f"{self._find_config(places)} also names hooks. Codex runs both, and warns "
                "about it at each start."
            )
        return notes

    def inspect(self, world: World) -> Iterator[DoctorFinding]:
        """Check the file, the user's trust, and whether the daemon is running."""
        yield from super().inspect(world)
        if not self.is_wired(world.places):
            return
        yield from self._inspect_file(world)
        if hook_trust.disables_hooks(self._read_config(world.places)):
            yield warning(
                _AGENT,
                f"features.hooks is false in {self._find_config(world.places)}",
                why="Codex does not run any hooks.",
                do="Remove that line from the file.",
            )
        else:
            yield _describe_trust(self._read_trust(world.places))
        if pid := _find_daemon(world.places.environment.find_config_folder(_AGENT)):
            yield ok(
                _AGENT,
                f"Its daemon is running (process {pid}): sessions keep running there after you "
                "close the terminal, and end a minute later",
            )

    def _inspect_file(self, world: World) -> Iterator[DoctorFinding]:
        path = self.find_file(world.places)
        unknown = sorted({*self._read_values(path)} - _KNOWN_KEYS)
        if unknown:
            yield fault(
                _AGENT,
                f"{path} has a key that Codex does not know: {', '.join(unknown)}",
                why="Codex ignores the whole file.",
                do="Remove the key.",
            )

    def _find_config(self, places: Places) -> Path:
        return places.environment.find_config_folder(_AGENT) / "config.toml"

    def _read_config(self, places: Places) -> bytes | None:
        return foreign_files.read(self._find_config(places))

    def _read_values(self, path: Path) -> dict[str, object]:
        values = settings_file.parse(foreign_files.read(path), path, title=TABLE.title).values
        return values if isinstance(values, dict) else {}

    def _read_trust(self, places: Places) -> dict[str, TrustState]:
        """Return the state of each of leftoff's hooks, by event."""
        path, named = self.find_file(places), _name_file(places, self.find_file(places))
        state = hook_trust.read_state(self._read_config(places))
        try:
            values = self._read_values(path)
        except LeftoffError:
            return {}
        return {
            event: hook_trust.judge(
                state.get(hook_trust.build_key(named, event, group, place)),
                hook_trust.hash_hook(event, handler, matcher),
            )
            for event, group, place, handler, matcher in hook_trust.list_handlers(values)
            if self._groups.is_ours(handler.get("command"), places.hook)
        }

    def _plan_distrust(self, change: FileChange, places: Places) -> FileChange | None:
        """Return the change that removes our hooks' entries from Codex's configuration."""
        config = change.path.with_name("config.toml")
        before = foreign_files.read(config)
        if before is None or change.before is None:
            return None
        values = settings_file.parse(change.before, change.path).values
        # It may be an earlier folder, for which the variable was set or not.
        names = {change.path, _resolve_folder(change.path)}
        keys = {
            hook_trust.build_key(name, event, group, place)
            for event, group, place, handler, _ in hook_trust.list_handlers(values)
            if self._groups.is_ours(handler.get("command"), places.hook)
            for name in names
        }
        after = _forget(before, keys)
        if after == before:
            return None
        return FileChange(
            path=config,
            what="Codex's notes about your trust in the hooks",
            before=before,
            after=after or None,
            is_foreign=True,
            agent=_AGENT,
        )


def _name_file(places: Places, path: Path) -> Path:
    """Return the path under which Codex notes trust: it resolves a folder that CODEX_HOME names."""
    is_named = places.environment.find_folder("CODEX_HOME") is not None
    return _resolve_folder(path) if is_named else path


def _resolve_folder(path: Path) -> Path:
    """Return a path with links in its folder followed; the file itself may be a link."""
    return Path(os.path.realpath(path.parent), path.name)


def _forget(before: bytes, keys: set[str]) -> bytes:
    """Return the configuration without these entries; unchanged if anything else would change."""
    try:
        text = before.decode()
        after = hook_trust.remove_entries(text, keys)
        was, now = tomllib.loads(text), tomllib.loads(after)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return before
    hooks = was.get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    if isinstance(hooks, dict) and isinstance(state, dict):
        hooks["state"] = {key: value for key, value in state.items() if key not in keys}
        if not hooks["state"]:
            del hooks["state"]
        if not hooks:
            del was["hooks"]
    return after.encode() if was == now else before


def _describe_trust(states: dict[str, TrustState]) -> DoctorFinding:
    found = {*states.values()}
    if "modified" in found:
        return warning(
            _AGENT,
            "Its hooks have changed since you trusted them",
            why="Codex skips them silently.",
            do=_TRUST,
        )
    if "untrusted" in found:
        return warning(
            _AGENT,
            "You have not trusted its hooks yet",
            why="Codex skips them silently.",
            do=_TRUST,
        )
    if "disabled" in found:
        return warning(
            _AGENT,
            "Its hooks are disabled in Codex",
            why="Its sessions are not saved automatically.",
            do="Start `codex`, run /hooks and enable them.",
        )
    return ok(_AGENT, "You trust its hooks")


def _find_daemon(folder: Path) -> int:
    """Return the process of Codex's daemon; 0 if it is not running."""
    try:
        data = (folder / "app-server-daemon" / "daemon.pid").read_bytes()
        found = msgspec.json.decode(data, type=_Daemon)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return 0
    began = found.process_identity.start_ticks if found.process_identity else 0.0
    return found.pid if found.pid > 0 and is_alive(found.pid, began) else 0
