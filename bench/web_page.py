"""Measure the web page at 10,000 threads: server time, size of the first paint, live updates.

The server runs in the development environment, which has the extra `ui`. Only answers are timed,
not the start.
"""

import contextlib
import http.client
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlsplit

import msgspec

from bench import corpus, venv
from bench.harness import Figure
from leftoff.projects.project import Project

THREADS = 10_000
ROUNDS = 200
SAVES = 15
_KIB = 1024
_PAGES = {
    "overview": "/",
    "search, a rare word": f"/search?q={corpus.RARE}&ended=1",
    "search, a word in every thread": f"/search?q={corpus.COMMON}",
    # Hundreds of words begin with these, so this is the slowest query.
    "search, two letters": "/search?q=ba",
}
_LONGEST_WAIT = 60.0


class PageServer(msgspec.Struct, frozen=True, kw_only=True):
    """A running server, and the cookie that its link gave."""

    host: str
    cookie: str

    def connect(self) -> http.client.HTTPConnection:
        """Open a connection that can be used for many requests."""
        return http.client.HTTPConnection(self.host, timeout=_LONGEST_WAIT)

    def get(self, connection: http.client.HTTPConnection, path: str) -> bytes:
        """Return the body of a page."""
        connection.request("GET", path, headers={"Cookie": self.cookie})
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status == 200, (path, answer.status)
        return body


def figures() -> list[Figure]:
    """Measure pages, sizes and live updates."""
    project = corpus.made(THREADS, threads=THREADS)
    with serve(project) as server:
        return [*_measure_pages(server), _measure_size(server), *_measure_updates(server, project)]


@contextlib.contextmanager
def serve(project: Project) -> Iterator[PageServer]:
    """Start `leftoff ui` for a project, and log in."""
    words = [sys.executable, "-m", "leftoff", "ui", "--json", "--no-open"]
    environment = venv.environment(corpus.home_of(project))
    process = subprocess.Popen(
        words, cwd=project.root, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        link = urlsplit(json.loads("".join(iter_object(process.stdout)))["link"])
        connection = http.client.HTTPConnection(link.netloc, timeout=_LONGEST_WAIT)
        connection.request("GET", f"{link.path}?{link.query}")
        cookie = (connection.getresponse().getheader("Set-Cookie") or "").partition(";")[0]
        connection.close()
        yield PageServer(host=link.netloc, cookie=cookie)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=_LONGEST_WAIT)


def iter_object(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines of the first JSON object that a program prints."""
    for line in lines:
        yield line
        if line.startswith("}"):
            return


def _measure_pages(server: PageServer) -> list[Figure]:
    found: dict[str, list[float]] = {name: [] for name in _PAGES}
    connection = server.connect()
    for path in _PAGES.values():
        server.get(connection, path)
    for _ in range(ROUNDS):
        for name, path in _PAGES.items():
            began = time.perf_counter()
            server.get(connection, path)
            found[name].append((time.perf_counter() - began) * 1000)
    connection.close()
    return [each for name, took in found.items() for each in _judge(name, took)]


def _judge(name: str, took: list[float]) -> list[Figure]:
    what = f"{name} at {THREADS:,} threads"
    p99 = quantiles(took, n=100)[98]
    return [
        Figure(what=f"{what}, p50", value=median(took), unit="ms", limit=50),
        Figure(what=f"{what}, p99", value=p99, unit="ms", limit=200),
    ]


def _measure_size(server: PageServer) -> Figure:
    """Return the bytes of the overview with everything that its first paint needs."""
    connection = server.connect()
    page = server.get(connection, "/").decode()
    addresses = [part.split('"')[0] for part in page.split('"/assets/')[1:]]
    files = [server.get(connection, f"/assets/{each}") for each in addresses]
    connection.close()
    size = len(page.encode()) + sum(map(len, files))
    return Figure(what="overview, first paint in all", value=size / _KIB, unit="KiB", limit=300)


def _measure_updates(server: PageServer, project: Project) -> list[Figure]:
    """Save in other processes, and time until an open page knows."""
    connection = server.connect()
    connection.request("GET", "/events", headers={"Cookie": server.cookie})
    stream = connection.getresponse()
    took = []
    try:
        _wait_for(stream, b"event: ready")
        for number in range(SAVES):
            _save(project, f"live-{number}")
            began = time.perf_counter()
            _wait_for(stream, b"event: change")
            took.append(time.perf_counter() - began)
    finally:
        connection.close()
        _clean_up(project)
    return [
        Figure(what="save in another process until the page shows it, p50", value=median(took),
               unit="s", limit=2),
        Figure(what="the same, longest", value=max(took), unit="s", limit=2),
    ]  # fmt: skip


def _wait_for(stream: http.client.HTTPResponse, wanted: bytes) -> None:
    while True:
        line = stream.readline()
        assert line, "The stream ended."
        if line.startswith(wanted):
            return


def _leftoff(project: Project, *words: str) -> None:
    environment = venv.environment(corpus.home_of(project))
    command = [sys.executable, "-m", "leftoff", *words, "--quiet"]
    subprocess.run(command, cwd=project.root, env=environment, check=True)


def _save(project: Project, name: str) -> None:
    _leftoff(project, "save", name, "--summary", "Show it at once", "--next", "Look at the page")


def _clean_up(project: Project) -> None:
    """Remove the saves again: the store stays for later runs."""
    names = [f"live-{number}" for number in range(SAVES)]
    known = [each for each in names if _is_saved(project, each)]
    if known:
        _leftoff(project, "drop", *known)


def _is_saved(project: Project, name: str) -> bool:
    return any(name.encode() in path.read_bytes() for path in _newest_files(project.store))


def _newest_files(store: Path) -> list[Path]:
    months = sorted((store / "checkpoints").iterdir())[-1:]
    return [path for month in months for path in month.iterdir()]
