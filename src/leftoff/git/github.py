"""Open and update pull requests through the user's `gh`, which only this module runs."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from leftoff.errors import LeftoffError
from leftoff.subprocesses import Ended, Program, environment, run

_SECONDS = 120.0
# gh must not prompt, color, page or announce its own updates.
_QUIET = {
    "GH_PROMPT_DISABLED": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
    "GH_PAGER": "cat",
    "NO_COLOR": "1",
    "CLICOLOR_FORCE": "0",
}
_NEEDS_LOGIN = 4
_PULL = re.compile(r"https?://\S+/pull/(\d+)")
_SAID_FIELDS = ("number", "url", "title", "body", "labels")
_FOUND_FIELDS = (*_SAID_FIELDS, "headRepositoryOwner", "isCrossRepository")
_VIEWED_FIELDS = (
    *_SAID_FIELDS, "comments", "isDraft", "mergeable", "reviewDecision", "state",
    "statusCheckRollup",
)  # fmt: skip
_FAILED = frozenset({"FAILURE", "ERROR", "CANCELLED", "TIMED_OUT", "ACTION_REQUIRED"})
_PASSED = frozenset({"SUCCESS", "NEUTRAL", "SKIPPED"})

Checks = Literal["none", "passing", "failing", "pending"]


GH_MISSING = "gh was not found on the PATH, so no pull request was opened."
GH_MISSING_HINT = "Install the GitHub CLI, or open the pull request in the browser."


def is_gh_installed() -> bool:
    """Return whether gh is on the PATH. It is not run: it may ask GitHub."""
    return shutil.which("gh") is not None


class GhMissing(LeftoffError):
    """`gh` is not installed on this machine."""


class NotOnGitHub(LeftoffError):
    """The repository has no remote that `gh` recognizes."""


class GhRefused(LeftoffError):
    """`gh` failed."""


class Pull(msgspec.Struct, frozen=True, kw_only=True):
    """A pull request on GitHub."""

    number: int
    url: str = ""
    title: str = ""
    body: str = ""
    labels: list[str] = []
    comments: list[str] = []
    checks: Checks = "none"
    review: str = ""
    mergeable: str = ""
    is_draft: bool = False


class GitHub:
    """Access to GitHub for the repository in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open_pull(self, branch: str, owner: str | None = None) -> Pull | None:
        """Return the open pull request of an owner's branch, or None.

        A fork can have a branch with the same name; its pull request must not be mistaken for ours.
        """
        found = self._json("pr", "list", "--head", branch, "--state", "open", fields=_FOUND_FIELDS)
        mine = (
            [each for each in found if _is_owned_by(each, owner)] if isinstance(found, list) else []
        )
        return _pull(mine[0]) if mine else None

    def view(self, number: int) -> Pull:
        """Return a pull request with its checks, reviews and comments."""
        return _pull(self._json("pr", "view", str(number), fields=_VIEWED_FIELDS))

    def create(self, *, head: str, title: str, body: str) -> Pull:
        """Open a pull request for a pushed branch."""
        ended = self._run("pr", "create", "--head", head, "--title", title, body=body)
        found = _PULL.search(ended.text)
        if found is None:
            raise GhRefused(
                "gh opened a pull request but did not report which one.",
                hint="Run `leftoff ship` again to find it.",
            )
        return Pull(number=int(found[1]), url=found[0], title=title, body=body)

    def set_body(self, number: int, body: str) -> None:
        """Replace the description of a pull request."""
        self._run("pr", "edit", str(number), body=body)

    def set_labels(self, number: int, *, add: Sequence[str], remove: Sequence[str]) -> None:
        """Remove labels and add others; create labels that the repository does not have yet."""
        changes = [f"--add-label={name}" for name in add]
        changes += [f"--remove-label={name}" for name in remove]
        if not changes:
            return
        try:
            self._run("pr", "edit", str(number), *changes)
        except GhRefused as refused:
            if "not found" not in refused.message:
                raise
            for name in add:
                self._make_label(name)
            self._run("pr", "edit", str(number), *changes)

    def comment(self, number: int, body: str) -> None:
        """Add a comment to a pull request."""
        self._run("pr", "comment", str(number), body=body)

    def issue_labels(self, number: int) -> list[str]:
        """Return the labels of an issue."""
        return _list_names(
            self._json("issue", "view", str(number), fields=("labels",)).get("labels")
        )

    def _make_label(self, name: str) -> None:
        try:
            self._run("label", "create", name)
        except GhRefused as refused:
            if "already exists" not in refused.message:
                raise

    def _json(self, *arguments: str, fields: Sequence[str]) -> Any:
        ended = self._run(*arguments, "--json", ",".join(fields))
        try:
            return msgspec.json.decode(ended.out)
        except msgspec.MsgspecError as error:
            raise GhRefused(
                f"gh {arguments[0]} {arguments[1]} did not answer in JSON.",
                hint="Update gh, or open the pull request by hand.",
            ) from error

    def _run(self, *arguments: str, body: str | None = None) -> Ended:
        given = b"" if body is None else body.encode("utf-8", "replace") or b"\n"
        from_stdin = () if body is None else ("--body-file", "-")
        program = Program(
            arguments=("gh", *arguments, *from_stdin),
            folder=self._folder,
            environment=environment(**_QUIET),
            given=given,
            seconds=_SECONDS,
        )
        try:
            ended = run(program)
        except (FileNotFoundError, PermissionError) as error:
            raise GhMissing(GH_MISSING, hint=GH_MISSING_HINT) from error
        if not ended.is_done:
            raise _explain_refusal(ended, f"gh {arguments[0]} {arguments[1]}")
        return ended


