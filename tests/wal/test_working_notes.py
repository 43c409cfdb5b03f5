"""Notes are under the right heading and on disk before the agent continues; all else stays."""

import contextlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import syncs
from cli.runs import environment
from gitrepo import Repo
from leftoff import config
from leftoff.context import find_project
from leftoff.errors import StoreRefused
from leftoff.projects.project import Project
from leftoff.session import state_file
from leftoff.store import Store
from leftoff.wal import working_notes
from leftoff.wal.notes_place import place
from stores import NOON, compose

HEADINGS = {
    "correction": "Corrections & preferences observed this session",
    "preference": "Corrections & preferences observed this session",
    "noun": "Proper nouns & values",
    "value": "Proper nouns & values",
    "decision": "Decisions made",
    "draft": "Drafts in flight",
}


def place_of(store: Store) -> Path:
    return place(store.project, config.load(store.project).settings)


def add(store: Store, kind: working_notes.Kind, text: str) -> working_notes.NotedLine:
    return working_notes.add(store, kind, text, path=place_of(store))


def section(text: str, heading: str) -> str:
    return text.partition(f"## {heading}\n")[2].partition("\n## ")[0]


@pytest.mark.accept(49)
@pytest.mark.parametrize("kind", working_notes.KINDS)
def test_a_note_is_under_its_heading_with_the_time(store: Store, kind: working_notes.Kind) -> None:
    noted = add(store, kind, "delimiter is ;")

    text = noted.path.read_text("utf-8")
    assert noted.is_new
    assert re.search(
        r"- \[\d{4}-\d\d-\d\d \d\d:\d\d\] delimiter is ;\n", section(text, HEADINGS[kind])
    )


def test_nothing_is_made_in_the_users_tree(store: Store) -> None:
    noted = add(store, "value", "port 8081")

    assert noted.path == store.project.store / "SESSION-STATE.md"
    assert not list(store.project.worktree.iterdir())
    assert noted.path.stat().st_mode & 0o777 == 0o600


def test_notes_that_are_in_the_worktree_are_used_where_the_user_says_so(store: Store) -> None:
    own = store.project.worktree / "SESSION-STATE.md"
    own.write_text("# Mine\n", "utf-8")
    own.chmod(0o644)
    assert add(store, "value", "port 8081").path != own

    config.set_for(store.project, "notes", "worktree")

    assert add(store, "value", "port 8081").path == own
    assert own.stat().st_mode & 0o777 == 0o644
    assert own.read_text("utf-8").startswith("# Mine\n\n## Proper nouns & values\n- [")


