"""Draw the README's pictures as SVG, from real commands and their real output.

Run it with `make picture`. The pictures are checked in.
"""

import io
import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

import demo_later
from demo import FILES, SAVE
from stage import Stage, stage

PICTURES = Path(__file__).parent.parent / "docs" / "images"
WIDTH = 92
_BRIEF = ("--summary", "--done", "--next", "--decision", "--failed", "--file")


def main() -> None:
    """Run a save and a resume, then a ship, and draw their output."""
    for name, play in (("resume.svg", _resume), ("ship.svg", _ship)):
        console = Console(record=True, width=WIDTH, file=io.StringIO())
        with stage(FILES) as world:
            play(console, world)
        _draw(console, PICTURES / name)


def _resume(console: Console, world: Stage) -> None:
    options = {option: SAVE[option] for option in _BRIEF}
    _type(console, "leftoff save cart-totals \\")
    for option, value in options.items():
        end = "" if option == _BRIEF[-1] else " \\"
        _type(console, f"    {option} '{value}'{end}", prompt="")
    words = [word for pair in options.items() for word in pair]
    saved = world.run("leftoff", "save", "cart-totals", *words)
    console.print(_coloured(_without_path(saved)))

    _note(console, "# … the session dies, a colleague commits, a new session starts …")
    world.write("src/cart.py", FILES["src/cart.py"].replace("items)", "items if item)"))
    world.commit("Skip empty items")
    _type(console, "leftoff resume --accept")
    console.print(_coloured(world.run("leftoff", "resume", "--accept")))


def _ship(console: Console, world: Stage) -> None:
    demo_later.finish_work(world)
    add = ("leftoff", "feature", "add", "Round cart totals to cents", "--start")
    _type(console, "leftoff feature add 'Round cart totals to cents' --start")
    console.print(_coloured(world.run(*add)))
    words = [word for pair in demo_later.SAVE.items() for word in pair]
    world.run("leftoff", "save", "cart-totals", *words)
    _type(console, "leftoff ship --no-pr")
    console.print(_coloured(world.run("leftoff", "ship", "--no-pr")))


def _draw(console: Console, picture: Path) -> None:
    picture.parent.mkdir(parents=True, exist_ok=True)
    svg = console.export_svg(title="leftoff")
    # A picture in a README may not load anything from elsewhere; any monospaced font will do.
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    picture.write_text(drawn.replace("Fira Code, monospace", "ui-monospace, monospace"), "utf-8")


def _type(console: Console, line: str, *, prompt: str = "$ ") -> None:
    console.print(Text(f"{prompt}{line}", style="bold"))


def _note(console: Console, line: str) -> None:
    console.print(Text(f"{line}\n", style="dim"))


def _without_path(text: str) -> str:
    """Remove the line with the path of the temp folder."""
    return re.sub(r"^  Path .*\n", "", text, flags=re.MULTILINE)


def _coloured(text: str) -> Text:
    """Highlight what matters, without changing the text."""
    shown = Text(text)
    for pattern, style in {
        r"^(Task|Next action|Changed since then|⚠ [\w ]+|Decisions|Done|Files)": "bold cyan",
        r"^⚠.*$": "yellow",
        r"^- (changed|missing|HEAD).*$": "bold yellow",
        r"^</?leftoff-briefing>$": "dim",
        r'^Saved checkpoint ".*"$': "green",
        r"^done  [\w ]+?(?=  )": "green",
        r"^skip  [\w ]+?(?=  )": "dim",
        r"left out .*$": "yellow",
        r"^CHECKPOINT COMPLETE$": "bold green",
    }.items():
        shown.highlight_regex(re.compile(pattern, re.MULTILINE), style)
    return shown


if __name__ == "__main__":
    main()
