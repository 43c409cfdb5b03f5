"""Captured prompts wait until they are answered, replayed or dropped, and none is lost."""

import contextlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff import context
from leftoff.agents.hook_events import HookEvent
from leftoff.checkpoint import Checkpoint
from leftoff.projects.project import Project
from leftoff.session import capture, prompt_queue, records
from leftoff.session.facts.fold_state import FoldState, Queued, SessionText
from leftoff.session.records import Life
from leftoff.session.sessions import with_memory
from leftoff.store import CheckpointEntry, Store
from programs import run_side_by_side
from recordings import RECORDED
from stores import draft, project_at

RENAME = "rename the column and rerun the migrations"
DEAD_PID = 2**22 + 1


def event(prompt: str, session_id: str = "a", *, at: float = 1_794_770_000.0) -> HookEvent:
    return HookEvent(
        agent="claude", kind="prompt", session_id=session_id, cwd="/w", prompt=prompt, at=at
    )


def texts(store: Store) -> list[str]:
    return [prompt.text for prompt in prompt_queue.list_pending(store)]


def autosave(store: Store, session_id: str, *waiting: str) -> None:
    store.save(
        msgspec.structs.replace(
            draft(summary="Retry refunds"),
            trigger="recovered",
            agent="claude",
            session_id=session_id,
            pending_prompts=list(waiting),
        )
    )


def test_a_captured_prompt_waits_with_its_time_and_session(store: Store) -> None:
    prompt_queue.keep(store, event(RENAME))

    (prompt,) = prompt_queue.list_pending(store)

    assert (prompt.text, prompt.session_id, prompt.agent) == (RENAME, "a", "claude")
    assert prompt.at == datetime.fromtimestamp(1_794_770_000, UTC)


def test_secrets_do_not_reach_the_queue(store: Store, project: Project) -> None:
    key = "AKIA" + "Z7Q2M4X9K1B3N5V8"

    prompt_queue.keep(store, event(f"deploy with AWS_ACCESS_KEY_ID={key} now"))

    assert key not in (project.store / "prompts.jsonl").read_text(encoding="utf-8")
    assert "deploy with" in texts(store)[0]


@pytest.mark.parametrize("prompt", ["", "  \n", "/compact", "/leftoff:resume", "save my progress"])
def test_what_is_not_work_is_not_kept(store: Store, prompt: str) -> None:
    prompt_queue.keep(store, event(prompt))

    assert prompt_queue.history(store) == []


def test_the_same_prompt_of_the_same_session_waits_once(store: Store) -> None:
    prompt_queue.keep(store, event(RENAME))
    prompt_queue.keep(store, event(RENAME, at=1_794_770_001.0))
    prompt_queue.keep(store, event(RENAME, "b", at=1_794_770_002.0))

    assert [prompt.session_id for prompt in prompt_queue.list_pending(store)] == ["a", "b"]


def test_the_same_prompt_waits_again_after_the_first_was_answered(store: Store) -> None:
    prompt_queue.keep(store, event("continue"))
    prompt_queue.record(store, prompt_queue.list_pending(store)[0], "answered")
    prompt_queue.keep(store, event("continue", at=1_794_770_009.0))

    assert texts(store) == ["continue"]


@pytest.mark.accept(110)
def test_five_prompts_captured_at_once_are_five_whole_entries(
    project: Project, store: Store
) -> None:
    wanted = [f"prompt {n} " + "x" * 20_000 for n in range(5)]

    def keep(text: str) -> None:
        with contextlib.closing(Store(project)) as own:
            prompt_queue.keep(own, event(text))

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(keep, wanted))

    assert sorted(texts(store)) == wanted


@pytest.mark.accept(110)
def test_five_processes_that_capture_at_once_lose_nothing(project: Project, store: Store) -> None:
    program = """
        import sys
        from leftoff import context
        from leftoff.session import prompt_queue
        from leftoff.agents.hook_events import HookEvent
        from leftoff.store import Store
        event = HookEvent(
            agent="claude", kind="prompt", session_id="a", cwd="/w", prompt=sys.argv[1], at=1e9
        )
        store = Store(context.find_project())
        prompt_queue.keep(store, event)
        store.close()
    """
    typed = [f"prompt {n}" for n in range(5)]

    run_side_by_side(program, project.root, *typed)

    assert sorted(texts(store)) == typed


