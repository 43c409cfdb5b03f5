"""Decide which files stay out of a commit, by their names and by their contents."""

import io
import re
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import IO

from leftoff.redact import find_secrets
from leftoff.redact.blocks import find_blocks
from leftoff.redact.shapes import find_shapes

# Matched in lower case against the last part of a path, without the suffix of a backup.
_NAMES = (
    # Environment settings
    ".env .env.* *.env .envrc .env-* *.env.local local.settings.json "
    # Private keys and key stores
    "*_rsa *_dsa *_ecdsa id_ecdsa_sk *_ed25519 id_ed25519_sk id_xmss *.key *.pem *.p8 *.p12 *.pfx "
    "*.pkcs12 *.jks *.jceks *.keystore *.bks *.ppk *.kdbx *.kdb *.keychain *.keychain-db *.keytab "
    "*.agekey *.ovpn wg[0-9]*.conf secring.* *secret*.asc *secret*.gpg *private*.asc *private*.gpg "
    "*-key.json *_key.json wallet.dat *.wallet master.key "
    # Credentials of tools
    ".netrc _netrc .authinfo .pypirc .npmrc .pgpass pgpass.conf .my.cnf .mylogin.cnf .htpasswd "
    ".git-credentials .vault-token .vault_pass .vault_password .s3cfg .boto .passwd-s3fs "
    ".smbcredentials .dockercfg .dockerconfigjson .databrickscfg .snowsql .terraformrc "
    "terraform.rc credentials.tfrc.json rclone.conf .msmtprc .fetchmailrc .sentryclirc "
    ".clasprc.json settings-security.xml kubeconfig *.kubeconfig "
    # Credentials of cloud services
    "credentials credential .credentials credentials.db *accesskeys.csv *credentials.json "
    "*credentials.csv client_secret*.json service-account*.json service_account*.json "
    "serviceaccount*.json *-service-account.json *-sa.json *firebase-adminsdk*.json "
    "gha-creds-*.json accesstokens.json msal_token_cache.* "
    # Infrastructure variables and state
    "*.tfvars *.tfvars.json *.tfstate *.tfstate.* *.tfplan *.secret *.secrets "
    # Shell histories, network captures, memory dumps and databases
    ".*_history fish_history .lesshst .histfile .dbshell *.har *.pcap *.pcapng *.hprof *.dmp "
    "core.[0-9]* vgcore.* *.dump *.pgdump *.sqlite *.sqlite3 *.rdb dump.sql *[-_.]dump.sql "
    "*backup*.sql *.sql.gz *.sql.bz2 *.sql.xz *.sql.zst *.sql.zip *.bak.sql"
).split()
# Names that mean nothing without their folder.
_PLACES = frozenset(
    ".aws/credentials .docker/config.json .kube/config gcloud/credentials.db gh/hosts.yml "
    ".cargo/credentials.toml .gem/credentials .m2/settings.xml .composer/auth.json "
    ".gradle/gradle.properties .azure/azureprofile.json".split()
)
# Examples that show which keys are needed: only their contents count.
_HARMLESS = (
    "*.example *.sample *.template *.tmpl *.dist *.tpl *.defaults *.schema example.env sample.env "
    "template.env *.example.* *.sample.* *.template.* example.tfvars"
).split()
# A backup of a secret is a secret, too.
_BACKUP = re.compile(r"(?:~|\.(?:bak|backup|old|orig|save|copy|prev|swp|\d{1,3}))+$")
# Files named after a list of secrets, unless they are code.
_LISTS = re.compile(
    r"(?:secrets?|credentials?|passwords?)(\.[\w-]+)*"
    r"\.(ya?ml|json|toml|ini|cfg|conf|txt|properties|xml|csv|kdbx?|sops)"
)
# The header of a database dump, and the rows that distinguish it from a mere schema.
_DUMP = re.compile(
    r"(?m)^-- (?:PostgreSQL database|MySQL|MariaDB) dump\b|^PRAGMA foreign_keys=OFF;\s{1,4}BEGIN "
)
_ROWS = re.compile(r"(?m)^(?:COPY [^\n]{1,2000} FROM stdin;|INSERT INTO )")
# A file that is a private key, even one too short to be real: it must not look safe.
_KEY_FILE = re.compile(r"\s*-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----\s+[\w+/=]")
# Certificates and public keys use the same suffixes as private keys.
_PUBLIC = re.compile(rb"-----BEGIN (?:TRUSTED )?(?:CERTIFICATE|PUBLIC KEY|RSA PUBLIC KEY|X509 CRL)")
_BOMS = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
# git, too, calls a file binary if its first 8000 bytes contain a NUL.
_HEAD_BYTES = 8000
# Both are even, so that a window never splits a two-byte character.
_WINDOW_BYTES, _OVERLAP_BYTES = 4_000_000, 20_000


