"""Analyze shell commands: what ran, where, and what it moves, deletes and commits."""

import re
from shlex import quote

from leftoff.agents.loose_values import cut
from leftoff.lazy_patterns import lazy
from leftoff.session.facts import written_paths

_CD = lazy(r"^\s*(?:cd\s+(?:\"[^\"]*\"|'[^']*'|\S+)\s*(?:&&|;|\n)\s*)+")
_CD_TARGET = lazy(r"cd\s+(?:\"([^\"]*)\"|'([^']*)'|(\S+))\s*(?:&&|;|\n)")
_PLACED = lazy(r"cd (?:'([^']*)'|([^\s'\";&|]+)) && (.*)", re.DOTALL)
_COMMIT = lazy(r"\bgit\b[^\n;&|]*\bcommit\b")
_COMMITTED = lazy(r"^\[(?:[^\]\n]*?\s)?([0-9a-f]{7,40})\]\s*(.*)$", re.MULTILINE)
# What git says of the branch that it is on; a detached HEAD has none.
_ON_BRANCH = lazy(
    r"^Switched to (?:a new )?branch '(?P<switched>[^'\n]+)'$|^On branch (?P<on>\S+)$"
    r"|^## (?:No commits yet on )?(?P<short>\S+?)(?:\.\.\.|[ \n]|\Z)"
    r"|^\[(?P<commit>\S+)(?: \(root-commit\))? [0-9a-f]{7,40}\] ",
    re.MULTILINE,
)
_ASKS_BRANCH = lazy(r"git (?:branch --show-current|rev-parse --abbrev-ref HEAD)")
_NAMES_BRANCH = lazy(r"\bgit\s+(?:checkout|switch|status|commit)\b")
_ELSEWHERE = lazy(r"\b(?:cd|pushd|Push-Location|Set-Location)\b|\bgit\s[^\n;&|]*?-C\s|\bworktree\b")
# A command that was cut may lack its closing quote.
QUOTED = lazy(r"\"(?:[^\"\\]|\\.)*(?:\"|\Z)|'[^']*(?:'|\Z)", re.DOTALL)
_OWN = r"(?:[A-Z_]+=\S*\s+)*(?:uvx\s+|uv\s+run\s+|python[\d.]*\s+-m\s+)?(?:[^\s'\"]*/)?leftoff"
# `leftoff ship` delivers the work, so it is part of it.
_OWN_COMMAND = lazy(rf"{_OWN}(?!(?:\s+-\S+)*\s+ship\b)(?:\s.*)?", re.DOTALL)
_OWN_SAVE = lazy(rf"{_OWN}(?:\s+-\S+)*\s+save(?:\s.*)?", re.DOTALL)
_OWN_SHIP = lazy(rf"{_OWN}(?:\s+-\S+)*\s+ship(?:\s.*)?", re.DOTALL)
_HERE_DOCUMENT = lazy(r"<<-?\s*['\"]?[A-Za-z_]")
_DOCUMENT = lazy(r"<<-?\s*(?P<quote>['\"]?)(?P<end>[A-Za-z_]\w*)(?P=quote)")
_LONGEST_DOCUMENT = 400
# A document is known by its first line; that of a script says little: `import json`.
_WRITES_TEXT = lazy(r"\b(?:cat|tee|git|gh|glab|bd)\b[^|;&\n]*$")
# What one command is chained to the next with; a pipe belongs to the command before it.
_CHAIN = lazy(r"\s*(?:&&|\|\||;|\n)\s*")
_LONGEST_SHOWN = 200
_LONGEST_MESSAGE = 80
_MOST_HEADS_OF_ONE = 4
# Such words start any program; the third one says which.
_RUNS_ANY = frozenset(
    f"{program} {verb}"
    for programs, verb in (
        ("npm pnpm yarn bun uv poetry deno cargo mise pdm hatch rye pipenv turbo nx", "run"),
        ("python python3", "-m"),
        ("docker", "compose"),
    )
    for program in programs.split()
)
_SETTING = lazy(r"^(?:(?:[A-Z_][A-Z0-9_]*=\S*|sudo|time|env|do|then|else|!)\s+)+")
# The parts of a script that run nothing.
_SYNTAX = lazy(
    r"(?:for|while|until|if|elif|case|select|function|done|fi|esac|set|true|false|exit|return|local|export|"
    r"echo|printf|foreach|cd)\b"
    r"|[^\w./~\"'-]|\w+\(\)|\w+=|\w+ ['\"]?$"
)
_MOVE = lazy(
    r"(?:git )?mv(?: -\w+)* [\"']?(?P<old>[^\s*?{$`\"']+)[\"']? [\"']?(?P<new>[^\s*?{$`\"']+)[\"']?"
)
_REMOVE = lazy(r"(?:git )?rm(?: -\S+)* (?P<paths>[^|<>]+)|Remove-Item (?P<path>[^|<>]+)")
_PLAIN_PATH = lazy(r"[^\s*?{}$`\"'-][^\s*?{}$`\"']*")
# What `git status` and `git commit` print for files that are gone.
_STATUS_GONE = lazy(
    r"^(?:D[ D]| D) (?P<short>[^\s\"]+)$|^\s*deleted:\s+(?P<long>[^\s\"]+)$"
    r"|^R[ MD] (?P<old>[^\s\"]+) -> |^\s*renamed:\s+(?P<before>[^\s\"]+) -> "
    r"|^ delete mode \d+ (?P<mode>[^\s\"]+)$",
    re.MULTILINE,
)
_SEARCH = lazy(r"(?:rg|e?grep|ag|ack|git grep|findstr|Select-String)\b")
_CLONE = lazy(
    r"\bgit\s+(?:clone\b[^\n;&|]*?\s(?P<clone>(?:/|~)[^\s;&|'\"]+)\s*(?:$|[;&|\n])"
    r"|worktree\s+add\s+(?:-\S+\s+(?:\S+\s+)?)*?(?P<tree>/[^\s;&|'\"]+)"
    r"|-C\s+(?P<folder>/[^\s;&|'\"]+))|\bcd\s+(?P<cd>/[^\s;&|'\"]+)\s*(?:&&|;)\s*git\b"
)
_COMMAND_CHARS = 240


