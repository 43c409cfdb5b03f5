"""A model of a store: what its threads, sessions and acts should be, without files or clocks."""

from datetime import UTC, datetime
from itertools import count

from leftoff.store import Action
from stores import Row

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

    def __init__(self, slot: str, name: str | None, task: str, session: str | None = None) -> None:
        self.slot, self.name, self.task, self.session = slot, name, task, session
        self.is_named = False
        """Whether somebody gave its thread the name."""
        self.said: list[tuple[Act | None, str]] = [(None, "open")]
        self.rank: tuple[datetime, str] = (datetime.max.replace(tzinfo=UTC), "")
        """Its time and id, which order the threads of one name."""

    @property
    def id(self) -> str:
        return self.rank[1]

    @property
    def state(self) -> str:
        return next(word for act, word in reversed(self.said) if act is None or act.is_in_force)


class Act:
    """Something that a person did, which undo and redo turn off and on."""

    def __init__(
        self, revisions: list[Revision], before: Revision | None = None, *, is_save: bool = False
    ) -> None:
        self.revisions, self.before, self.is_save = revisions, before, is_save
        self.is_in_force = True
        self.hidden: list[Act] = []


class Model:
    """What the store should be."""

    def __init__(self) -> None:
        self.revisions: list[Revision] = []
        self.acts: list[Act] = []
        self.undone: list[Act] = []
        self.order: list[Act] = []
        self.joins: list[tuple[str, Revision, Act | None]] = []
        """Which session saved or resumed which revision, in order; a resume with its act."""
        self._slots = count()

    def head(self, slot: str | None) -> Revision | None:
        there = [each for each in self.revisions if each.slot == slot and each.state != "undone"]
        return there[-1] if there else None

    def heads(self) -> list[Revision]:
        found = [self.head(slot) for slot in dict.fromkeys(each.slot for each in self.revisions)]
        return [each for each in found if each is not None]

    def find_open(self, name: str) -> Revision | None:
        named = [each for each in self.heads() if each.name == name and each.state in SEEN]
        return max(named, key=lambda each: each.rank, default=None)

    def find_thread(self, session: str) -> Revision | None:
        """Return the head of the thread that a session has last saved into or resumed."""
        for who, revision, act in reversed(self.joins):
            is_in_force = revision.state != "undone" if act is None else act.is_in_force
            if who == session and is_in_force and revision in self.revisions:
                return self.head(revision.slot)
        return None

    def save(
        self,
        slot: str | None,
        name: str | None,
        task: str,
        trigger: str,
        *,
        overwrite: bool,
        session: str | None = None,
    ) -> tuple[Revision, Revision | None] | None:
        """Save into a thread or, without one, by name; None if the name belongs to another."""
        before = self.head(slot)
        if name is not None and (before is None or before.name != name):
            other = self.find_open(name)
            if other is not None and not overwrite:
                return None
            before = other or before
        new = Revision(
            before.slot if before else slot or f"slot {next(self._slots)}", name, task, session
        )
        self.revisions.append(new)
        if session is not None:
            self.joins.append((session, new, None))
        is_seen = before is not None and name is not None and before.state in SEEN
        # Nobody asked for an autosave, so it replaces nothing.
        replaced = before if is_seen and trigger == "manual" else None
        if trigger == "ship" or (trigger == "manual" and name is not None):
            self.do(Act([new], replaced, is_save=True))
        return new, replaced

    def say(self, revision: Revision, action: Action, session: str | None = None) -> None:
        act = Act([revision])
        revision.said.append((act, BECOMES[action]))
        if session is not None:
            self.joins.append((session, revision, act))
        self.do(act)

    def do(self, act: Act) -> None:
        self.acts.append(act)
        self.order.append(act)
        self.undone.clear()

    def has_any(self, act: Act) -> bool:
        return any(each in self.revisions for each in act.revisions)

    def is_there(self, act: Act) -> bool:
        return self.has_any(act) and (act.before is None or act.before in self.revisions)

    def undo(self) -> Act | None:
        act = next((each for each in reversed(self.acts) if self.is_there(each)), None)
        if act is None:
            return None
        self.acts.remove(act)
        self.undone.append(act)
        act.is_in_force = act.is_save
        act.hidden = []
        for saved in act.revisions if act.is_save else []:
            if saved in self.revisions:
                self._hide(saved, act)
        return act

    def _hide(self, saved: Revision, act: Act) -> None:
        """Hide a revision and the later ones of its thread, until that is redone."""
        place = self.revisions.index(saved)
        for each in [each for each in self.revisions[place:] if each.slot == saved.slot]:
            if each in act.revisions or each.state != "undone":
                act.hidden.append(Act([each]))
                each.said.append((act.hidden[-1], "undone"))

    def redo(self) -> Act | None:
        act = next((each for each in reversed(self.undone) if self.has_any(each)), None)
        if act is None:
            return None
        self.undone.remove(act)
        self.acts.append(act)
        self.acts.sort(key=self.order.index)
        act.is_in_force = True
        for each in act.hidden:
            each.is_in_force = False
        return act

    def rows(self) -> list[Row]:
        return sorted(
            ((r.name, r.task, r.state, r is self.head(r.slot)) for r in self.revisions), key=repr
        )
