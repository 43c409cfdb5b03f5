"""Handling: the way of one event through a project, from what it tells to what lies ready."""

import msgspec

from leftoff import config, statusline
from leftoff.agents.hook_events import HookEvent
from leftoff.errors import LeftoffError
from leftoff.hooks import (
    answer_compaction,
    context_policy,
    context_usage,
    interrupted_work,
    trouble,
    update_mirrors,
)
from leftoff.hooks.advice import prepare_advice
from leftoff.hooks.autosave_step import autosave
from leftoff.hooks.session_event import Case, Sight, read_case
from leftoff.hooks.working_buffer import update_buffer
from leftoff.session import prompt_queue, records
from leftoff.session.records import Life
from leftoff.store import Store
from leftoff.wal.notes_place import place

# After these a session may be over, or its agent waits for us.
_ENDS = frozenset({"session-end", "pre-compact"})


class Following:
    """A session whose events are settled in a run; what they change is written down by `keep`.

    Only what others wait for is written at once: checkpoints, replies, prompts, mirrored files.
    """

    def __init__(
        self, store: Store, settings: config.Settings, agent: str, session_id: str
    ) -> None:
        self._store, self._settings = store, settings
        self._state = store.project.state_folder
        self._sight = Sight(store, agent, session_id)
        self._known = self._sight.record
        self._last: Case | None = None

    def settle(self, event: HookEvent) -> bool:
        """Settle one event; say whether what it changed must be written down before the next."""
        settings = self._settings
        case = read_case(event, self._sight, settings)
        _note_prompt(case)
        case = prepare_advice(update_buffer(autosave(case)))
        self._sight.record, self._last = case.now, case
        prompt_queue.follow(
            case.store, event, case.memory.state if case.memory is not None else None
        )
        self._note_life(case)
        is_pressing = bool(
            settings.mirror
            or event.kind in _ENDS
            or case.now.autosaved_state != case.before.autosaved_state
        )
        if is_pressing:
            self.keep()
        update_mirrors.follow(case)
        if settings.compaction != "allow":
            _expect_compaction(case)
        if settings.guard != "off" or settings.safety == "on":
            context_policy.follow(self._state, event, case.percent, case.before.cwd, settings)
        return is_pressing

    def keep(self) -> None:
        """Write down what is known of the session now."""
        case, sight = self._last, self._sight
        if case is None:
            return
        sight.record = records.keep_over(self._store, sight.record, known=self._known)
        self._known, self._last = sight.record, None
        if sight.life is not None:
            context_usage.update_statusline(
                self._store, self._state, case.event.session_id, case.facts
            )
            records.keep_life(self._state, sight.life)

    def _note_life(self, case: Case) -> None:
        """Note that the session runs, without losing who runs it, or that it has ended."""
        event, sight = case.event, self._sight
        place = str(self._store.project.store)
        life = sight.life or Life(agent=event.agent, session_id=event.session_id, store=place)
        if event.kind != "session-end":
            told = {"store": place, "cwd": event.cwd, "seen_at": event.at}
            sight.life = msgspec.structs.replace(life, **told)
            return
        sight.life = None
        interrupted_work.note(self._store, event.session_id, event.source or "ended")
        records.end_life(self._state, life)
        statusline.forget(str(self._state), event.session_id)


def _note_prompt(case: Case) -> None:
    """Note what the prompt holds that must not get lost, before anything else is done with it."""
    if not case.settings.note_prompts or case.event.kind != "prompt":
        return
    from leftoff.wal import scan_message, working_notes  # noqa: PLC0415 - most users let nothing be noted

    path = place(case.store.project, case.settings)
    try:
        for found in scan_message.scan(case.event.prompt):
            working_notes.add(case.store, found.kind, found.text, path=path)
    except (OSError, LeftoffError) as error:
        trouble.note(case.store.project.state_folder, "noting a prompt", error)


def _expect_compaction(case: Case) -> None:
    """Let the next compaction wait for us, wherever the session stands now."""
    event, state = case.event, case.store.project.state_folder
    if case.before.cwd and (case.before.cwd != event.cwd or event.kind == "session-end"):
        answer_compaction.forget(state, event.agent, event.session_id, case.before.cwd)
    if event.kind != "session-end":
        answer_compaction.expect(state, event.agent, event.session_id, event.cwd, case.settings)
