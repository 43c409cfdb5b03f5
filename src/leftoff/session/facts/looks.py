"""Tell commands that only show something from those that change something."""

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
_LOOK = re.compile(
    rf"(?:\w+=\S* )*(?:(?:{_LOOKS})|git (?:-C \S+ |--no-pager )*(?:{_GIT_LOOKS})|{_OTHER_LOOKS}"
    r"|\S+ (?:--version|--help|-V|-h))(?:\s.*)?",
    re.DOTALL,
)
# What turns such a program into one that changes files.
_CHANGES = re.compile(
    r"^sed\s(?:.*\s)?(?:-\w*i|--in-place)|^find\s.*\s-(?:delete|exec|ok)|^git branch\s+-[dDmMcC]"
    r"|^git (?:remote|config) (?:add|remove|set-url|rename)|^xargs\s.*\b(?:rm|mv|sed -i|tee)\b"
    r"|^git (?:-C \S+ )?branch\s+[^-\s]|^sort\s.*-o|^git reflog (?:expire|delete)",
    re.DOTALL,
)
_HARMLESS_OUTPUT = re.compile(r"\s*(?:\d?|&)>{1,2}\s*(?:/dev/null|&\d)|\s*<\s*/dev/null")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_SEPARATOR = re.compile(r"&&|\|\||[;|\n]")


def is_look(command: str) -> bool:
    """Return whether a command only reads."""
    plain = _QUOTED.sub("x", _HARMLESS_OUTPUT.sub("", command))
    if any(sign in plain for sign in (">", "`", "$(", "<(")):
        return False
    parts = [part.strip() for part in _SEPARATOR.split(plain.rstrip("& ")) if part.strip()]
    looks = [bool(_LOOK.fullmatch(part) and not _CHANGES.search(part)) for part in parts]
    return bool(looks) and all(looks)
