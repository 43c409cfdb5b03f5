"""The fold of a session's events to facts: what a machine can know without asking anyone."""
