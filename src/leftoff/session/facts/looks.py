"""Distinguish commands that only show something from those that change something."""

import re

# Programs that only show something, whatever their arguments are.
_LOOKS = (
    "ls|ll|cat|bat|head|tail|less|more|pwd|cd|echo|printf|wc|which|type|file|stat|du|df|ps|env"
    "|date|tree|grep|egrep|rg|ag|find|fd|sort|uniq|cut|tr|nl|jq|yq|diff|cmp|xxd|hexdump|md5sum"
    "|sha256sum|basename|dirname|realpath|readlink|test|true|false|id|whoami|uname|hostname"
    "|printenv|column|awk|sed|xargs|leftoff|history|man"
)
_GIT_LOOKS = (
    "status|log|diff|show|branch|blame|remote|rev-parse|rev-list|ls-files|ls-tree|describe"
    "|shortlog|reflog|grep|config --get|cat-file|merge-base|worktree list|stash list|tag -l"
)
_OTHER_LOOKS = r"(?:npm|pnpm|yarn|pip|pip3|uv|cargo|go|gh|docker|brew|apt) (?:ls|list|show|info|view|outdated|help|version|pr view|pr list|issue view|ps|images|logs)"  # noqa: E501 - one pattern
# Checks show whether the work is right, and change none of it.
_TASKS = "test|tests|check|lint|typecheck"
_CHECKS = (
    rf"(?:npx |bunx |uv run |poetry run )?(?:pytest|tox|nox|jest|vitest|mypy|pyright|eslint)"
    rf"|(?:python3?|\S*/python3?) -m (?:pytest|unittest|mypy)"
    rf"|(?:npm|pnpm|yarn|bun|make|just|task|mise|mvn|gradle|\./gradlew) (?:run )?(?:{_TASKS})"
    rf"|(?:cargo|go|deno|dotnet|swift|mix|zig) (?:test|check|vet|clippy)"
    r"|npx tsc --noEmit|ruff check"
)
_LOOK = re.compile(
    rf"(?:\w+=\S* )*(?:(?:{_LOOKS})|git (?:-C \S+ |--no-pager )*(?:{_GIT_LOOKS})|{_OTHER_LOOKS}"
    r"|\S+ (?:--version|--help|-V|-h))(?:\s.*)?",
    re.DOTALL,
)
_LOOK_OR_CHECK = re.compile(
    rf"{_LOOK.pattern}|(?:\w+=\S* )*(?:{_CHECKS}|curl|sleep)(?:\s.*)?", re.DOTALL
)
# What turns such a program into one that changes files.
_CHANGES = re.compile(
    r"^sed\s(?:.*\s)?(?:-\w*i|--in-place)|^find\s.*\s-(?:delete|exec|ok)|^git branch\s+-[dDmMcC]"
    r"|^git (?:remote|config) (?:add|remove|set-url|rename)|^xargs\s.*\b(?:rm|mv|sed -i|tee)\b"
    r"|^git (?:-C \S+ )?branch\s+[^-\s]|^sort\s.*-o|^git reflog (?:expire|delete)|\s--fix\b"
    r"|^curl(?:\s.*)?\s(?:-[a-zA-Z]*[XdFTo]|--(?:request|data|form|upload-file|output|json))"
    r"|--snapshot-update|\s--?u(?:pdate)?(?:Snapshot)?\b",
    re.DOTALL,
)
_HARMLESS_OUTPUT = re.compile(r"\s*(?:\d?|&)>{1,2}\s*(?:/dev/null|&\d)|\s*<\s*/dev/null")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_SEPARATOR = re.compile(r"&&|\|\||[;|\n]")


def is_look(command: str) -> bool:
    """Return whether a command only reads."""
    return _consists_of(command, _LOOK)


def is_look_or_check(command: str) -> bool:
    """Return whether a command changes no work: it only reads, or runs tests and checks."""
    return _consists_of(command, _LOOK_OR_CHECK)


def _consists_of(command: str, pattern: re.Pattern[str]) -> bool:
    plain = _QUOTED.sub("x", _HARMLESS_OUTPUT.sub("", command))
    if any(sign in plain for sign in (">", "`", "$(", "<(")):
        return False
    parts = [part.strip() for part in _SEPARATOR.split(plain.rstrip("& ")) if part.strip()]
    looks = [bool(pattern.fullmatch(part) and not _CHANGES.search(part)) for part in parts]
    return bool(looks) and all(looks)
