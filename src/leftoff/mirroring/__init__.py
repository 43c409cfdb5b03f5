"""Mirroring: native files of profiles, kept up to date with the store, and the other way round."""

from leftoff.mirroring.following import Followed, export, follow
from leftoff.mirroring.noticing import Noticed, notice

__all__ = ["Followed", "Noticed", "export", "follow", "notice"]
