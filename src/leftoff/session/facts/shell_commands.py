"""Analyze shell commands and their output: what ran, why it failed, what was committed."""

import hashlib
import re

from leftoff.agents.loose_values import cut

_CD = re.compile(r"^\s*(?:cd\s+(?:\"[^\"]*\"|'[^']*'|\S+)\s*(?:&&|;)\s*)+")
_TRIMMINGS = re.compile(r"\s*(?:2>&1|\|\s*(?:tail|head)(?:\s+-\S+|\s+\d+)*|\|\|\s*true)\s*")
_STRONG = re.compile(
    r"error|\bfail(?:ed|ure|ing|s)?\b|exception|traceback|\bpanic\b|\bfatal\b|❌|✗|✘",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"refus|denied|not found|no such|cannot|can't|could not|unable|invalid|undefined|unknown"
    r"|unexpected|missing|conflict|abort|timed out|not recognized|killed|warning:",
    re.IGNORECASE,
)
_NO_ERRORS = re.compile(r"\b(?:0|no) (?:errors?|fail(?:ed|ures?)?)\b", re.IGNORECASE)
_COMMIT = re.compile(r"\bgit\b[^\n;&|]*\bcommit\b")
_COMMITTED = re.compile(r"^\[(?:[^\]\n]*?\s)?([0-9a-f]{7,40})\]\s*(.*)$", re.MULTILINE)
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'", re.DOTALL)
_OWN_SAVE = re.compile(r"(?:\S*/)?leftoff(?:\s+-\S+)*\s+save(?:\s[^;&|]*)?")
_LINE_CHARS = 180
_TAIL_CHARS = 1500
_LONGEST_SHOWN = 200
_MOST_HEADS_OF_ONE = 4
_PARTS = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_SETTING = re.compile(r"^(?:(?:[A-Z_][A-Z0-9_]*=\S*|sudo|time|env)\s+)+")
_CLONE = re.compile(
    r"\bgit\s+(?:clone\b[^\n;&|]*?\s(?P<clone>(?:/|~)[^\s;&|'\"]+)\s*(?:$|[;&|\n])"
    r"|worktree\s+add\s+(?:-\S+\s+(?:\S+\s+)?)*?(?P<tree>/[^\s;&|'\"]+)"
    r"|-C\s+(?P<folder>/[^\s;&|'\"]+))|\bcd\s+(?P<cd>/[^\s;&|'\"]+)\s*(?:&&|;)\s*git\b"
)
_LOCATED = re.compile(
    r"^(?:\W*(?:error|warning)\W+)?[\w@./\\+-]+\.[A-Za-z]\w{0,7}(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\))"
)
_MARKER = re.compile(
    r"^\W*(?:error|errors|failed|failure|fail|traceback.*)?\W*$|^% Total\b|^(?:[\d.:kMG-]+\s+){6,}",
    re.IGNORECASE,
)
_COMMAND_CHARS = 240
_MOST_ERROR_LINES = 3


def without_cd(command: str) -> str:
    """Return the command without a leading `cd`, unless that is all of it."""
    plain = command.strip()
    return (_CD.sub("", plain).strip() or plain) if "cd " in plain[:200] else plain


def shorten(command: str, chars: int = _COMMAND_CHARS) -> str:
    """Return the command on one line, cut to a length."""
    if len(command) <= chars and command.isprintable() and not _is_uneven(command):
        return command
    return cut(" ".join(cut(without_cd(command), chars * 3).split()), chars)


def _is_uneven(command: str) -> bool:
    return command.startswith((" ", "cd ")) or command.endswith(" ") or "  " in command


def is_own_save(command: str) -> bool:
    """Return whether a command only saves the session that runs it."""
    plain = without_cd(command)
    return "leftoff" in plain and _OWN_SAVE.fullmatch(_QUOTED.sub("x", plain)) is not None


def key_of(command: str) -> str:
    """Return a short key that ignores unimportant differences between commands."""
    return _digest(_plain(command))


