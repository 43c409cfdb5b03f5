"""Read each supported agent's sessions as one stream of events, and handle its hooks."""
