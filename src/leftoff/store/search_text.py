"""Build the searchable text of a checkpoint, and the full-text queries on it.

Chinese, Japanese and Korean are written without spaces. Each of their characters is therefore
indexed as a word, and a sequence of them is searched as a phrase.
"""

import functools
import re
from collections.abc import Iterator

from leftoff.checkpoint import Checkpoint

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_CHARACTER = f"([{_CJK}])"
_SPACED = f"(?<=[{_CJK}]) | (?=[{_CJK}])"
_WORD = rf"[{_CJK}]+|[^\W{_CJK}]+"
_AROUND = 60

# Compiled on first use: compiling character sets this large takes as long as starting Python, and
# most commands never search.
_compiled = functools.cache(re.compile)


def searchable(checkpoint: Checkpoint) -> str:
    """Join everything that a person might search a checkpoint for."""
    return "\n".join(text for text in _list_texts(checkpoint) if text)


def _list_texts(checkpoint: Checkpoint) -> Iterator[str | None]:
    yield checkpoint.name
    yield checkpoint.summary
    yield checkpoint.next_action.text if checkpoint.next_action else None
    yield from checkpoint.next_steps
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
    if checkpoint.last_commit and _has_committed(checkpoint):
        yield checkpoint.last_commit.subject
    yield checkpoint.feature


def _has_committed(checkpoint: Checkpoint) -> bool:
    """Return whether the last commit is one of this work: every checkpoint names git's last one."""
    trail = (step.what for step in checkpoint.trail)
    ran = (*checkpoint.commands, *checkpoint.also_ran, *trail)
    return any("git commit" in each for each in ran)


def split_cjk(text: str) -> str:
    """Separate the characters of unspaced scripts, so that each is a word."""
    return _compiled(_CJK_CHARACTER).sub(r" \1 ", text)


def join_cjk(text: str) -> str:
    """Undo `split_cjk`."""
    return _compiled(_SPACED).sub("", text)


def match_expression(words: str, **columns: str | None) -> str:
    """Build the full-text query: all words, the last one as a prefix, plus column filters."""
    found = _compiled(_WORD).findall(words)
    if not found:
        return ""
    terms = [f'text : "{split_cjk(word).strip()}"' for word in found]
    # People search while they type, so the last word may be incomplete.
    terms[-1] += "*"
    filters = (
        f'{column} : "{" ".join(_compiled(_WORD).findall(value))}"'
        for column, value in columns.items()
        if value and _compiled(_WORD).search(value)
    )
    return " AND ".join([*terms, *filters])


def snippet(text: str, words: str) -> str:
    """Return the fields that match, on one line; of a long field, the part around the match."""
    name, *rest = text.split("\n")
    # The name is shown beside it, so it is only of use if nothing else matches.
    fields = [field for field in [*rest, name] if field]
    shown: dict[str, str] = {}
    for word in map(str.lower, _compiled(_WORD).findall(words)):
        if any(word in field.lower() for field in shown):
            continue
        found = next((each for each in fields if word in each.lower()), None)
        if found is not None:
            shown[found] = _cut_around(found, found.lower().find(word))
    return _BETWEEN.join(shown.values()) or _cut_around(fields[0], 0) if fields else ""


_BETWEEN = " · "


def _cut_around(field: str, middle: int) -> str:
    """Return the part of a field around a place, cut between words."""
    start, end = max(0, middle - _AROUND), min(len(field), middle + 2 * _AROUND)
    # A text without spaces is cut where it must be.
    if start and (space := field.find(" ", start, middle)) >= 0:
        start = space
    if end < len(field) and (space := field.rfind(" ", middle, end)) > middle:
        end = space
    part = " ".join(field[start:end].split())
    return f"{'…' if start else ''}{part}{'…' if end < len(field) else ''}"
