"""Add what the project knows to the reply at the start of a session."""

import contextlib
from pathlib import Path

import msgspec

from leftoff import config
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import HookEvent
from leftoff.errors import LeftoffError, StoreRefused
from leftoff.hooks import trouble
from leftoff.hooks.offers import StartReply
from leftoff.store import Store, disk
from leftoff.text import fence
from leftoff.text.budget import estimate, measure_width
from leftoff.text.fence import Rendered, join, say
from leftoff.threads import memory_briefing

_BEFORE = "leftoff: what is known about this project."
# A smaller budget has room for headings only.
_LEAST_TOKENS = 120
# The JSON around the text of a reply.
_FRAME_CHARS = 500
_MOST_BYTES = 100_000


def read_user_page(store: Store, settings: config.Settings) -> str | None:
    """Return what somebody wrote into the page's file, before mirrors replace it; empty if nothing.

    None means that leftoff wrote the file: it is read later, when it is up to date.
    """
    path = _place(store, settings)
    if path is None or (disk.is_regular(path) and not memory_briefing.is_somebodys_page(path)):
        return None
    return _read_page(path) or ""


def add_memory(
    reply: StartReply,
    event: HookEvent,
    store: Store,
    settings: config.Settings,
    *,
    page: str | None = None,
) -> StartReply:
    """Add the memory briefing if there is room; an error leaves the reply as it is.

    `page` is the result of `read_user_page`.
    """
    try:
        if page is None:
            page = _read_page(_place(store, settings))
        known = _Page(store, _place(store, settings), page or "", with_standing=not reply.text)
        if settings.offers == "latest":
            known.drop_older_work()
        text = _fit_page(reply, event, settings, known)
    except (LeftoffError, OSError) as error:
        trouble.note(store.project.state_folder, "the memory briefing", error)
        return reply
    if not text:
        return reply
    return msgspec.structs.replace(reply, text=join([reply.text, text], "\n\n"))


def _fit_page(
    reply: StartReply, event: HookEvent, settings: config.Settings, page: "_Page"
) -> Rendered:
    if settings.memory_budget < _LEAST_TOKENS:
        return say("")
    budget = settings.memory_budget - estimate(f"{_BEFORE}\n{fence.enclose_text(say(''))}")
    # The agent would cut a longer reply in the middle of a line.
    most = DIALECTS[event.agent].REPLY_LIMIT - _FRAME_CHARS - measure_width(reply.text)
    text = page.render_within(budget, most)
    return join([say(_BEFORE), fence.enclose_text(text)]) if text else text


class _Page:
    """The page to show: from its file if there is one, otherwise made now."""

    def __init__(self, store: Store, path: Path | None, kept: str, *, with_standing: bool) -> None:
        self._path = path
        self._file = kept
        self._material = memory_briefing.Material()
        if not self._file:
            caps = memory_briefing.AT_START
            self._material = memory_briefing.gather(store, caps=caps, with_standing=with_standing)

    def drop_older_work(self) -> None:
        """Leave out what earlier checkpoints say, where a session gets only the latest."""
        self._material = msgspec.structs.replace(self._material, decisions=(), failures=())

    def render_within(self, budget: int, width: int) -> Rendered:
        if self._path is not None and self._file:
            return memory_briefing.quote_page(self._file, self._path, budget=budget, width=width)
        if not self._material.has_content:
            return say("")
        return memory_briefing.render(
            self._material,
            budget=budget,
            caps=memory_briefing.AT_START,
            with_empty=False,
            width=width,
        )


def _place(store: Store, settings: config.Settings) -> Path | None:
    """Return the page's file; None if a link points outside the project, as doctor reports."""
    with contextlib.suppress(StoreRefused):
        return memory_briefing.find_page_path(store.project, settings.briefing_file)
    return None


def _read_page(path: Path | None) -> str | None:
    if path is None or not disk.is_regular(path):
        return None
    data = disk.read_from(path, 0, limit=_MOST_BYTES)
    return data.decode("utf-8", "replace") if data.strip() else None
