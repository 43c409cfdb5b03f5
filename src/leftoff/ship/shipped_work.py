"""Find out what is being shipped: the feature or fix of the current loop, if there is one."""

import re

import msgspec

from leftoff.errors import LeftoffError
from leftoff.knowledge import features
from leftoff.knowledge.features import Board, Feature, Fix, Loop
from leftoff.store import Store

_SUBJECT = re.compile(r"(feat|fix)\((feature-\d+)\)!?: ")


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """A feature or fix, and the feature that its commits name."""

    item: Feature | Fix | None = None
    is_fix: bool = False
    scope: str | None = None
    name: str = ""
    related_issue: int | None = None
    """The issue of the feature that a fix repairs."""
    is_tracked: bool = False
    """Whether a loop counts the attempts at it."""

    @property
    def issue(self) -> int | None:
        """The issue that this work closes."""
        return self.item.issue if self.item else None

    @property
    def is_under_way(self) -> bool:
        """Whether it has begun and is not complete, so that shipping it does not finish it."""
        item = self.item
        if item is None or item.is_complete or item.is_archived:
            return False
        return self.is_tracked or item.status == "in_progress"

    @property
    def kind(self) -> str:
        """The conventional commit type for it."""
        return "fix" if self.is_fix else "feat"


def work_at_hand(store: Store, session_id: str | None, branch: str | None) -> Work:
    """Return the work of the current loop, or what this branch was shipped for before."""
    board = features.glance(store)
    loop = features.load_loop(store, session_id)
    if loop is not None and loop.feature is not None:
        return _build_from_loop(board, loop)
    mine = [each for each in board.items if each.branch and each.branch == branch]
    found = [*mine[-1:], *_list_unattended(store, board)]
    return _build_from_item(board, found[0]) if found else Work()


def _list_unattended(store: Store, board: Board) -> list[Feature | Fix]:
    """Return the work in progress that nobody tracks with a loop, as files of others show it."""
    tracked = {loop.feature for loop in features.load_loops(store).values() if loop.is_under_way}
    return [
        each
        for each in board.open_items
        if (each.status == "in_progress" or each.extra.get("passes") is False)
        and each.id not in tracked
    ]


def work_of_subject(store: Store, subject: str) -> Work:
    """Return the feature that a commit names, for when its loop is already over."""
    found = _SUBJECT.match(subject)
    if found is None:
        return Work()
    board = features.glance(store)
    fixes = [each for each in board.fixes if each.linked_to == found[2]]
    if found[1] == "fix" and fixes:
        return _build_from_item(board, fixes[-1])
    item = _find(board, found[2])
    return _build_from_item(board, item) if item else Work()


def _build_from_loop(board: Board, loop: Loop) -> Work:
    item = _find(board, loop.feature or "")
    # A fix that names no feature stands for itself, but its loop may know what it repairs.
    if isinstance(item, Fix) and item.linked_to in {"", item.id} and loop.linked_to:
        item = msgspec.structs.replace(item, linked_to=loop.linked_to)
    if loop.type == "fix" and not isinstance(item, Fix):
        return _build_from_fix_loop(board, loop)
    if item is not None:
        found = _build_from_item(board, item)
        return msgspec.structs.replace(found, is_tracked=loop.is_under_way)
    return Work(scope=loop.scope, name=loop.name or "")


def _build_from_fix_loop(board: Board, loop: Loop) -> Work:
    """Return the fix of a loop that names no fix of the list, only what it repairs."""
    scope = loop.linked_to or loop.feature
    fixes = [each for each in board.fixes if each.linked_to == scope and not each.is_complete]
    if len(fixes) == 1:
        found = _build_from_item(board, fixes[0])
        return msgspec.structs.replace(found, is_tracked=loop.is_under_way)
    repaired = _find(board, scope or "")
    issue = repaired.issue if repaired else None
    return Work(is_fix=True, scope=scope, name=loop.name or "", related_issue=issue)


def _build_from_item(board: Board, item: Feature | Fix) -> Work:
    if not isinstance(item, Fix):
        return Work(item=item, scope=item.id, name=item.name)
    repaired = _find(board, item.linked_to)
    return Work(
        item=item,
        is_fix=True,
        scope=item.linked_to,
        name=item.name,
        related_issue=(repaired.issue if repaired else None) or item.related_issue,
    )


def _find(board: Board, key: str) -> Feature | Fix | None:
    try:
        return features.find(board, key)
    except LeftoffError:
        return None
