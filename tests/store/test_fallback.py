"""What happens while the store is not writable, and after."""

import contextlib
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from leftoff.projects.project import Project
from leftoff.store import Store, disk
from programs import run
from stores import draft, fresh_view, names_listed, project_at, rebuilt_view, view

IN_A_NAMESPACE = ("unshare", "--map-root-user", "--mount")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_at(tmp_path)


def block(project: Project) -> None:
    """Put a file where the store's folder should be."""
    project.store.parent.mkdir(parents=True, exist_ok=True)
    project.store.write_text("in the way", encoding="utf-8")


def test_a_save_goes_to_the_fallback_and_the_user_is_told_where(
    store: Store, project: Project
) -> None:
    block(project)

    saved = store.save(draft("login-form"))

    assert saved.path.is_relative_to(project.fallback)
    assert saved.notice is not None
    assert str(project.fallback) in saved.notice
    assert names_listed(store) == ["login-form"]
    assert store.load(store.find("login-form")) == saved.checkpoint


def test_all_that_is_done_meanwhile_is_seen_and_can_be_undone(
    store: Store, project: Project
) -> None:
    block(project)
    saved = store.save(draft("login-form", "first"))
    store.save(draft("login-form", "second"), overwrite=True)
    assert store.undo() is not None
    assert store.find("login-form").task == "first"
    store.record("cleared", [saved.checkpoint.id])

    assert names_listed(store) == []
    assert fresh_view(project) == view(store)
    store.purge(store.index().revisions(store.find("login-form").slot))
    assert view(store) == []


def test_what_the_fallback_holds_is_imported_by_the_next_write(
    store: Store, project: Project
) -> None:
    block(project)
    saved = store.save(draft("login-form"))
    store.record("resumed", [saved.checkpoint.id])
    store.keep_session("claude", "s1", b"what was learnt")
    store.append_line("prompts", b'{"a": 1}')
    project.store.unlink()

    later = store.save(draft("search-page"))

    assert later.notice is None
    entry = store.find("login-form")
    assert store.path_of(entry).is_relative_to(project.store)
    assert store.read_raw(entry) == store.path_of(entry).read_bytes()
    assert entry.state == "resumed"
    assert store.read_session("claude", "s1") == b"what was learnt"
    assert store.read_log("prompts", bytes) == [b'{"a": 1}']
    left = [path for path in project.fallback.rglob("*.json*") if path.is_file()]
    assert left == []
    assert fresh_view(project) == rebuilt_view(project) == view(store)


def test_what_waits_is_imported_by_the_first_reader(store: Store, project: Project) -> None:
    block(project)
    saved = store.save(draft("login-form"))
    store.record("resumed", [saved.checkpoint.id])
    seen = view(store)
    project.store.unlink()

    assert view(store) == seen
    assert store.path_of(store.find("login-form")).is_relative_to(project.store)
    assert not saved.path.exists()


def test_what_waits_in_another_temp_folder_is_imported(project: Project) -> None:
    sandbox = msgspec.structs.replace(project, fallback=project.fallback.with_name("sandbox"))
    block(project)
    with contextlib.closing(Store(sandbox)) as inside:
        saved = inside.save(draft("login-form"))
    project.store.unlink()

    outside = Store(msgspec.structs.replace(project, strays=(sandbox.fallback,)))

    assert names_listed(outside) == ["login-form"]
    assert outside.path_of(outside.find("login-form")).is_relative_to(project.store)
    assert not saved.path.exists()
    outside.close()


def test_nothing_is_imported_while_someone_writes_to_the_fallback(
    store: Store, project: Project
) -> None:
    block(project)
    store.save(draft("login-form"))
    log = project.fallback / "events.jsonl"
    project.store.unlink()

    with disk.lock(project.fallback / "lock"):
        store.save(draft("search-page"))
        assert log.exists()
        assert sorted(map(str, names_listed(store))) == ["login-form", "search-page"]

    store.save(draft("cart-totals"))
    assert not log.exists()


def test_what_was_learnt_after_the_fallback_counts(store: Store, project: Project) -> None:
    block(project)
    store.keep_session("claude", "s1", b"old")
    project.store.unlink()

    store.keep_session("claude", "s1", b"new")

    assert store.read_session("claude", "s1") == b"new"


def test_a_name_kept_in_the_fallback_is_in_use(store: Store, project: Project) -> None:
    block(project)
    store.save(draft("login-form", "first"))
    project.store.unlink()

    saved = store.save(draft("login-form", "second"), overwrite=True)

    assert saved.replaced is not None
    assert store.undo() is not None
    assert store.find("login-form").task == "first"


def test_two_contents_for_one_id_are_both_kept(store: Store, project: Project) -> None:
    block(project)
    saved = store.save(draft("login-form", "from the fallback"))
    project.store.unlink()
    other = project.store / saved.path.relative_to(project.fallback)
    other.parent.mkdir(parents=True)
    other.write_bytes(saved.path.read_bytes().replace(b"from the fallback", b"from the store"))

    store.save(draft("search-page"))

    assert b"from the store" in other.read_bytes()
    assert b"from the fallback" in saved.path.read_bytes()
    assert store.find("login-form").task == "from the store"


