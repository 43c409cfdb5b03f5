"""Explain from its output why a command failed, and see a failure that its exit code hides."""

import itertools
import re
from typing import NamedTuple

from leftoff.checkpoint import COMPLETED
from leftoff.lazy_patterns import lazy
from leftoff.session.facts.excerpts import shorten
from leftoff.session.facts.looks import is_plain_look, runs_part
from leftoff.session.facts.shell_commands import is_search

_STRONG = lazy(
    r"error|\bfail(?:ed|ure|ing|s)?\b|exception|traceback|\bpanic(?:ked)?\b|\bfatal\b|❌|✗|✘"
    r"|\[E\]$|^● (?!Console)",
    re.IGNORECASE,
)
_EXIT = lazy(r"\bexit(?:ed)? (?:with )?(?:code|status)\b", re.IGNORECASE)
_COLOUR = lazy(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\]8;;[^\x1b\x07]*(?:\x1b\\|\x07))")
_TIMEOUT = lazy(r"\btime(?:d )?out\b", re.IGNORECASE)
_WEAK = lazy(
    r"refus|denied|not found|no such|cannot|can't|could not|unable|invalid|undefined|unknown"
    r"|unexpected|missing|conflict|abort|timed out|not recognized|killed|warning:",
    re.IGNORECASE,
)
# "0 errors", and the name of a test that passed.
_NO_ERRORS = lazy(
    r"\b(?:0|no) (?:errors?|fail(?:ed|ures?)?)\b|^\s*(?:\(pass\)|[✓✔√]|PASS(?:ED)?\b|ok\b)"
    r"|\bPASSED\s*(?:\[|$)|\.\.\. ok$",
    re.IGNORECASE,
)
# The source around an error, with line numbers, as many checks quote it.
_QUOTED_CODE = lazy(r"^\W*\d+ ?[|│]")
_FAILED_TEST = lazy(r"(?:\(fail\)|[✗✘]|(?:--- )?FAIL(?:ED)?:?) \S")
# Bun and npm print each command of a script before they run it.
_STEP = lazy(r"\$ [\w./@-]+ |> \S+@\S+ [\w:.-]+$")
_MISUSED = lazy(
    r"\b(?:unknown|unrecognized|unexpected|invalid|no such|bad) (?:\w+ )?(?:flags?|options?"
    r"|arguments?|shorthand|subcommands?)\b|\bis not a (?:git )?command\b",
    re.IGNORECASE,
)
_LINE_CHARS = 180
_TAIL_CHARS = 1500
_SUMMARY_CHARS = 4000
_FILE_LINE = r"(?:[A-Za-z]:)?[\w@./\\+-]+\.[A-Za-z]\w{0,7}(?::\d+(?::\d+)?|:?[(\[]\d+(?:,\d+)?[)\]]"
# Programs that run others put the name of the task before each line: `[lint:go] a.go:3: …`.
_LOCATED = lazy(
    rf"^(?:\[[\w:./@-]+\] |[\w@./-]+:[\w-]+: )?(?:\W*(?:error|warning)\W+)?{_FILE_LINE}|\s+\S+\s+━)"
    r"|^at [\w@./\\+-]+\.\w+(?::\d+)* \S+(?: +[A-Z]+)? +━"
    # Formatters name the files that they would change.
    r"|^(?:\[warn\]|[Ww]ould reformat:?) \S+\.\w+$"
)


class _PlaceForm(NamedTuple):
    """How some languages name a place, on a line apart from what is wrong there."""

    pattern: re.Pattern[str]
    is_last: bool = False
    """Whether the last such line is the place of the error, and not the first."""


