"""Features on disk: parallel writers, a store that is not writable, odd files."""

import itertools
import json
from pathlib import Path

import msgspec
import pytest

from leftoff.errors import StoreRefused
from leftoff.knowledge import features
from leftoff.knowledge.features import Feature, ItemDraft, Try
from leftoff.projects.project import Project
from leftoff.store import Store, disk
from programs import run, run_together
from stores import Clock, block, project_at

PROCESSES, ADDS = 4, 25


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_at(tmp_path)


def beside(project: Project, clock: Clock) -> Store:
    """Open the store as a process does that has another fallback."""
    other = project.fallback.with_name("other")
    return Store(msgspec.structs.replace(project, fallback=other), now=clock)


def listed(store: Store) -> list[tuple[str, str]]:
    return [(each.id, each.name) for each in features.load(store).items]


@pytest.mark.slow("lets processes race")
@pytest.mark.accept(155)
def test_no_parallel_writer_loses_anothers_change(quick_folder: Path) -> None:
    program = f"""
        from leftoff.knowledge import features
        from leftoff.knowledge.features import ItemDraft, Try
        session = f"session-{{number}}"
        for turn in range({ADDS}):
            added = features.add(store, ItemDraft(name=f"{{number}}-{{turn}}"))
            features.start(store, added.id, session_id=session)
            features.attempt(store, Try(approach=f"Way {{number}}-{{turn}}"), session_id=session)
            features.pass_(store, session_id=session)
            features.update(store, added.id, pr=turn)
    """

    run_together(program, quick_folder, PROCESSES)

    store = Store(project_at(quick_folder))
    found = features.load(store).features
    assert [each.id for each in found] == [
        f"feature-{number:03d}" for number in range(1, PROCESSES * ADDS + 1)
    ]
    assert {each.name for each in found} == {
        f"{number}-{turn}" for number in range(PROCESSES) for turn in range(ADDS)
    }
    assert {(each.status, each.attempts) for each in found} == {("passing", 1)}
    assert all(each.name.endswith(f"-{each.pr}") for each in found)
    assert len(features.load_loops(store)) == PROCESSES
    assert not (store.project.store / "features.jsonl").exists()
    store.close()


@pytest.mark.slow("lets processes race")
def test_sessions_that_share_a_loop_lose_no_attempt(quick_folder: Path) -> None:
    store = Store(project_at(quick_folder))
    features.put(store, [Feature(id="feature-001", name="Export", max_attempts=1000)])
    features.start(store, "1")
    program = """
        from leftoff.knowledge import features
        for turn in range(10):
            features.attempt(store, features.Try(approach=f"Way {number}-{turn}"))
    """

    run_together(program, quick_folder, PROCESSES)

    loop = features.load_loop(store)
    assert loop is not None
    assert [each.attempt for each in loop.history] == [*range(1, PROCESSES * 10 + 1)]
    assert len({each.approach for each in loop.history}) == PROCESSES * 10
    assert features.load(store).features[0].attempts == PROCESSES * 10
    store.close()


def test_while_the_store_cannot_be_written_all_goes_on_in_the_fallback(
    store: Store, project: Project
) -> None:
    block(project)

    features.add(store, ItemDraft(name="Export"))
    features.add_fix(store, "1", ItemDraft(name="Fix it"))
    features.start(store, "1")
    features.attempt(store, Try(approach="One way"))
    features.fail(store, status="blocked")

    assert listed(store) == [("feature-001", "Export"), ("fix-feature-001-1", "Fix it")]
    assert features.find(features.load(store), "1").status == "blocked"
    assert features.waiting_in(store) == project.fallback
    project.store.unlink()
    features.add(store, ItemDraft(name="Import"))

    assert (project.store / "features.json").exists()
    assert features.waiting_in(store) is None
    assert listed(store) == [
        ("feature-001", "Export"), ("feature-002", "Import"), ("fix-feature-001-1", "Fix it"),
    ]  # fmt: skip
    loop = features.load_loop(store)
    assert loop is not None
    assert (loop.status, loop.history[0].approach) == ("needs_review", "One way")


def test_what_the_fallback_holds_is_seen_before_it_is_imported(
    store: Store, project: Project
) -> None:
    block(project)
    features.add(store, ItemDraft(name="Export"))
    project.store.unlink()

    assert listed(store) == [("feature-001", "Export")]


