"""Read Claude Code's settings file, add or remove leftoff's hooks, and validate the result."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from leftoff.errors import LeftoffError
from leftoff.wiring import claude_hooks, json_edit

_BOM = b"\xef\xbb\xbf"


class SettingsText(msgspec.Struct, frozen=True):
    """The text of a settings file; empty if the file is missing or blank."""

    path: Path
    text: str
    bom: bytes = b""

    @property
    def values(self) -> Any:
        """The parsed settings."""
        return json_edit.read(self.text) if self.text else {}

    def wires(self, hook: Path) -> list[claude_hooks.Wire]:
        """List leftoff's commands in the file."""
        return claude_hooks.wires(self.values, hook)

    def add_hooks(self, hook: Path, *, wanted: Iterable[str] = ()) -> bytes:
        """Return the content with leftoff's commands; `wanted` names optional events to add."""
        _check_shape(self.values, self.path)
        after = claude_hooks.wire(self.text or "{}", hook, wanted=wanted)
        check_result(self, SettingsText(self.path, after), hook)
        # A new file ends with a newline; an existing one keeps its own ending.
        return self._file(after if self.text else f"{after}\n")

    def remove_hooks(self, hook: Path) -> bytes:
        """Return the file's content without leftoff's commands."""
        return self._file(claude_hooks.unwire(self.text, hook))

    def _file(self, text: str) -> bytes:
        return self.bom + text.encode()


def parse(data: bytes | None, path: Path) -> SettingsText:
    """Strip the byte order mark and check that the rest is JSON; treat a blank file as missing."""
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
    """Check that the new settings contain all hooks and otherwise equal the old ones."""
    is_same = claude_hooks.strip_ours(before.values, hook) == claude_hooks.strip_ours(
        after.values, hook
    )
    if not is_same or not claude_hooks.is_wired(after.values, hook):
        raise LeftoffError(
            f"The new content of {after.path} would be wrong, so nothing was changed",
            hint="This is a bug in leftoff; please report it with the structure of the file.",
        )


def _check_shape(settings: Any, path: Path) -> None:
    # Adding hooks to a value of another type would destroy what the user wrote.
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
        hint="Fix it by hand (Claude Code cannot read it either), then try again.",
    )
