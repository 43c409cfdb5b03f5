"""Read an agent's JSON file that others edit, too."""

from pathlib import Path
from typing import Any

import msgspec

from leftoff.errors import LeftoffError
from leftoff.wiring import foreign_files, json_edit, jsonc_edit

_BOM = b"\xef\xbb\xbf"


class SettingsText(msgspec.Struct, frozen=True):
    """The text of a settings file; empty if the file is missing or blank."""

    path: Path
    text: str
    bom: bytes = b""
    has_comments: bool = False
    """Whether the agent accepts comments in it."""

    @property
    def values(self) -> Any:
        """The parsed settings."""
        return _read(self.text, has_comments=self.has_comments) if self.text else {}

    def encode(self, text: str) -> bytes:
        """Return the content of the file with another text."""
        # A new file ends with a newline; an existing one keeps its own ending.
        return self.bom + (text if self.text else f"{text}\n").encode()


def parse(
    data: bytes | None, path: Path, *, title: str = "Claude Code", has_comments: bool = False
) -> SettingsText:
    """Strip the byte order mark and check that the rest is JSON; treat a blank file as missing."""
    bom = _BOM if data is not None and data.startswith(_BOM) else b""
    try:
        text = (data or b"").removeprefix(bom).decode()
        if text.strip():
            _read(text, has_comments=has_comments)
    except UnicodeDecodeError as error:
        raise explain_unusable(path, f"it is not UTF-8 at byte {error.start}") from error
    except json_edit.NotJson as error:
        how = "JSON, with or without comments" if has_comments else "JSON without comments"
        accepted = f"leftoff edits settings of {title} only as {how}. "
        raise explain_unusable(path, str(error), accepted=accepted) from error
    return SettingsText(path, text if text.strip() else "", bom, has_comments)


def read_values(path: Path, *, title: str = "Claude Code", has_comments: bool = False) -> Any:
    """Return the settings in a file, to look at them; {} if it is missing or blank."""
    data = foreign_files.read(path) or b""
    try:
        # What edits the file takes 3 ms to load. Nearly every file is plain JSON.
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return parse(data, path, title=title, has_comments=has_comments).values


def _read(text: str, *, has_comments: bool) -> Any:
    return jsonc_edit.read(text) if has_comments else json_edit.read(text)


def explain_unusable(path: Path, why: str, *, accepted: str = "") -> LeftoffError:
    """Return the error for a file that leftoff cannot change."""
    return LeftoffError(
        f"{path} cannot be used ({why}), so nothing was changed",
        hint=f"{accepted}Fix the file by hand, then try again.",
    )
