"""The `leftoff snapshot` command: keep uncommitted code, and get it back."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from leftoff.cli.app import App, command, group
from leftoff.cli.ask_questions import confirm
from leftoff.cli.complete_words import complete_paths
from leftoff.cli.list import limit_option
from leftoff.errors import ChoiceNeeded, LeftoffError, UsageError
from leftoff.names import clean_name
from leftoff.projects.project import Project, explain_distrust, find_project, list_folders
from leftoff.snapshots import differences
from leftoff.snapshots.code_patches import write_patch
from leftoff.snapshots.differences import FileDifference, HeadSide, Side, SnapshotSide, WorktreeSide
from leftoff.snapshots.restore import (
    FOLDER_IN_PLACE,
    FileState,
    Restored,
    compare_worktree,
    list_conflicts,
    restore_apart,
    restore_here,
    select_paths,
    select_replaced,
)
from leftoff.snapshots.shelf import (
    Snapshot,
    StoredSnapshot,
    describe_reason,
    find_snapshot,
    list_snapshots,
)
from leftoff.snapshots.take import Reason, take_snapshot
from leftoff.store import CheckpointEntry, StoreEvent, StoreIndex
from leftoff.text import plural
from leftoff.text.fence import line, printable
from leftoff.text.plural import format_count

_SHOWN = 20
_NOT_GIT = "Snapshots need a git repository; this folder is not in one."


@command(name="take")
def snapshot_take(app: App) -> None:
    """Take a snapshot of the uncommitted code."""
    _insist_on_git(app)
    newest = next((each for _, each in list_snapshots(app.project)), None)
    taken = take_snapshot(app.project, Reason(trigger="manual"))
    if taken is None:
        app.out.result({"snapshot": None}, "Nothing is uncommitted, so there is nothing to keep.")
    elif newest is not None and taken.id == newest.id:
        when = plural.age_in_words((app.store.now() - taken.at).total_seconds())
        text = f"Nothing changed since snapshot {taken.short_id} ({when})."
        app.out.result(_describe(taken), text)
    else:
        what = format_count(taken.files + taken.absent, "file")
        app.out.result(_describe(taken), [f"Took snapshot {taken.short_id} of {what}"])
        _mention_skipped(app, find_snapshot(app.project, taken.id))


@group(snapshot_take)
def snapshot() -> None:
    """Save and restore uncommitted code."""


@command(name="list")
@click.argument("thread", required=False)
@limit_option
def snapshot_list(app: App, thread: str | None, limit: int) -> None:
    """List snapshots, newest first."""
    wanted = app.workspace.find(thread).slot if thread else None
    sessions = {each.session_id for each in app.store.index().revisions(wanted)} if wanted else ()
    found = [
        each
        for _, each in list_snapshots(app.project)
        if wanted is None or each.is_of(wanted, sessions)
    ][:limit]
    if app.out.as_json:
        app.out.json([_describe(each) for each in found])
    elif not found:
        app.out.result([], "No snapshots yet. Hooks take them; so does `leftoff snapshot`.")
    else:
        app.out.table(_build_columns(app, found))


@command(name="show")
@click.argument("name", metavar="[ID]", required=False)
def snapshot_show(app: App, name: str | None) -> None:
    """Show what a snapshot contains; without an ID, the newest."""
    stored = _find(app, name or _name_newest(app))
    states = {each.path: each.state for each in _compare(app, stored)}
    content = stored.content
    app.out.result(
        {
            **_describe(stored.record),
            "paths": [
                {"path": printable(each.path), "mode": each.mode, "now": states[each.path]}
                for each in content.work
            ],
            "deleted": [printable(each) for each in content.absent],
            "submodules": {printable(path): sha for path, sha in content.submodules.items()},
            "left_out": [
                {"path": printable(each.path), "why": each.why} for each in content.skipped
            ],
        },
        [
            *_format_heading(app, stored.record),
            *(
                f"  {_describe_state(states[each.path]):9}  {_format_path(each.path)}"
                for each in content.work
            ),
            *(f"  {'deleted':9}  {_format_path(each)}" for each in content.absent),
            *(
                f"  {'submodule':9}  {_format_path(path)} at {sha[:8] or 'no commit'}"
                for path, sha in content.submodules.items()
            ),
            *(
                f"  {'left out':9}  {_format_path(each.path)} ({each.why})"
                for each in content.skipped
            ),
        ],
    )


@command(name="diff")
@click.argument("name", metavar="ID")
@click.argument("other", default="work", metavar="[ID|work|HEAD]")
def snapshot_diff(app: App, name: str, other: str) -> None:
    """Show what changed between a snapshot and now."""
    stored = _find(app, name)
    old = SnapshotSide(stored, app.project.worktree)
    found = [*differences.list_differences(old, _find_side(app, other))]
    if app.out.as_json:
        app.out.json([msgspec.to_builtins(each) for each in found])
    else:
        lines = [line for each in found for line in _format_patch(each)]
        app.out.text(_describe_sides(stored.record, other) if lines else "No differences.")
        app.out.exact(lines)


@command(name="patch")
@click.argument("name", metavar="ID")
def snapshot_patch(app: App, name: str) -> None:
    """Print a snapshot as a patch for `git apply`."""
    stored = _find(app, name)
    thread = _find_thread(app.store.index(), stored.record)
    patch = write_patch(app.project, stored, thread.name if thread else None)
    if app.out.as_json:
        app.out.json({"snapshot": stored.record.id, "patch": patch.decode("utf-8", "replace")})
    # Only a pipe or file gets the exact bytes: on a terminal, control characters could do harm.
    elif app.out.is_terminal:
        app.out.exact(patch.decode("utf-8", "replace").splitlines())
    else:
        sys.stdout.buffer.write(patch)
        sys.stdout.buffer.flush()


@command(name="restore")
@click.argument("name", metavar="ID")
@click.option("--here", is_flag=True, help="Write the files into this worktree.")
@click.option(
    "--file", "files", multiple=True, metavar="PATH", shell_complete=complete_paths,
    help="Restore only this file or folder, into this worktree (repeatable).",
)  # fmt: skip
@click.option("--to", "folder", metavar="FOLDER", help="Where to create the new worktree.")
@click.option("--branch", metavar="NAME", help="The name of the new branch.")
@click.option("--yes", "-y", is_flag=True, help="Replace files that have changed since.")
def snapshot_restore(  # noqa: PLR0913 - one for each option
    app: App, name: str, *, here: bool, files: tuple[str, ...], folder: str | None,
    branch: str | None, yes: bool,
) -> None:  # fmt: skip
    """Restore the files of a snapshot.

    Without --here or --file, they go into a new branch and a new worktree.
    """
    if (here or files) and (folder or branch):
        raise UsageError("--to and --branch create a worktree; --here and --file do not.")
    stored = _find(app, name)
    if not (here or files):
        _show_apart(
            app, restore_apart(app.project, stored, *_choose_new_place(app, stored, folder, branch))
        )
        return
    paths = [_find_path(app, stored, each) for each in files]
    wanted = select_paths(stored.content, paths)
    stored = StoredSnapshot(stored.shelf, stored.record, wanted, is_whole=not files)
    if not (yes or _confirm(app, stored, files)):
        app.out.result(
            _describe_restore(Restored(folder=app.project.worktree)), "Nothing was changed."
        )
        return
    done = restore_here(app.project, stored)
    if done.before is not None:
        app.store.record_code(stored.record.id, done.before.id, [printable(each) for each in paths])
    _show_here(app, stored, done)


for each in (snapshot_list, snapshot_show, snapshot_diff, snapshot_patch, snapshot_restore):
    snapshot.add_command(each)


def _insist_on_git(app: App) -> None:
    if not app.project.is_git:
        what, way_out = explain_distrust(app.project) or (_NOT_GIT, "Run `git init` first.")
        raise UsageError(what, hint=way_out)


def _name_newest(app: App) -> str:
    newest = next((each for _, each in list_snapshots(app.project)), None)
    if newest is None:
        raise UsageError("No snapshots yet.", hint="Hooks take them; so does `leftoff snapshot`.")
    return newest.id


def _find(app: App, name: str) -> StoredSnapshot:
    found = find_snapshot(app.project, name)
    if found is None:
        raise UsageError(
            f"No snapshot {name!r} in this project.",
            hint="Run `leftoff snapshot list` to see them.",
        )
    return found


def _describe_sides(snapshot: Snapshot, other: str) -> str:
    """Say which way a diff goes."""
    names = {"work": "the files now", "HEAD": "the last commit"}
    to = names.get(other, f"snapshot {other}")
    return f"From snapshot {snapshot.short_id} (-) to {to} (+):"


def _find_side(app: App, name: str) -> Side:
    if name == "work":
        return WorktreeSide(app.project.worktree)
    if name == "HEAD":
        return HeadSide(app.project.worktree)
    return SnapshotSide(_find(app, name), app.project.worktree)


def _compare(app: App, stored: StoredSnapshot) -> list[FileState]:
    return compare_worktree(app.project.worktree, stored.content)


# What is shown


def _format_path(path: str) -> str:
    """Return a path on one line, whatever bytes it has."""
    return line(printable(path))


def _describe(snapshot: Snapshot) -> dict[str, Any]:
    # Scripts rely on every key, and a record has only what differs from the default.
    whole = {**msgspec.structs.asdict(snapshot), **msgspec.to_builtins(snapshot)}
    return {"short_id": snapshot.short_id, **whole}


def _build_columns(app: App, found: Sequence[Snapshot]) -> dict[str, list[str]]:
    now = app.store.now()
    index = app.store.index()
    entries = [_find_thread(index, each) for each in found]
    return {
        "snapshot": [each.short_id for each in found],
        "age": [plural.age((now - each.at).total_seconds()) for each in found],
        "files": [str(each.files + each.absent) for each in found],
        "taken": [describe_reason(each) for each in found],
        "branch": [each.branch or "-" for each in found],
        "thread": [entry.name or "-" if entry else "-" for entry in entries],
    }


def _find_thread(index: StoreIndex, snapshot: Snapshot) -> CheckpointEntry | None:
    """Return the thread that a snapshot belongs to, itself or by its session."""
    if snapshot.thread is None and snapshot.session is not None:
        return index.find_thread(snapshot.session)
    return index.head(snapshot.thread) if snapshot.thread is not None else None


def _format_heading(app: App, snapshot: Snapshot) -> list[str]:
    when = plural.age_in_words((app.store.now() - snapshot.at).total_seconds())
    base = f" at {snapshot.head[:8]}" if snapshot.head else ""
    lines = [
        f"Snapshot {snapshot.short_id}, taken {when}, {describe_reason(snapshot)}",
        f"Worktree {printable(snapshot.worktree)}",
    ]
    return [*lines, f"Branch {printable(snapshot.branch)}{base}"] if snapshot.branch else lines


def _describe_state(state: str) -> str:
    return {"same": "as now", "changed": "differs", "missing": "missing"}[state]


def _mention_skipped(app: App, stored: StoredSnapshot | None) -> None:
    for each in stored.content.skipped[:_SHOWN] if stored else ():
        app.out.warn(f"{_format_path(each.path)} is not in the snapshot: {each.why}.")


def _format_patch(found: FileDifference) -> list[str]:
    if not found.lines:
        return [f"{found.change}: {printable(found.path)} (binary)"]
    return [printable(line) for line in found.lines]


# Restoring


def _choose_new_place(
    app: App, stored: StoredSnapshot, folder: str | None, branch: str | None
) -> tuple[Path, str]:
    """Return the folder and the branch for a restored worktree."""
    record = stored.record
    stem = clean_name(record.branch or "detached").replace("/", "-")
    root = app.project.root
    place = root.parent / f"{root.name}-{record.short_id}"
    return Path(
        folder
    ).absolute() if folder else place, branch or f"restored/{stem}-{record.short_id}"


def _find_path(app: App, stored: StoredSnapshot, typed: str) -> str:
    """Return a path of the snapshot, which may be typed as seen from the current folder."""
    place = os.path.relpath(Path.cwd() / typed, app.project.worktree)
    known = [*(each.path for each in stored.content.work), *stored.content.absent]
    is_here = any(each == place or each.startswith(f"{place}/") for each in known)
    return place if is_here else typed


def _confirm(app: App, stored: StoredSnapshot, files: Sequence[str]) -> bool:
    """Ask before files with newer edits are replaced."""
    if not (replaced := list_conflicts(app.project.worktree, stored.content)):
        return True
    count = format_count(len(replaced), "file")
    question = f"{count} {_pick_verb(replaced)} newer edits. Replace?"
    if app.out.is_interactive:
        app.out.text(f"This replaces {count} that {_pick_verb(replaced)} newer edits:")
        app.out.text([f"  {_format_path(each)}" for each in replaced[:_SHOWN]])
        more = len(replaced) - _SHOWN
        app.out.text([f"  and {more} more"] if more > 0 else [])
        app.out.text("leftoff takes a snapshot of them first; `leftoff undo` brings them back.")
        return confirm("Replace them?", default=False)
    raise ChoiceNeeded(
        question,
        question="Replace them? leftoff takes a snapshot of them first.",
        choices=[
            {
                "choice": "replace",
                "label": "Replace them",
                "command": _format_replacing_command(stored, files),
            },
            {
                "choice": "apart",
                "label": "Restore into a new worktree",
                "command": _format_apart_command(stored),
            },
        ],
        hint=f"Replace them with --yes: {', '.join(_format_path(each) for each in replaced[:3])}",
    )


def _pick_verb(files: Sequence[str]) -> str:
    return "has" if len(files) == 1 else "have"


def _format_replacing_command(stored: StoredSnapshot, files: Sequence[str]) -> str:
    where = " ".join(f"--file {shlex.quote(each)}" for each in files) or "--here"
    return f"leftoff snapshot restore {stored.record.short_id} {where} --yes"


def _format_apart_command(stored: StoredSnapshot) -> str:
    return f"leftoff snapshot restore {stored.record.short_id}"


def _show_apart(app: App, done: Restored) -> None:
    lines = [
        f"Restored {format_count(len(done.written), 'file')} into {printable(str(done.folder))}",
        f"  Branch  {printable(done.branch or '')}",
        f"  Remove  git worktree remove --force {shlex.quote(printable(str(done.folder)))}",
    ]
    app.out.result(_describe_restore(done), lines)
    if done.is_base_gone:
        app.out.warn("The commit below is gone, so the branch starts at the current commit.")


def _show_here(app: App, stored: StoredSnapshot, done: Restored) -> None:
    removed = [f"{path} (deleted, as in the snapshot)" for path in done.removed]
    changed = [*done.written, *removed]
    for each in done.left[:_SHOWN]:
        is_folder = each.why == FOLDER_IN_PLACE
        kept = "" if is_folder else "; the file there is not in any snapshot"
        app.out.warn(f"{_format_path(each.path)} was not restored{kept}: {each.why}.")
    if not changed and done.left:
        app.out.result(_describe_restore(done), "Restored nothing.")
        return
    if not changed:
        app.out.result(_describe_restore(done), "Nothing to restore: all files are as they were.")
        return
    lines = [
        f"Restored {format_count(len(changed), 'file')} from snapshot {stored.record.short_id}",
        *(f"  {_format_path(each)}" for each in changed[:_SHOWN]),
        *([f"  and {len(changed) - _SHOWN} more"] if len(changed) > _SHOWN else []),
    ]
    if done.before is not None:
        lines.append("Run `leftoff undo` to reverse this.")
    app.out.result(_describe_restore(done), lines)


def revert_restore(app: App, act: StoreEvent) -> None:
    """Bring the files back that a restore replaced."""
    restored, before = _load_act(app, act)
    chosen_paths = select_paths(restored.content, act.paths)
    wanted = select_replaced(before.content, chosen_paths, is_whole=not act.paths)
    chosen = StoredSnapshot(before.shelf, before.record, wanted, is_whole=False)
    restore_here(_find_project(app, before), chosen)


def repeat_restore(app: App, act: StoreEvent) -> None:
    """Restore the files of a snapshot once more."""
    restored, before = _load_act(app, act)
    wanted = select_paths(restored.content, act.paths)
    chosen = StoredSnapshot(restored.shelf, restored.record, wanted, is_whole=not act.paths)
    restore_here(_find_project(app, before), chosen)


def _load_act(app: App, act: StoreEvent) -> list[StoredSnapshot]:
    return [_find(app, each) for each in act.snapshots or ()]


def _find_project(app: App, before: StoredSnapshot) -> Project:
    """Return the worktree that was restored into."""
    worktree = Path(before.record.worktree)
    if not worktree.is_dir():
        raise LeftoffError(
            f"The worktree that the files were restored into is gone: {worktree}",
            hint=f"Run `{_format_apart_command(before)}` to restore its last state into a new one.",
        )
    if worktree not in list_folders(app.project):
        raise UsageError(
            f"The files were restored into a folder that is not a worktree of this project: "
            f"{printable(str(worktree))}",
            hint=f"Run `{_format_apart_command(before)}` to restore its last state into a new one.",
        )
    return find_project(app.environment, worktree)


def _describe_restore(done: Restored) -> dict[str, Any]:
    return {
        "folder": printable(str(done.folder)),
        "branch": done.branch,
        "written": [printable(each) for each in done.written],
        "removed": [printable(each) for each in done.removed],
        "left": [{"path": printable(each.path), "why": each.why} for each in done.left],
        "before": done.before.short_id if done.before else None,
        "is_base_gone": done.is_base_gone,
    }
