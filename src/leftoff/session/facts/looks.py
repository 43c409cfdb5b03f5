"""Distinguish commands that only show something, check something, or change something."""

import re

from leftoff.lazy_patterns import lazy

# Programs that only show something, whatever their arguments are.
_LOOKS = (
    "ls|ll|cat|bat|head|tail|less|more|pwd|cd|echo|printf|wc|which|type|file|stat|du|df|ps|env"
    "|date|tree|grep|egrep|rg|ag|find|fd|sort|uniq|cut|tr|nl|jq|yq|diff|cmp|xxd|hexdump|md5sum"
    "|sha256sum|basename|dirname|realpath|readlink|test|true|false|id|whoami|uname|hostname"
    "|printenv|column|awk|sed|xargs|leftoff|history|man|dir|findstr"
    "|Get-(?:Content|ChildItem|Item|ItemProperty|Location|Command|Process|Date|FileHash|Help)"
    "|(?:Select|Where|Sort|Measure|Group|Compare)-Object|Select-String|Test-Path|Resolve-Path"
    "|Format-(?:Table|List)|Out-String|Write-(?:Output|Host)"
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
_PLAIN_LOOKS = rf"(?:{_LOOKS})|git (?:-C \S+ |--no-pager )*(?:{_GIT_LOOKS})"
_PLAIN_LOOK = lazy(rf"(?:\w+=\S* )*(?:{_PLAIN_LOOKS})(?:\s.*)?", re.DOTALL)
_ANY_LOOK = (
    rf"(?:\w+=\S* )*(?:{_PLAIN_LOOKS}|{_OTHER_LOOKS}"
    r"|\S+ (?:--version|--help|-V|-h))(?:\s.*)?"
)
_LOOK = lazy(_ANY_LOOK, re.DOTALL)
_LOOK_OR_CHECK = lazy(rf"{_ANY_LOOK}|(?:\w+=\S* )*(?:{_CHECKS}|curl|sleep)(?:\s.*)?", re.DOTALL)
# Checks, builds and programs of the project: what a colleague runs again.
_RUNNERS = r"(?:(?:uv|poetry|pdm|hatch|pipenv) run |npx |bunx |bundle exec |pnpm (?:exec )?)?"
_CHECKS_MORE = (
    rf"{_RUNNERS}(?:\S*/)?(?:pytest|tox|nox|jest|vitest|mocha|ava|playwright|cypress|rspec|phpunit"
    r"|mypy|pyright|eslint|tsc|ruff|black|flake8|pylint|biome|prettier|stylelint|shellcheck"
    r"|golangci-lint|rubocop|ctest|bats|pre-commit|go vet|gofmt|clippy|swiftlint|ktlint|hadolint)"
)
_TOOLS = (
    r"make|just|task|mise|mage|rake|tox|nox|ninja|bazel|cmake|meson|mvn|\./mvnw|gradle|\./gradlew"
    r"|(?:npm|pnpm|yarn|bun) (?:run|test|start|build|t|exec)|cargo"
    r"|go (?:test|build|run|vet|generate)"
    r"|dotnet (?:test|build|run)|swift (?:test|build|run)|zig (?:test|build)|mix"
    r"|deno (?:test|task|run)"
    r"|(?:docker|podman|nerdctl)(?: compose| buildx)? (?:up|build|run)|composer (?:test|run)"
    r"|flutter"
    r"|terraform (?:plan|validate)"
    r"|vite|webpack|next (?:build|dev)|flask|uvicorn|gunicorn|streamlit|rails"
)
_SCRIPTS = (
    r"(?:\S*/)?(?:python[\d.]*|node|ruby|perl|php|bash|sh|deno|bun|tsx|ts-node)"
    r" (?:-m \w\S*|(?!-)\S+\.\w+)|\./\S+"
)
_AGAIN = lazy(
    rf"(?:\w+=\S* |timeout \S+ |time )*"
    rf"(?:{_CHECKS_MORE}|{_RUNNERS}(?:{_TOOLS}|{_SCRIPTS}))(?:\s.*)?",
    re.DOTALL,
)
_VERIFIES = lazy(
    rf"(?:\w+=\S* |timeout \S+ |time )*(?:{_CHECKS_MORE}|{_CHECKS}"
    r"|(?:make|just|task|npm|pnpm|yarn|bun|cargo|go|mvn|gradle|\./gradlew|dotnet|swift|mix|zig|deno)"
    r"(?: run)? \S*(?:test|check|lint|build|type|compile|ci|clippy|vet|verify)\S*"
    r"|(?:\S*/)?python[\d.]* (?:-m (?:pytest|unittest|compileall)|\S*test\S*\.py)"
    r"|(?:bash |sh )?\S*(?:test|check|lint|build)\S*\.sh)(?:\s.*)?",
    re.DOTALL,
)
_DELIVERS = lazy(
    r"git (?:-C \S+ )?(?:commit|push|merge|rebase|tag|cherry-pick)(?![\w-]).*", re.DOTALL
)
_SETS_UP = lazy(
    rf"{_RUNNERS}(?:(?:npm|pnpm|yarn|bun) (?:ci|i|install|add)|(?:pip3?|uv pip) install"
    r"|uv (?:sync|add)|git pull|kubectl apply|docker-compose (?:up|build)|golangci-lint)\b.*",
    re.DOTALL,
)
_DESTROYS = lazy(
    r"(?:sudo )?(?:rm|rmdir|shred|dd|mkfs\S*|kill|pkill|killall|truncate|dropdb)\b"
    r"|git (?:-C \S+ )?(?:reset|clean|restore|stash|rebase|filter-branch|reflog|gc|update-ref"
    r"|checkout (?:--|\.|-f)|branch -[dD]|push .*(?:--force|-f\b|--delete)|worktree remove)"
    r"|docker (?:system|volume|image|container) (?:prune|rm)|docker (?:rm|rmi)|kubectl delete"
    r"|find .* -delete|terraform (?:destroy|apply)|.*\b(?:DROP|TRUNCATE|DELETE FROM)\b",
    re.DOTALL,
)
# What a check is about, and the language it is for; `make` may run any.
_KINDS = lazy(
    r"(?<![\w./-])(?:(?P<test>tests?(?::(?:unit|ci|run|all))?|pytest|jest|vitest|mocha|rspec"
    r"|phpunit|tox|nox|unittest|ctest|verify"
    r"|(?:(?<=make )|(?<=just )|(?<=gradle )|(?<=gradlew ))check)"
    r"|(?P<build>build|compile|assemble|bundle|(?<=cargo )check)"
    r"|(?P<types>tsc|mypy|pyright|type-?check)"
    r"|(?P<lint>lint|eslint|ruff|flake8|pylint|clippy|golangci-lint|biome|prettier|black|rubocop|vet)"
    r"|(?P<install>ci|install|sync))(?![\w./:])"
)
_LANGUAGES = lazy(
    r"\b(?:(?P<javascript>npm|pnpm|yarn|bunx?|npx|jest|vitest|mocha|eslint|tsc|biome|prettier|node)"
    r"|(?P<python>pytest|python3?|uvx?|pip3?|poetry|pdm|hatch|tox|nox|mypy|pyright|ruff|flake8"
    r"|pylint|black)"
    r"|(?P<rust>cargo)|(?P<go>go|golangci-lint)|(?P<java>mvnw?|gradlew?)|(?P<net>dotnet)"
    r"|(?P<ruby>bundle|rspec|rubocop|rake)|(?P<php>composer|phpunit)|(?P<swift>swift)|(?P<zig>zig))\b"
)
_ANY_LANGUAGE = lazy(r"(?:make|just|task|mise|turbo|nx|bazel)\b")
# What a success shows besides: tests of compiled languages build, builds check the types.
_IMPLIED = {
    "rust": {"test": {"build"}},
    "go": {"test": {"build"}},
    "java": {"test": {"build"}, "build": {"test"}},
    "net": {"test": {"build"}},
    "swift": {"test": {"build"}},
    "zig": {"test": {"build"}},
    "javascript": {"build": {"types"}},
}
# What turns such a program into one that changes files.
_CHANGES = lazy(
    r"^sed\s(?:.*\s)?(?:-\w*i|--in-place)|^find\s.*\s-(?:delete|exec|ok)|^git branch\s+-[dDmMcC]"
    r"|^git (?:remote|config) (?:add|remove|set-url|rename)|^xargs\s.*\b(?:rm|mv|sed -i|tee)\b"
    r"|^git (?:-C \S+ )?branch\s+[^-\s]|^sort\s.*-o|^git reflog (?:expire|delete)|\s--fix\b"
    r"|^curl(?:\s.*)?\s(?:-[a-zA-Z]*[XdFTo]|--(?:request|data|form|upload-file|output|json))"
    r"|--snapshot-update|\s--?u(?:pdate)?(?:Snapshot)?\b",
    re.DOTALL,
)
_HARMLESS_OUTPUT = lazy(r"\s*(?:\d?|&)>{1,2}\s*(?:/dev/null|&\d)|\s*<\s*/dev/null")
_QUOTED = lazy(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_SEPARATOR = lazy(r"&&|\|\||[;|\n]")
# `pnpm --filter web test` and `make -C docs html` say where before they say what.
_OPTIONS = lazy(
    r"^(npm|pnpm|yarn|bun|make|just|task|cargo|go|dotnet|mvn|gradle|\./gradlew|turbo|nx|deno|uv)"
    r"(?: workspaces? [\w@./-]+| (?:-[CFwpf]|--(?:filter|prefix|workspace|cwd|dir|directory|package"
    r"|project|manifest-path|file))[= ]\S+| --?[\w-]+(?:=\S+)?)+(?= [a-z])"
)


def is_look(command: str) -> bool:
    """Return whether a command only reads."""
    return _consists_of(command, _LOOK)


def is_plain_look(command: str) -> bool:
    """Return whether a command only reads files or git, so that its output is what it read."""
    return _consists_of(command, _PLAIN_LOOK)


def is_look_or_check(command: str) -> bool:
    """Return whether a command changes no work: it only reads, or runs tests and checks."""
    return _consists_of(command, _LOOK_OR_CHECK)


def is_check(command: str) -> bool:
    """Return whether a command runs tests, a build or another check of the work."""
    return any(map(_VERIFIES.fullmatch, _split(command)))


def list_checks(command: str) -> set[tuple[str, str]]:
    """Return what a command checks: each language, "" for any, with the kind of check."""
    found: set[tuple[str, str]] = set()
    for part in _split(command):
        languages = {each.lastgroup or "" for each in _LANGUAGES.finditer(part)}
        kinds = {each.lastgroup or "" for each in _KINDS.finditer(part)}
        if _ANY_LANGUAGE.match(part):
            languages = {""}
        found |= {
            (language, kind)
            for language in languages
            for known in kinds
            for kind in {known, *_IMPLIED.get(language, {}).get(known, ())}
        }
    return found


def is_delivery(command: str) -> bool:
    """Return whether a command commits or publishes the work."""
    return any(map(_DELIVERS.fullmatch, _split(command)))


def destroys(command: str) -> bool:
    """Return whether a command deletes or discards something."""
    return any(map(_DESTROYS.match, _split(command)))


def is_run_again(command: str) -> bool:
    """Return whether a colleague would run a command again: a check, a build, the program."""
    parts = [part for part in _split(command) if not _LOOK.fullmatch(part)]
    return bool(parts) and all(map(_AGAIN.fullmatch, parts)) and not destroys(command)


def runs_part(command: str) -> bool:
    """Return whether a part of a command checks, builds, sets up, starts or delivers a project."""
    parts = _split(command)
    found = (_AGAIN.fullmatch(part) or _SETS_UP.fullmatch(part) for part in parts)
    return len(parts) > 1 and (any(found) or is_delivery(command))


def _split(command: str) -> list[str]:
    plain = _QUOTED.sub("x", _HARMLESS_OUTPUT.sub("", command))
    parts = [part.strip() for part in _SEPARATOR.split(plain.rstrip("& "))]
    return [_OPTIONS.sub(r"\1", part) for part in parts if part]


def _consists_of(command: str, pattern: re.Pattern[str]) -> bool:
    plain = _QUOTED.sub("x", _HARMLESS_OUTPUT.sub("", command))
    if any(sign in plain for sign in (">", "`", "$(", "<(")):
        return False
    parts = _split(command)
    looks = [bool(pattern.fullmatch(part) and not _CHANGES.search(part)) for part in parts]
    return bool(looks) and all(looks)
