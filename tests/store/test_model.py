"""Any sequence of operations gives the same result as a simple model."""

import os
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from leftoff.checkpoint import Checkpoint
from leftoff.errors import ChoiceNeeded
from leftoff.store import Action, Store
from stores import MEMORY, Clock, Row, draft, project_at, rebuilt_view, view

BECOMES: dict[Action, str] = {
    "resumed": "resumed",
    "declined": "declined",
    "consumed": "consumed",
    "cleared": "cleared",
    "dropped": "dropped",
    "restored": "open",
}
SEEN = ("open", "resumed", "declined")


class Revision:
    """A checkpoint in the model: the acts that changed it, oldest first."""

    def __init__(self, slot: str, name: str | None, task: str) -> None:
        self.slot, self.name, self.task = slot, name, task
        self.said: list[tuple[Act | None, str]] = [(None, "open")]
        self.rank: tuple[datetime, str] = (datetime.max.replace(tzinfo=UTC), "")
        """Its time and id, which order the threads of one name."""

    @property
    def state(self) -> str:
        return next(word for act, word in reversed(self.said) if act is None or act.is_in_force)


class Act:
    """Something that a person did, which undo and redo turn off and on."""

    def __init__(self, revision: Revision, before: Revision | None, *, is_save: bool) -> None:
        self.revision, self.before, self.is_save = revision, before, is_save
        self.is_in_force = True
        self.hidden: list[Act] = []


class Undo(Act):
    """What undoing a save does to one revision: it hides it, until that is redone."""


class Model:
    """What the store should be, without files, ids or clocks."""

    def __init__(self) -> None:
        self.revisions: list[Revision] = []
        self.acts: list[Act] = []
        self.undone: list[Act] = []
        self.order: list[Act] = []

    def head(self, slot: str | None) -> Revision | None:
        there = [each for each in self.revisions if each.slot == slot and each.state != "undone"]
        return there[-1] if there else None

    def find_open(self, name: str) -> Revision | None:
        heads = [self.head(slot) for slot in {each.slot for each in self.revisions}]
        named = [each for each in heads if each and each.name == name and each.state in SEEN]
        return max(named, key=lambda each: each.rank, default=None)

    def save(
        self, slot: str | None, name: str | None, task: str, trigger: str, *, overwrite: bool
    ) -> tuple[Revision, Revision | None] | None:
        """Save into a thread or, without one, by name; None if the name belongs to another."""
        before = self.head(slot)
        if name is not None and (before is None or before.name != name):
            other = self.find_open(name)
            if other is not None and not overwrite:
                return None
            before = other or before
        new = Revision(before.slot if before else slot or task, name, task)
        self.revisions.append(new)
        is_seen = before is not None and name is not None and before.state in SEEN
        # Nobody asked for an autosave, so it replaces nothing.
        replaced = before if is_seen and trigger == "manual" else None
        if trigger == "ship" or (trigger == "manual" and name is not None):
            self.do(Act(new, replaced, is_save=True))
        return new, replaced

    def say(self, revision: Revision, action: Action) -> None:
        act = Act(revision, None, is_save=False)
        revision.said.append((act, BECOMES[action]))
        self.do(act)

    def do(self, act: Act) -> None:
        self.acts.append(act)
        self.order.append(act)
        self.undone.clear()

    def is_there(self, act: Act) -> bool:
        return act.revision in self.revisions and (
            act.before is None or act.before in self.revisions
        )

    def undo(self) -> bool:
        act = next((each for each in reversed(self.acts) if self.is_there(each)), None)
        if act is None:
            return False
        self.acts.remove(act)
        self.undone.append(act)
        act.is_in_force = act.is_save
        act.hidden = []
        if act.is_save:
            place = self.revisions.index(act.revision)
            slot = [each for each in self.revisions[place:] if each.slot == act.revision.slot]
            for each in slot:
                if each is act.revision or each.state != "undone":
                    act.hidden.append(Undo(each, None, is_save=False))
                    each.said.append((act.hidden[-1], "undone"))
        return True

    def redo(self) -> bool:
        able = [each for each in self.undone if each.revision in self.revisions]
        if not able:
            return False
        act = able[-1]
        self.undone.remove(act)
        self.acts.append(act)
        self.acts.sort(key=self.order.index)
        act.is_in_force = True
        for each in act.hidden:
            each.is_in_force = False
        return True

    def rows(self) -> list[Row]:
        return sorted(
            ((r.name, r.task, r.state, r is self.head(r.slot)) for r in self.revisions), key=repr
        )


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

    def save_both(self, who: int, slot: str | None, given: Checkpoint, *, overwrite: bool) -> None:
        self.saves += 1
        task = f"task {self.saves}"
        given = msgspec.structs.replace(given, summary=task)
        made = self.model.save(slot, given.name, task, given.trigger, overwrite=overwrite)
        if made is None:
            with pytest.raises(ChoiceNeeded):
                self.stores[who].save(given, overwrite=overwrite)
            return
        saved = self.stores[who].save(given, overwrite=overwrite)
        new, before = made
        assert saved.replaced == (self.ids[before.task] if before else None)
        new.rank = (saved.checkpoint.saved_at, saved.checkpoint.id)
        self.ids[task] = saved.checkpoint.id
        assert saved.checkpoint.thread is not None
        self.threads[task] = saved.checkpoint.thread

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
        assert (self.stores[who].undo() is not None) == self.model.undo()

    @rule(who=st.integers(0, 1))
    def redo(self, who: int) -> None:
        assert (self.stores[who].redo() is not None) == self.model.redo()

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
    max_examples=120,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


pytestmark = [pytest.mark.accept(166), pytest.mark.slow("plays long stories")]
TestOperations = Operations.TestCase
