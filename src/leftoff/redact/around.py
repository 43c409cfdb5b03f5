"""Find secrets by where they are: headers, cookies, URLs, commands, login files."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from leftoff.lazy_patterns import lazy
from leftoff.redact.addresses import ADDRESSES, PIPES, Pipe
from leftoff.redact.commands import BEFORE_USER, COMMANDS, LETTERS, LONG_OPTIONS
from leftoff.redact.judge import (
    is_dashed,
    is_label,
    is_password,
    is_path,
    is_placeholder,
    is_token,
    looks_random,
)
from leftoff.redact.keyed import STEMS, find_keyed_at
from leftoff.redact.lookup import Lookup
from leftoff.redact.manifests import find_manifest
from leftoff.redact.nearby import SPOKEN
from leftoff.redact.places import PLACES, SecretPlace
from leftoff.redact.private_keys import PRIVATE_KEYS
from leftoff.redact.prose import PROSE, is_stated
from leftoff.redact.rule_index import ANCHOR_WORDS
from leftoff.redact.secret_names import KEY_GUARD
from leftoff.redact.shapes import Span
from leftoff.redact.statements import STATEMENTS
from leftoff.redact.syntaxes import NAME_GUARD, PASS_GUARD

_ABBREVIATIONS = {
    "<h>": r"(?:<q>)?\]?\s{0,8}[:=]\s{0,8}(?:<q>)?",
    "<credential>": r"([\w.~+/=:@!$%^&*-]{8,4096})",
    "<scheme>": (
        r"(?:bearer|basic|token|bot|apikey|api-key|key|splunk|sso-key|geniekey|oauth|jwt"
        r"|private-token|discogs|shopping|dpop|pve\w{0,8}|zoho-oauthtoken|klaviyo-api-key)[ =]{1,4}"
    ),
    "<text>": r"(?:[bfrun@$]{0,2}<q>[^\"'\\\r\n]{0,200}<q>)",
    "<secret>": r"(?:some\()?[bfrun@$]{0,2}<q>([^\"'\\\r\n]{1,200})<q>",
    "<value>": r"(?:<q>([^\"'\\\r\n]{1,200})<q>|([^\s\"'`\\]{1,200}))",
    "<q>": r"\\{0,8}[\"'`]",
}
_LOOK_BEHIND = 250
_PIN = 6
_LOOK_AHEAD = 9000
# The beginning of a long value is enough to judge it.
_JUDGED = 256
_COMMAND_END = lazy(rb"[|;][ ]|[ ][|;&]|&&|[`)](?=\s)|\r")
_MOST_TOOLS = 4
_OPTION = lazy(
    rb"-(?<=[ \t]-)(?:["
    + LETTERS
    + rb"]|"
    + BEFORE_USER
    + rb"|"
    + b"|".join(each[1:] for each in LONG_OPTIONS)
    + rb")"
)
# With the space after it, because a tool's name is followed by one.
_WORD = lazy(rb"[\w-]++[ ]?")
_OPENINGS = 3
_PIPED = lazy(
    rb"\|[ ]{0,4}(?:sudo|chpasswd|passwd|docker|podman|nerdctl|buildah|skopeo|helm|oras|crane"
    rb"|gh|glab|cryptsetup|gpg2?|vault|npx|wrangler|openssl|argocd|heroku|fly|flyctl|aws|az|kubectl|gcloud|doppler|op|kinit)\b"
)
# What examples show instead of a session: a word, or a name in a program.
_PLAIN = lazy(rb"[A-Z]+(?:_[A-Z0-9]+)+|[A-Za-z_=-]*[0-9]?")
# What a manual writes in place of a password in an address: `repo-pass`, `bot_api_key`.
_NAMED = lazy(
    rb"(?i)[a-z]+(?:[_-][a-z]+){0,3}(?:[_-](?:pass(?:word|wd)?|secret|token|key|id)|password)"
    rb"|(?-i:[a-z]+(?:Password|Secret|Token|Key))"
)
_SESSION = (b"sess", b"sid", b"auth", b"token", b"jwt", b"csrf", b"login", b"remember")
_SEALED = 24
# A text without any of these words has no mark of a private key.
MARKED = (b"private", b"openvpn")
# A text without any of these words pipes nothing into another program.
PRINTED = (b"echo", b"printf ")
# What must match right after a word, wherever a rule that begins with it does: most words of a text
# are authors, passed tests and counts of tokens.
_GUARDS = {
    b"auth": rb"(?!or(?!ization))",
    b"pass": PASS_GUARD,
    b"token": NAME_GUARD,
    b"key": KEY_GUARD + NAME_GUARD,
}
_NOT_A_USER = b" \t\r\n\"'(,/<>&|;*{}[]"
_Judge = Callable[[bytes], bool]
_Row = tuple[str, re.Pattern[bytes], _Judge]


def _in_header(value: bytes) -> bool:
    if is_placeholder(value) or value.lower().startswith(b"realm="):
        return False
    return looks_random(value, needs_digit=False) or is_token(value, literal=True, named=True)


def _without_scheme(value: bytes) -> bool:
    return len(value) >= 16 and not is_placeholder(value) and looks_random(value)


def _in_url(value: bytes) -> bool:
    return not is_placeholder(value) and not _NAMED.fullmatch(value)


def _is_given(value: bytes) -> bool:
    return not is_placeholder(value) and (not value.startswith(b"-") or is_dashed(value))


def _in_command(value: bytes) -> bool:
    # Fewer digits are a port or a count.
    is_number = value.isdigit() and len(value) < _PIN
    return _is_given(value) and not is_path(value) and not is_number


def _is_mixed(value: bytes) -> bool:
    return _in_command(value) and is_password(value, literal=False)


def _is_encoded(value: bytes) -> bool:
    return not is_placeholder(value) and (value.endswith(b"=") or looks_random(value))


def _literal(value: bytes) -> bool:
    return is_password(value, literal=True) and not is_label(value)


def _is_sealed(value: bytes) -> bool:
    if is_placeholder(value) or (value.startswith(b"realm=") and b"=" not in value[6:]):
        return False
    return b"=" in value or any(len(word) >= 16 for word in value.split())


def _in_cookie(value: bytes) -> bool:
    if is_placeholder(value):
        return False
    # The name is missing if only the value is cut.
    crumbs = (crumb.rpartition(b"=") for crumb in value.rstrip(b"=").split(b";"))
    return any(_is_crumb(name, crumb) for name, _, crumb in crumbs)


def _is_crumb(name: bytes, crumb: bytes) -> bool:
    """Return whether a cookie's value opens a session, unlike a word, a constant or a path."""
    if _PLAIN.fullmatch(crumb) or is_path(crumb):
        return len(crumb) >= _SEALED
    is_session = any(word in name.lower() for word in _SESSION)
    is_sealed = is_session or looks_random(crumb)
    return len(crumb) >= _SEALED or (len(crumb) >= _PIN and is_sealed)


