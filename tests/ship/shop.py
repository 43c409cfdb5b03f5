"""A project to ship: a repository with a remote, an identity and a branch."""

import functools
import shutil
from pathlib import Path
from typing import Any

from gitrepo import Repo, new_template


class Shop(Repo):
    """A repository on a branch, with a bare remote beside it."""

    def __init__(self, folder: Path, *, branch: str = "feature/csv") -> None:
        template = _template(branch)
        shutil.copytree(template, folder, dirs_exist_ok=True)
        super().__init__(folder / "shop", init=False)
        self._commits = 1
        self.remote = Repo(folder / "remote.git", init=False)
        config = self.folder / ".git" / "config"
        config.write_text(config.read_text().replace(str(template), str(folder)))
        self.refresh()

    @property
    def branch(self) -> str:
        """The branch that is checked out."""
        return self.git("branch", "--show-current")

    @property
    def status(self) -> str:
        """What git says of the worktree, nothing if it is clean."""
        return self.git("status", "--porcelain")

    def message(self, revision: str = "HEAD") -> str:
        """The whole message of a commit."""
        return self.git("log", "-1", "--format=%B", revision).strip()

    def subjects(self, *revisions: str) -> list[str]:
        """The subjects of commits, newest first."""
        return self.git("log", "--format=%s", *revisions).splitlines()

    def committed(self) -> set[str]:
        """All files that any commit holds."""
        return set(self.git("log", "--all", "--format=", "--name-only").splitlines())

    def remote_head(self, branch: str | None = None) -> str:
        """The commit that the remote has for a branch, nothing if it has none."""
        ref = f"refs/heads/{branch or self.branch}"
        return self.remote.git("rev-parse", "--quiet", "--verify", ref, check=False)

    def hook(self, name: str, script: str) -> None:
        """Add a hook of the user's."""
        path = self.folder / ".git" / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)


def step(answer: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a step of what `ship --json` answers."""
    found: dict[str, Any] = next(each for each in answer["steps"] if each["name"] == name)
    return found


@functools.cache
def _template(branch: str) -> Path:
    """Make the repository and its remote, once per process."""
    folder = new_template()
    shop, remote = Repo(folder / "shop"), Repo(folder / "remote.git", bare=True)
    shop.git("config", "user.name", "Ada")
    shop.git("config", "user.email", "ada@example.org")
    shop.git("remote", "add", "origin", str(remote.folder))
    shop.commit("Begin", {"app.py": "print('hello')\n"})
    shop.git("push", "--quiet", "--set-upstream", "origin", "main")
    if branch != "main":
        shop.git("switch", "--quiet", "--create", branch)
    return folder