def test_where_nothing_can_be_written_the_error_names_both_places(tmp_path: Path) -> None:
    program = """
        for place in (project.store, project.fallback):
            place.parent.mkdir(parents=True)
            place.write_text("in the way")
        try:
            store.save(draft("login-form"))
        except StoreRefused as error:
            assert str(project.store) in error.message, error.message
            assert str(project.fallback) in error.message, error.message
            assert str(project.store) in error.hint, error.hint
            print("refused")
    """

    assert run(program, tmp_path) == "refused\n"


def test_a_store_made_read_only_is_read_and_saves_go_to_the_fallback(tmp_path: Path) -> None:
    program = """
        import subprocess
        first = store.save(draft("before-it"))
        store.index()
        store.close()
        subprocess.run(["chmod", "-R", "a-w", str(project.store)], check=True)
        give_up_power()

        assert names_listed(store) == ["before-it"]
        saved = store.save(draft("during-it"))
        assert saved.notice and "ermission" in saved.notice, saved.notice
        store.record("cleared", [first.checkpoint.id])
        assert names_listed(store) == ["during-it"]
        assert rebuilt_view_is_same(project, view(store))

        subprocess.run(["chmod", "-R", "u+w", str(project.store)], check=True)
        assert store.save(draft("after-it")).notice is None
        assert names_listed(store) == ["after-it", "during-it"]
        assert [e.name for e in store.index().list_trashed(9)] == ["before-it"]
        assert not list(project.fallback.rglob("*.json"))
    """
    helper = """
        def rebuilt_view_is_same(project, seen):
            for index in project.fallback.glob("index*"):
                index.unlink()
            return fresh_view(project) == seen
    """

    run(helper + program, tmp_path)


def test_a_store_that_cannot_even_be_read_does_not_fail_a_save(tmp_path: Path) -> None:
    program = """
        store.save(draft("before-it"))
        store.close()
        for closed in (project.store / "checkpoints", project.store / "events.jsonl"):
            mode = closed.stat().st_mode
            closed.chmod(0)
            give_up_power()
            other = Store(project)
            other.save(draft(f"during-{closed.stem}"))
            other.close()
            closed.chmod(mode)
        assert sorted(map(str, names_listed(store))) == [
            "before-it", "during-checkpoints", "during-events"
        ]
    """

    run(program, tmp_path)


def test_a_store_that_cannot_be_written_is_listed_without_its_index(tmp_path: Path) -> None:
    program = """
        store.save(draft("before-it"))
        seen = view(store)
        store.close()
        (project.store / "index.sqlite").unlink()
        project.store.chmod(0o500)
        give_up_power()

        assert fresh_view(project) == seen
        assert not (project.store / "index.sqlite").exists()
        project.store.chmod(0o700)
    """

    run(program, tmp_path)


def _has_namespaces() -> bool:
    if shutil.which("unshare") is None:
        return False
    command = [*IN_A_NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


@pytest.mark.skipif(not _has_namespaces(), reason="no small disk can be mounted here")
def test_a_full_disk_loses_nothing_and_is_left_behind_when_there_is_room_again(
    tmp_path: Path,
) -> None:
    program = """
        import subprocess
        project.store.mkdir(parents=True)
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(project.store)], check=True
        )
        filler = project.store / "filler"
        filler.write_bytes(b"x" * 100_000)
        names = []
        for number in range(200):
            saved = store.save(draft(f"name-{number}", "text " * 300))
            names.append(saved.checkpoint.name)
            if saved.notice and len(names) > 20:
                break
        assert saved.notice and "No space left" in saved.notice, saved.notice
        first = store.find(names[0])
        store.record("cleared", [first.id])
        assert sorted(map(str, names_listed(store))) == sorted(names[1:])

        filler.unlink()
        saved = store.save(draft("after-it"))
        assert saved.notice is None, saved.notice
        assert sorted(map(str, names_listed(store))) == sorted([*names[1:], "after-it"])
        assert fresh_view(project) == rebuilt_view(project)
        assert list((project.store / "tmp").iterdir()) == []
        print("full")
    """

    assert run(program, tmp_path, by=IN_A_NAMESPACE) == "full\n"


def test_a_file_size_limit_fails_with_a_sentence_and_leaves_no_half_file(tmp_path: Path) -> None:
    program = """
        import resource
        store.save(draft("before-it"))
        seen = view(store)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
        try:
            store.save(draft("during-it", "text " * 300))
        except StoreRefused as error:
            print(error.message)
        resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
        assert fresh_view(project) == rebuilt_view(project) == seen
        assert store.save(draft("after-it")).notice is None
    """

    assert "Nothing could be written" in run(program, tmp_path)
