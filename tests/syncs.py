"""Record which folders a program syncs."""

import os
from pathlib import Path

import pytest


def watch(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return a list that each synced file or folder is added to."""
    synced: list[Path] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    return synced
