"""A save that cannot see the store ends up in the thread that it was meant for."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from leftoff.errors import ChoiceNeeded
from leftoff.projects.project import Project
from leftoff.store import Store, layout, log
from programs import run
from stores import draft, fresh_view, project_at, rebuilt_view

SEE_NOTHING = """
    give_up_power()
    project.store.chmod(0o000)
    try:
        saved = store.save(draft("beta", "third"), overwrite=True)
        assert saved.notice is not None
        {more}
    finally:
        project.store.chmod(0o700)
"""


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Project:
    """Save "beta" twice in one thread."""
    project = project_at(tmp_path)
    with opened(project) as store:
        store.save(draft("beta", "first"))
        store.save(draft("beta", "second"), overwrite=True)
    return project


@contextlib.contextmanager
def opened(project: Project) -> Iterator[Store]:
    with contextlib.closing(Store(project)) as store:
        yield store


def save_unseen(project: Project, more: str = "pass") -> None:
    """Save "beta" while the store cannot be read."""
    run(SEE_NOTHING.format(more=more), project.root.parent)


def heads(project: Project) -> list[tuple[str | None, str | None]]:
    """Tell what `list` shows."""
    with opened(project) as store:
        return [(each.name, each.task) for each in store.index().heads([*layout.LISTED], 9)]


def revisions(project: Project) -> list[str | None]:
    """Tell what `log beta` shows."""
    with opened(project) as store:
        return [each.task for each in store.index().revisions(store.find("beta").slot)]


def test_it_joins_the_thread_that_had_the_name(project: Project) -> None:
    save_unseen(project)

    assert heads(project) == [("beta", "third")]
    assert revisions(project) == ["third", "second", "first"]
    with opened(project) as store:
        assert store.index().is_sound()
    seen = fresh_view(project)
    assert rebuilt_view(project) == seen


def test_several_of_them_join_in_their_order(project: Project) -> None:
    save_unseen(project, 'store.save(draft("beta", "fourth"), overwrite=True)')

    assert revisions(project) == ["fourth", "third", "second", "first"]


def test_an_undo_brings_back_what_was_there_before(project: Project) -> None:
    save_unseen(project)
    with opened(project) as store:
        assert store.undo() is not None
    assert heads(project) == [("beta", "second")]
    with opened(project) as store:
        assert store.redo() is not None
    assert heads(project) == [("beta", "third")]


@pytest.mark.parametrize("has_index", [True, False])
def test_the_next_save_follows_it(
    project: Project,
    has_index: bool,  # noqa: FBT001 - a table
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    save_unseen(project)
    assert len(revisions(project)) == 3
    if not has_index:
        # So long a log is read itself, instead of an index that would have to be built.
        monkeypatch.setattr("leftoff.store.current_revision._SHORT_BYTES", 0)
        (project.store / "index.sqlite").unlink()
    with opened(project) as store:
        saved = store.save(draft("beta", "fourth"), overwrite=True)
        assert (project.store / "index.sqlite").exists() == has_index

    assert saved.replaced is not None
    assert revisions(project) == ["fourth", "third", "second", "first"]


def test_without_such_a_thread_it_has_one_of_its_own(project: Project) -> None:
    with opened(project) as store:
        old = store.find("beta").id
        store.record("consumed", [old])
    save_unseen(project)
    assert heads(project) == [("beta", "third")]
    assert revisions(project) == ["third"]
    with opened(project) as store:
        store.record("restored", [old])

    # A thread that comes back later is another one.
    assert sorted(heads(project)) == [("beta", "second"), ("beta", "third")]


def test_it_waits_while_a_file_that_may_be_of_the_thread_is_unreadable(project: Project) -> None:
    files = {path: path.read_bytes() for path in project.store.glob("checkpoints/*/*.json")}
    save_unseen(project)
    for path in files:
        path.write_bytes(b"damaged")
    assert ("beta", "third") in heads(project)
    for path, data in files.items():
        path.write_bytes(data)

    assert heads(project) == [("beta", "third")]
    assert revisions(project) == ["third", "second", "first"]


def test_a_save_that_was_not_to_overwrite_stays_beside_it(project: Project) -> None:
    """What the user would have answered is not known."""
    program = SEE_NOTHING.replace(", overwrite=True)", ")").format(more="pass")
    run(program, project.root.parent)

    assert sorted(heads(project)) == [("beta", "second"), ("beta", "third")]
    with opened(project) as store, pytest.raises(ChoiceNeeded):
        store.save(draft("beta", "fourth"))


def test_each_join_is_recorded_once(project: Project) -> None:
    save_unseen(project)
    for _ in range(3):
        heads(project)
    events, _ = log.read(project.store / "events.jsonl", layout.decode_event)

    assert [each.action for each in events].count("joined") == 1