def test_a_number_given_in_two_places_meanwhile_leaves_both_features(
    store: Store, project: Project, clock: Clock
) -> None:
    features.add(store, ItemDraft(name="First"))
    aside = project.store.rename(project.store.with_name("aside"))
    block(project)
    # In the sandbox an agent goes on, while the user does the same outside.
    features.put(store, [Feature(id="feature-001", name="First", created_at=clock())])
    features.add(store, ItemDraft(name="Of the agent"))
    features.start(store, "2", session_id="agent")
    project.store.unlink()
    aside.rename(project.store)
    outside = beside(project, clock)
    features.add(outside, ItemDraft(name="Of the user"))

    features.archive(store)

    names = dict(listed(store))
    assert names["feature-002"] == "Of the user"
    assert {"Of the agent", "Of the user", "First"} <= {*names.values()}
    loop = features.load_loop(store, "agent")
    assert loop is not None
    assert names[loop.feature or ""] == "Of the agent"
    outside.close()


def test_a_fix_whose_number_was_given_elsewhere_gets_the_next(
    store: Store, project: Project, clock: Clock
) -> None:
    features.put(store, [Feature(id="feature-001", name="Export")])
    aside = project.store.rename(project.store.with_name("aside"))
    block(project)
    features.put(store, [Feature(id="feature-001", name="Export")])
    features.add_fix(store, "1", ItemDraft(name="Of the agent"))
    features.add_result(store, "s1", features.AgentResult(agent="one", status="failed"))
    project.store.unlink()
    aside.rename(project.store)
    outside = beside(project, clock)
    features.add_fix(outside, "1", ItemDraft(name="Of the user"))

    features.archive(store)

    assert listed(store) == [
        ("feature-001", "Export"),
        ("fix-feature-001-1", "Of the user"),
        ("fix-feature-001-2", "Of the agent"),
    ]
    assert features.load(store).orchestration.session == "s1"
    outside.close()


def test_a_lock_that_is_held_on_and_on_delays_a_change_but_loses_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    features.add(store, ItemDraft(name="Export"))
    moments = itertools.count(0, 4)
    monkeypatch.setattr("leftoff.store.disk.time.monotonic", lambda: next(moments))
    with disk.lock(store.project.store / "lock"):
        features.update(store, "1", pr=7)
        features.start(store, "1")
        assert features.find(features.load(store), "1").pr == 7

    assert (store.project.store / "features.jsonl").exists()
    features.update(store, "1", issue=3)

    written = json.loads((store.project.store / "features.json").read_bytes())
    kept = written["features"][0]
    assert (kept["pr"], kept["issue"], kept["status"]) == (7, 3, "in_progress")
    # What was imported is not imported again, though the log is still there.
    features.update(store, "1", pr=8)
    assert features.find(features.load(store), "1").pr == 8


def test_what_builds_on_a_change_that_is_still_elsewhere_is_not_lost(
    store: Store, project: Project
) -> None:
    block(project)
    features.add(store, ItemDraft(name="Export"))
    project.store.unlink()
    with disk.lock(project.fallback / "lock"):
        # Somebody writes there just now, so it cannot be imported.
        features.update(store, "1", pr=7)
        features.start(store, "1")
        assert features.find(features.load(store), "1").pr == 7

    features.update(store, "1", issue=3)

    found = json.loads((project.store / "features.json").read_bytes())["features"]
    assert [(each["name"], each["pr"], each["issue"]) for each in found] == [("Export", 7, 3)]
    assert features.waiting_in(store) is None
    loop = features.load_loop(store)
    assert loop is not None
    assert loop.is_under_way


def test_changes_to_other_keys_survive_what_waited(store: Store) -> None:
    features.add(store, ItemDraft(name="Export"))
    line = {
        "id": "x", "at": "2026-11-15T12:00:00Z",
        "features": [{"id": "feature-001", "created_at": "2026-11-15T12:00:01Z",
                      "set": {"pr": 7}, "unset": ["updated_at"]}],
    }  # fmt: skip
    features.update(store, "1", issue=3)
    store.append_line("features", json.dumps(line).encode())

    found = features.find(features.load(store), "1")

    assert (found.issue, found.pr, found.updated_at) == (3, 7, None)


@pytest.mark.parametrize("line", [b"{", b"[]", b"\xff", b'{"id": 1}', b'{"id":"x","at":"never"}'])
def test_a_garbled_line_of_what_waits_is_left_out(store: Store, line: bytes) -> None:
    features.add(store, ItemDraft(name="Export"))
    store.append_line("features", line)

    features.update(store, "1", pr=7)

    assert features.load(store).features[0].pr == 7


