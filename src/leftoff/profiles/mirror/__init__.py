"""Mirroring: native files of profiles, kept up to date with the store, and the other way round."""

from leftoff.profiles.mirror.activity import at_work, others_at_work
from leftoff.profiles.mirror.export_changes import Followed, export, follow
from leftoff.profiles.mirror.import_edits import Noticed, notice
from leftoff.profiles.mirror.mirror import Mirror
from leftoff.profiles.mirror.pending_files import (
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
