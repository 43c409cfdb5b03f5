"""JSON documents of the layout: read whatever they hold, and change only what is ours in them."""

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
    """Read JSON; raises ValueError for what is none."""
    text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
    try:
        return msgspec.json.decode(text.removeprefix(_BOM).encode())
    except _ODD as error:
        raise ValueError(f"It is not JSON: {error}") from error


def read(path: Path, problems: list[str]) -> Any:
    """Read a file's JSON; None where there is none, and where there is trouble it is told."""
    found = read_regular(path)
    if found is None or not found[0].strip():
        return None
    try:
        return parse(found[0])
    except ValueError as error:
        problems.append(f"{path.name} was left out: {error}")
        return None


def render(value: object, *, like: str = "") -> str:
    """Write JSON as the original does: two blanks for each level, a newline at the end."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"
    if "\r\n" in like:
        text = text.replace("\n", "\r\n")
    return _BOM + text if like.startswith(_BOM) else text


class Documents:
    """The JSON files of a folder, with the trouble that was met in them."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.problems: list[str] = []

    def attempt(self, act: Callable[[], None]) -> None:
        """Write something; a file that must be left alone is told, and others are written."""
        try:
            act()
        except StoreRefused as error:
            self.problems.append(f"{error.message}.")

    def change(self, path: str, change: Callable[[Plain], Plain]) -> None:
        """Change an object in place; what is no object is told and left as it is."""
        self.files.edit(path, lambda text: self.apply(path, text, change))

    def apply(self, path: str, text: str, change: Callable[[Plain], Plain]) -> str:
        """Return the text of an object after a change; what did not change keeps its bytes."""
        try:
            before = parse(text) if text.strip() else {}
        except ValueError as error:
            self.problems.append(f"{path} was left as it is. {error}")
            return text
        if not isinstance(before, dict):
            self.problems.append(f"{path} was left as it is. It holds no object.")
            return text
        after = change(before)
        return text if after == before else render(after, like=text)

    def read(self, path: str) -> Plain:
        """Return the object in a file; an empty one where there is none."""
        data = self.files.read(path)
        try:
            found = parse(data) if data and data.strip() else {}
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}
