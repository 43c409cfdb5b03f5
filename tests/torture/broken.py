"""A worker whose leftoff was broken on purpose, which the torture must notice.

Run it as `broken.py HOW TASK`.
"""

import os
import runpy
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from leftoff.cli.torture import work
from leftoff.hooks import start
from leftoff.session import prompt_queue
from leftoff.store import disk
from leftoff.store.index import StoreIndex
from leftoff.store.layout import Area
from leftoff.torture import load, workloads, world
from leftoff.torture.workloads import WORKLOADS

_real_write, _real_heads, _real_captured = (
    Area.write_raw,
    StoreIndex.heads,
    prompt_queue._append_captured,  # noqa: SLF001
)


def _put(owner: object, name: str, value: object) -> None:
    """Put something in the place of what is there."""
    assert hasattr(owner, name), f"There is no {name} to break."
    setattr(owner, name, value)


def _only(*names: str) -> None:
    for name in [*WORKLOADS]:
        if name not in names:
            del WORKLOADS[name]
    _put(workloads, "TOGETHER", names)


def lose_records() -> None:
    """Acknowledge saves that are written nowhere."""
    _only("save")
    _put(Area, "write_raw", lambda area, checkpoint_id, _: area.path_of(checkpoint_id))


def show_halves() -> None:
    """Write checkpoints in their place, bit by bit."""
    _only("save")

    def write(area: Area, checkpoint_id: str, data: bytes) -> Path:
        path = area.path_of(checkpoint_id)
        disk.ensure_folder(path.parent)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(descriptor, data)
        os.close(descriptor)
        return path

    _put(Area, "write_raw", write)


def forget_sync() -> None:
    """Sync nothing."""
    _only("save", "save over a name", "memory add", "wal add", "save with a decision")
    _put(os, "fsync", lambda _: None)


def swallow_errors() -> None:
    """Go on as if nothing had happened when a write fails."""
    _only("save")

    def write_all(descriptor: int, data: bytes) -> None:
        try:
            os.write(descriptor, data)
        except OSError:
            return

    _put(disk, "write_all", write_all)


def hide_entries() -> None:
    """List all checkpoints but one."""
    StoreIndex.heads = lambda self, states, limit: _real_heads(self, states, limit)[1:]  # type: ignore[method-assign]


def read_outside() -> None:
    """Tell a new session what lies beside its repository."""

    def answer(*_: Any, **__: Any) -> str:
        places = [parent / "outside" / "secret.txt" for parent in Path.cwd().parents]
        return next(place.read_text() for place in places if place.exists())

    _put(start, "answer", answer)


def settle_twice() -> None:
    """Let hooks start a Python in which every prompt is captured twice."""
    program = Path.cwd() / "python"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} as_python "$@"\n')
    program.chmod(0o700)
    _put(load, "install_hooks", partial(world.install_hooks, python=str(program)))


def as_python() -> None:
    """Run a module, as `python -I -m MODULE …` does."""

    def captured(store: Any, prompt: Any) -> None:
        _real_captured(store, prompt)
        _real_captured(store, prompt)

    _put(prompt_queue, "_append_captured", captured)
    words = sys.argv[2:]
    module = words[words.index("-m") + 1]
    sys.argv = words[words.index(module) :]
    runpy.run_module(module, run_name="__main__")


def crash() -> None:
    """Break down at once."""
    os._exit(3)


WAYS: dict[str, Callable[[], None]] = {
    way.__name__: way
    for way in (
        lose_records, show_halves, forget_sync, swallow_errors, hide_entries, read_outside,
        settle_twice, crash,
    )
}  # fmt: skip

if __name__ == "__main__":
    if sys.argv[1] == "as_python":
        as_python()
    else:
        WAYS[sys.argv[1]]()
        work()
