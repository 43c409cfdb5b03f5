"""Decide whether a text was issued by a machine: a known shape's body, or an unknown token."""

from leftoff.lazy_patterns import lazy

# A capital and the letters after it count as one run, as in the words of a name. Runs of random
# letters and digits have two characters on average, runs in names four or more.
_RUNS = lazy(rb"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_MIXED_RUN, _PLAIN_RUN, _UNNAMED_RUN = 2.9, 5.0, 2.4
_DIGIT = lazy(rb"[0-9]")
# Hardly any word has five consonants in a row, but random letters soon do.
_HARD = lazy(rb"(?i)[b-df-hj-np-tv-xz]{5}")
_HEX = lazy(rb"[0-9a-f]+|[0-9A-F]+")
_UUID = lazy(rb"(?i)[0-9a-z]{8}(?:-[0-9a-z]{4}){3}-[0-9a-z]{12}")
# A host and a UUID: `VMhost3.1f355cf6-…`
_ENDS_IN_UUID = lazy(rb"(?i)[\w.-]{1,40}[_.-][0-9a-z]{8}(?:-[0-9a-z]{4}){3}-[0-9a-z]{12}")
# TypeORM names keys and indexes of tables by a part of a hash.
_CONSTRAINTS, _CONSTRAINT = frozenset(b"pk fk uq idx rel chk df".split()), (26, 27)
_WORD = lazy(rb"[A-Z]?[a-z]{2,}|[A-Z]{2,}")
_JOINT = lazy(rb"[-_.]")
# Documentation shows shapes with bodies that cannot be used to log in.
_SPECIMEN = lazy(
    rb"(?i)x{6,}|\*{4}|\.{3}|(?:^|[-_])your(?=$|[-_])|[-_]here$|place_?holder|redacted|[-_]example"
)
_STRETCH = lazy(rb"[A-Za-z0-9]{14,}")
_PUNCTUATION = lazy(rb"[^A-Za-z0-9]")
# An issuer's name and what it issues, each at most twelve letters: `acme_live_`, `acme-pat-v1-`.
_NAME = lazy(
    rb"(?:[a-z]{1,12}|[A-Z]{1,12}|[A-Z][a-z]{1,11}|[a-z][a-z0-9]{1,6}|[A-Z][A-Z0-9]{1,6})[-_.]"
)
_MOST_NAMES = 4
# If no part says what it is, the first must be a name. Base64 with a joint near its start is not.
_ISSUER = lazy(rb"[a-z]{2,12}[-_.]|[A-Z]{3,12}[-_.]|[a-z][a-z0-9]{1,6}[-_.][A-Za-z0-9]+\Z")
# The shortest body by what it consists of. It may be shorter if a name says that it is a
# credential.
_HEX_BODY, _MIXED_BODY, _PLAIN_BODY = 32, 20, 30
_CREDENTIAL_HEX_BODY, _CREDENTIAL_MIXED_BODY, _CREDENTIAL_PLAIN_BODY = 24, 16, 20
_CREDENTIAL = frozenset(
    b"sk pk rk ak tk lk dk sak pak uak key keys apikey api pat pats token tokens tok tkn secret "
    b"secrets auth oauth oat uat rat aat access refresh "
    b"private priv bot pass password passwd pwd cred creds credential signing "
    b"webhook whsec admin personal client bearer license licence".split()
)
_ENVIRONMENTS = frozenset(b"live test prod production sandbox staging".split())
_CREDENTIAL_ENDS = (b"key", b"token", b"secret")
# Names of public things: hashes, files, builds, and the ids of records.
_HARMLESS = frozenset(
    b"sha sha1 sha2 sha256 sha384 sha512 md5 crc crc32 hash digest checksum etag integrity "
    b"commit rev revision ref refs tree blob object obj git build chunk bundle asset assets "
    b"static vendor vendors main index app page pages runtime module modules style styles css js "
    b"img image images icon font file files dir path cache cached tmp temp backup log logs trace "
    b"span event events evt msg msgbatch message messages req request resp response res call "
    b"toolu srvtoolu tool chatcmpl cmpl run step thread asst batch job jr dt task item items "
    b"node id ids uid gid uuid guid user usr users org account acct cus customer pi price "
    b"product sub invoice in ch charge card src pm seti txn team proj project ws workspace conv "
    b"conversation session sess ses prt i vpc subnet ami sg eni vol snap igw rtb nat eipalloc "
    b"acl tgw vgw lt fs pod deployment replicaset rs container layer manifest virtual npm patch "
    b"version v release tests case spec fixture data table column row field enum type struct "
    b"class func fn method var const param arg impl trait dep deps lib pkg package crate "
    b"wheel uk fk idx eval evalrun deploy deployments dpl prj prv oac egroup trun ftjob ftckpt "
    b"ckpt checkpoint cntr outputitem cfile link person fee clock mandate transfer refund balance "
    b"txr modr ft erun cp onelogin skill shape mask clip gradient animation "
    b"ctag subscription boundary we re".split()
)


def is_made_up(body: bytes) -> bool:
    """Return whether the body of a known shape is words or a specimen instead of a secret."""
    if _DIGIT.search(body) is None and len(set(body)) > 1 and _is_wordy(body):
        return True
    if marked := _SPECIMEN.search(body):
        rest = body[: marked.start()] + b" " + body[marked.end() :]
        return not any(is_random(stretch) for stretch in _STRETCH.findall(rest))
    return len(set(body)) > 1 and _is_wordy(body)


def _is_wordy(body: bytes) -> bool:
    if _DIGIT.search(body) is None:
        return _mean_run(body) > _MIXED_RUN and _HARD.search(body) is None
    parts = [part for part in _JOINT.split(body) if part]
    words = sum(len(part) for part in parts if _WORD.fullmatch(part))
    return len(parts) > 1 and words > 0.7 * sum(map(len, parts))


def _mean_run(text: bytes) -> float:
    runs: list[bytes] = _RUNS.findall(text)
    return sum(map(len, runs)) / max(1, len(runs))


def is_random(text: bytes) -> bool:
    """Return whether a text is random letters and digits rather than words and names."""
    if _DIGIT.search(text) is None:
        return False
    return _mean_run(text) <= (_MIXED_RUN if _is_mixed(text) else _PLAIN_RUN)


def _is_mixed(text: bytes) -> bool:
    return text.lower() != text != text.upper()


def is_issued(run: bytes) -> bool:
    """Return whether a run of letters, digits and joints is a name followed by a random body."""
    names, joint, body = _split(run)
    is_credential = _means_credential(names)
    is_environment = not is_credential and not _ENVIRONMENTS.isdisjoint(names)
    # `acme_live_…`, but not the route `default-test-route-6f97418635c7e18853da-web-8000`
    is_credential |= is_environment and (body.isalnum() or bool(_UUID.fullmatch(body)))
    if not names or body.endswith(b"EXAMPLE") or not (is_credential or _HARMLESS.isdisjoint(names)):
        return False
    if _UUID.fullmatch(body) or _ENDS_IN_UUID.fullmatch(body):
        return is_credential
    if _is_constraint(names, body) or (is_environment and run[:1].isupper()):
        return False
    solid = _PUNCTUATION.sub(b"", body)
    if (len(body) - len(solid)) * 8 > len(body) or not is_random(solid):
        return False
    if is_credential:
        return len(solid) >= _pick_least_length(solid)
    # No issuer uses two joints: `site-verification_1f6d…` is the name of a file.
    prefix = run[: len(run) - len(body)]
    is_name = b"-" in prefix and b"_" in prefix
    return not is_name and bool(_ISSUER.match(run)) and _is_unnamed(solid, names[0], joint)


def _means_credential(names: list[bytes]) -> bool:
    return any(name in _CREDENTIAL or name.endswith(_CREDENTIAL_ENDS) for name in names)


def _is_constraint(names: list[bytes], body: bytes) -> bool:
    """Return whether a name holds a hash: of a table, or of a public key (`GPG_KEY_161DFB…`)."""
    if not _HEX.fullmatch(body):
        return False
    is_public = b"gpg" in names or b"pgp" in names
    return is_public or (names[0] in _CONSTRAINTS and len(body) in _CONSTRAINT)


def _is_unnamed(solid: bytes, name: bytes, joint: bytes) -> bool:
    if _is_mixed(solid):
        return len(solid) >= _MIXED_BODY and _mean_run(solid) <= _UNNAMED_RUN
    # A hash after a hyphen or a dot is the name of a build or a file.
    is_named = joint == b"_" and name.isalpha()
    return is_named and len(solid) >= (_HEX_BODY if _HEX.fullmatch(solid) else _PLAIN_BODY)


def _pick_least_length(solid: bytes) -> int:
    if _is_mixed(solid):
        return _CREDENTIAL_MIXED_BODY
    return _CREDENTIAL_HEX_BODY if _HEX.fullmatch(solid) else _CREDENTIAL_PLAIN_BODY


def _split(run: bytes) -> tuple[list[bytes], bytes, bytes]:
    names: list[bytes] = []
    at = 0
    while len(names) < _MOST_NAMES and (name := _NAME.match(run, at)):
        names.append(name[0][:-1].lower())
        at = name.end()
    return names, run[at - 1 : at], run[at:]
