"""Compare what leftoff says with what a careful colleague would have said."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from e2e.bench import Result
from e2e.faces import Row, Start, holds, list_work, read_start, resume, says_age, show_status
from e2e.turns import Turn, say
from e2e.user import User


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of work in the colleague's words."""

    word: str
    """A word of its task that no other work has."""
    next: str
    """Words of its next action."""
    days: int | None
    """How many days ago somebody last worked on it, if that is certain."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The colleague's answer to "where did we leave off?", in one folder at one moment."""

    here: tuple[Work, ...] = ()
    """What is open in this worktree, newest first."""
    everywhere: tuple[Work, ...] | None = None
    """What is open in the whole project, newest first, if that is more."""

    @property
    def open(self) -> tuple[Work, ...]:
        """All open work of the project."""
        return self.here if self.everywhere is None else self.everywhere


class Colleague:
    """Asks leftoff at each moment of a story, and notes every answer that is wrong."""

    def __init__(self, user: User, words: tuple[str, ...]) -> None:
        self.user, self._words = user, words
        self.wrong: list[str] = []

    def compare_start(self, moment: str, answer: Answer, result: Result) -> None:
        """Compare what a session got when it started."""
        reply = read_start(self.user, result)
        self._note(f"{moment}: the offer", self._check_start(answer, reply))

    def compare_faces(self, moment: str, answer: Answer, *, cwd: Path | None = None) -> None:
        """Compare `list`, `status` and `resume`."""
        rows = list_work(self.user, cwd=cwd)
        count, shown = show_status(self.user, cwd=cwd)
        self._note(f"{moment}: list", _check_rows(answer, rows))
        self._note(f"{moment}: status", _check_rows(answer, shown))
        if count != len(answer.open):
            self._note(f"{moment}: status", [f"counts {count}, not {len(answer.open)}"])
        self._note(f"{moment}: resume", self._check_resume(answer, cwd))

    def expect(self, moment: str, what: str, *, is_true: bool) -> None:
        """Note something else that must hold."""
        if not is_true:
            self._note(moment, [what])

    def key(self, word: str) -> str:
        """Return what a person types to name the work with this word in its task."""
        rows = list_work(self.user)
        return next((row.key for row in rows if holds(row.task, word)), "no-such-work")

    def talk(self, words: str, *, cwd: Path | None = None) -> Result:
        """Have a session that does no work."""
        return self.user.works(words, say("Sure."), cwd=cwd)

    def go_on(self, words: str, *turns: Turn, session: str, cwd: Path | None = None) -> Result:
        """Say something more in a session."""
        return self.user.works(words, *turns, cwd=cwd, options=("--resume", session))

    def _note(self, where: str, problems: list[str] | Iterator[str]) -> None:
        self.wrong += [f"{where}: {problem}" for problem in problems]

    def _check_start(self, answer: Answer, start: Start) -> Iterator[str]:
        expected = {work.word for work in answer.open}
        for word in self._words:
            if holds(start.model, word) and word not in expected:
                yield f"speaks of {word!r}, which is not open"
        if not answer.here:
            return
        newest, *others = answer.here
        for what, text in (("the model's text", start.model), ("the person's line", start.person)):
            yield from _check_offer(newest, what, text)
        places = [start.model.lower().find(work.word) for work in answer.here]
        yield from (
            f"does not name {work.word!r}: {start.model}"
            for work, place in zip(others, places[1:], strict=True)
            if place < 0
        )
        if min(places) >= 0 and places != sorted(places):
            yield f"does not come newest first: {start.model}"

    def _check_resume(self, answer: Answer, cwd: Path | None) -> Iterator[str]:
        reply = resume(self.user, cwd=cwd)
        if not answer.here:
            return
        newest = answer.here[0]
        if reply.asks:
            if len(answer.open) == 1:
                yield f"asks although only {newest.word!r} is open: {reply.asks}"
            elif not holds(reply.asks[0], newest.word) or len(reply.asks) > len(answer.open):
                yield f"asks for the wrong work: {reply.asks}"
            return
        if not holds(reply.task, newest.word):
            yield f"shows {reply.task!r}, not {newest.word!r}"
        else:
            yield from _check_words(newest, "the briefing", reply.briefing)
        if len(answer.here) > 1:
            yield f"takes {reply.task!r} without asking"


def _check_offer(work: Work, what: str, text: str) -> Iterator[str]:
    if not holds(text, work.word):
        yield f"{what} lacks the task {work.word!r}: {text}"
    yield from _check_words(work, what, text)


def _check_words(work: Work, what: str, text: str) -> Iterator[str]:
    if not holds(text, work.next):
        yield f"{what} lacks the next action {work.next!r}: {text}"
    if work.days is not None and not says_age(text, work.days):
        yield f"{what} lacks the age of {work.days} d: {text}"


def _check_rows(answer: Answer, rows: list[Row]) -> Iterator[str]:
    expected = [work.word for work in answer.open]
    tasks = [row.task for row in rows]
    if len(rows) != len(expected) or not all(map(holds, tasks, expected)):
        yield f"shows {tasks}, not {expected}"
        return
    for work, row in zip(answer.open, rows, strict=True):
        if not holds(row.next, work.next):
            yield f"next action of {work.word!r} is {row.next!r}, not {work.next!r}"
        if work.days not in {None, row.days}:
            yield f"{work.word!r} is {row.days} days old, not {work.days}"
        if not row.name:
            yield f"{work.word!r} has no name"
