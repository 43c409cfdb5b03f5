"""Many processes use one store at once. Each is a separate program, as it is for users."""

from pathlib import Path

import pytest

from leftoff.checkpoint import decode
from leftoff.projects.project import Project
from leftoff.store import Store
from programs import run_together
from stores import fresh_view, project_at, rebuilt_view

pytestmark = pytest.mark.slow("lets processes race")

PROCESSES, SAVES = 8, 500


def files_of(project: Project) -> list[Path]:
    return [path for path in (project.store / "checkpoints").rglob("*") if path.is_file()]


def test_8_processes_with_500_saves_each_leave_4000_checkpoints(quick_folder: Path) -> None:
    program = f"""
        for turn in range({SAVES}):
            saved = store.save(draft(f"process-{{number}}-{{turn}}"))
            assert saved.notice is None, saved.notice
    """

    run_together(program, quick_folder, PROCESSES)

    project = project_at(quick_folder)
    assert len(files_of(project)) == PROCESSES * SAVES
    assert all(decode(path.read_bytes()).id == path.stem for path in files_of(project))
    rows = fresh_view(project)
    names = {f"process-{number}-{turn}" for number in range(PROCESSES) for turn in range(SAVES)}
    assert {row[0] for row in rows} == names
    assert all(row[2:] == ("open", True) for row in rows)
    assert rows == rebuilt_view(project)
    assert list((project.store / "tmp").iterdir()) == []
    assert not project.fallback.exists()


def test_saves_on_one_name_from_8_processes_are_all_kept_and_the_newest_is_the_head(
    quick_folder: Path,
) -> None:
    program = """
        for turn in range(50):
            saved = store.save(draft("shared", f"{number}-{turn}"), overwrite=True)
            assert saved.notice is None, saved.notice
    """

    run_together(program, quick_folder, PROCESSES)

    store = Store(project_at(quick_folder))
    revisions = store.index().revisions(store.find("shared").slot)
    assert len({each.task for each in revisions}) == len(revisions) == PROCESSES * 50
    assert [each.is_head for each in revisions] == [True] + [False] * (len(revisions) - 1)
    replaced = {
        event.replaced for event in store.index().newest_events(1000) if event.action == "saved"
    }
    # Each replaced the one before: nobody overwrote what he had not seen.
    assert replaced == {None, *(each.id for each in revisions[1:])}
    store.close()


def test_a_name_is_given_once_however_many_ask_for_it(quick_folder: Path) -> None:
    program = """
        for turn in range(20):
            try:
                store.save(draft(f"wanted-{turn}", f"by {number}"))
            except ChoiceNeeded:
                pass
    """

    run_together(program, quick_folder, PROCESSES)

    assert sorted(str(row[0]) for row in fresh_view(project_at(quick_folder))) == sorted(
        f"wanted-{turn}" for turn in range(20)
    )


@pytest.mark.parametrize("meanwhile", ["pass", "index.unlink(missing_ok=True)", "garble(index)"])
def test_saving_and_listing_go_on_while_others_delete_or_garble_the_index(
    meanwhile: str, quick_folder: Path
) -> None:
    program = f"""
        index = project.store / "index.sqlite"

        def garble(path):
            if path.exists():
                os.truncate(path, path.stat().st_size // 2)

        for turn in range(12):
            store = Store(project)
            saved = store.save(draft(f"process-{{number}}-{{turn}}"))
            assert saved.notice is None, saved.notice
            assert saved.checkpoint.name in {{row[0] for row in view(store)}}
            store.close()
            if turn % 3 == number % 3:
                {meanwhile}
    """

    run_together(program, quick_folder, PROCESSES)

    project = project_at(quick_folder)
    rows = fresh_view(project)
    assert len(rows) == PROCESSES * 12
    assert rows == rebuilt_view(project)
