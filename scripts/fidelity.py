"""Score captures: how much of what was true at a cut is in the checkpoint.

    python scripts/fidelity.py FOLDER [--families 30,60,90] [--agent A] [--budget N] [--torn]
                                      [--worst N] [--json FILE] [--command 'CMD {session} {outdir}']

FOLDER contains sessions and `truth/*.jsonl`. Each line of a truth file names a session, where to
cut it, what was true there, and what happened next. Each cut is captured in this process, or by
CMD, which writes `briefing.txt` and `checkpoint.json` to {outdir}. One token counts as four bytes.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

Case = dict[str, Any]
Row = dict[str, Any]

# These sessions are one JSON document each: a cut counts messages, not lines.
_DOCUMENTS = ("opencode", "gemini")
_COMPOSITE = (
    "files_f1",
    "intent",
    "todos_open",
    "next_path",
    "next_cmd",
    "plan",
    "branch",
    "in_flight",
    "pending_prompts",
)


def plain(text: str | None) -> str:
    """Return the text in lower case, without markup, with single spaces."""
    return re.sub(r"\s+", " ", re.sub(r"[`*_>#\"'\\|]", "", (text or "").lower())).strip()


def word_runs(words: list[str], length: int) -> set[tuple[str, ...]]:
    """Return all runs of this many words."""
    return {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}


def conveys(truth: str | None, text: str, *, share: float = 0.5) -> float | None:
    """Return 1.0 if the text has the truth's first 50 characters or most of its word runs."""
    wanted = plain(truth)
    if not wanted:
        return None
    if wanted[:50] in plain(text):
        return 1.0
    words = re.findall(r"\w+", (truth or "").lower())[:40]
    length = min(3, len(words)) or 1
    runs = word_runs(words, length)
    have = word_runs(re.findall(r"\w+", text.lower()), length)
    return 1.0 if runs and len(runs & have) / len(runs) >= share else 0.0


def relative(path: str | None, roots: list[str]) -> str:
    """Return a path relative to the root or worktree that contains it."""
    result = (path or "").strip().strip("\"'").replace("\\", "/")
    for root in roots:
        if result.lower().startswith(root.lower() + "/"):
            result = result[len(root) + 1 :]
            break
        beside = re.match(r"[._-]{1,2}(?:worktrees?|wt)/[^/]+/(.+)", result.removeprefix(root))
        if result.startswith(root) and beside:
            result = beside[1]
            break
    inside = re.match(r"(?:\.claude/|\.)worktrees/[^/]+/(.+)", result)
    result = inside[1] if inside else result
    while result.startswith("./"):
        result = result[2:]
    return result


def mentions(path: str, text: str, basenames: dict[str, int]) -> bool:
    """Return whether the text names the path clearly enough to find the file."""
    if path in text:
        return True
    folder, _, name = path.rpartition("/")
    if folder and f"{folder.rsplit('/', 1)[-1]}/{name}" in text:
        return True
    is_clear = basenames.get(name, 0) <= 1 and len(name) >= 5
    return is_clear and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None


_PASSED = re.compile(
    r"\s*(?:\(pass\)|\[ *(?:PASS|OK) *\]|--- PASS:|PASS(?:ED)?\b|ok \d+\b|[\u2713\u2714\u221a] )"
    r"|.* (?:PASSED(?: +\[ *\d+%\])?|\.\.\. ok)\s*$"
)
# Copilot CLI, Codex, Gemini CLI and Claude Code say so at the end or the start of the output.
_SHELL_END = re.compile(
    r"\s*(?:<shellId: \S+ completed with exit code \d+>|Process exited with code \d+"
    r"|Exit [Cc]ode:? \d+)\s*$"
)


def names_failure(error: str) -> bool:
    """Return whether an error says what failed.

    A line that the test runner marks as passed does not, nor does one in which the agent itself
    says that a command has ended.
    """
    lines = [line for line in error.splitlines() if line.strip()]
    return not lines or not all(_PASSED.match(line) or _SHELL_END.match(line) for line in lines)


