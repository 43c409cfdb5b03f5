"""Mirroring: native files of profiles, kept up to date with the store, and the other way round."""

from leftoff.mirroring.activity import at_work, others_at_work
from leftoff.mirroring.following import Followed, export, follow
from leftoff.mirroring.mirror import Mirror
from leftoff.mirroring.noticing import Noticed, notice
from leftoff.mirroring.noting import (
    Waiting,
    keeps_notes,
    noted,
    path_of,
    shown,
    task_of,
    tells_what_waits,
    waiting,
)

__all__ = [
    "Followed",
    "Mirror",
    "Noticed",
    "Waiting",
    "at_work",
    "export",
    "follow",
    "keeps_notes",
    "noted",
    "notice",
    "others_at_work",
    "path_of",
    "shown",
    "task_of",
    "tells_what_waits",
    "waiting",
]
