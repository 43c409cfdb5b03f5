"""Passwords that people write in a sentence: `the password for db is …`, `login admin / …`.

Each row has its own examples, as in `places`.
"""

from leftoff.lazy_patterns import lazy
from leftoff.redact.judge import is_code, is_path, is_placeholder
from leftoff.redact.places import SecretPlace

_LENGTHS = range(6, 65)
# A mark at the end may belong to the sentence.
_MIXED = lazy(rb"(?=[^A-Za-z]*[A-Za-z])(?=.*(?:[0-9]|[!@#$%^*+?~].))")
# `8-digit`, `base64-encoded`, `sha256` and `oauth2` describe a secret.
_REMARK = lazy(
    rb"(?i)[0-9]{1,4}(?:-[0-9]{1,4})?(?:-[a-z-]+|(?:bit|byte|char|digit|hour|day|min|sec)[a-z]*)\Z"
    rb"|[a-z0-9]+(?:-[a-z0-9]+)*-(?:[a-z]+ed|bits?|bytes?|based|only|safe|like|style)\Z"
    rb"|(?:sha|md|pbkdf|argon|aes|utf|base|rsa|hmac|oauth|auth|pkcs|http|ipv|rfc|iso|ed|x|tls|p)"
    rb"[-_]?[0-9]+(?:[-_]?[a-z0-9]{0,10})\Z"
    # `field2`, `step-3-value`
    rb"|(?:field|column|step|option|value|arg|argument|param|item|line|page|table|version|part|phase"
    rb"|level|type|mode|group|user|case|test|number|attempt)[-_]?[0-9]{1,2}(?:[-_][a-z]+)*\Z"
    # `token1`, `my-secret-2`
    rb"|[a-z_-]*(?:pass(?:wor[dt]|wd)?|pwd?|secret|token|key)s?[-_]?[0-9]{1,2}\Z"
)
# Not a name in a program: the digits are in the middle of one word.
_JOINED = lazy(rb"[A-Za-z]+_?[0-9]+_?[A-Za-z]+\Z")
_PLAIN = lazy(rb"(?![A-Za-z]+[0-9]\Z)[^_./:-]{8,}\Z")


def is_remark(value: bytes) -> bool:
    """Return whether a sentence describes a secret rather than stating it."""
    return bool(_REMARK.match(value))


def is_stated(value: bytes) -> bool:
    """Judge a value after `password is` or similar words: it must have more than letters."""
    if len(value) not in _LENGTHS or not _MIXED.match(value) or is_remark(value):
        return False
    if is_path(value) or (is_code(value) and not _JOINED.match(value)):
        return False
    return not is_placeholder(value)


def is_stated_token(value: bytes) -> bool:
    """Judge a value after `token is`, where names are more common than after a password."""
    return bool(_PLAIN.match(value)) and is_stated(value)


