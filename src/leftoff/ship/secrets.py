"""Which files are kept out of a commit: by their names, and by what stands in them."""

import io
import re
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import IO

from leftoff.redact import find_secrets
from leftoff.redact.blocks import find_blocks
from leftoff.redact.shapes import find_shapes

# Tried in lower case against the last part of a path.
_NAMES = (
    ".env .env.* *.env .envrc .env-* .env~ *.env~ *.env.bak *.env.local *.env.old *.env.orig "
    "*_rsa *_dsa *_ecdsa id_ecdsa_sk *_ed25519 id_ed25519_sk *.key *.pem *.p8 *.p12 "
    "*.pfx *.jks *.keystore *.bks *.ppk *.kdbx *.kdb *.keychain *.keytab *.ovpn secring.* "
    ".netrc _netrc .pypirc .pgpass .my.cnf .mylogin.cnf .htpasswd .git-credentials .vault-token "
    ".vault_pass .s3cfg .boto .dockercfg .dockerconfigjson credentials credentials.csv "
    "*accesskeys.csv credentials.json credentials.tfrc.json "
    "client_secret*.json service-account*.json service_account*.json kubeconfig *.kubeconfig "
    "*.secret *.secrets *.tfstate *.tfstate.* wallet.dat *.agekey"
).split()
# Two parts of a path: names that say nothing alone.
_PLACES = (".aws/credentials", ".docker/config.json", ".kube/config", "gcloud/credentials.db")
# What shows others which keys are needed: only its content counts.
_HARMLESS = (
    "*.example *.sample *.template *.dist *.tpl *.defaults example.env sample.env template.env"
).split()
# A list of secrets, unless it is code about them.
_LISTS = re.compile(r"secrets?(\.[\w-]+)*\.(ya?ml|json|toml|ini|cfg|conf|txt|properties|xml|csv)")
_PUBLIC = re.compile(rb"-----BEGIN (?:TRUSTED )?(?:CERTIFICATE|PUBLIC KEY|RSA PUBLIC KEY|X509 CRL)")
_BOMS = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_HEAD_BYTES = 8000
# Both even, so that no character of two bytes is cut.
_WINDOW_BYTES, _OVERLAP_BYTES = 4_000_000, 20_000


def why_by_name(path: str) -> str | None:
    """Say why a file is taken for a secret by its name alone, or None."""
    if find_secrets(path):
        return "its name holds a secret"
    lower = PurePosixPath(path.lower())
    if any(fnmatchcase(lower.name, pattern) for pattern in _HARMLESS):
        return None
    place = "/".join(lower.parts[-2:])
    is_named = any(fnmatchcase(lower.name, pattern) for pattern in _NAMES)
    is_named |= place in _PLACES or _LISTS.fullmatch(lower.name) is not None
    return "its name says that it holds secrets" if is_named else None


def is_public(path: str, data: bytes) -> bool:
    """Say whether a file with the name of a key holds only what is meant for everybody."""
    return path.lower().endswith((".pem", ".key")) and bool(
        _PUBLIC.search(data) and b"PRIVATE KEY" not in data
    )


def is_allowed(path: str, patterns: list[str]) -> bool:
    """Say whether the user said of a file that it is no secret."""
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def secrets_in(data: bytes) -> dict[str, str]:
    """Return the secrets that a content holds, each with its kind."""
    return secrets_of(io.BytesIO(data))


def secrets_of(file: IO[bytes]) -> dict[str, str]:
    """Return the secrets that an open file holds, each with its kind; it may be of any size."""
    found: dict[str, str] = {}
    window = file.read(_WINDOW_BYTES)
    encoding = _encoding(window)
    while window:
        more = file.read(_WINDOW_BYTES)
        found |= _found(window, encoding, is_last=not more)
        # Overlapping, so that a secret on the border of two windows is whole in one of them.
        window = window[-_OVERLAP_BYTES:] + more if more else b""
    return found


def _encoding(head: bytes) -> str | None:
    """Tell how a text is encoded; None if it is none."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    return None if b"\0" in head[:_HEAD_BYTES] else "utf-8"


def _found(window: bytes, encoding: str | None, *, is_last: bool) -> dict[str, str]:
    if encoding is None:
        return _in_binary(window)
    text = window.decode(encoding, "replace")
    pairs = find_secrets(text)
    # One at the very end may be cut; the next window has it whole.
    return {secret: kind for kind, secret in pairs if is_last or not text.endswith(secret)}


def _in_binary(data: bytes) -> dict[str, str]:
    """Look for what has a shape of its own; names and places mean nothing among such bytes."""
    spans = [*find_blocks(data), *find_shapes(data)]
    return {data[start:end].decode("utf-8", "replace"): kind for start, end, kind in spans}