_PLACE_START = rf"(?:(?:-->|❯|#|[Aa]t(?: .*?)??) ?)?\(?(?:file://)?(?P<place>{_FILE_LINE}))\)?:?"
_PLACE_FORMS = (
    # Rust, Vitest, JavaScript, Go, Ruby and PowerShell.
    _PlaceForm(lazy(rf"{_PLACE_START}(?: \{{| \+0x\w+| char:\d+|in .*)?$")),
    # Stacks that name the function behind the place: `app.py:3 in main`.
    _PlaceForm(lazy(rf"{_PLACE_START}(?: 0x\w+)? in \S.*$"), is_last=True),
    # Python.
    _PlaceForm(lazy(r"File \"(?P<file>[^\"<>]+)\", line (?P<line>\d+)\b"), is_last=True),
    # Terraform.
    _PlaceForm(lazy(r"\W*on (?P<file>[\w./-]+) line (?P<line>\d+)\b")),
)
# How unittest, Go, Jest, RSpec, PHPUnit, Mocha, Node, pytest and Vitest begin what they say of one
# failed test.
_FAILURE = lazy(
    r"(?:FAIL|ERROR): \w+ \(|--- FAIL: \S|● (?!Console)|\d+\) \S|_{3,} .+ _{3,}$"
    # With its duration: other tools begin the name of a failed step in the same way.
    r"|[✖✗✘×] .+ \(?[\d.]+ ?m?s\)?$"
    r"|FAIL +\S+ > "
)
_CALLED_AT = lazy(r"at \S.*:\d+\)?(?: \{)?$")
_FOREIGN = lazy(
    r"node_modules|node:|site-packages|/lib/python|\.cargo/|/rustc/|<frozen|https?://"
    r"|/usr/(?:local/)?(?:lib|go|share)/|/go/pkg/mod/"
)
# What rustc and Ruff say stands above the place, and what a thread of Rust says below it.
_ARROW = lazy(rf"^--> (?P<place>{_FILE_LINE}))$")
_PANIC = lazy(rf"^thread .*? panicked at (?:'(?P<said>.*)', )?(?P<place>{_FILE_LINE})):?$")
# ESLint names a file once, above its problems.
_FILE_ALONE = lazy(r"(?:[A-Za-z]:)?[\w@./\\+-]+\.[A-Za-z]\w{0,7}")
_IN_FILE = lazy(r"\d+:\d+\s+(?:error|warning)\s+\S")
_BARE_TYPE = lazy(r"[\w.]*(?:Error|Exception)")
_WANTED = lazy(r"(?:expected|left|want)\b[^:]{0,20}:\s*\S", re.IGNORECASE)
_GOT = lazy(r"(?:received|actual|got|right|but was)\b[^:]{0,20}:\s*\S", re.IGNORECASE)
# Advice, and what only frames an error.
_ASIDE = lazy(
    r"(?:npm (?:error|ERR!) )?A complete log of this run |hint: |\[notice\] |For more information"
    r"|note: run with |\[\*\] \d+ fixable|Node\.js v\d|\+ (?:CategoryInfo|FullyQualifiedErrorId)\b"
    r"|The above exception was the|During handling of the above"
)
# What names the cause, and what only counts or repeats that something failed.
_CAUSE = lazy(
    r"^\W*(?:E\s+)?(?:[\w.]*(?:Error|Exception|Violation)\b.{0,40}?: |error(?:\[\w+\])?: |fatal: "
    r"|panic: |CONFLICT \(|! \[(?:remote )?rejected\])"
)
_COUNTS = lazy(
    r"(?<!port )\b\d+ (?:tests? )?(?:failed|failing|failures?|errors?\b|error\(s\)|problems?)"
    r"|^error: (?:could not compile|failed to push|process didn't|test failed)"
    r"|^FAILED \(|\bfailures: [1-9]|^(?:\W|INFO)*build fail(?:ed|ure)"
    r"|^g?make(?:\[\d+\])?: \*\*\* |\btest suite failed to run|^npm (?:ERR!|error)|^FAIL\b"
    r"|^(?:ELIFECYCLE|error Command failed)|\bexit(?:ed)?(?: with)? (?:status|code)\b",
    re.IGNORECASE,
)
_MARKER = lazy(
    r"^\W*(?:error|errors|failed|failure|fail|traceback.*)?\W*$|^\w+ ━+$|^% Total\b|^Dload\s"
    r"|^(?:[\d.:kMG-]+\s+){6,}",
    re.IGNORECASE,
)
# What checks and builds print when they fail, whatever exit code a pipe leaves.
_FAILED_CHECK = lazy(
    r"^\s*(?:FAILED|ERROR) \S+(?:::| - )|\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?)\b"
    r"|^\s*(?:-+ )?FAIL(?::|\s|$)|^npm (?:ERR!|error) |\berror(?:\[E\d{4}\]| [A-Z]{2,6}\d+): "
    r"|^error: could not compile|^make(?:\[\d+\])?: \*\*\* |\bBUILD FAIL(?:ED|URE)\b|^fatal: "
    r"|^\S+\.go:\d+:\d+: \S|^\s*[1-9]\d* fail$|^\[ERROR\] Failed |^ERROR: failed to (?:solve|build)"
    r"|^│ Error: |^error: failed to push|^ ! \[(?:remote )?rejected\]|^CONFLICT \("
    r"|^ERROR: (?:No matching distribution|Could not find a version)"
    r"|^Error (?:from server|response from daemon)\b"
    r"|^Found [1-9]\d* errors?\b(?!.*\b0 remaining)|\([1-9]\d* errors?, "
    r"|\b[1-9]\d* errors? (?:in|during|generated|found)\b"
    r"|^[^\s:]+:\d+:(?:\d+:)? (?:fatal )?error: |^\w*(?:Error|Exception): .+\s*\Z",
    re.MULTILINE,
)
# `rg: a.toml: No such file or directory`, `(eval):1: no matches found: b*`, `fatal: bad object c`
_COMPLAINT = lazy(
    r"(?:(?P<sure>\(eval\)|(?:\S*/)?(?:ba|z|da)?sh|fatal|error|parse error)"
    r"|(?:\S*/)?(?P<name>[\w-]+))"
    r"(?::? ?(?:line )?\d+)* ?: \S.*"
)
# A commit that found nothing to do left nothing undone.
_HARMLESS = lazy(
    r"^(?:nothing to commit|nothing added to commit|no changes added|Already up to date)",
    re.MULTILINE,
)
# The exit code of a shell that does not find the program.
_NO_PROGRAM = 127
# Claude Code, Gemini CLI, opencode and Codex.
_UNKNOWN_TOOL = lazy(
    r"\s*(?:<tool_use_error>)?(?:Error: )?(?:No such tool available: |Tool \"[\w.:-]+\" not found\."
    r"|Model tried to call unavailable tool |unsupported (?:custom tool )?call: )"
)
_NOT_FOUND = lazy(
    r"(?:^|[\s:])([^\s:]+): (?:command )?not found\b"
    r"|\b(?:command not found|no such file or directory): (\S+)$"
    r"|^'?([^\s':]+)'?(?: ?:.*)? is not recognized as "
    r"|\bMissing script: \W?([\w:.-]+)|No rule to make target \W([^'`]+)",
    re.MULTILINE,
)
_MOST_ERROR_LINES = 3


