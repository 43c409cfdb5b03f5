"""The second half of a ship: commit, push, pull request. Each step reports in one sentence."""

import time
from collections.abc import Sequence

import msgspec

from leftoff.git.github import GhMissing, GhRefused, GitHub, NotOnGitHub, Pull
from leftoff.git.query import GitState
from leftoff.git.repository import parse_repository_name
from leftoff.git.write import MAIN_BRANCHES, Pushed, Remote, Repo
from leftoff.profiles import TIDY_SUBJECT
from leftoff.ship import compose_message
from leftoff.ship.choose_files import is_locked_by_other, list_conflicts
from leftoff.ship.outcome import ShipStep, State
from leftoff.subprocesses import Ended

_AGAIN = "then run `leftoff ship` again."
_SHOWN_LINES = 12
_SHOWN_FILES = 5
# Another git process may hold the index lock for a moment.
_LOCK_SECONDS = 20.0
_PAUSE_SECONDS = 0.1
_COMMIT_HOOKS = ("pre-commit", "commit-msg", "prepare-commit-msg")
# What git prints if user.name or user.email is missing.
_NO_IDENTITY = ("Please tell me who you are", "auto-detect email", "empty ident name")


def find_obstacle(state: GitState) -> ShipStep | None:
    """Return the step that explains why nothing can be committed, or None."""
    if state.trouble is not None:
        return _build_failed_step(
            "commit", state.trouble, f"Fix what `git status` reports, {_AGAIN}"
        )
    if state.worktree is None:
        return _build_failed_step(
            "commit",
            "This repository has no files checked out, so there is nothing to commit.",
            "Run this in one of its worktrees.",
        )
    if at_odds := list_conflicts(state):
        return _report_conflicts(at_odds, state.operation or "merge")
    if state.operation not in {None, "bisect"}:
        return _build_failed_step(
            "commit",
            f"A {state.operation} is in progress, so nothing was committed.",
            f"Finish it with `git {state.operation} --continue` or drop it with "
            f"`git {state.operation} --abort`, {_AGAIN}",
        )
    if state.branch is None:
        return _build_failed_step(
            "commit",
            "You are not on a branch (detached HEAD): a commit here would be hard to find again.",
            f"Create a branch with `git switch --create NAME`, {_AGAIN}",
        )
    return None


def _report_conflicts(files: Sequence[str], operation: str) -> ShipStep:
    more = "" if len(files) <= _SHOWN_FILES else f" and {len(files) - _SHOWN_FILES} more"
    return _build_failed_step(
        "commit",
        f"There are merge conflicts in {', '.join(files[:_SHOWN_FILES])}{more}",
        f"Resolve them, `git add` each file, finish the {operation}, {_AGAIN}",
    )


# --- commit ---


def commit(repo: Repo, text: str) -> ShipStep | None:
    """Commit what is staged; return what went wrong, or None.

    If another git process commits it meanwhile, such as one left running by an interrupted ship,
    that counts as success too.
    """
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        ended = repo.commit(text)
        if ended.is_done or not repo.list_staged():
            return None
        is_locked = any(is_locked_by_other(line) for line in ended.trouble_lines)
        if not is_locked or time.monotonic() > deadline:
            return _commit_refused(repo, ended)
        time.sleep(_PAUSE_SECONDS)


def _commit_refused(repo: Repo, ended: Ended) -> ShipStep:
    lines = (
        [*ended.trouble_lines, *ended.text.splitlines()] if ended.errors else ended.trouble_lines
    )
    said = "\n".join(lines)
    if any(words in said for words in _NO_IDENTITY):
        return _build_failed_step(
            "commit",
            "git does not know who you are, so nothing was committed.",
            'Run `git config --global user.name "Your Name"` and '
            f"`git config --global user.email you@example.org`, {_AGAIN}",
        )
    if is_locked_by_other(said):
        return _build_failed_step(
            "commit",
            f"Another git process holds the index lock: {lines[0]}",
            f"Wait for it, or remove that file if no git is running, {_AGAIN}",
        )
    is_gits = any(line.startswith(("fatal:", "error:")) for line in ended.trouble_lines)
    hook = None if is_gits else next((name for name in _COMMIT_HOOKS if repo.has_hook(name)), None)
    if hook is not None:
        return _build_failed_step(
            "commit",
            f"The {hook} hook refused the commit; everything is saved and staged.",
            f"Fix what it reports, {_AGAIN}",
            lines,
        )
    reason = lines[0] if lines else "git gave no reason"
    return _build_failed_step(
        "commit", f"git refused the commit: {reason}", f"Fix that, {_AGAIN}", lines
    )


