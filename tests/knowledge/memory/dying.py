"""Kill operations on the memory at every step they take on disk, and check what is left.

Run as a program, because it forks: `dying.py FOLDER add`.
"""

from pathlib import Path

import deaths
from deaths import Death, Trial
from leftoff.knowledge import memory
from leftoff.knowledge.memory import EntryDraft
from leftoff.store import Store
from stores import project_at

_OLD, _NEW = {"Old"}, {"New 0", "New 1", "New 2"}


def _prepare(place: Path) -> None:
    _remember(place, "Old")


def _add(place: Path) -> None:
    _remember(place, *sorted(_NEW))


def _remember(place: Path, *texts: str) -> None:
    memory.add(Store(project_at(place)), [EntryDraft(kind="decision", text=text) for text in texts])


def _look(place: Path) -> set[str]:
    return {entry.text for entry in memory.entries(Store(project_at(place)))}


def _check(place: Path, death: Death) -> None:
    """What was there is there, what was acknowledged too, and the memory works on."""
    seen = _look(place)
    assert seen >= _OLD, death
    assert seen == _OLD | _NEW or not death.lived, (death, seen)
    _remember(place, *sorted(_NEW), "New 3")
    texts = sorted(entry.text for entry in memory.entries(Store(project_at(place))))
    assert texts == sorted([*_OLD, *_NEW, "New 3"]), (death, texts)


TRIALS = {"add": Trial(_prepare, _add, _look, _check)}


if __name__ == "__main__":
    deaths.main(TRIALS)
