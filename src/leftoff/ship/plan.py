"""What a ship would do, told without changing a byte."""

from leftoff import features
from leftoff.checkpoint import Checkpoint
from leftoff.config import Settings
from leftoff.errors import StoreRefused
from leftoff.gitstate import GitState
from leftoff.gitwrite import Repo
from leftoff.repository import repository_of
from leftoff.ship import delivering, message, remembering, staging
from leftoff.ship.staging import Chosen, Judge, shown
from leftoff.ship.values import Name, Options, Report, Step
from leftoff.ship.work import work_at_hand
from leftoff.store import Store
from leftoff.words import counted


def plan(store: Store, settings: Settings, options: Options) -> Report:
    """Tell each step that `ship` would take; neither the store nor the repository is touched."""
    worktree = store.project.worktree
    state = staging.look(worktree)
    repo = Repo(worktree)
    # Saving comes first in any case, also where nothing can be committed.
    steps = [_planned("save", "Would save where the work stands, and what was decided.")]
    steps += _remembering(store, settings)
    problem = delivering.obstacle(state)
    if problem is not None:
        return Report(steps=[*steps, problem], branch=state.branch)
    chosen = Judge(repo, settings.not_secret).choose(state)
    saved = remembering.told_before_unchanged(store, state.branch, {state.head}).news
    steps += [_planned("checks", f"Would run {command}") for command in settings.verify]
    steps += [_staging(chosen), _commit(store, options, saved, state, chosen)]
    steps += _outward(repo, state, options)
    remote = repo.push_remote(state.branch or "")
    return Report(
        steps=steps,
        branch=state.branch,
        remote=remote.name if remote else None,
        repository=repository_of(remote.url) if remote else None,
        left_out=chosen.left_out,
    )


def _remembering(store: Store, settings: Settings) -> list[Step]:
    steps = _archiving(store)
    native = [*settings.mirror, *([settings.briefing_file] if settings.briefing_file else [])]
    if native:
        steps.append(_planned("briefing", f"Would bring up to date: {', '.join(native)}"))
    return steps


def _archiving(store: Store) -> list[Step]:
    try:
        items = features.load(store).items
    except StoreRefused as error:
        return [Step(name="archive", state="failed", text=error.message, hint=error.hint)]
    complete = [each.id for each in items if each.is_complete and not each.is_archived]
    return [_planned("archive", f"Would archive {', '.join(complete)}")] if complete else []


def _staging(chosen: Chosen) -> Step:
    lines = [f"left out {each.shown}: {each.why}" for each in chosen.left_out]
    return _planned(
        "stage",
        f"Would stage {counted(len(chosen.files), 'file')}",
        [*map(shown, chosen.files), *lines],
    )


def _commit(
    store: Store, options: Options, saved: Checkpoint | None, state: GitState, chosen: Chosen
) -> Step:
    if not chosen.files:
        return Step(name="commit", state="skipped", text="Nothing to commit.")
    work = work_at_hand(store, remembering.session_id(store), state.branch)
    # Native state is committed, and not worth a word.
    text = message.commit_message(work, options.message, saved, chosen.rest)
    if not chosen.rest and not options.message:
        text = delivering.TIDY_SUBJECT
    subject, *rest = text.rstrip("\n").split("\n")
    return _planned("commit", f"Would commit {subject}", rest)


def _outward(repo: Repo, state: GitState, options: Options) -> list[Step]:
    branch = state.branch or ""
    if not options.push:
        return [Step(name="push", state="skipped", text="Not pushed, as you asked.")]
    remote = repo.push_remote(branch)
    if remote is None:
        return [delivering.no_remote(repo)]
    push = _planned("push", f"Would push to {remote.name}/{branch}")
    if not options.pull_request:
        return [push]
    if delivering.is_main(branch, repo.default_branch(remote.name)):
        return [push, Step(name="pull request", state="skipped", text=delivering.on_main(branch))]
    return [push, _planned("pull request", f"Would open or update that of {branch}")]


def _planned(name: Name, text: str, lines: list[str] | None = None) -> Step:
    return Step(name=name, state="planned", text=text, lines=lines or [])
