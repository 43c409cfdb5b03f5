"""Private keys that are written as fields: DNSSEC, XML, JSON, `openssl -text`.

Each row has its own examples, as in `places`.
"""

from leftoff.redact.places import SecretPlace

PRIVATE_KEYS: tuple[SecretPlace, ...] = (
    SecretPlace(
        "private key",
        "private",
        r"privateexponent:[ ]?([\w+/]{24,}={0,2}(?:[^=]{1,160}?(?:prime[12]|exponent[12]"
        r"|coefficient):[ ]?[\w+/]{20,}={0,2}){0,5})",
        "random",
        ("PrivateExponent: <base64>", "PrivateExponent: <base64>\nPrime1: <base64>"),
        ("privateExponent: BigInteger", "PrivateExponent: string"),
    ),
    SecretPlace(
        "private key",
        "private",
        r"privateexponent:(?:\s|\\{1,8}[nr]){1,40}+((?:[0-9a-f]{2}(?::|\s|\\{1,8}[nr]"
        r"|prime[12]:|exponent[12]:|coefficient:){1,60}+){16,6000}+)",
        "always",
        ("privateExponent:\n    <colons>\n    <colons>\nprime1:\n    <colons>\n",),
        ("privateExponent:\n    none",),
    ),
    SecretPlace(
        "private key",
        "<exponent>",
        r"<exponent>[\w+/=]{4,12}</exponent>[^<]{0,80}(<(?:p|q|d|dp|dq|inverseq)>"
        r"(?:[\w+/=\s-]{20,700}</\w{1,8}>[^<]{0,80}<(?:p|q|d|dp|dq|inverseq)>){1,5}"
        r"[\w+/=\s-]{20,700})",
        "always",
        ("<Exponent>AQAB</Exponent><P><base64></P><Q><base64></Q><D><base64></D>",),
        ("<Exponent>AQAB</Exponent></RSAKeyValue><p>a long paragraph of some text</p>",),
    ),
    SecretPlace(
        "private key",
        "kty",
        # A key has one `kty`, so a text full of them is not read again and again.
        r"kty<q>(?:[^{}k]|k(?!ty)){0,3000}?<q>[dk]<q>\s{0,4}:\s{0,4}<q>([\w-]{40,}"
        r"(?:<q>[^{}]{1,100}?<q>(?:p|q|dp|dq|qi)<q>\s{0,4}:\s{0,4}<q>[\w-]{20,}){0,5})",
        "random",
        (
            '{"kty": "EC", "crv": "P-256", "x": "a", "d": "<token><token>"}',
            '{"kty": "oct", "k": "<token><token>"}',
            '{"kty":"RSA","e":"AQAB","d":"<token><token>","p":"<token>","q":"<token>"}',
        ),
        ('{"kty": "EC", "crv": "P-256", "x": "a1b2c3", "y": "d4e5f6"}',),
    ),
    SecretPlace(
        "private key",
        "kty",
        r"kty<q>",
        "random",
        ('{"d": "<token><token>", "kty": "OKP"}',),
        ('{"x": "a1b2c3", "kty": "OKP"}',),
        before=r"<q>[dk]<q>\s{0,4}:\s{0,4}<q>([\w-]{40,120})<q>[^{}]{0,100}<q>\Z",
    ),
)  # fmt: skip
