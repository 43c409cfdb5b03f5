"""Remove hidden characters from a text, and disarm what looks like a mark or like markup.

A model recognizes the closing mark even if it is written with Cyrillic letters, fullwidth brackets
or a long dash. So marks are searched for in a folded view of the text, in which each character
knows which part of the text it came from. The text itself is never folded.
"""

import re
import unicodedata
from collections.abc import Iterator

# Each Latin letter or sign, and the characters of other scripts that look like it.
_LETTERS = {
    twin: latin
    for latin, twins in {
        "a": "аАαΑаᎪꓮ∀Ꭺɑ", "b": "ВвЬьΒβᏴꓐʙƄ", "c": "сСϲϹᏟꓚςՇⲥⲤ", "d": "ԁԀᎠꓓժ",
        "e": "еЕєЄΕεϵҽℯᎬꓰ℮ⲉ∊ɛ", "f": "ϝϜꓝքғҒſƒꞙ", "g": "ԌᏀᏳꓖցɡġԍ", "h": "һҺНнΗհᎻꓧћђ",
        "i": "іІΙιᎥꓲɪıӀӏ⍳ⲓו۱١", "j": "јЈϳͿᎫꓙյ", "k": "кКΚκᏦꓗⲕ", "l": "λⅼᏞꓡլʟןاⲒ",
        "m": "мМΜᎷꓟϺⲘ", "n": "пΝηոռꓠПπⲚᏁ", "o": "оОοΟσօՕꓳ०০੦೦๐໐೦ᴏⲟⲞ°○◯", "p": "рРρΡᏢꓑⲣ",
        "q": "ԛԚզգ", "r": "гГᎡꓣᏒⲅя", "s": "ѕЅᏚꓢՏꜱ", "t": "тТΤτᎢꓔⲧͳ", "u": "υսꓴЦцՍμ",
        "v": "νѵѴᏙꓦ∨⋁", "w": "ԝԜωѡшᎳꓪա", "x": "хХΧχꓫⲭ×᙮", "y": "уУүҮΥγўᎩꓬⲨ", "z": "ΖᏃꓜ",
        "<": "ᐸ❮❰⟨⟪⦑⧼‹«〈《≺≪⋖ᚲ𝈶⊂⊰˱", ">": "ᐳ❯❱⟩⟫⦒⧽›»〉》≻≫⋗", "/": "╱⟋ノ〳丿⼃Ⳇ᜵⳻",
        "|": "│┃❘❙❚ǁ¦⎢∣ǀ", "-": "‐‑‒–—―−⁃ー一─━˗", "_": "▁ˍ",
    }.items()
    for twin in twins
}  # fmt: skip
# Small capitals, letters with strokes and hooks, squared and circled ones: the Unicode name has
# the letter.
_NAMED = re.compile(
    r"(?:LATIN|REGIONAL INDICATOR)\b.*\bLETTER (?:[A-Z]{2,} )*([A-Z])(?: WITH .*)?$"
)
_SHAPES = (
    ("<", re.compile(r"LESS-THAN|LEFT.*ANGLE|LEFT ARROWHEAD|PRECEDES")),
    (">", re.compile(r"GREATER-THAN|RIGHT.*ANGLE|RIGHT ARROWHEAD|SUCCEEDS")),
    ("/", re.compile(r"SOLIDUS|SLASH|RISING DIAGONAL")),
    ("|", re.compile(r"VERTICAL (?:LINE|BAR)|DIVIDES")),
    ("[", re.compile(r"LEFT.*(?:SQUARE|TORTOISE SHELL|LENTICULAR) BRACKET")),
    ("]", re.compile(r"RIGHT.*(?:SQUARE|TORTOISE SHELL|LENTICULAR) BRACKET")),
)
_CATEGORIES = {"Mn": "", "Me": "", "Cf": "", "Pd": "-", "Pc": "_", "Zs": " "}
# `&lt;`, `&amp;lt;`, `&#60;`, `%3C`, `\u003c`, `\x3c`: a model reads each as the character.
_ESCAPE = re.compile(
    r"&(?:amp;|#0*38;|#x0*26;)*(?:#0*(\d{1,7})|#x0*([0-9a-f]{1,6})|([a-z]{2,8}));?"
    r"|%(?:25)*([0-9a-f]{2})|\\(?:u\{0*([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2}))"
)
_ENTITIES = {
    **dict.fromkeys(("lt", "lang", "langle", "laquo", "lsaquo"), "<"),
    **dict.fromkeys(("gt", "rang", "rangle", "raquo", "rsaquo"), ">"),
    **dict.fromkeys(("hyphen", "dash", "minus", "ndash", "mdash", "horbar"), "-"),
    **dict.fromkeys(("nbsp", "newline", "tab", "ensp", "emsp", "thinsp"), " "),
    **dict.fromkeys(("shy", "zwj", "zwnj", "lrm", "rlm"), ""),
    **dict.fromkeys(("vert", "verbar"), "|"),
    **dict.fromkeys(("lsqb", "lbrack"), "["),
    "sol": "/",
    "lowbar": "_",
}  # fmt: skip

