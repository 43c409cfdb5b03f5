"""Analyze shell commands and their output: what ran, why it failed, what was committed."""

import hashlib
import re

from leftoff.agents.loose_values import cut

_CD = re.compile(r"^\s*(?:cd\s+(?:\"[^\"]*\"|'[^']*'|\S+)\s*(?:&&|;|\n)\s*)+")
_TRIMMINGS = re.compile(r"\s*(?:2>&1|\|\s*(?:tail|head)(?:\s+-\S+|\s+\d+)*|\|\|\s*true)\s*")
_STRONG = re.compile(
    r"error|\bfail(?:ed|ure|ing|s)?\b|exception|traceback|\bpanic\b|\bfatal\b|❌|✗|✘",
    re.IGNORECASE,
)
_TIMEOUT = re.compile(r"\btime(?:d )?out\b", re.IGNORECASE)
_WEAK = re.compile(
    r"refus|denied|not found|no such|cannot|can't|could not|unable|invalid|undefined|unknown"
    r"|unexpected|missing|conflict|abort|timed out|not recognized|killed|warning:",
    re.IGNORECASE,
)
_NO_ERRORS = re.compile(r"\b(?:0|no) (?:errors?|fail(?:ed|ures?)?)\b", re.IGNORECASE)
_COMMIT = re.compile(r"\bgit\b[^\n;&|]*\bcommit\b")
_COMMITTED = re.compile(r"^\[(?:[^\]\n]*?\s)?([0-9a-f]{7,40})\]\s*(.*)$", re.MULTILINE)
# A command that was cut may lack its closing quote.
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*(?:\"|\Z)|'[^']*(?:'|\Z)", re.DOTALL)
_OWN = r"(?:[A-Z_]+=\S*\s+)*(?:uvx\s+|uv\s+run\s+|python[\d.]*\s+-m\s+)?(?:[^\s'\"]*/)?leftoff"
# `leftoff ship` delivers the work, so it is part of it.
_OWN_COMMAND = re.compile(rf"{_OWN}(?!(?:\s+-\S+)*\s+ship\b)(?:\s.*)?", re.DOTALL)
_OWN_SAVE = re.compile(rf"{_OWN}(?:\s+-\S+)*\s+save(?:\s.*)?", re.DOTALL)
_HERE_DOCUMENT = re.compile(r"<<-?\s*['\"]?[A-Za-z_]")
# What one command is chained to the next with; a pipe belongs to the command before it.
_CHAIN = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_LINE_CHARS = 180
_TAIL_CHARS = 1500
_LONGEST_SHOWN = 200
_LONGEST_MESSAGE = 80
_MOST_HEADS_OF_ONE = 4
_SETTING = re.compile(r"^(?:(?:[A-Z_][A-Z0-9_]*=\S*|sudo|time|env|do|then|else|!)\s+)+")
# The parts of a script that run nothing.
_SYNTAX = re.compile(
    r"(?:for|while|until|if|elif|case|select|function|done|fi|esac|set|true|false|exit|return|local|export|"
    r"echo|printf|foreach|cd)\b"
    r"|[^\w./~\"'-]|\w+\(\)|\w+=|\w+ ['\"]?$"
)
_MOVE = re.compile(
    r"(?:git )?mv(?: -\w+)* [\"']?(?P<old>[^\s*?{$`\"']+)[\"']? [\"']?(?P<new>[^\s*?{$`\"']+)[\"']?"
)
_SEARCH = re.compile(r"(?:rg|e?grep|ag|ack|git grep|findstr|Select-String)\b")
_CLONE = re.compile(
    r"\bgit\s+(?:clone\b[^\n;&|]*?\s(?P<clone>(?:/|~)[^\s;&|'\"]+)\s*(?:$|[;&|\n])"
    r"|worktree\s+add\s+(?:-\S+\s+(?:\S+\s+)?)*?(?P<tree>/[^\s;&|'\"]+)"
    r"|-C\s+(?P<folder>/[^\s;&|'\"]+))|\bcd\s+(?P<cd>/[^\s;&|'\"]+)\s*(?:&&|;)\s*git\b"
)
_LOCATED = re.compile(
    r"^(?:\W*(?:error|warning)\W+)?[\w@./\\+-]+\.[A-Za-z]\w{0,7}"
    r"(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\)|\s+\S+\s+━)"
)
_MARKER = re.compile(
    r"^\W*(?:error|errors|failed|failure|fail|traceback.*)?\W*$|^% Total\b|^Dload\s"
    r"|^(?:[\d.:kMG-]+\s+){6,}",
    re.IGNORECASE,
)
_COMMAND_CHARS = 240
_MOST_ERROR_LINES = 3


def without_cd(command: str) -> str:
    """Return the command without a leading `cd`, unless that is all of it."""
    plain = command.strip()
    return (_CD.sub("", plain).strip() or plain) if "cd " in plain[:200] else plain


def shorten(command: str, chars: int = _COMMAND_CHARS) -> str:
    """Return the command on one line; an ellipsis says where it was cut."""
    if len(command) <= chars and command.isprintable() and not _is_uneven(command):
        return command
    plain = _cut_messages(cut(without_cd(command), chars * 3))
    line = " ".join(join_lines(plain).split())
    return line if len(line) <= chars else f"{cut(line, chars - 2).rstrip()} …"


