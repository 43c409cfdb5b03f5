"""Recall: what the project knows, told to a new session after the work that it may take up."""

import contextlib
from pathlib import Path

import msgspec

from leftoff import config, fence, memorybriefing, memorypage
from leftoff.budget import measure_width
from leftoff.dialects import DIALECTS
from leftoff.dialects.base import HookEvent
from leftoff.errors import LeftoffError, StoreRefused
from leftoff.fence import Rendered, join, say
from leftoff.hooks import trouble
from leftoff.hooks.offers import Told
from leftoff.store import Store, disk
from leftoff.tokens import estimate

_BEFORE = "leftoff: what is known of this project."
# Below that there is no room for more than headings.
_LEAST_TOKENS = 120
# What a reply has besides its text.
_FRAME_CHARS = 500
_MOST_BYTES = 100_000


def standing(store: Store, settings: config.Settings) -> str | None:
    """Return what the page's file says before mirrors write it: somebody's words, or nothing.

    None for a page that was made: it is told as it is once it is up to date.
    """
    path = _place(store, settings)
    if path is None or (disk.is_regular(path) and not memorypage.is_somebodys(path)):
        return None
    return _kept(path) or ""


def added(
    told: Told,
    event: HookEvent,
    store: Store,
    settings: config.Settings,
    *,
    page: str | None = None,
) -> Told:
    """Add the memory briefing, as far as there is room; whatever goes wrong, the offer stands.

    `page` is what its file said when the session began, where that counts.
    """
    try:
        if page is None:
            page = _kept(_place(store, settings))
        known = _Page(store, _place(store, settings), page or "", with_standing=not told.text)
        text = _fitting(told, event, settings, known)
    except (LeftoffError, OSError) as error:
        trouble.note(store.project.state_folder, "the memory briefing", error)
        return told
    if not text:
        return told
    return msgspec.structs.replace(told, text=join([told.text, text], "\n\n"))


def _fitting(told: Told, event: HookEvent, settings: config.Settings, page: "_Page") -> Rendered:
    if settings.memory_budget < _LEAST_TOKENS:
        return say("")
    budget = settings.memory_budget - estimate(f"{_BEFORE}\n{fence.fenced(say(''))}")
    # What is longer the agent would cut in the middle of a line.
    most = DIALECTS[event.agent].REPLY_LIMIT - _FRAME_CHARS - measure_width(told.text)
    text = page.render_within(budget, most)
    return join([say(_BEFORE), fence.fenced(text)]) if text else text


class _Page:
    """The page to tell: from its file, if there is one, or else made now."""

    def __init__(self, store: Store, path: Path | None, kept: str, *, with_standing: bool) -> None:
        self._path = path
        self._file = kept
        self._material = memorybriefing.Material()
        if not self._file:
            caps = memorybriefing.AT_START
            self._material = memorybriefing.gather(store, caps=caps, with_standing=with_standing)

    def render_within(self, budget: int, width: int) -> Rendered:
        if self._path is not None and self._file:
            return memorypage.from_file(self._file, self._path, budget=budget, width=width)
        if not self._material.tells_anything:
            return say("")
        return memorybriefing.render(
            self._material,
            budget=budget,
            caps=memorybriefing.AT_START,
            with_empty=False,
            width=width,
        )


def _place(store: Store, settings: config.Settings) -> Path | None:
    """Tell where the page's file is; none behind a link to elsewhere, as `leftoff doctor` says."""
    with contextlib.suppress(StoreRefused):
        return memorypage.file_of(store.project, settings.briefing_file)
    return None


def _kept(path: Path | None) -> str | None:
    if path is None or not disk.is_regular(path):
        return None
    data = disk.read_from(path, 0, limit=_MOST_BYTES)
    return data.decode("utf-8", "replace") if data.strip() else None