_BREAK = re.compile("\r\n|[\n-\r\x1c-\x1e\x85\u2028\u2029]")
# Control characters except tab and newline, direction overrides, and invisible characters, which
# can hide text or split a tag.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e"
    "\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001345f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Emoji and some scripts need joiners and selectors, but never more than two in a row. A longer row
# can spell a hidden text, and a joiner beside an ASCII character only hides something.
_ROW = re.compile("([\u200c\u200d\ufe00-\ufe0f]{2})[\u200c\u200d\ufe00-\ufe0f]+")
_JOINERS = re.compile("(?<=[!-~])[\u200c\u200d]+|[\u200c\u200d]+(?=[!-~])")
_HALF = re.compile("[\ud800-\udfff]")
_TAG_NAMES = (
    "system|user|assistant|human|tool|invoke|parameter|instruction|important|admin|developer|"
    "summary|context|thinking|function|result|output|analysis"
)
# Agents write their own markup as <system-reminder>, <function_calls>, <a:invoke>, <|im_start|>;
# names with such a joint, and the plain ones above, are disarmed. Code such as Vec<T> stays whole.
_MARKUP = re.compile(r"<(?=[/!]?[a-z][a-z0-9]*(?:[-_:][a-z0-9]+)+\b)", re.IGNORECASE)
# The same in the folded view, where only names that a program obeys count. Our own mark is found
# however it is spaced, joined or spelled.
_JOINT = r"[\W_]*"
_OWN = _JOINT.join(
    [rf"(?:\w{_JOINT})?e", *"ft", "[o0]", *"ffb", rf"r{_JOINT}(?:[il1]{_JOINT})?e", "f"]
)
# Every bracket before it goes, so that none is left for a second look. A mark that ends like one is
# ours with any bracket, and there are more of them than a table could name.
_BEFORE_OWN = re.compile(
    rf"(?<![\W_])[\W_]++(?={_OWN}(?P<like_a_mark>\w{{0,4}}\s?[^\w\s.,:;'\"`()/-])?)"
)
_ARMED = re.compile(
    rf"(?:<(?=\s+/?\s*(?:{_TAG_NAMES})s?\s*>)"
    rf"|<(?=(?:\s*/\s*|!)?(?:[a-z0-9]+[-_:])*(?:{_TAG_NAMES})s?(?![a-z0-9])|\|)"
    r"|<(?=<?/?sys>>)|\[(?=\s*/?\s*inst\s*\]))"
)
# In prose «system» is a quotation; with a slash or a joint it is not.
_QUOTATION = re.compile(rf"<(?:{_TAG_NAMES})s?\s?>")

