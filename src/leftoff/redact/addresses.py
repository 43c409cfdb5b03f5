"""Passwords before the `@` of an address, and passwords printed into a program that asks for one.

Each row has its own examples, as in `places`.
"""

from typing import NamedTuple


class Pipe(NamedTuple):
    """What follows a `|`, and what is printed before it; the group is the secret."""

    kind: str
    before: str
    pattern: str
    cut: tuple[str, ...]
    stays: tuple[str, ...] = ()


_PRINTED = r"\b(?:echo|printf)[ ]{1,4}(?:-[ne]{1,2}[ ]{1,4})?(?:<q>?%s<q>?[ ]{1,4})?"
PIPES: tuple[Pipe, ...] = (
    Pipe(
        "password",
        _PRINTED + r"<value>[ ]{0,4}\Z",
        r"\|[ ]{0,4}(?:sudo[ ]{1,4}(?:-\S{1,20}[ ]{1,4}){0,3}-\w{0,3}S\b|[^\r\n|;&]{0,80}(?:"
        r"--(?:password-)?stdin\b|cryptsetup\b|kinit\b|--with-token\b|--passphrase-fd\b"
        r"|\bsecrets?[ ](?:[\w:-]{1,30}[ ])?(?:put|create|set|add|import|insert)\b))",
        (
            "echo '<pw>' | sudo -S apt-get update",
            "echo <pw> | docker login -u me --password-stdin x.test",
            'echo -n "<pw>" | cryptsetup luksOpen /dev/sda1 x -',
            "echo <token> | gh auth login --with-token",
            "echo <pw> | passwd --stdin me",
            "echo -n <pw> | gcloud secrets create db --data-file=-",
            "echo -n '<pw>' | gcloud secrets versions add db --data-file=-",
            "echo <pw> | wrangler secret put DB",
            "echo <pw> | npx wrangler secret put DB",
            "printf '<pw>' | gh secret set DB",
            "echo <pw> | docker secret create db -",
            "echo '<pw>' | kinit ada",
        ),
        (
            "echo $PASS | sudo -S ls",
            "echo hello | sudo tee file",
            "printf '%s' $PASS | gh secret set DB",
        ),
    ),
    Pipe(
        "password",
        _PRINTED + r"(?:<q>)?[\w.-]{1,40}:([^\s\"'\\|]{3,128})(?:<q>)?[ ]{0,4}\Z",
        r"\|[ ]{0,4}(?:sudo[ ]{1,4})?chpasswd",
        ("echo 'root:<pw>' | chpasswd", "echo me:<pw> | sudo chpasswd"),
        ("echo 'root:$PASS' | chpasswd",),
    ),
)  # fmt: skip


class Address(NamedTuple):
    """What an address contains from its opening up to its `@`; the group is the secret."""

    kind: str
    opening: bytes
    pattern: str
    judge: str
    cut: tuple[str, ...]
    stays: tuple[str, ...] = ()


_ORACLE = (
    r"[ ](?:[^\r\n]{0,80}[ ])?(?:\w{1,20}=)?(?:<q>)?[\w$#]{1,30}/(?:<q>)?"
    r"([^\s/\"'\\]{3,128}?)(?:<q>)?\Z"
)
ADDRESSES: tuple[Address, ...] = (
    Address(
        "password in url",
        b"://",
        r"://[^\s/:@\"'<>\\]{0,100}:([^\s/\"'<>\\]{4,200})\Z",
        "in_url",
        (
            "postgres://app:<pw>@db.test:5432/app",
            "redis://:<pw>@cache.test:6379/0",
            "https://me:<token>@git.test/a.git",
            "amqp://guest:<pw>@mq.test/%2f",
            "mongodb+srv://app:<pw>@cluster.test/shop",
        ),
        (
            "postgres://user:${DB_PASSWORD}@db/app",
            "ssh://git@x.test:22/repo.git",
            "https://a:b@x.test/",
            "cvs://:pserver:anoncvs@x.test:/cvs",
            "https://bot_email:bot_api_key@x.test/api",
            "http://clientID:authKey@x.test",
            "rc://src_node_id:src_tenant_id@x.test",
        ),
    ),
    Address(
        "password in url",
        b"://",
        # The part before the slash may be a port: `//127.0.0.1:8080/api/routers/router1@file`.
        r"://[^\s/:@\"'<>\\]{0,100}:(?!\d{2,5}/[a-z]{2,})([A-Za-z0-9+/]{16,200}={0,2})\Z",
        "random",
        ("postgres://app:a/<token>@db.test/app", "redis://:<base64>@cache.test:6379/0"),
        (
            "https://x.test:8080/@scope/name",
            "http://127.0.0.1:8080/api/http/routers/router1@file",
        ),
    ),
    Address(
        "token in url",
        b"://",
        r"://([\w.~-]{20,200})\Z",
        "without_scheme",
        ("https://<token>@git.test/a/b.git",),
        ("https://a-very-long-organisation-name@dev.test/x",),
    ),
    Address(
        "password in url",
        b"thin:",
        r"thin:[\w$#]{1,30}/([^\s/\"'\\@]{3,128})\Z",
        "in_url",
        ("jdbc:oracle:thin:scott/<pw>@//db.test:1521/x",),
        ("jdbc:oracle:thin:scott/${PASS}@//db.test:1521/x", "jdbc:oracle:thin:/@db"),
    ),
    Address(
        "password",
        b"sqlplus ",
        "sqlplus" + _ORACLE,
        "in_command",
        ("sqlplus scott/<pw>@orcl", "sqlplus -s system/<pw>@//db.test:1521/x"),
        ("sqlplus /nolog @script.sql", "sqlplus / as sysdba @x"),
    ),
    Address(
        "password",
        b"sqlldr ",
        "sqlldr" + _ORACLE,
        "in_command",
        ("sqlldr userid=scott/<pw>@orcl",),
    ),
    Address(
        "password",
        b"expdp ",
        "expdp" + _ORACLE,
        "in_command",
        ("expdp scott/<pw>@orcl",),
    ),
    Address(
        "password",
        b"impdp ",
        "impdp" + _ORACLE,
        "in_command",
        ("impdp scott/<pw>@orcl",),
    ),
    Address(
        "password",
        b"rman ",
        "rman" + _ORACLE,
        "in_command",
        ("rman target scott/<pw>@orcl",),
    ),
)  # fmt: skip
