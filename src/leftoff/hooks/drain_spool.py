"""Process every event in the spool, each in its own project.

The events of one session are processed together: its record is read once before and written once
after. An event is removed from the spool only when all its changes are on disk. If the process is
killed, the next one processes the same events again. A session start processes the events of
sessions that died, so each session is locked while its events are processed.
"""

import contextlib
import itertools
import os
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from leftoff import config, hooks
from leftoff.agents.hook_events import HookEvent
from leftoff.context import Environment, read_environment
from leftoff.errors import LeftoffError, NotAProject
from leftoff.hooks import lease, replies, spool, torn_events, trouble
from leftoff.projects.project import find_project
from leftoff.store import Store
from leftoff.store.layout import is_off

if TYPE_CHECKING:
    from leftoff.hooks.process_event import Following

_PAUSE_SECONDS = 0.02
_WALL_FACTOR = 3
# Bounds the memory in use: each event may hold a long prompt.
_MOST_AT_ONCE = 4000

Kept = tuple[spool.Letter, HookEvent]


def drain(state: str, *, seconds: float | None = None, with_tried: bool = True) -> None:
    """Process the events in the spool; one that exceeds the time limit ends this process."""
    drainer = _Drain(Path(state), seconds, lease.EventMark(f"{state}/trying"))
    try:
        letters = [each for each in spool.list_letters(Path(state)) if with_tried or each.is_new]
        while letters:
            drainer.settle(letters)
            time.sleep(_PAUSE_SECONDS if drainer.unfinished else 0)
            letters = [each for each in spool.list_letters(Path(state)) if each.is_new]
        spool.sweep(Path(state))
        trouble.forget_full(Path(state))
        replies.leave_old_place(Path(state))
    except (OSError, LeftoffError) as error:
        trouble.note(Path(state), "settle", error)
    finally:
        drainer.close()


def drain_session(state: Path, agent: str, session_id: str, *, seconds: float) -> None:
    """Process the waiting events of one session, which the caller has locked."""
    drainer = _Drain(state, seconds)
    try:
        while True:
            letters = [
                each for each in spool.list_letters(state) if each.session in {"", session_id}
            ]
            drainer.settle(sorted(letters, key=lambda each: each.at), only=(agent, session_id))
            if not drainer.unfinished:
                return
            time.sleep(_PAUSE_SECONDS)
    finally:
        drainer.close()


