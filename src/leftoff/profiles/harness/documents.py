"""Read claude-harness's JSON files, and change only leftoff's parts of them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from leftoff.errors import StoreRefused
from leftoff.profiles.harness.loose_json import parse
from leftoff.profiles.json_codec import Plain
from leftoff.profiles.profile import Files
from leftoff.profiles.regular_files import read_regular

_BOM = "\ufeff"


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


def as_object(found: object, key: str = "") -> Plain | None:
    """Return a document as an object; some are only the list that belongs under a key."""
    if isinstance(found, list) and key:
        return {key: found}
    return {} if found is None else found if isinstance(found, dict) else None


class Documents:
    """The JSON files of a folder, and the problems found in them."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.problems: list[str] = []
        self.kept: Mapping[str, object] = {}
        """What else imported files contained, by their paths; a new file begins with it."""

    def attempt(self, act: Callable[[], None]) -> None:
        """Run a write; a file that must be left alone becomes a problem and stops no others."""
        try:
            act()
        except StoreRefused as error:
            self.problems.append(f"{error.message}.")

    def change(self, path: str, change: Callable[[Plain], Plain], *, key: str = "") -> None:
        """Change an object in place; anything else becomes a problem and is left alone."""
        self.files.edit(path, lambda text: self.apply(path, text, change, key=key))

    def apply(
        self, path: str, text: str, change: Callable[[Plain], Plain], *, key: str = ""
    ) -> str:
        """Return the text of an object after a change; unchanged parts keep their bytes.

        `key` is where the object has its list, for a file that is nothing but that list.
        """
        try:
            found = parse(text) if text.strip() else {}
        except ValueError as error:
            self.problems.append(f"{path} was left unchanged. {error}")
            return text
        before = as_object(found, key)
        if before is None:
            self.problems.append(f"{path} was left unchanged. It does not contain an object.")
            return text
        kept = self.kept.get(path) if not text.strip() else None
        after = change(kept if isinstance(kept, dict) else before)
        return text if after == before else render(after, like=text)

    def read(self, path: str) -> Plain:
        """Return the object in a file; an empty one if there is none."""
        data = self.files.read(path)
        try:
            found = parse(data) if data and data.strip() else {}
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}
