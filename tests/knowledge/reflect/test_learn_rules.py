import os
from datetime import timedelta
from pathlib import Path

import pytest

from knowledge.reflect.talks import NO, PREFER, RULE, corrected_talk, found_talk
from leftoff.errors import SessionUnreadable
from leftoff.knowledge import memory
from leftoff.knowledge.memory import EntryDraft
from leftoff.knowledge.reflect import queue, reflect
from leftoff.projects.project import Project
from leftoff.store import Store


def rules(store: Store, status: memory.Status) -> list[str]:
    return [each.text for each in memory.entries(store, kinds=("rule",), statuses=(status,))]


@pytest.mark.accept(138)
def test_a_sure_correction_becomes_a_rule_and_a_preference_waits(
    project: Project, store: Store
) -> None:
    corrected_talk(project.root)

    found = reflect(store)

    assert [(each.text, each.confidence, each.status) for each in found.saved] == [
        (RULE, "high", "active")
    ]
    assert [(each.text, each.confidence, each.status) for each in found.queued] == [
        (PREFER, "medium", "queued")
    ]
    assert rules(store, "active") == [RULE]
    assert queue(store) == found.queued


def test_a_rule_shows_its_session_its_time_and_what_it_answers(
    project: Project, store: Store
) -> None:
    corrected_talk(project.root)

    (rule,) = reflect(store).saved

    assert rule.sources == ["session-1"]
    assert rule.at.isoformat() == "2026-11-15T12:00:00+00:00"
    assert rule.why == "after the agent said: I installed express with npm."


def test_a_second_reflection_finds_nothing_new(project: Project, store: Store) -> None:
    corrected_talk(project.root)
    reflect(store)

    again = reflect(store)

    assert not again.has_news
    assert again.sessions == []
    assert (rules(store, "active"), rules(store, "queued")) == ([RULE], [PREFER])


@pytest.mark.parametrize(
    ("bar", "active", "waiting"),
    [("high", 1, 1), ("medium", 2, 0), ("low", 2, 0)],
)
def test_the_bar_decides_what_is_active_at_once(
    project: Project, store: Store, bar: memory.Confidence, active: int, waiting: int
) -> None:
    """D22: confidence is a word, so low, medium and high need an order."""
    corrected_talk(project.root)

    found = reflect(store, bar=bar)

    assert (len(found.saved), len(found.queued)) == (active, waiting)


@pytest.mark.accept(139)
def test_what_is_said_again_is_known_whatever_the_words_before_it(
    project: Project, store: Store
) -> None:
    corrected_talk(project.root)
    reflect(store)
    found_talk(project.root, "session-2").ask("nope, please use `pnpm` instead of npm!")

    found = reflect(store)

    assert not found.has_news
    assert [each.reason for each in found.skipped] == ["known"]
    assert rules(store, "active") == [RULE]


def test_a_rule_that_waits_becomes_active_once_it_is_said_plainly(
    project: Project, store: Store
) -> None:
    found_talk(project.root, "session-1").ask("use pnpm instead of npm")
    (waiting,) = reflect(store).queued
    found_talk(project.root, "session-2").ask(NO)

    assert [each.id for each in reflect(store, is_dry_run=True).saved] == [waiting.id]
    (saved,) = reflect(store).saved

    assert (saved.id, saved.status) == (waiting.id, "active")
    assert saved.sources == ["session-1", "session-2"]
    assert queue(store) == []


def test_a_known_rule_gains_the_session_that_says_it_again(project: Project, store: Store) -> None:
    corrected_talk(project.root, "session-1")
    reflect(store)
    corrected_talk(project.root, "session-2")
    reflect(store)

    for status in ("active", "queued"):
        (rule,) = memory.entries(store, kinds=("rule",), statuses=(status,))
        assert rule.sources == ["session-1", "session-2"]


