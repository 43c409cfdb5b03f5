"""Recognize commands that can destroy uncommitted code, and say in which folders they run.

The letterbox knows only words. This reads the command as a shell would, so that looking at a branch
takes no snapshot. A command that cannot be read counts as risky.
"""

import contextlib
import os
import posixpath
import re
from collections.abc import Iterable, Iterator

import msgspec

from leftoff.hooks import shell_words
from leftoff.hooks.git_arguments import GitCall, parse_git_call
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
    "submodule": {"", "add", "status", "init", "summary", "sync"},
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
_SCRIPT_READERS = re.compile(r"(?:python|pypy|perl|ruby|node|php)[\d.]*")
# With one of these letters, the text of the program follows, the name of a module, or nothing runs.
_NO_SCRIPT = re.compile(r"-[A-Za-z]*[cemnpV]|--(?:eval|print|check|test|version|help)\b|-$")
_VALUED_OPTIONS = frozenset({"-X", "-W", "-r", "-I", "-d", "--require", "--import", "--loader"})
# What a line of another language calls to remove or empty files, or to run another program.
_REMOVALS = re.compile(
    r"rmtree|\bunlink(?:Sync)?\b|rmSync|rimraf|\bos\.remove\b|\btruncate\b|\bFile\.delete\b"
    r"|\bopen\([^()]*,\s*(?:mode\s*=\s*)?['\"][wx]|\bwrite_(?:text|bytes)\b|\bwriteFile|\bFile\.write\b"
    r"|file_put_contents|\bos\.(?:rename|replace)\b|\brename(?:Sync)?\(|\bshutil\.(?:move|copy)"
    r"|\bsubprocess\b|\bos\.system\b|\bexecSync\b|\bspawnSync\b|child_process|\bsystem\b"
)
_SCRIPT = re.compile(r"\.(?:sh|bash|zsh)$")
# Programs that write files in place, with the letters and the name of the option that asks for it.
_EDITORS = {
    "sed": ("i", "--in-place"),
    "gsed": ("i", "--in-place"),
    "perl": ("i", ""),
    "ruby": ("i", ""),
    "ln": ("f", "--force"),
    "unzip": ("o", ""),
}
# Programs that write the files or folders they name, and with which word they name them first.
_WRITERS = {"cp": 2, "install": 2, "tee": 1}
_BUILDERS = frozenset("make gmake just task rake npm pnpm yarn bun".split())
_CLEANING = re.compile(r"(?:\w*[-:_])?\w{0,9}clean(?:[-:_]?\w*)?|mrproper|reset|wipe|purge|nuke")
_SUBMODULE = re.compile(r"(?m)^\s*path\s*=\s*(.+?)\s*$")
_INSTALLED = re.compile(r"(?:^|/)(?:bin|node_modules)/")
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
    placed = [*_place_commands(found, folder)]
    risky = [each for each in placed if _is_risky(*each)]
    if found and not risky:
        return None
    is_broad = not risky or any(_is_broad(*each) for each in risky)
    return Risk(folders=[*dict.fromkeys(_list_folders(placed, folder))], is_broad=is_broad)


def _place_commands(
    found: Iterable[ShellCommand], folder: str
) -> Iterator[tuple[ShellCommand, str]]:
    """Yield each command with the folder that it runs in."""
    here = folder
    for each in found:
        if each.program in {"cd", "pushd"} and (plain := _list_plain(each)):
            here = _join(here, plain[0])
        yield each, here


def _list_plain(command: ShellCommand) -> list[str]:
    """List the words that are not options; the home folder is written as `~`."""
    return [_HOME.sub("~", word) for word in command.words[1:] if not word.startswith("-")]


def _is_risky(command: ShellCommand, here: str) -> bool:
    if any(_may_hold_work(here, each) for each in command.overwritten):
        return True
    return _may_destroy(command) or _may_overwrite(command, here) or _runs_script(command, here)


def _may_destroy(command: ShellCommand) -> bool:
    program, words = command.program, command.words
    if program == "git":
        return _is_risky_call(parse_git_call(words[1:]))
    if program in _SOURCES:
        return any(map(_SCRIPT.search, words[1:2]))
    if _INTERPRETERS.fullmatch(program):
        return any(map(_REMOVALS.search, (*words[1:], *command.documents)))
    return (
        program in _PROGRAMS
        or _SCRIPT.search(words[0]) is not None
        or any(each.startswith(("-delete", "--del", "--remove-source")) for each in words)
    )


def _may_overwrite(command: ShellCommand, here: str) -> bool:
    """Return whether a program edits files in place, or writes to one that has something in it."""
    program, words = command.program, command.words
    call = GitCall.from_words(words)
    if program in _EDITORS:
        # Perl and sed take a suffix right after the letter, as in `-i.bak`.
        return call.has(*_EDITORS[program])
    if program in _WRITERS and not call.has("a" if program == "tee" else "", "--append"):
        named = _list_plain(command)[_WRITERS[program] - 1 :]
        return any(_may_hold_work(here, each) for each in named[-1 if program != "tee" else 0 :])
    if program == "dd":
        named = [each.removeprefix("of=") for each in words if each.startswith("of=")]
        return any(_may_hold_work(here, each) for each in named)
    if program in {"tar", "bsdtar"}:
        is_old = len(words) > 1 and words[1].isalpha() and "x" in words[1]
        return is_old or call.has("x", "--extract") or call.has("", "--get")
    return program == "patch" and not call.has("", "--dry-run")


