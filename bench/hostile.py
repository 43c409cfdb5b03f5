"""Build texts that are slow to redact: beginnings of rules, repeated and never completed."""

import itertools
from collections.abc import Iterator

from leftoff.redact.addresses import ADDRESSES, PIPES
from leftoff.redact.commands import COMMANDS
from leftoff.redact.keyed import STEMS
from leftoff.redact.places import PLACES
from leftoff.redact.prose import PROSE
from leftoff.redact.statements import STATEMENTS

_VALUES = ("a", "a1B2c3D4e5F6g7H8", "A" * 40, "0123456789abcdef" * 4, "\\", "=", "/", " ")
_SEPARATORS = ("=", ": ", '="', "='", '=\\"', '=\\\\\\"', "(", '("', " ", "\t", ", '", "\n", ":-")
_LOOSE = (
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n",
    "-----END PRIVATE KEY-----",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n-----END RSA PRIVATE KEY-----\n",
    "-----BEGIN " + "A" * 20 + " ",
    "Private-Lines: 9\n",
    "Private-Lines: 9\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nPrivate-MAC: ",
    "LS0tLS1CRUdJTi",
    "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t",
    "kind: Secret\ndata:\n  a: b\n",
    '{"kind": "Secret", "data": {',
    "kind: Secret\n",
    "data:\n  a: YWJj\n",
    "%25", "%2525", "%3D", "\\u003d", "\\x22", "\\075", "&amp;", "&amp;amp;#34;", "=3D", "=3D=\n",
    "\x1b[m\x1b[K", "\x1b]8;;", "\x1b]8;;x\x1b\\", "\\u001b[", "[0m", "^[[0m", "a\x08", "\u200b",
    "[redacted: ", "[redacted: password]", "[redacted: [redacted: ", "[redacted: a b c d]",
    "://", "://a:", "://a:b", "@", "a@", "://a:b@", "/a@", "$2b$10$", "$6$", "eyJ", "ghp_", "AKIA",
    "dop_v1_" + "0123456789abcdef" * 4,
    "| sudo -S ", "echo a | ", "net use \\\\a\\b c /user:", "mysql -p", " -p", " -u a:b", "curl ",
    '"', "'", "`", "\\", "\\\\", '\\"', "\\n", "\n", " ", "\t", "A", "a1", "1", "é", "\U0001f600",
    "Bearer ", "Bearer a1B2c3D4e5F6g7H8i9J0 ", "algolia: a1B2c3D4e5F6g7H8i9J0k1L2\n",
    "Authorization: Digest ", "Authorization: Negotiate a", "Cookie: a=b; ", "Cookie: a=b;",
    "the token is ", "password is a1,", "the secret: 1-a-", "password for a b ",
    "identified by '", "create user identified by ", "machine a.b login c password ",
)  # fmt: skip


def seeds() -> Iterator[str]:
    """Yield what to repeat: words, beginnings of values, and beginnings of examples."""
    yield from _LOOSE
    literals = (place.literal for place in (*PLACES, *STATEMENTS, *PROSE))
    words = {*(stem.decode() for stem in STEMS), *literals, "api_key"}
    yield from sorted(words)
    for word, separator in itertools.product(sorted(words), _SEPARATORS):
        yield word + separator
    for word, value in itertools.product(("password", "api_key", "TOKEN", "-p"), _VALUES):
        yield f"{word}={value}"
        yield f'{word}: "{value}'
    tables = (PLACES, STATEMENTS, PROSE, ADDRESSES, PIPES, COMMANDS)
    for example in (example for table in tables for row in table for example in row.cut):
        yield example + "\n"
        yield from (example[:at] for at in range(4, len(example), 7))
    for command in COMMANDS:
        yield from (tool + " -" for tool in command.tools.split())


def repeated(seed: str, size: int) -> str:
    """Repeat a text until it has about this size."""
    return seed * (size // len(seed) + 1)
