"""Find commands that destroy work for good, and say what to do instead.

The result depends only on the command and on where it would run. The rules prevent mistakes; they
are not a security boundary. An alias, a script or a variable can hide a command, and a command in
doubt passes.
"""

import posixpath
from collections.abc import Iterable
from fnmatch import fnmatchcase

import msgspec

from leftoff.hooks import shell_words
from leftoff.hooks.git_arguments import GitCall, parse_git_call
from leftoff.text.fence import Rendered, say

_MAINS = frozenset({"main", "master"})
_ASK = "If you need it anyway, ask the user to run it."


class CommandContext(msgspec.Struct, frozen=True, kw_only=True):
    """Where a command would run, and which folders are protected; all paths are absolute."""

    folder: str = "/"
    home: str = ""
    worktree: str = ""
    own: tuple[str, ...] = ()
    """leftoff's own folders: no file in them may be removed by hand."""
    native: tuple[str, ...] = ()
    """Folders of a profile: files in them may be removed, the folders may not."""
    branch: str = ""
    feature: str = ""
    """The feature or fix in progress in the worktree; empty if there is none."""


def find_danger(command: str, standing: CommandContext | None = None) -> Rendered | None:
    """Return why a command is dangerous and what to do instead; None if it is not."""
    standing = standing or CommandContext()
    for each in shell_words.commands(command):
        if each.program in {"cd", "pushd"}:
            standing = _change_folder(standing, each.words[1:])
        elif each.program == "git":
            call = parse_git_call(each.words[1:])
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
            "A force push can throw away commits of others. Push without it, or use "
            "`git push --force-with-lease`, which checks first. {ask}",
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
        "`git reset --hard` discards uncommitted changes. Commit them or run `git stash`, then "
        "use `git reset --keep`. {ask}",
        ask=_ASK,
    )


def _check_clean(call: GitCall, standing: CommandContext) -> Rendered | None:
    del standing
    if not call.has("f", "--force") or call.has("n", "--dry-run"):
        return None
    return say(
        "`git clean -f` deletes untracked files, which git cannot restore. List them with "
        "`git clean -n`, then remove yours by name. {ask}",
        ask=_ASK,
    )


def _check_branch(call: GitCall, standing: CommandContext) -> Rendered | None:
    del standing
    is_forced = call.has("d", "--delete") and call.has("f", "--force")
    if not (call.has("D", "") or is_forced):
        return None
    return say(
        "`git branch -D` deletes a branch whose commits may exist nowhere else. "
        "`git branch -d` deletes only a merged one. {ask}",
        ask=_ASK,
    )


def _check_checkout(call: GitCall, standing: CommandContext) -> Rendered | None:
    return _check_main({_find_branch_after(call)}, "checked out", standing)


def _find_branch_after(call: GitCall) -> str:
    """Return the branch that a checkout switches to; empty if it switches to none."""
    for names in (("b",), ("B",), ("c", "--create"), ("C", "--force-create")):
        if made := call.value(*names):
            return made
    # More words name files to check out, and a detached HEAD only looks at a commit.
    is_look = call.has("d", "--detach") or call.has_paths or len(call.words) != 1
    return "" if is_look else call.words[0]


def _check_main(targets: Iterable[str], done: str, standing: CommandContext) -> Rendered | None:
    mains = sorted(_MAINS.intersection(targets))
    if not mains or not standing.feature or not _is_in(standing.folder, standing.worktree):
        return None
    return say(
        "Feature {feature:100} is under way, so {main} must not be {done}. Continue on a "
        "separate branch (`git switch -c NAME`), or finish the feature first: "
        "`leftoff feature pass` or `fail`. {ask}",
        feature=standing.feature,
        main=mains[0],
        done=done,
        ask=_ASK,
    )


def _check_removal(words: tuple[str, ...], standing: CommandContext) -> Rendered | None:
    call = GitCall.from_words(("rm", *words))
    is_deep = call.has("rR", "--recursive")
    for path in (_make_absolute(word, standing) for word in (*call.words, *call.paths)):
        # Without -r, rm removes only files: inside a protected folder, never the folder itself.
        kept = [
            folder
            for folder in standing.own
            if (is_deep and _covers(path, folder)) or _is_in(path, folder)
        ]
        kept += (folder for folder in standing.native if is_deep and _covers(path, folder))
        if path and kept:
            return say(
                "That would remove {folder}, which holds work that can be resumed. To remove "
                "checkpoints, run `leftoff clear`; `leftoff undo` restores them. {ask}",
                folder=kept[0],
                ask=_ASK,
            )
    return None


def _change_folder(standing: CommandContext, words: tuple[str, ...]) -> CommandContext:
    """Return the context after a change of folder; the folder is empty if it is unknown."""
    plain = [word for word in words if not word.startswith("-") or word == "-"]
    folder = _make_absolute(plain[0], standing) if plain else standing.home
    return msgspec.structs.replace(
        standing, folder=folder, branch=_find_branch_in(folder, standing)
    )


def _change_branch(standing: CommandContext, call: GitCall) -> CommandContext:
    """Return the context after a call of git, as in `git switch -c NAME && git push`."""
    is_here = call.name in {"checkout", "switch"} and not call.folders
    branch = _find_branch_after(call) if is_here else ""
    return msgspec.structs.replace(standing, branch=branch) if branch else standing


def _find_branch_in(folder: str, standing: CommandContext) -> str:
    return standing.branch if _is_in(folder, standing.worktree) else ""


def _make_absolute(word: str, standing: CommandContext) -> str:
    """Return the absolute path that a word names; empty if only a shell could know it."""
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
    """Return whether a path, which may have wildcards, is a folder or one of its parents."""
    if not pattern:
        return False
    wanted, parts = (_split_path(each) for each in (pattern, folder))
    return len(wanted) <= len(parts) and all(map(_matches, parts, wanted))


def _is_in(path: str, folder: str) -> bool:
    parts = _split_path(folder)
    return bool(path and folder) and _split_path(path)[: len(parts)] == parts


def _split_path(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _matches(name: str, pattern: str) -> bool:
    # As in a shell, a wildcard matches hidden files only if it starts with a dot.
    is_hidden = name.startswith(".") and not pattern.startswith(".")
    return name == pattern or (not is_hidden and fnmatchcase(name, pattern))
