"""What the commits and saves of a branch say, so that a pull request tells all of it."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from leftoff.checkpoint import Decision
from leftoff.git.write import Repo
from leftoff.store import CheckpointEntry, Store

TIDY_SUBJECT = "chore(leftoff): keep the state of what was shipped"
"""The subject of our own commits of native state, by which later runs recognize them."""
# These bound the work on a branch with thousands of commits or saves.
_MOST_COMMITS = 200
_MOST_SAVES = 200
_BULLET = re.compile(r"^[-*] +(\S.*)$", re.MULTILINE)


class BranchHistory(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of a branch's commits, oldest first, and the decisions of its saves."""

    messages: Sequence[str] = ()
    decisions: Sequence[Decision] = ()
    told: Sequence[str] = ()
    """What was said about work that is shipped already."""

    @property
    def subjects(self) -> set[str]:
        """The first line of each message."""
        return {each.partition("\n")[0] for each in self.messages}

    @property
    def bullets(self) -> list[str]:
        """Everything that a message lists, without repetitions."""
        return [*dict.fromkeys(each for text in self.messages for each in list_bullets(text))]


def list_bullets(message: str) -> list[str]:
    """Return the items of the lists in a message."""
    return [" ".join(each.split()) for each in _BULLET.findall(message)]


def read_messages(repo: Repo, branch: str) -> list[str]:
    """Return the messages of the commits that only this branch has, oldest first.

    Commits that only record state are left out.
    """
    remote = repo.push_remote(branch)
    base = repo.find_base(remote.name if remote else None, branch)
    found = repo.messages(base, limit=_MOST_COMMITS)
    return [each for each in found if not each.startswith(TIDY_SUBJECT)]


def read_decisions(store: Store, branch: str) -> list[Decision]:
    """Return the decisions of all saves on a branch, oldest first."""
    entries = [each for each in store.index().newest(_MOST_SAVES) if _is_on(each, branch)]
    found = [decision for entry in reversed(entries) for decision in _load_decisions(store, entry)]
    return [*{each.what: each for each in found}.values()]


def _is_on(entry: CheckpointEntry, branch: str) -> bool:
    return entry.branch == branch and entry.problem is None


def _load_decisions(store: Store, entry: CheckpointEntry) -> Iterator[Decision]:
    yield from store.load(entry).decisions
