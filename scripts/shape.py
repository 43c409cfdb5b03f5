"""Measure the shape of the code: `make shape` prints the table of docs/architecture.md.

Sizes, names and imports come from the source. The ways of the data come from real runs, in which
every file of the package that a call passes is counted.
"""

import argparse
import ast
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from types import FrameType
from typing import NamedTuple

from leftoff.cli import run
from leftoff.hooks import settle, spool, start

SOURCE = Path(__file__).resolve().parents[1] / "src" / "leftoff"
_IRREGULAR = frozenset(
    "bound broken built chosen done drawn driven found given gone held hidden kept known laid left "
    "made meant met seen sent shown spent taken told torn written".split()
)
# A boolean asks a question, and may end in a participle: is_saved.
_QUESTIONS = ("is", "has", "was", "may", "needs", "with", "can")


class Row(NamedTuple):
    """One row of the table."""

    what: str
    value: str
    limit: str = ""


class Way(NamedTuple):
    """How many files the data passes in one operation, and how often it crosses between them."""

    files: int
    crossings: int


def main() -> None:
    """Print the table, or write it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    rows = [*static_rows(), *way_rows()]
    if parser.parse_args().json:
        print(json.dumps({row.what: row.value for row in rows}, indent=2))
        return
    width = max(len(row.what) for row in rows)
    for row in rows:
        limit = f"  (limit {row.limit})" if row.limit else ""
        print(f"{row.what:{width}}  {row.value}{limit}")


# --- what the source says ---


def static_rows() -> Iterator[Row]:
    """Measure the source."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    lines = sum(text.count("\n") for text in texts.values())
    functions = [node for tree in trees.values() for node in functions_of(tree)]
    sizes = [(node.end_lineno or node.lineno) - node.lineno + 1 for node in functions]
    participles = [node.name for node in functions if is_participle(node.name)]
    yield Row("files / lines", f"{len(texts)} / {lines:,}")
    yield Row("function median / longest", f"{median(sizes):.0f} / {max(sizes)}")
    share = 100 * len(participles) / len(functions)
    yield Row("names that are participles", f"{share:.1f} %", "1.5 %")
    yield Row("module names used twice or more", str(len(shared_names(texts))), "0")
    yield Row("class names used twice or more", str(len(shared_classes(trees))), "0")
    yield Row("imports inside functions", str(sum(map(inner_imports, trees.values()))), "30")
    comments = sum(map(count_comments, texts.values()))
    yield Row("comments per 100 lines", f"{100 * comments / lines:.1f}")


def functions_of(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Yield every function and method."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def is_participle(name: str) -> bool:
    """Return whether a name is a participle such as `saved` or `_sent`, which names no action."""
    words = name.strip("_").split("_")
    if words[0] in _QUESTIONS or name.startswith("__"):
        return False
    return words[0] in _IRREGULAR or (words[0].endswith("ed") and len(words[0]) > len("seed"))


def shared_names(texts: dict[Path, str]) -> list[str]:
    """Return the module names that are used more than once."""
    names = Counter(path.stem for path in texts if path.stem not in {"__init__", "__main__"})
    return sorted(name for name, count in names.items() if count > 1)


def shared_classes(trees: dict[Path, ast.Module]) -> list[str]:
    """Return the class names that are defined more than once."""
    nodes = (node for tree in trees.values() for node in ast.walk(tree))
    names = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    return sorted(name for name, count in names.items() if count > 1)


def inner_imports(tree: ast.Module) -> int:
    """Count the imports inside functions."""
    inner = {
        found
        for node in functions_of(tree)
        for found in ast.walk(node)
        if isinstance(found, ast.Import | ast.ImportFrom)
    }
    return len(inner)


def count_comments(text: str) -> int:
    """Count the lines with a comment."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return len({token.start[0] for token in tokens if token.type == tokenize.COMMENT})


# --- how far the data travels ---


def way_rows() -> Iterator[Row]:
    """Run the operations in a small project, and count the files they pass."""
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        save = ["save", "csv-export", "--summary=Export orders as CSV", "--next=Write the header"]
        yield _row("save", "30", lambda: run_command(save))
        yield _row("resume", "22", lambda: run_command(["resume", "csv-export"]))
        yield _row("settling a prompt", "45", settle_prompt)
        yield _row("session start", "22", start_session)


def _row(what: str, limit: str, work: Callable[[], None]) -> Row:
    # Run once before measuring, because files that are created on first use are not part of the
    # way.
    work()
    way = follow(work)
    return Row(f"files passed by {what} / crossings", f"{way.files} / {way.crossings}", limit)


def prepare(folder: Path) -> None:
    """Create a home folder and a project, and change to it."""
    project = folder / "project"
    project.mkdir()
    kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    os.environ.clear()
    os.environ.update(kept, HOME=str(folder), LEFTOFF_HOME=str(folder / "state"))
    os.chdir(project)
    subprocess.run(["git", "init", "-q"], check=True)
    transcript = folder / "session.jsonl"
    said = {"role": "user", "content": "Export orders as CSV"}
    line = {"type": "user", "sessionId": "shape", "cwd": str(project), "message": said}
    transcript.write_text(json.dumps(line) + "\n", encoding="utf-8")


def run_command(words: list[str]) -> None:
    """Run a command as the program does, and discard its output."""
    again = ["--overwrite"] if words[0] == "save" else []
    silent = io.StringIO()
    with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
        run([*words, *again])


def payload(event: str, **fields: str) -> bytes:
    """Return what Claude Code sends to a hook."""
    transcript = Path(os.environ["HOME"], "session.jsonl")
    common = {"session_id": "shape", "transcript_path": str(transcript), "cwd": str(Path.cwd())}
    return json.dumps({**common, "hook_event_name": event, **fields}).encode()


def settle_prompt() -> None:
    """Settle one prompt that waits in the spool."""
    state = Path(os.environ["LEFTOFF_HOME"])
    data = payload("UserPromptSubmit", prompt="Now add the totals")
    spool.keep(state, "claude", "UserPromptSubmit", data)
    settle.run(state)


def start_session() -> None:
    """Answer the start of a session."""
    given, sys.stdin = (
        sys.stdin,
        io.TextIOWrapper(io.BytesIO(payload("SessionStart", source="startup"))),
    )
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            start.main("claude")
    finally:
        sys.stdin = given


def follow(work: Callable[[], None]) -> Way:
    """Count the files of the package that run, and the calls from one file to another."""
    files: set[str] = set()
    crossings = 0

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal crossings
        name = frame.f_code.co_filename
        is_ours = name.startswith(str(SOURCE)) and frame.f_code.co_name != "<module>"
        if event != "call" or not is_ours:
            return
        files.add(name)
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(str(SOURCE)):
            caller = caller.f_back
        crossings += caller is not None and caller.f_code.co_filename != name

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return Way(len(files), crossings)


if __name__ == "__main__":
    main()
