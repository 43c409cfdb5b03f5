"""Read Copilot CLI's sessions, and handle its hooks."""
