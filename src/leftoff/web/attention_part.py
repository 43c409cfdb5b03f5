"""What needs attention, below the cards: unsaved sessions, waiting prompts, hooks that do not run.

It reads transcripts and settings of agents, so a script fetches it when the page is already shown.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import msgspec
from starlette.requests import Request

from leftoff import knowledge
from leftoff.errors import LeftoffError
from leftoff.session import prompt_queue
from leftoff.session.records import recover_command
from leftoff.web.site import Site, SiteProject
from leftoff.wiring.hooks_state import read_hooks
from leftoff.workspace import Workspace

# Asking about every project of a machine would take too long.
_MOST_PROJECTS = 12


class Matter(msgspec.Struct, frozen=True, kw_only=True):
    """Something to look at and what to do about it, or that there is nothing to do."""

    kind: str
    title: str
    text: str = ""
    command: str = ""
    path: str = ""
    home: SiteProject | None = None
    is_fine: bool = False


# What each tile says if nothing is wrong, in the order of the tiles.
_FINE = {
    "unsaved": ("Sessions are saved", "No session has unsaved work."),
    "prompts": ("No prompts are waiting", "Every prompt was answered."),
    "memory": ("Nothing to review", "No entries are waiting for your approval."),
    "hooks": ("Hooks save sessions", ""),
}


def show(_request: Request, site: Site) -> dict[str, Any]:
    """Collect what needs attention in the newest projects; a tile for each kind that is fine."""
    matters: list[Matter] = []
    for entry in site.list_projects()[:_MOST_PROJECTS]:
        # A project that cannot be read must not hide the others; its cards say why.
        with contextlib.suppress(LeftoffError, OSError), site.open(entry) as work:
            matters += _examine(entry, work)
    found = {_sort_key_of(each): each for each in matters}
    kinds = {each.kind for each in matters}
    fine = [
        Matter(kind=kind, title=title, text=text, is_fine=True)
        for kind, (title, text) in _FINE.items()
        if kind not in kinds
    ]
    order = [*_FINE]
    tiles = sorted([*found.values(), *fine], key=lambda each: order.index(each.kind))
    return {"matters": tiles}


def _sort_key_of(matter: Matter) -> tuple[str, str, str]:
    # Hooks are missing once for a machine, not once for each project.
    home = matter.home.key if matter.home is not None else ""
    return matter.kind, matter.text, home


def _examine(entry: SiteProject, work: Workspace) -> Iterator[Matter]:
    yield from _find_unsaved(entry, work)
    yield from _find_prompts(entry, work)
    yield from _find_queue(entry, work)
    yield _describe_hooks(entry, work)


_HOOKS = {
    "on": "Hooks save sessions",
    "off": "Hooks are off",
    "broken": "Hooks are broken",
    "missing": "Hooks are missing",
}


def _describe_hooks(entry: SiteProject, work: Workspace) -> Matter:
    hooks = read_hooks(work.context.environment, work.project)
    text, _, command = hooks.text.partition("; run ")
    return Matter(
        kind="hooks",
        title=_HOOKS[hooks.state],
        text=f"{text[:1].upper()}{text[1:]}.",
        command=command.partition("`")[2].partition("`")[0],
        # Settings belong to the user, unless the project turned leftoff off.
        home=entry if hooks.state == "off" else None,
        is_fine=hooks.saves,
    )


def _find_unsaved(entry: SiteProject, work: Workspace) -> Iterator[Matter]:
    found = sorted(work.find_unsaved(), key=lambda each: each.touched_at)
    if found:
        newest, count = found[-1], len(found)
        yield Matter(
            kind="unsaved",
            title=f"Unsaved work: {newest.agent}" if count == 1 else f"{count} unsaved sessions",
            text=newest.request,
            command=recover_command([each.touched_at for each in found], work.store.now()),
            home=entry,
        )


def _find_prompts(entry: SiteProject, work: Workspace) -> Iterator[Matter]:
    waiting = [each for each in prompt_queue.list_pending(work.store) if each.is_from_a_person]
    if waiting:
        title = "1 prompt waits" if len(waiting) == 1 else f"{len(waiting)} prompts wait"
        yield Matter(
            kind="prompts", title=title, text=waiting[-1].text, path="/prompts", home=entry
        )


def _find_queue(entry: SiteProject, work: Workspace) -> Iterator[Matter]:
    queued = knowledge.memory.entries(work.store, statuses=("queued",), limit=100)
    if queued:
        title = "1 rule to review" if len(queued) == 1 else f"{len(queued)} entries to review"
        yield Matter(kind="memory", title=title, text=queued[0].text, path="/memory", home=entry)
