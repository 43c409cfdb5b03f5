"""Kill operations on features at every step they take on disk, and check what is left.

Run as a program, because it forks: `dying.py FOLDER SCENARIO …`.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import deaths
from deaths import Death, Trial
from leftoff.knowledge import features, memory
from leftoff.knowledge.features import AgentResult, Choice, ItemDraft, Orchestration, Try
from leftoff.projects.project import Project
from leftoff.store import Store
from stores import project_at, set_orchestration

ORCHESTRATION = Orchestration(
    session="s1",
    results=[
        AgentResult(agent="one", status="failed", summary="Whole file", root_cause="too large")
    ],
    decisions=[Choice(decision="Stream")],
    patterns=["Rows come one by one"],
)


class Scenario(NamedTuple):
    """Something that is done, and what was there before."""

    prepare: Callable[[Store], object]
    act: Callable[[Store], object]


def _prepare(store: Store) -> None:
    for name in ("Export", "Import", "Print"):
        features.add(store, ItemDraft(name=name))
    features.add_fix(store, "1", ItemDraft(name="Fix it"))
    features.pass_(store, "3")


def _prepare_started(store: Store) -> None:
    _prepare(store)
    features.start(store, "1", session_id="one")
    features.attempt(store, Try(approach="First way"), session_id="one")


def _prepare_interrupted(store: Store) -> None:
    _prepare_started(store)
    features.mark_interrupted(store, "one", "crashed")


def _prepare_completed(store: Store) -> None:
    _prepare_started(store)
    features.pass_(store, session_id="one")


def _prepare_together(store: Store) -> None:
    _prepare(store)
    set_orchestration(store, ORCHESTRATION)


def _prepare_fallback(store: Store) -> None:
    """Leave a change in the fallback, as if the store had been read-only for a while."""
    _prepare(store)
    aside = store.project.store.rename(store.project.store.with_name("aside"))
    store.project.store.write_text("in the way", encoding="utf-8")
    features.put(store, [features.Feature(id="feature-009", name="Told in the sandbox")])
    features.start(store, "9", session_id="sandbox")
    features.attempt(store, Try(approach="Tried in the sandbox"), session_id="sandbox")
    store.project.store.unlink()
    aside.rename(store.project.store)


SCENARIOS: dict[str, Scenario] = {
    "first-add": Scenario(lambda _: None, lambda store: features.add(store, ItemDraft(name="New"))),
    "add": Scenario(_prepare, lambda store: features.add(store, ItemDraft(name="New"))),
    "add-fix": Scenario(
        _prepare, lambda store: features.add_fix(store, "2", ItemDraft(name="New"))
    ),
    "update": Scenario(_prepare, lambda store: features.update(store, "2", pr=7)),
    "start": Scenario(_prepare, lambda store: features.start(store, "1", session_id="one")),
    "take-over": Scenario(
        _prepare_started, lambda store: features.start(store, "1", session_id="two")
    ),
    "fresh": Scenario(
        _prepare_interrupted,
        lambda store: features.start(store, "1", session_id="two", again="fresh"),
    ),
    "reset-and-start": Scenario(
        _prepare_interrupted,
        lambda store: features.start(store, "1", session_id="two", again="reset"),
    ),
    "attempt": Scenario(
        _prepare_started,
        lambda store: features.attempt(store, Try(approach="Second way"), session_id="one"),
    ),
    "pass": Scenario(
        _prepare_started,
        lambda store: features.pass_(
            store, session_id="one", what=Try(approach="Third way", result="passed")
        ),
    ),
    "fail": Scenario(_prepare_started, lambda store: features.fail(store, session_id="one")),
    "archive": Scenario(_prepare, features.archive),
    "reset": Scenario(
        _prepare_completed,
        lambda store: features.reset_completed(store, "abc", session_id="one"),
    ),
    "mark": Scenario(
        _prepare_started, lambda store: features.mark_interrupted(store, "one", "crashed")
    ),
    "fold": Scenario(_prepare_together, features.fold_orchestration),
    "adopt-and-add": Scenario(_prepare_fallback, lambda s: features.add(s, ItemDraft(name="New"))),
}


def _look(place: Path) -> dict[str, Any]:
    """Tell all that is kept, without times."""
    store = Store(project_at(place))
    board, loops = features.load(store), features.load_loops(store)
    seen = {
        "items": {
            each.id: (each.name, each.status, each.attempts, each.pr, each.is_archived)
            for each in board.items
        },
        "orchestration": repr(board.orchestration),
        "loops": {
            key: (loop.feature, loop.status, loop.attempt, loop.last_checkpoint,
                  bool(loop.interrupted), [each.approach for each in loop.history])
            for key, loop in loops.items()
        },
        "memory": sorted(each.text for each in memory.entries(store)),
    }  # fmt: skip
    store.close()
    return seen


def _prepare_in(place: Path, scenario: Scenario) -> None:
    scenario.prepare(Store(project_at(place)))


def _act_in(place: Path, scenario: Scenario) -> None:
    scenario.act(Store(project_at(place)))


def _check(place: Path, death: Death, scenario: Scenario) -> None:
    """No file is half and no entry lost; the killed process can repeat the operation."""
    project, before, after, seen = project_at(place), death.before, death.after, _look(place)
    _check_files(project)
    assert seen == after if death.lived else before["items"].keys() <= seen["items"].keys(), death
    assert {*before["memory"]} <= {*seen["memory"]}, death
    assert before["loops"].keys() <= seen["loops"].keys(), (death, seen)
    if seen != after:
        _act_in(place, scenario)
        seen = _look(place)
    assert seen == after, (death, seen)
    _check_usable(project)


def _check_files(project: Project) -> None:
    for path in [project.store / "features.json", *(project.store / "loops").glob("*")]:
        assert not path.exists() or json.loads(path.read_bytes()) is not None, path


def _check_usable(project: Project) -> None:
    store = Store(project)
    added = features.add(store, ItemDraft(name="After the crash"))
    assert features.find(features.load(store), added.id) == added
    assert [*(project.store / "tmp").iterdir()] == [], "temp files are left"
    store.close()


TRIALS: dict[str, Trial] = {
    name: Trial(
        prepare=partial(_prepare_in, scenario=scenario),
        act=partial(_act_in, scenario=scenario),
        look=_look,
        check=partial(_check, scenario=scenario),
    )
    for name, scenario in SCENARIOS.items()
}


if __name__ == "__main__":
    deaths.main(TRIALS)
