"""Report changes of the stores to open pages, by looking at a few files twice a second."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from leftoff.projects.project import Project
from leftoff.web.site import Site

_PAUSE_SECONDS = 0.5
# A comment keeps the connection known to be alive, and shows whether the browser is still there.
_KEEP_ALIVE_TURNS = 30
_WATCHED = (
    "events.jsonl",
    "memory.jsonl",
    "prompts.jsonl",
    "features.json",
    "features.jsonl",
    "loops",
    "snapshots/records",
)

Sight = dict[str, tuple[int, int]]


def look_at(projects: list[Project]) -> Sight:
    """Return size and time of everything whose change is worth showing."""
    found: Sight = {}
    for project in projects:
        for path in _list_watched(project):
            try:
                seen = path.stat()
            except OSError:
                continue
            found[os.fspath(path)] = (seen.st_size, seen.st_mtime_ns)
    return found


def _list_watched(project: Project) -> list[Path]:
    checkpoints = project.store / "checkpoints"
    try:
        months = [checkpoints / name for name in sorted(os.listdir(checkpoints))[-2:]]  # noqa: PTH208 - only the names
    except OSError:
        months = []
    return [*(project.store / name for name in _WATCHED), checkpoints, *months]


class LiveUpdates:
    """The stream of changes that an open page listens to."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def answer(self, _request: Request) -> StreamingResponse:
        """Stream an event whenever something changes, until the page or the server ends."""
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncIterator[bytes]:
        before = await run_in_threadpool(self._look)
        yield b"retry: 2000\nevent: ready\ndata: \n\n"
        turn = 0
        while not self._site.is_stopping():
            await asyncio.sleep(_PAUSE_SECONDS)
            now = await run_in_threadpool(self._look)
            turn += 1
            if now != before:
                yield b"event: change\ndata: \n\n"
                before = now
            elif turn % _KEEP_ALIVE_TURNS == 0:
                yield b": still here\n\n"
        yield b"event: end\ndata: \n\n"

    def _look(self) -> Sight:
        return look_at([each.project for each in self._site.list_projects()])
