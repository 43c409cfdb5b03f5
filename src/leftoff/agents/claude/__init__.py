"""Read Claude Code's transcripts, and handle its hooks."""