def test_a_torn_line_costs_no_other_prompt(store: Store, project: Project) -> None:
    prompt_queue.keep(store, event("first one"))
    with (project.store / "prompts.jsonl").open("ab") as log:
        log.write(b'{"prompt":"20261115T')
    prompt_queue.keep(store, event("second one", at=1_794_770_001.0))

    assert texts(store) == ["first one", "second one"]


def test_what_is_done_about_a_prompt_is_kept_and_can_be_taken_back(store: Store) -> None:
    prompt_queue.keep(store, event(RENAME))
    (prompt,) = prompt_queue.list_pending(store)

    prompt_queue.record(store, prompt, "edited", text="rename the table")
    assert texts(store) == ["rename the table"]
    prompt_queue.record(store, prompt, "dropped")
    assert texts(store) == []
    assert [each.fate for each in prompt_queue.history(store)] == ["dropped"]
    prompt_queue.record(store, prompt, "restored")
    assert texts(store) == ["rename the table"]


def test_a_notice_of_a_program_is_not_a_prompt_of_a_person(store: Store) -> None:
    prompt_queue.keep(store, event("<task-notification>agent 3 finished</task-notification>"))
    prompt_queue.keep(store, event("<b>bold</b> is not shown", at=1_794_770_001.0))

    assert [each.is_from_a_person for each in prompt_queue.list_pending(store)] == [False, True]


# --- answered after all ---


def test_a_prompt_that_its_session_answered_leaves_the_queue(store: Store) -> None:
    prompt_queue.keep(store, event(RENAME))

    asked = FoldState(requests=[SessionText(RENAME)])
    prompt_queue.note_answered(store, "a", asked)
    assert texts(store) == [RENAME]
    asked.is_turn_over = True
    prompt_queue.note_answered(store, "b", asked)
    assert texts(store) == [RENAME]
    prompt_queue.note_answered(store, "a", asked)
    assert texts(store) == []
    assert [each.fate for each in prompt_queue.history(store)] == ["answered"]


def test_a_prompt_that_was_blocked_is_not_answered_by_an_older_one(store: Store) -> None:
    prompt_queue.keep(store, event(RENAME))

    state = FoldState(
        requests=[SessionText(RENAME)], is_turn_over=True, queued=[Queued("k", RENAME)]
    )
    prompt_queue.note_answered(store, "a", state)

    assert texts(store) == [RENAME]


def test_a_long_prompt_is_known_again_by_its_beginning(store: Store) -> None:
    long = "explain this log:\n" + "line of a log\n" * 1000
    prompt_queue.keep(store, event(long))

    prompt_queue.note_answered(
        store, "a", FoldState(requests=[SessionText(long[:4000])], is_turn_over=True)
    )

    assert texts(store) == []


def test_a_prompt_asked_again_elsewhere_leaves_the_queue(store: Store) -> None:
    prompt_queue.keep(store, event(RENAME))
    prompt_queue.keep(store, event("yes", at=1_794_770_001.0))

    prompt_queue.note_asked(store, event(f" {RENAME}\n", "b"))
    prompt_queue.note_asked(store, event("yes", "b"))

    assert texts(store) == ["yes"]


# --- left in the agent's own queue ---


def test_prompts_that_a_crash_left_in_the_queue_are_found_once(store: Store) -> None:
    autosave(store, "a", "QUEUED-PROMPT waiting", RENAME)
    prompt_queue.keep(store, event(RENAME))

    assert sorted(texts(store)) == ["QUEUED-PROMPT waiting", RENAME]
    assert [each.id for each in prompt_queue.list_pending(store)] == [
        each.id for each in prompt_queue.list_pending(store)
    ]


