"""Measurements beside their limits: `python -m bench`, or one part of it by name."""
