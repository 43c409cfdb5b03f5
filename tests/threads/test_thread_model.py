"""Sessions in several processes open, join and end threads, and the store equals a simple model."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from leftoff.store import Action
from programs import with_our_path
from store.store_model import SEEN, Act, Model, Revision
from stores import MEMORY, Clock, project_at, rebuilt_view
from threads import thread_worker

pytestmark = [pytest.mark.accept(166), pytest.mark.slow("plays long stories")]

PROCESSES = 3
# More sessions than processes: a session may move from one to another.
SESSIONS = ["s1", "s2", "s3", "s4"]
NAMES = ["login-form", "search-page"]
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")

Who = st.integers(0, PROCESSES - 1)
Which = st.integers(0, 1000)
Session = st.sampled_from(SESSIONS)


class Process:
    """A worker process, fed through a pipe."""

    def __init__(self) -> None:
        command = [sys.executable, str(thread_worker.__file__)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=with_our_path(), text=True
        )

    def ask(self, do: str, now: datetime, **given: Any) -> Any:
        """Let it do something, and wait for what it answers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": do, "now": now.isoformat(), **given}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the process died while it was to {do} {given}"
        return json.loads(line)

    def end(self) -> None:
        """Let it read to the end of its input."""
        self._process.communicate(timeout=120)


@pytest.fixture(scope="module", autouse=True)
def _processes() -> Iterator[None]:
    Sessions.processes = [Process() for _ in range(PROCESSES)]
    yield
    for process in Sessions.processes:
        process.end()


class Sessions(RuleBasedStateMachine):
    """The model and the processes are given the same steps, each in a process of its choice."""

    processes: ClassVar[list[Process]]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY))
        self.project = project_at(self.folder)
        self.clock = Clock()
        self.model = Model()
        self.tasks = 0
        for process in self.processes:
            process.ask("open", self.clock(), folder=str(self.folder))

    def teardown(self) -> None:
        self.look(0)
        assert rebuilt_view(self.project) == self.model.rows()
        shutil.rmtree(self.folder)

    def ask(self, who: int, do: str, **given: Any) -> Any:
        # Each step begins a minute after the last one, and takes seconds.
        self.clock.move(minutes=1)
        return self.processes[who].ask(do, self.clock.now, **given)

    def new_task(self) -> str:
        self.tasks += 1
        return f"Write the {WORDS[self.tasks % len(WORDS)]} module number{self.tasks}"

    # Work in a session

    @rule(who=Who, session=Session, name=st.sampled_from(NAMES), overwrite=st.booleans())
    def save(self, who: int, session: str, name: str, *, overwrite: bool) -> None:
        """Continue the session's thread, name it, join another one, or open one."""
        task = self.new_task()
        own = None if overwrite else self.find_open_thread(session)
        is_continued = own is not None and (own.name == name or not own.is_named)
        slot = own.slot if own is not None and is_continued else None
        made = self.model.save(slot, name, task, "manual", overwrite=overwrite, session=session)
        saved = self.ask(who, "save", session=session, name=name, task=task, overwrite=overwrite)
        assert ("is_taken" in saved) == (made is None)
        if made is not None:
            new, before = made
            new.is_named = True
            self.note(new, saved)
            assert saved["replaced"] == (before.id if before else None)

    @rule(who=Who, session=Session)
    def work(self, who: int, session: str) -> None:
        """Let a hook save what a session did."""
        task = self.new_task()
        saved = self.ask(who, "autosave", session=session, task=task)
        self.note_work(session, task, saved, "precompact")

    @rule(who=Who, sessions=st.lists(Session, min_size=1, unique=True))
    def recover(self, who: int, sessions: list[str]) -> None:
        """Save several sessions as one act."""
        tasks = [self.new_task() for _ in sessions]
        saved = self.ask(who, "recover", sessions=sessions, tasks=tasks)
        work = zip(sessions, tasks, saved, strict=True)
        self.model.do(Act([self.note_work(*each, "recovered") for each in work], is_save=True))

    def note_work(self, session: str, task: str, saved: Any, trigger: str) -> Revision:
        """Let a session of the model continue its thread, which keeps its task, or open one."""
        own = self.find_open_thread(session)
        if own is None:
            assert self.model.find_open(saved["name"]) is None, "the name was in use"
        slot, name = (own.slot, own.name) if own else (None, saved["name"])
        task = own.task if own else task
        made = self.model.save(slot, name, task, trigger, overwrite=False, session=session)
        assert made is not None
        new, _ = made
        new.is_named = own is not None and own.is_named
        assert saved["name"] == name
        return self.note(new, saved)

    def note(self, revision: Revision, saved: Any) -> Revision:
        revision.rank = (datetime.fromisoformat(saved["saved_at"]), saved["id"])
        return revision

    def find_open_thread(self, session: str) -> Revision | None:
        found = self.model.find_thread(session)
        return found if found is not None and found.state in SEEN else None

    # What people do to threads

    @precondition(lambda self: self.model.heads())
    @rule(who=Who, which=Which, session=Session)
    def join(self, who: int, which: int, session: str) -> None:
        """Resume a thread in a session, which then works on it."""
        self.record(who, which, "resumed", session)

    @precondition(lambda self: self.model.heads())
    @rule(
        who=Who,
        which=Which,
        action=st.sampled_from(["consumed", "dropped", "cleared", "declined", "restored"]),
    )
    def end(self, who: int, which: int, action: Action) -> None:
        """Finish, drop, clear, decline or restore a thread."""
        self.record(who, which, action, None)

    def record(self, who: int, which: int, action: Action, session: str | None) -> None:
        heads = self.model.heads()
        head = heads[which % len(heads)]
        self.ask(who, "record", action=action, id=head.id, session=session)
        self.model.say(head, action, session)

    @rule(who=Who)
    def undo(self, who: int) -> None:
        self.compare(self.ask(who, "undo"), self.model.undo())

    @rule(who=Who)
    def redo(self, who: int) -> None:
        self.compare(self.ask(who, "redo"), self.model.redo())

    def compare(self, done: list[str] | None, modelled: Act | None) -> None:
        wanted = None if modelled is None else {each.id for each in modelled.revisions}
        assert (None if done is None else {*done}) == wanted

    # What everybody sees

    @rule(who=Who)
    def look(self, who: int) -> None:
        seen = self.ask(who, "look", sessions=SESSIONS)
        assert [tuple(row) for row in seen["rows"]] == self.model.rows()
        heads = {session: self.model.find_thread(session) for session in SESSIONS}
        assert seen["threads"] == {each: head and head.id for each, head in heads.items()}


Sessions.TestCase.settings = settings(
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestSessions = Sessions.TestCase
