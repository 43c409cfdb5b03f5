"""What happened in a thread is in lanes, in order, with long pauses shortened."""

from datetime import UTC, datetime, timedelta

from leftoff.checkpoint import SCHEMA, Checkpoint, Commit, new_id
from leftoff.snapshots.shelf import Snapshot
from leftoff.store import BY_HAND_OVER, CheckpointEntry, StoreEvent
from leftoff.store.layout import State
from leftoff.web.timeline import Mark, collect_marks, lay_out

START = datetime(2026, 11, 1, 9, tzinfo=UTC)


def at(**span: float) -> datetime:
    return START + timedelta(**span)


def entry(
    moment: datetime, trigger: str, agent: str | None = "claude", state: State = "open"
) -> CheckpointEntry:
    return CheckpointEntry(
        id=new_id(moment), area=0, slot="one", name="work", saved_at=moment,
        as_of=moment - timedelta(hours=1), trigger=trigger, agent=agent, session_id="s1",
        branch=None, worktree=None, task=None, next_action=None, left_off=None, state=state,
        is_head=False, problem=None,
    )  # fmt: skip


def checkpoint(moment: datetime, head: str) -> Checkpoint:
    return Checkpoint(
        schema=SCHEMA, id=new_id(moment), saved_at=moment, trigger="manual", head=head,
        last_commit=Commit(sha=head, subject="Stream the rows"),
    )  # fmt: skip


def test_every_kind_of_event_gets_its_mark_in_its_lane() -> None:
    revisions = [
        entry(at(hours=0), "manual", agent=None),
        entry(at(hours=1), "precompact"),
        entry(at(hours=5), "recovered"),
        entry(at(hours=6), "idle", state="undone"),
    ]
    handed = StoreEvent(
        id="e1", at=at(hours=7), action="resumed", trigger=BY_HAND_OVER, agent="codex",
        session_id="s2",
    )  # fmt: skip
    done = StoreEvent(id="e2", at=at(hours=8), action="consumed")
    commits = [checkpoint(at(hours=0), "a" * 40), checkpoint(at(hours=1), "b" * 40)]
    taken = Snapshot(id="x" * 12, at=at(hours=2), worktree="/shop", trigger="turn")

    marks = collect_marks(revisions, [handed, done], commits, [taken])

    assert [(mark.lane, mark.kind) for mark in marks] == [
        ("you", "save"),
        ("claude", "compaction"),
        ("code", "commit"),
        ("code", "snapshot"),
        # It died an hour before it was found.
        ("claude", "crash"),
        ("codex", "handover"),
        ("you", "done"),
    ]
    assert marks[2].text == "Commit bbbbbbbb Stream the rows"
    assert [lane.name for lane in lay_out(marks).lanes] == ["you", "claude", "codex", "code"]


def test_marks_keep_their_order_within_the_drawing_and_long_pauses_are_named() -> None:
    moments = [at(), at(minutes=1), at(minutes=2), at(days=2), at(days=9)]
    marks = [Mark(at=each, kind="save", lane="claude", text="", session="s") for each in moments]

    line = lay_out(marks)

    placed = [each.x for each in line.lanes[0].marks]
    assert placed == sorted(placed)
    assert placed[0] >= 0
    assert placed[-1] <= 100
    # A week is not a thousand times as wide as a minute.
    assert placed[4] - placed[3] < 15 * (placed[1] - placed[0])
    assert [pause.text for pause in line.pauses] == ["2 d", "7 d"]
    bar = line.lanes[0].bars[0]
    assert (bar.left, round(bar.left + bar.width, 2)) == (placed[0], placed[-1])


def test_one_event_is_in_the_middle_and_none_gives_no_lanes() -> None:
    line = lay_out([Mark(at=START, kind="save", lane="you", text="Saved")])

    assert line.lanes[0].marks[0].x == 50.0
    assert line.lanes[0].bars == []
    assert lay_out([]).lanes == []
