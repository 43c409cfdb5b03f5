"""Handling: the way of one event through a project, from what it tells to what lies ready."""

import msgspec

from leftoff import config, paths, prompts, records, statusline
from leftoff.dialects.base import HookEvent
from leftoff.errors import LeftoffError
from leftoff.hooks import compaction, guard, interrupting, live, mirrors, trouble
from leftoff.hooks.advice import advised
from leftoff.hooks.buffer import buffered
from leftoff.hooks.case import Case, read_case
from leftoff.hooks.saves import saved
from leftoff.records import Life
from leftoff.store import Store
from leftoff.wal.place import place


def handle(event: HookEvent, store: Store) -> None:
    """Settle one event of a project."""
    settings = config.load(store.project).settings
    case = read_case(event, store, settings)
    _note_prompt(case)
    case = advised(buffered(saved(case)))
    records.keep(store, case.now)
    prompts.follow(store, event, case.memory.state if case.memory is not None else None)
    _note_life(case)
    mirrors.follow(case)
    if settings.compaction != "allow":
        _expect_compaction(case)
    if settings.guard != "off" or settings.safety == "on":
        guard.follow(event, case.percent, case.before.cwd, settings)


def _note_prompt(case: Case) -> None:
    """Note what the prompt holds that must not get lost, before anything else is done with it."""
    if not case.settings.note_prompts or case.event.kind != "prompt":
        return
    from leftoff.wal import notes, scanning  # noqa: PLC0415 - most users let nothing be noted

    path = place(case.store.project, case.settings)
    try:
        for found in scanning.scan(case.event.prompt):
            notes.add(case.store, found.kind, found.text, path=path)
    except (OSError, LeftoffError) as error:
        trouble.note(paths.state_folder(), "noting a prompt", error)


def _note_life(case: Case) -> None:
    """Note that the session runs, without losing who runs it, or that it has ended."""
    event, state = case.event, paths.state_folder()
    new = Life(agent=event.agent, session_id=event.session_id, store=str(case.store.project.store))
    if event.kind == "session-end":
        interrupting.note(case.store, event.session_id, event.source or "ended")
        records.end_life(state, new)
        statusline.forget(str(state), event.session_id)
        return
    live.lay_ready(case.store, state, event.session_id, case.facts)
    running = {life.session_id: life for life in records.lives(state, case.store.project)}
    life = running.get(event.session_id, new)
    records.keep_life(state, msgspec.structs.replace(life, cwd=event.cwd, seen_at=event.at))


def _expect_compaction(case: Case) -> None:
    """Let the next compaction wait for us, wherever the session stands now."""
    event, state = case.event, paths.state_folder()
    if case.before.cwd and (case.before.cwd != event.cwd or event.kind == "session-end"):
        compaction.forget(state, event.agent, event.session_id, case.before.cwd)
    if event.kind != "session-end":
        compaction.expect(state, event.agent, event.session_id, event.cwd, case.settings)
