"""A project with a week of work, and a real `leftoff ui` that shows it."""

import contextlib
import http.client
import json
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlencode, urlsplit

import msgspec

from gitrepo import Repo

_STORY: dict[str, Any] = {}
_SECONDS = 120


class StoryWorld:
    """A repository for the story of the pictures, as scripts/stage.py makes one."""

    def __init__(self, folder: Path) -> None:
        self.repo = Repo.begun(folder)
        self.environment = dict(os.environ)

    @property
    def project(self) -> Path:
        """The project's folder."""
        return self.repo.folder

    def run(self, *words: str) -> str:
        """Run git, or any other command, in the project."""
        if words[0] == "git":
            return self.repo.git(*words[1:])
        done = subprocess.run(
            words, cwd=self.project, env=self.environment, capture_output=True, check=True
        )
        return done.stdout.decode()

    def write(self, path: str, text: str) -> None:
        """Write a file in the project."""
        self.repo.write(path, text)

    def commit(self, subject: str) -> None:
        """Commit everything."""
        self.repo.commit(subject)


def play_story(folder: Path) -> StoryWorld:
    """Make a repository with the story of scripts/ui_story.py."""
    if not _STORY:
        script = Path(__file__).resolve().parents[2] / "scripts" / "ui_story.py"
        _STORY.update(runpy.run_path(str(script)))
    world = StoryWorld(folder)
    for path, text in _STORY["FILES"].items():
        world.write(path, text)
    world.commit("Start the shop")
    _STORY["play_story"](world)
    return world


class HttpAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the server said."""

    status: int
    headers: Mapping[str, str]
    text: str


class RunningPage:
    """A running server, as a program without a browser sees it."""

    def __init__(self, link: str, process: "subprocess.Popen[str]") -> None:
        self.link = link
        self.process = process
        self.host = urlsplit(link).netloc
        self.root = f"http://{self.host}"
        self.cookie = ""

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        form: Mapping[str, str] | None = None,
        **headers: str | None,
    ) -> HttpAnswer:
        """Send one request; `Host`, `Cookie` and `Origin` are right unless given otherwise."""
        connection = http.client.HTTPConnection(self.host, timeout=_SECONDS)
        body = urlencode(form) if form is not None else None
        sent = {"Host": self.host, "Cookie": self.cookie or None}
        sent |= {"Origin": self.root} if method == "POST" else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            given = {name: value for name, value in sent.items() if value is not None}
            connection.request(method, path, body=body, headers=given)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
            news = {name.lower(): value for name, value in answer.getheaders()}
            return HttpAnswer(status=answer.status, headers=news, text=text)
        finally:
            connection.close()

    def log_in(self) -> HttpAnswer:
        """Follow the link, and keep the cookie."""
        answer = self.ask(self.link.removeprefix(self.root))
        self.cookie = answer.headers.get("set-cookie", "").partition(";")[0]
        return answer

    def find_csrf(self, path: str = "/memory") -> str:
        """Return the token in the forms of a page."""
        page = self.ask(path).text
        return page.partition('name="csrf" value="')[2].partition('"')[0]

    def stop(self) -> int:
        """End it as Ctrl-C does, and return its exit code."""
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=_SECONDS)
        return self.process.returncode


@contextlib.contextmanager
def serve(folder: Path, *options: str) -> Iterator[RunningPage]:
    """Run `leftoff ui` in a folder."""
    process = start(folder, *options)
    try:
        assert process.stdout is not None
        yield RunningPage(read_object(process.stdout)["link"], process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def start(folder: Path, *options: str) -> "subprocess.Popen[str]":
    """Start `leftoff ui` in a folder, without a browser."""
    words = [sys.executable, "-m", "leftoff", "ui", "--json", "--no-open", *options]
    return subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True)


def read_object(stream: IO[str]) -> Any:
    """Read the JSON object that the command prints when the page can be opened."""
    lines: list[str] = []
    while not lines or not lines[-1].startswith("}"):
        line = stream.readline()
        assert line, "The command ended before it served the page."
        lines.append(line)
    return json.loads("".join(lines))
