"""Turn any text into a checkpoint name: kebab-case or as it was typed, never a path."""

import re
import unicodedata
from collections.abc import Iterable

from leftoff.errors import NameRefused

NAME_LIMIT = 64
FORBIDDEN = frozenset({"task", "work", "save", "untitled", "backup"})
# Commands call the unnamed checkpoints of hooks `autosave`, and some layouts keep their log beside
# them under that name.
RESERVED = frozenset({"autosave", "autosave-log"})

_DULL_WORDS = frozenset(
    """
    a an and are as at be by for from has have i in into is it its my of on or our so some that the
    their then there this to up was we were will with now still just also need needs done please
    can you
    """.split()
)
# Articles and the like of other languages, without those that are English words.
_DULL_FOREIGN_WORDS = frozenset(
    """
    am auf aus bei das dem den der ein eine einem einen einer eines fur ins mit nach und vom von zum
    zur au aux avec dans et la le les un une al del el en los para por unas unos y
    """.split()
)
_SENTENCE_END = re.compile(r"(?<=[^\W\d])[.!?](?=\s|$)")
_FEWEST_WORDS = 2
# Compiled on first use, because few commands make names.
# What people say before they say what they want. It is dropped from names, as often as it occurs.
_LEAD_IN = r"""(?x:(?:
    no(?:[ ]thanks|[ ]thank[ ]you|pe)|no(?=,)|yes(?:[ ]please)?|yeah|yep|sure|thanks|thank[ ]you|thx
    |ok(?:ay)?|alright|great|perfect|hey|hi|hello|well|so|now|then|please|pls|bitte
    |(?:can|could|would|will)[ ](?:you|we)|mind(?=[ ]\w+ing\b)|maybe|kindly|just
    |i(?:'d|[ ]would)[ ]like[ ](?:you[ ])?to|i[ ](?:want|need)[ ](?:you[ ])?to
    |(?:let'?s|let[ ]us)(?:[ ]do[ ]something[ ]else)?|something[ ]else(?=[:,])
    |look(?=[,:]|[ ](?:why|how|what|where|when)\b)
    |(?:continue|go[ ]on|carry[ ]on|proceed|keep[ ]going|resume)(?:[ ](?:with|on)\b)?
    |(?:mach[ ])?weiter(?:[ ]mit\b)?
    )(?![\w-])[\s,.:;!-]*)"""
_DULL_BRANCHES = frozenset({"main", "master", "develop", "dev", "trunk", "head", "unknown"})
_BRANCH_KINDS = frozenset(
    {"feat", "feature", "fix", "bugfix", "hotfix", "chore", "docs", "refactor", "test", "release"}
)


def kebab(text: str) -> str:
    """Convert any text to lowercase words joined by dashes; may be empty."""
    plain = unicodedata.normalize("NFKD", text[:4096]).casefold()
    kept = "".join(c if c.isalnum() else "-" for c in plain if not unicodedata.combining(c))
    name = re.sub(r"-{2,}", "-", unicodedata.normalize("NFC", kept)).strip("-")
    if len(name) <= NAME_LIMIT:
        return name
    head = name[:NAME_LIMIT]
    return (head.rpartition("-")[0] or head).strip("-")


# A file is named after a checkpoint, and its name may have 255 bytes.
_NAME_BYTES = 180


def clean_name(text: str) -> str:
    """Convert any text to a name that keeps its spelling; may be empty.

    Only case, spaces, slashes and leading dots and dashes change, and what cannot be shown.
    """
    plain = unicodedata.normalize("NFC", text[:4096]).strip().lower()
    kept = "".join(c if c.isprintable() and c not in " /" else "-" for c in plain)
    name = kept.lstrip(".-")
    while len(name.encode("utf-8", "replace")) > _NAME_BYTES:
        name = name[:-1]
    return name


def check_name(text: str, *, strict: bool = False, is_plain: bool = False) -> str:
    """Return the name to store, or raise NameRefused with the reason."""
    name = clean_name(text) if is_plain else kebab(text)
    shown = "".join(c if c.isprintable() else "�" for c in text[:40])
    if not name:
        raise NameRefused(
            f"{shown!r} has no letters or digits to build a name from.",
            hint="Give two to four words, such as `login-form-validation`.",
        )
    if name in FORBIDDEN and not is_plain:
        raise NameRefused(
            f"{name!r} says nothing about the work.",
            hint="Give two to four specific words, such as `login-form-validation`.",
        )
    if name in RESERVED and not is_plain:
        raise NameRefused(
            f"{name!r} is reserved for checkpoints that leftoff saves automatically.",
            hint="Choose another name.",
        )
    if strict and name != text:
        raise NameRefused(f"{shown!r} is not kebab-case.", hint=f"Use {name}")
    return name


