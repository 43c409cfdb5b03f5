"""Read Gemini CLI's sessions, and handle its hooks."""