def without_cd(command: str) -> str:
    """Return the command without a leading `cd`, unless that is all of it."""
    plain = command.strip()
    return (_CD.sub("", plain).strip() or plain) if "cd " in plain[:200] else plain


def place(command: str, folder: str) -> str:
    """Return a command with the folder that it runs in, as one leading `cd`.

    `folder` is the absolute folder before the command's own `cd`; "" if nobody knows it.
    """
    plain = without_cd(command)
    targets = ["".join(each) for each in _CD_TARGET.findall(command[: len(command) - len(plain)])]
    if any(each.startswith(("$", "-", "`")) for each in targets):
        return command.strip()
    for target in targets:
        folder = written_paths.normalise(target, folder)
    return f"cd {quote(folder)} && {plain}" if folder and plain else plain


def unplace(command: str, base: str) -> str:
    """Return a placed command as it is typed in the folder `base`."""
    found = _PLACED.fullmatch(command) if command.startswith("cd ") else None
    if found is None or not base:
        return command
    folder = found[1] or found[2]
    if folder == base:
        return found[3]
    inside = folder.removeprefix(f"{base}/")
    return f"cd {quote(inside)} && {found[3]}"


def folder_of(command: str) -> str:
    """Return the folder of a placed command; "" if nobody knows it."""
    found = _PLACED.fullmatch(command) if command.startswith("cd ") else None
    return (found[1] or found[2]) if found else ""


def shorten(command: str, chars: int = _COMMAND_CHARS) -> str:
    """Return the command on one line; an ellipsis says where it was cut."""
    if len(command) <= chars and command.isprintable() and not _is_uneven(command):
        return command
    plain = _cut_messages(cut(cut_documents(command.strip()), chars * 3))
    line = " ".join(join_lines(plain).split())
    return line if len(line) <= chars else f"{cut(line, chars - 2).rstrip()} …"


