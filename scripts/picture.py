"""Draw the README's pictures as SVG, from what real commands show on a real terminal.

`make picture` draws them. `--check` compares them with those that are checked in, byte for byte.
Commit hashes, ids, durations and the temp folder are replaced, because they change with each run.
"""

import io
import itertools
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pexpect
import pyte
from pyte import graphics
from rich.console import Console
from rich.style import Style
from rich.text import Text

import demo_later
from demo import FILES, SAVE
from stage import Stage, stage

PICTURES = Path(__file__).parent.parent / "docs" / "images"
COLUMNS, ROWS = 100, 30
_SECONDS = 120
_BRIEF = ("--summary", "--done", "--next", "--decision", "--failed", "--file")
_THREADS = {
    "csv-export": ("Export all orders as CSV, one row per line", "Write the header row"),
    "login-form": ("Validate the login form on the server", "Reject an empty password"),
    "vat-report": ("Sum the VAT of each line in the yearly report", "Read src/vat.py"),
}
_CHANGING = (
    (re.compile(r"20\d{6}T\d{9}Z-[0-9a-f]{8}"), "20261118T093012345Z-c0ffee42"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "1f0e5a7c93b2"),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{8}\b"), "1f0e5a7c"),
    (re.compile(r"\b\d+\.\d+( ?)s\b"), r"0.2\1s"),
)
# pyte knows no dim text, so it keeps it as text that blinks, which leftoff never writes.
_DIM = {2: "+blink", 22: "-bold"}


def main() -> int:
    """Draw the pictures, or say which of them are out of date."""
    drawn = {name: _draw(play) for name, play in _PLAYS.items()}
    if "--check" in sys.argv[1:]:
        stale = [name for name, svg in drawn.items() if _read(PICTURES / name) != svg]
        for name in stale:
            print(f"{name} is out of date; run `make picture`.")
        return len(stale)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, svg in drawn.items():
        (PICTURES / name).write_text(svg, encoding="utf-8")
    return 0


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _draw(play: Callable[[Console, Stage], None]) -> str:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), color_system="standard")
    with stage(FILES) as world:
        play(console, world)
    svg = console.export_svg(title="leftoff")
    # A picture in a README may not load anything from elsewhere; any monospaced font will do.
    plain = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return plain.replace("Fira Code, monospace", "ui-monospace, monospace")


# --- what the pictures show ---


def _resume(console: Console, world: Stage) -> None:
    options = {option: SAVE[option] for option in _BRIEF}
    _type(console, "leftoff save cart-totals \\")
    for option, value in options.items():
        end = "" if option == _BRIEF[-1] else " \\"
        _type(console, f"    {option} '{value}'{end}", prompt="")
    words = [word for pair in options.items() for word in pair]
    _show(console, _without_path(_run(world, "save", "cart-totals", *words)))
    _note(console, "# … the session dies, a colleague commits, a new session starts …")
    world.write("src/cart.py", FILES["src/cart.py"].replace("items)", "items if item)"))
    world.commit("Skip empty items")
    _type(console, "leftoff resume --accept")
    _show(console, _run(world, "resume", "--accept"))


def _pick(console: Console, world: Stage) -> None:
    for name, (task, following) in _THREADS.items():
        world.run("leftoff", "save", name, "--summary", task, "--next", following)
    words = [word for option in _BRIEF for word in (option, SAVE[option])]
    world.run("leftoff", "save", "cart-totals", *words)
    world.write("src/cart.py", FILES["src/cart.py"].replace("items)", "items if item)"))
    world.commit("Skip empty items")
    child = _spawn(world, "resume")
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.Stream(screen)
    deadline = time.monotonic() + _SECONDS
    while "Last commit" not in "\n".join(screen.display):
        stream.feed(child.read_nonblocking(65_536, timeout=_SECONDS))
        if time.monotonic() > deadline:
            raise SystemExit("The picker did not appear.")
    child.close(force=True)
    for row in range(ROWS):
        console.print(_style_row(screen, row), no_wrap=True, crop=True)


def _ship(console: Console, world: Stage) -> None:
    demo_later.finish_work(world)
    _type(console, "leftoff feature add 'Round cart totals to cents' --start")
    _show(console, _run(world, "feature", "add", "Round cart totals to cents", "--start"))
    words = [word for pair in demo_later.SAVE.items() for word in pair]
    world.run("leftoff", "save", "cart-totals", *words)
    _type(console, "leftoff ship --no-pr --yes")
    _show(console, _run(world, "ship", "--no-pr", "--yes"))


_PLAYS: dict[str, Callable[[Console, Stage], None]] = {
    "resume.svg": _resume,
    "picker.svg": _pick,
    "ship.svg": _ship,
}


# --- the terminal ---


def _spawn(world: Stage, *words: str) -> "pexpect.spawn[str]":
    return pexpect.spawn(
        "leftoff",
        [*words],
        cwd=str(world.project),
        env=_environment(world),
        dimensions=(ROWS, COLUMNS),
        encoding="utf-8",
        timeout=_SECONDS,
    )


def _environment(world: Stage) -> dict[str, str]:
    left_out = ("NO_COLOR", "COLUMNS", "LINES", "PAGER", "LESS")
    kept = {key: value for key, value in world.environment.items() if key not in left_out}
    return {**kept, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}


def _run(world: Stage, *words: str) -> str:
    """Run a command on a terminal and return what it prints, with its colors."""
    child = _spawn(world, *words)
    child.expect(pexpect.EOF)
    child.wait()
    if child.exitstatus != 0:
        raise SystemExit(f"`leftoff {words[0]}` ended with {child.exitstatus}:\n{child.before}")
    lines = (
        line.rpartition("\r")[2] for line in str(child.before).replace("\r\n", "\n").split("\n")
    )
    return _fix("\n".join(lines).replace(str(world.folder), "/home/ada"))


def _fix(text: str) -> str:
    for pattern, fixed in _CHANGING:
        text = pattern.sub(fixed, text)
    return text


def _style_row(screen: pyte.Screen, row: int) -> Text:
    """Return a row of a screen with its styles, without what is empty at its end."""
    cells = [screen.buffer[row][column] for column in range(screen.columns)]
    shown = Text()
    for style, run in itertools.groupby(cells, _find_style):
        shown.append(_fix("".join(cell.data for cell in run)), style)
    shown.rstrip()
    return shown


def _find_style(cell: pyte.screens.Char) -> Style:
    color = cell.fg.replace("brown", "yellow").replace("bright", "bright_")
    return Style(
        color=None if color == "default" else color,
        bold=cell.bold,
        dim=cell.blink,
        reverse=cell.reverse,
    )


# --- the paper ---


def _type(console: Console, line: str, *, prompt: str = "$ ") -> None:
    console.print(Text(f"{prompt}{line}", style="bold"))


def _show(console: Console, text: str) -> None:
    console.print(Text.from_ansi(text))


def _note(console: Console, line: str) -> None:
    console.print(Text(f"{line}\n", style="dim"))


def _without_path(text: str) -> str:
    """Remove the line with the path of the temp folder."""
    return re.sub(r"^  Path .*\n", "", text, flags=re.MULTILINE)


if __name__ == "__main__":
    graphics.TEXT.update(_DIM)
    sys.exit(main())
