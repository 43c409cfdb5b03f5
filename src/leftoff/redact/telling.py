"""Whether a name that ends in `key` or `token` tells of a secret."""

from leftoff.redact.lazy import lazy

# A key is a secret only where the word before it says so: a cache key or a primary key is none.
_KEY_OF = lazy(
    rb"(?:api|app|application|access|secret|private|auth|authorization|encryption|encrypt|signing"
    rb"|signature|master|account|admin|service|client|consumer|customer|deploy|deployment|session"
    rb"|storage|shared|preshared|pre_shared|subscription|license|licence|root|ssh|webhook|jwt|hmac"
    rb"|crypto|cipher|bot|server|functions?|role|anon|sdk|write|ingest|ingestion|integration|rest"
    rb"|developer|dev|management|personal|project|recovery|seed|wallet|database|cookie|provider"
    rb"|vault|unseal|sender|merchant|partner|publishable|stream|channel)[ _-]?\Z"
)
# These are tokens of another trade: paging, tokenizers, design systems.
_NOT_OF = lazy(
    rb"(?:page|continuation|cancell?(?:ation)?|sync|pad|eos|bos|unk|mask|stop|special|design|next"
    rb"|prev|previous|first|last|max|min|num|per|public|syntax|color)[ _-]?\Z"
)


def is_telling(data: bytes, low: bytes, stem: bytes, at: int) -> bool:
    """Tell an API key from a primary key, and a token from the next page's."""
    # `AWS Secret Access Key` has its words apart, so look past the name itself.
    start = max(0, at - 16)
    if stem == b"key" and not _KEY_OF.search(low[start:at]):
        return False
    found = _NOT_OF.search(low[start:at])
    return not found or not _begins_word(data[start:at], found.start())


def _begins_word(words: bytes, at: int) -> bool:
    before = words[at - 1 : at]
    return not at or not before.isalpha() or (before.islower() and words[at : at + 1].isupper())
