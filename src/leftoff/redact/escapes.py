"""The escapes, colours and invisible characters that a reader of a text does not see."""

import re
from functools import cache

NAMED = {
    b"quot": b'"', b"apos": b"'", b"amp": b"&", b"lt": b"<", b"gt": b">", b"equals": b"=",
    b"colon": b":", b"nbsp": b" ", b"num": b"#", b"sol": b"/", b"plus": b"+", b"NewLine": b"\n",
    b"Tab": b"\t", b"comma": b",", b"semi": b";", b"lowbar": b"_", b"hyphen": b"-", b"period": b".",
}  # fmt: skip
_ENTITY = (
    rb"&(?:amp;){0,3}(?:#0{0,4}(?P<decimal>[0-9]{1,3})|#[xX]0{0,4}(?P<entity>[0-9a-fA-F]{1,2})"
    rb"|(?P<named>" + b"|".join(NAMED) + rb"));"
)
_PERCENT = rb"%(?:25){0,3}(?:u00)?(?P<percent>[0-7][0-9a-fA-F])"
# A form writes a plus for a blank.
_FORM = rb"(?P<plus>)(?=%2[27])"
_BACKSLASH = (
    rb"(?:(?:u(?:\{0{0,4}|00|\{)|U000000)(?P<unicode>[0-7][0-9a-fA-F])\}?"
    rb"|x(?P<hexadecimal>[0-7][0-9a-fA-F])|(?P<octal>[01][0-7]{2})|(?P<slash>/))"
)
_MAIL = rb"(?P<mail>[2-7][0-9A-F])|(?P<soft>[ \t]?\r?\n)"
OVERSTRIKE = rb"[\x21-\x7e]?\x08"
_COLOUR = (
    rb"(?:\[[0-9;:?]{0,32}[A-Za-z]|\]8;[^\x07\x1b\\]{0,1000}(?:\x07|\x1b\\|\\{1,8}(?:u0007|x07|a)))"
)
_ESCAPES = rb"(?:u001[bB]|x1[bB]|033|e)"
_BARE_COLOUR = rb"(?:[0-9]{1,3}(?:;[0-9]{1,3}){0,4})?m(?:\[K)?"
_WRITTEN = rb"u(?:200[b-fB-F]|2060|[fF][eE][fF][fF]|00[aA][dD])"
# Each branch begins with one byte, so that the search skips all others.
BRANCHES: tuple[tuple[bytes, bytes], ...] = (
    (b"%", _PERCENT[1:]),
    (b"&", _ENTITY[1:]),
    (b"=", _MAIL),
    (b"+", _FORM),
    (b"\x1b", _COLOUR),
    (b"^", rb"\[" + _COLOUR),
    (b"[", _BARE_COLOUR),
    (
        b"\\",
        rb"\\{0,7}(?:" + _ESCAPES + _COLOUR + b"|" + _WRITTEN + b"|" + _BACKSLASH + b")",
    ),
    (b"\xe2", rb"\x80[\x8b-\x8f]|\x81\xa0"),
    (b"\xef", rb"\xbb\xbf"),
    (b"\xc2", rb"\xad"),
)
# What must be in a text for these branches, which begin with a byte that any source code has.
NEEDED = {b"=": b"=3D", b"+": b"%2", b"^": b"^["}
# Colours that are written out, and would lose only their end with the others; the first byte of
# each is looked for first.
WRITTEN_COLOURS = ((b"^", b"^["), (b"\\", b"\\e["), (b"\x08", b"\x08"))
# The same as far as needed to find one; it begins with a literal, so the search is fast.
BACKSLASHED = (
    rb"\\(?:U0000|u(?:00[0-7][0-9a-fA-F]|\{|200[b-fB-F]|2060|[fF][eE][fF][fF]|00[aA][dD])|x[0-7][0-9a-fA-F]"
    rb"|[01][0-7]{2}|/|e\[)"
)
# What must be in a text before a family of escapes is looked for: a single byte is found at the
# speed of memory, and most texts have none of these.
FAMILIES: tuple[tuple[bytes, bytes], ...] = (
    (b"%", _PERCENT),
    (b"\x1b", rb"\x1b" + _COLOUR),
    (b"&", _ENTITY),
    (b"^", rb"\^\[\["),
    (b"\x08", rb"\x08"),
)
# Invisible characters. Their first bytes are in any drawing of lines, so search for rarer ones.
INVISIBLE: tuple[tuple[tuple[bytes, ...], bytes, bytes], ...] = (
    (
        (b"\x8b", b"\x8c", b"\x8d", b"\x8e", b"\x8f", b"\x81"),
        b"\xe2",
        rb"\xe2[\x80\x81][\x8b-\x8f\xa0](?<=\x80[\x8b-\x8f]|\x81\xa0)",
    ),
    ((b"\xbb",), b"\xef", rb"\xef\xbb\xbf"),
    ((b"\xad",), b"\xc2", rb"\xc2\xad"),
)
# Two that begin with a byte that any source code has. Beside each is how far from there its place
# is.
COMMON = ((b"=", rb"=3D", 2), (b"[", rb"\[0m", 0))
TERMINAL = rb"\x1b" + _COLOUR
COLOURS = TERMINAL + rb"|\[" + _BARE_COLOUR
BLANKED = ((b"\\n", b" \n"), (b"\\r", b" \r"), (b"\\t", b" \t"))
BLANKS_OF = {ord("n"): ord("\n"), ord("r"): ord("\r"), ord("t"): ord("\t")}
# Arrows, and lines of boxes: what tools draw between the number of a line and the line.
DRAWING = rb"\\u2[15][0-9a-fA-F]{2}"
LINE_ESCAPE = rb"\\([nrt])"


@cache
def compile_branches(firsts: tuple[bytes, ...]) -> re.Pattern[bytes]:
    """Return an expression for the escapes that begin with these bytes."""
    rests = [re.escape(first) + b"(?:" + dict(BRANCHES)[first] + b")" for first in firsts]
    return re.compile(b"|".join(rests) if rests else rb"(?!)")
