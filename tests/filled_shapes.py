"""Fill a shape with made-up characters, so that no test contains even a fake secret."""

import random
import re
import string

from leftoff.redact.template import ALPHABETS

_PART = re.compile(r"<(?:uuid|(\d+)(?:\+|-\d+)? (\w+))>")
_CHOICE = re.compile(r"\{([^{}|]*)[^{}]*\}")
_RANGE = re.compile(r"(\w)-(\w)")


def fill(shape: str, seed: int = 0) -> tuple[str, str]:
    """Return a text of this shape, and the part of it that is secret."""
    picker = random.Random(f"{shape}{seed}")  # noqa: S311 - only has to look random
    while _CHOICE.search(shape):
        shape = _CHOICE.sub(r"\1", shape)
    text = _PART.sub(lambda part: _made_up(part, picker), shape)
    secret = re.search(r"\((.*)\)", text)
    bare = text.replace("(", "").replace(")", "")
    return bare, secret[1] if secret else bare


def _made_up(part: re.Match[str], picker: random.Random) -> str:
    if part[1] is None:
        return "-".join("".join(picker.choices("0123456789abcdef", k=k)) for k in (8, 4, 4, 4, 12))
    letters = _letters(part[2])
    plain = [letter for letter in letters if letter.isalnum()]
    count = int(part[1])
    body = picker.choices(plain, k=count)
    # Two digits at least: a body of letters only is another test.
    for at in picker.sample(range(count), min(2, count)) if "0" in plain and count > 4 else ():
        body[at] = picker.choice(string.digits)
    return "".join(body)


def _letters(name: str) -> list[str]:
    alphabet = ALPHABETS[name]
    ranges = [chr(n) for a, b in _RANGE.findall(alphabet) for n in range(ord(a), ord(b) + 1)]
    return [*ranges, *_RANGE.sub("", alphabet)]
