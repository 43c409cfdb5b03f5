"""Claude Code's settings as a file: taken apart, held against what we rely on, put together."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from leftoff.errors import LeftoffError
from leftoff.wiring import claude_hooks, json_edit

_BOM = b"\xef\xbb\xbf"


class SettingsText(msgspec.Struct, frozen=True):
    """The text of a settings file; blank if there is none, or nothing in it."""

    path: Path
    text: str
    bom: bytes = b""

    @property
    def values(self) -> Any:
        """What the text stands for."""
        return json_edit.read(self.text) if self.text else {}

    def wires(self, hook: Path) -> list[claude_hooks.Wire]:
        """List the commands of ours in it."""
        return claude_hooks.wires(self.values, hook)

    def add_hooks(self, hook: Path, *, wanted: Iterable[str] = ()) -> bytes:
        """Return the file with all our commands in it, and those for what else is wanted."""
        _check_shape(self.values, self.path)
        after = claude_hooks.wire(self.text or "{}", hook, wanted=wanted)
        check_result(self, SettingsText(self.path, after), hook)
        return self._file(after if self.text else f"{after}\n")

    def remove_hooks(self, hook: Path) -> bytes:
        """Return the file without our commands."""
        return self._file(claude_hooks.unwire(self.text, hook))

    def _file(self, text: str) -> bytes:
        return self.bom + text.encode()


def parse(data: bytes | None, path: Path) -> SettingsText:
    """Take the byte order mark off, and check that the rest is JSON; blank is as good as none."""
    bom = _BOM if data is not None and data.startswith(_BOM) else b""
    try:
        text = (data or b"").removeprefix(bom).decode()
        if text.strip():
            json_edit.read(text)
    except UnicodeDecodeError as error:
        raise _unusable(path, f"it is not UTF-8 at byte {error.start}") from error
    except json_edit.NotJson as error:
        raise _unusable(path, str(error)) from error
    return SettingsText(path, text if text.strip() else "", bom)


def check_result(before: SettingsText, after: SettingsText, hook: Path) -> None:
    """Hold new settings against the old ones: all hooks in, all else the same."""
    is_same = claude_hooks.strip_ours(before.values, hook) == claude_hooks.strip_ours(
        after.values, hook
    )
    if not is_same or not claude_hooks.is_wired(after.values, hook):
        raise LeftoffError(
            f"The new content of {after.path} would not be right, so nothing was changed",
            hint="This is a bug in leftoff; please report it with the structure of the file.",
        )


def _check_shape(settings: Any, path: Path) -> None:
    if not isinstance(settings, dict):
        raise _unusable(path, "it is not a JSON object")
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise _unusable(path, "its hooks are not a JSON object")
    for event in (*claude_hooks.EVENTS, *claude_hooks.OPTIONAL):
        if not isinstance(hooks.get(event, []), list):
            raise _unusable(path, f"its hooks for {event} are not a list")


def _unusable(path: Path, why: str) -> LeftoffError:
    return LeftoffError(
        f"{path} cannot be used ({why}), so nothing was changed",
        hint="Repair it by hand (Claude Code cannot read it either), then try again.",
    )
