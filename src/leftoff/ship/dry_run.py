"""Show what a ship would do, without changing a byte."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from leftoff.checkpoint import Checkpoint
from leftoff.config import Settings
from leftoff.errors import StoreRefused
from leftoff.git.github import GH_MISSING, GH_MISSING_HINT, is_gh_installed
from leftoff.git.query import GitState
from leftoff.git.repository import parse_repository_name
from leftoff.git.write import Remote, Repo
from leftoff.knowledge import features
from leftoff.profiles.mirror import open_mirrors
from leftoff.projects.project import Project
from leftoff.ship import choose_files, compose_message, delivery, record_work
from leftoff.ship.branch_history import BranchHistory, read_messages
from leftoff.ship.choose_files import Chosen, Judge, format_path
from leftoff.ship.outcome import Name, Options, ShipReport, ShipStep, build_no_checks_step
from leftoff.ship.shipped_work import work_at_hand
from leftoff.ship.user_checks import suggest_checks
from leftoff.store import Store
from leftoff.text.plural import format_count
from leftoff.threads import memory_briefing


@contextlib.contextmanager
def open_scratch_store(project: Project, mirror: Sequence[str]) -> Iterator[Store]:
    """Open the store, or a copy that knows what somebody changed in native files since.

    A ship imports such edits first, and a dry run must not change the store.
    """
    if not mirror or not project.store.is_dir():
        with contextlib.closing(Store(project)) as store:
            yield store
        return
    with tempfile.TemporaryDirectory(prefix="leftoff-") as folder:
        copy = Path(folder) / "store"
        shutil.copytree(project.store, copy, ignore=_skip_indexes, symlinks=True)
        shadow = msgspec.structs.replace(
            project, store=copy, fallback=Path(folder) / "fallback", strays=(), earlier=(),
            shared=(),
        )  # fmt: skip
        with contextlib.closing(Store(shadow)) as store:
            open_mirrors(mirror).import_edits(store)
            yield store


def _skip_indexes(_folder: str, names: list[str]) -> list[str]:
    """Leave out what can be rebuilt, and snapshots, which a plan does not need."""
    return [name for name in names if ".sqlite" in name or name in {"snapshots", "trash"}]


def plan(store: Store, settings: Settings, options: Options) -> ShipReport:
    """Preview the main steps of `ship`, touching neither the store nor the repository."""
    worktree = store.project.worktree
    state = choose_files.read_worktree(worktree)
    repo = Repo(worktree)
    # Saving always comes first, even where nothing can be committed.
    steps = [_build_planned_step("save", "Would save the current state and your decisions.")]
    problem = delivery.find_obstacle(state)
    chosen = Chosen() if problem else Judge(repo, settings.not_secret).choose(state)
    steps += _plan_memory(store, settings, chosen)
    if problem is not None:
        return ShipReport(steps=[*steps, problem], branch=state.branch)
    saved = record_work.peek_last_save(store, state, {state.head}).news
    steps += [_build_planned_step("checks", f"Would run {command}") for command in settings.verify]
    if not settings.verify:
        steps.append(build_no_checks_step(suggest_checks(worktree)))
    steps += [_plan_stage(chosen), _commit(store, repo, options, saved, state, chosen)]
    # A briefing that is written anew changes files, so there will be something to commit.
    is_news = any(step.name in {"briefing", "commit"} and step.state == "planned" for step in steps)
    steps += _plan_push(repo, state, options, makes_commit=is_news)
    remote = repo.push_remote(state.branch or "")
    return ShipReport(
        steps=steps,
        branch=state.branch,
        remote=remote.name if remote else None,
        repository=parse_repository_name(remote.url) if remote else None,
        left_out=chosen.left_out,
    )


def _plan_memory(store: Store, settings: Settings, chosen: Chosen) -> list[ShipStep]:
    steps = _plan_archive(store)
    native = [*settings.mirror, *([settings.briefing_file] if settings.briefing_file else [])]
    if not native:
        return steps
    # Each save has written its native files; only new work and the briefing can change them.
    if steps or chosen.files or not _is_briefing_current(store, settings):
        return [*steps, _build_planned_step("briefing", f"Would update: {', '.join(native)}")]
    return [ShipStep(name="briefing", state="skipped", text="Native files are up to date.")]


def _is_briefing_current(store: Store, settings: Settings) -> bool:
    target = memory_briefing.find_page_path(store.project, settings.briefing_file)
    if target is None or memory_briefing.is_somebodys_page(target):
        return True
    # Building the page reads the index, which a dry run must not update.
    with contextlib.closing(Store(store.project, leaves_no_trace=True)) as unchanged:
        return memory_briefing.is_current_page(target, record_work.page(unchanged))


def _plan_archive(store: Store) -> list[ShipStep]:
    try:
        items = features.load(store).items
    except StoreRefused as error:
        return [ShipStep(name="archive", state="failed", text=error.message, hint=error.hint)]
    complete = [each.id for each in items if each.is_complete and not each.is_archived]
    return (
        [_build_planned_step("archive", f"Would archive {', '.join(complete)}")] if complete else []
    )


def _plan_stage(chosen: Chosen) -> ShipStep:
    lines = [f"left out {each.display_path}: {each.why}" for each in chosen.left_out]
    return _build_planned_step(
        "stage",
        f"Would stage {format_count(len(chosen.files), 'file')}",
        [*map(format_path, chosen.files), *lines],
    )


def _commit(  # noqa: PLR0913, PLR0917 - it needs all that was read
    store: Store,
    repo: Repo,
    options: Options,
    saved: Checkpoint | None,
    state: GitState,
    chosen: Chosen,
) -> ShipStep:
    if not chosen.files:
        return ShipStep(name="commit", state="skipped", text="Nothing to commit.")
    work = work_at_hand(store, record_work.find_session_id(store), state.branch)
    # Native state is committed too, but not worth mentioning in the message.
    history = BranchHistory(messages=read_messages(repo, state.branch or ""))
    if not chosen.rest and not options.message:
        text = compose_message.write_state_message(work, saved, history)
    else:
        text = compose_message.commit_message(work, options.message, saved, chosen.rest, history)
    subject, *rest = text.rstrip("\n").split("\n")
    return _build_planned_step("commit", f"Would commit: {subject}", rest)


def _plan_push(
    repo: Repo, state: GitState, options: Options, *, makes_commit: bool
) -> list[ShipStep]:
    branch = state.branch or ""
    if not options.push:
        return [ShipStep(name="push", state="skipped", text="Would not push, as you asked.")]
    if not (makes_commit or state.head):
        return [delivery.build_no_commit_step()]
    remote = repo.push_remote(branch)
    if remote is None:
        return [delivery.explain_no_remote(repo)]
    is_there = not makes_commit and repo.remote_head(remote.name, branch) == state.head
    place = f"{remote.name}/{branch}"
    push = (
        delivery.build_up_to_date_step(place)
        if is_there
        else _build_planned_step("push", f"Would push to {place}")
    )
    return [push, *([_plan_pull(repo, remote, branch)] if options.pull_request else [])]


def _plan_pull(repo: Repo, remote: Remote, branch: str) -> ShipStep:
    """Preview the pull request. Whether one is open is on GitHub, which a plan does not ask."""
    if delivery.is_main(branch, repo.default_branch(remote.name)):
        return delivery.build_skipped_pull_step(delivery.explain_main_branch(branch))
    if not is_gh_installed():
        return delivery.build_skipped_pull_step(GH_MISSING, GH_MISSING_HINT)
    return _build_planned_step(
        "pull request",
        f"Would open or update a pull request for {branch}; GitHub was not asked",
    )


def _build_planned_step(name: Name, text: str, lines: list[str] | None = None) -> ShipStep:
    return ShipStep(name=name, state="planned", text=text, lines=lines or [])