@pytest.mark.parametrize("text", ["", "{", "[]", '{"features": 1}', '{"features": [{"id": 1}]}'])
def test_a_garbled_file_of_features_is_reported_and_left_as_it_is(store: Store, text: str) -> None:
    features.add(store, ItemDraft(name="Export"))
    path = store.project.store / "features.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(StoreRefused, match="contains no readable features"):
        features.add(store, ItemDraft(name="Import"))

    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("closed", ["features.json", "features.jsonl", "loops"])
def test_features_that_the_system_does_not_let_be_read_are_reported_and_fail_no_save(
    tmp_path: Path, closed: str
) -> None:
    program = f"""
        from leftoff.knowledge import features
        from leftoff.threads import persist
        from leftoff.threads.compose import compose
        from leftoff.config import Settings
        from leftoff.knowledge.features import ItemDraft
        features.add(store, ItemDraft(name="Export"))
        features.start(store, "1")
        store.append_line("features", b"{{}}")
        (project.store / "{closed}").chmod(0)
        give_up_power()

        try:
            features.load(store)
        except StoreRefused as error:
            assert "{closed}: Permission denied" in str(error), error
        else:
            raise AssertionError("It was read.")
        draft = compose({{"summary": "Export the orders"}}, store, Settings())
        saved = persist.save(store, draft, name="export-orders")
        assert saved.saved.path.is_file()
    """

    run(program, tmp_path)


def test_a_garbled_loop_is_as_good_as_none(store: Store) -> None:
    features.add(store, ItemDraft(name="Export"))
    features.start(store, "1")
    [path] = (store.project.store / "loops").iterdir()
    path.write_bytes(b"{")

    assert features.load_loop(store) is None
    assert features.start(store, "1").attempt == 1


def test_files_are_the_users_own(store: Store) -> None:
    features.add(store, ItemDraft(name="Export"))
    features.start(store, "1")

    for path in store.project.store.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("name", ["features.json", "loops", "lock"])
def test_nothing_is_written_through_a_planted_link(store: Store, tmp_path: Path, name: str) -> None:
    target = tmp_path / "victim"
    target.mkdir() if name == "loops" else target.write_text("{}", encoding="utf-8")
    store.project.store.mkdir(parents=True)
    (store.project.store / name).symlink_to(target)

    try:
        features.add(store, ItemDraft(name="Export"))
        features.start(store, "1")
    except StoreRefused:
        pass

    if name == "loops":
        assert [*target.iterdir()] == []
    else:
        assert target.read_text(encoding="utf-8") == "{}"


def test_changes_with_the_lock_and_without_it_at_once_are_all_kept(quick_folder: Path) -> None:
    program = f"""
        from leftoff.knowledge import features
        from leftoff.knowledge.features import ItemDraft, board_files
        if number % 2:
            # As if the lock could never be had.
            board_files.change = board_files._change_log
        for turn in range({ADDS}):
            added = features.add(store, ItemDraft(name=f"{{number}}-{{turn}}"))
            assert added.name == f"{{number}}-{{turn}}", added
    """

    run_together(program, quick_folder, PROCESSES)

    store = Store(project_at(quick_folder))
    found = features.load(store).features
    assert sorted(each.name for each in found) == sorted(
        f"{number}-{turn}" for number in range(PROCESSES) for turn in range(ADDS)
    )
    assert len({each.id for each in found}) == PROCESSES * ADDS
    features.archive(store)
    assert features.load(store).features == found
    store.close()


def test_in_a_store_made_read_only_work_goes_on_and_is_imported_afterwards(tmp_path: Path) -> None:
    program = """
        import subprocess
        from leftoff.knowledge import features, memory
        from leftoff.knowledge.features import ItemDraft, Try
        features.add(store, ItemDraft(name="Before"))
        features.start(store, "1")
        subprocess.run(["chmod", "-R", "a-w", str(project.store)], check=True)
        give_up_power()

        features.attempt(store, Try(approach="One way"))
        features.add(store, ItemDraft(name="During"))
        features.pass_(store)
        assert features.waiting_in(store) == project.fallback
        during = features.load(store)
        assert [(each.name, each.status) for each in during.features] == [
            ("Before", "passing"), ("During", "pending")
        ]

        subprocess.run(["chmod", "-R", "u+w", str(project.store)], check=True)
        assert len(features.archive(store).features) == 1
        assert features.waiting_in(store) is None
        assert features.load_loop(store).history[0].approach == "One way"
        assert [each.text for each in memory.entries(store)] == ["One way"]
        assert features.load(Store(project)).features[1:] == during.features[1:]
    """

    run(program, tmp_path)
