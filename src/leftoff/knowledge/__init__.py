"""Knowledge: what a project remembers beyond one checkpoint: memory, features, and corrections."""
