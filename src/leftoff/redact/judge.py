"""Whether the value beside a telling key is a secret, or a placeholder, a word, code or a path."""

import re

# In place of a secret: masks, templates, shell and environment variables, words of instruction.
_PLACEHOLDER = re.compile(
    rb"(?ix) [*\xe2\x80\xa2]{3} | x{4} | ^x+$ | \.{3} | \xe2\x80\xa6"
    rb"| ^[<\[{(] | ^[&|/\\][<\[{(] | ^\$(?:[a-z_{(\[?@!]|\d$) | \$\{ | \{\{ | ^%[\w.] | ^!\w"
    rb"| (?:^|[-_. ])your(?:$|[-_. a-z]) | [-_ ]here$ | change[-_ ]?(?:me|it) | place[-_]?holder"
    rb"| (?:^|[-_. ])example(?:$|[-_. ]) | ^(?:dummy|fake|sample|mock|insert|replace|todo|some[-_])"
    rb"| redacted | &lt; | ^env:"
    rb"| \b(?:process\.env|os\.environ|os\.getenv|import\.meta|std::env|deno\.env)\b"
)
_WORDS = frozenset(
    b"none null nil undefined true false yes no on off empty required optional string str text "
    b"bytes byte int integer number float bool boolean any object char varchar unknown never void "
    b"password passwords passwd pass passphrase pwd secret secrets token tokens key keys apikey "
    b"api_key api-key credential credentials username user email name type value default unset set "
    b"missing invalid valid expired revoked provided incorrect wrong mismatch secretstr file env "
    b"vault prompt stdin input hidden masked basic bearer oauth oauth2 jwt error failed ok "
    b"encrypted hashed base64 sha256 sha512 bcrypt argon2 utf8 hs256 rs256 es256 function async "
    b"await return const static public private readonly self this new not and or inherit".split()
)
_SECRET_WORD = re.compile(rb"(?i)pass(?:w|phrase)|secret|token|key|cred|auth")
_WORDY = re.compile(rb"[A-Za-z]+(?:[-_/.:][A-Za-z]+)*\Z")
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*\Z")
_DOTTED = re.compile(rb"[A-Za-z_]\w*(?:(?:\?\.|\.|->|::)[A-Za-z_]\w*)+\Z")
_CONSTANT = re.compile(rb"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z")
_PATH = re.compile(rb"(?:~|\.{1,2})?/|[A-Za-z]:[\\/]|\w[\w+.-]*://|@[\w/.-]+$")
_RUNS = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# Twelve characters without any separator, three of them digits: no name looks like that.
_DENSE = re.compile(rb"(?=(?:[a-zA-Z+/]*[0-9]){3})[a-zA-Z0-9+/]{12,}={0,2}\Z")
_RANDOM_SEGMENT = 20


def is_placeholder(value: bytes) -> bool:
    """Tell whether a value only stands for a secret, or is a plain word."""
    return bool(_PLACEHOLDER.search(value)) or value.lower() in _WORDS


def is_path(value: bytes) -> bool:
    """Tell whether a value is a path or URL; a key in base64 may begin with a slash too."""
    if not _PATH.match(value):
        return False
    return (
        not any(
            len(part) >= _RANDOM_SEGMENT and looks_random(part)
            for part in re.split(rb"[/\\]", value)
        )
        or b"://" in value
    )


def looks_random(value: bytes, *, needs_digit: bool = True) -> bool:
    """Tell letters and digits thrown together from words: runs of one class are short."""
    runs: list[bytes] = _RUNS.findall(value)
    digits = sum(run.isdigit() for run in runs)
    if digits == len(runs) or (needs_digit and not digits):
        return False
    return bool(_DENSE.match(value)) or sum(map(len, runs)) <= (3.2 if digits else 3) * len(runs)


def is_code(value: bytes) -> bool:
    """Tell whether an unquoted value is a name in a program: a variable, a field, a constant."""
    if _DOTTED.match(value) or _CONSTANT.match(value):
        return True
    if not _IDENTIFIER.match(value):
        return False
    runs: list[bytes] = _RUNS.findall(value)
    digits = sum(run.isdigit() for run in runs)
    return digits == 0 or (digits == 1 and bool(_SECRET_WORD.search(value)))


def is_password(value: bytes, *, literal: bool) -> bool:
    """Judge a value whose key says password; a literal is quoted or of an environment dump."""
    if is_placeholder(value) or is_path(value) or any(space in value for space in b" \t"):
        return False
    if literal:
        return len(value) >= 4
    return len(value) >= 6 and (value.isdigit() or (not is_code(value) and _is_mixed(value)))


def is_token(value: bytes, *, literal: bool, named: bool) -> bool:
    """Judge a value whose key says token, secret or key; `named` keys leave no other meaning."""
    if is_placeholder(value) or is_path(value) or any(space in value for space in b" \t"):
        return False
    if value.isdigit() or len(value) < 8 or _CONSTANT.match(value) or _DOTTED.match(value):
        return False
    if looks_random(value):
        return literal or len(value) >= 12
    if not (literal and named) or (_WORDY.match(value) and _SECRET_WORD.search(value)):
        return False
    return not value.isalpha() or len(value) >= 16


def is_environment_secret(value: bytes) -> bool:
    """Judge the value of `SOME_TOKEN=value`: the name is explicit, so only clear misfits pass."""
    if is_placeholder(value) or is_path(value) or _CONSTANT.match(value):
        return False
    return len(value) >= 6 and not value.isdigit()


def _is_mixed(value: bytes) -> bool:
    has_letter = any(65 <= byte | 32 <= 122 and chr(byte).isalpha() for byte in value)
    return has_letter and any(not chr(byte).isalpha() for byte in value)
