"""Read any JSON documents of this layout, and change only our own parts of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from leftoff.errors import StoreRefused
from leftoff.profiles.json_codec import Plain
from leftoff.profiles.profile import Files
from leftoff.profiles.regular_files import read_regular

_BOM = "\ufeff"
_ODD = (msgspec.MsgspecError, UnicodeDecodeError, UnicodeEncodeError, RecursionError)


def parse(data: bytes | str) -> Any:
    """Parse JSON; raise ValueError if it is invalid."""
    text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
    try:
        return msgspec.json.decode(text.removeprefix(_BOM).encode())
    except _ODD as error:
        raise ValueError(f"It is not JSON: {error}") from error


def read(path: Path, problems: list[str]) -> Any:
    """Read a file's JSON; return None if it is missing or unreadable, and record the problem."""
    found = read_regular(path)
    if found is None or not found[0].strip():
        return None
    try:
        return parse(found[0])
    except ValueError as error:
        problems.append(f"{path.name} was skipped: {error}")
        return None


def render(value: object, *, like: str = "") -> str:
    """Write JSON as the original does: two spaces per level and a final newline."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"
    if "\r\n" in like:
        text = text.replace("\n", "\r\n")
    return _BOM + text if like.startswith(_BOM) else text


class Documents:
    """The JSON files of a folder, and the problems found in them."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.problems: list[str] = []

    def attempt(self, act: Callable[[], None]) -> None:
        """Run a write; a file that must be left alone becomes a problem and stops no others."""
        try:
            act()
        except StoreRefused as error:
            self.problems.append(f"{error.message}.")

    def change(self, path: str, change: Callable[[Plain], Plain]) -> None:
        """Change an object in place; anything else becomes a problem and is left alone."""
        self.files.edit(path, lambda text: self.apply(path, text, change))

    def apply(self, path: str, text: str, change: Callable[[Plain], Plain]) -> str:
        """Return the text of an object after a change; unchanged parts keep their bytes."""
        try:
            before = parse(text) if text.strip() else {}
        except ValueError as error:
            self.problems.append(f"{path} was left unchanged. {error}")
            return text
        if not isinstance(before, dict):
            self.problems.append(f"{path} was left unchanged. It does not contain an object.")
            return text
        after = change(before)
        return text if after == before else render(after, like=text)

    def read(self, path: str) -> Plain:
        """Return the object in a file; an empty one if there is none."""
        data = self.files.read(path)
        try:
            found = parse(data) if data and data.strip() else {}
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}
