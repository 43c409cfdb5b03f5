"""Agents: one reader per coding agent, all giving the same stream of events, and their hooks."""