class _Drain:
    """One pass over the spool, with the projects it has opened."""

    def __init__(
        self, state: Path, seconds: float | None, trying: lease.EventMark | None = None
    ) -> None:
        """With a mark, this is settle, which names the current event there and locks sessions."""
        self._state = state
        self._environment = read_environment()
        self._seconds = seconds
        self._projects: dict[str, Store | None] = {}
        self._stores: dict[Path, Store] = {}
        self._settings: dict[Path, config.Settings] = {}
        self._trying = trying
        self._locks = lease.SessionLocks(state) if trying is not None else None
        self.unfinished = False
        """Whether an event was still being written, or its session was locked."""

    def close(self) -> None:
        """Stop the timers and close the stores."""
        limit(None)
        if self._trying is not None:
            self._trying.remove()
        if self._locks is not None:
            self._locks.close()
        for store in self._stores.values():
            store.close()

    def settle(self, letters: list[spool.Letter], *, only: tuple[str, str] | None = None) -> None:
        """Process events session by session, or only those of one agent's session."""
        self.unfinished = False
        # Settings may have changed, or a project may have been switched off.
        self._projects.clear()
        self._settings.clear()
        for first in range(0, len(letters), _MOST_AT_ONCE):
            sessions: dict[tuple[bool, str, str], list[Kept]] = {}
            for letter, event in self._read_events(letters[first : first + _MOST_AT_ONCE]):
                # A dead session is processed once, so all its events are, in their order.
                key = (only is not None or letter.is_new, event.agent, event.session_id)
                if only in {None, (event.agent, event.session_id)}:
                    sessions.setdefault(key, []).append((letter, event))
            for kept in sessions.values():
                # A session can move from one project to another and back.
                for folder, run in itertools.groupby(kept, key=lambda each: each[1].cwd):
                    self._settle_run(folder, list(run))

    def _read_events(self, letters: Iterable[spool.Letter]) -> Iterator[Kept]:
        """Read events; remove empty ones, and set aside those that cannot be read."""
        for letter in letters:
            if letter.is_hopeless:
                self._set_aside(
                    letter, LeftoffError("The event failed too often and was set aside.")
                )
                continue
            try:
                event = self._read(letter)
            except FileNotFoundError:
                continue
            except msgspec.DecodeError as error:
                self._set_aside(letter, error)
                continue
            except Exception as error:  # noqa: BLE001 - one bad event must not stop the others
                self._put_back(letter, error)
                continue
            if event is not None:
                yield letter, event

    def _read(self, letter: spool.Letter) -> HookEvent | None:
        self._try(letter)
        try:
            event = spool.read(letter)
        except msgspec.DecodeError:
            if spool.is_being_written(letter):
                # Its hook saw our mark and starts no settle, so this one must look again.
                self.unfinished = True
                return None
            # The hook may have finished writing in the meantime.
            event = _read_torn(letter, self._environment)
        if event is None:
            spool.remove_letter(letter)
        return event

    def _settle_run(self, folder: str, run: list[Kept]) -> None:
        """Process events of one session in one folder, unless another process does."""
        first = run[0][1]
        if self._locks is None:
            self._settle_locked(folder, run)
        elif self._locks.take(first.agent, first.session_id):
            # The process that had the session has removed the events that it processed.
            left = [each for each in run if each[0].path.exists()]
            try:
                self._settle_locked(folder, left)
            finally:
                self._locks.release(first.agent, first.session_id)
        else:
            self.unfinished = True

    def _settle_locked(self, folder: str, run: list[Kept]) -> None:
        if not run:
            return
        try:
            store = self._store_of(folder)
        except OSError as error:
            # The project cannot be determined now, so the next settle tries again.
            for letter, _ in run:
                self._put_back(letter, error)
            return
        if store is None:
            for letter, _ in run:
                spool.remove_letter(letter)
            return
        first = run[0][1]
        following = hooks.process_event.Following(
            store, self._settings_of(store), first.agent, first.session_id
        )
        settled: list[spool.Letter] = []
        for letter, event in run:
            self._try(letter)
            try:
                is_saved = following.settle(event)
            except Exception as error:  # noqa: BLE001 - one bad event must not stop the others
                self._put_back(letter, error)
                continue
            settled.append(letter)
            if is_saved:
                _finish(following, settled)
        _finish(following, settled)

    def _try(self, letter: spool.Letter) -> None:
        if self._trying is not None:
            lease.try_event(self._trying, letter.path.name)
        limit(self._seconds)

    def _store_of(self, folder: str) -> Store | None:
        """Return the store of a folder's project; None if leftoff saves nothing there."""
        if folder not in self._projects:
            self._projects[folder] = self._open_store(folder)
        return self._projects[folder]

    def _open_store(self, folder: str) -> Store | None:
        if not os.path.isdir(folder):  # noqa: PTH112 - it may be gone, or not be a path
            return None
        try:
            project = find_project(self._environment, Path(folder))
        except NotAProject:
            return None
        if is_off(project):
            return None
        # Keyed by worktree: worktrees share a store, but a checkpoint names its own worktree.
        if project.worktree not in self._stores:
            self._stores[project.worktree] = Store(project)
        return self._stores[project.worktree]

    def _settings_of(self, store: Store) -> config.Settings:
        worktree = store.project.worktree
        if worktree not in self._settings:
            self._settings[worktree] = config.load(store.project).settings
        return self._settings[worktree]

    def _put_back(self, letter: spool.Letter, error: Exception) -> None:
        last = msgspec.structs.replace(letter, failures=letter.failures + 1)
        if last.is_hopeless:
            self._set_aside(letter, error)
        else:
            spool.put_back(letter)

    def _set_aside(self, letter: spool.Letter, error: Exception) -> None:
        spool.set_aside(letter, self._state)
        trouble.note(self._state, f"event {letter.path.name} was set aside", error)


def _finish(following: "Following", settled: list[spool.Letter]) -> None:
    """Write what a session's events changed, and only then remove them from the spool."""
    following.keep()
    for letter in settled:
        spool.remove_letter(letter)
    settled.clear()


def _read_torn(letter: spool.Letter, environment: Environment) -> HookEvent | None:
    with contextlib.suppress(msgspec.DecodeError):
        return spool.read(letter)
    event = torn_events.repair_event(letter, environment)
    if event is None:
        raise msgspec.DecodeError("it was cut off before the session id")
    return event


def limit(seconds: float | None) -> None:
    """Let the kernel kill this process after a time; None stops the timers.

    Both signals kill by default, without running Python code: a regular expression that never
    ends would not let any run.
    """
    if seconds is None and signal.getitimer(signal.ITIMER_PROF)[0] == 0.0:
        return
    signal.setitimer(signal.ITIMER_PROF, seconds or 0.0)
    signal.setitimer(signal.ITIMER_REAL, (seconds or 0.0) * _WALL_FACTOR)