@pytest.mark.accept(139)
def test_a_rejected_rule_never_returns(project: Project, store: Store) -> None:
    corrected_talk(project.root)
    reflect(store)
    (waiting,) = queue(store)
    memory.change(store, waiting.id, status="rejected")
    corrected_talk(project.root, "session-2")

    found = reflect(store)

    assert {(each.text, each.reason) for each in found.skipped} == {
        (NO, "known"),
        (PREFER, "rejected"),
    }
    assert queue(store) == []


@pytest.mark.accept(139)
def test_a_rule_someone_wrote_by_hand_is_not_doubled(project: Project, store: Store) -> None:
    memory.add(store, [EntryDraft(kind="rule", text="Use pnpm instead of npm")])
    corrected_talk(project.root)

    assert reflect(store).saved == []
    assert rules(store, "active") == ["Use pnpm instead of npm"]


def test_a_rule_that_was_edited_is_known_by_its_first_words_too(
    project: Project, store: Store
) -> None:
    corrected_talk(project.root)
    (rule,) = reflect(store).saved
    memory.change(store, rule.id, text="Install packages with pnpm")
    corrected_talk(project.root, "session-2")

    assert reflect(store).saved == []
    assert rules(store, "active") == ["Install packages with pnpm"]


def test_the_same_in_two_sessions_is_one_rule_with_two_sources(
    project: Project, store: Store
) -> None:
    corrected_talk(project.root, "session-1")
    corrected_talk(project.root, "session-2")

    found = reflect(store)

    assert len(found.saved) == len(found.queued) == 1
    assert sorted(found.saved[0].sources) == ["session-1", "session-2"]


def test_said_twice_it_is_as_sure_as_it_was_at_its_surest(project: Project, store: Store) -> None:
    talk = found_talk(project.root)
    talk.ask("use pnpm instead of npm")
    talk.ask("No, use pnpm instead of npm")

    (rule,) = reflect(store).saved

    assert rule.confidence == "high"


@pytest.mark.accept(139)
def test_a_dry_run_shows_all_and_keeps_nothing(project: Project, store: Store) -> None:
    corrected_talk(project.root)

    found = reflect(store, is_dry_run=True)

    assert [each.text for each in found.saved] == [RULE]
    assert [(each.text, each.status) for each in found.queued] == [(PREFER, "queued")]
    assert not project.store.exists()
    assert reflect(store).saved == found.saved


def test_who_dies_before_the_mark_is_kept_adds_nothing_twice(
    project: Project, store: Store, tmp_path: Path
) -> None:
    del tmp_path
    corrected_talk(project.root)
    reflect(store)
    for mark in (project.store / "sessions").glob("reflected-*"):
        mark.unlink()

    again = reflect(store)

    assert not again.has_news
    assert (rules(store, "active"), rules(store, "queued")) == ([RULE], [PREFER])


def test_only_sessions_active_since_then_are_searched(project: Project, store: Store) -> None:
    talk = corrected_talk(project.root)
    touched = store.now().timestamp()
    os.utime(talk.transcript, (touched, touched))

    assert not reflect(store, since=store.now() + timedelta(hours=1)).has_news
    assert reflect(store, since=store.now() - timedelta(hours=1)).has_news


def test_one_session_can_be_named(project: Project, store: Store) -> None:
    corrected_talk(project.root, "session-1")
    found_talk(project.root, "session-2").ask("Never use eval.")

    assert [each.text for each in reflect(store, session="session-2").saved] == ["Never use eval."]
    with pytest.raises(SessionUnreadable):
        reflect(store, session="session-9")


def test_a_session_that_cannot_be_read_does_not_silence_the_others(
    project: Project, store: Store
) -> None:
    corrected_talk(project.root, "session-1")
    broken = found_talk(project.root, "session-2").transcript
    broken.unlink()
    broken.mkdir()

    assert [each.text for each in reflect(store).saved] == [RULE]


def test_with_no_session_there_is_nothing(store: Store, project: Project) -> None:
    found = reflect(store)

    assert (found.sessions, found.saved, found.queued, found.skipped) == ([], [], [], [])
    assert not project.store.exists()
