"""Secrets are cut out of text before it is stored."""

from leftoff.redact.engine import find_secrets, redact, redact_value

__all__ = ["find_secrets", "redact", "redact_value"]
