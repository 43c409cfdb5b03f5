"""Check that agents find the skill: the files, and what Claude Code itself lists."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from leftoff.context import Environment
from leftoff.wiring import foreign_files, install, try_programs
from leftoff.wiring.findings import DoctorFinding, World, ok, warning

_NAME = "leftoff"
_SECONDS = 20.0
# A command of the program itself: it prints what it has loaded, and asks no model.
_QUESTION = (
    "-p", "--output-format", "stream-json", "--verbose", "--no-session-persistence",
    "--settings", '{"disableAllHooks": true}', "/cost",
)  # fmt: skip


class _Opening(msgspec.Struct):
    """The first line in which Claude Code says what it has loaded."""

    subtype: str = ""
    skills: list[str] | None = None
    claude_code_version: str = ""


_decoder = msgspec.json.Decoder(_Opening)


def check_skill(world: World, *, is_wired: bool) -> Iterator[DoctorFinding]:
    """Check that the skill is where agents look, and that Claude Code lists it."""
    if not is_wired:
        # Nothing is installed, or the plugin brings its own skill.
        return
    edited = install.list_edited_skills(world.places)
    for path in install.list_wanted_skills(world.places):
        if foreign_files.read(path) is None:
            yield warning(
                "skill",
                f"{path} is missing",
                why="Agents that look there do not know how to use leftoff.",
                do="Run `leftoff init`.",
            )
        elif path in edited:
            yield ok("skill", f"{path} is your own version, which leftoff leaves as it is")
        else:
            yield ok("skill", f"{path} is in place")
    if foreign_files.read(world.places.skills[0]) is not None:
        yield from _check_listing(world)


def _check_listing(world: World) -> Iterator[DoctorFinding]:
    listed = list_skills(world.places.environment)
    if listed is None:
        return
    if _NAME in (listed.skills or []):
        yield ok("skill", f"Claude Code {listed.claude_code_version} lists it")
    else:
        yield warning(
            "skill",
            f"Claude Code {listed.claude_code_version} does not list the skill",
            why="It does not know how to use leftoff.",
            do=f"Check that {world.places.skills[0]} begins with its name and description.",
        )


def list_skills(environment: Environment) -> _Opening | None:
    """Ask Claude Code which skills it has loaded; None if it is not there or does not say."""
    program = shutil.which("claude", path=environment.variables.get("PATH"))
    if program is None:
        return None
    with tempfile.TemporaryDirectory(prefix="leftoff-") as folder:
        # A folder of its own, so that the program writes nothing into the user's.
        apart = Path(folder)
        (apart / "skills").symlink_to(environment.list_skill_folders()[0])
        answer = try_programs.ask(
            (program, *_QUESTION),
            cwd=apart,
            env={
                **environment.variables,
                "CLAUDE_CONFIG_DIR": folder,
                "TMPDIR": folder,
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
            },
            seconds=_SECONDS,
        )
    return next(_read_openings(answer.out), None)


def _read_openings(out: bytes) -> Iterator[_Opening]:
    for line in out.splitlines():
        with contextlib.suppress(msgspec.DecodeError, msgspec.ValidationError):
            said = _decoder.decode(line)
            if said.subtype == "init" and said.skills is not None:
                yield said
