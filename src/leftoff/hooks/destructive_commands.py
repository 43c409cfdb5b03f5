"""Which commands throw work away that nobody can bring back, and what to do instead.

A pure function of the command and where it stands. It is a rail against slips, no lock: what hides
a command well enough (an alias, a script, a variable) passes, and so does whatever is in doubt.
"""

import posixpath
from collections.abc import Iterable
from fnmatch import fnmatchcase

import msgspec

from leftoff.hooks import shell_words
from leftoff.hooks.git_arguments import GitCall, git_call
from leftoff.text.fence import Rendered, say

_MAINS = frozenset({"main", "master"})
_ASK = "If it must be, ask the user to run it."


class CommandContext(msgspec.Struct, frozen=True, kw_only=True):
    """Where a command would run, and what is to be kept there; all folders are absolute."""

    folder: str = "/"
    home: str = ""
    worktree: str = ""
    own: tuple[str, ...] = ()
    """Folders of leftoff's own: nothing in them is removed by hand."""
    native: tuple[str, ...] = ()
    """Folders of a profile: they are not removed as a whole."""
    branch: str = ""
    feature: str = ""
    """The feature or fix that is under way in the worktree, if one is."""


def dangers(command: str, standing: CommandContext | None = None) -> Rendered | None:
    """Return why a command should not be run and the way out; None if nothing speaks against it."""
    standing = standing or CommandContext()
    for each in shell_words.commands(command):
        if each.program in {"cd", "pushd"}:
            standing = _change_folder(standing, each.words[1:])
        elif each.program == "git":
            call = git_call(each.words[1:])
            if reason := _check_git(call, standing):
                return reason
            standing = _change_branch(standing, call)
        elif each.program == "rm" and (reason := _check_removal(each.words[1:], standing)):
            return reason
    return None


def _check_git(call: GitCall, standing: CommandContext) -> Rendered | None:
    rule = {
        "push": _check_push,
        "reset": _check_reset,
        "clean": _check_clean,
        "branch": _check_branch,
        "checkout": _check_checkout,
        "switch": _check_checkout,
    }.get(call.name)
    if rule is None:
        return None
    for folder in call.folders:
        standing = _change_folder(standing, (folder,))
    return rule(call, standing)


def _check_push(call: GitCall, standing: CommandContext) -> Rendered | None:
    refs = call.words[1:]
    is_forced = call.has("f", "--force") or any(ref.startswith("+") for ref in refs)
    if call.has("n", "--dry-run"):
        return None
    if is_forced or call.has("", "--mirror"):
        return say(
            "A force push can throw away commits of others. Push without it, or with "
            "`git push --force-with-lease`, which looks first. {ask}",
            ask=_ASK,
        )
    targets = {ref.rpartition(":")[2].removeprefix("refs/heads/") for ref in refs}
    if targets & {"HEAD", "@"} or not (refs or call.has("", "--tags")):
        targets.add(standing.branch)
    if call.has("", "--all") or call.has("", "--branches"):
        targets |= _MAINS
    return _check_main(targets, "pushed", standing)


def _check_reset(call: GitCall, standing: CommandContext) -> Rendered | None:
    del standing
    if not call.has("", "--hard"):
        return None
    return say(
        "`git reset --hard` throws away what is not committed. Commit it or `git stash` it, "
        "then go back with `git reset --keep`. {ask}",
        ask=_ASK,
    )


def _check_clean(call: GitCall, standing: CommandContext) -> Rendered | None:
    del standing
    if not call.has("f", "--force") or call.has("n", "--dry-run"):
        return None
    return say(
        "`git clean -f` removes files that git does not know and cannot bring back. Look with "
        "`git clean -n`, then remove by name what is yours. {ask}",
        ask=_ASK,
    )


def _check_branch(call: GitCall, standing: CommandContext) -> Rendered | None:
    del standing
    is_forced = call.has("d", "--delete") and call.has("f", "--force")
    if not (call.has("D", "") or is_forced):
        return None
    return say(
        "`git branch -D` drops a branch with commits that may be nowhere else. `git branch -d` "
        "removes one that is merged. {ask}",
        ask=_ASK,
    )


