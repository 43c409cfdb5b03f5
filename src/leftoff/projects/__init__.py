"""Projects: which folder is one, where its store is, and what may not lead out of it."""
