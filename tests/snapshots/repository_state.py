"""Describe a repository, to compare it before and after."""

from gitrepo import Repo


def describe_repository(repo: Repo) -> dict[str, object]:
    """Describe all that a user or a tool can see of a repository."""
    git = repo.folder / ".git"
    return {
        "status": repo.git("--no-optional-locks", "status", "--porcelain=v2", "--ignored"),
        "refs": repo.git("for-each-ref"),
        "stashes": repo.git("stash", "list"),
        "log": repo.git("log", "--all", "--format=%H"),
        "objects": repo.git("count-objects", "-v"),
        "fsck": repo.git("fsck", "--full", "--unreachable"),
        "index": (git / "index").read_bytes(),
        "config": (git / "config").read_bytes(),
        "names": sorted(each.name for each in git.iterdir() if each.name != "leftoff"),
    }