def _explain_refusal(ended: Ended, what: str) -> LeftoffError:
    reasons = ended.trouble_lines or ["it gave no reason"]
    if ended.code is None:
        return GhRefused(
            f"{what} did not answer within {_SECONDS:.0f} seconds.",
            hint="Check your connection, then run `leftoff ship` again.",
        )
    if "known GitHub host" in reasons[0] or "no git remotes" in reasons[0]:
        return NotOnGitHub(
            "No remote of this repository is on GitHub, so no pull request was opened."
        )
    if ended.code == _NEEDS_LOGIN or "gh auth login" in reasons[0]:
        return GhRefused(
            "gh is not logged in, so no pull request was opened.",
            hint="Run `gh auth login`, then `leftoff ship` again.",
        )
    return GhRefused(
        f"{what} failed: {reasons[0]}", hint="Fix the problem, then run `leftoff ship` again."
    )


def _is_owned_by(plain: Any, owner: str | None) -> bool:
    if owner is None:
        return not plain.get("isCrossRepository")
    login = (plain.get("headRepositoryOwner") or {}).get("login") or ""
    return bool(login.lower() == owner.lower())


def _pull(plain: Any) -> Pull:
    return Pull(
        number=int(plain["number"]),
        url=plain.get("url") or "",
        title=plain.get("title") or "",
        body=plain.get("body") or "",
        labels=_list_names(plain.get("labels")),
        comments=[each.get("body") or "" for each in plain.get("comments") or []],
        checks=_combine_checks(plain.get("statusCheckRollup") or []),
        review=plain.get("reviewDecision") or "",
        mergeable=plain.get("mergeable") or "",
        is_draft=bool(plain.get("isDraft")),
    )


def _list_names(labels: Any) -> list[str]:
    return [each["name"] for each in labels or [] if each.get("name")]


def _combine_checks(rollup: Sequence[dict[str, Any]]) -> Checks:
    """Combine the checks of a commit into one result; commit statuses have only a state."""
    states = {each.get("conclusion") or each.get("state") or "PENDING" for each in rollup}
    if not states:
        return "none"
    if states & _FAILED:
        return "failing"
    return "passing" if states <= _PASSED else "pending"
