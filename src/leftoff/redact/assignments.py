"""Decide whether a name that means a secret is given a value, and in which way."""

import re
from typing import NamedTuple

from leftoff.lazy_patterns import lazy
from leftoff.redact.specimens import WORDS
from leftoff.redact.syntaxes import ASKING, SETTER, SETTING, SQL, STORING

KINDS = {
    b"pass": "password",
    b"pwd": "password",
    b"secret": "secret",
    b"token": "token",
    b"key": "key",
    b"cred": "credential",
}
_MARK = lazy(rb"(\\*+)([\"'`])|[\r\n]")
# With an issuer or a use before the word, a name has no other meaning.
_QUALIFIED = lazy(rb"[a-z0-9][ _-]?\Z")
# `session({ secret: "…" })` of web servers
_SESSION = lazy(rb"session\(\s{0,8}\{[^{}]{0,80}\Z")
_SQL_REACH = 200
_NAME = lazy(rb"[\w-]{1,88}")
_SAME = 8
_AROUND = b"\\\"'`$@"
_ATTRIBUTE = lazy(
    rb"(?i)\b(?:for|id|type|class|href|src|value|(?:data|aria)-\w+)=\\{0,8}[\"'][^\"'<>]{0,60}\Z"
)
_GENERIC = lazy(rb"\w<[\w, ]{0,200}\Z")
_MESSAGE = lazy(rb"[\"'](?:[\w-]{1,40}\.){1,6}\Z")
# `"password": "MQTT-adgangskode"`
_COMPOUND = lazy(rb"[A-Z][A-Za-z0-9]{1,7}(?:-[A-Za-z\x80-\xff]{4,40}){1,3}\Z")
# `hide_password: "…"` is what a button says.
_BUTTON = lazy(rb"(?i)(?:show|hide|forgot|header)_\Z")
# `sha256_hash_of_signing_key` is a hash of a key.
_HASH_OF = lazy(rb"(?i)(?:hash|digest|checksum|fingerprint)_?of_(?:\w{1,20}_)?\Z")
# `PASS   {'column': 1}` is the result of a test.
_RESULT = lazy(rb"pass[ \t]{2,}\{")
# The id of a public key of PGP, in the settings of git.
_KEY_ID = lazy(rb"(?:0x)?[0-9A-F]{8}(?:[0-9A-F]{8}){0,4}\Z")
_PAIR = lazy(rb"(?:^|[\s(])[A-Za-z_]\w{0,40},[ ]{0,2}\Z")
_FIRST = lazy(rb"[^\"'\\\r\n]{0,100}\\{0,8}[\"'],[ ]{0,2}\\{0,8}[\"']")


# `https://img.shields.io/…?token=…`, and `badge.svg?token=…` of a coverage service.
_BADGE = lazy(rb"(?:shields\.io/|badge)[^\s\"']{0,80}[?&]\Z")
# These words before `token` identify a request or a state of a record, if the value is a UUID.
_REQUESTS = (b"client", b"request", b"lock", b"update", b"action", b"job")
_UUID = lazy(rb"(?i)[0-9a-z]{8}(?:-[0-9a-z]{4}){3}-[0-9a-z]{12}")


# `existingSecret`, `tlsSecret` and `passwordSecret` name an object of Kubernetes.
_OBJECTS = (b"existing", b"tls", b"password", b"pull", b"credentials")
_KEY_OF_OBJECT = lazy(rb"passw(?:or)?d[_-]?key\b")
_OBJECT_NAME = lazy(rb"[a-z]+[a-z0-9]{0,3}(?:[-.][a-z]+[a-z0-9]{0,3})*\Z")
# `checkUserPassword("me")` is given a user.
_CHECKING = lazy(rb"_?(?:is|has|check|verify|validate|compare|match|assert)[A-Z_]")
# `INVALID_PASSWORD = "5020"` is the number of an error.
_FAULT = lazy(rb"(?i)(?:^|[a-z]_)?(?:invalid|missing|incorrect|required|expired|wrong|weak)_")
# `is_login ? "password" : "session"`
_CHOICE = lazy(rb"\?\s{0,8}[\"']\Z")
# Words before `Token` in the name of a method.
_JOINING = (b"With", b"By", b"From", b"For", b"Via")
# `SSHPASS` and `DBPASS`, but not `COMPASS`
_OWNERS = frozenset(b"ssh db root admin user smtp ftp mail mysql pg redis".split())


