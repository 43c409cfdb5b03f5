"""Native files follow the store, whatever happens in between."""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.runs import Cli
from deaths import count_kills
from gitrepo import Repo
from leftoff import profiles
from leftoff.context import find_project
from leftoff.profiles.mirror import mirror, open_mirrors
from leftoff.profiles.mirror.mirror import Mirror
from leftoff.store import LISTED, Store, current_revision, disk
from profiles.mirror import dying
from stores import draft
from talk import Talk


@pytest.fixture
def memory(cli: Cli, repo: Repo) -> Path:
    """Mirror guardz; return its folder."""
    cli.ok("config", "set", "mirror", "guardz", "--project")
    return memory_of(repo.folder)


def memory_of(folder: Path) -> Path:
    munged = re.sub(r"[^A-Za-z0-9-]", "-", str(folder))
    return Path.home() / ".claude" / "projects" / munged / "memory"


def names(memory: Path) -> list[str]:
    return sorted(path.stem.removeprefix("checkpoint-") for path in memory.glob("checkpoint-*.md"))


def test_what_was_saved_before_is_written_when_a_mirror_is_switched_on(
    cli: Cli, repo: Repo
) -> None:
    cli.ok("save", "early-work", "--summary", "Early")
    cli.ok("config", "set", "mirror", "guardz", "--project")
    cli.ok("save", "later-work", "--summary", "Later")

    assert names(memory_of(repo.folder)) == ["early-work", "later-work"]


def test_a_save_whose_process_died_is_mirrored_by_the_next_command(
    cli: Cli, memory: Path, repo: Repo
) -> None:
    cli.ok("save", "first-work", "--summary", "First")
    store = Store(find_project(repo.folder))
    store.save(draft("second-work"))
    store.close()
    assert names(memory) == ["first-work"]
    cli.ok("list")

    assert names(memory) == ["first-work", "second-work"]


@pytest.mark.parametrize("command", ["list", "status"])
def test_a_checkpoint_without_its_line_is_mirrored_by_the_next_command(
    cli: Cli, memory: Path, repo: Repo, command: str
) -> None:
    """A crash between the file and the line leaves it so, and so does a log that is full."""
    cli.ok("save", "first-work", "--summary", "First")
    store = Store(find_project(repo.folder))
    log = store.project.store / "events.jsonl"
    before = log.read_bytes()
    saved = store.save(draft("second-work"))
    store.close()
    log.write_bytes(before)

    cli.ok(command)
    cli.ok(command)

    assert names(memory) == ["first-work", "second-work"]
    assert log.read_bytes().count(f'"id":"{saved.checkpoint.id}"'.encode()) == 1


def test_a_checkpoint_without_its_line_is_mirrored_by_the_next_save(
    cli: Cli, memory: Path, repo: Repo
) -> None:
    cli.ok("save", "first-work", "--summary", "First")
    store = Store(find_project(repo.folder))
    log = store.project.store / "events.jsonl"
    before = log.read_bytes()
    store.save(draft("second-work"))
    store.close()
    log.write_bytes(before)

    with contextlib.closing(Store(find_project(repo.folder))) as store:
        store.save(draft("third-work"))
        open_mirrors(["guardz"]).export_changes(store)

    assert names(memory) == ["first-work", "second-work", "third-work"]


