"""Values that look like a secret but are examples in manuals and tests."""

from leftoff.lazy_patterns import lazy

WORDS = frozenset(
    b"none null nil undefined true false yes no on off empty required optional string str text "
    b"bytes byte int integer number float bool boolean any object char varchar unknown never void "
    b"password passwords passwd pass passphrase pwd secret secrets token tokens key keys apikey "
    b"api_key api-key credential credentials username user email name type value default unset set "
    b"missing invalid valid expired revoked provided incorrect wrong mismatch secretstr file env "
    b"vault prompt stdin input hidden masked basic bearer oauth oauth2 jwt error failed ok "
    b"encrypted hashed base64 sha256 sha512 bcrypt argon2 utf8 hs256 rs256 es256 function async "
    b"await return const static public private readonly self this new not and or inherit "
    b"compat files systemd ldap sss winbind passwort kennwort wachtwoord salasana contrasena senha "
    b"geheim sekrit parole secreto segreto segredo hemlig hemmelig "
    b"lozinka haslo heslo parola sifre jelszo adgangskode passord slaptazodis motdepasse "
    b"confirmed always on_create never min max and or palavra-passe passa-parol "
    b"option options argument arguments parameter parameters switch switches instead "
    b"contrasenya contrasinal pasahitza cyfrinair pasfhocal facal-faire ger-tremen wachtwurd "
    b"anything nonexistent wagwoord "
    b"nothing heslem heslom pasvorto parool geslo zaporka fjalekalimi sandi katasandi clave "
    b"requires x-oauth-basic disabled enabled digest redact client no-check same-origin "
    b"ed25519 x25519 rsa2048 rsa4096 aes128 aes256 secp256k1 oauth1 oauth2.0 saml kerberos".split()
)
# Examples in the standards: RFC 5849, 6749, 6750 and 7009, OpenID Connect, and the key that every
# Azure storage emulator has.
SPECIMENS = frozenset(
    b"2YotnFZFEjr1zCsicMWpAA tGzv3JOkF0XG5Qx2TlKWIA SplxlOBeZQQYbYS6WxSbIA 7Fjfp0ZBr1KtDRbnfVdmIw "
    b"czZCaGRSa3F0MzpnWDFmQmF0M2JW czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3 gX1fBat3bV "
    b"mF_9.B5f-4.1JqM h480djs93hd8 SlAV32hkKG 8xLOxBtZp8 45ghiukldjahdnhzdauz agabcdefddddafdd "
    b"0685bd9184jfhq22 ad180jjd733klru7 wOJIO9A2W5mFwDgiDvZbTSMK%2FPY%3D kd94hf93k423kf44 "
    b"dpf43f3p2l4k3l03 nnch734d00sl2jdk pfkkdhi9sl3r4s00 hh5s93j4hdidpola hdhd0244k9j7ao03 "
    b"9djdj82h48djs9d2 kkk9d7dh3k39sjv7 j49sk3j29djd dh893hdasih9 "
    b"Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
    .split()
)  # fmt: skip
# Letters in the middle row of the keyboard, which people hit when they need any text.
_MIDDLE_ROW = lazy(rb"(?i)[asdfghjkl]")
_BEYOND_HEX = lazy(rb"(?i)[ghjkls]")
_MASHED_LETTERS, _MASHED_LENGTH = 5, 24


def is_mashed(value: bytes) -> bool:
    """Return whether a value such as `sdlfkj452` was typed at random, mostly on one row of keys."""
    letters = sum(map(str.isalpha, value.decode("latin-1")))
    if letters < _MASHED_LETTERS or len(value) > _MASHED_LENGTH or not value.islower():
        return False
    if not value.isalnum():
        return False
    is_one_row = 5 * len(_MIDDLE_ROW.findall(value)) >= 4 * letters
    return is_one_row and _BEYOND_HEX.search(value) is not None
