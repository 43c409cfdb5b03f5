"""Read Codex's sessions, and handle its hooks."""
