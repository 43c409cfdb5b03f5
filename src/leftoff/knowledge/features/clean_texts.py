"""Prepare texts for storage: redacted, of bounded length, and valid."""

from collections.abc import Sequence

from leftoff import redact
from leftoff.checkpoint import LIST_LIMIT, TEXT_LIMIT, without_surrogates

NAME_LIMIT = 200


def clean(text: str, *, limit: int = TEXT_LIMIT) -> str:
    """Return a text ready for storage."""
    text = text.strip()
    if not text:
        return ""
    # Listing features needs no redaction rules, which take longer to load than everything else.
    kept = redact.redact(without_surrogates(text))
    return kept if len(kept) <= limit else kept[: limit - 1] + "…"


def clean_all(texts: Sequence[str]) -> list[str]:
    """Return texts ready for storage, without empty or repeated ones."""
    kept = [clean(text) for text in texts[:LIST_LIMIT]]
    return list(dict.fromkeys(text for text in kept if text))
