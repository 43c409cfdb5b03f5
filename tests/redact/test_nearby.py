"""A random value is cut if its name hints at a secret; hashes and ids stay."""

import hashlib
import uuid

from leftoff.redact import redact
from leftoff.redact.vendors import VENDORS
from redact_cases import ALNUM, HEX, made_up
from rows import for_each

KEY = made_up(HEX, 32)
TOKEN = made_up(ALNUM, 40)
HASH = hashlib.sha1(b"x").hexdigest()  # noqa: S324 - a hash as git has them


@for_each("vendor", VENDORS[::9])
@for_each(
    "syntax", ["{} = '<v>'", '{}: "<v>"', "{}_id=<v>", '"{}": "<v>"', "{} key: <v>", "<{}><v></{}>"]
)
def test_a_random_value_beside_the_name_of_an_issuer_is_cut(syntax: str, vendor: str) -> None:
    name = vendor.upper() if syntax.startswith("{}_") else vendor
    text = syntax.replace("{}", name).replace("<v>", KEY)

    assert KEY not in redact(text)


@for_each(
    "text",
    [
        "https://x.test/cb?code=<v>&state=a",
        "https://x.test/cb?a=1&sig=<v>",
        "https://x.test/a#session=<v>",
        "https://s3.test/a?X-Amz-Signature=<v>&X-Amz-Expires=60",
        "https://s3.test/a?X-Amz-Security-Token=<v>",
        "GET /a?jwt=<v> HTTP/1.1",
        "GET /a?auth=<v> HTTP/1.1",
        "GET /a?key=<v> HTTP/1.1",
        "sent Bearer <v> along",
        "vault login <v>",
        "WEBHOOK=<v>",
        "dsn: <v>",
        "{SSHA}<v>",
        "pbkdf2_sha256$260000$salt$<v>",
        "scrypt:32768:8:1$salt$<v>",
    ],
)
def test_a_random_value_in_a_place_for_secrets_is_cut(text: str) -> None:
    assert TOKEN not in redact(text.replace("<v>", TOKEN))


def test_the_hashes_that_databases_print_are_cut() -> None:
    mysql, pair = made_up("0123456789ABCDEF", 40), f"{made_up(HEX, 32)}:{made_up(HEX[::-1], 32)}"

    assert redact(f"me@% *{mysql}") == "me@% *[redacted: password hash]"
    assert redact(f"Admin:500:{pair}:::") == "Admin:500:[redacted: password hash]:::"
    assert redact(f"me:Some Realm:{KEY}") == "me:Some Realm:[redacted: password hash]"


@for_each(
    "text",
    [
        f"github commit: {HASH}",
        f"gitlab_sha: {HASH}",
        f'"sentry-go": "sha256-{HASH}"',
        f"session: {uuid.UUID(KEY)}",
        "content changed '{sha256}" + hashlib.sha256(b"x").hexdigest() + "' to",
        f'"currentCoinbase": "0x{HASH}"',
        f"multipart/form-data; boundary=axios-1.7.7-boundary-{made_up(ALNUM, 24)}",
        "<<16#00435EDB42EFAFB2989D51FEFCE3C80988F41FF883:168>>",
        "def test_fschacha20poly1305aead(self):",
        f'"stomp-subscription-{made_up(ALNUM, 22)}"',
        f'COINBASE_SCRIPT_PUBKEY="{HASH}"',
        f'LinearAlgebra = "{uuid.UUID(KEY)}"',
        f"https://x.test/search?q=pip&s={uuid.UUID(KEY)}",
        f"https://x.test/share/abc?sid={uuid.UUID(KEY)}",
        f"https://x.test/alerts?state={uuid.UUID(KEY)}",
        f"https://x.test/status/18?t={made_up(ALNUM, 22)}",
        f'fingerprint = "query:someQuery:{KEY}"',
        f"nix run github:acme/shop/{hashlib.sha1(b'x').hexdigest()} -- a.go",  # noqa: S324
        f'"recaptchaPublicSiteKey": "{made_up(ALNUM, 40)}"',
        '"webhook": "users/user123/webhooks/webhook456",',
        f"github.com/getsentry/sentry-go v0.32.0 h1:{made_up(ALNUM, 43)}=",
        f"sentry-ruby (5.1) sha256={KEY}",
        f"Signature: {KEY}",
        f"https://x.test/algolia/{HASH}.js",
        f"slack-1.0.tgz#{HASH}",
        f"License: LGPLv3+_or_GPLv2+ {HASH}",
    ],
)
def test_hashes_and_ids_beside_the_name_of_an_issuer_stay(text: str) -> None:
    assert redact(text) == text