Spans = list[tuple[int, int]]


class _Folds(dict[int, str]):
    """What each character looks like, determined on first use."""

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKD", _find_twin(chr(code)) or chr(code))
        self[code] = "".join(map(_look, plain)).lower()
        return self[code]


_FOLDS = _Folds()


def drop_unseen(text: str) -> str:
    """Drop control and invisible characters, which can steer a terminal or hide a text."""
    text = _UNSEEN.sub("", text)
    return text if text.isascii() else _JOINERS.sub("", _ROW.sub(r"\1", text))


def disarm(text: str) -> str:
    """Make a text harmless but keep it readable, with plain line breaks."""
    text = drop_unseen(_BREAK.sub("\n", text))
    return _without_marks(text if text.isascii() else _HALF.sub("�", text))


def _without_marks(text: str) -> str:
    """Replace the opening bracket of what looks like a mark, or like markup that agents obey."""
    text = _MARKUP.sub("(", text) if "<" in text else text
    if next(_find_openings(fold(text)), None) is None:
        return text
    view, spans = fold_with_spans(text)
    parts, at = [], 0
    for place in sorted({*_find_openings(view)}):
        start, end = spans[place]
        if start >= at and not (text[start] == "«" and _QUOTATION.match(view, place)):
            parts.append(f"{text[at:start]}(")
            at = end
    return "".join([*parts, text[at:]])


def _find_openings(view: str) -> Iterator[int]:
    """Yield where a bracket opens what looks like a mark, or like markup that agents obey."""
    yield from (found.start() for found in _ARMED.finditer(view))
    for found in _BEFORE_OWN.finditer(view):
        yield from (place for place in range(*found.span()) if view[place] == "<")
        if found["like_a_mark"] and found[0].strip() and found[0].strip()[-1] not in "(<":
            yield found.start() + len(found[0].rstrip()) - 1


def fold(text: str) -> str:
    """Return the folded view of a text: what it looks like, in lower-case ASCII where possible."""
    view = text.lower() if text.isascii() else text.translate(_FOLDS)
    return _ESCAPE.sub(_unescape, view) if _may_escape(view) else view


def fold_with_spans(text: str) -> tuple[str, Spans]:
    """Return the folded view, and for each of its characters the span in the text."""
    pairs = [
        (look, (place, place + 1))
        for place, character in enumerate(text)
        for look in _FOLDS[ord(character)]
    ]
    view, spans = "".join(look for look, _ in pairs), [span for _, span in pairs]
    looks: list[str] = []
    folded: Spans = []
    at = 0
    for found in _ESCAPE.finditer(view):
        start, end = found.span()
        plain = _unescape(found)
        if plain == found[0]:
            continue
        looks += [view[at:start], plain]
        folded += [*spans[at:start], *[(spans[start][0], spans[end - 1][1])] * len(plain)]
        at = end
    return "".join([*looks, view[at:]]), [*folded, *spans[at:]]


def _may_escape(view: str) -> bool:
    return "&" in view or "%" in view or "\\" in view


def _find_twin(character: str) -> str:
    return _LETTERS.get(character, "")


def _look(character: str) -> str:
    if character.isascii():
        return character
    if twin := _find_twin(character):
        return twin
    category = unicodedata.category(character)
    if category in _CATEGORIES:
        return _CATEGORIES[category]
    name = unicodedata.name(character, "")
    if found := _NAMED.search(name):
        return found[1]
    return next((look for look, shape in _SHAPES if shape.search(name)), character)


def _unescape(found: re.Match[str]) -> str:
    """Return the character that an escape means, or the escape itself if it does not matter."""
    decimal, code, name, *codes = found.groups()
    if name is not None:
        return _ENTITIES.get(name, found[0])
    number = int(decimal) if decimal else int(next(filter(None, (code, *codes))), 16)
    return _FOLDS[number] if number < 0x11_0000 else found[0]