def without_tidying(repo: Repo, sha: str) -> str:
    """Return the commit itself, or the one before any commits that only record state."""
    while repo.message(sha).startswith(TIDY_SUBJECT) and (before := repo.parent(sha)):
        sha = before
    return sha


# --- push ---


def explain_no_remote(repo: Repo) -> ShipStep:
    """Explain why there is no remote to push to."""
    names = repo.remotes()
    if not names:
        return _build_failed_step(
            "push",
            "There is no remote to push to; your commits stay in this repository.",
            f"Add one with `git remote add origin URL`, {_AGAIN} Or use --no-push.",
        )
    return _build_failed_step(
        "push",
        f"There are several remotes, and none is set as the one to push to: {', '.join(names)}",
        f"Choose one with `git config remote.pushDefault {names[0]}`, {_AGAIN}",
    )


def build_no_commit_step() -> ShipStep:
    """Report a branch without any commit."""
    return ShipStep(name="push", state="skipped", text="There is no commit to push.")


def build_up_to_date_step(place: str) -> ShipStep:
    """Report that the remote's branch already has the commit."""
    return ShipStep(name="push", state="skipped", text=f"{place} is already up to date")


def push(repo: Repo, remote: Remote, branch: str) -> ShipStep:
    """Push a branch, and say how it went."""
    place = f"{remote.name}/{branch}"
    pushed = repo.push(remote, branch)
    if pushed.state == "pushed":
        return ShipStep(name="push", state="done", text=f"Pushed to {place}")
    if pushed.state == "unchanged":
        return build_up_to_date_step(place)
    return _push_refused(pushed, remote, place)


def _push_refused(pushed: Pushed, remote: Remote, place: str) -> ShipStep:
    reason = pushed.output[0] if pushed.output else "git gave no reason"
    sentences = {
        "behind": (
            f"The push was rejected: {place} has commits that you do not have.",
            f"Get them with `git pull --rebase {remote.name} {place.partition('/')[2]}`, {_AGAIN}",
        ),
        "refused": (f"The remote refused the push: {reason}", f"Fix that, {_AGAIN}"),
        "hook": (
            "The pre-push hook refused the push; the commit is safe in this repository.",
            f"Fix what it reports, {_AGAIN}",
        ),
        "login": (
            f"{remote.name} denied access: {reason}",
            f"Run `git push` yourself to log in, {_AGAIN}",
        ),
    }
    otherwise = (f"The push failed: {reason}", f"Run `git push` yourself, {_AGAIN}")
    text, hint = sentences.get(pushed.state, otherwise)
    return _build_failed_step(
        "push", text, hint, pushed.output if pushed.state in {"hook", "refused"} else ()
    )


# --- pull request ---


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The content that a pull request should have."""

    branch: str
    owner: str | None
    head: str
    """The branch, prefixed with the owner's name if it is in a fork."""
    sha: str
    text: compose_message.Text
    comment: str
    issue: int | None = None
    """The issue whose labels are copied."""


def is_main(branch: str, default: str | None) -> bool:
    """Return whether a branch is the one that others are merged into."""
    return branch == default if default else branch in MAIN_BRANCHES


def explain_main_branch(branch: str) -> str:
    """Explain why no pull request is opened from this branch."""
    return f"You are on {branch}: no pull request is opened from the main branch."


def find_owner(remote: Remote) -> str | None:
    """Return the owner of a remote, if its address names one."""
    return (parse_repository_name(remote.url) or "").partition("/")[0] or None


def head_of(repo: Repo, remote: Remote, branch: str) -> str:
    """Name a branch as GitHub expects it: with its owner if it is in a fork."""
    owner = find_owner(remote)
    # By convention, a clone of a fork names the original repository "upstream".
    is_fork = (
        owner is not None and remote.name != "upstream" and repo.url_of("upstream") is not None
    )
    return f"{owner}:{branch}" if is_fork else branch


