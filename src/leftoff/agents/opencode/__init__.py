"""Read opencode's sessions, and handle its hooks."""