def repairs(command: str) -> set[str]:
    """Return the keys of the failed commands that a success of this one repairs."""
    plain = _plain(command)
    parts = plain.split(" && ")
    if len(parts) == 1:
        return {_digest(plain)}
    # `build && test` also repairs a failed `build`, so each run of consecutive parts counts.
    runs = {
        " && ".join(parts[start:end])
        for start in range(min(len(parts), 6))
        for end in range(start + 1, min(len(parts), 6) + 1)
    }
    return {key_of(run) for run in runs} | {_digest(plain)}


def _plain(command: str) -> str:
    command = without_cd(command)
    # Every removable part contains one of these, and most commands contain none.
    if "|" in command or "2>&1" in command:
        command = _TRIMMINGS.sub(" ", command)
    return " ".join(command.split())


def _digest(plain: str) -> str:
    return hashlib.blake2b(plain.encode("utf-8", "replace"), digest_size=8).hexdigest()


def one_line(command: str) -> str:
    """Return a command as it can be shown whole on one line; "" if it is too long for that."""
    plain = without_cd(command)
    # The lines of a script or of a here-document cannot be joined.
    if "\n" in plain or len(plain) > _LONGEST_SHOWN * 2:
        return ""
    short = " ".join(plain.split())
    return short if len(short) <= _LONGEST_SHOWN else ""


def heads_of(command: str) -> list[str]:
    """Return the first two words of a command and of those chained to it."""
    parts = [part for part in _PARTS.split(without_cd(cut(command, 600))) if part]
    heads = [" ".join(_SETTING.sub("", part).split()[:2]) for part in parts]
    return list(dict.fromkeys(cut(head, 80) for head in heads if head))[:_MOST_HEADS_OF_ONE]


def clone_in(command: str, cwd: str) -> str:
    """Return the folder outside the working directory that a command clones into or uses."""
    if "git" not in command or not (found := _CLONE.search(cut(command, 2000))):
        return ""
    folder = next(filter(None, found.groups()), "").rstrip("/")
    return "" if folder == cwd or folder.count("/") < 2 else folder


def telling_lines(output: str) -> str:
    """Return the few lines of a failed command's output that explain the failure."""
    lines = [line for raw in output.splitlines() if len(line := raw.strip()) > 1]
    # A rule or a bare "Error" says nothing; some commands print nothing else.
    lines = [line for line in lines if not _MARKER.match(line)] or lines
    if not lines:
        return ""
    strong = [line for line in lines if _STRONG.search(line) and not _NO_ERRORS.search(line)]
    weak = [line for line in lines if _WEAK.search(line)]
    located = sorted((line for line in lines if _LOCATED.match(line)), key=_is_not_strong)
    # The first error is often the cause, the last one the summary.
    picked = [*located[:1], *strong[:1], *strong[-1:], *weak[:1], lines[-1]]
    if not strong and not weak:
        # A shell's own complaint comes last.
        picked.append(lines[0])
    unique = dict.fromkeys(cut(line, _LINE_CHARS) for line in picked)
    return "\n".join(list(unique)[:_MOST_ERROR_LINES])


def _is_not_strong(line: str) -> bool:
    return _STRONG.search(line) is None


def looks_failed(output: str) -> bool:
    """Return whether output reports errors in spite of a successful exit code."""
    return any(
        _STRONG.search(line) and not _NO_ERRORS.search(line)
        for line in output[-_TAIL_CHARS:].splitlines()
    )


def is_masked(command: str) -> bool:
    """Return whether a pipe hides the command's own exit code."""
    return "|" in command.replace("||", "")


def commit_in(command: str, output: str) -> tuple[str, str] | None:
    """Return hash and subject of the last commit that this command made."""
    if "commit" not in command or not _COMMIT.search(command):
        return None
    made = _COMMITTED.findall(output)
    return (made[-1][0], made[-1][1].strip()) if made else None
