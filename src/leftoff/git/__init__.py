"""Query git repositories, change them, and open pull requests."""