def without_colours(output: str) -> str:
    """Return an output without the codes that colour it on a terminal."""
    return _COLOUR.sub("", output) if "\x1b" in output else output


def pick_error_lines(output: str, *, is_search: bool = False) -> str:
    """Return the few lines of a failed command's output that explain the failure.

    The results of a search look like places of errors, but are not.
    """
    lines = _list_lines(output)
    if not lines:
        return ""
    if (last := _find_last_step(lines)) is not lines:
        # The steps before it succeeded; what they print may still look like an error.
        of_step = pick_error_lines("\n".join(last), is_search=is_search).splitlines()
        return "\n".join([*of_step[:2], *filter(_is_strong, lines)][:_MOST_ERROR_LINES])
    if (one := _find_failure(lines)) is not lines:
        return _pick_of_test(one, lines)
    # The calls that led there only say where it is.
    said = [
        line for line in lines if not _CALLED_AT.match(line) and not _QUOTED_CODE.match(line)
    ] or lines
    strong = [line for line in said if _is_strong(line)]
    weak = [line for line in said if _WEAK.search(line)]
    causes = [line for line in said if _CAUSE.search(line) and not _COUNTS.search(line)]
    specific = [line for line in strong if not _COUNTS.search(line)]
    first = [*causes, *specific, *weak, *strong][:1]
    bare = [] if is_search else [without_colours(line).strip() for line in lines]
    located = sorted([*_list_located(bare), *_list_pointed(bare)], key=_is_not_strong)
    longest = _LINE_CHARS
    if not located and first and (place := _find_place(bare, lines.index(first[0]))):
        located, first = [f"{place}: {first[0].lstrip('│').removeprefix('E  ').lstrip()}"], []
        # The path of a worktree must not cost the message.
        longest += len(place)
    # The first error is often the cause, the last one the summary, which only counts.
    failed = [line for line in strong if _FAILED_TEST.match(line)]
    compared = _list_compared(bare)
    found = [*strong[:1], *compared[:1], *failed[:1], *strong[-1:], *weak[:1], said[-1]]
    picked = [*located[:1], *first, *found]
    if not strong and not weak:
        # A shell's own complaint comes last.
        picked.append(lines[0])
    return _join_different([_with_next(line, lines) for line in picked], longest)


