"""Record what was acknowledged and what was only tried, and compare it with what is found."""

import random
import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

import msgspec

Kind = Literal[
    "checkpoint", "event", "memory", "feature", "note", "prompt", "register", "commit", "code",
]  # fmt: skip

_TOKEN = re.compile(r"job-\d+-\d+z")
_WORDS = "Stream the rows to the disk one after the other and keep the order".split()


class Claim(msgspec.Struct, frozen=True):
    """Something that must be found once it is acknowledged.

    A claim on a register says that the register has this value from now on.
    """

    kind: Kind
    token: str


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """What a fresh process finds in a project."""

    found: dict[str, list[str]]
    half: list[str] = []
    digests: dict[str, str] = {}
    """The hash of each checkpoint's file, by its id."""
    registers: dict[str, str] = {}
    problems: list[str] = []


class Ledger:
    """The claims of one project."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._next = 0
        self.acknowledged: dict[str, set[str]] = defaultdict(set)
        self.tried: dict[str, set[str]] = defaultdict(set)
        self.gone: set[str] = set()
        self.registers: dict[str, set[str]] = {}
        self._digests: dict[str, str] = {}

    def new_token(self) -> str:
        """Return a word that occurs nowhere else."""
        self._next += 1
        return f"job-{self._number}-{self._next}z"

    def copy(self) -> "Ledger":
        """Return an independent copy."""
        other = Ledger(self._number)
        other._next = self._next
        for mine, others in (
            (self.acknowledged, other.acknowledged),
            (self.tried, other.tried),
            (self.registers, other.registers),
        ):
            others.update({kind: set(tokens) for kind, tokens in mine.items()})
        other.gone = set(self.gone)
        other._digests = dict(self._digests)
        return other

    def try_(self, claims: Iterable[Claim]) -> None:
        """Record that these claims may become visible from now on."""
        for claim in claims:
            if claim.kind == "register":
                name, _, value = claim.token.partition("=")
                self.registers.setdefault(name, {""}).add(value)
            else:
                self.tried[claim.kind].add(claim.token)

    def acknowledge(self, claims: Iterable[Claim]) -> None:
        """Record that a command reported success, so these claims must be found from now on."""
        for claim in claims:
            self.try_([claim])
            if claim.kind == "register":
                name, _, value = claim.token.partition("=")
                self.registers[name] = {value}
            else:
                self.acknowledged[claim.kind].add(claim.token)

    def destroy(self, tokens: Iterable[str], *, is_done: bool) -> None:
        """Record that checkpoints may be gone for good, or must be gone if `is_done`."""
        for token in tokens:
            self.acknowledged["checkpoint"].discard(token)
            if is_done:
                self.gone.add(token)

    def count(self) -> int:
        """Return the number of records that must be found."""
        return sum(map(len, self.acknowledged.values())) + len(self.registers)

    def differences(self, seen: Observation) -> list[str]:
        """Describe what is lost, half visible, forged or changed."""
        found = [f"{each} is half visible" for each in seen.half]
        for kind, tokens in self.acknowledged.items():
            missing = sorted(tokens - set(seen.found.get(kind, ())))
            found += [f"{kind} {token} was acknowledged but is lost" for token in missing]
        # A record that nobody tried to write is as bad as a lost one: it shows garbage as data.
        written = {token.rpartition(":")[2] for tokens in self.tried.values() for token in tokens}
        for kind, shown in seen.found.items():
            forged = sorted(token for token in shown if token.rpartition(":")[2] not in written)
            found += [f"{kind} {token} was never written" for token in forged]
        back = self.gone & set(seen.found.get("checkpoint", ()))
        found += [f"checkpoint {token} was destroyed but is back" for token in sorted(back)]
        return found + self._find_changes(seen) + seen.problems

    def _find_changes(self, seen: Observation) -> list[str]:
        found = []
        for name, values in self.registers.items():
            value = seen.registers.get(name, "")
            if value not in values:
                found.append(f"{name} is {value!r}, not {' or '.join(map(repr, sorted(values)))}")
        for checkpoint, digest in seen.digests.items():
            if self._digests.setdefault(checkpoint, digest) != digest:
                found.append(f"the bytes of checkpoint {checkpoint} changed")
        return found


def text_of(token: str, chance: random.Random | None = None) -> str:
    """Build a text whose last words show whether it is complete."""
    words = chance.choices(_WORDS, k=chance.randrange(4, 60)) if chance else _WORDS
    return f"Work on {token}: {' '.join(words)}, end of {token}"


def tokens_in(text: str) -> set[str]:
    """Return the tokens in a text."""
    return set(_TOKEN.findall(text))


def halves_in(text: str) -> set[str]:
    """Return the tokens whose text begins here but is cut off."""
    return {
        token for token in re.findall(r"Work on (job-\d+-\d+z)", text)
        if f"end of {token}" not in text
    }  # fmt: skip
