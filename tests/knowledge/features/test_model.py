"""Any sequence of operations gives the same result as a simple model."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from leftoff.errors import LeftoffError
from leftoff.knowledge import features, memory
from leftoff.knowledge.features import ItemDraft, Try
from leftoff.store import Store
from stores import MEMORY, Clock, project_at

pytestmark = pytest.mark.slow("plays long stories")

SESSIONS = st.sampled_from([None, "one", "two"])
KEYS = st.integers(1, 4)
ENDINGS: dict[str, str] = {
    "failing": "needs_review", "blocked": "needs_review", "escalated": "escalated",
}  # fmt: skip


class Model:
    """What features should be, without files, ids or clocks."""

    def __init__(self) -> None:
        self.features: dict[int, dict[str, Any]] = {}
        self.loops: dict[str | None, dict[str, Any]] = {}
        self.touched = 0

    def touch(self, loop: dict[str, Any]) -> None:
        self.touched += 1
        loop["touched"] = self.touched

    def at_hand(self, session: str | None) -> str | bool | None:
        """Return the key of the loop at hand, or False if none is under way."""
        own = self.loops.get(session)
        if own and own["status"] != "idle":
            return session if own["status"] == "in_progress" else False
        there = [key for key, loop in self.loops.items() if loop["status"] == "in_progress"]
        return max(there, key=lambda key: self.loops[key]["touched"]) if there else False

    def holder(self, session: str | None, number: int) -> str | bool | None:
        """Return the key of the loop on a feature, or False if there is none."""
        if self.loops.get(session, {}).get("feature") == number:
            return session
        there = [key for key, loop in self.loops.items() if loop["feature"] == number]
        return max(there, key=lambda key: self.loops[key]["touched"]) if there else False

    def start(self, number: int, session: str | None) -> bool:
        feature = self.features.get(number)
        own = self.loops.get(session)
        if feature is None or feature["archived"]:
            return False
        if own and own["status"] == "in_progress" and own["feature"] != number:
            return False
        key = self.holder(session, number)
        loop = self.loops[key] if not isinstance(key, bool) else None
        if loop is None or loop["status"] == "completed":
            loop = {"feature": number, "history": [], "attempt": feature["attempts"] + 1}
            self.touch(loop)
        self.loops[session] = {**loop, "status": "in_progress"}
        for each, other in self.loops.items():
            # A completed loop whose attempts are not in this one still has something to show.
            is_covered = all(tried in loop["history"] for tried in other["history"])
            if each != session and other["feature"] == number and is_covered:
                self.loops[each] = {"feature": None, "status": "idle", "history": [], "touched": 0}
        feature["status"] = "in_progress"
        return True

    def attempt(self, session: str | None, approach: str, result: str) -> bool:
        key = self.at_hand(session)
        if isinstance(key, bool):
            return False
        self.tried(self.loops[key], approach, result)
        return True

    def tried(self, loop: dict[str, Any], approach: str, result: str) -> None:
        number = len(loop["history"]) and loop["history"][-1][0] + 1
        number = max(loop["attempt"], number)
        loop["history"] = [*loop["history"], (number, approach, result)]
        feature = self.features[loop["feature"]]
        feature["attempts"] = max(feature["attempts"], number)
        loop["attempt"] = number
        if result == "failed" and number >= 15:
            loop["status"] = feature["status"] = "escalated"
        elif result == "failed":
            loop["attempt"] = number + 1
        self.touch(loop)

    def end(self, session: str | None, number: int | None, status: str, loop_status: str) -> bool:
        if number is None:
            key = self.at_hand(session)
            if isinstance(key, bool):
                return False
            number = self.loops[key]["feature"]
        if number not in self.features:
            return False
        key = self.holder(session, number)
        if not isinstance(key, bool):
            self.loops[key]["status"] = loop_status
        self.features[number]["status"] = status
        return True

    def archive(self) -> int:
        done = [
            each
            for each in self.features.values()
            if each["status"] == "passing" and not each["archived"]
        ]
        for each in done:
            each["archived"] = True
        return len(done)

    def reset(self, session: str | None) -> bool:
        own = self.loops.get(session)
        there = {key: loop for key, loop in self.loops.items() if loop["status"] == "completed"}
        if own and own["status"] != "idle":
            there = {key: loop for key, loop in there.items() if key == session}
        if not there:
            return False
        key = max(there, key=lambda each: there[each]["touched"])
        self.loops[key] = {"feature": None, "status": "idle", "history": [], "touched": 0}
        return True


class Operations(RuleBasedStateMachine):
    """The store and the model, side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY))
        self.project = project_at(self.folder)
        self.clock = Clock()
        self.model = Model()
        self.learnt: set[tuple[str, str]] = set()
        self._opened = Store(self.project, now=self.clock)

    def teardown(self) -> None:
        self._opened.close()
        shutil.rmtree(self.folder)

    @property
    def store(self) -> Store:
        """A store of its own for every question, as another process has."""
        self._opened.close()
        self._opened = Store(self.project, now=self.clock)
        return self._opened

    @rule()
    def add(self) -> None:
        number = len(self.model.features) + 1
        if number > 4:
            return
        features.add(self.store, ItemDraft(name=f"Feature {number}"))
        self.model.features[number] = {"status": "pending", "attempts": 0, "archived": False}

    @rule(number=KEYS, session=SESSIONS)
    def start(self, number: int, session: str | None) -> None:
        done = self.did(lambda: features.start(self.store, str(number), session_id=session))
        assert done == self.model.start(number, session)

    @rule(session=SESSIONS, way=st.integers(1, 5), result=st.sampled_from(["passed", "failed"]))
    def attempt(self, session: str | None, way: int, result: Any) -> None:
        what = Try(approach=f"Way {way}", result=result)
        done = self.did(lambda: features.attempt(self.store, what, session_id=session))
        assert done == self.model.attempt(session, what.approach, result)
        if done:
            self.learnt.add(("success" if result == "passed" else "failure", what.approach))

    @rule(session=SESSIONS, number=st.none() | KEYS)
    def pass_(self, session: str | None, number: int | None) -> None:
        key = str(number) if number else None
        done = self.did(lambda: features.pass_(self.store, key, session_id=session))
        assert done == self.model.end(session, number, "passing", "completed")

    @rule(session=SESSIONS, number=st.none() | KEYS, status=st.sampled_from([*ENDINGS]))
    def fail(self, session: str | None, number: int | None, status: Any) -> None:
        key = str(number) if number else None
        done = self.did(lambda: features.fail(self.store, key, session_id=session, status=status))
        assert done == self.model.end(session, number, status, ENDINGS[status])

    @rule()
    def archive(self) -> None:
        assert len(features.archive(self.store).features) == self.model.archive()

    @rule(session=SESSIONS)
    def reset(self, session: str | None) -> None:
        reset = features.reset_completed(self.store, "abc", session_id=session)
        assert (reset is not None) == self.model.reset(session)

    @rule()
    def go_on_in_the_fallback(self) -> None:
        """Swap the lock for a folder, or back: with it nothing can be written to the store."""
        lock = self.project.store / "lock"
        if lock.is_dir():
            lock.rmdir()
        else:
            lock.unlink(missing_ok=True)
            lock.mkdir(parents=True)

    def did(self, act: Any) -> bool:
        try:
            act()
        except LeftoffError:
            return False
        return True

    @invariant()
    def all_is_as_in_the_model(self) -> None:
        board = features.load(self.store)
        assert [(each.status, each.attempts, each.is_archived) for each in board.features] == [
            tuple(each.values()) for each in self.model.features.values()
        ]
        loops = {loop.session_id: loop for loop in features.load_loops(self.store).values()}
        for session, loop in self.model.loops.items():
            if loop["status"] == "idle":
                continue
            found = loops[session]
            history = [(each.attempt, each.approach, each.result) for each in found.history]
            assert found.feature == f"feature-{loop['feature']:03d}"
            assert (found.status, history) == (loop["status"], loop["history"])

    @invariant()
    def memory_has_every_lesson(self) -> None:
        found = memory.entries(self.store, kinds=["success", "failure"])
        assert {(each.kind, each.text) for each in found} == self.learnt


TestOperations = Operations.TestCase
TestOperations.settings = settings(stateful_step_count=30, deadline=None)
