"""What leftoff says about open work: to a program, to a person, and to the model of a session."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec

from e2e.bench import Result
from e2e.turns import Turn, say
from e2e.user import User

_DAY_SECONDS = 86_400
_START = "SessionStart hook additional context"
_CHOICE_NEEDED = 3
# An id of a checkpoint is for scripts; people see names.
ID = re.compile(r"\d{8}T\d{9}Z")


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of open work, as a command shows it."""

    key: str
    """What a person types to name it."""
    name: str
    task: str
    next: str
    days: int
    """How many whole days ago somebody last worked on it."""
    worktree: str

    @classmethod
    def read(cls, plain: dict[str, Any]) -> "Row":
        """Read a row of `list --json`, `status --json` or the choices of `resume`."""
        return cls(
            key=plain["name"] if plain.get("name") else plain["id"],
            name=plain.get("name") or "",
            task=plain.get("summary") or "",
            next=plain.get("next_action") or "",
            days=plain.get("age_seconds", 0) // _DAY_SECONDS,
            worktree=plain.get("worktree") or "",
        )


class Resumed(msgspec.Struct, frozen=True, kw_only=True):
    """What `resume` without a name does: show one piece of work, or ask which one."""

    task: str = ""
    briefing: str = ""
    asks: list[str] = []
    """The tasks to choose from."""


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """What leftoff gave a session when it started."""

    model: str
    """What the model's first request holds."""
    person: str
    """The line that the person sees."""
    result: Result


def list_work(user: User, *, cwd: Path | None = None) -> list[Row]:
    """Return the rows of `list`."""
    user.settled()
    return [Row.read(row) for row in json.loads(user.ok("list", "--json", cwd=cwd))]


def show_status(user: User, *, cwd: Path | None = None) -> tuple[int, list[Row]]:
    """Return how much work `status` counts, and the rows it shows."""
    user.settled()
    answer = json.loads(user.ok("status", "--json", cwd=cwd))
    return answer["count"], [Row.read(row) for row in answer["checkpoints"]]


def resume(user: User, *arguments: str, cwd: Path | None = None) -> Resumed:
    """Return what `resume` shows or asks; it changes nothing."""
    user.settled()
    result = user.leftoff("resume", *arguments, "--json", cwd=cwd)
    assert result.code in {0, _CHOICE_NEEDED}, result.err
    answer = json.loads(result.out)
    if result.code == _CHOICE_NEEDED:
        return Resumed(asks=[choice.get("summary") or "" for choice in answer["choices"]])
    shown = answer.get("checkpoint") or {}
    task = shown.get("summary") or shown.get("intent") or ""
    return Resumed(task=task, briefing=answer.get("briefing") or "")


def list_revisions(user: User, key: str) -> list[Row]:
    """Return the revisions of one piece of work, newest first."""
    user.settled()
    return [Row.read(row) for row in json.loads(user.ok("log", key, "--json"))["revisions"]]


def read_pages(user: User, *, cwd: Path | None = None) -> str:
    """Return what a person reads who asks what is open."""
    user.settled()
    return user.ok("list", cwd=cwd) + user.ok("status", cwd=cwd)


def start(user: User, prompt: str, *turns: Turn, cwd: Path | None = None) -> Start:
    """Run a session and return what it got when it started; without turns, it only talks."""
    return read_start(user, user.works(prompt, *(turns or (say("Hello."),)), cwd=cwd))


def read_start(user: User, result: Result) -> Start:
    """Return what a session that has run got when it started."""
    requests = [one for one in user.bench.model.requests() if one.session_id == result.session_id]
    text = requests[0].news.partition(_START)[2].partition("\n# Environment")[0]
    return Start(model=text, person=_read_notice(result), result=result)


def _read_notice(result: Result) -> str:
    """Return what Claude Code shows the person for the hooks of a session's start."""
    replies = [
        json.loads(event["output"])
        for event in result.events
        if event.get("subtype") == "hook_response"
        and event.get("hook_event") == "SessionStart"
        and event.get("output", "").startswith("{")
    ]
    return " ".join(reply.get("systemMessage", "") for reply in replies).strip()


def holds(text: str, words: str) -> bool:
    """Say whether a text has all these words, in any order and case."""
    return all(word.lower() in text.lower() for word in words.split())


def says_age(text: str, days: int) -> bool:
    """Return whether a text says that something was so many days ago, in any usual wording."""
    if days == 0:
        recent = r"just now|moments? ago|\b\d+ ?(s|m|h|sec\w*|min\w*|hours?)\b ago|today"
        return re.search(recent, text) is not None
    words = {1: r"yesterday|\b(1|one|a) ?d(ay)?\b|\b24 ?h(ours)?\b"}
    return re.search(words.get(days, rf"\b{days} ?d(ays)?\b"), text) is not None
