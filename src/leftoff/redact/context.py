"""Secrets told by the place they stand in: headers, cookies, URLs, commands, login files."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from leftoff.redact.judge import is_path, is_placeholder, looks_random
from leftoff.redact.shapes import Span


def _in_header(value: bytes) -> bool:
    return not is_placeholder(value) and looks_random(value, needs_digit=False)


def _without_scheme(value: bytes) -> bool:
    return len(value) >= 16 and not is_placeholder(value) and looks_random(value)


def _in_url(value: bytes) -> bool:
    return not is_placeholder(value)


def _in_command(value: bytes) -> bool:
    return not is_placeholder(value) and not is_path(value) and not value.isdigit()


def _always(_value: bytes) -> bool:
    return True


class Place(NamedTuple):
    """A lower-case literal, what must follow it (the group is the secret), and a judge.

    In a pattern, `<q>` is a quote with its backslashes, `<h>` the colon between a header and its
    value, `<args>` arguments of the same command, `<credential>` what a header may carry.
    """

    kind: str
    literal: str
    pattern: str
    is_secret: Callable[[bytes], bool]


_ABBREVIATIONS = {
    "<h>": r"(?:<q>)?\]?\s*[:=]\s*(?:<q>)?",
    "<q>": r"\\*[\"'`]",
    "<args>": r"\b[^\r\n|;&]{0,200}?\s",
    "<credential>": r"([\w.~+/=:@!$%^&*-]{8,}+)",
    "<scheme>": r"(?:bearer|basic|token|bot|apikey|api-key|key|splunk|sso-key|geniekey|oauth)[ ]+",
}

PLACES: tuple[Place, ...] = (
    Place("authorization", "auth", r"authorization<h><scheme><credential>", _in_header),
    Place("authorization", "auth", r"authorization<h><credential>", _without_scheme),
    Place(
        "authorization",
        "auth",
        r"authorization<h>(?:digest|hawk|aws4-hmac-sha256|oauth|negotiate|signature)[ ]+"
        r"([^\r\n\\']{16,}+)",
        _always,
    ),
    Place("authorization", "bearer ", r"\bbearer[ ]+<credential>", _without_scheme),
    Place(
        "cookie",
        "cookie",
        r"(?<!set-)cookie<h>([\w.%-]{1,64}=[^\s;\"'\\]+(?:;[ ]?[\w.%-]{1,64}=[^\s;\"'\\]*)*+)",
        _in_url,
    ),
    Place("cookie", "cookie", r"(?<=set-)cookie<h>[\w.%-]{1,64}=([^\s;\"'\\]{4,}+)", _in_url),
    Place(
        "docker login", "auth", r"(?<=[\"'])auth<q>\s*:\s*<q>([\w+/]{12,}={0,2})<q>", looks_random
    ),
    Place("npm token", "auth", r"(?<=_)auth\s*=\s*[\"']?([A-Za-z0-9+/]{8,}={0,2})", _in_url),
    Place("password in url", "://", r"://[^\s/:@\"'<>\\]*:([^\s/\"'<>\\]{1,200})@", _in_url),
    Place("token in url", "://", r"://([\w.~-]{20,200}+)@", _without_scheme),
    Place(
        "password",
        "curl",
        r"curl<args>(?:-u|--user|--proxy-user)[ =]?\s*(?:<q>)?[^\s:\"'\\$]+:([^\s\"'\\]+)",
        _in_command,
    ),
    Place("password", "sshpass", r"sshpass\s+-p\s*(?:<q>)?([^\s\"'\\]+)", _in_command),
    Place("password", "mysql", r"mysql(?:dump|admin)?<args>-p([^\s\"'\\]{3,})", _in_command),
    Place("password", " login ", r"[ ]login<args>-p[ =]?(?:<q>)?([^\s\"'\\]{4,})", _in_command),
    Place("password", "pass:", r"(?<=[ '\"])pass:([^\s\"'\\]{4,})", _in_command),
    Place(
        "password",
        "machine",
        r"machine\s+(?:[\w-]+[.:][\w.:-]+|localhost)\s+login\s+\S+\s+password\s+([^\s\"'\\]+)",
        _in_url,
    ),
    Place("password", ":5432:", r":5432:[^\s:]+:[^\s:]+:([^\s:\"'\\]{3,})", _in_url),
)


def _compiled(pattern: str) -> re.Pattern[bytes]:
    for short, long in _ABBREVIATIONS.items():
        pattern = pattern.replace(short, long)
    return re.compile(b"(?i)" + pattern.encode())


_Try = tuple[str, re.Pattern[bytes], Callable[[bytes], bool]]


def _by_literal() -> dict[bytes, list[_Try]]:
    tries: dict[bytes, list[_Try]] = {}
    for kind, literal, pattern, is_secret in PLACES:
        tries.setdefault(literal.encode(), []).append((kind, _compiled(pattern), is_secret))
    return tries


_TRIES = _by_literal()


def find_placed(data: bytes, low: bytes) -> Iterator[Span]:
    """Yield every secret that the text around it gives away."""
    for literal, tries in _TRIES.items():
        at = low.find(literal)
        while at >= 0:
            for kind, pattern, is_secret in tries:
                if (found := pattern.match(data, at)) and is_secret(found[1]):
                    yield Span(*found.span(1), kind)
            at = low.find(literal, at + 1)