def _pick_of_test(one: list[str], lines: list[str]) -> str:
    """Return what explains one failed test: the message of another has nothing to do with it."""
    reason, *more = pick_error_lines("\n".join(one)).splitlines()
    title = one[0].partition(" (")[0]
    words = {word.strip("_") for word in re.findall(r"\w{4,}", title)} - {"", "FAIL", "ERROR"}
    named = [
        line for line in lines if _FAILED_TEST.match(line) and any(word in line for word in words)
    ]
    counts = [line for line in lines if _COUNTS.search(line)]
    return _join_different([reason, *named[:1], *more[:1], *counts[-1:]], len(reason))


def _list_lines(output: str) -> list[str]:
    """Return the lines that may say something, each problem of a file with the file's name."""
    lines = [line for raw in output.splitlines() if len(line := raw.strip()) > 1]
    # A rule or a bare "Error" says nothing; some commands print nothing else.
    lines = [line for line in lines if not _MARKER.match(line)] or lines
    lines = [line for line in lines if not _ASIDE.match(line)] or lines
    named, file = [], ""
    for line in lines:
        is_in_file = file and _IN_FILE.match(line)
        named.append(f"{file}:{' '.join(line.split())}" if is_in_file else line)
        file = line if _FILE_ALONE.fullmatch(line) else file
    return named


def _list_located(lines: list[str]) -> list[str]:
    """Return the lines that begin with a place in the project and say what is wrong there."""
    found, said = [], ""
    for before, line in itertools.pairwise(["", *lines]):
        if line.startswith("E  ") and not before.startswith("E  "):
            said = line[1:].lstrip()
        if _LOCATED.match(line) and not _match_place(line) and not _FOREIGN.search(line):
            place, _, name = line.rpartition(": ")
            # Below the code of a test, pytest names only the type of the error.
            full = f"{place}: {said}" if said and _BARE_TYPE.fullmatch(name) else line
            found.append(full.removeprefix("at ").rstrip(" ━"))
    return found


def _list_pointed(lines: list[str]) -> list[str]:
    """Return what was said above or below a place, each with the place before it."""
    found = []
    for before, line, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        if (arrow := _ARROW.match(line)) and before:
            found.append(f"{arrow['place']}: {before}")
        elif panic := _PANIC.match(line):
            found.append(f"{panic['place']}: {panic['said'] or after or 'panicked'}")
    return [line for line in found if not _FOREIGN.search(line)]


def _list_compared(lines: list[str]) -> list[str]:
    """Return each pair of what a test expected and what it got."""
    return [
        f"{one} {other}"
        for one, other in itertools.pairwise(lines)
        if _WANTED.match(one) and _GOT.match(other)
    ]


def _join_different(picked: list[str], longest: int) -> str:
    """Join the first few lines that say something new; `longest` limits the first one."""
    unique: list[str] = []
    for n, each in enumerate(picked):
        line = shorten(each, _LINE_CHARS if n else longest)
        if not any(line.lstrip("→×✗✘│E ") in known for known in unique):
            unique.append(line)
    return "\n".join(unique[:_MOST_ERROR_LINES])


def _find_last_step(lines: list[str]) -> list[str]:
    """Return what the last command of a script printed, if that explains the failure."""
    steps = [n for n, line in enumerate(lines) if _STEP.match(line)]
    last = lines[steps[-1] + 1 :] if steps and steps[-1] else []
    return last if any(_is_strong(line) or _LOCATED.match(line) for line in last) else lines


def _find_failure(lines: list[str]) -> list[str]:
    """Return what is said of the first of several failed tests, if that names its place."""
    starts = [n for n, line in enumerate(lines) if _FAILURE.match(without_colours(line).strip())]
    for start, end in itertools.pairwise([*starts, len(lines)] if len(starts) > 1 else []):
        one = lines[start:end]
        if any(_match_place(line) or _LOCATED.match(line) for line in map(without_colours, one)):
            return one
    return lines


