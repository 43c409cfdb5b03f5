"""Restoring works without a profile: the store itself knows what waits for which session."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.runs import Cli, save_at
from gitrepo import Repo
from leftoff.threads import pick_pending
from leftoff.threads.pick_pending import Candidate
from stores import NOON

SESSION, OTHER = "session-one", "session-two"


def save(cli: Cli, name: str, session: str = "") -> None:
    fields = json.dumps({"summary": f"Work on {name}", "session_id": session} if session else {})
    cli.ok("save", name, "--from-json", "-", stdin=fields)


def test_with_nothing_saved_it_says_so(cli: Cli) -> None:
    assert cli.ok("restore").out == "No saved checkpoints found.\n"


@pytest.mark.accept(91)
def test_what_this_session_left_is_taken_first(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    save(cli, "own-work", SESSION)
    save(cli, "other-work", OTHER)
    out = cli.ok("restore").out

    assert out.startswith("Resuming task: own-work.")


@pytest.mark.accept(92)
def test_the_only_other_one_is_taken_once_with_a_warning(cli: Cli) -> None:
    save(cli, "other-work", OTHER)
    first, second = cli.ok("restore").out, cli.ok("restore").out

    assert first.startswith("Session-id mismatch: ")
    assert second.startswith("Resuming task: other-work.")
    assert cli.json("list")[0]["state"] == "resumed"


@pytest.mark.accept(93)
def test_several_are_a_choice_that_changes_nothing(cli: Cli) -> None:
    save(cli, "one-work", SESSION)
    save(cli, "other-work", OTHER)
    result = cli("restore")

    assert result.code == 3
    assert [each["choice"] for each in json.loads(result.out)["choices"]] == ["1", "2", "skip"]
    assert {each["state"] for each in cli.json("list")} == {"open"}
    assert "Resuming task: other-work." in cli.ok("restore", "--skip").out


@pytest.mark.accept(94, 96)
def test_the_newest_is_taken_and_its_age_is_reported(cli: Cli, repo: Repo) -> None:
    save_at(repo.folder, {"old-work": timedelta(days=9), "new-work": timedelta(days=2)})
    out = cli.ok("restore").out

    assert out.startswith("The newest checkpoint is 2 day(s) old.\nResuming task: new-work.")


def test_a_name_is_taken_as_it_is(cli: Cli, stored: Path) -> None:
    save(cli, "one-work", SESSION)
    save(cli, "other-work", OTHER)

    assert cli.ok("restore", "one-work").out.startswith("Resuming task: one-work.")
    assert stored.exists()


# The picker alone


def candidate(key: str, hours: float = 0.0, **values: object) -> Candidate:
    fields = {"key": key, "task": key, "saved_at": NOON - timedelta(hours=hours), **values}
    return Candidate(**fields)  # type: ignore[arg-type]


def test_of_several_own_ones_the_newest_is_picked() -> None:
    mine = {"session_id": SESSION, "is_pending": True}
    found = [candidate("a", 2, **mine), candidate("b", 1, **mine), candidate("c", 0)]
    pick = pick_pending.pick(found, session_id=SESSION)

    assert pick is not None
    assert pick.chosen is not None
    assert (pick.chosen.key, pick.is_foreign) == ("b", False)


@pytest.mark.accept(95)
def test_the_task_of_the_newest_session_settles_the_choice() -> None:
    found = [candidate("a", 1), candidate("b", 2)]

    assert [each.key for each in pick_pending.pick_newest(found, now=NOON).among] == ["a", "b"]
    pick = pick_pending.pick_newest(found, now=NOON, task="b")
    assert pick.chosen is not None
    assert (pick.chosen.key, pick.doubt) == ("b", "")


@given(
    st.lists(
        st.builds(
            candidate,
            st.sampled_from("abc"),
            st.floats(0, 100),
            is_automatic=st.booleans(),
            is_pending=st.booleans(),
            session_id=st.sampled_from([None, SESSION, OTHER]),
        ),
        max_size=6,
    )
)
def test_a_pick_is_one_of_the_candidates_or_a_choice_of_them(found: list[Candidate]) -> None:
    pick = pick_pending.pick_newest(found, now=NOON)
    waiting = pick_pending.pick(found, session_id=SESSION)

    assert (pick.chosen is None) is (not found or bool(pick.among))
    assert all(each in found for each in pick.among)
    assert len({each.task for each in pick.among}) == len(pick.among) != 1
    assert (waiting is None) is not any(each.is_pending for each in found)
    if pick.chosen is not None and pick.chosen.is_automatic:
        day = pick.chosen.saved_at.astimezone().date()
        twins = [each for each in found if each.task == pick.chosen.task and not each.is_automatic]
        assert all(each.saved_at.astimezone().date() != day for each in twins)
