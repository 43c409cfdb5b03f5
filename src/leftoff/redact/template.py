"""Compile the small language of shapes: fixed texts, counted characters of an alphabet, choices."""

import re

ALPHABETS: dict[str, str] = {
    "alnum": "A-Za-z0-9",
    "lower": "a-z0-9",
    "upper": "A-Z0-9",
    "letter": "A-Za-z",
    "digit": "0-9",
    "hex": "0-9a-f",
    "xhex": "0-9A-Fa-f",
    "word": "A-Za-z0-9_-",
    "dash": "A-Za-z0-9-",
    "dotted": "A-Za-z0-9_.-",
    "tilde": "A-Za-z0-9_.~-",
    "path": "A-Za-z0-9_/+-",
    "base64": "A-Za-z0-9+/_-",
    "base64url": "A-Za-z0-9_.=-",
    "encoded": "A-Za-z0-9%+/=_-",
    "jose": "A-Za-z0-9_.=/+-",
    "address": "A-Za-z0-9_@./-",
    "percent": "A-Za-z0-9%_-",
    "query": "A-Za-z0-9_%&=.-",
}
_UUID = "[0-9A-Za-z]{8}-[0-9A-Za-z]{4}-[0-9A-Za-z]{4}-[0-9A-Za-z]{4}-[0-9A-Za-z]{12}"
_SOLID = frozenset(("alnum", "lower", "upper", "letter", "digit", "hex", "xhex"))
_UUID_HEAD = 8
_LONGEST_SOLID = 12
_PART = re.compile(r"<(?:uuid|(\d+)(?:(\+)|-(\d+))? (\w+))>|[{|}()]|[^<{|}()]+")
_OPENING = re.compile(r"\{([^{}<>]*)\}|[^<{()]+|\(")
# What may follow the last counted part without making the match fail.
_TRAILING = frozenset("(){}|=")
# An open count that is not the last could run to the end of a text and fail there, again and again.
# No issuer writes a longer part.
_LONGEST_PART = 1000


def to_pattern(shape: str) -> str:
    """Return the regular expression of a shape; its group, if any, is the secret part."""
    out, depth, fence = [], 0, ""
    for part in _PART.finditer(shape):
        text = part[0]
        depth += (text == "{") - (text == "}")
        if text in "{}" or (text == "|" and depth):
            out.append({"{": "(?:", "}": ")"}.get(text, text))
        elif text in "()":
            out.append(text)
        elif text.startswith("<"):
            is_last = _TRAILING.issuperset(shape[part.end() :])
            pattern, fence = _build_counted(part, is_last=is_last)
            out.append(pattern)
        else:
            out.append(re.escape(text))
            fence = "(?![A-Za-z0-9])" if text[-1].isalnum() else ""
    return "".join(out) + fence


def _build_counted(part: re.Match[str], *, is_last: bool) -> tuple[str, str]:
    """Return a counted part and what must not follow it."""
    if part[4] is None:
        return _UUID, "(?![0-9A-Za-z])"
    alphabet = ALPHABETS[part[4]]
    if part[2]:
        most = "" if is_last else str(max(_LONGEST_PART, int(part[1])))
        return f"[{alphabet}]{{{part[1]},{most}}}", ""
    return f"[{alphabet}]{{{part[1]},{part[3] or part[1]}}}", f"(?![{alphabet}])"


def openings(shape: str) -> list[str]:
    """List the fixed texts that a shape may begin with, with choices expanded."""
    texts, at = [""], 0
    while part := _OPENING.match(shape, at):
        choices = [""] if part[0] == "(" else (part[1] or part[0]).split("|")
        texts = [text + choice for text in texts for choice in choices]
        at = part.end()
    return texts


def solid_part(shape: str) -> int:
    """Return how many letters and digits must follow the opening of a shape, twelve at most."""
    at = 0
    while opening := _OPENING.match(shape, at):
        at = opening.end()
    body = _PART.match(shape, at)
    if not body or not body[0].startswith("<"):
        return 0
    if body[4] is None:
        return _UUID_HEAD
    return min(int(body[1]), _LONGEST_SOLID) if body[4] in _SOLID else 0


def find_fixed_part(shape: str) -> str:
    """Return the longest fixed text of a shape without an opening; of equal ones, the last."""
    return max(reversed(re.split(r"<[^>]*>|\{[^}]*\}|[()]", shape)), key=len)