class Assignment(NamedTuple):
    """A name that means a secret, the text before it, and the match of what follows it."""

    stem: bytes
    left: bytes  # the part of the name before the word that means a secret
    before: bytes  # the text before the name
    found: re.Match[bytes]

    @property
    def is_flag(self) -> bool:
        """Return whether the name is an option of a command."""
        return self.left.startswith(b"-")

    @property
    def is_short(self) -> bool:
        """Return whether the name ends in just `pass`, which has other meanings too."""
        return self.stem == b"pass" and self.found["short"] is not None

    @property
    def kind(self) -> str:
        """Return the kind of secret that the name means."""
        return KINDS[self.stem]


def is_said(data: bytes, one: Assignment) -> bool:
    """Accept `DB_PASS=…`, `"pass": "…"` and `userPass`, not `pass: 12` of tests or `compass`."""
    if not one.is_short:
        return True
    if one.is_flag:
        # `-debug-pass=Executions` names a compiler pass.
        return one.left.count(b"-") == len(one.left) or not (one.found["bare"] or b"1").isalpha()
    if one.left.lower() in _OWNERS:
        return is_environment(data, one)
    if one.left and not one.left.endswith(b"_"):
        return data[one.found.start() : one.found.start() + 1] == b"P" and one.left[-1:].islower()
    # `user=me&pass=…`
    is_parameter = one.before.endswith((b"&", b"?")) and one.found["equals"]
    is_result = one.found["equals"] == b"->" or _RESULT.match(one.found[0])
    is_quoted = one.found["mark"] and not is_result
    if is_parameter or is_quoted or (one.left and is_environment(data, one)):
        return True
    # `become_pass: …`, but not `tests_pass: 120034`
    return bool(one.left) and not (one.found["bare"] or b"0").isdigit()


def is_assigned(data: bytes, one: Assignment) -> bool:
    """Return whether the name is followed by its value, not by the next word or argument."""
    found = one.found
    # `--no-ask-password` takes no value.
    if _is_part(one) or one.left.startswith(b"--no-") or one.left.endswith(b"-ask-"):
        return False
    # `removeFieldWithToken: procedure` is a method.
    if found["colon"] and found["bare"] and one.left.endswith(_JOINING):
        return False
    if found["default"]:
        # `["--password", "…"]` is a list of arguments.
        is_argument = one.is_flag and one.left.startswith(b"--") and found["default"] == b","
        is_fallback = found["default"] in (b"||", b"??", b"?:")
        return is_argument or is_fallback or bool(STORING.search(one.before))
    if found["call"]:
        return _is_stored(data, one)
    if found["blank"] is None or one.is_flag or is_statement(data, one):
        return True
    setting = SETTING.search(one.before)
    # A constant in C may name another constant.
    is_constant = setting is not None and setting[0][:6].lower() == b"define"
    return setting is not None and (not is_constant or bool(found["mark"]))


def _is_part(one: Assignment) -> bool:
    """Return whether the name is only a part of an address, a path, a type or an attribute."""
    found, before = one.found, one.before
    # In a URL the name is a user, and another rule finds the value. `AWS::IAM::AccessKey` is a
    # type.
    # `/:token` is a parameter of a route.
    if before.endswith((b"//", b"::")) or (before.endswith(b"/:") and one.left[:1] != b"_"):
        return True
    # `$USER:$PASSWORD:33` and `${PASSWORD:+given}`
    is_alternative = before.endswith(b"${") and (found["bare"] or b"").startswith(b"+")
    if found["colon"] and not found["gap"] and (before.endswith(b"$") or is_alternative):
        return True
    # In `arn:…:secret:name` the name is part of a path, and `/etc/passwd: <hash>` is a file.
    if found["colon"] and before.endswith(b"/etc/" if found["gap"] else (b":", b"/etc/")):
        return True
    # In `<label for="password">` it is an attribute, and in `List<PrivateKey>` a type.
    if found["tag"] and (_ATTRIBUTE.search(before) or _GENERIC.search(before)):
        return True
    if found["colon"] and _CHOICE.search(before):
        return True
    # `win32cred` is the name of a module.
    return one.stem == b"cred" and one.left[-1:].isdigit()


def _is_stored(data: bytes, one: Assignment) -> bool:
    """Accept `setPassword("…")`, not `checkPassword("…")` or `UserPassword("me", password)`."""
    mark = one.found["mark"]
    end = closing(data, one.found.end(), mark) + len(mark)
    if one.is_short or data[end : end + 8].lstrip().startswith(b","):
        return False
    if _CHECKING.match(one.left):
        return False
    is_method = one.before.endswith(b".") and not ASKING.search(one.left.lstrip(b"_"))
    return is_method or bool(SETTER.search(one.left))


def is_statement(data: bytes, one: Assignment) -> bool:
    """Accept `ALTER USER me PASSWORD '…'`, not a sentence with a quoted word in it."""
    sql, at = SQL.get(one.kind), one.found.start()
    if one.found["mark"] != b"'" or one.is_short or sql is None:
        return False
    return bool(sql.search(data[max(0, at - _SQL_REACH) : at]))