def publish_pull(hub: GitHub, wanted: Wanted) -> tuple[ShipStep, Pull | None]:
    """Open or update the pull request of a branch."""
    try:
        pull, text = _create_or_update(hub, wanted)
    except (GhMissing, NotOnGitHub) as missing:
        return build_skipped_pull_step(missing.message, missing.hint), None
    except GhRefused as refused:
        if "No commits between" in refused.message:
            return build_skipped_pull_step("The branch has no commits that its base lacks."), None
        return _build_failed_step("pull request", refused.message, refused.hint), None
    notes = _set_labels(hub, pull, wanted)
    viewed, trouble = _view_pull(hub, pull)
    state: State = "done" if text else "skipped"
    report = f"{text or 'Nothing is new for'} #{pull.number} {pull.url}"
    return ShipStep(name="pull request", state=state, text=report, lines=[*notes, *trouble]), viewed


def _create_or_update(hub: GitHub, wanted: Wanted) -> tuple[Pull, str]:
    standing = hub.open_pull(wanted.branch, wanted.owner)
    if standing is not None:
        return standing, "Updated" if _is_updated(hub, standing, wanted) else ""
    text = wanted.text
    try:
        return hub.create(head=wanted.head, title=text.title, body=text.body), "Opened"
    except GhRefused as refused:
        # A gh process left running by an interrupted ship may have opened it first.
        opened = (
            hub.open_pull(wanted.branch, wanted.owner)
            if "already exists" in refused.message
            else None
        )
        if opened is None:
            raise
        return opened, "Opened"


def build_skipped_pull_step(text: str, hint: str = "") -> ShipStep:
    """Report why no pull request is opened."""
    return ShipStep(name="pull request", state="skipped", text=text, hint=hint)


def _is_updated(hub: GitHub, standing: Pull, wanted: Wanted) -> bool:
    """Update a pull request; each push gets one comment, even if a run is interrupted."""
    body = compose_message.merge_body(standing.body, wanted.text.body)
    if body == standing.body:
        return False
    if compose_message.find_described_commit(
        standing.body
    ) != compose_message.find_described_commit(body):
        mark = compose_message.comment_mark(wanted.sha)
        # Comment first: the description then shows the next run that both are done.
        if not any(mark in comment for comment in hub.view(standing.number).comments):
            hub.comment(standing.number, wanted.comment)
    hub.set_body(standing.number, body)
    return True


def _set_labels(hub: GitHub, pull: Pull, wanted: Wanted) -> list[str]:
    """Copy the issue's labels and set the state's; a label problem never fails the ship."""
    notes: list[str] = []
    copied: list[str] = []
    try:
        copied = hub.issue_labels(wanted.issue) if wanted.issue else []
    except GhRefused as refused:
        notes.append(f"Could not read the labels of #{wanted.issue}: {refused.message}")
    labels = dict.fromkeys([*wanted.text.labels, *copied])
    unfit = [name for name in wanted.text.unfit_labels if name in pull.labels]
    add = [name for name in labels if name not in {*pull.labels, *wanted.text.unfit_labels}]
    try:
        hub.set_labels(pull.number, add=add, remove=unfit)
    except GhRefused as refused:
        notes.append(f"Could not set the labels: {refused.message}")
    else:
        if compose_message.FAILING in labels:
            notes.append(f"Its label is {compose_message.FAILING} until the checks pass.")
    return notes


def _view_pull(hub: GitHub, pull: Pull) -> tuple[Pull, list[str]]:
    try:
        return hub.view(pull.number), []
    except GhRefused as refused:
        return pull, [f"Could not read the state of the pull request: {refused.message}"]


def _build_failed_step(name: str, text: str, hint: str, lines: Sequence[str] = ()) -> ShipStep:
    step: ShipStep = msgspec.convert(
        {"name": name, "state": "failed", "text": text, "hint": hint}, ShipStep
    )
    return msgspec.structs.replace(step, lines=list(lines)[-_SHOWN_LINES:])