_VALUE = r"(?:<q>([^\s\"'`\\]{6,64})<q>|([^\s\"'`\\<>(){}\[\]]{5,63}[^\s\"'`\\<>(){}\[\].,;:?]))"
_USER = r"[\w.@'-]{1,40}"
_SIGN = r"(?:[ ]{0,2}(?:[:=]|：)[ ]{0,2}|[ ](?:is|was|ist|war|lautet|est|es)[ ])"
PROSE: tuple[SecretPlace, ...] = (
    *(
        SecretPlace(
            "password",
            f"pw{sign}",
            f"pw{sign}[ ]{{0,2}}{_VALUE}",
            "stated",
            (f"the pw{sign} <pw>", f"admin pw{sign}<pw> works"),
            (f"pw{sign} optional", f"pw{sign}$PASS1", f"pw{sign} 8-digit"),
            before=r"(?<![^\s\"'`(,;?&_-])\Z",
        )
        for sign in (":", "=", " is ", " ")
    ),
    *(
        SecretPlace(
            "password",
            word,
            rf"{word}(?:[ ](?:f(?:ü|ue|\\{{1,8}}u00fc)r|voor|von|van)[ ]"
            rf"(?:{_USER}[ ]){{0,2}}{_USER})?{_SIGN}{_VALUE}",
            "stated",
            (f"{word}: <pw>", f"{word} = '<pw>'", f"{word} von root: <pw>"),
            (f"{word}: 8-stellig", f"{word}: string"),
        )
        for word in ("kennwort", "wachtwoord")
    ),
    # If all letters of a word are frequent, it is searched for together with its sign.
    *(
        SecretPlace(
            "password",
            f"{word}:",
            f"{word}:[ ]{{0,2}}{_VALUE}",
            "stated",
            (f"{word}: <pw>", f"{word}:<pw>"),
            (f"{word}: string", f"{word}: $PASS1"),
        )
        for word in ("senha", "parola", "parola d'ordine", "heslo", "adgangskode", "passord", "mdp")
    ),
    *(
        SecretPlace(
            "password",
            start,
            f"{start}{rest}{_VALUE}",
            "stated",
            (f"{start}{example}<pw>",),
            (f"{start}{example}obligatoire", f"{start}{example}$PASS1"),
        )
        for start, rest, example in (
            ("senha ", rf"(?:é|\\{{1,8}}u00e9|d[aeo][ ]{_USER}:)[ ]", "é "),
            ("heslo je ", "", ""),
            ("senordet ", r"(?:ä|\\{1,8}u00e4)r[ ]", "är "),
            ("passordet er ", "", ""),
            ("adgangskoden er ", "", ""),
        )
    ),
    SecretPlace(
        "password",
        "senord:",
        f"senord:[ ]{{0,2}}{_VALUE}",
        "stated",
        ("lösenord: <pw>", "losenord:<pw>"),
        ("lösenord: text",),
        before=r"l(?:ö|o|\\{1,8}u00f6)\Z",
    ),
    *(
        SecretPlace(
            "password",
            word,
            f"{word}(?:[ ](?:от|для|к)[ ]{_USER})?"
            f"(?:[ ]{{0,2}}(?:[:=]|：|是|为|は|は、|는|은|—|-)[ ]{{0,2}}|[ ]){_VALUE}",
            "stated",
            (f"{word}: <pw>", f"{word}：<pw>"),
            (f"{word}: string", f"{word}: $PASS1"),
        )
        for word in ("ароль", "密码", "密碼", "パスワード", "비밀번호")
    ),
    SecretPlace(
        "password",
        "assword",
        rf"assword[ ](?:è|e'|\\{{1,8}}u00e8)[ ]{_VALUE}",
        "stated",
        ("la password è <pw>", "la password e' <pw>"),
        ("la password è richiesta",),
    ),
    SecretPlace(
        "password",
        "asswort",
        rf"asswort(?:[ ](?:f(?:ü|ue|\\{{1,8}}u00fc)r|von|zu)[ ](?:{_USER}[ ]){{0,2}}{_USER})?"
        rf"[ ](?:ist|lautet)[ ]{_VALUE}",
        "stated",
        (
            "das Passwort für die DB ist <pw>",
            "Passwort von root lautet <pw>",
            "das Passwort lautet <pw>",
        ),
        ("das Passwort für die DB ist falsch",),
    ),
    SecretPlace(
        "password",
        "assword",
        rf"assword[ ](?:for|of|on)[ ](?:{_USER}[ ]){{0,2}}{_USER}(?:[ ]is|:)[ ]{_VALUE}",
        "stated",
        ("the password for the db is <pw>", "Password for root: <pw>", "password of me@x: <pw>"),
        ("the password for the db is 12-digit", "Password for root: required"),
    ),
    SecretPlace(
        "password",
        "assword",
        r"assword(?:[ ]is[ ]now|[ ](?:should|must|will)[ ]be|[ ]to|'s"
        r"|[ ](?:is|was|has[ ]been)[ ](?:changed|set|reset)[ ]to)[ ]" + _VALUE,
        "stated",
        (
            "the password is now <pw>",
            "change the password to <pw>",
            "the password should be <pw>",
            "the root password was changed to <pw>",
        ),
        (
            "the password should be 8-digit",
            "change the password to something",
            "write the password to DB_PASS1",
            "pipe the password to ./run2",
        ),
    ),
    SecretPlace(
        "password",
        "assword",
        r"assword[ ]" + _VALUE + r"(?=[\s.,;:?\"'`\\]|\Z)",
        "stated",
        ("use password <pw> for the db", "user admin password <pw>"),
        ("use password authentication", "use password sha256", "the password field2"),
        before=r"(?:\A|\n|\b(?:use|using|with)[ ](?:the[ ])?"
        rf"|\b(?:user(?:name)?|login)[ ]{_USER}[ ,]{{1,2}}(?:and[ ])?)p\Z",
    ),
    SecretPlace(
        "password",
        "assword",
        r"assword\b",
        "stated",
        ("use <pw> as the password", "log in with <pw> as your root password"),
        ("use base64 as the password", "use $PASS1 as the password", "use it as the password"),
        before=rf"\b(?:use|using|with|set|try)[ ]{_VALUE}[ ]as[ ](?:(?:the|my|your)[ ])?"
        r"(?:[a-z]{1,12}[ ])?p\Z",
    ),
    SecretPlace(
        "password",
        "contrase",
        rf"contrase(?:n|\xc3\xb1|\\{{1,8}}u00f1)a(?:[ ]del?[ ](?:la[ ])?{_USER})?" + _SIGN + _VALUE,
        "stated",
        ("la contraseña es <pw>", "contrasena: <pw>"),
        ("contraseña: obligatoria",),
    ),
    SecretPlace(
        "password",
        "contrase",
        rf"contrase(?:n|\xc3\xb1|\\{{1,8}}u00f1)a[ ]{_VALUE}",
        "stated",
        ("usa la contraseña <pw> para entrar", "con la contrasena <pw>"),
        ("usa la contraseña base64",),
        before=r"\b(?:usa|usar|con|pon)[ ](?:la[ ])?\Z",
    ),
    SecretPlace(
        "password",
        "pass",
        r"passe" + _SIGN + r"(?:(?:«|\\{1,8}u00ab)(?:[ ]|\xc2\xa0|\\{1,8}u00a0))?" + _VALUE,
        "stated",
        ("mot de passe : <pw>", "le mot de passe est <pw>", "le mot de passe est « <pw> »"),
        ("mot de passe : requis",),
        before=r"mot[ _-]?de[ _-]?\Z",
    ),
    SecretPlace(
        "password",
        "pass",
        r"pass[:=][ ]{0,2}" + _VALUE,
        "stated",
        ("user: admin pass: <pw>", "user=admin, pass=<pw>", "the db pass=<pw>"),
        ("PASS: tests/login2.sh", "user tests pass: 12/12"),
        before=rf"\b(?:user(?:name)?|login)(?:[:=][ ]?{_USER}[ ,;/]{{1,3}}|[ ]{_USER},[ ])\Z"
        r"|\b(?:my|our|db|database|root|admin|wifi|ssh|sudo)[ ]\Z",
    ),
    SecretPlace(
        "password",
        "pass",
        r"pass(?:word)?[:=]?[ ]{0,2}" + _VALUE,
        "stated",
        (
            "user ada / password <pw>",
            "user ada, pass <pw>",
            "user: ada / pass: <pw>",
            "pin: 4711 pass: <pw>",
        ),
        ("user ada / password required", "user admin / pass 2 of 3"),
        before=rf"\b(?:user(?:name)?|login)[:=]?[ ]{_USER}(?:[ ]?[/|][ ]?|,[ ])\Z"
        r"|\bpin[:=]?[ ]\d{3,12},?[ ]\Z",
    ),
    SecretPlace(
        "password",
        "login ",
        rf"login[ ](?:with|as)[ ]{_USER}:{_VALUE}",
        "stated",
        ("login with ada:<pw>", "login as ada:<pw> first"),
        ("login with google:enabled", "login with oauth:token2"),
    ),
    SecretPlace(
        "password",
        "login ",
        r"login[ ](?:is[ ]|as[ ]|with[ ])?(?!form|page|screen|view|flow|step)"
        rf"(?:(?<=is[ ]){_USER}/|{_USER}[ ]/[ ]){_VALUE}",
        "stated",
        ("login admin / <pw>", "the login is me@x.test / <pw>", "the login is me/<pw>"),
        ("login page / register", "login form / step-2-form"),
    ),
    SecretPlace(
        "password",
        "cred",
        rf"cred(?:ential)?s(?:[ ](?:are|is)|:)[ ]{_USER}(?:[ ]?/[ ]?|:){_VALUE}",
        "stated",
        (
            "the credentials are admin/<pw>",
            "creds: admin / <pw>",
            "credentials: admin / <pw>",
            "credentials are me:<pw>",
        ),
        ("credentials: user/password", "credentials are read/write"),
    ),
)  # fmt: skip
