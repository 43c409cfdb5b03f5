"""Find random values under a name that only hints at a secret, such as an issuer's name.

There are too many such names to search for each of them. Long runs of letters and digits are rare,
so those are found first, and then the name before each random run is looked up.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from leftoff.lazy_patterns import lazy
from leftoff.redact.judge import is_in_table, is_placeholder, looks_random
from leftoff.redact.shapes import Span
from leftoff.redact.vendors import VENDORS

# In a URL, a form or a header line, a value under one of these names opens a session.
_HINTS: dict[bytes, str] = {
    b"auth": "authorization",
    b"authorization": "authorization",
    b"bearer": "authorization",
    b"cookie": "cookie",
    b"sessionid": "session",
    b"phpsessid": "session",
    b"jsessionid": "session",
    b"csrf": "token",
    b"xsrf": "token",
    b"csrfmiddlewaretoken": "token",
    b"jwt": "token",
    b"otp": "token",
    b"totp": "token",
    b"apikey": "key",
    b"appkey": "key",
    b"authkey": "key",
    b"passkey": "key",
    b"licensekey": "key",
    b"cred": "credential",
    b"creds": "credential",
    b"credential": "credential",
    b"credentials": "credential",
    b"keystore": "key",
    b"truststore": "key",
    b"pkcs12": "key",
    b"p12": "key",
    b"pfx": "key",
    b"jks": "key",
    b"psk": "key",
    b"dsn": "credential",
    b"webhook": "webhook",
    b"signature": "signature",
    b"sig": "signature",
    b"hmac": "signature",
    b"mnemonic": "seed",
    b"seed": "seed",
    b"accesskey": "key",
    b"accesskeyid": "key",
    b"secretkey": "key",
}
# After `?`, `&` or `#` in a URL, even these short names hold a credential.
_PARAMETERS = {
    b"code": "code",
    b"session": "session",
    b"sid": "session",
    b"key": "key",
    b"k": "key",
    b"token": "token",
    b"t": "token",
    b"state": "token",
    b"ticket": "token",
    b"signature": "signature",
    b"sign": "signature",
    b"s": "signature",
    b"hash": "signature",
    b"assertion": "token",
    b"samlresponse": "token",
    b"nonce": "token",
    b"invite": "token",
    b"credential": "credential",
}
# A name that ends in one of these words describes a harmless value.
_HARMLESS = frozenset(
    b"sha sha1 sha224 sha256 sha384 sha512 md5 hash digest checksum shasum integrity rev revision "
    b"commit ref refs etag uuid guid version tag branch url uri path file name host email image "
    b"color format type public fingerprint thumbprint serialnumber sri build asset chunk model "
    b"endpoint region date time timestamp size count index page cursor offset node parent tree "
    b"blob object head base cache cachekey module package resolved source sum algorithm "
    b"com org net address contract user username login org owner repo project slug channel "
    b"pubkey png jpg gif svg webp ttf woff2".split()
)
# A UUID under one of these names says where a visitor came from, or which page sent them on.
_VISITS = frozenset(b"k t s sid state nonce hash sign".split())
_EDGES = (b"?", b"&", b"#", b";")
_PREFIX = lazy(rb"(?i)(?<![a-z0-9_])[bfrun@$]{1,2}\Z")
_LAST = frozenset(b"key token secret api apikey auth credential password pat".split())
# The bytes of a text by what they may be: `s` a sign or a mark right before a value, `b` a blank,
# `0` a digit, `a` another byte of a value; a `_` ends it. The last two of a value are for base64;
# paths have them too.
_SIGN_BYTES = b"=:>\"'`$*}"
_VALUE_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-+/"
_CLASSES = (
    dict.fromkeys(range(256), b" "[0])
    | dict.fromkeys(_VALUE_BYTES, b"a"[0])
    | dict.fromkeys(b"0123456789", b"0"[0])
    | dict.fromkeys(_SIGN_BYTES, b"s"[0])
    | dict.fromkeys(b" \t", b"b"[0])
)
_TO_CLASSES = bytes(_CLASSES.values())
# Most signs and marks have no value after them, so one search for all of them is quick.
_LONG_VALUE = re.compile(rb"sb{0,15}+(?=a*+0)[a0]{16}")
_SIZE = 16
_BLANK = ord(" ")
# These may have blanks between them and a value.
_SIGNS = b"=:>"
# Words before a value that need no sign.
SPOKEN = (b"bearer", b"login ", b"cargo login ", b"vault login ")
_AFTER_SPOKEN = lazy(rb"[ ]{0,4}(?<=[ ])(?=[A-Za-z+/-]*+[0-9])[A-Za-z0-9+/-]{16}")
_REACH = 72
_NAME_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_QUOTES = b"\"'`\\"
_SIGN_OF = (b"=>", b":=", b"->", b"==", b"=", b":", b">")
_VALUE = lazy(rb"[A-Za-z0-9_+/.~%=-]{16,2048}")
_END = lazy(rb"[\s\"'`\\,;&<>)\]}#|]|\Z")
_WORDS = lazy(rb"[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_UUID = lazy(rb"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_TYPICAL = range(16, 129)
_LONG = 24
_BREAKS = lazy(rb"[^A-Za-z0-9]+")
_DENSE = 12
# Hashes that databases and tools print: MySQL hashes, Windows hash pairs, Apache digest files.
_INTEGRITY = lazy(rb"(?i)(?:sha-?\d{1,3}|md5|h1)[-:=_/]")
_MYSQL = lazy(rb"[0-9A-F]{40}(?![0-9A-Za-z])")
_WINDOWS = lazy(rb"[0-9A-Fa-f]{32}:[0-9A-Fa-f]{32}(?=:::)")
_METHOD = lazy(
    rb"(?i)(?:\{s?s?(?:sha|md5|crypt|pbkdf2)[\w-]{0,12}\}|\b(?:pbkdf2|scrypt)[:_][\w:]{1,24}\$"
    rb"(?:\d{1,9}\$)?(?:[^\s$\"']{1,64}\$)?|scram-sha-\d{1,3}\$\d{1,8}:[\w+/=]{8,172}\$)\Z"
)
# The address of an account or a contract, which anyone may know.
_ADDRESS = lazy(rb"0x[0-9a-fA-F]{40}\Z")
# The address of a record, and of a commit: `users/ada12/webhooks/hook456`, `ada/shop/1c5b…`.
_RECORD = lazy(rb"[a-z]+\d{0,6}(?:/[a-z]+\d{0,6})+\Z|[\w.-]+/[\w.-]+/[0-9a-f]{40}\Z")
_HEX = lazy(rb"[0-9a-f]{32,64}")
_HASHED = lazy(rb"[\w+/=.$:-]{16,500}")
# `Bearer …` alone, and commands whose only argument is a token.
_SPOKEN = lazy(rb"(?i)\b(?:bearer|cargo login|vault login|oauth2-bearer)[ ]{1,4}\Z")
_DIGEST = lazy(rb"[0-9a-f]{32}(?![^\s\"'\\])")
_DIGEST_LINE = lazy(rb"(?:^|\n)[\w.@-]{1,32}:(?!md5|sha|line|rev)[A-Za-z][^:\n\"']{2,40}:\Z")


class _Name(NamedTuple):
    edge: bytes  # what precedes the name
    name: bytes
    sign: bytes


def find_nearby(data: bytes, hits: Iterable[tuple[bytes, int]]) -> Iterable[Span]:
    """Find every random value whose name hints at a secret; `hits` are the words of the text."""
    values = _find_values(data, hits)
    return _judge_values(data, values) if values else ()


def _judge_values(data: bytes, values: list[int]) -> Iterator[Span]:
    done = 0
    for start in values:
        if start < done:
            continue
        if span := _hash(data, start) or _judge(data, start):
            done = span.end
            yield span


def _find_values(data: bytes, hits: Iterable[tuple[bytes, int]]) -> list[int]:
    """List where a long run with a digit begins after what may come before a value."""
    values: list[int] = []
    spoken: list[int] = []
    for found in _LONG_VALUE.finditer(data.translate(_TO_CLASSES)):
        first, end = found.span()
        start = end - _SIZE
        if start == first + 1 or (data[first] in _SIGNS and data[start - 1] == _BLANK):
            values.append(start)
    for word, at in hits:
        if word in SPOKEN and (value := _AFTER_SPOKEN.match(data, at + len(word))):
            spoken.append(value.end() - _SIZE)
    return sorted({*values, *spoken}) if spoken else values


def _hash(data: bytes, start: int) -> Span | None:
    before = data[start - 1 : start]
    if before == b"*":
        found = _MYSQL.match(data, start)
    elif before == b":":
        found = _WINDOWS.match(data, start)
        if not found and _DIGEST_LINE.search(data, max(0, start - _REACH), start):
            found = _DIGEST.match(data, start)
    elif before in (b"$", b"}"):
        method = _METHOD.search(data, max(0, start - _REACH), start)
        found = _HASHED.match(data, start) if method else None
        # `{sha256}3b92…` is how Puppet prints the hash of a file.
        if found and before == b"}" and _HEX.fullmatch(found[0]):
            return None
    else:
        return None
    return Span(*found.span(), "password hash") if found else None


def _spoken(data: bytes, start: int) -> str | None:
    found = _SPOKEN.search(data, max(0, start - 24), start)
    return "authorization" if found else None


def _judge(data: bytes, start: int) -> Span | None:
    # The name is cheaper to check than the value, and rules out more.
    named = _name_before(data[max(0, start - _REACH) : start])
    is_named = named is not None and _may_hint(named)
    if not is_named and not _spoken(data, start):
        return None
    value = _VALUE.match(data, start)
    if value is None or not _END.match(data, value.end()):
        return None
    kind = (_kind(named, value[0]) if named else None) or _spoken(data, start)
    judged = value[0][:128]
    if kind is None or not looks_random(judged) or is_placeholder(judged):
        return None
    if is_in_table(data, start, value[0]):
        return None
    return None if _is_public(judged) else Span(start, value.end(), kind)


def _is_public(value: bytes) -> bool:
    """Return whether a value is a hash or the address of an account or a record."""
    return bool(_INTEGRITY.match(value) or _ADDRESS.match(value) or _RECORD.match(value))


def _name_before(before: bytes) -> _Name | None:
    """Read backwards from a value: its quote, the sign, and a name of up to three words."""
    text = before.rstrip(_QUOTES)
    if text != before:
        text = _PREFIX.sub(b"", text)
    text = text.rstrip(b" \t")
    sign = next((sign for sign in _SIGN_OF if text.endswith(sign)), None)
    if sign is None:
        return None
    text = text[: -len(sign)].rstrip(b" \t").rstrip(b"]" + _QUOTES)
    rest = text.rstrip(_NAME_BYTES)
    for _ in range(2):
        if rest.endswith(b" "):
            rest = rest[:-1].rstrip(_NAME_BYTES)
    name = text[len(rest) :].strip()
    # `AWS::IAM::AccessKey` is a type.
    is_type = rest.endswith(b"::")
    return _Name(rest[-1:], name, sign) if name[:1].isalpha() and not is_type else None


# A text repeats its names: `href`, `src`, `id`.
@lru_cache(maxsize=1000)
def _may_hint(named: _Name) -> bool:
    """Return whether some value under this name is a secret."""
    return _kind(named, None) is not None


def _kind(named: _Name, value: bytes | None) -> str | None:
    """Return the kind of a value under this name; without a value, of any."""
    words = [word.lower() for word in _WORDS.findall(named.name)]
    whole = b"".join(words)
    if named.edge in _EDGES and named.sign == b"=" and whole in _PARAMETERS:
        is_id = whole in _VISITS and value is not None and _is_visit(whole, value)
        return None if is_id else _PARAMETERS[whole]
    if words[-1] in _HARMLESS or b"public" in words or b"site" in words:
        return None
    last = words[-1:]
    if b" " in named.name and last[0] not in _LAST and not _is_vendor(last, last[0]):
        return None
    for word in (words[-1], whole):
        if word in _HINTS and (value is None or not _UUID.match(value)):
            # The signature of a file is a hash. A signature that grants access is in a URL or a
            # form.
            is_hash = word in (b"signature", b"sig", b"seed") and named.sign != b"="
            if not is_hash:
                return _HINTS[word]
            if value is not None:
                return None
    is_key = value is None or (len(value) in _TYPICAL and _is_dense(value))
    # `LinearAlgebra = "<UUID>"` is a dependency in a project of Julia.
    if value is not None and _UUID.match(value) and words[-1] not in _LAST:
        words = [whole]
    return "key" if is_key and _is_vendor(words, whole) else None


def _is_visit(name: bytes, value: bytes) -> bool:
    """Return whether a value only identifies a visit; a name of one letter says little."""
    return bool(_UUID.match(value)) or (len(name) == 1 and len(value) < _LONG)


def _is_dense(value: bytes) -> bool:
    """Return whether a value is a key rather than a machine name such as `api-gke-us-east1-c`."""
    return max(map(len, _BREAKS.split(value))) >= _DENSE or bool(_UUID.match(value))


def _is_vendor(words: list[bytes], whole: bytes) -> bool:
    vendors = _vendors()
    return whole in vendors or not vendors.isdisjoint(words)


@cache
def _vendors() -> frozenset[bytes]:
    return frozenset(name.encode() for name in VENDORS)
