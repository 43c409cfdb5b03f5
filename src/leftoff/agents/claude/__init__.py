"""Claude Code: its transcripts, and what its hooks send and accept."""