def is_environment(data: bytes, one: Assignment) -> bool:
    """Return whether this is `NAME=value` in a shell, an environment dump, a query or a DSN."""
    found = one.found
    name = one.left + data[found.start() : found.start() + len(one.stem)]
    if found["equals"] == b"=" and not found["gap"]:
        # `messages.UPDATE_PASSWORD=…` is a line of a translation.
        is_variable = name.isupper() and not one.before.endswith(b".")
        return is_variable or one.before.rstrip(b" \t")[-1:] in (b";", b"?", b"&")
    is_pair = found["colon"] or found["pair"] or found["fallback"]
    return bool(is_pair) and name.isupper() and b"_" in name


def is_pair(data: bytes, one: Assignment) -> bool:
    """Return whether the name is the second of two, as in `user, password = "me", "…"`."""
    is_second = one.found["mark"] and one.found["equals"] and _PAIR.search(one.before)
    return bool(is_second) and bool(_FIRST.match(data, one.found.end()))


def is_same(data: bytes, one: Assignment, value: bytes) -> bool:
    """Return whether a constant holds its own name or an error: `API_PASSWORD = "apiPassword"`."""
    if value.isdigit() and _FAULT.match(one.left):
        return True
    word = match_at(_NAME, data, one.found.start())
    squashed = value.replace(b"_", b"").replace(b"-", b"").lower()
    name = (one.left + word).replace(b"_", b"").replace(b"-", b"").lower()
    if name.startswith(squashed) or (len(squashed) >= _SAME and squashed in name):
        return True
    # `"providerkey1": "CtProviderKey1"`, `$token = "\"$token\""`
    return one.kind != "password" and len(name) >= _SAME and squashed.strip(_AROUND).endswith(name)


def is_translated(one: Assignment, value: bytes) -> bool:
    """Return whether this is a line of a translation, such as `"install.password": "Parool"`."""
    if one.found["colon"] and one.before[-1:] == b'"' and _COMPOUND.match(value):
        return True
    is_word = value.replace(b"-", b"").isalpha()
    is_entry = one.found["colon"] or one.found["equals"] == b"=>"
    if not is_entry or not is_word:
        return False
    if _BUTTON.search(one.left) and value[:1].isupper():
        return True
    # `"smtp-password": "SMTP-wachtwoord"`
    name = one.left.lower()
    if b"-" in value and all(each in WORDS or each in name for each in value.lower().split(b"-")):
        return True
    if one.before[-1:] not in (b'"', b"'", b"."):
        return False
    is_title = value[:1].isupper() and value[1:].islower()
    return is_title or bool(_MESSAGE.search(one.before))


def is_public(one: Assignment, value: bytes) -> bool:
    """Return whether a value only names an object, belongs to a badge or identifies a request."""
    # `passwordKey` names a key of such an object.
    if one.kind == "password" and _KEY_OF_OBJECT.match(one.found[0]):
        return _OBJECT_NAME.match(value) is not None
    if one.stem == b"secret" and one.left.lower().rstrip(b"_-").endswith(_OBJECTS):
        return _OBJECT_NAME.match(value) is not None
    if one.stem != b"token":
        is_id = one.left.lower().endswith(b"signing") and _KEY_ID.match(value)
        return bool(is_id or _HASH_OF.search(one.left))
    if one.left.lower().replace(b"_", b"-").endswith(b"initial-cluster-"):
        return True
    if one.left.lower().rstrip(b"_-").endswith(_REQUESTS) and _UUID.fullmatch(value):
        return True
    return _BADGE.search(one.before) is not None


def is_qualified(one: Assignment) -> bool:
    """Return whether a name has no other meaning, unlike a bare `token`."""
    if one.stem == b"key" or one.is_flag or one.found["blank"] is not None:
        return True
    if one.stem == b"secret" and not one.left and _SESSION.search(one.before):
        return True
    return bool(_QUALIFIED.search(one.left.lower()))


def closing(data: bytes, start: int, mark: bytes) -> int:
    """Find where a quoted text ends; a quote inside it has more backslashes than its ends.

    Two texts with the same quote never overlap, so all these searches together take linear time.
    """
    depth = len(mark) - 1
    for found in _MARK.finditer(data, start):
        if not found[2]:
            return found.start()
        if found[2] == mark[-1:] and len(found[1]) % (2 * depth + 2) == depth:
            return found.end() - len(mark)
    return len(data)


def match_at(pattern: re.Pattern[bytes], data: bytes, start: int) -> bytes:
    """Return what a pattern matches at this position, or an empty text."""
    found = pattern.match(data, start)
    return found[0] if found else b""