def test_notes_of_a_profile_are_in_its_workspace(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENCLAW_WORKSPACE", str(tmp_path / "claw"))
    project = find_project(project.root)
    settings = config.Settings(profile="openclaw", notes="profile")

    assert place(project, settings) == tmp_path / "claw" / "SESSION-STATE.md"


@pytest.mark.accept(28)
def test_a_save_is_filled_from_what_was_noted(store: Store) -> None:
    add(store, "decision", "Stream the rows (files reach 2 GB)")
    add(store, "correction", "delimiter is ;")

    made = compose({"summary": "Import CSV files"}, store)

    assert [(each.what, each.why) for each in made.decisions] == [
        ("Stream the rows", "files reach 2 GB")
    ]
    assert made.notes == ["delimiter is ;"]


def test_what_is_noted_already_is_not_noted_again(store: Store) -> None:
    first = add(store, "value", "port 8081")
    before = first.path.read_bytes()

    assert not add(store, "value", "port 8081").is_new
    assert first.path.read_bytes() == before
    assert add(store, "value", "port 808").is_new


def test_secrets_are_not_noted(store: Store) -> None:
    noted = add(store, "value", "the token is ghp_abcdefghijklmnopqrstuvwxyz0123456789")

    assert "ghp_" not in noted.path.read_text("utf-8")


def test_a_text_of_several_lines_is_one_note(store: Store) -> None:
    noted = add(store, "correction", "first\n\nsecond\n## third")

    assert state_file.read(noted.path)["notes"] == ["first\nsecond\n## third"]


def test_a_folder_or_link_in_its_place_is_left_alone(store: Store, tmp_path: Path) -> None:
    store.project.store.mkdir(parents=True)
    target = tmp_path / "elsewhere.md"
    target.write_text("theirs")
    (store.project.store / "SESSION-STATE.md").symlink_to(target)

    with pytest.raises(StoreRefused):
        add(store, "value", "port 8081")
    assert target.read_text() == "theirs"


HAND_MADE = st.lists(
    st.sampled_from(
        [
            "# SESSION-STATE.md", "## Active task", "**Goal:** x", "## Open decisions", "- a",
            "## Corrections", "## Preferences", "### Values", "```", "## Drafts in flight", "",
            "text", "<!-- remark -->", "- [2026-11-15 18:21] b", "Überschrift", "\x0b", "\u2028",
        ]
    ),
    max_size=12,
)  # fmt: skip


@given(
    lines=HAND_MADE,
    kind=st.sampled_from(working_notes.KINDS),
    text=st.text(min_size=1).map(str.strip).filter(bool),
    newline=st.sampled_from(["\n", "\r\n"]),
    ends=st.booleans(),
)
def test_all_else_stays_byte_for_byte(
    lines: list[str], kind: working_notes.Kind, text: str, newline: str, *, ends: bool
) -> None:
    before = newline.join(lines) + (newline if ends else "")
    after = working_notes.with_note(before, kind, text, NOON)

    if after is None:
        assert text.splitlines()[0].rstrip() in before
        return
    # What was there is the new text without one stretch of it.
    size = len(after) - len(before)
    assert any(after[:at] + after[at + size :] == before for at in range(len(before) + 1))
    assert "- [2026-11-15 " in after


def test_when_the_command_returns_the_note_survives_a_kill(store: Store) -> None:
    script = (
        "import os, signal, sys\n"
        "from leftoff.cli import run\n"
        "assert run(['wal', 'add', '--kind', 'value', 'port 8081']) == 0\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run(
        (sys.executable, "-c", script),
        cwd=store.project.worktree,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=120,
    )

    assert "port 8081" in (store.project.store / "SESSION-STATE.md").read_text("utf-8")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="nothing tells what was synced")
def test_the_first_note_survives_a_power_cut(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = syncs.watch(monkeypatch)

    with contextlib.closing(Store(find_project(repo.folder))) as store:
        add(store, "value", "port 8081")

    # The folder of the store is new, and its name is in the one above.
    assert {repo.folder / ".git", repo.folder / ".git" / "leftoff"} <= set(synced)


def test_two_writers_lose_nothing(store: Store) -> None:
    script = (
        "import sys\nfrom leftoff.cli import run\n"
        "for n in range(20):\n"
        "    assert run(['wal', 'add', '-q', '--kind', 'value', f'{sys.argv[1]} {n} of'])  == 0\n"
    )
    running = [
        subprocess.Popen(
            (sys.executable, "-c", script, name), cwd=store.project.worktree, env=environment()
        )
        for name in ("left", "right")
    ]
    assert [each.wait(timeout=120) for each in running] == [0, 0]

    noted = state_file.read(store.project.store / "SESSION-STATE.md")["notes"]
    assert sorted(noted) == sorted(
        f"{name} {n} of" for name in ("left", "right") for n in range(20)
    )


def test_each_worktree_has_notes_of_its_own(tmp_path: Path) -> None:
    main = Repo(tmp_path / "main")
    main.commit("Begin", {"a.py": "1\n"})
    main.worktree(tmp_path / "side", "side")
    stores = [Store(find_project(tmp_path / name)) for name in ("main", "side")]
    for number, store in enumerate(stores):
        add(store, "value", f"port {number}")
    found = [state_file.read(place_of(store))["notes"] for store in stores]

    assert found == [["port 0"], ["port 1"]]
    for store in stores:
        store.close()


def test_a_reset_moves_the_notes_to_the_trash(store: Store) -> None:
    path = add(store, "value", "port 8081").path
    moved = working_notes.reset(store, path=place_of(store))

    assert moved is not None
    assert "port 8081" in moved.read_text("utf-8")
    assert not path.exists()
    assert working_notes.reset(store, path=place_of(store)) is None
    assert "port 8081" not in add(store, "value", "port 1").path.read_text("utf-8")
