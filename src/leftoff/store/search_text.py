"""Words for the index: what of a checkpoint is searchable, and how words are matched.

Chinese, Japanese and Korean write without spaces, so each such character is a word of its own
here, and a run of them is searched as a phrase.
"""

import functools
import re
from collections.abc import Iterable, Iterator

from leftoff.checkpoint import Checkpoint

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_CHARACTER = f"([{_CJK}])"
_SPACED = f"(?<=[{_CJK}]) | (?=[{_CJK}])"
_WORD = rf"[{_CJK}]+|[^\W{_CJK}]+"
_AROUND = 60

# Compiled when first used: sets this large take a Python start to compile, and most commands
# never search.
_compiled = functools.cache(re.compile)


def searchable(checkpoint: Checkpoint) -> str:
    """Join all that a person might remember of a checkpoint."""
    return "\n".join(text for text in _texts(checkpoint) if text)


def _texts(checkpoint: Checkpoint) -> Iterator[str | None]:
    yield checkpoint.name
    yield checkpoint.summary
    yield checkpoint.next_action.text if checkpoint.next_action else None
    yield checkpoint.intent
    yield checkpoint.left_off
    yield from checkpoint.done
    yield from checkpoint.blockers
    yield from checkpoint.questions
    yield from (f"{each.what} — {each.why}" for each in checkpoint.decisions)
    yield from (f"{each.what} — {each.why}" for each in checkpoint.failed)
    yield from checkpoint.notes
    yield from (todo.text for todo in checkpoint.todos)
    yield from checkpoint.files_modified
    yield from (file.path for file in checkpoint.files)
    yield from checkpoint.pending_prompts
    yield checkpoint.plan.title if checkpoint.plan else None
    if checkpoint.last_failure:
        yield f"{checkpoint.last_failure.command}\n{checkpoint.last_failure.error}"
    yield checkpoint.last_commit.subject if checkpoint.last_commit else None
    yield checkpoint.feature


def split_cjk(text: str) -> str:
    """Set each character of unspaced scripts apart, as a word."""
    return _compiled(_CJK_CHARACTER).sub(r" \1 ", text)


def join_cjk(text: str) -> str:
    """Take back what `split_cjk` did."""
    return _compiled(_SPACED).sub("", text)


def match_expression(words: str, **columns: str | None) -> str:
    """Write the full-text question: all words, the last one as a beginning, filters by column."""
    found = _compiled(_WORD).findall(words)
    if not found:
        return ""
    terms = [f'text : "{split_cjk(word).strip()}"' for word in found]
    terms[-1] += "*"
    filters = (
        f'{column} : "{" ".join(_compiled(_WORD).findall(value))}"'
        for column, value in columns.items()
        if value and _compiled(_WORD).search(value)
    )
    return " AND ".join([*terms, *filters])


def snippet(text: str, words: str) -> str:
    """Show the first match with some text around it, on one line."""
    places = list(_first_places(text, _compiled(_WORD).findall(words)))
    middle = min(places, default=0)
    start, end = max(0, middle - _AROUND), min(len(text), middle + 2 * _AROUND)
    part = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{part}{'…' if end < len(text) else ''}"


def _first_places(text: str, words: Iterable[str]) -> Iterator[int]:
    lowered = text.lower()
    for word in words:
        if (place := lowered.find(word.lower())) >= 0:
            yield place
