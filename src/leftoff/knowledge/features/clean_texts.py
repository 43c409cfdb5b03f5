"""Texts as they may be kept: without secrets, of bounded length, and valid."""

from collections.abc import Sequence

from leftoff import redact
from leftoff.checkpoint import LIST_LIMIT, TEXT_LIMIT, without_surrogates

NAME_LIMIT = 200


def clean(text: str, *, limit: int = TEXT_LIMIT) -> str:
    """Return a text as it may be kept."""
    text = text.strip()
    if not text:
        return ""
    # Looking at features needs no rules for secrets, and they take longer to load than the rest.
    kept = redact.redact(without_surrogates(text))
    return kept if len(kept) <= limit else kept[: limit - 1] + "…"


def clean_all(texts: Sequence[str]) -> list[str]:
    """Return texts as they may be kept, each once and none empty."""
    kept = [clean(text) for text in texts[:LIST_LIMIT]]
    return list(dict.fromkeys(text for text in kept if text))