def _always(_value: bytes) -> bool:
    return True


_JUDGES: dict[str, _Judge] = {
    "in_header": _in_header,
    "without_scheme": _without_scheme,
    "in_url": _in_url,
    "in_command": _in_command,
    "mixed": _is_mixed,
    "given": _is_given,
    "encoded": _is_encoded,
    "literal": _literal,
    "random": looks_random,
    "stated": is_stated,
    "sealed": _is_sealed,
    "in_cookie": _in_cookie,
    "always": _always,
}


def find_placed(data: bytes, *, may_print: bool) -> Iterator[Span]:
    """Yield every secret that an address, a command or a pipe reveals."""
    if b"@" in data:
        yield from _in_addresses(data)
    if b"-" in data:
        yield from _in_commands(data)
    if may_print:
        yield from _in_pipes(data)


def find_words(low: bytes) -> list[tuple[bytes, int]]:
    """List the words in a lower-case text that any rule begins with, and their positions."""
    return compile_words().hits(low)


def find_after_words(
    data: bytes, low: bytes, hits: list[tuple[bytes, int]]
) -> Iterator[tuple[bool, Span]]:
    """Yield every secret that a word before it reveals, and whether that word is its name."""
    ends = dict.fromkeys(STEMS, 0)
    done: dict[bytes, int] = {}
    manifest = 0
    places = _by_literal()
    for word, at in hits:
        if word in places and at >= done.get(word, 0) and _is_at(data, at, word):
            for span in _at_places(data, at, places[word]):
                done[word] = max(span.end, done.get(word, 0))
                yield False, span
        if word == b"secret" and at >= manifest:
            manifest, spans = find_manifest(data, at)
            yield from ((True, span) for span in spans)
        if word not in ends or at < ends[word]:
            continue
        if named := find_keyed_at(data, low, word, at):
            ends[word] = named.end
            yield True, named


@cache
def compile_words() -> Lookup:
    """Return the search for every word that a rule begins with."""
    # In this order, so that of two names for the same value the earlier one is shown.
    words = dict.fromkeys([*STEMS, *_by_literal(), *MARKED, *ANCHOR_WORDS, *PRINTED, *SPOKEN])
    return Lookup(words, _GUARDS)


@cache
def _by_literal() -> dict[bytes, list[SecretPlace]]:
    places: dict[bytes, list[SecretPlace]] = {}
    for place in (*PLACES, *PRIVATE_KEYS, *STATEMENTS, *PROSE):
        places.setdefault(place.literal.encode(), []).append(place)
    return places


def _is_at(data: bytes, at: int, literal: bytes) -> bool:
    return _any_of(literal).match(data, at, at + _LOOK_AHEAD) is not None


@cache
def _any_of(literal: bytes) -> re.Pattern[bytes]:
    """Return one pattern for all rules with this literal; most hits match none of them."""
    return compile_pattern("|".join(f"(?:{place.pattern})" for place in _by_literal()[literal]))


@cache
def compile_pattern(pattern: str) -> re.Pattern[bytes]:
    """Compile a pattern of the tables on first use."""
    for short, long in _ABBREVIATIONS.items():
        pattern = pattern.replace(short, long)
    flags = b"" if pattern.startswith("(?i") else b"(?i)"
    return re.compile(flags + pattern.encode())


