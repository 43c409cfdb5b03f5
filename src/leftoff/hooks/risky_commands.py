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
from leftoff.hooks.shell_words import SHELLS, ShellCommand

# Subcommands of git that destroy nothing, or refuse to overwrite uncommitted work. Any other one
# may be an alias.
HARMLESS_CALLS = frozenset(
    "add am annotate archive bisect blame bundle cat-file check-attr check-ignore cherry "
    "cherry-pick clone commit commit-graph commit-tree config count-objects credential "
    "describe diff diff-files diff-index diff-tree difftool fetch for-each-ref format-patch "
    "fsck gc grep hash-object help init interpret-trailers lfs log ls-files ls-remote ls-tree "
    "maintenance merge-base merge-tree mergetool mktree name-rev notes pack-refs prune push "
    "range-diff reflog remote repack replace request-pull rerere rev-list rev-parse revert "
    "shortlog show show-branch show-ref sparse-checkout status subtree svn symbolic-ref tag "
    "update-index update-ref var verify-commit version whatchanged write-tree".split()
)
# Other subcommands are harmless if one of these words follows.
_HARMLESS_WORDS = {
    "stash": {"list", "show", "create", "branch"},
    "worktree": {"add", "list", "lock", "unlock", "repair", "prune"},
    "submodule": {"", "add", "status", "init", "summary", "foreach", "sync"},
}
# Others are risky only with one of these options.
_RISKY_OPTIONS = {
    "branch": ("dDfM", ("--delete",)),
    "mv": ("f", ("--force",)),
    "pull": ("", ("--autostash", "--rebase")),
    "merge": ("", ("--autostash",)),
}
_PROGRAMS = (
    frozenset("rm mv truncate shred unlink rmdir rimraf Remove-Item rd del".split()) | SHELLS
)  # A shell is listed only if it runs a script, whose text is unknown.
_SOURCES = frozenset({"source", "."})
_INTERPRETERS = re.compile(r"(?:python|pypy|perl|ruby|node|deno|bun|php)[\d.]*|npx|pnpm|yarn|bunx")
# What a line of another language calls to remove or empty files.
_REMOVALS = re.compile(
    r"rmtree|\bunlink(?:Sync)?\b|rmSync|rimraf|\bos\.remove\b|\btruncate\b|\bFile\.delete\b"
)
_SCRIPT = re.compile(r"\.(?:sh|bash|zsh)$")
_PATTERN = re.compile(r"[*?\[]")
_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME\})(?=/|$)")
_ELSEWHERE = ("/", "~", "..")


class Risk(msgspec.Struct, frozen=True, kw_only=True):
    """A command that can destroy uncommitted code."""

    folders: list[str]
    """The folders that it runs in or names, from `/` or `~`; the session's own comes first."""
    is_broad: bool
    """Whether it can destroy more than the files it names, so that a loss may be a surprise."""


def assess(command: str, folder: str) -> Risk | None:
    """Return what a command can destroy when it runs in a folder; None if it is harmless."""
    found = [*shell_words.commands(command)]
    risky = [each for each in found if _is_risky(each)]
    if found and not risky:
        return None
    is_broad = not risky or any(map(_is_broad, risky))
    return Risk(folders=[*dict.fromkeys(_list_folders(found, folder))], is_broad=is_broad)


def _is_risky(command: ShellCommand) -> bool:
    program, words = command.program, command.words
    if program == "git":
        return _is_risky_call(git_call(words[1:]))
    if program in _SOURCES:
        return any(map(_SCRIPT.search, words[1:2]))
    if _INTERPRETERS.fullmatch(program):
        return any(map(_REMOVALS.search, (*words[1:], *command.documents)))
    return (
        program in _PROGRAMS
        or _SCRIPT.search(words[0]) is not None
        or any(each.startswith(("-delete", "--del", "--remove-source")) for each in words)
    )


def _is_risky_call(call: GitCall) -> bool:
    if call.has_alias or any(call.has("", each) for each in ("--abort", "--skip", "--quit")):
        return True
    if call.name in _HARMLESS_WORDS:
        return next(iter(call.words), "") not in _HARMLESS_WORDS[call.name]
    if call.name in {"checkout", "switch"}:
        is_new = call.has("bc", "--orphan")
        return not is_new or call.has("f", "--force") or call.has("", "--discard-changes")
    if call.name in _RISKY_OPTIONS:
        letters, names = _RISKY_OPTIONS[call.name]
        return any(call.has(letters, each) for each in names)
    return call.name not in HARMLESS_CALLS and call.name != ""


def _is_broad(command: ShellCommand) -> bool:
    """Return whether a command can destroy what it does not name."""
    if command.program in {"rm", "Remove-Item"}:
        call = GitCall.from_words(("rm", *command.words[1:]))
        return call.has("rR", "--recursive") or any(map(_PATTERN.search, call.words))
    return command.program not in {"mv", "rmdir", "unlink"}


def _list_folders(found: list[ShellCommand], folder: str) -> Iterator[str]:
    """Yield the folders in which the commands run, and what they name elsewhere.

    The home folder is written as `~`.
    """
    yield folder
    here = folder
    for each in found:
        plain = [_HOME.sub("~", word) for word in each.words[1:] if not word.startswith("-")]
        if each.program in {"cd", "pushd"} and plain:
            here = _join(here, plain[0])
            yield here
        elif each.program == "git":
            there = here
            for named in git_call(each.words[1:]).folders:
                there = _join(there, _HOME.sub("~", named))
            yield there
        elif _is_risky(each):
            yield from (_join(here, word) for word in plain if word.startswith(_ELSEWHERE))


def _join(folder: str, path: str) -> str:
    return posixpath.normpath(path if path.startswith("~") else posixpath.join(folder, path))