def suggest_name(texts: Iterable[str | None], branch: str | None) -> str:
    """Suggest a name of two to four words, from the first text that yields one."""
    candidates = [_from_text(text) for text in texts if text]
    # The first text is the most specific one. The branch says more than the rest.
    candidates.insert(1 if candidates else 0, _from_branch(branch))
    for name in candidates:
        if "-" in name:
            return name
    return next((f"{name}-session" for name in candidates if name), "unnamed-session")


def find_unused_name(name: str, taken: Iterable[str]) -> str:
    """Return the name, with the first free number appended if it is taken."""
    names = set(taken)
    if name not in names:
        return name
    return next(f"{name}-{n}" for n in range(2, len(names) + 3) if f"{name}-{n}" not in names)


def _from_text(text: str) -> str:
    text = _name_error(text) or text
    first_line = text.strip().split("\n", 1)[0][:200].replace("’", "'").casefold()
    while (found := re.match(_LEAD_IN, first_line)) is not None:
        first_line = first_line[found.end() :]
    # What follows the first sentence says how, not what.
    sentence = _SENTENCE_END.split(first_line, maxsplit=1)[0]
    words = _list_name_words(sentence)
    if len(words) < _FEWEST_WORDS:
        words = _list_name_words(first_line)
    meaningful = [word for word in words if word not in _DULL_FOREIGN_WORDS]
    words = meaningful if len(meaningful) >= _FEWEST_WORDS else words
    return "-".join(word[:20] for word in words[:4])


# A file in a folder, such as `tests/test_export.py`, or a file with the ending of source code.
_PATH = r"""(?x:(?<![\w/.])
    (?:(?:[\w.@~-]*/)+([\w-]+)\.[a-z]{1,5}
      |([\w-]+)\.(?:c|cc|cpp|cs|css|go|h|html|java|js|jsx|kt|md|php|py|rb|rs|sh|sql|swift|ts|tsx|vue))
    (?![\w/-]|\.\w))"""


def _list_name_words(text: str) -> list[str]:
    """Return the meaningful words, each once; of a path only the file's own name."""
    return [*dict.fromkeys(list_key_words(re.sub(_PATH, r"\1\2", text)))]


# Python, Java and Go.
_PASTED_ERROR = r"(?m)^\s*(?:Traceback \(most recent call last\)|Exception in thread |panic: )"
_POINTING_WORDS = frozenset(
    "error errors following fail fails failed failing fix get getting got happens problem".split()
)
_ERROR_LINE = r"(?:[\w.]*\.)?(\w*(?:Error|Exception|Warning|Interrupt|Exit))\b:?(.*)"


def _name_error(text: str) -> str:
    """Return what to do about a pasted error, by the request below it or by the error itself."""
    pasted = re.search(_PASTED_ERROR, text)
    # Words before it say more, unless they only point to it: "I get this error".
    if pasted is None or {*list_key_words(text[: pasted.start()])} - _POINTING_WORDS:
        return ""
    lines = [line.rstrip() for line in text.strip().splitlines() if line.strip()]
    found = [n for n, line in enumerate(lines) if re.match(_ERROR_LINE, line)]
    if not found:
        return ""
    if found[-1] + 1 < len(lines):
        return lines[found[-1] + 1]
    error = re.match(_ERROR_LINE, lines[found[-1]])
    return f"Fix {error[1]} {error[2].replace('_', ' ')}" if error else ""


def list_key_words(text: str) -> list[str]:
    """Return the words of a text that say what it is about."""
    # One after the other, because `kebab` shortens a long text.
    words = [part for word in text.replace("'", "").split() for part in kebab(word).split("-")]
    return [word for word in words if word and word not in _DULL_WORDS]


def _from_branch(branch: str | None) -> str:
    if not branch:
        return ""
    words = [w for w in kebab(branch).split("-") if w]
    if words and words[0] in _BRANCH_KINDS:
        words = words[1:]
    name = "-".join(words[:4])
    return "" if name in _DULL_BRANCHES else name


# A name made of these words alone could be the name of any task.
_VAGUE_WORDS = FORBIDDEN | frozenset(
    """
    a an the my our this that new old next last latest current final first second more other some
    misc temp tmp test wip todo draft stuff thing things checkpoint session progress state status
    project code change changes update updates fix fixes bug bugs feature features continue resume
    today tomorrow later now morning evening monday tuesday wednesday thursday friday saturday
    sunday day part step phase version v working worked saved saving continued
    unfinished remaining pending auto important general main default example foo bar item file name
    yesterday note memory context chat conversation job
    """.split()
)


def check_specific(name: str) -> str:
    """Return a name that identifies a task at a glance, or raise NameRefused."""
    if all(map(_is_vague, name.split("-"))):
        raise NameRefused(
            f"{name!r} could be the name of any task.",
            hint="Give two to four specific words, such as `login-form-validation`.",
        )
    return name


def _is_vague(word: str) -> bool:
    singular = word.removesuffix("s")
    is_letter = len(word) == 1 and word.isascii()
    is_dull = not {word, singular}.isdisjoint(_VAGUE_WORDS | _DULL_WORDS)
    return is_dull or is_letter or word.isdecimal()