def _find_place(lines: list[str], said_at: int) -> str:
    """Return the file and line that an error names apart from its message, given where that is."""
    places = [(n, *each) for n, line in enumerate(lines) if (each := _match_place(line))]
    found = [each for each in places if not _FOREIGN.search(lines[each[0]])]
    if not found:
        return ""
    last = [place for _, place, form in found if form.is_last]
    if not found[-1][2].is_last:
        return found[0][1]
    # The frames of an error are above it; those below are of the next one in the chain.
    above = [place for n, place, form in found if form.is_last and n < said_at]
    return (above or last)[-1]


def _match_place(line: str) -> tuple[str, _PlaceForm] | None:
    """Return the place that a line names, and how."""
    for form in _PLACE_FORMS:
        if match := form.pattern.match(line):
            named = match.groupdict()
            return named.get("place") or f"{named['file']}:{named['line']}", form
    return None


def explain_failure(output: str, exit_code: int | None, command: str = "") -> str:
    """Return why a command failed; the exit code, if its output does not look like an error."""
    if is_plain_look(command) and (exit_code or list_complaints(output, command)):
        return _explain_look(output, exit_code, command)
    reason = pick_error_lines(output, is_search=is_search(command))
    looks_like_one = any(find.search(reason) for find in (_STRONG, _WEAK, _TIMEOUT, _EXIT))
    if not exit_code or looks_like_one or any(map(_LOCATED.match, reason.splitlines())):
        return reason
    return _add_code(reason, exit_code)


def _explain_look(output: str, exit_code: int | None, command: str) -> str:
    """Return the complaint of a command that only reads; the text that it read is not an error."""
    if said := list_complaints(output, command):
        return _join_different(said, _LINE_CHARS)
    lines = [line for raw in output.splitlines() if (line := raw.strip())]
    return _add_code(shorten(lines[0], _LINE_CHARS) if len(lines) == 1 else "", exit_code)


def list_complaints(output: str, command: str) -> list[str]:
    """Return the lines in which the programs of a command, git or the shell complain."""
    found = map(_COMPLAINT.match, map(str.strip, output.splitlines()))
    return [each[0] for each in found if each and (each["sure"] or each["name"] in command)]


def _add_code(reason: str, exit_code: int | None) -> str:
    code = f"{COMPLETED} {exit_code}"
    # A single line is more likely to be a message than a part of a result.
    lines = [reason, code] if "\n" not in reason else [code, reason]
    return "\n".join(filter(None, lines))


def _with_next(line: str, lines: list[str]) -> str:
    """Add the next line to one that only introduces it: "Failed to remove 1 worktree:"."""
    introduces = line.endswith(":") and line in lines
    following = lines[lines.index(line) + 1 :][:1] if introduces else []
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


def is_harmless(output: str) -> bool:
    """Return whether a command only failed because there was nothing to do."""
    return _HARMLESS.search(output) is not None


def hides_failure(command: str, output: str) -> bool:
    """Return whether a check or build failed, although a pipe or a chain reports success."""
    if not output or not any(sign in command for sign in "|;\n"):
        return False
    if _FAILED_CHECK.search(without_colours(output[-_SUMMARY_CHARS:])) is None:
        return False
    return runs_part(command)


def is_not_found(command: str, output: str, exit_code: int | None, *, ok: bool) -> bool:
    """Return whether a command could not run, because there is no such program or script."""
    said = output[:_SUMMARY_CHARS].strip()
    # A pipe hides the exit code, but then nothing else is printed.
    if ok and "\n" in said:
        return False
    missing = [name for found in _NOT_FOUND.finditer(said) for name in found.groups() if name]
    # A script that needs a program which is missing exists itself.
    return any(name in command for name in missing) if missing else exit_code == _NO_PROGRAM


def is_unknown_tool(output: str) -> bool:
    """Return whether the agent has no tool of that name, so that its call never ran."""
    return _UNKNOWN_TOOL.match(output) is not None


def is_misused(error: str) -> bool:
    """Return whether a command failed only because of a wrong option or argument."""
    return _MISUSED.search(error) is not None