def _at_places(data: bytes, at: int, places: Iterable[SecretPlace]) -> Iterator[Span]:
    for place in places:
        if span := _at_place(data, at, place):
            yield span


def _at_place(data: bytes, at: int, place: SecretPlace) -> Span | None:
    found = compile_pattern(place.pattern).match(data, at, at + _LOOK_AHEAD)
    if not found:
        return None
    judge = _JUDGES[place.judge]
    if not place.before:
        return _secret(found, place.kind, judge)
    start = max(0, at - _LOOK_BEHIND)
    before = compile_pattern(place.before).search(data[start:at])
    if before and before.lastindex:
        return _shift_span(_secret(before, place.kind, judge), start)
    return _secret(found, place.kind, judge) if before else None


def _shift_span(span: Span | None, by: int) -> Span | None:
    return Span(span.start + by, span.end + by, span.kind) if span else None


def _secret(found: re.Match[bytes], kind: str, judge: _Judge) -> Span | None:
    group = found.lastindex or 0
    start, end = found.span(group)
    judged = found.string[start : min(end, start + _JUDGED)]
    return Span(start, end, kind) if judge(judged) else None


def _in_addresses(data: bytes) -> Iterator[Span]:
    """Check the text before each `@`, a byte that is found at the speed of memory."""
    at = data.find(b"@", 1)
    while at >= 0:
        if data[at - 1] not in _NOT_A_USER:
            yield from _in_address(data, at)
        at = data.find(b"@", at + 1)


def _in_address(data: bytes, at: int) -> Iterator[Span]:
    """Try the last few positions where an address may begin; no address has more."""
    # An address contains no line break, and the text before its `@` contains a slash.
    first = max(0, at - _LOOK_BEHIND)
    line = data[first:at].rpartition(b"\n")[2]
    if b"/" not in line:
        return
    first = at - len(line)
    for kind, opening, pattern, judge, _, _ in ADDRESSES:
        if opening not in line:
            continue
        start = at
        for _ in range(_OPENINGS):
            start = data.rfind(opening, first, start)
            if start < 0:
                break
            found = compile_pattern(pattern).match(data, start, at)
            if found and (span := _secret(found, kind, _JUDGES[judge])):
                yield span
                break


def _in_pipes(data: bytes) -> Iterator[Span]:
    """Check what is printed into a program that asks for a password."""
    for found in _PIPED.finditer(data):
        for pipe in PIPES:
            if compile_pattern(pipe.pattern).match(
                data, found.start(), found.start() + _LOOK_BEHIND
            ):
                yield from _in_pipe(data, found.start(), pipe)


def _in_pipe(data: bytes, at: int, pipe: Pipe) -> Iterator[Span]:
    start = max(0, at - _LOOK_BEHIND)
    found = compile_pattern(pipe.before).search(data[start:at])
    span = _secret(found, pipe.kind, _in_command) if found else None
    if moved := _shift_span(span, start):
        yield moved


def _in_commands(data: bytes) -> Iterator[Span]:
    """Check each line with an option that may take a password, once."""
    done = 0
    while option := _OPTION.search(data, done):
        at = option.start()
        start = data.rfind(b"\n", done, at) + 1 or done
        end = data.find(b"\n", at)
        done = len(data) if end < 0 else end
        yield from _in_line(data, start, done)


def _in_line(data: bytes, start: int, end: int) -> Iterator[Span]:
    tools, rows = _tools()
    # Most lines with an option are code or prose: none of their words ends the name of a tool.
    if _ends_of_tools().isdisjoint(_WORD.findall(data[start:end].lower())):
        return
    at, stop, count = start, start, 0
    while found := tools.search(data, at, end):
        if found.start() >= stop:
            after = _COMMAND_END.search(data, found.end(), end)
            stop, count = after.start() if after else end, 0
        count += 1
        # `docker exec db mysql -p…` has two. A line of tools alone still takes linear time.
        at = found.end() if count < _MOST_TOOLS else stop
        for kind, pattern, judge in rows[found[1].lower()]:
            for hit in pattern.finditer(data, found.end(), stop):
                if span := _secret(hit, kind, judge):
                    yield span


@cache
def _ends_of_tools() -> frozenset[bytes]:
    """Return the last word of each tool's name with a space: `cifs` for `mount.cifs`."""
    return frozenset(name.rpartition(b".")[2] + b" " for name in (*_tools()[1], b"exe"))


@cache
def _tools() -> tuple[re.Pattern[bytes], dict[bytes, list[_Row]]]:
    rows: dict[bytes, list[_Row]] = {}
    for row in COMMANDS:
        pattern = compile_pattern(r"(?-i:(?<=[ ]))" + row.pattern)
        for tool in row.tools.split():
            rows.setdefault(tool.encode(), []).append((row.kind, pattern, _JUDGES[row.judge]))
    names = b"|".join(re.escape(tool) for tool in sorted(rows, key=len, reverse=True))
    return re.compile(rb"(?i)(?<![\w-])(" + names + rb")(?:\.exe)?(?=[ ])"), rows
