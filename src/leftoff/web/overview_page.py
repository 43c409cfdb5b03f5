"""The overview: open threads of all projects as cards, and what needs attention."""

from typing import Any

import msgspec
from starlette.requests import Request

from leftoff.errors import LeftoffError
from leftoff.session.running_work import date_by_activity
from leftoff.store import LISTED, TRASHED, CheckpointEntry, State
from leftoff.threads.open_everywhere import read_newest
from leftoff.web.read_request import read_number
from leftoff.web.site import Site, SiteProject

_CARDS = 48
_MOST_PAGES = 1000
# What has ended is read project by project.
_MOST_PROJECTS = 40


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """A thread of a project."""

    home: SiteProject
    entry: CheckpointEntry


class FoundCards(msgspec.Struct, kw_only=True):
    """The newest threads; `count` is None if there are more than were looked at."""

    cards: list[Card] = []
    count: int | None = 0
    damaged: int = 0
    problems: list[str] = []


def show(request: Request, site: Site) -> dict[str, Any]:
    """Collect the newest threads of all projects, one page of them."""
    number = read_number(request, "page", most=_MOST_PAGES)
    is_ended = request.query_params.get("state") == "ended"
    only = request.query_params.get("project") or None
    wanted = (number + 1) * _CARDS
    projects = site.list_projects()
    if len(projects) > 1 and only is None and not is_ended:
        found = _read_everywhere(site, wanted)
    else:
        states: list[State] = [*TRASHED - {"undone"}] if is_ended else [*LISTED]
        found = _read_each(site, site.choose(only, _MOST_PROJECTS), states, wanted)
    return {
        "found": found,
        "cards": found.cards[number * _CARDS : wanted],
        "number": number,
        "has_more": found.count is None or found.count > wanted,
        "is_ended": is_ended,
        "projects": projects,
        "only": only,
    }


def _read_everywhere(site: Site, wanted: int) -> FoundCards:
    """Read the newest open threads, from as few projects as possible."""
    homes = {each.project.root: each for each in site.list_projects()}
    everywhere = read_newest(site.environment, limit=wanted)
    cards = [
        Card(home=homes[each.root], entry=each.entry)
        for each in everywhere.threads
        if each.root in homes and each.entry.problem is None
    ]
    return FoundCards(
        cards=cards,
        count=None if everywhere.is_cut else len(cards),
        problems=[f"{root.name}: {why}" for root, why in everywhere.problems.items()],
    )


def _read_each(
    site: Site, homes: list[SiteProject], states: list[State], wanted: int
) -> FoundCards:
    found = FoundCards(count=0)
    for home in homes:
        # A project that cannot be read must not hide the others.
        try:
            with site.open(home) as work:
                index = work.store.index()
                entries = date_by_activity(work.store, index.heads(states, wanted))
                found.cards += [Card(home=home, entry=each) for each in entries if not each.problem]
                found.count = (found.count or 0) + index.count_heads(states)
                found.damaged += len(index.unreadable())
        except (LeftoffError, OSError) as error:
            found.problems.append(f"{home.name}: {error}")
    found.cards.sort(key=lambda card: card.entry.as_of, reverse=True)
    return found
