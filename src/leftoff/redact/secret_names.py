"""Decide whether a name that ends in `key` or `token` names a secret."""

# A key is a secret only where the word before it says so: a cache key or a primary key is none.
KEY_OF = tuple(
    b"api app application access secret private auth authorization encryption encrypt signing "
    b"signature master account admin service client consumer customer deploy deployment session "
    b"storage shared subscription license licence root ssh webhook jwt hmac crypto cipher bot "
    b"server function functions role anon sdk write ingest ingestion integration rest developer "
    b"dev management personal project recovery seed wallet database cookie provider vault unseal "
    b"sender merchant partner publishable stream channel".split()
)
# These are tokens of another trade: paging, tokenizers, design systems.
NOT_OF = tuple(
    b"page continuation cancel cancell cancelation cancellation sync pad eos bos unk mask stop "
    b"special design next prev previous first last max min num per public syntax color sequence "
    b"change idempotency clientrequest publickey input output forward backward".split()
)
# Three letters rule out most words before a whole list is tried.
_KEY_TAILS, _NOT_TAILS = (frozenset(word[-3:] for word in words) for words in (KEY_OF, NOT_OF))
_JOINTS = (b" ", b"_", b"-")
# The word before a dot is often an object. Only these are part of a name such as `api.key`.
_DOTTED = tuple(
    word + b"." for word in b"api secret private access encryption signing account auth".split()
)
_REACH = 16
_TAILS = b"(?:" + b"|".join(sorted(_KEY_TAILS)) + b")"
# This matches at the end of every `key` that may name a secret.
KEY_GUARD = b"(?:(?<=" + _TAILS + b"key)|(?<=" + _TAILS + rb"[ _.-]key))"


def names_secret(data: bytes, low: bytes, stem: bytes, at: int) -> bool:
    """Return whether a name means a secret: an API key but not a primary key or a page token."""
    # The words of `AWS Secret Access Key` are separate, so look beyond the name itself.
    start = max(0, at - _REACH)
    words = low[start:at]
    if words.endswith(_JOINTS) or words.endswith(_DOTTED):
        words = words[:-1]
    tail = words[-3:]
    if stem == b"key" and not (tail in _KEY_TAILS and words.endswith(KEY_OF)):
        return False
    if tail not in _NOT_TAILS or not words.endswith(NOT_OF):
        return True
    word = max((word for word in NOT_OF if words.endswith(word)), key=len)
    return not _begins_word(data[start:at], len(words) - len(word))


def _begins_word(words: bytes, at: int) -> bool:
    before = words[at - 1 : at]
    return not at or not before.isalpha() or (before.islower() and words[at : at + 1].isupper())
