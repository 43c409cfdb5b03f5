"""Decide whether a value is a secret or a placeholder, a word, code or a path."""

import re

from leftoff.lazy_patterns import lazy
from leftoff.redact.specimens import SPECIMENS, WORDS, is_mashed

# Stand-ins for a secret: masks, templates, shell and environment variables, instructions. Those at
# the start of a value are apart, because the others are tried at every byte.
_PLACEHOLDER_START = lazy(
    rb"(?ix) x+$ | [<\[{(] | [&|/\\][<\[{(] | \$(?:[a-z_{(\[?@!](?![\w-]*\$)|\d$)"
    rb"| !{1,2}[a-z]+(?:$|[ .:])"
    # `%s`, `%(name)s`, `%.2f` and `%NAME%`, but not a password that begins with a percent sign.
    rb"| %(?:[\d.#*-]{0,4}l{0,2}[a-z](?![a-z0-9]{2})|[({]|[\w.]+[%(])"
    rb"| (?:dummy|fake|sample|mock|insert|replace|todo|some[-_])"
    rb"| your(?:$|[-_. a-z]) | example(?:$|[-_. ])"
    rb"| (?:some|test|bad|wrong|invalid)[-_]?(?:pass(?:wor[dt]|wd)?|pw|pwd|secret|token)\d{0,2}$"
    rb"| \\{1,2}[bdsw^(\[]"
    rb"| (?:sk-)?(?:ssh|ecdsa)-[a-z0-9-]+(?:@\S+)?[ ]AAAA"
    rb"| (?:foo|bar|baz|foobar|blah|test|tester|testing|testuser|testclient|hello)$"
    # AWS labels the keys in its manuals. Those with 40 characters are as long as real ones.
    rb"| (?!.{40}$).*[a-z0-9](?-i:EXAMPLE|example)\d*$ | \W?p\W?a\W?s\W?s\W?\d?$"
    rb"| (?:does|is)[-_]?not[-_]?[a-z] | no[-_]?such | not[-_](?:a|my|the|real)[-_]"
    rb"| (?=.{1,16}$).*deadbeef"
    rb"| (?-i:EXAMPLE|example(?=[A-Z]))"
    rb"| arn:aws | (.)\1{3,}$ | (?:0x)?0+$"
    rb"| @?env[:(] | \$\(\$ | \)\[ | :?$ | [a-z]+:$ | -?anon(?:ymous|cvs)?(?:@[a-z.]*)?$"
    # `sk-ant-...`, `--project-id`, `*alias`, `uint64_t`, `0x10100`, `^4.0.23`, `" + password + "`
    rb"| (?:[a-z]{2,8}[-_]){1,3}(?:x{3,})?$ | --[a-z][a-z-]+=?$ | \*{1,2}[a-z_-]+\*{0,2}$"
    rb"| u?int\d{1,3}(?:_t)?$ | [~^]\d{1,4}\.\d{1,4}$ | 0x[0-9a-f]{1,8}$"
    rb"| [~^]?\d{1,4}(?:\.\d{1,4}){2}(?:[-+][\w.]+)?$"
    rb"| [)\"'`]{0,3}[ ]?(?:[+.,&]|<>)[ ] | [\\\"'`]{1,6}[$<{(] | [)\]}][\"'`,;)\]}] | \+\w+\+$"
    # `'TOKEN='.$token`, `'&key='.API_KEY;`, `.Values.password`, `$::password`, `${NAME}$`
    rb"| [\"'`]?\.\$ | [\"'`]\.[a-z\\] | \.[a-z_]\w*[;(\[] | \.[a-z]+(?:[-.][a-z]+)*$ | \$::"
    rb"| \$[a-z_]{3,20}\$\.?$"
    # `Get-Secret` of PowerShell, codes of errors, references to a vault, times
    rb"| (?-i:(?:Get|New|Read|Import|Invoke|Select|Join|Convert(?:To|From))-[A-Z][A-Za-z]+)$"
    rb"| (?-i:(?:invalid|incorrect|missing|unknown|cannot|too)(?:_[a-z]+)+)$"
    rb"| [a-z][a-z-]+:(?:api[-_]?key|password|token|secret)$ | \d{4}-\d\d-\d\d(?:$|t\d)"
    # `me:$TOKEN`
    rb"| [\w.-]{1,40}:\$(?:\{\w+\}|(?-i:[A-Z_]+))$"
    # Versions in a lock file, and names that manuals write in capitals
    rb"| (?:npm|workspace):[~^*\d]"
    rb"| (?-i:(?:[A-Z]+_){1,4}(?:PASSWORD|PASSPHRASE|PASSWD|SECRET|TOKEN|KEY|ID))$"
    rb"| (?-i:[A-Z]{2,20}(?:-[A-Z]{1,20}){0,3}-?(?:PASSWORD|SECRET|TOKEN|KEY))$ | &\#123;"
    # The colors of a terminal, as a program writes them
    rb"| \\(?:033|x1b|e|u001b)\["
    # `X=x.HEX=` in a chain of a minified program
    rb"| [a-z_$][\w$]*(?:\.[\w$]+)+=(?!=|$)"
    # `").append(`, the rest of a text that a program puts together, and `/*with_passphrase=*/true`
    rb"| [)\]]\.[a-z_]\w*[(\[] | \*/"
    # `translate/3` and `Context#context.password` in Erlang, `Passwd*`, `1304_u32`
    rb"| [a-z]+(?:_[a-z]+)*/\d$ | (?-i:[A-Z]\w*\#[a-z]\w*\.\w+|[A-Z][A-Za-z]*\*{1,2})$"
    rb"| \d+_?[iuf]\d{1,3}$ | 0x[0-9a-f]{1,16}u?l{1,2}$"
    rb"| \d{1,5}(?:\.\d{1,9}){4,}$ | convertto-securestring$"
    # `?string` and `Optional[str]` are types, `required|min:6` are rules, `+encode(key)` is code
    rb"| \?[a-z_\\]+$ | (?-i:[A-Z][A-Za-z]+\[[A-Za-z][\w., |\[\]]*\])$"
    rb"| [a-z][a-z_]*(?::[a-z\d_,]+)?(?:\|[a-z][a-z_]*(?::[a-z\d_,]+)?)+$"
    rb"| \+[a-z_$][\w$.]*[(,)+] | [a-z]{2,20}\([\"'][^\"']{0,80}[\"']\)$"
    # `DemoService:1.0.0`, `WRONG-FORMAT`, `HOST:PORT:DATABASE:PASSWORD`, values of one character
    rb"| [a-z][\w./-]*:\d{1,4}(?:\.\d{1,5}){1,3}$ | (?-i:[A-Z]{3,12}(?:[-_][A-Z]{3,12}){1,2})$"
    rb"| (?-i:[A-Z]{2,20}(?:[:_][A-Z]{2,20})*:[A-Z]{2,20})$ | x{3}y{3}"
    rb"| ([0-9a-f])\2{7}(?:-\2{4}){3}-\2{12}$"
    # `build.keychain`, `new_password_here`, `**required**`, the address of a user
    rb"| [a-z]+\.?\*{2}$ | [\w.+-]+@[\w-]+\.(?:com|org|net|test|local)$"
    rb"| \#?[a-z][\w.-]*\.(?:keychain|kdbx|json|ya?ml|toml|pem|crt|p12|pfx|jks|txt)$"
    rb"| [a-z_-]*(?:password|secret|token|key)[-_]?here$"
    # `alice_digest`, `api/v3/hooks/:id`, `Pricing::Context.build`, `Symbol(token)`, `name=`
    rb"| (?-i:[a-z]+(?:_[a-z]+)*_(?:dir|path|digest)\d?|[a-z]+=)$ | symbol\("
    rb"| (?-i:[a-z][a-z0-9_]*(?:/:?[a-z][a-z0-9_]*){2,}|[A-Z]\w*(?:::[A-Z]\w*)+[.\#]?\w*)$"
    # `admin.oauth2.generate-access-token`
    rb"| (?-i:(?:[a-z]{1,24}(?:[A-Z][a-z]{1,20}){0,4}\d?(?:-[a-z]{1,20}){0,4}(?:\.|$)){3,6})$"
    # the code of a character, what a service for translations puts in place of a text
    rb"| (?-i:(?=[0-9]*[A-F])[0-9A-F]{4})$ | crwdns\d | required[a-z_]*[|:]"
    # public keys in DER
    rb"| (?-i:MFwwDQYJ|MIGfMA0G|MII[BC]IjANBgkq|MFkwEwYH)"
    # `postgres_secure_password`, `_acme_session` (the name of a cookie of Rails)
    rb"| (?:[a-z]+\.)?_?[a-z]+(?:[_-][a-z]+){0,4}[_-](?:pass(?:word|wd|phrase)|secret)_?\d?$"
    rb"| _[a-z]+(?:_[a-z]+){0,3}_session$"
)
_PLACEHOLDER = lazy(
    rb"(?ix) [*\xe2\x80\xa2]{3} | x{4} | \.{3} | \xe2\x80\xa6"
    rb"| [$\#]\{ | \{\{ | \{\$[a-z] | \\\([a-z] | \{(?:[a-z]|[a-z_][a-z_.]{2,30})\}"
    rb"| <[a-z][a-z0-9_ -]{0,30}> | %\[[a-f0-9-]"
    rb"| [-_. ](?:your(?:$|[-_. a-z])|example(?:$|[-_. ])) | [-_ ](?:here|dummy|placeholder)$"
    rb"| change[-_ ]?(?:me|it|this) | replace[-_ ]?(?:me|with|this) | generate[-_ ]with"
    rb"| place[-_]?holder | %[sdr](?![a-z0-9])"
    rb"| (?-i:RANDOM) | random[-_ ]?(?:string|value|token|key|secret|chars?)"
    rb"| [-_ ]my[-_]?(?:password|secret|token|key)$ | redacted | &lt; | :anoncvs$"
    rb"| \b(?:process\.env|os\.environ|os\.getenv|import\.meta|std::env|deno\.env)\b"
)
_SECRET_WORD = lazy(rb"(?i)pass(?:w|phrase)|secret|token|key|cred|auth|pwd")
_WORDY = lazy(rb"[A-Za-z]+(?:[-_/.:][A-Za-z]+)*\Z")
_IDENTIFIER = lazy(rb"[A-Za-z_]\w*\Z")
# Vim writes the scope of a variable first: `s:name`.
_DOTTED = lazy(
    rb"[*&]?(?:[abglstvw]:)?[A-Za-z_]\w*(?:(?:[?!]?\.|->|::)[A-Za-z_]\w*)+!?\Z|[abglstvw]:[a-z_]+\Z"
)
# `hunter2secret`, but not `oauth2token`
_CHOSEN = lazy(
    rb"(?!(?i:oauth|auth|base|user|test|client|pkcs|admin|step|type|http|level|phase))"
    rb"[A-Za-z][a-z]{3,}[0-9]+[A-Za-z][a-z]{3,}\Z"
)
_CONSTANT = lazy(rb"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z")
_PATH = lazy(
    rb"(?:~|\.{1,2})?/|\w{1,20}:[\\/]|\\{2,8}\w[\w.-]*\\|\w[\w+.-]*://|@[\w/.-]+$|(?:classpath|file):"
)
# A base64 key may begin with a slash too, but a path does not end like this.
_PADDED = lazy(rb"[A-Za-z0-9+/]{20,}={1,2}\Z")
_RUNS = lazy(rb"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# Twelve characters without a separator, three of them digits: no name looks like that.
_DENSE = lazy(rb"(?=(?:[a-zA-Z+/]*[0-9]){3})[a-zA-Z0-9+/]{12,}={0,2}\Z")
# Standards with a digit, as in the name `X509ClientCredential`
_STANDARD = lazy(rb"(?i)x509|lwm2m|oauth2|base64|sha(?:256|512|1)|pkcs(?:8|12)|ipv[46]|md5")
_RANDOM_SEGMENT = 20
_LONG = 20
# The beginning of a long value is enough to judge it.
_JUDGED = 128
# Hardly any word has five consonants in a row, but random letters soon do.
_HARD = lazy(rb"(?i)[b-df-hj-np-tv-xz]{5}")
# `PassThroughProp`: words with one capital each, so each is judged on its own.
_HUMPS = lazy(rb"[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,})+\Z")
_VOWEL = lazy(rb"[AEIOUaeiou]")
_PARTS = lazy(rb"[^A-Za-z0-9]+|_")
_JOINTS = lazy(rb"[^A-Za-z0-9]+")
_DIGIT = lazy(rb"[0-9]")
# A whole object under a secret's name, as in `'{"auth": "…"}'`, not the field of a template.
_OBJECT = lazy(rb"[{(\[][^{}]")
_STRETCH = lazy(rb"[A-Za-z0-9+/]{20,}")
_OBJECT_REACH = 500
# A single word with a character that no name in a program contains.
_MARKED = lazy(rb"[A-Za-z0-9]{2,}[!$#^@*?~][A-Za-z0-9!$#^@*?~]*\Z")
# Letters beyond ASCII, plain or escaped as in JSON.
_FOREIGN = lazy(rb"(?i)[\x80-\xff]|\\+u(?!00[0-7])[0-9a-f]{4}")
# A sentence in another language may contain a number.
_MANY_FOREIGN = 8
# A word or two in another language than English.
_FOREIGN_WORD = lazy(rb"[A-Za-z]*[\x80-\xff][A-Za-z\x80-\xff'-]*[.!?]?\Z")
# Numbers in the names of methods: `BASE64_URL`, `sha256.new`
_METHOD = lazy(rb"(?i)(?<![a-z0-9])(?:base|sha|utf|aes|md|rsa|oauth|http|u?int)[0-9]+(?![a-z0-9])")
# Characters that hardly occur in a label in another language than English.
_MARKS = lazy(rb"[0-9!@#$%^&*]")
# `new_password`, `password2`, `anewpassword`
_LABEL = lazy(
    rb"(?i)[a-z-]{0,16}[-_.]?(?:passwor[dt]|passwd|passphrase|salasana)s?\d?\Z"
    rb"|passw(?:or)?d[_-][a-z_-]+\Z"
)
# Words written like a name in a program, perhaps one of several: `private_value_1`.
_SNAKE = lazy(rb"[a-z]+(?:_[a-z]+)+(?:_?\d{1,2})?\Z")
# Letters followed by a number: `abcd1234`.
_NUMBERED = lazy(rb"[A-Za-z]{3,}[0-9]{4,}\Z")
# Passwords for apps of Google and WordPress: groups of four, not words.
_GROUPS = lazy(rb"(?:[A-Za-z0-9]{4}[ ]){3,5}[A-Za-z0-9]{4}\Z")
# `title_of_page: 0cc175b9c0f1b6a831c399e269772661`
_HASH = lazy(rb"[0-9a-f]+\Z")
_HASH_LINE = lazy(rb"(?:\n|\\n)[ \t]{0,16}[a-z0-9_.-]{1,80}: ([0-9a-f]{32,64})(?=[\s\\])")
_HASH_LENGTHS = frozenset((32, 40, 64))
# Settings have fewer secrets in a row.
_TABLE_REACH, _TABLE = 500, 7
# Two or three words joined by dashes are a name or a label, as in `etcd-cluster`.
_NAMED = rb"(?:[A-Z]?[a-z]{2,20}(?:[A-Z][a-z]{2,20}|[A-Z]{2,4})?|[A-Z]{2,4})"
_NAME = lazy(rb"(?:[a-z]{2,20}:)?" + _NAMED + rb"(?:[-+]" + _NAMED + rb"){1,2}(?:-?\d{1,2})?\Z")
# What examples write in place of a token: `request_token`, `my-client-secret`
_NAMED_TOKEN = lazy(rb"[a-z]+(?:[_-][a-z]+){0,3}[_-](?:token|key|secret)\Z")
# Four or more words joined by dashes.
_PHRASE = lazy(rb"[a-z]{3,}(?:-[a-z]{3,}){3,}\Z")


def is_placeholder(value: bytes) -> bool:
    """Return whether a value is a placeholder for a secret, or a plain word."""
    if is_random_object(value):
        return False
    if _PLACEHOLDER_START.match(value, 0, _JUDGED) or _PLACEHOLDER.search(value, 0, _JUDGED):
        return True
    if value in SPECIMENS:
        return True
    # `String!`, `false|`, `_null_`
    word = value[:_JUDGED].lower().rstrip(b"!?|").strip(b"_")
    # `geheim$parole`, `secret-token`
    return word in WORDS or WORDS.issuperset(_JOINTS.split(word))


def is_random_object(value: bytes) -> bool:
    """Return whether an object or call has a random part, unlike the field of a template."""
    return bool(_OBJECT.match(value)) and has_random_part(value)


def has_random_part(value: bytes) -> bool:
    """Return whether a part of a value is too long and too random for a name."""
    return any(map(looks_random, _STRETCH.findall(value, 0, _OBJECT_REACH)))


def is_in_table(data: bytes, start: int, value: bytes) -> bool:
    """Return whether a hash is one line of a long table of hashes, as in the lock of a program."""
    if len(value) not in _HASH_LENGTHS or not _HASH.match(value):
        return False
    around = data[max(0, start - _TABLE_REACH) : start + _TABLE_REACH]
    lines = _HASH_LINE.findall(around)
    return sum(len(line) == len(value) for line in lines) >= _TABLE


def is_path(value: bytes) -> bool:
    """Return whether a value is a path or URL."""
    if not _PATH.match(value) or _PADDED.match(value):
        return False
    return (
        not any(
            len(part) >= _RANDOM_SEGMENT and looks_random(part)
            for part in re.split(rb"[/\\]", value)
        )
        or b"://" in value
    )


def looks_random(value: bytes, *, needs_digit: bool = True) -> bool:
    """Return whether a value is random letters and digits: its runs of one class are short."""
    runs: list[bytes] = _RUNS.findall(value)
    digits = sum(run.isdigit() for run in runs)
    if digits == len(runs) or (needs_digit and not digits):
        return False
    return bool(_DENSE.match(_STANDARD.sub(b"", value))) or sum(map(len, runs)) <= (
        3.2 if digits else 3
    ) * len(runs)


def is_code(value: bytes) -> bool:
    """Return whether an unquoted value is a name in a program: a variable, field or constant."""
    if _is_reference(value):
        return len(_DIGIT.findall(_METHOD.sub(b"", value))) < 2 or bool(_SECRET_WORD.search(value))
    if not _IDENTIFIER.match(value):
        return False
    runs: list[bytes] = _RUNS.findall(value)
    digits = sum(run.isdigit() for run in runs)
    if _CHOSEN.match(value):
        return False
    return digits == 0 or (digits == 1 and bool(_SECRET_WORD.search(value)))


def is_label(value: bytes) -> bool:
    """Return whether a quoted value is a text for people, or the name of a field or a setting."""
    plain, count = _FOREIGN.subn(b"", value)
    if count >= _MANY_FOREIGN or (count and not _MARKS.search(plain)):
        return True
    is_constant = bool(_CONSTANT.match(value.strip(b"_"))) and not _DIGIT.search(value)
    return is_constant or bool(_LABEL.match(value))


def is_password(value: bytes, *, literal: bool) -> bool:
    """Judge a value whose key says password; a literal is quoted or in an environment dump."""
    # The check for placeholders is the most expensive one, so it comes last.
    if _has_blank(value) or is_path(value):
        return literal and bool(_GROUPS.match(value))
    # A label or a name in a program, such as `login.password.title`.
    if (_DOTTED.match(value) or _SNAKE.match(value)) and _SECRET_WORD.search(value):
        return False
    if literal:
        return len(value) >= (6 if value.isalpha() else 4) and not is_placeholder(value)
    if len(value) < 6 or _FOREIGN_WORD.match(value):
        return False
    is_likely = (
        value.isdigit()
        or (is_unlike_words(value) and not _is_reference(value))
        or (not is_code(value) and _is_mixed(value))
    )
    return is_likely and not is_placeholder(value)


def is_token(value: bytes, *, literal: bool, named: bool) -> bool:
    """Judge a value whose key says token, secret or key; `named` keys have no other meaning."""
    value = value.strip()
    if len(value) < 8 or is_mashed(value):
        return False
    return _is_likely(value, literal=literal, named=named) and not is_placeholder(value)


def _is_likely(value: bytes, *, literal: bool, named: bool) -> bool:
    if _has_blank(value):
        has_key = any(len(part) >= 20 and looks_random(part) for part in value.split())
        return bool(_GROUPS.match(value)) or (named and has_key)
    if is_path(value):
        return named and is_address_with_key(value)
    if value.isdigit():
        return named and len(value) >= (12 if literal else 15)
    return not _is_reference(value) and _is_chosen(value, literal=literal, named=named)


def _is_chosen(value: bytes, *, literal: bool, named: bool) -> bool:
    # `auth_token=raw_token2`
    if not literal and _SNAKE.match(value):
        return False
    if looks_random(value):
        return literal or len(value) >= (8 if named else 12)
    if named:
        return _is_named_token(value, literal=literal)
    return literal and len(value) >= _LONG and is_unlike_words(value)


def _is_named_token(value: bytes, *, literal: bool) -> bool:
    if is_unlike_words(value) or _MARKED.match(value):
        return True
    if any(len(part) >= 12 and _is_jumbled(part) for part in _PARTS.split(value)):
        return True
    solid = value.strip(b"_")
    is_words = _SNAKE.match(solid) or is_dashed_name(value)
    if is_words or (_WORDY.match(solid) and _SECRET_WORD.search(value)):
        return False
    if not literal:
        is_chosen = _NUMBERED.match(value) or _PHRASE.match(value) or _is_odd(value)
        return bool(is_chosen) and not _SECRET_WORD.search(value)
    # `PropertiesService`
    if not solid.isalpha() or (len(value) >= 16 and not _HUMPS.match(value)):
        return True
    return _is_hard(value) or (len(value) >= 9 and _is_jumbled(value))


def _is_hard(value: bytes) -> bool:
    """Return whether no word has so many consonants in a row."""
    runs = _RUNS.findall(value) if _HUMPS.match(value) else [value]
    return any(map(_HARD.search, runs))


def _is_odd(value: bytes) -> bool:
    """Return whether a short value is random: it has too few vowels for a word."""
    if len(value) < 8 or not value.isalnum():
        return False
    letters, vowels = sum(map(str.isalpha, value.decode())), len(_VOWEL.findall(value))
    return _is_hard(value) or (letters < len(value) and 4 * vowels < letters)


def is_environment_secret(value: bytes) -> bool:
    """Judge the value of `SOME_TOKEN=value`: the name is explicit, so only clear misfits pass."""
    if len(value) < (12 if value.isdigit() else 6) or _is_reference(value):
        return False
    # `"?apiKey=" as it is in other parts`
    if value[:1] == b" ":
        return False
    if _NAMED_TOKEN.match(value):
        return False
    if is_path(value) and not is_address_with_key(value):
        return False
    # `-config-file /etc/token.json`
    is_option = value.startswith(b"-") and _has_blank(value)
    return not is_option and not is_placeholder(value)


def is_wordy(value: bytes) -> bool:
    """Return whether a value is a word or dashed words, without a digit or another symbol."""
    return bool(_WORDY.match(value))


def is_dashed_name(value: bytes) -> bool:
    """Return whether a value is two or three words joined by dashes: a name, not a phrase."""
    return bool(_NAME.match(value))


def is_unlike_words(value: bytes) -> bool:
    """Return whether a long value is an unlikely name, although it is not quite random."""
    if len(value) < 12:
        return False
    if _is_hard(value) and not _SECRET_WORD.search(value):
        return True
    if len(value) >= 16 and (len(_DIGIT.findall(value)) >= 5 or _is_jumbled(value)):
        return True
    longest = max(_JOINTS.split(_STANDARD.sub(b"", value)), key=len)
    if len(longest) < 14 or _SECRET_WORD.search(longest) or b"base64" in longest:
        return False
    if _DIGIT.search(longest, 0, len(longest) - 1):
        return True
    return len(longest) >= 20 and (longest.islower() or longest.isupper())


def is_dashed(value: bytes) -> bool:
    """Return whether a random value begins with a dash, rather than being the next option."""
    return len(value) >= 16 and not value.startswith(b"--") and is_unlike_words(value)


def _is_jumbled(value: bytes) -> bool:
    """Return whether letters are random, unlike the humps of a name with one capital each."""
    runs: list[bytes] = _RUNS.findall(value)
    capitals = sum(run.isupper() and len(run) > 1 for run in runs)
    is_short = sum(map(len, runs)) <= 3.4 * len(runs)
    return capitals > 1 and is_short and not _SECRET_WORD.search(value)


def is_address_with_key(value: bytes) -> bool:
    """Return whether a URL has a random part, so that anyone who has the URL needs no other key."""
    return b"://" in value and any(
        len(part) >= 16 and looks_random(part) for part in re.split(rb"[/?&=]", value)
    )


def _is_reference(value: bytes) -> bool:
    """Return whether a value is a constant or a dotted name, rather than a token."""
    if not (_DOTTED.match(value) or _CONSTANT.match(value)):
        return False
    parts = (*_JOINTS.split(value), *value.split(b"."))
    return not any(len(part) >= 16 and _is_random_part(part) for part in parts)


def _is_random_part(part: bytes) -> bool:
    """Return whether a part belongs to a token, not to a name that contains a secret's word."""
    if not looks_random(_METHOD.sub(b"", part)):
        return False
    # A long random part contains a word of three letters by chance.
    return not _SECRET_WORD.search(part) or (len(part) >= 20 and bool(_DENSE.match(part)))


def _has_blank(value: bytes) -> bool:
    return b" " in value or b"\t" in value


def _is_mixed(value: bytes) -> bool:
    has_letter = any(65 <= byte | 32 <= 122 and chr(byte).isalpha() for byte in value)
    return has_letter and any(not chr(byte).isalpha() for byte in value)
