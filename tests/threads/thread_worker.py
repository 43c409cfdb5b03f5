"""One of several processes that work on one store: it does what each line of its input asks.

Run as a program, `thread_worker.py`. Each line of the input and of the output is JSON.
"""

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import msgspec

from leftoff.checkpoint import Checkpoint, new_id
from leftoff.errors import ChoiceNeeded
from leftoff.store import Action, SavedCheckpoint, Store, StoreEvent
from leftoff.threads import autosaves, persist
from stores import Clock, draft, project_at, view

Plain = dict[str, Any]


class Worker:
    """Keeps one store open, and works in the sessions that it is given."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.store: Store | None = None

    def open(self, folder: str) -> None:
        """Open another store."""
        self.close()
        self.store = Store(project_at(Path(folder)), now=self.clock)

    def close(self) -> None:
        """Close the store."""
        if self.store is not None:
            self.store.close()

    def save(self, session: str, name: str, task: str, *, overwrite: bool) -> Plain:
        """Save on purpose, as `leftoff save` in a session does."""
        given = draft(name, task, agent="claude", session_id=session, stated=["summary"])
        try:
            saved = persist.save(self._store, given, name=name, overwrite=overwrite).saved
        except ChoiceNeeded:
            return {"is_taken": True}
        return _describe(saved)

    def autosave(self, session: str, task: str, act: str | None = None) -> Plain:
        """Save what a session has just worked on, as its hooks do."""
        saved = autosaves.autosave(self._store, _work_of(session, task, act), None)
        assert saved is not None, "work was taken for small talk"
        return _describe(saved)

    def recover(self, sessions: list[str], tasks: list[str]) -> list[Plain]:
        """Save several dead sessions as one act, as `leftoff recover` does."""
        act = new_id(self.clock())
        return [self.autosave(*each, act) for each in zip(sessions, tasks, strict=True)]

    def record(self, action: str, id: str, session: str | None) -> None:  # noqa: A002 - a key
        """Resume, decline, finish, drop or clear a checkpoint, in a session or in none."""
        joined = ("claude", session) if session is not None else None
        self._store.record(cast("Action", action), [id], session=joined)

    def undo(self) -> list[str] | None:
        """Undo the last act of any session."""
        return _ids(self._store.undo())

    def redo(self) -> list[str] | None:
        """Redo what was undone last."""
        return _ids(self._store.redo())

    def look(self, sessions: list[str]) -> Plain:
        """Tell all revisions, and the thread that each session is in."""
        index = self._store.index()
        heads = {session: index.find_thread(session) for session in sessions}
        found = {session: head.id if head else None for session, head in heads.items()}
        return {"rows": view(self._store), "threads": found}

    @property
    def _store(self) -> Store:
        assert self.store is not None, "no store is open"
        return self.store


def _work_of(session: str, task: str, act: str | None) -> Checkpoint:
    """Return the state of a session that was asked for something and changed a file."""
    made = draft(None, None, agent="claude", session_id=session)
    return msgspec.structs.replace(
        made,
        trigger="recovered" if act else "precompact",
        act=act,
        summary=None,
        intent=task,
        next_action=None,
        files_modified=[f"src/{task.rsplit(maxsplit=1)[-1]}.py"],
    )


def _describe(saved: SavedCheckpoint) -> Plain:
    made = saved.checkpoint
    return {
        "id": made.id,
        "saved_at": made.described_at.isoformat(),
        "name": made.name,
        "replaced": saved.replaced,
    }


def _ids(done: StoreEvent | None) -> list[str] | None:
    return None if done is None else done.ids


def main() -> None:
    """Answer each line until the input ends."""
    worker = Worker()
    for line in sys.stdin:
        asked = json.loads(line)
        worker.clock.now = datetime.fromisoformat(asked.pop("now"))
        work = getattr(worker, asked.pop("do"))
        sys.stdout.write(json.dumps(work(**asked)) + "\n")
        sys.stdout.flush()
    worker.close()


if __name__ == "__main__":
    main()
