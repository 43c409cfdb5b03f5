"""Decide whether a command that succeeded repairs one that failed."""

import functools

from leftoff.digests import blake2b
from leftoff.lazy_patterns import lazy
from leftoff.session.facts import written_paths
from leftoff.session.facts.looks import is_check, list_checks
from leftoff.session.facts.shell_commands import (
    QUOTED,
    commits,
    folder_of,
    split_chain,
    without_cd,
)

_TRIMMINGS = lazy(r"\s*(?:2>&1|\|\s*(?:tail|head)(?:\s+-\S+|\s+\d+)*|\|\|\s*true)\s*")
_GIT = lazy(r"(?:\w+ )?git\b")
_MAY_CONFLICT = lazy(r"\bgit\b[^\n;&|]*?\s(?P<verb>rebase|merge|cherry-pick|revert|am|pull)\b")
_GOES_ON = lazy(
    r"\bgit\b[^\n;&|]*?\s(?P<verb>rebase|merge|cherry-pick|revert|am) --(?:continue|skip)\b"
)
# Options that select some of the tests; a run without them includes those.
_FILTER = lazy(
    r"\s--?(?:run|k|t|g|p|grep|filter|testNamePattern|count|timeout)(?:\s+|=)(?:\"[^\"]*\"|'[^']*'|\S+)"
)
_MOVES_COMMITS = lazy(r"\bgit\b[^\n;&|]*?\s(push|pull)\b(?![^\n;&|]*\s--(?:dry-run|tags|delete)\b)")
_SKIPS_HOOKS = lazy(r"\bcommit\b[^\n;&|]*\s(?:--no-verify|-\w*n\w*)\b")
_REDIRECTION = lazy(r"\s(?:\d?|&)>{1,2}\s*(?:&\d|\S+)")
_SHORTEST_NAME = 5
# What runs a program for others: `python -m pytest` and `uv run pytest` are both pytest.
_RUNNER = lazy(
    r"(?:(?:uv|poetry|pdm|hatch|pipenv|rye) run|npx|pnpx|bunx|pnpm (?:exec|dlx)|yarn dlx"
    r"|(?:\S*/)?python[\d.]*(?: -[A-Za-z]+)*? -m|bundle exec|time|sudo|env|timeout \S+|nice"
    r"|xvfb-run|(?:[A-Z_][A-Z0-9_]*=\S*))\s+"
)
# Programs whose first arguments say what they do.
_SUBCOMMANDS = frozenset(
    "git make just task npm pnpm yarn bun cargo go deno dotnet mvn gradle gradlew docker mix swift"
    " mise turbo nx zig rake tox nox invoke composer".split()
)


def key_of(command: str) -> str:
    """Return a short key that ignores unimportant differences between commands."""
    return _digest(_plain(command))


def list_repaired_keys(command: str) -> set[str]:
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
    return blake2b(plain.encode("utf-8", "replace"), digest_size=8).hexdigest()


def covers(command: str, failed: str, error: str = "") -> bool:
    """Return whether a success of a command shows that a failed check would succeed as well.

    It ran the same program on all that failed, or on what the error names.
    """
    if not is_within(failed, command) or _selects_less(command, failed):
        return False
    tried = split_chain(_FILTER.sub(" ", without_cd(failed)))
    checks = [_find_run(part) for part in tried if is_check(part)]
    ran = [_find_run(part) for part in split_chain(without_cd(command))]
    return bool(checks) and all(
        any(name == program and _includes(given, targets, error) for name, given in ran)
        for program, targets in checks
    )


def may_cover(command: str, failed: str) -> bool:
    """Return whether a success likely includes a failed check, although it is another command.

    `npm test` likely includes `npx jest a.test.ts`, and `cargo test` includes `cargo build`.
    """
    wanted = list_checks(without_cd(failed))
    if not wanted or not is_within(failed, command) or _selects_less(command, failed):
        return False
    ran = list_checks(without_cd(command))
    if not all({check, ("", check[1])} & ran for check in wanted):
        return False
    parts = [_find_run(part) for part in split_chain(without_cd(command))]
    tried = [_find_run(part) for part in split_chain(_FILTER.sub(" ", without_cd(failed)))]
    # The same program on something else, or a program on some files only, shows nothing.
    return all(
        _includes_all(given) or not (given and set(given) != set(targets))
        for name, given in parts
        for other, targets in tried
        if name == other or any("." in each or "/" in each for each in given)
    )


def _selects_less(command: str, failed: str) -> bool:
    """Return whether a command runs only tests that it selects otherwise than the failed one."""
    return not set(_FILTER.findall(command)) <= set(_FILTER.findall(failed))


def pushes_again(command: str, failed: str) -> bool:
    """Return whether a command pushes or pulls what a failed one could not."""
    verbs = [{found[1] for found in _MOVES_COMMITS.finditer(each)} for each in (command, failed)]
    return bool(verbs[1]) and verbs[1] <= verbs[0] and is_within(failed, command)


def commits_again(command: str, failed: str) -> bool:
    """Return whether a command makes the commit that failed; a skipped hook repairs nothing."""
    if not (commits(command) and commits(failed)) or _SKIPS_HOOKS.search(command):
        return False
    parts = split_chain(without_cd(failed))
    return is_within(failed, command) and all(map(_GIT.match, parts))


def concludes(command: str, failed: str, error: str) -> bool:
    """Return whether a command ends what a conflict interrupted, such as a rebase."""
    done = {found["verb"] for found in _GOES_ON.finditer(command)}
    if commits(command):
        done |= {"merge", "revert", "cherry-pick"}
    # A pull merges or rebases.
    if done and "onflict" in error.replace("CONFLICT", "conflict"):
        begun = {found["verb"] for found in _MAY_CONFLICT.finditer(failed)}
        return bool(begun) and begun <= {*done, "pull"} and is_within(failed, command)
    return False


def is_within(failed: str, command: str) -> bool:
    """Return whether a placed command ran where another one failed, or in a folder above it."""
    folder, above = folder_of(failed), folder_of(command)
    return not (folder and above) or written_paths.is_under(folder, above)


def _includes_all(given: tuple[str, ...]) -> bool:
    return not given or bool({".", "./", "./...", "..."} & set(given))


def _includes(given: tuple[str, ...], targets: tuple[str, ...], error: str) -> bool:
    if _includes_all(given):
        return True
    folders = [each.removesuffix("...").rstrip("/") for each in given]
    starts = tuple(f"{each}{end}" for each in folders for end in ("/", "::"))
    if targets and all(each in given or each.startswith(starts) for each in targets):
        return True
    files = [name for each in given if "." in (name := each.partition("::")[0])]
    return any(len(name) >= _SHORTEST_NAME and name in error for name in files)


@functools.lru_cache(maxsize=256)
def _find_run(part: str) -> tuple[str, tuple[str, ...]]:
    """Return the program that a command runs, and what it is run on."""
    masked = QUOTED.sub(lambda quoted: "x" * len(quoted[0]), part)
    end = masked.find("|")
    plain = _REDIRECTION.sub(" ", part[:end] if end >= 0 else part).strip()
    while found := _RUNNER.match(plain):
        plain = plain[found.end() :]
    name, *words = plain.split() or [""]
    name = name.rsplit("/", 1)[-1]
    given = [word for word in words if not word.startswith("-") and not word.isdigit()]
    if name in _SUBCOMMANDS and given:
        verb = given.pop(0)
        name = f"{name} {verb}"
        if verb in {"run", "compose"} and given:
            name = f"{name} {given.pop(0)}"
    return name, tuple(given)
