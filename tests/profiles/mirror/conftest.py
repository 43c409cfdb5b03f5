"""What the tests of mirrors share: a repository to stand in, and the command line."""

from cli.conftest import _utc, cli, repo, stored

__all__ = ["_utc", "cli", "repo", "stored"]
