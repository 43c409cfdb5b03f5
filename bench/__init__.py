"""Measure leftoff against limits: `python -m bench`, or `python -m bench PART`."""
