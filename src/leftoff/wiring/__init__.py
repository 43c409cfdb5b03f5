"""Wiring: putting leftoff's hooks into an agent's settings, taking them out, and checking them."""
