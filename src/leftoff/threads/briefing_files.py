"""List the files and commands of a checkpoint for its briefing."""

import posixpath
import re
from collections.abc import Iterator

from leftoff.checkpoint import UNLISTED_ROLES, Checkpoint
from leftoff.lazy_patterns import lazy
from leftoff.text.budget import (
    Item,
    Section,
    list_bullets,
    list_in_lines,
    make_list,
    make_section,
)
from leftoff.text.fence import say
from leftoff.threads.briefing_weights import Weights
from leftoff.threads.check_claims import Checks

_SURE_FILES = 6
_FIRST_FILES = 3
_SURE_COMMANDS = 4
_LONGEST_HEAD = 30
# Quotes, pipes and variables of a command would be cut in two.
_HEAD = lazy(r"[\w./~@:+=*%,-]+(?: -m(?= ))?(?: [\w./~@:+=*%,-]+(?= |$))?")
# An interpreter without its code, the head of a loop, a pause, and a text without its place say
# nothing.
_SAYS_NOTHING = lazy(
    r"\S*(?:python[\d.]*|node|perl|ruby|php|sh) -(?:l?c|e|r)?"
    r"|(?:for|while|until|if|case|sleep|echo|printf|true|false)\b.*|cat|tee"
)
# What comes before the command that a chain is about.
_WRITES_FIRST = lazy(r"(?:(?:echo|printf)\b(?:\"[^\"]*\"|'[^']*'|[^'\"&|;\n])*(?:&&|;)\s*)+")
_WRITES_FILE = lazy(r"(?:echo|printf)\s(?:\"[^\"]*\"|'[^']*'|[^'\"&|;\n>])*>>?\s*[\w./-]+")
_LONGEST_WHOLE = 60
# Where git runs says less than what it does.
_GIT_FOLDER = lazy(r"""^git -C (?:"[^"]*"|'[^']*'|\S+) """)
_FILES_IN_LINE = 6
_FEW_FILES = 3
_DEEP_ENOUGH = 3
_LIKELY_IN_LINE = 2
_HEADS_IN_LINE = 8


def list_focus(checkpoint: Checkpoint) -> list[str]:
    """Return the files needed next, without the plan, which has its own line."""
    plan = checkpoint.plan.path if checkpoint.plan else None
    # Somebody stated the next action, so nothing in the session ranks the files that it names.
    action = checkpoint.next_action
    known = [*checkpoint.focus_files, *checkpoint.files_modified]
    is_stated = action is not None and action.origin == "stated"
    named = [path for path in known if action and is_stated and _names(action.text, path)]
    return [path for path in dict.fromkeys([*named, *checkpoint.focus_files]) if path != plan]


def _names(text: str, path: str) -> bool:
    """Return whether a text names a file, by its path or the end of it."""
    parts = path.split("/")
    ends = ["/".join(parts[n:]) for n in range(len(parts))]
    # Compiling an expression takes longer than all the rest.
    return ends[-1] in text and any(
        re.search(rf"(?<![\w./-]){re.escape(end)}(?![\w/-])", text) for end in ends
    )


def list_modified(checkpoint: Checkpoint) -> list[str]:
    """Return the modified files that are not needed next and still exist."""
    shown = {*checkpoint.focus_files, *checkpoint.files_deleted}
    return [path for path in checkpoint.files_modified if path not in shown]


def list_seen(checkpoint: Checkpoint) -> list[str]:
    """Return the files that were only read."""
    shown = {*checkpoint.focus_files, *checkpoint.files_modified}
    return [path for path in checkpoint.seen_files if path not in shown]


def list_named(checkpoint: Checkpoint) -> list[str]:
    """Return the other files that somebody named, with their roles."""
    shown = {*checkpoint.focus_files, *checkpoint.files_modified}
    return [
        f"{file.path} ({file.role})" if file.role else file.path
        for file in checkpoint.files
        if file.path not in shown and file.role not in UNLISTED_ROLES
    ]


def find_base(checkpoint: Checkpoint) -> str:
    """Return the folder outside the worktree that most files are in; "" if there is none."""
    paths = [*list_focus(checkpoint), *list_modified(checkpoint)]
    outside = [path for path in paths if path.startswith("/")]
    if len(outside) < _FEW_FILES or 2 * len(outside) <= len(paths):
        return ""
    base = posixpath.commonpath([posixpath.dirname(path) for path in outside])
    return base if base.count("/") >= _DEEP_ENOUGH else ""


def shorten_path(path: str, checkpoint: Checkpoint, base: str) -> str:
    """Return a path relative to the folder that most files are in; others are absolute then."""
    if not base:
        return path
    if path.startswith(f"{base}/"):
        return path[len(base) + 1 :]
    return path if path.startswith("/") else f"{checkpoint.worktree or '.'}/{path}"