def why_by_name(path: str) -> str | None:
    """Return why a file's name alone marks it as secret, or None."""
    if find_secrets(path):
        return "its name contains a secret"
    parts = PurePosixPath(path.lower()).parts
    name = _BACKUP.sub("", parts[-1]) or parts[-1]
    if any(fnmatchcase(name, pattern) for pattern in _HARMLESS):
        return None
    is_named = any(fnmatchcase(name, pattern) for pattern in _NAMES)
    is_named |= "/".join((*parts[-2:-1], name)) in _PLACES or bool(_LISTS.fullmatch(name))
    return "its name suggests that it contains secrets" if is_named else None


def is_public(path: str, data: bytes) -> bool:
    """Return whether a file named like a key contains only public material."""
    return path.lower().endswith((".pem", ".key")) and bool(
        _PUBLIC.search(data) and b"PRIVATE KEY" not in data
    )


def is_allowed(path: str, patterns: list[str]) -> bool:
    """Return whether the user marked a file as not secret."""
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def secrets_in(data: bytes) -> dict[str, str]:
    """Return the secrets in some data, each with its kind."""
    return secrets_of(io.BytesIO(data))


def secrets_of(file: IO[bytes]) -> dict[str, str]:
    """Return the secrets in an open file of any size, each with its kind."""
    found: dict[str, str] = {}
    window = file.read(_WINDOW_BYTES)
    encoding = _encoding(window)
    while window:
        more = file.read(_WINDOW_BYTES)
        found |= _find_in_window(window, encoding, is_last=not more)
        # Windows overlap, so that a secret on a border is complete in one of them.
        window = window[-_OVERLAP_BYTES:] + more if more else b""
    return found


def _encoding(head: bytes) -> str | None:
    """Guess the encoding of a text; None if it is not text."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    return None if b"\0" in head[:_HEAD_BYTES] else "utf-8"


def _find_in_window(window: bytes, encoding: str | None, *, is_last: bool) -> dict[str, str]:
    if encoding is None:
        return _in_binary(window)
    text = window.decode(encoding, "replace")
    pairs = [*find_secrets(text), *_find_dump(text), *_find_key_file(text)]
    # A secret at the very end may be cut off; the next window contains all of it.
    return {secret: kind for kind, secret in pairs if is_last or not text.endswith(secret)}


def _find_dump(text: str) -> list[tuple[str, str]]:
    """Recognize a database dump, which contains what people stored."""
    head = _DUMP.search(text)
    return [("database dump", head[0])] if head and _ROWS.search(text, head.end()) else []


def _find_key_file(text: str) -> list[tuple[str, str]]:
    """Recognize a file that begins with a private key."""
    head = _KEY_FILE.match(text)
    return [("private key", head[0])] if head else []


def _in_binary(data: bytes) -> dict[str, str]:
    """Search binary data for secrets with a distinctive shape; names mean nothing there."""
    spans = [*find_blocks(data), *find_shapes(data)]
    return {data[start:end].decode("utf-8", "replace"): kind for start, end, kind in spans}
