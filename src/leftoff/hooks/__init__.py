"""Hooks: a letterbox that keeps every event, and settle, which turns events into checkpoints."""
