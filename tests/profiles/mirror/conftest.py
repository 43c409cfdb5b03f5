"""Fixtures for mirror tests: a repository as the working directory, and the command line."""

from cli.conftest import _utc, cli, repo, stored

__all__ = ["_utc", "cli", "repo", "stored"]