def test_prompts_of_autosaves_are_found_as_they_come_and_go(
    project: Project, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    autosave(store, "a", RENAME)
    autosave(store, "b")
    assert texts(store) == [RENAME]
    loaded: list[str | None] = []
    load = Store.load

    def note(self: Store, entry: CheckpointEntry) -> Checkpoint:
        loaded.append(entry.session_id)
        return load(self, entry)

    monkeypatch.setattr(Store, "load", note)

    # Nothing happened, so no checkpoint is read again.
    assert texts(store) == [RENAME]
    assert loaded == []
    with contextlib.closing(Store(project)) as elsewhere:
        autosave(elsewhere, "c", "and then update the changelog")
    assert texts(store) == [RENAME, "and then update the changelog"]
    assert loaded == ["c"]
    with contextlib.closing(Store(project)) as elsewhere:
        elsewhere.record("cleared", [elsewhere.index().of_session("a", 1)[0].id])
    assert texts(store) == ["and then update the changelog"]


def test_a_found_prompt_that_was_dropped_stays_dropped(store: Store) -> None:
    autosave(store, "a", RENAME)
    prompt_queue.record(store, prompt_queue.list_pending(store)[0], "dropped")

    assert texts(store) == []
    assert [(each.text, each.fate) for each in prompt_queue.history(store)] == [(RENAME, "dropped")]


def test_a_named_checkpoint_and_a_cleared_one_leave_no_prompts(store: Store) -> None:
    store.save(msgspec.structs.replace(draft("refunds"), session_id="b", pending_prompts=["old"]))
    autosave(store, "a", RENAME)
    store.record("cleared", [store.index().heads(["open"], 1)[0].id])

    assert texts(store) == []


def kept_record(store: Store, session_id: str, recording: str) -> None:
    memory = capture.read_session(RECORDED / "claude" / recording, agent="claude")
    record = records.SessionRecord(agent="claude", session_id=session_id)
    records.keep(store, with_memory(record, memory))


def life(store: Store, session_id: str, pid: int) -> Life:
    kept = Life(
        agent="claude",
        session_id=session_id,
        store=str(store.project.store),
        pid=pid,
        seen_at=time.time(),
    )
    records.keep_life(context.state_folder(), kept)
    return kept


def test_the_queue_of_a_killed_session_is_found_before_anyone_recovers_it(store: Store) -> None:
    kept_record(store, "a", "tui_queued_prompt_kill9.jsonl")
    life(store, "a", DEAD_PID)

    assert texts(store) == ["QUEUED-PROMPT waiting"]


def test_the_queue_of_a_session_that_runs_is_its_own(store: Store) -> None:
    kept_record(store, "a", "tui_queued_prompt_kill9.jsonl")
    autosave(store, "a", "QUEUED-PROMPT waiting")
    life(store, "a", os.getpid())

    assert texts(store) == []


def test_what_the_record_says_is_newer_than_what_the_checkpoint_says(store: Store) -> None:
    autosave(store, "a", "QUEUED-PROMPT waiting", "answered meanwhile")
    kept_record(store, "a", "tui_queued_prompt_kill9.jsonl")

    assert texts(store) == ["QUEUED-PROMPT waiting"]


# --- properties ---

_ACTIONS = st.sampled_from(["edited", "replayed", "dropped", "answered", "restored"])


@given(
    steps=st.lists(st.tuples(st.integers(0, 3), st.one_of(st.none(), _ACTIONS)), max_size=20),
    words=st.lists(st.text(min_size=1, max_size=40), min_size=4, max_size=4, unique=True),
)
def test_nothing_that_was_captured_is_ever_gone(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[int, prompt_queue.Action | None]],
    words: list[str],
) -> None:
    store = Store(project_at(tmp_path_factory.mktemp("queue")))
    kept: set[str] = set()
    for n, (number, action) in enumerate(steps):
        before = prompt_queue.list_pending(store)
        if action is None:
            prompt_queue.keep(store, event(words[number], at=1_794_770_000.0 + n))
        elif before:
            prompt_queue.record(store, before[number % len(before)], action, text="edited text")
        kept |= {prompt.id for prompt in before}

        assert kept <= {prompt.id for prompt in prompt_queue.history(store)}
    store.close()


@given(st.binary(max_size=200))
def test_any_bytes_in_the_log_are_survived(
    tmp_path_factory: pytest.TempPathFactory, junk: bytes
) -> None:
    project = project_at(tmp_path_factory.mktemp("queue"))
    store = Store(project)
    prompt_queue.keep(store, event("first one"))
    path = project.store / "prompts.jsonl"
    path.write_bytes(path.read_bytes() + junk + b"\n")
    prompt_queue.keep(store, event("second one", at=1_794_770_001.0))

    assert {"first one", "second one"} <= set(texts(store))
    store.close()


def test_a_prompt_is_the_users_if_its_session_ran_on_this_machine(store: Store) -> None:
    autosave(store, "ran-here", RENAME)
    autosave(store, "from-elsewhere", f"{RENAME} again")
    records.keep(store, records.SessionRecord(agent="claude", session_id="ran-here"))
    prompt_queue.keep(store, event("update the docs", "captured-here"))

    whose = {
        each.session_id: prompt_queue.is_the_users(store, each)
        for each in prompt_queue.list_pending(store)
    }

    assert whose == {"ran-here": True, "from-elsewhere": False, "captured-here": True}