def _check_checkout(call: GitCall, standing: CommandContext) -> Rendered | None:
    return _check_main({_branch_after(call)}, "checked out", standing)


def _branch_after(call: GitCall) -> str:
    """Return the branch that a checkout leads to, blank if it leads to none."""
    for names in (("b",), ("B",), ("c", "--create"), ("C", "--force-create")):
        if made := call.value(*names):
            return made
    # With more words it is files that are taken from there; a detached HEAD is only a look.
    is_look = call.has("d", "--detach") or call.has_paths or len(call.words) != 1
    return "" if is_look else call.words[0]


def _check_main(targets: Iterable[str], done: str, standing: CommandContext) -> Rendered | None:
    mains = sorted(_MAINS.intersection(targets))
    if not mains or not standing.feature or not _is_in(standing.folder, standing.worktree):
        return None
    return say(
        "Feature {feature:100} is under way, so {main} is not {done}. Go on with it on a branch "
        "of its own (`git switch -c NAME`), or end it first: `leftoff feature pass` or `fail`. "
        "{ask}",
        feature=standing.feature,
        main=mains[0],
        done=done,
        ask=_ASK,
    )


def _check_removal(words: tuple[str, ...], standing: CommandContext) -> Rendered | None:
    call = GitCall.from_words(("rm", *words))
    is_deep = call.has("rR", "--recursive")
    for path in (_absolute(word, standing) for word in (*call.words, *call.paths)):
        # Without -r only files go: one inside of a folder, never the folder.
        kept = [
            folder
            for folder in standing.own
            if (is_deep and _covers(path, folder)) or _is_in(path, folder)
        ]
        kept += (folder for folder in standing.native if is_deep and _covers(path, folder))
        if path and kept:
            return say(
                "That would remove {folder}, where work is kept that can be taken up again. "
                "`leftoff clear` and `leftoff delete` put checkpoints away so that "
                "`leftoff undo` brings them back. {ask}",
                folder=kept[0],
                ask=_ASK,
            )
    return None


def _change_folder(standing: CommandContext, words: tuple[str, ...]) -> CommandContext:
    """Return where one stands after a change of folder; nowhere, if that cannot be known."""
    plain = [word for word in words if not word.startswith("-") or word == "-"]
    folder = _absolute(plain[0], standing) if plain else standing.home
    return msgspec.structs.replace(standing, folder=folder, branch=_branch_in(folder, standing))


def _change_branch(standing: CommandContext, call: GitCall) -> CommandContext:
    """Return where one stands after git was called: `git switch -c NAME && git push`."""
    is_here = call.name in {"checkout", "switch"} and not call.folders
    branch = _branch_after(call) if is_here else ""
    return msgspec.structs.replace(standing, branch=branch) if branch else standing


def _branch_in(folder: str, standing: CommandContext) -> str:
    return standing.branch if _is_in(folder, standing.worktree) else ""


def _absolute(word: str, standing: CommandContext) -> str:
    """Return the path that a word stands for, blank if only a shell could tell."""
    for start, folder in (
        ("~", standing.home),
        ("$HOME", standing.home),
        ("${HOME}", standing.home),
        ("$PWD", standing.folder),
        ("${PWD}", standing.folder),
    ):
        if folder and (word == start or word.startswith(f"{start}/")):
            word = folder + word.removeprefix(start)
    if not word or "$" in word or word.startswith(("~", "-")):
        return ""
    if not word.startswith("/") and not standing.folder:
        return ""
    return posixpath.normpath(posixpath.join(standing.folder, word))


def _covers(pattern: str, folder: str) -> bool:
    """Say whether a path, which may have wildcards, is a folder or one above it."""
    if not pattern:
        return False
    wanted, parts = (_parts(each) for each in (pattern, folder))
    return len(wanted) <= len(parts) and all(map(_matches, parts, wanted))


def _is_in(path: str, folder: str) -> bool:
    parts = _parts(folder)
    return bool(path and folder) and _parts(path)[: len(parts)] == parts


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _matches(name: str, pattern: str) -> bool:
    # Wildcards pass over hidden files unless they begin with a dot, too.
    is_hidden = name.startswith(".") and not pattern.startswith(".")
    return name == pattern or (not is_hidden and fnmatchcase(name, pattern))
