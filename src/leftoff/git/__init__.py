"""Git: questions to a repository, changes to it, and pull requests."""
