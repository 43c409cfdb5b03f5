"""Look-alikes: what a text looks like to a reader, in plain ASCII where that is possible.

A model reads our closing mark as such even if it is written with Cyrillic letters, fullwidth
brackets or a long dash. So marks are looked for in a folded view of the text, and each character of
the view knows which part of the text it came from. The text itself is never folded.
"""

import re
import unicodedata

# Letters of other scripts that look like Latin ones, each after the Latin letter.
_LETTERS = {
    twin: latin
    for latin, twins in {
        "a": "аАαΑаᎪꓮ∀Ꭺɑ", "b": "ВвЬьΒβᏴꓐʙƄ", "c": "сСϲϹᏟꓚςՇⲥⲤ", "d": "ԁԀᎠꓓժ",
        "e": "еЕєЄΕεϵҽℯᎬꓰ℮ⲉ∊ɛ", "f": "ϝϜꓝքғҒſƒꞙ", "g": "ԌᏀᏳꓖցɡġԍ", "h": "һҺНнΗհᎻꓧћђ",
        "i": "іІΙιᎥꓲɪıӀӏ⍳ⲓו۱١", "j": "јЈϳͿᎫꓙյ", "k": "кКΚκᏦꓗⲕ", "l": "λⅼᏞꓡլʟןا∣ǀⲒ",
        "m": "мМΜᎷꓟϺⲘ", "n": "пΝηոռꓠПπⲚᏁ", "o": "оОοΟσօՕꓳ०০੦೦๐໐೦ᴏⲟⲞ°○◯", "p": "рРρΡᏢꓑⲣ",
        "q": "ԛԚզգ", "r": "гГᎡꓣᏒⲅя", "s": "ѕЅᏚꓢՏꜱ", "t": "тТΤτᎢꓔⲧͳ", "u": "υսꓴЦцՍμ",
        "v": "νѵѴᏙꓦ∨⋁", "w": "ԝԜωѡшᎳꓪա", "x": "хХΧχꓫⲭ×᙮", "y": "уУүҮΥγўᎩꓬⲨ", "z": "ΖᏃꓜ",
        "<": "ᐸ❮❰⟨⟪⦑⧼‹«〈《≺≪⋖ᚲ𝈶⊂⊰˱", ">": "ᐳ❯❱⟩⟫⦒⧽›»〉》≻≫⋗", "/": "╱⟋ノ〳丿⼃Ⳇ᜵⳻",
        "|": "│┃❘❙❚ǁ¦⎢", "-": "‐‑‒–—―−⁃ー一─━˗", "_": "▁ˍ",
    }.items()
    for twin in twins
}  # fmt: skip
# Small capitals, letters with strokes and hooks, squared and circled ones: the name says which.
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

Spans = list[tuple[int, int]]


class _Folds(dict[int, str]):
    """What each character looks like; found out when first asked."""

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKD", _twin(chr(code)) or chr(code))
        self[code] = "".join(map(_look, plain)).lower()
        return self[code]


_FOLDS = _Folds()


def fold(text: str) -> str:
    """Return what a text looks like."""
    view = text.lower() if text.isascii() else text.translate(_FOLDS)
    return _ESCAPE.sub(_unescaped, view) if _may_escape(view) else view


def fold_with_spans(text: str) -> tuple[str, Spans]:
    """Return what a text looks like, and for each character the part of the text it stands for."""
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
        plain = _unescaped(found)
        if plain == found[0]:
            continue
        looks += [view[at:start], plain]
        folded += [*spans[at:start], *[(spans[start][0], spans[end - 1][1])] * len(plain)]
        at = end
    return "".join([*looks, view[at:]]), [*folded, *spans[at:]]


def _may_escape(view: str) -> bool:
    return "&" in view or "%" in view or "\\" in view


def _twin(character: str) -> str:
    return _LETTERS.get(character, "")


def _look(character: str) -> str:
    if character.isascii():
        return character
    if twin := _twin(character):
        return twin
    category = unicodedata.category(character)
    if category in _CATEGORIES:
        return _CATEGORIES[category]
    name = unicodedata.name(character, "")
    if found := _NAMED.search(name):
        return found[1]
    return next((look for look, shape in _SHAPES if shape.search(name)), character)


def _unescaped(found: re.Match[str]) -> str:
    """Return what an escape stands for; itself if that is nothing we look for."""
    decimal, code, name, *codes = found.groups()
    if name is not None:
        return _ENTITIES.get(name, found[0])
    number = int(decimal) if decimal else int(next(filter(None, (code, *codes))), 16)
    return _FOLDS[number] if number < 0x11_0000 else found[0]