def _cut_messages(command: str) -> str:
    """Keep only the first line of a long message, such as that of a commit."""
    if document := _HERE_DOCUMENT.search(command):
        start, body, message = command[document.start() :].partition("\n")
        subject, _, rest = message.lstrip().partition("\n")
        is_long = len(rest) > _LONGEST_MESSAGE
        return f"{command[: document.start()]}{start}{body}{subject} …" if is_long else command
    return _QUOTED.sub(_cut_quoted, command) if "\n" in command else command


def _cut_quoted(quoted: re.Match[str]) -> str:
    first, _, rest = quoted[0].partition("\n")
    return (
        f"{first} …{quoted[0][0]}" if len(rest) > _LONGEST_MESSAGE and len(first) > 1 else quoted[0]
    )


def join_lines(command: str) -> str:
    """Put the commands of a script on one line, as a shell would read them."""
    if "\n" not in command or _HERE_DOCUMENT.search(command):
        return command
    plain = command.replace("\\\n", " ")
    masked = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), plain)
    ends = [n for n, sign in enumerate(masked) if sign == "\n" and masked[:n].rstrip()]
    for n in reversed(ends):
        is_open = (
            masked[:n].rstrip().endswith(("&&", "||", "|", ";", "(", "{", "then", "do", "else"))
        )
        plain = f"{plain[:n]}{' ' if is_open else '; '}{plain[n + 1 :].lstrip()}"
    return plain.rstrip("; \n") if ends else plain


def _is_uneven(command: str) -> bool:
    return command.startswith((" ", "cd ")) or command.endswith(" ") or "  " in command


def is_own_save(command: str) -> bool:
    """Return whether a command only saves the session that runs it."""
    is_save = "leftoff" in command and any(
        map(_OWN_SAVE.fullmatch, _split_chain(without_cd(command)))
    )
    return is_save and not without_own(command)


def without_own(command: str) -> str:
    """Return the command without leftoff's own parts, which say nothing about the work."""
    if "leftoff" not in command:
        return command
    parts = _split_chain(without_cd(command))
    kept = [part for part in parts if not _OWN_COMMAND.fullmatch(part)]
    if len(kept) == len(parts):
        return command
    return " && ".join(part for part in kept if part and not part.startswith("cd "))


def _split_chain(plain: str) -> list[str]:
    """Split a chain of commands; text in quotes and here-documents belongs to its command."""
    body = _HERE_DOCUMENT.search(plain)
    end = body.start() if body else len(plain)
    masked = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), plain[:end])
    cuts = [0, *(at for each in _CHAIN.finditer(masked) for at in each.span()), len(plain)]
    return [plain[start:stop].strip() for start, stop in zip(cuts[::2], cuts[1::2], strict=True)]


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
    parts = _split_chain(without_cd(cut(command, 600)))
    heads = [" ".join(_SETTING.sub("", part).split()[:2]) for part in parts]
    named = (cut(head, 80) for head in heads if head and not _SYNTAX.match(head))
    return list(dict.fromkeys(named))[:_MOST_HEADS_OF_ONE]


def is_search(command: str) -> bool:
    """Return whether a command looks for a text in files."""
    return _SEARCH.match(without_cd(command)) is not None


def clone_in(command: str, cwd: str) -> str:
    """Return the folder outside the working directory that a command clones into or uses."""
    if "git" not in command or not (found := _CLONE.search(cut(command, 2000))):
        return ""
    folder = next(filter(None, found.groups()), "").rstrip("/")
    return "" if folder == cwd or folder.count("/") < 2 else folder


def moves_in(command: str) -> list[tuple[str, str]]:
    """Return the files that a command renames, each with its new path."""
    parts = _split_chain(cut(command, 2000)) if "mv " in command else []
    found = [move for part in parts if (move := _MOVE.fullmatch(part))]
    return [(move["old"], _place_moved(move["old"], move["new"])) for move in found]


def _place_moved(old: str, new: str) -> str:
    name = old.rsplit("/", 1)[-1]
    is_folder = new.endswith("/") or ("." in name and "." not in new.rsplit("/", 1)[-1])
    return f"{new.rstrip('/')}/{name}" if is_folder else new


def telling_lines(output: str, *, is_search: bool = False) -> str:
    """Return the few lines of a failed command's output that explain the failure.

    What a search found looks like the place of an error, but is none.
    """
    lines = [line for raw in output.splitlines() if len(line := raw.strip()) > 1]
    # A rule or a bare "Error" says nothing; some commands print nothing else.
    lines = [line for line in lines if not _MARKER.match(line)] or lines
    if not lines:
        return ""
    strong = [line for line in lines if _is_strong(line)]
    weak = [line for line in lines if _WEAK.search(line)]
    located = [] if is_search else [line for line in lines if _LOCATED.match(line)]
    located.sort(key=_is_not_strong)
    # The first error is often the cause, the last one the summary.
    picked = [*located[:1], *strong[:1], *strong[-1:], *weak[:1], lines[-1]]
    if not strong and not weak:
        # A shell's own complaint comes last.
        picked.append(lines[0])
    picked = [_with_next(line, lines) for line in picked]
    unique = dict.fromkeys(cut(line, _LINE_CHARS) for line in picked)
    return "\n".join(list(unique)[:_MOST_ERROR_LINES])


def _with_next(line: str, lines: list[str]) -> str:
    """Add the next line to one that only introduces it: "Failed to remove 1 worktree:"."""
    following = lines[lines.index(line) + 1 :][:1] if line.endswith(":") else []
    return " ".join([line, *following])


def _is_strong(line: str) -> bool:
    is_error = _STRONG.search(line) or _TIMEOUT.search(line)
    return is_error is not None and not _NO_ERRORS.search(line)


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
