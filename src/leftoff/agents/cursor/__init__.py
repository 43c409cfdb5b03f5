"""Read Cursor's sessions, and handle its hooks."""
