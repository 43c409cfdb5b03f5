"""Recognize messages that only say goodbye."""

import functools
import re

from leftoff.phrases.match import LONGEST, any_of, read_languages, split_phrases, trim


def is_goodbye(message: str) -> bool:
    """Return whether a message is only a goodbye, ignoring thanks and punctuation around it.

    Within a longer sentence, the same words do not count.
    """
    if len(message) > LONGEST:
        return False
    plain = trim(" ".join(message.casefold().split()))
    return _around().sub("", plain.removeprefix("/")) in _messages()


@functools.cache
def _messages() -> frozenset[str]:
    return frozenset(each for language in read_languages() for each in language.goodbyes.messages)


@functools.cache
def _around() -> re.Pattern[str]:
    before, after = [], []
    for language in read_languages():
        said, edge = language.goodbyes, language.boundary
        before += [f"(?:{phrase}){edge}" for phrase in split_phrases(said.before, said.parts)]
        after += split_phrases(said.after, said.parts)
    return re.compile(rf"^(?:{any_of(before)}[\W_]*)+|[\W_]+{any_of(after)}$")
