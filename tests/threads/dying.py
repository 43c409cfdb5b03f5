"""Kill what sessions do to threads at every step on disk.

Run as a program, because it forks: `dying.py FOLDER TRIAL …`.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import deaths
from deaths import Death, Trial
from leftoff.session import sessions
from leftoff.store import Store
from leftoff.threads import autosaves, persist
from leftoff.threads.recover import recover_sessions
from store.dying import check_store, look
from stores import draft, project_at, view

DEAD = ("s1", "s2", "s3")


class Workload(NamedTuple):
    """Something that a person or a session does, and what was there before."""

    prepare: Callable[[Store], object]
    act: Callable[[Store], object]
    may_be_partial: bool = False
    """Whether a kill may leave a part of it, which `undo` must take back."""


def _prepare(store: Store) -> None:
    """Leave two threads: one that somebody named, and one that a session opened."""
    persist.save(store, draft("alpha", "Write the exporter", stated=["summary"]), name="alpha")
    _work(store, "s1", "Port the importer to streams")
    for session in DEAD:
        _write_transcript(store, session)
    store.index()


def _work(store: Store, session: str, task: str) -> None:
    made = draft(None, task, session_id=session, agent="claude")
    autosaves.open_thread(store, msgspec.structs.replace(made, trigger="session-end"))


def _write_transcript(store: Store, session: str) -> None:
    edit = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "app.py"}}
    done = {"type": "tool_result", "tool_use_id": "t1", "content": "The file was updated."}
    lines = [
        _entry(session, "user", f"Add the {session} rule to app.py"),
        _entry(session, "assistant", [edit]),
        _entry(session, "user", [done]),
    ]
    path = _transcript(store, session)
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _entry(session: str, kind: str, content: object) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    whose = {"parentUuid": None, "sessionId": session, "cwd": "/nowhere"}
    return {**whose, "type": kind, "message": message}


def _transcript(store: Store, session: str) -> Path:
    return store.project.store.parent.parent / "transcripts" / f"{session}.jsonl"


def _recover(store: Store) -> None:
    found = [sessions.find(store, str(_transcript(store, each))) for each in DEAD]
    assert len(recover_sessions(store, found)) == len(DEAD)


def _save(store: Store) -> None:
    """Save in the session that opened a thread: that names it."""
    given = draft("beta", "Port it", session_id="s1", agent="claude")
    assert persist.save(store, given, name="beta").continues is not None


def _continue(store: Store) -> None:
    """Let a session that has joined a thread save into it, without being asked."""
    given = draft(None, "continue", session_id="s2", agent="claude", files_modified=["new.py"])
    saved = autosaves.autosave(store, given, None)
    assert saved is not None
    assert saved.checkpoint.name == "alpha"


def _then(*acts: Callable[[Store], object]) -> Callable[[Store], None]:
    def prepare(store: Store) -> None:
        for act in (_prepare, *acts):
            act(store)

    return prepare


def _join(store: Store) -> None:
    store.record("resumed", [store.find("alpha").id], session=("claude", "s2"))


WORKLOADS = {
    "name-by-save": Workload(_prepare, _save),
    "work-after-join": Workload(_then(_join), _continue),
    "undo-name": Workload(_then(_save), Store.undo),
    "recover": Workload(_prepare, _recover, may_be_partial=True),
    "undo-recover": Workload(_then(_recover), Store.undo),
    "redo-recover": Workload(_then(_recover, Store.undo), Store.redo),
}


def _prepare_in(place: Path, workload: Workload) -> None:
    store = Store(project_at(place))
    workload.prepare(store)
    store.close()


def _act_in(place: Path, workload: Workload) -> None:
    workload.act(Store(project_at(place)))


def _check(place: Path, death: Death, workload: Workload) -> None:
    before, after, seen = death.before, death.after, look(place)
    if workload.may_be_partial and not death.lived:
        assert before.files.items() <= seen.files.items(), death.at
        if seen.files != before.files:
            _check_taken_back(place, death)
    else:
        ends = (after.state,) if death.lived else (before.state, after.state)
        assert seen.state in ends, (death.at, seen.state)
    check_store(project_at(place))


def _check_taken_back(place: Path, death: Death) -> None:
    """One undo takes back all that was saved before the kill, and one redo brings it back."""
    store = Store(project_at(place))
    partly = view(store)
    new = {*look(place).files} - {*death.before.files}
    undone = store.undo()
    assert undone is not None
    assert {f"{each}.json" for each in undone.ids} == new, death.at
    assert [row for row in view(store) if row[2] != "undone"] == death.before.rows, death.at
    redone = store.redo()
    assert redone is not None
    assert (redone.ids, view(store)) == (undone.ids, partly), death.at
    store.close()


TRIALS: dict[str, Trial] = {
    name: Trial(
        prepare=partial(_prepare_in, workload=workload),
        act=partial(_act_in, workload=workload),
        look=look,
        check=partial(_check, workload=workload),
    )
    for name, workload in WORKLOADS.items()
}


if __name__ == "__main__":
    deaths.main(TRIALS)
