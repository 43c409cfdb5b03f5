"""Remove secrets from text before it is stored."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leftoff.redact.engine import find_secrets as find_secrets
    from leftoff.redact.engine import redact as redact
    from leftoff.redact.engine import redact_value as redact_value

__all__ = ["find_secrets", "redact", "redact_value"]


def __getattr__(name: str) -> object:
    # Loading the rules takes 4 times the CPU of `python -c pass`; listing needs none of them.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from leftoff.redact import engine  # noqa: PLC0415 - 28 ms

    return getattr(engine, name)
