"""One module per coding agent, each reading its sessions onto the same stream of events."""
