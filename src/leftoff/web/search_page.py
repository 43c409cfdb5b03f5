"""Search over everything: threads, memory, prompts and features."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec
from starlette.requests import Request

from leftoff import knowledge
from leftoff.agents.registry import AGENTS
from leftoff.errors import UsageError
from leftoff.session import prompt_queue
from leftoff.store import Query, utc_now
from leftoff.text import times
from leftoff.web.render import address, cut, name_of
from leftoff.web.site import Site, SiteProject
from leftoff.workspace import Workspace

_SHOWN = 40
# Several revisions of a thread may match, and are shown as one.
_SPARE = 10
_MOST_WORDS = 200
# Those that were used last; the others can be chosen.
_MOST_PROJECTS = 40
KINDS = {"thread": "Threads", "memory": "Memory", "prompt": "Prompts", "feature": "Features"}
SPANS = {"1d": "24 hours", "7d": "7 days", "30d": "30 days", "365d": "a year"}


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One result."""

    kind: str
    title: str
    text: str
    path: str
    at: datetime | None
    home: SiteProject
    agent: str | None = None
    branch: str | None = None
    state: str = ""


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    """What to search for, and where."""

    words: str
    kind: str = ""
    agent: str | None = None
    branch: str | None = None
    since: datetime | None = None
    with_ended: bool = False


def show(request: Request, site: Site) -> dict[str, Any]:
    """Search all projects, or the chosen one."""
    given = request.query_params
    filters = _read_filters(request)
    found: list[Found] = []
    if filters.words:
        for home in site.choose(given.get("project") or None, _MOST_PROJECTS):
            with site.open(home) as work:
                found += _search(home, work, filters)
    dated = [each for each in found if each.at is not None]
    dated.sort(key=lambda each: each.at or utc_now(), reverse=True)
    return {
        "found": [*dated, *(each for each in found if each.at is None)][:_SHOWN],
        "filters": filters,
        "words": filters.words,
        "kinds": KINDS,
        "agents": [*AGENTS],
        "spans": SPANS,
        "projects": site.list_projects(),
    }


def _read_filters(request: Request) -> Filters:
    given = request.query_params
    try:
        since = times.moment(given["since"], now=utc_now()) if given.get("since") else None
    except UsageError:
        since = None
    return Filters(
        words=given.get("q", "").strip()[:_MOST_WORDS],
        kind=given.get("kind", ""),
        agent=given.get("agent") or None,
        branch=given.get("branch", "").strip() or None,
        since=since,
        with_ended=given.get("ended") == "1",
    )


def _search(home: SiteProject, work: Workspace, filters: Filters) -> Iterator[Found]:
    # A branch or agent belongs to a thread; nothing else has one.
    is_narrow = filters.agent is not None or filters.branch is not None
    if filters.kind in {"", "thread"}:
        yield from _search_threads(home, work, filters)
    if filters.kind in {"", "memory"} and not is_narrow:
        yield from _search_memory(home, work, filters)
    if filters.kind in {"", "prompt"} and not is_narrow:
        yield from _search_prompts(home, work, filters)
    if filters.kind in {"", "feature"} and not is_narrow:
        yield from _search_features(home, work, filters)


def _search_threads(home: SiteProject, work: Workspace, filters: Filters) -> Iterator[Found]:
    query = Query(
        words=filters.words,
        branch=filters.branch,
        agent=filters.agent,
        since=filters.since,
        with_trashed=filters.with_ended,
        limit=_SHOWN + _SPARE,
    )
    # One result for each thread, not one for each of its revisions.
    hits = {hit.entry.slot: hit for hit in reversed(work.find_hits(query))}
    for hit in hits.values():
        entry = hit.entry
        yield Found(
            kind="thread",
            title=cut(entry.task) or name_of(entry),
            text=_name_and_words(name_of(entry), entry.task or "", hit.snippet),
            path=address("/thread", project=home.key, id=entry.slot),
            at=entry.as_of,
            home=home,
            agent=entry.agent,
            branch=entry.branch,
            state="done" if entry.state == "consumed" else entry.state,
        )


def _name_and_words(name: str, task: str, snippet: str) -> str:
    """Return the name of a thread and the words that were found, without the task above them."""
    found = snippet.removeprefix(task).removeprefix(" · ")
    return f"{name} · {found}" if found else name


def _search_memory(home: SiteProject, work: Workspace, filters: Filters) -> Iterator[Found]:
    statuses = knowledge.memory.STATUSES if filters.with_ended else ("active", "queued")
    found = knowledge.memory.search(work.store, filters.words, statuses=statuses, limit=_SHOWN)
    for entry in found:
        if filters.since is None or entry.at >= filters.since:
            yield Found(
                kind="memory",
                title=entry.text,
                text=entry.reason,
                path=address(
                    "/memory",
                    project=home.key,
                    q=filters.words,
                    all="" if entry.status in {"active", "queued"} else "1",
                )
                + f"#{entry.id}",
                at=entry.at,
                home=home,
                state=entry.kind,
            )


def _search_prompts(home: SiteProject, work: Workspace, filters: Filters) -> Iterator[Found]:
    words = filters.words.casefold().split()
    for prompt in prompt_queue.list_prompts(work.store):
        is_wanted = filters.since is None or prompt.at >= filters.since
        if is_wanted and all(word in prompt.text.casefold() for word in words):
            yield Found(
                kind="prompt",
                title=prompt.text,
                text="",
                path=address("/prompts", project=home.key) + f"#{prompt.id}",
                at=prompt.at,
                home=home,
                agent=prompt.agent or None,
                state="waiting" if prompt.is_waiting else prompt.fate,
            )


def _search_features(home: SiteProject, work: Workspace, filters: Filters) -> Iterator[Found]:
    words = filters.words.casefold().split()
    for item in knowledge.features.load(work.store).items:
        text = f"{item.id} {item.name} {item.description}".casefold()
        if all(word in text for word in words):
            yield Found(
                kind="feature",
                title=f"{item.id}: {item.name}",
                text=item.description,
                path=address("/features", project=home.key) + f"#{item.id}",
                at=item.updated_at or item.created_at,
                home=home,
                state=item.status,
            )