def _may_hold_work(here: str, name: str) -> bool:
    """Return whether a file that is about to be written has something in it, or is a folder."""
    if name.startswith("/dev/"):
        return False
    path = _join(here, _HOME.sub("~", name))
    if "$" in path or path.startswith("~") or _PATTERN.search(path):
        return True
    with contextlib.suppress(OSError, ValueError):
        return os.stat(path).st_size > 0  # noqa: PTH116 - pathlib loads slowly
    return False


def _runs_script(command: ShellCommand, here: str) -> bool:
    """Return whether a command runs a script, or a target whose name says that it cleans up.

    What a script does is unknown.
    """
    program, words = command.program, command.words
    if program in _BUILDERS:
        return any(map(_CLEANING.fullmatch, words[1:]))
    if _SCRIPT_READERS.fullmatch(program):
        return _names_script(words)
    # A program of the project: `./tool`, `tools/tool`.
    is_own = "/" in words[0] and not words[0].startswith(("/", "~", "$"))
    return is_own and not _INSTALLED.search(words[0]) and _is_script(_join(here, words[0]))


def _names_script(words: tuple[str, ...]) -> bool:
    rest = [*words[1:]]
    # As the last word, it is almost always for the script.
    while rest and rest[-1] not in {"--help", "--version"}:
        word = rest.pop(0)
        if _NO_SCRIPT.match(word):
            return False
        if not word.startswith("-"):
            return not _INSTALLED.search(word)
        if word in _VALUED_OPTIONS:
            rest = rest[1:]
    return False


def _is_script(path: str) -> bool:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - see above
            return file.read(2) == b"#!"
    except (OSError, ValueError):
        return False


def _is_risky_call(call: GitCall) -> bool:
    if call.has_alias or any(call.has("", each) for each in ("--abort", "--skip", "--quit")):
        return True
    if call.name == "submodule" and call.words[:1] == ("foreach",):
        # The command is given as words, or as one word.
        return assess(" ".join((*call.words[1:], *call.paths)), "") is not None
    if call.name in _HARMLESS_WORDS:
        return next(iter(call.words), "") not in _HARMLESS_WORDS[call.name]
    if call.name in {"checkout", "switch"}:
        is_new = call.has("bc", "--orphan")
        return not is_new or call.has("f", "--force") or call.has("", "--discard-changes")
    if call.name in _RISKY_OPTIONS:
        letters, names = _RISKY_OPTIONS[call.name]
        return any(call.has(letters, each) for each in names)
    return call.name not in HARMLESS_CALLS and call.name != ""


def _is_broad(command: ShellCommand, here: str) -> bool:
    """Return whether a command can destroy what it does not name."""
    if command.program in {"rm", "Remove-Item"}:
        call = GitCall.from_words(("rm", *command.words[1:]))
        return call.has("rR", "--recursive") or any(map(_PATTERN.search, call.words))
    if _may_destroy(command) or _runs_script(command, here):
        return command.program not in {"mv", "rmdir", "unlink"}
    return command.program in {"patch", "tar", "bsdtar", "unzip"}


def _list_folders(placed: list[tuple[ShellCommand, str]], folder: str) -> Iterator[str]:
    """Yield the folders in which the commands run, and what they name elsewhere.

    The home folder is written as `~`.
    """
    yield folder
    for each, here in placed:
        plain = [*_list_plain(each), *each.overwritten]
        if each.program in {"cd", "pushd"}:
            yield here
        elif each.program == "git":
            there = here
            for named in parse_git_call(each.words[1:]).folders:
                there = _join(there, _HOME.sub("~", named))
            yield there
            call = parse_git_call(each.words[1:])
            if call.name == "submodule" or call.has("", "--recurse-submodules"):
                yield from _list_submodules(there)
        elif _is_risky(each, here):
            yield from (
                _join(here, word)
                for word in plain
                if word.startswith(_ELSEWHERE) or os.path.lexists(_join(here, f"{word}/.git"))
            )


def _list_submodules(folder: str) -> Iterator[str]:
    """Yield the submodules of a worktree; each is a repository with uncommitted code of its own."""
    try:
        with open(f"{folder}/.gitmodules", encoding="utf-8") as file:  # noqa: PTH123 - see above
            yield from (_join(folder, each) for each in _SUBMODULE.findall(file.read()))
    except (OSError, ValueError):
        return


def _join(folder: str, path: str) -> str:
    return posixpath.normpath(path if path.startswith("~") else posixpath.join(folder, path))