def cut_documents(command: str, chars: int = _LONGEST_DOCUMENT) -> str:
    """Keep only the first lines of long here-documents, so that what follows them is not lost."""
    for start, end in reversed(_find_documents(command)):
        if end - start > chars:
            # A line that was cut could be a part of a secret that nobody recognizes.
            kept = cut(command[start:end], chars).rpartition("\n")[0]
            mark = command[start:end].rpartition("\n")[2]
            command = f"{command[:start]}{kept}\n…\n{mark}{command[end:]}"
    return command


def _find_documents(command: str) -> list[tuple[int, int]]:
    """Return where the lines of each whole here-document begin and end."""
    found: list[tuple[int, int]] = []
    at = 0
    while "<<" in command and (opened := _DOCUMENT.search(command, at)):
        start = command.find("\n", opened.end())
        end = re.compile(rf"\n[ \t]*{opened['end']}[ \t]*(?=\n|\Z)").search(command, max(start, 0))
        # Looking further could take as many searches as the text has such signs.
        if start < 0 or end is None:
            break
        at = end.end()
        found.append((start, at))
    return found


def _cut_messages(command: str) -> str:
    """Keep only the first line of a long message, such as that of a commit."""
    document = _HERE_DOCUMENT.search(command)
    if document and _WRITES_TEXT.search(command[: document.start()]):
        start, body, message = command[document.start() :].partition("\n")
        subject, _, rest = message.lstrip().partition("\n")
        if len(rest) <= _LONGEST_MESSAGE:
            return command
        return f"{command[: document.start()]}{start}{body}{subject} …{_find_rest(command)}"
    return QUOTED.sub(_cut_quoted, command) if "\n" in command and not document else command


def _find_rest(command: str) -> str:
    """Return the commands after the first here-document, as the end of a line."""
    documents = _find_documents(command)
    rest = command[documents[0][1] :].lstrip(")\"' \n") if documents else ""
    return f"{'' if rest[0] in '&|;' else ';'} {join_lines(rest)}" if rest else ""


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
    masked = QUOTED.sub(lambda quoted: "x" * len(quoted[0]), plain)
    ends = [n for n, sign in enumerate(masked) if sign == "\n" and masked[:n].rstrip()]
    for n in reversed(ends):
        is_open = (
            masked[:n].rstrip().endswith(("&&", "||", "|", ";", "(", "{", "then", "do", "else"))
        )
        plain = f"{plain[:n]}{' ' if is_open else '; '}{plain[n + 1 :].lstrip()}"
    return plain.rstrip("; \n") if ends else plain


def _is_uneven(command: str) -> bool:
    return command.startswith(" ") or command.endswith(" ") or "  " in command


def is_own_save(command: str) -> bool:
    """Return whether a command only saves the session that runs it."""
    is_save = "leftoff" in command and any(
        map(_OWN_SAVE.fullmatch, split_chain(without_cd(command)))
    )
    return is_save and not without_own(command)


def is_own_ship(command: str) -> bool:
    """Return whether a command ships the work of the session that runs it."""
    return "leftoff" in command and any(map(_OWN_SHIP.fullmatch, split_chain(without_cd(command))))


def without_own(command: str) -> str:
    """Return the command without leftoff's own parts, which say nothing about the work."""
    if "leftoff" not in command:
        return command
    parts = split_chain(without_cd(command))
    kept = [part for part in parts if not _OWN_COMMAND.fullmatch(part)]
    if len(kept) == len(parts):
        return command
    return " && ".join(part for part in kept if part and not part.startswith("cd "))


def split_chain(plain: str) -> list[str]:
    """Split a chain of commands; text in quotes and here-documents belongs to its command."""
    masked = _mask(plain)
    cuts = [0, *(at for each in _CHAIN.finditer(masked) for at in each.span()), len(plain)]
    return [plain[start:stop].strip() for start, stop in zip(cuts[::2], cuts[1::2], strict=True)]