class Scorer:
    """Scores one capture against one truth."""

    def __init__(self, truth: dict[str, Any], briefing: str, checkpoint: Row, budget: int) -> None:
        raw = briefing.encode()
        self.truth = truth
        self.checkpoint = checkpoint
        self.text = raw[: budget * 4].decode("utf-8", "ignore")
        self.row: Row = {"tokens": -(-len(raw) // 4)}

    def score(self) -> Row:
        """Return all scores that apply."""
        for part in (self._files, self._todos, self._failure, self._next, self._plan, self._rest):
            part()
        parts = [self.row[key] for key in _COMPOSITE if key in self.row]
        if "fail_cmd" in self.row:
            parts.append((self.row["fail_cmd"] + self.row["fail_err"]) / 2)
        self.row["composite"] = sum(parts) / len(parts) if parts else None
        return self.row

    def _named(self, paths: Iterable[str]) -> float:
        found = [mentions(path, self.text, self.truth["basenames"]) for path in paths]
        return sum(found) / len(found)

    def _relative(self, key: str) -> list[str]:
        given = self.checkpoint.get(key) or []
        return [relative(path, self.truth["roots"]) for path in given if isinstance(path, str)]

    def _files(self) -> None:
        truth = set(self.truth["files"])
        if not truth:
            return
        mine = set(self._relative("files_modified"))
        hits = len(mine & truth)
        cost = len(mine - set(self.truth["maybe"]))
        recall, precision = hits / len(truth), (hits / cost if cost else 0.0)
        both = precision + recall
        self.row["files_recall"], self.row["files_precision"] = recall, precision
        self.row["files_f1"] = 2 * precision * recall / both if both else 0.0
        self.row["files_text_recall"] = self._named(truth)

    def _todos(self) -> None:
        if not self.truth["open"]:
            return
        shown = [conveys(todo, self.text, share=0.6) or 0.0 for todo in self.truth["open"]]
        self.row["todos_open"] = sum(shown) / len(shown)
        mine = [todo for todo in self.checkpoint.get("todos") or [] if isinstance(todo, dict)]
        right = [any(_same_todo(todo, other) for other in mine) for todo in self.truth["todos"]]
        self.row["todos_state"] = sum(right) / len(right)

    def _failure(self) -> None:
        failure = self.truth["failure"]
        if failure:
            command = re.sub(r"^\s*(cd\s+\S+\s*(&&|;)\s*)+", "", failure["command"])[:120]
            self.row["fail_cmd"] = conveys(command, self.text)
            self.row["fail_err"] = conveys(failure["error"], self.text)
            self.row["names_failure"] = names_failure(failure["error"])

    def _next(self) -> None:
        paths = self.truth["next_knowable"]
        if paths:
            self.row["next_path"] = self._named(paths)
            guesses = set(self._relative("focus_files")[:10])
            self.row["next_focus10"] = sum(path in guesses for path in paths) / len(paths)
        heads = self.truth["next_heads_knowable"]
        if heads:
            text = plain(self.text)
            self.row["next_cmd"] = sum(plain(head) in text for head in heads) / len(heads)

    def _plan(self) -> None:
        plan = self.truth["plan"]
        if plan:
            name = (plan.get("path") or "").rsplit("/", 1)[-1]
            has_title = bool(plan.get("title") and conveys(plan["title"], self.text))
            self.row["plan"] = float(has_title or bool(name and name in self.text))
        if self.truth["step"]:
            mine = self.checkpoint.get("plan") or {}
            self.row["step"] = float([mine.get("step"), mine.get("total")] == self.truth["step"])

    def _rest(self) -> None:
        truth = self.truth
        if truth["intent"]:
            self.row["intent"] = conveys(truth["intent"], self.text)
        if truth["branch"]:
            name = re.search(rf"(?<![\w/-]){re.escape(truth['branch'])}(?![\w/-])", self.text)
            is_kept = self.checkpoint.get("branch") == truth["branch"]
            self.row["branch"] = float(is_kept or name is not None)
        if truth["commit"]:
            subject = conveys(truth["commit"]["subject"], self.text) or 0.0
            self.row["commit"] = max(subject, float(truth["commit"]["sha"][:7] in self.text))
        if truth["pending_prompts"]:
            shown = [conveys(prompt, self.text) or 0.0 for prompt in truth["pending_prompts"]]
            self.row["pending_prompts"] = sum(shown) / len(shown)
        if truth["in_flight"]:
            self.row["in_flight"] = conveys(truth["in_flight"]["what"], self.text)


def _same_todo(truth: Row, mine: Row) -> bool:
    is_done = mine.get("status") in ("completed", "done")
    same_state = is_done == (truth["status"] == "completed")
    return same_state and bool(conveys(truth["text"], mine.get("text") or "", share=0.6))


class Timeline:
    """What happened in a session, read again without the fold: an independent witness."""

    def __init__(self, session: Path, agent: str) -> None:
        from leftoff.agents import registry  # noqa: PLC0415 - not needed without this score

        self.asked = self.said = self.called = self.worked = self.failed = self.committed = -1
        self.last_request = self.last_words = self.hidden = ""
        self.earlier_words: list[tuple[int, str]] = []
        self.last_calls: list[str] = []
        self.open: dict[str, str] = {}
        for number, event in enumerate(_read_events(session, agent, registry)):
            if not event.sidechain:
                self._note(number, event)

    def _note(self, number: int, event: Any) -> None:
        kind = type(event).__name__
        if kind == "UserText":
            self.asked, self.last_request = number, event.text
        elif kind == "AssistantText" and event.text.strip():
            self.earlier_words.append((self.said, self.last_words))
            self.said, self.last_words = number, event.text
        elif kind == "ToolCall":
            self.called = number
            if event.kind == "edit":
                self.worked = number
            self.open[event.id] = event.what
            self.last_calls = [*self.last_calls[-11:], event.what]
        elif kind == "ToolResult":
            self._note_result(number, event, self.open.pop(event.id, ""))

    def _note_result(self, number: int, event: Any, command: str) -> None:
        if event.rejected:
            self.asked, self.last_request = number, event.rejected
        elif "commit" in command and event.ok:
            self.committed = number
        elif not event.ok:
            self.failed, self.hidden = number, ""
        elif _HIDES.search(command) and _FAILED.search(event.output):
            # The exit code is that of `tail`.
            self.failed, self.hidden = number, command
        elif self.hidden and _is_same(command, self.hidden):
            self.hidden = ""


_HIDES = re.compile(r"[|;\n]")
_CD = re.compile(r"^\s*(cd\s+\S+\s*(&&|;)\s*)+")


def _is_same(command: str, other: str) -> bool:
    """Return whether two commands are the same up to the first pipe."""
    return _CD.sub("", command).split("|")[0].strip() == _CD.sub("", other).split("|")[0].strip()


_FAILED = re.compile(
    r"\b[1-9]\d* (?:tests? )?fail|^\s*(?:-+ )?FAIL|\berror(?:\[E\d+\]| TS\d+|:)|npm ERR!"
    r"|\d+ errors?\b|Error: ",
    re.MULTILINE,
)


def _read_events(session: Path, agent: str, registry: Any) -> Iterator[Any]:
    from leftoff.agents.json_lines import ReadCursor, Reading  # noqa: PLC0415 - see Timeline

    name, layout = registry.identify(session, agent)
    if layout == "document":
        yield from registry.AGENTS[name].read_document(session, "")
        return
    reading = Reading(session, ReadCursor(), registry.AGENTS[name].new_reader({}))
    for events in reading.batches():
        yield from events


def check_next_action(truth: Row, checkpoint: Row, seen: Timeline) -> float | None:
    """Return 1.0 if the source of the next action holds at the cut; None if there is none."""
    action = checkpoint.get("next_action")
    if not isinstance(action, dict):
        return None
    check = _CHECKS.get(action.get("source") or "")
    return float(check is not None and check(action["text"], truth, seen))


def _names_any(texts: Iterable[str], shown: str) -> bool:
    return any(conveys(" ".join(text.split()[:12]), shown, share=0.6) for text in texts if text)


def _is_cut_short(shown: str, truth: Row, seen: Timeline) -> bool:
    opened = [_CD.sub("", what) for what in seen.open.values()]
    named = [(truth["in_flight"] or {}).get("what", ""), *opened]
    is_last = seen.called > max(seen.asked, seen.said)
    return is_last and bool(seen.open) and _names_any(named, shown)


def _is_unrepaired(shown: str, truth: Row, seen: Timeline) -> bool:
    """Return whether a command failed after the last request and commit, and nothing repaired it.

    A failure stays after a side question, so only a request that led to work counts.
    """
    asked = seen.asked if seen.called > seen.asked or not _is_question(seen.last_request) else -1
    if seen.failed <= max(asked, seen.committed):
        return False
    failed = [seen.hidden, (truth["failure"] or {}).get("command", "")]
    return _names_any([_CD.sub("", command) for command in failed if command], shown)


def _is_question(asked: str) -> bool:
    return asked.rstrip().endswith(("?", "？"))


def _is_announced(shown: str, _: Row, seen: Timeline) -> bool:
    """Return whether the agent announced it before the last request, and no work followed."""
    if seen.said <= max(seen.asked, seen.called):
        return False
    held = [words for at, words in seen.earlier_words if seen.worked < at < seen.asked]
    return any(_shares_words(words, shown) for words in held[-2:])


def _is_on_the_trail(shown: str, _: Row, seen: Timeline) -> bool:
    """Return whether calls came last, and the action refers to them, the words or the request."""
    if seen.called <= max(seen.asked, seen.said):
        return False
    texts = [seen.last_request, seen.last_words, *seen.last_calls]
    return any(_shares_words(text, shown) for text in texts if text)


_CHECKS: dict[str, Callable[[str, Row, Timeline], bool]] = {
    # Nobody states a next action in a capture of a session alone.
    "stated": lambda *_: False,
    "prompt": lambda shown, truth, _: _names_any(truth["pending_prompts"], shown),
    "call": _is_cut_short,
    "failure": _is_unrepaired,
    "todo": lambda shown, truth, _: _names_any(truth["open"], shown),
    "plan": lambda shown, truth, seen: (
        bool(truth["plan"])
        and seen.called > seen.committed
        and bool(conveys(truth["plan"].get("title"), shown))
    ),
    "announced": _is_announced,
    "proposal": lambda shown, _, seen: (
        seen.said > max(seen.asked, seen.called) and _shares_words(seen.last_words, shown)
    ),
    "trail": _is_on_the_trail,
    "request": lambda shown, _, seen: (
        seen.called < seen.asked and _names_any([seen.last_request], shown)
    ),
}


# How leftoff begins a next action that quotes the agent; the quote follows.
_LEAD_IN = re.compile(
    r"^Ask the user(?: what comes next\. (?:The agent said last|Before the goodbye, the agent said|"
    r"From the agent's last message))?: "
)


def _shares_words(said: str, shown: str) -> bool:
    """Return whether the action uses the agent's last words, and not something older."""
    texts = (said, _LEAD_IN.sub("", shown))
    words = [re.findall(r"\w+", text.lower().replace("\u2019", "'")) for text in texts]
    length = min(3, len(words[1]))
    return bool(length and word_runs(words[0], length) & word_runs(words[1], length))


def cut_session(folder: Path, case: Case, target: Path, *, torn: bool) -> Path:
    """Write the session up to the cut, and half of the next line if `torn`."""
    source = folder / case["session"]
    if case["agent"] in _DOCUMENTS and source.suffix == ".json":
        document = json.loads(source.read_text(encoding="utf-8"))
        document["messages"] = document["messages"][: case["cut"]]
        path = target / "session.json"
        path.write_text(json.dumps(document, ensure_ascii=False, indent=2), encoding="utf-8")
        return path
    lines = source.read_bytes().split(b"\n")
    data = b"\n".join(lines[: case["cut"]]) + b"\n"
    if torn and case["cut"] < len(lines):
        half = lines[case["cut"]]
        data += half[: max(1, len(half) // 2)]
    path = target / "session.jsonl"
    path.write_bytes(data)
    return path


def capture_here(session: Path, budget: int) -> tuple[str, Row]:
    """Capture in this process."""
    from leftoff.checkpoint import to_plain  # noqa: PLC0415
    from leftoff.session.capture import capture  # noqa: PLC0415
    from leftoff.threads.briefing import render  # noqa: PLC0415 - not needed with --command

    captured = capture(session)
    return render(captured.checkpoint, None, budget=budget), to_plain(captured.checkpoint)


def capture_by(command: str) -> Callable[[Path, int], tuple[str, Row]]:
    """Return a capture function that runs a command."""

    def run(session: Path, _: int) -> tuple[str, Row]:
        outdir = session.parent
        line = command.format(session=session, outdir=outdir)
        subprocess.run(line, shell=True, check=True, timeout=120, capture_output=True)  # noqa: S602
        briefing = (outdir / "briefing.txt").read_text(encoding="utf-8", errors="replace")
        return briefing, json.loads((outdir / "checkpoint.json").read_bytes())

    return run


def score_case(
    folder: Path,
    case: Case,
    capture: Callable[[Path, int], tuple[str, Row]],
    options: argparse.Namespace,
) -> Row:
    """Cut, capture and score one case."""
    with tempfile.TemporaryDirectory() as target:
        session = cut_session(folder, case, Path(target), torn=options.torn)
        briefing, checkpoint = capture(session, options.budget)
        seen = Timeline(session, case["agent"])
    row = Scorer(case["truth"], briefing, checkpoint, options.budget).score()
    is_true = check_next_action(case["truth"], checkpoint, seen)
    if is_true is not None:
        row["next_action_true"] = is_true
    about = f"{case['session']} {case['family']} {case['cut']}"
    return {**row, "agent": case["agent"], "case": about}


def read_cases(folder: Path, options: argparse.Namespace) -> Iterator[Case]:
    """Yield the cases of the chosen families and agent."""
    families = options.families.split(",")
    for path in sorted((folder / "truth").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            case: Case = json.loads(line)
            chosen = options.families == "all" or case["family"] in families
            if chosen and options.agent in (None, case["agent"]):
                yield case


def show(rows: list[Row], options: argparse.Namespace) -> None:
    """Print the table of means, and the worst cases if requested."""
    torn = ", torn" if options.torn else ""
    print(f"{len(rows)} cases, families {options.families}, budget {options.budget}{torn}")
    values: dict[str, list[float]] = {}
    for row in rows:
        for key, value in row.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                values.setdefault(key, []).append(value)
    for key, given in values.items():
        print(f"  {key:18s} {statistics.mean(given):8.3f}  n={len(given)}")
    show_by_agent(rows)
    show_unnamed_failures(rows)
    if options.show:
        for row in rows:
            if row.get(options.show, 1) < 1:
                print(f"{options.show} {row[options.show]:.3f} {row['case']}")
    for row in sorted(rows, key=lambda row: row["composite"] or 0)[: options.worst]:
        print(f"worst {row['composite'] or 0:.3f} {row['case']}")


def show_by_agent(rows: list[Row]) -> None:
    """Print the mean of each score and of how many cases it is, one agent per column."""
    agents = sorted({row["agent"] for row in rows})
    others = {"case", "agent", "names_failure"}
    scores = dict.fromkeys(key for row in rows for key in row if key not in others)
    print(f"  {'by agent (n)':18s}" + "".join(f"{agent:>14s}" for agent in agents))
    for score in scores:
        print(f"  {score:18s}" + "".join(format_mean(rows, agent, score) for agent in agents))


def show_unnamed_failures(rows: list[Row]) -> None:
    """Print how many truths name no failure, and `fail_err` without them, per agent."""
    failed = [row for row in rows if "names_failure" in row]
    named = [row for row in failed if row["names_failure"]]
    if len(named) == len(failed):
        return
    print(
        f"  {len(failed) - len(named)} of {len(failed)} truths name no failure: their error is a "
        "line of a passed test, or the agent's own line at the end of a command:"
    )
    for row in failed:
        if not row["names_failure"]:
            print(f"    {row['fail_err']:.3f} {row['agent']} {row['case']}")
    agents = sorted({row["agent"] for row in rows})
    cells = "".join(format_mean(named, agent, "fail_err") for agent in agents)
    print(f"  {'fail_err, others':18s}{cells}")


def format_mean(rows: list[Row], agent: str, score: str) -> str:
    """Return one cell of the table."""
    given = [row[score] for row in rows if row["agent"] == agent and row.get(score) is not None]
    cell = f"{statistics.mean(given):.3f} ({len(given)})" if given else "-"
    return f"{cell:>14s}"


def parse(arguments: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--families", default="30,60,90", help="comma-separated, or `all`")
    parser.add_argument("--agent")
    parser.add_argument("--budget", type=int, default=1500)
    parser.add_argument("--torn", action="store_true", help="leave half a line at the end")
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--show", metavar="SCORE", help="list the cases below 1 in this score")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--command", help="capture by this command instead of in this process")
    return parser.parse_args(arguments)


def main() -> None:
    """Score all cases and print the table."""
    options = parse(sys.argv[1:])
    capture = capture_by(options.command) if options.command else capture_here
    rows = [
        score_case(options.folder, c, capture, options) for c in read_cases(options.folder, options)
    ]
    show(rows, options)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
