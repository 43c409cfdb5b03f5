"""A workload: an operation that writes, and what it claims to have written."""

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

import msgspec

from leftoff.torture.claims_ledger import Claim, Kind
from leftoff.torture.world import Bench


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """Work for a child process; its claims hold once the child ends with 0."""

    work: Callable[[], int | None]
    claims: tuple[Claim, ...] = ()
    takes_back: Mapping[bytes, Kind] = {}
    """What the workload prints if it ends with 0 although this kind of its claims does not hold."""
    destroys: tuple[str, ...] = ()
    """Checkpoints that must be gone afterwards."""
    program: Callable[[Mapping[str, str]], NoReturn] | None = None
    """A program that the child executes instead, with these variables added."""


def save_words(token: str, text: str, *more: str, name: str = "") -> tuple[str, ...]:
    """Return the command line of a save."""
    options = ("--summary", text, "--next", f"Run pytest -k {token}", "--no-capture")
    return ("save", name or token, *options, *more)


def workload(bench: Bench, words: Sequence[str], *claims: Claim) -> Workload:
    """Build a workload from a leftoff command."""
    return Workload(work=lambda: bench.program(words), claims=tuple(claims))


def list_acknowledged(workload: Workload, said: bytes) -> list[Claim]:
    """Return the claims of a workload that ended with 0, except those its output takes back."""
    taken_back = {kind for text, kind in workload.takes_back.items() if text in said}
    return [claim for claim in workload.claims if claim.kind not in taken_back]