def describe_file(
    path: str, checkpoint: Checkpoint, checks: Checks | None = None, base: str = ""
) -> str:
    """Return a file with its state: whether the session edited it, and whether git has that."""
    states = ["edited"] if path in checkpoint.files_modified else []
    now = next((file.state for file in checks.files if file.path == path), "") if checks else ""
    # If HEAD moved, the edit may have been committed.
    is_uncommitted = path in checkpoint.dirty and (not checks or checks.head.commits_since == 0)
    if is_uncommitted and checks is not None and checks.worktree and not checks.worktree_is_gone:
        states.append("uncommitted in the other worktree")
    elif now == "missing":
        # A file that another branch has was not deleted.
        is_elsewhere = checks is not None and not checks.branch.same
        states = ["not on this branch" if is_elsewhere else "deleted since"]
    elif is_uncommitted:
        # What was uncommitted may be gone, as after a switch to another branch.
        states.append("changed since" if now == "changed" else "uncommitted")
    shown = shorten_path(path, checkpoint, base)
    return f"{shown} ({', '.join(states)})" if states else shown


def list_files(checkpoint: Checkpoint, checks: Checks | None, worth: Weights) -> Iterator[Section]:
    """Yield the files needed next, the commands, then all other files."""
    base = find_base(checkpoint)

    def shorten(paths: list[str]) -> list[str]:
        return [shorten_path(path, checkpoint, base) for path in paths]

    where = say(" (in {folder:300})", folder=base) if base else say("")
    needed = _list_focus(checkpoint, checks, base, worth)
    yield make_section(say("Files needed next{where}:", where=where), needed)
    sure = checkpoint.commands[:_SURE_COMMANDS]
    yield make_section(say("Commands in use:"), list_bullets(sure, worth.command))
    yield make_section(say("Also ran:"), _list_other_commands(checkpoint, worth))
    edited = _list_by_folder(shorten(list_modified(checkpoint)), worth.edited_file)
    yield make_list(say("Also edited:"), edited)
    gone = _list_by_folder(shorten(checkpoint.files_deleted), worth.deleted_file)
    yield make_list(say("Deleted or renamed:"), gone)
    seen = list_in_lines(shorten(list_seen(checkpoint)), worth.seen_file, _FILES_IN_LINE)
    yield make_section(say("Also read:"), seen)
    yield make_list(say("Files:"), list_bullets(list_named(checkpoint), worth.named_file))


def _list_other_commands(checkpoint: Checkpoint, worth: Weights) -> list[Item]:
    """List the first words of the commands that are not shown whole."""
    failed = [checkpoint.last_failure.command] if checkpoint.last_failure else []
    shown = "\n".join([*checkpoint.commands[:_SURE_COMMANDS], *failed])
    others = [*checkpoint.commands[_SURE_COMMANDS:], *checkpoint.also_ran]
    heads = dict.fromkeys(map(_find_head, others))
    rest = [head for head in heads if head and head not in shown]
    return list_in_lines(rest, worth.other_commands, _HEADS_IN_LINE)


def _find_head(command: str) -> str:
    """Return a command's program and first argument; without it if it is half of something.

    A text that is written to a file says nothing without both, so that command stays whole.
    """
    command = _WRITES_FIRST.sub("", command, count=1)
    found = _HEAD.match(_GIT_FOLDER.sub("git ", command))
    if found and not _SAYS_NOTHING.fullmatch(found[0]):
        return found[0] if len(found[0]) <= _LONGEST_HEAD else ""
    return command if _WRITES_FILE.fullmatch(command) and len(command) <= _LONGEST_WHOLE else ""


def _list_by_folder(paths: list[str], weight: float) -> list[Item]:
    """List files, those of one folder in one line: a session can edit dozens of them."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, []).append(name)
    full = {folder: names for folder, names in folders.items() if folder and len(names) > 1}
    alone = [path for path in paths if path.rpartition("/")[0] not in full]
    together = [
        Item(
            say("- in {folder:300}: {names:2000}", folder=folder, names=", ".join(names)),
            weight - n / 10,
            count=len(names),
        )
        for n, (folder, names) in enumerate(full.items())
    ]
    return [*together, *list_in_lines(alone, weight, _FILES_IN_LINE)]


def _list_focus(
    checkpoint: Checkpoint, checks: Checks | None, base: str, worth: Weights
) -> list[Item]:
    """List the files needed next; the first few are worth more than most sentences."""
    files = list_focus(checkpoint)
    sure = [describe_file(path, checkpoint, checks, base) for path in files[:_SURE_FILES]]
    rest = [shorten_path(path, checkpoint, base) for path in files[_SURE_FILES:]]
    return [
        *list_bullets(sure[:_FIRST_FILES], worth.first_file),
        *list_bullets(sure[_FIRST_FILES:], worth.needed_file),
        *list_in_lines(rest, worth.likely_file, _LIKELY_IN_LINE),
    ]