def test_a_save_does_not_build_a_large_index_for_its_native_files(
    cli: Cli, memory: Path, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("save", "first-work", "--summary", "First")
    for left in stored.glob("index*"):
        left.unlink()
    monkeypatch.setattr(current_revision, "_SHORT_BYTES", -1)

    cli.ok("save", "second-work", "--summary", "Second")
    assert not (stored / "index.sqlite").exists()
    assert names(memory) == ["first-work"]
    cli.ok("list")

    assert names(memory) == ["first-work", "second-work"]


def test_news_reported_twice_change_nothing_more(cli: Cli, memory: Path, repo: Repo) -> None:
    cli.ok("save", "first-work", "--summary", "First")
    before = {path: path.read_bytes() for path in memory.iterdir()}
    store = Store(find_project(repo.folder))
    (Mirror(store, "guardz").state / "cursor.json").unlink()
    open_mirrors(["guardz"]).export_changes(store)
    store.close()

    assert {path: path.read_bytes() for path in memory.iterdir()} == before


@pytest.mark.slow("kills at every step")
def test_killed_at_any_step_the_next_command_makes_up_for_it(quick_folder: Path) -> None:
    kills = count_kills(dying, "guardz", quick_folder)

    assert kills["steps"] > 12
    assert kills["writes"] > 3


def test_undo_brings_the_former_revision_back_into_the_file(cli: Cli, memory: Path) -> None:
    cli.ok("save", "some-work", "--summary", "First", "--left-off", "one")
    cli.ok("save", "some-work", "--summary", "Second", "--left-off", "two", "--overwrite")
    cli.ok("undo")

    text = (memory / "checkpoint-some-work.md").read_text(encoding="utf-8")
    assert "## Left Off\none\n" in text


def test_what_is_purged_leaves_no_native_file(cli: Cli, memory: Path, repo: Repo) -> None:
    cli.ok("save", "some-work", "--summary", "First")
    store = Store(find_project(repo.folder))
    store.purge([store.find("some-work")])
    store.close()
    cli.ok("list")

    assert names(memory) == []


def test_each_worktree_has_files_of_its_own_where_the_layout_lies_in_it(
    cli: Cli, repo: Repo
) -> None:
    cli.ok("config", "set", "mirror", "sail", "--project")
    other = repo.worktree(repo.folder.parent / "other", "side")
    cli.ok("save", "main-work", "--summary", "Main")
    os.chdir(other.folder)
    cli.ok("save", "side-work", "--summary", "Side")
    os.chdir(repo.folder)
    cli.ok("list")

    for folder, word in ((repo.folder, "Main"), (other.folder, "Side")):
        (path,) = (folder / ".claude" / "checkpoints").glob("*.json")
        assert word in path.read_text(encoding="utf-8")


@pytest.mark.accept(162)
@pytest.mark.parametrize("name", ["sail", "quoin"])
def test_an_export_holds_what_was_saved_in_every_worktree(
    cli: Cli, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    cli.ok("save", "main-work", "--summary", "Work in the main worktree")
    monkeypatch.chdir(repo.worktree(repo.folder.parent / "other", "side").folder)
    cli.ok("save", "side-work", "--summary", "Work in the other worktree")
    cli.ok("export", "--to", name, str(tmp_path / "out"))
    monkeypatch.chdir(Repo(tmp_path / "elsewhere").folder)

    assert cli.json("import", "--from", name, str(tmp_path / "out"))["imported"] == 2


def test_an_import_from_elsewhere_shows_in_the_mirrored_files_at_once(
    cli: Cli, tmp_path: Path
) -> None:
    cli.ok("save", "early-work", "--summary", "Early")
    cli.ok("export", "--to", "sail", str(tmp_path / "out"))
    os.chdir(Repo(tmp_path / "elsewhere").folder)
    cli.ok("config", "set", "mirror", "guardz", "--project")
    cli.ok("import", "--from", "sail", str(tmp_path / "out"))
    written = names(memory_of(tmp_path / "elsewhere"))

    assert written == [each["name"] for each in cli.json("list")]


@pytest.mark.parametrize("name", [*profiles.PROFILES])
def test_what_was_there_before_a_profile_is_imported_although_a_hook_comes_first(
    cli: Cli, repo: Repo, name: str
) -> None:
    cli.ok("save", "early-work", "--summary", "Read the odd dates")
    cli.ok("export", "--to", name)
    shutil.rmtree(find_project(repo.folder).store)
    cli.ok("config", "set", "profile", name, "--project")
    Talk(repo.folder).start()

    with contextlib.closing(Store(find_project(repo.folder))) as store:
        assert [each.task for each in store.index().heads([*LISTED], 10)] == ["Read the odd dates"]


def test_worktrees_share_the_memory_folder_as_they_do_in_claude_code(
    cli: Cli, memory: Path, repo: Repo
) -> None:
    other = repo.worktree(repo.folder.parent / "other", "side")
    cli.ok("save", "main-work", "--summary", "Main")
    os.chdir(other.folder)
    cli.ok("save", "side-work", "--summary", "Side")

    assert names(memory) == ["main-work", "side-work"]
    assert "- **side-work** (side, " in (memory / "MEMORY.md").read_text(encoding="utf-8")


@pytest.mark.accept(129)
@pytest.mark.parametrize("kind", ["symlink", "fifo", "hard link", "folder"])
def test_what_was_planted_in_the_way_is_left_alone_and_reported(
    cli: Cli, memory: Path, tmp_path: Path, kind: str
) -> None:
    memory.mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("precious", encoding="utf-8")
    target = memory / "checkpoint-some-work.md"
    if kind == "symlink":
        target.symlink_to(victim)
    elif kind == "fifo":
        os.mkfifo(target)
    elif kind == "hard link":
        os.link(victim, target)
    else:
        target.mkdir()
    result = cli.ok("save", "some-work", "--summary", "First")

    assert "is not a regular file" in result.err
    assert victim.read_text(encoding="utf-8") == "precious"
    assert cli.json("show", "some-work")["summary"] == "First"


def test_a_link_that_leads_out_is_not_followed(cli: Cli, memory: Path, tmp_path: Path) -> None:
    memory.parent.mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    memory.symlink_to(elsewhere)
    cli.ok("save", "some-work", "--summary", "First")

    # The folder itself may be a link of the user's; files below it never lead out.
    assert (elsewhere / "checkpoint-some-work.md").is_file()


def test_a_folder_that_cannot_be_written_costs_a_warning_only(cli: Cli, memory: Path) -> None:
    memory.parent.mkdir(parents=True)
    memory.write_text("a file where the folder should be", encoding="utf-8")
    result = cli.ok("save", "some-work", "--summary", "First")

    assert "guardz files could not be written" in result.err
    assert cli.json("show", "some-work")["summary"] == "First"


def test_a_file_made_by_the_original_is_imported(cli: Cli, memory: Path) -> None:
    cli.ok("save", "some-work", "--summary", "First")
    text = (memory / "checkpoint-some-work.md").read_text(encoding="utf-8")
    new = text.replace("some-work", "their-work").replace("First", "Theirs")
    (memory / "checkpoint-their-work.md").write_text(new, encoding="utf-8")
    cli.ok("list")

    assert cli.json("show", "their-work")["left_off"] == "Theirs"
    assert "**their-work**" in (memory / "MEMORY.md").read_text(encoding="utf-8")
    assert (memory / "checkpoint-their-work.md").read_text(encoding="utf-8") == new


def test_an_edit_is_never_lost_to_a_save_at_the_same_time(cli: Cli, memory: Path) -> None:
    cli.ok("save", "some-work", "--summary", "First", "--left-off", "one")
    path = memory / "checkpoint-some-work.md"
    path.write_text(path.read_text(encoding="utf-8").replace("one", "by hand"), encoding="utf-8")
    cli.ok("save", "some-work", "--summary", "Second", "--left-off", "two", "--overwrite")

    revisions = cli.json("log", "some-work")["revisions"]
    found = [cli.json("show", each["id"]).get("left_off") for each in revisions]
    assert found == ["two", "by hand", "one"]


def test_hooks_mirror_what_they_save(cli: Cli, memory: Path, repo: Repo) -> None:
    cli.ok("save", "some-work", "--summary", "First")
    (memory / "checkpoint-some-work.md").unlink()
    talk = Talk(repo.folder)
    talk.ask("Add a cart to the shop")
    talk.say("Done.")
    talk.fire("Stop")

    # The file that somebody removed puts the name away, at the next event of any session.
    assert cli.json("list") == []


def test_trouble_with_a_mirror_in_a_hook_is_reported_by_doctor(
    cli: Cli, memory: Path, repo: Repo
) -> None:
    memory.parent.mkdir(parents=True)
    memory.write_text("a file where the folder should be", encoding="utf-8")
    store = Store(find_project(repo.folder))
    store.save(draft("some-work"))
    store.close()
    talk = Talk(repo.folder)
    talk.ask("Add a cart to the shop")
    talk.say("Done.")
    talk.fire("Stop")

    assert "The guardz files could not be written" in cli("doctor").out


@pytest.fixture
def held(memory: Path, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Hold the lock of the mirror, as another process that writes its files; return its folder."""
    # Waiting longer would not change the outcome: the lock is held until the test ends.
    monkeypatch.setattr(mirror, "_WAIT_SECONDS", 0.01)
    with contextlib.closing(Store(find_project(repo.folder))) as store:
        state = Mirror(store, "guardz").state
        disk.ensure_folder(state)
        with disk.lock(state / "lock") as is_held:
            assert is_held
            yield memory


def test_an_export_writes_nothing_while_another_process_writes_the_files(
    cli: Cli, held: Path, repo: Repo
) -> None:
    with contextlib.closing(Store(find_project(repo.folder))) as store:
        store.save(draft("first-work"))
    result = cli("export", "--to", "guardz", str(held))

    assert (result.code, names(held)) == (1, [])
    assert f"Another process is writing to {held}" in result.err


def test_a_first_import_waits_for_the_process_that_writes_the_files(cli: Cli, held: Path) -> None:
    held.mkdir(parents=True)
    (held / "checkpoint-old-work.md").write_text("# Old work\n\n## Summary\n\nOld\n")
    result = cli.ok("list")

    assert "old-work" not in result.out
    assert f"Another process is writing to {held}" in result.err


def test_files_follow_an_import_that_is_undone_and_redone(cli: Cli, memory: Path) -> None:
    cli.ok("save", "first-work", "--summary", "First")
    sail = Path(__file__).parent.parent / "golden" / "sail" / "mixed"
    cli.ok("import", "--from", "sail", str(sail))
    imported = ["first-work", "newest-timestamp", "older-despite-name"]
    assert names(memory) == imported
    cli.ok("undo")

    assert names(memory) == ["first-work"]
    cli.ok("redo")
    assert names(memory) == imported
