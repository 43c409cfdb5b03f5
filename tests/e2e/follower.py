"""A model that has nothing in mind but what `leftoff guide` says: it runs the guide's commands."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence

from e2e.model import Model
from e2e.turns import Turn, bash
from e2e.wire import Request

HEADING = "# Saving and resuming in this project"
Plan = Callable[["Guide"], Sequence[Turn]]


class Guide:
    """The guide as the model was shown it."""

    def __init__(self, text: str) -> None:
        # The page of a slash command goes on with chapters of its own.
        self.text = text[text.index(HEADING) :].partition("\n# ")[0]
        joined = self.text.replace("\\\n", "")
        blocks = re.findall(r"^leftoff .*$", joined, re.MULTILINE)
        self.commands = [*blocks, *re.findall(r"`(leftoff [^`]+)`", joined)]

    def run(self, begins: str, words: Mapping[str, str] | None = None, **said: str) -> Turn:
        """Make a turn that runs a command of the guide.

        `words` take the place of words of the guide, such as NAME. `said` is what the model has to
        say, by option: the guide must name each of them, and the others are left out.
        """
        found = [each for each in self.commands if each.startswith(begins)]
        line = begins if begins in found else found[0]
        given = [(words or {}).get(word, word) for word in shlex.split(line)]
        return bash(shlex.join(_say(given, said) if said else given))

    def asks(self, question: str) -> str:
        """Return a question that the guide has the model ask."""
        assert f'"{question}"' in self.text, question
        return question


def _say(line: Sequence[str], said: Mapping[str, str]) -> list[str]:
    first = next(number for number, word in enumerate(line) if word.startswith("--"))
    named = {word for word in line if word.startswith("--")}
    options = {f"--{key}": text for key, text in said.items()}
    assert set(options) <= named, f"the guide does not name {set(options) - named}"
    return [*line[:first], *(word for pair in options.items() for word in pair)]


def follow(model: Model, plan: Plan, *first: Turn) -> None:
    """Let the model act by the guide once it has seen it; `first` are its turns before that."""
    seen: list[str] = []

    def watch(request: Request) -> None:
        if request.kind == "main" and HEADING in request.news and not seen:
            seen.append(request.session_id)
            model.will(*plan(Guide(request.news)))

    model.watch = watch
    model.will(*first)
