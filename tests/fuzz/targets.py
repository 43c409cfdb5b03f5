"""Fuzz targets: everything that parses foreign text. Each one takes bytes, and passes or raises."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from leftoff import checkpoint, config, profiles
from leftoff.agents.registry import AGENTS
from leftoff.errors import CheckpointUnreadable, LeftoffError
from leftoff.hooks import settle
from leftoff.profiles import import_native
from leftoff.projects.project import Project
from leftoff.redact import redact
from leftoff.session.capture import capture
from leftoff.store import Store, layout, log
from leftoff.text import fence
from stores import draft, project_at

_HERE = Path(__file__).parent
_RECORDED = _HERE.parent / "agents" / "recorded"
_GOLDEN = _HERE.parent / "profiles" / "golden"
_LETTERBOX = Path(settle.__file__).with_name("letterbox.sh")
# Far beyond what any input needs, however busy the machine is: only what never ends takes longer.
_PATIENCE_SECONDS = 120


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What is fuzzed, and what it starts from."""

    check: Callable[[bytes], None]
    seeds: Sequence[bytes]
    is_slow: bool = False
    """Whether each input takes a process of its own."""


@contextlib.contextmanager
def ending() -> Iterator[None]:
    """Raise in whatever does not come to an end."""

    def stop(*_: object) -> None:
        raise TimeoutError("It does not come to an end")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_PATIENCE_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _texts(name: str) -> list[bytes]:
    stored: list[str] = json.loads((_HERE / "seeds" / f"{name}.json").read_text(encoding="utf-8"))
    return [text.encode("utf-8", "surrogatepass") for text in stored]


def check_redaction(data: bytes) -> None:
    """Redaction ends, and its own markers hold no secret."""
    text = data.decode("utf-8", "replace")
    once = redact(text)
    assert redact(once) == once


def check_reader(agent: str, data: bytes) -> None:
    """A reader takes what it can, and complains in a sentence about the rest."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("session.db" if agent == "opencode" else "session.jsonl")
        path.write_bytes(data)
        with contextlib.suppress(LeftoffError):
            capture(path, agent=agent)


def check_fence(data: bytes) -> None:
    """Nothing in a text can end the fence or look like the end of it."""
    text = data.decode("utf-8", "replace")
    safe = fence.disarm(text)
    assert fence.disarm(safe) == safe
    assert not re.search(r"<[/!\s]*leftoff\W{0,3}briefing", _as_read(safe), re.IGNORECASE), safe


def _as_read(text: str) -> str:
    """Return a text as a model may read it: without marks that nobody sees, and folded."""
    folded = unicodedata.normalize("NFKC", text)
    return "".join(each for each in folded if unicodedata.category(each) not in {"Mn", "Me", "Cf"})


def check_letterbox(data: bytes) -> None:
    """The letterbox keeps what it was sent, says nothing and ends well, wherever it runs."""
    name, _, payload = data.partition(b"\n")
    with tempfile.TemporaryDirectory() as root:
        state = Path(root) / "state"
        folder = os.path.join(os.fsencode(root), _as_name(name))  # noqa: PTH118 - any bytes
        os.mkdir(folder)  # noqa: PTH102 - same
        state.mkdir()
        (state / "python").write_text(f"{shutil.which('true')}\n{__file__}\n", encoding="utf-8")
        done = subprocess.run(
            ["/bin/sh", str(_LETTERBOX), "claude", "Stop"],
            input=payload,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": root, "LEFTOFF_HOME": str(state)},
            capture_output=True,
            check=False,
            timeout=_PATIENCE_SECONDS,
        )
        kept = [path.read_bytes() for path in (state / "spool").iterdir()]
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert kept == [payload]


def _as_name(name: bytes) -> bytes:
    """Make a folder's name of any bytes."""
    return b"x" + name.replace(b"/", b"_").replace(b"\x00", b"_")[:100]


def check_native(profile: str, place: str, data: bytes) -> None:
    """A native file of another system is imported, or named as a problem."""
    with _project() as project, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        store = Store(project)
        try:
            import_native.import_all(store, profile, profiles.load(profile), Path(folder))
            store.index().newest(10)
        finally:
            store.close()


def check_checkpoint(data: bytes) -> None:
    """A checkpoint is read whole and written back the same, or refused."""
    try:
        found = checkpoint.decode(data)
    except CheckpointUnreadable:
        return
    assert checkpoint.decode(checkpoint.encode(found)) == found


def check_config(data: bytes) -> None:
    """Settings that cannot be used are named, and all others hold."""
    with _project() as project:
        path = config.find_project_file(project)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        config.load(project)


def check_events(data: bytes) -> None:
    """Whatever the event log holds, the checkpoints are there and the next event counts."""
    with _project() as project:
        store = Store(project)
        saved = store.save(draft("kept", "Kept")).checkpoint.id
        with (project.store / "events.jsonl").open("ab") as file:
            file.write(data)
        log.read(project.store / "events.jsonl", layout.decode_event)
        assert store.index().get(saved) is not None
        store.record("cleared", [saved])
        found = store.index().get(saved)
        store.close()
    assert found is not None
    assert found.state == "cleared"


@contextlib.contextmanager
def _project() -> Iterator[Project]:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        project = project_at(Path(folder))
        project.worktree.mkdir(parents=True)
        yield project


def _natives() -> Iterator[tuple[str, Target]]:
    """Make a target of each kind of native file."""
    for profile in profiles.PROFILES:
        files: dict[str, list[bytes]] = {}
        for path in sorted((_GOLDEN / profile).rglob("*")):
            if path.is_file():
                place = "/".join(path.relative_to(_GOLDEN / profile).parts[1:])
                files.setdefault(place, []).append(path.read_bytes())
        # One target per system: its files take turns by their first byte.
        places = sorted(files)
        seeds = [
            bytes([places.index(place)]) + data for place, many in files.items() for data in many
        ]
        yield f"native-{profile}", Target(check=partial(_check_any, profile, places), seeds=seeds)


def _check_any(profile: str, places: Sequence[str], data: bytes) -> None:
    if data:
        check_native(profile, places[data[0] % len(places)], data[1:])


def _readers() -> Iterator[tuple[str, Target]]:
    for agent in AGENTS:
        seeds = [path.read_bytes() for path in sorted((_RECORDED / agent).glob("*.jsonl"))]
        seeds = seeds or [b"SQLite format 3\x00" + bytes(200), b"not a database"]
        yield f"reader-{agent}", Target(check=partial(check_reader, agent), seeds=seeds)


TARGETS: dict[str, Target] = {
    "redaction": Target(check=check_redaction, seeds=_texts("redaction")),
    "fence": Target(check=check_fence, seeds=_texts("fence")),
    "letterbox": Target(check=check_letterbox, seeds=_texts("letterbox"), is_slow=True),
    "checkpoint": Target(check=check_checkpoint, seeds=_texts("checkpoint")),
    "config": Target(check=check_config, seeds=_texts("config")),
    "events": Target(check=check_events, seeds=_texts("events")),
    **dict(_readers()),
    **dict(_natives()),
}

if sys.platform == "win32":
    del TARGETS["letterbox"]
