"""Run the console blocks of pages, and write what they print into the pages.

    python scripts/console.py [PAGE ...]

Each page is played in its own home and its own repository, from top to bottom. A comment that
starts with `setup` runs first, or between two blocks. A line `…` means lines that are left out.
The commands print to a terminal without colors, and get no input.
Ids, times, hashes and ages may differ; a block that differs in nothing else stays as it is.
"""

import contextlib
import os
import pty
import re
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# Pages in which every console block is what the program prints.
PAGES = tuple(
    ROOT / "docs" / f"{name}.md" for name in ("tour", "faq", "troubleshooting", "cookbook")
)
_PART = re.compile(
    r"^```console\n(?P<block>.*?)^```$|^<!-- setup\n(?P<setup>.*?)-->$",
    re.DOTALL | re.MULTILINE,
)
# What differs from run to run, in the order in which it is replaced.
_CHANGING = (
    # A whole id, or the part that distinguishes two revisions.
    (r"\b\d{8}T\d{4,9}(Z-[0-9a-f]{1,8})?\b", "ID"),
    (r"\d{4}-\d{2}-\d{2}T[\d:.]+Z?", "TIME"),
    (r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}", "TIME"),
    (r"\d{4}-\d{2}(-\d{2})?", "DATE"),
    (r"\b[0-9a-f]{12}\b|\b[0-9a-f]{7,8}\b", "HASH"),
    (r"just now|\d+ ?(s|m|sec|second|minute)s? ago", "AGE"),
    (r"\b\d+(\.\d+)? ?(KB|MB|GB|ms|bytes)\b", "AMOUNT"),
    (r"Python [\d.]+|SQLite [\d.]+|git version [\d.]+", "VERSION"),
    (r" +", " "),
)
_ELIDED = "…"
_PROGRAMS = Path(sys.executable).parent
_SECONDS = 120
# Always this one: the layout of tables depends on the length of paths.
_TEMPORARY = "/tmp"  # noqa: S108 - a private folder is made there
_COLUMNS = 100


class Step(NamedTuple):
    """A command of a block, as it is written there, and the lines below it."""

    command: str
    output: list[str]


class World(NamedTuple):
    """A home and a repository of its own."""

    root: Path

    @property
    def repository(self) -> Path:
        """Where the commands run."""
        return self.root / "home/ada/shop"

    def run(self, command: str) -> list[str]:
        """Run a command line, and return what it prints, with the paths of the page."""
        reader, terminal = pty.openpty()
        termios.tcsetwinsize(terminal, (50, _COLUMNS))
        with subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=self.repository,
            env=_make_environment(self.root / "home/ada"),
            stdin=subprocess.DEVNULL,
            stdout=terminal,
            stderr=terminal,
        ) as process:
            os.close(terminal)
            printed = _read_all(reader)
            process.wait(_SECONDS)
        text = printed.decode().replace("\r\n", "\n").replace(str(self.root), "")
        text = text.replace(str(_PROGRAMS), "/home/ada/.local/bin").rstrip("\n")
        return [line.rstrip() for line in text.split("\n")] if text else []


def _read_all(reader: int) -> bytes:
    """Read what a terminal gets, until nobody has it open any more."""
    parts = []
    with contextlib.suppress(OSError):  # Linux's way to say that it was closed
        while part := os.read(reader, 65_536):
            parts.append(part)
    os.close(reader)
    return b"".join(parts)


def _make_environment(home: Path) -> dict[str, str]:
    who = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": "2026-11-16T14:00:00Z"}
    people = {
        f"GIT_{role}_{key}": each for role in ("AUTHOR", "COMMITTER") for key, each in who.items()
    }
    return {
        **people,
        "HOME": str(home),
        "PATH": f"{_PROGRAMS}{os.pathsep}/usr/bin:/bin",
        "TMPDIR": str(home.parent.parent / "tmp"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "NO_COLOR": "1",
        "PAGER": "cat",
        "SCRIPTS": str(ROOT / "scripts"),
        "TERM": "dumb",
    }


def play(text: str) -> str:
    """Return a page with what its commands print now."""
    with tempfile.TemporaryDirectory(dir=_TEMPORARY, prefix="play") as scratch:
        world = World(Path(scratch))
        world.repository.mkdir(parents=True)
        (world.root / "tmp").mkdir()
        return _PART.sub(lambda part: _play_part(part, world), text)


def _play_part(part: re.Match[str], world: World) -> str:
    if part["setup"] is not None:
        world.run(f"set -e\n{part['setup']}")
        return part[0]
    lines = [line for step in read_steps(part["block"]) for line in _play_step(step, world)]
    return "\n".join(("```console", *lines, "```"))


def _play_step(step: Step, world: World) -> Iterator[str]:
    printed = world.run(step.command.removeprefix("$ "))
    yield step.command
    yield from step.output if is_same(step.output, printed) else printed


def read_steps(block: str) -> list[Step]:
    """Split a block into its commands; a line that ends with a backslash goes on."""
    steps: list[Step] = []
    goes_on = False
    for line in block.rstrip("\n").split("\n"):
        if goes_on:
            steps[-1] = Step(f"{steps[-1].command}\n{line}", [])
        elif line.startswith("$ "):
            steps.append(Step(line, []))
        else:
            steps[-1].output.append(line)
            continue
        goes_on = line.endswith("\\")
    return steps


def is_same(written: Sequence[str], printed: Sequence[str]) -> bool:
    """Return whether a page shows what was printed, but for what differs from run to run.

    Where a line is wrapped differs, too: the paths in it are as long as those of this machine.
    """
    wanted = re.escape(" ".join(_mask_lines(written)))
    # An elided part may be empty.
    wanted = wanted.replace(rf"\ {_ELIDED}", "(?: .*)?").replace(_ELIDED, ".*")
    return re.fullmatch(wanted, " ".join(_mask_lines(printed))) is not None


def _mask_lines(lines: Sequence[str]) -> list[str]:
    return [_mask(line).strip() for line in lines if line.strip()]


def _mask(line: str) -> str:
    for pattern, word in _CHANGING:
        line = re.sub(pattern, word, line)
    return line


def main() -> None:
    """Play the pages, and write those that changed."""
    for page in map(Path, sys.argv[1:] or PAGES):
        before = page.read_text(encoding="utf-8")
        after = play(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"Updated {page}")


if __name__ == "__main__":
    main()
