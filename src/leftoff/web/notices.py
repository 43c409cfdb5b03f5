"""What the page says after a change, with the form that takes it back."""

import msgspec

# More pile up only while no one looks at the page.
_MOST = 5


class TakeBack(msgspec.Struct, frozen=True, kw_only=True):
    """The form that takes a change back."""

    verb: str
    fields: dict[str, str]
    label: str = "Undo"


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence, and how to take back what it says."""

    text: str
    take_back: TakeBack | None = None
    is_problem: bool = False


class NoticeBoard:
    """The notices that each browser has not seen yet."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Notice]] = {}

    def add(self, owner: str, notice: Notice) -> None:
        """Show a notice on the next page that this browser gets."""
        self._waiting[owner] = [*self._waiting.get(owner, [])[1 - _MOST :], notice]

    def take(self, owner: str) -> list[Notice]:
        """Return the notices for a browser, once."""
        return self._waiting.pop(owner, [])
