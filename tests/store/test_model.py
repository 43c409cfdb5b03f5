"""Any sequence of operations gives the same result as a simple model."""

import os
import shutil
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from leftoff.checkpoint import Checkpoint, new_id
from leftoff.errors import ChoiceNeeded
from leftoff.store import Action, Store, StoreEvent
from store.store_model import BECOMES, Act, Model, Revision
from stores import MEMORY, Clock, draft, project_at, rebuilt_view, view


class Operations(RuleBasedStateMachine):
    """Both are given the same operations; two readers hold the store open at the same time."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY))
        self.project = project_at(self.folder)
        self.clock = Clock()
        self.stores = [Store(self.project, now=self.clock) for _ in range(2)]
        self.model = Model()
        self.saves = 0
        self.ids: dict[str, str] = {}
        self.threads: dict[str, str] = {}
        self.moments = 0

    def teardown(self) -> None:
        assert rebuilt_view(self.project) == self.model.rows()
        for store in self.stores:
            store.close()
        shutil.rmtree(self.folder)

    @property
    def index(self) -> Path:
        return self.project.store / "index.sqlite"

    @rule(
        who=st.integers(0, 1),
        name=st.sampled_from(["login-form", "search-page", None]),
        session=st.sampled_from(["s1", "s2"]),
        trigger=st.sampled_from(["manual", "manual", "session-end", "ship"]),
        overwrite=st.booleans(),
    )
    def save(
        self, who: int, name: str | None, session: str, trigger: str, *, overwrite: bool
    ) -> None:
        slot = None if name else f"~claude:{session}"
        given = draft(name, agent="claude", session_id=session)
        given = msgspec.structs.replace(given, trigger=trigger)
        self.save_both(who, slot, given, overwrite=overwrite)

    @precondition(lambda self: self.model.revisions)
    @rule(
        who=st.integers(0, 1),
        which=st.integers(0, 1000),
        name=st.sampled_from(["login-form", "search-page", "new-name"]),
        trigger=st.sampled_from(["manual", "session-end"]),
        overwrite=st.booleans(),
    )
    def save_into(self, who: int, which: int, name: str, trigger: str, *, overwrite: bool) -> None:
        """Continue a thread, under its name or another."""
        revision = self.model.revisions[which % len(self.model.revisions)]
        given = draft(name, thread=self.threads[revision.task])
        given = msgspec.structs.replace(given, trigger=trigger)
        self.save_both(who, revision.slot, given, overwrite=overwrite)

    def save_both(
        self, who: int, slot: str | None, given: Checkpoint, *, overwrite: bool
    ) -> Revision | None:
        self.saves += 1
        task = f"task {self.saves}"
        given = msgspec.structs.replace(given, summary=task)
        made = self.model.save(slot, given.name, task, given.trigger, overwrite=overwrite)
        if made is None:
            with pytest.raises(ChoiceNeeded):
                self.stores[who].save(given, overwrite=overwrite)
            return None
        saved = self.stores[who].save(given, overwrite=overwrite)
        new, before = made
        assert saved.replaced == (self.ids[before.task] if before else None)
        new.rank = (saved.checkpoint.saved_at, saved.checkpoint.id)
        self.ids[task] = saved.checkpoint.id
        assert saved.checkpoint.thread is not None
        self.threads[task] = saved.checkpoint.thread
        return new

    @rule(who=st.integers(0, 1), threads=st.lists(st.integers(0, 3), min_size=1, unique=True))
    def save_together(self, who: int, threads: list[int]) -> None:
        """Save several checkpoints as one act, as recovering sessions does."""
        act = new_id(self.clock())
        made = []
        for number in threads:
            slot = f"~claude:s{number}"
            given = draft(None, agent="claude", session_id=f"s{number}")
            given = msgspec.structs.replace(given, trigger="recovered", act=act)
            made.append(self.save_both(who, slot, given, overwrite=False))
        self.model.do(Act([each for each in made if each is not None], is_save=True))

    @precondition(lambda self: self.model.revisions)
    @rule(
        who=st.integers(0, 1),
        which=st.integers(0, 1000),
        action=st.sampled_from([*BECOMES]),
    )
    def say(self, who: int, which: int, action: Action) -> None:
        revision = self.model.revisions[which % len(self.model.revisions)]
        self.stores[who].record(action, [self.id_of(revision)])
        self.model.say(revision, action)

    @rule(who=st.integers(0, 1))
    def undo(self, who: int) -> None:
        self.compare(self.stores[who].undo(), self.model.undo())

    @rule(who=st.integers(0, 1))
    def redo(self, who: int) -> None:
        self.compare(self.stores[who].redo(), self.model.redo())

    def compare(self, done: StoreEvent | None, modelled: Act | None) -> None:
        """Both must have turned the same act off or on."""
        assert (done is None) == (modelled is None)
        if done is not None and modelled is not None:
            assert {*done.ids} == {each.id for each in modelled.revisions}

    @rule(who=st.integers(0, 1), count=st.integers(1, 4))
    def undo_and_redo(self, who: int, count: int) -> None:
        """Redoing everything that was undone leaves the store as it was."""
        before = view(self.stores[who])
        undone = sum(self.stores[who].undo() is not None for _ in range(count))
        redone = sum(self.stores[who].redo() is not None for _ in range(undone))
        assert (view(self.stores[who]), redone) == (before, undone)

    @precondition(lambda self: self.model.revisions)
    @rule(who=st.integers(0, 1), which=st.integers(0, 1000))
    def purge(self, who: int, which: int) -> None:
        revision = self.model.revisions[which % len(self.model.revisions)]
        entry = self.stores[who].index().get(self.id_of(revision))
        assert entry is not None
        self.stores[who].purge([entry])
        self.model.revisions.remove(revision)

    def id_of(self, revision: Revision) -> str:
        return self.ids[revision.task]

    @rule(minutes=st.sampled_from([-90, -1, 1, 60 * 24 * 40]))
    def set_the_clock(self, minutes: int) -> None:
        self.clock.move(minutes=minutes)

    @rule(who=st.integers(0, 1))
    def come_anew(self, who: int) -> None:
        self.stores[who].close()
        self.stores[who] = Store(self.project, now=self.clock)

    @rule()
    def delete_the_index(self) -> None:
        self.index.unlink(missing_ok=True)

    @precondition(lambda self: self.index.exists())
    @rule(part=st.sampled_from([0, 1, 2, 3]))
    def cut_the_index(self, part: int) -> None:
        os.truncate(self.index, self.index.stat().st_size * part // 4)

    @precondition(lambda self: self.index.exists())
    @rule(at=st.sampled_from([0, 20, 4096, 8192 + 100]))
    def garble_the_index(self, at: int) -> None:
        with self.index.open("r+b") as file:
            file.seek(at)
            file.write(b"\xff" * 64)

    @rule()
    def tear_the_log(self) -> None:
        if self.project.store.exists():
            with (self.project.store / "events.jsonl").open("ab") as log:
                log.write(b'{"id": "torn')

    @rule()
    def let_folders_settle(self) -> None:
        """Make the folders look long unchanged, so that they are not listed again."""
        for folder in (self.project.store / "checkpoints").glob("*"):
            self.moments += 1
            os.utime(folder, (1_600_000_000 + self.moments,) * 2)

    # Not after every step: a reader brings the index up to date, and saves must not depend on it.
    @rule(who=st.integers(0, 1))
    def look(self, who: int) -> None:
        assert view(self.stores[who]) == self.model.rows()


Operations.TestCase.settings = settings(
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


pytestmark = [pytest.mark.accept(166), pytest.mark.slow("plays long stories")]
TestOperations = Operations.TestCase
