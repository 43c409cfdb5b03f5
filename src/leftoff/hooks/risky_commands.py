"""Recognise commands that can destroy uncommitted code, and say in which folders they run.

The letterbox knows only words. This reads the command as a shell would, so that looking at a branch
takes no snapshot. A command that cannot be read counts as risky.
"""

import posixpath
import re
from collections.abc import Iterator

import msgspec

from leftoff.hooks import shell_words
from leftoff.hooks.git_arguments import GitCall, git_call
from leftoff.hooks.shell_words import ShellCommand

# Subcommands of git that change files of the worktree, whatever their arguments are.
_GIT = frozenset(
    "apply checkout-index clean filter-branch read-tree rebase reset restore rm".split()
)
# Of the others, the first words that change nothing or refuse to overwrite uncommitted work.
_HARMLESS = {
    "stash": {"list", "show", "create", "branch"},
    "worktree": {"add", "list", "lock", "unlock", "repair", "prune"},
    "submodule": {"", "add", "status", "init", "summary", "foreach", "sync"},
}
_PROGRAMS = frozenset("rm mv truncate shred unlink rmdir Remove-Item rd del".split())
# What an option deletes, a line of Python removes, or a script does.
_UNCLEAR = re.compile(
    r"(?:^|\s)-delete\b|(?:^|\s)--delete|rmtree|(?:^|[\s;&|(/])(?:ba|da|z|k)?sh\s+[^-\s]"
)
_SCRIPT = re.compile(r"\.(?:sh|bash|zsh)$")
_PATTERN = re.compile(r"[*?\[]")


class Risk(msgspec.Struct, frozen=True, kw_only=True):
    """A command that can destroy uncommitted code."""

    folders: list[str]
    """The folders that it runs in, as absolute paths; the session's own comes first."""
    is_broad: bool
    """Whether it can destroy more than the files it names, so that a loss may be a surprise."""


def assess(command: str, folder: str) -> Risk | None:
    """Return what a command can destroy when it runs in a folder; None if it is harmless."""
    found = [*shell_words.commands(command)]
    risky = [each for each in found if _is_risky(each)]
    if found and not risky and not _UNCLEAR.search(command):
        return None
    is_broad = not risky or any(map(_is_broad, risky))
    return Risk(folders=[*dict.fromkeys(_list_folders(found, folder))], is_broad=is_broad)


def _is_risky(command: ShellCommand) -> bool:
    if command.program == "git":
        return _is_risky_call(git_call(command.words[1:]))
    return command.program in _PROGRAMS or _SCRIPT.search(command.words[0]) is not None


def _is_risky_call(call: GitCall) -> bool:
    if call.name in _HARMLESS:
        return next(iter(call.words), "") not in _HARMLESS[call.name]
    if call.name == "branch":
        return call.has("dDfM", "--delete")
    if call.name in {"checkout", "switch"}:
        is_new = call.has("bc", "--orphan")
        return not is_new or call.has("f", "--force") or call.has("", "--discard-changes")
    return call.name in _GIT or any(call.has("", each) for each in ("--abort", "--skip", "--quit"))


def _is_broad(command: ShellCommand) -> bool:
    """Return whether a command can destroy what it does not name."""
    if command.program in {"rm", "Remove-Item"}:
        call = GitCall.from_words(("rm", *command.words[1:]))
        return call.has("rR", "--recursive") or any(map(_PATTERN.search, call.words))
    return command.program not in {"mv", "rmdir", "unlink"}


def _list_folders(found: list[ShellCommand], folder: str) -> Iterator[str]:
    """Yield the folders in which the commands run, as far as their words say it."""
    yield folder
    here = folder
    for each in found:
        plain = [word for word in each.words[1:] if not word.startswith("-")]
        if each.program in {"cd", "pushd"} and plain:
            here = posixpath.normpath(posixpath.join(here, plain[0]))
            yield here
        elif each.program == "git":
            there = here
            for named in git_call(each.words[1:]).folders:
                there = posixpath.normpath(posixpath.join(there, named))
            yield there
