"""Install leftoff's hooks in an agent's settings, remove them, and check that they work."""
