"""A deed: something that writes, as a user, an agent or a hook does it, and what it claims."""

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

import msgspec

from leftoff.torture.claims_ledger import Claim, Kind
from leftoff.torture.world import Bench


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """Something to do in a child of its own; what it claims holds once it ends with 0."""

    work: Callable[[], int | None]
    claims: tuple[Claim, ...] = ()
    takes_back: Mapping[bytes, Kind] = {}
    """What it prints if it ends with 0 and says which kind of its claims does not hold."""
    destroys: tuple[str, ...] = ()
    """Checkpoints that are meant to be gone afterwards."""
    program: Callable[[Mapping[str, str]], NoReturn] | None = None
    """Another program that the child becomes instead, with these variables added."""


def save_words(token: str, text: str, *more: str, name: str = "") -> tuple[str, ...]:
    """Return the words of a save."""
    told = ("--summary", text, "--next", f"Run pytest -k {token}", "--no-capture")
    return ("save", name or token, *told, *more)


def deed(bench: Bench, words: Sequence[str], *claims: Claim) -> Deed:
    """Make a deed of a command of leftoff."""
    return Deed(work=lambda: bench.program(words), claims=tuple(claims))


def list_acknowledged(deed: Deed, said: bytes) -> list[Claim]:
    """Return what a deed that ended with 0 acknowledged, by its own words."""
    taken_back = {kind for text, kind in deed.takes_back.items() if text in said}
    return [claim for claim in deed.claims if claim.kind not in taken_back]
