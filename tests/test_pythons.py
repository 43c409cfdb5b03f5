"""leftoff works on each supported Python without a warning, and uses nothing deprecated."""

import ast
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitrepo import Repo
from programs import with_our_path

ROOT = Path(__file__).parent.parent
SOURCES = sorted(
    path
    for folder in ("src", "tests", "scripts", "bench")
    for path in (ROOT / folder).rglob("*.py")
)
# What Python 3.12 to 3.14 announce for removal in 3.14, 3.15 or 3.16, where a name shows it.
GOING = set(
    """
    ast.Bytes ast.Ellipsis ast.NameConstant ast.Num ast.Str
    asyncio.AbstractChildWatcher asyncio.AbstractEventLoopPolicy asyncio.DefaultEventLoopPolicy
    asyncio.FastChildWatcher asyncio.MultiLoopChildWatcher asyncio.SafeChildWatcher
    asyncio.get_child_watcher asyncio.get_event_loop_policy asyncio.iscoroutinefunction
    asyncio.set_child_watcher asyncio.set_event_loop_policy
    codecs.open collections.abc.ByteString ctypes.SetPointerType
    datetime.datetime.utcfromtimestamp datetime.datetime.utcnow datetime.utcfromtimestamp
    datetime.utcnow http.server.CGIHTTPRequestHandler importlib.abc.ResourceReader
    importlib.abc.Traversable importlib.abc.TraversableResources locale.getdefaultlocale
    pkgutil.find_loader pkgutil.get_loader platform.java_ver pty.master_open pty.slave_open
    shutil.ExecError sqlite3.version sqlite3.version_info sys._clear_type_cache
    sysconfig.expand_makefile_vars typing.ByteString typing.no_type_check_decorator
    urllib.request.FancyURLopener urllib.request.URLopener
    """.split()
)
_LAST_NAMES = {name.rpartition(".")[2] for name in GOING}
_SQL = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|WHERE|VALUES)\b")
_NUMBERED = re.compile(r"\?\d")

STORY = """
    init --yes --agent claude
    save first --summary Sums --next 'Run pytest' --decision 'Cents :: exact' --failed 'Nil :: No'
    save second --summary Other --left-off Here --done This --question Why? --file app.py
    save first --overwrite --summary Sums --next 'Run pytest again'
    list
    show first
    latest
    search Sums
    log
    diff first second
    lint first
    resume first
    status
    start
    dashboard
    ledger
    memory add decision 'Cents, not floats' --why exact
    memory list
    memory search Cents
    feature add Sums
    feature start 1
    feature attempt 'With cents' --failed --why drift
    feature list
    feature pass 1
    intent set Rounding
    wal add --kind decision 'Keep the old names'
    wal show
    prompts list
    sessions
    recover
    config explain
    config set budget 900
    config unset budget
    export --to sail
    clear second
    trash list
    undo
    delete second
    schema
    briefing
    reflect
    doctor
    purge --older-than 1d --yes
    uninstall --yes
"""


@pytest.mark.slow("starts every command")
def test_no_command_warns(repo: Repo) -> None:
    lines = {line.strip(): _run(repo.folder, line) for line in STORY.strip().splitlines()}

    assert {line: text for line, text in lines.items() if text} == {}


def _run(folder: Path, line: str) -> str:
    """Run a command; return what it says of warnings or bugs."""
    words = [part.strip("'") for part in re.findall(r"'[^']*'|\S+", line)]
    done = _python(folder, "-m", "leftoff", *words)
    trouble = done.returncode in {2, 70} or "Warning" in done.stderr + done.stdout
    return done.stdout + done.stderr if trouble else ""


@pytest.mark.parametrize("event", ["SessionStart", "Stop"])
def test_no_hook_warns(repo: Repo, event: str) -> None:
    _python(repo.folder, "-m", "leftoff", "save", "first", "--summary", "Sums", "--next", "Go on")
    state = Path(os.environ["HOME"]) / ".local" / "state" / "leftoff"
    (state / "spool").mkdir(parents=True, exist_ok=True)
    said = {"session_id": "abc", "cwd": str(repo.folder), "hook_event_name": event}
    given = json.dumps({**said, "source": "startup", "transcript_path": str(repo.folder / "no")})
    (state / "spool" / f"claude.{event}.1.0").write_text(given, encoding="utf-8")

    for words in (["leftoff.hooks.start", "claude"], ["leftoff.hooks.settle", str(state)]):
        done = _python(repo.folder, "-m", *words, given=given)
        assert (done.returncode, done.stderr) == (0, "")
    assert "Warning" not in "".join(
        path.read_text("utf-8", "replace") for path in state.rglob("*") if path.is_file()
    )


def _python(folder: Path, *words: str, given: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        (sys.executable, "-W", "error", "-X", "dev", *words),
        cwd=folder,
        env=with_our_path(),
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.slow("compiles every module")
def test_no_module_uses_what_will_go() -> None:
    found = {path: _going(path) for path in SOURCES}

    assert len(found) > 300
    assert {path: names for path, names in found.items() if names} == {}


def _going(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile(text, str(path), "exec")
    tree = ast.parse(text)
    statements = [each for each in _strings(tree) if _SQL.search(each)]
    return [*(set(_names(tree)) & GOING), *filter(_NUMBERED.search, statements)]


def _names(tree: ast.AST) -> Iterator[str]:
    """Name what is imported, and every chain of attributes that may be going, with dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and node.attr in _LAST_NAMES:
            yield ast.unparse(node)


def _strings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