def _mask(plain: str) -> str:
    """Hide quoted text and here-documents, which contain no commands."""
    for start, end in _find_documents(plain):
        sign = plain.rfind("<<", 0, start)
        plain = f"{plain[:sign]}xx{plain[sign + 2 : start]}{'x' * (end - start)}{plain[end:]}"
    # The end of a document may have been cut.
    body = _HERE_DOCUMENT.search(plain)
    plain = f"{plain[: body.start()]}{'x' * (len(plain) - body.start())}" if body else plain
    return QUOTED.sub(lambda quoted: "x" * len(quoted[0]), plain)


def one_line(command: str) -> str:
    """Return a command as it can be shown whole on one line; "" if it is too long for that."""
    plain = command.strip()
    # The lines of a script or of a here-document cannot be joined.
    if "\n" in plain or len(plain) > _LONGEST_SHOWN * 3:
        return ""
    short = " ".join(plain.split())
    return short if len(without_cd(short)) <= _LONGEST_SHOWN else ""


def heads_of(command: str) -> list[str]:
    """Return the first two words of a command and of those chained to it."""
    parts = split_chain(without_cd(cut(cut_documents(command, 80), 600)))
    heads = [_find_head(_SETTING.sub("", part)) for part in parts]
    named = (cut(head, 80) for head in heads if head and not _SYNTAX.match(head) and head[0] != "-")
    return list(dict.fromkeys(named))[:_MOST_HEADS_OF_ONE]


def _find_head(part: str) -> str:
    words = part.split()
    # `npm run build` says nothing about `npm run test`.
    return " ".join(words[: 3 if " ".join(words[:2]) in _RUNS_ANY else 2])


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
    parts = split_chain(cut(command, 2000)) if "mv " in command else []
    found = [move for part in parts if (move := _MOVE.fullmatch(part))]
    return [(move["old"], _place_moved(move["old"], move["new"])) for move in found]


def removals_in(command: str) -> list[str]:
    """Return the files and folders that a command deletes or moves away."""
    if "rm " not in command and "mv " not in command and "Remove-Item" not in command:
        return []
    parts = split_chain(cut(command, 2000))
    found = [remove for part in parts if (remove := _REMOVE.fullmatch(part))]
    words = [word for each in found for word in (each["paths"] or each["path"]).split()]
    plain = [word for word in (word.strip("\"'") for word in words) if _PLAIN_PATH.fullmatch(word)]
    return [*plain, *(old for old, _ in moves_in(command))]


def gone_in(command: str, output: str) -> list[str]:
    """Return the files that git reports as deleted or renamed."""
    if "git" not in command or ("status" not in command and "commit" not in command):
        return []
    found = (each.groups() for each in _STATUS_GONE.finditer(output))
    return [path for groups in found for path in groups if path]


def _place_moved(old: str, new: str) -> str:
    name = old.rsplit("/", 1)[-1]
    is_folder = new.endswith("/") or ("." in name and "." not in new.rsplit("/", 1)[-1])
    return f"{new.rstrip('/')}/{name}" if is_folder else new


def branch_in(command: str, output: str) -> str:
    """Return the branch that git says it is on after this command; "" if it says none."""
    plain = without_cd(command)
    if "git" not in plain or _ELSEWHERE.search(plain):
        return ""
    if _ASKS_BRANCH.fullmatch(plain):
        name = output.strip()
        return "" if name == "HEAD" or len(name.split()) != 1 else name
    found = list(_ON_BRANCH.finditer(output)) if _NAMES_BRANCH.search(plain) else []
    name = next(filter(None, found[-1].groups()), "") if found else ""
    return "" if name == "HEAD" else name


def is_masked(command: str) -> bool:
    """Return whether a pipe hides the command's own exit code."""
    return "|" in command.replace("||", "")


def commits(command: str) -> bool:
    """Return whether a command makes a commit, unless it fails."""
    return "commit" in command and _COMMIT.search(command) is not None


def commit_in(command: str, output: str) -> tuple[str, str] | None:
    """Return hash and subject of the last commit that this command made."""
    if not commits(command):
        return None
    made = _COMMITTED.findall(output)
    return (made[-1][0], made[-1][1].strip()) if made else None
