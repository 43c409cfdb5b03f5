"""Goodbyes: messages that end a session and ask for nothing."""

import functools
import re

from leftoff.phrases.match import LONGEST, any_of, read_languages, split_phrases, trim


def is_goodbye(message: str) -> bool:
    """Say whether a message is nothing but a goodbye, whatever thanks and punctuation surround it.

    Within a sentence, the same words mean nothing.
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
