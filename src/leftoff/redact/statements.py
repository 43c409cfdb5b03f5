"""The places of secrets in the statements of databases and in commands without options.

Each row has examples of its own, as in `places`.
"""

from leftoff.redact.places import Place

STATEMENTS: tuple[Place, ...] = (
    Place(
        "password",
        "identified",
        r"identified\s{1,8}(?:with\s{1,8}[\w'\"]{1,60}\s{1,8})?(?:by|as)\s{1,8}(?:password\s{1,8})?"
        r"(?:values\s{1,8})?<secret>",
        "literal",
        (
            "CREATE USER app IDENTIFIED BY '<pw>';",
            "ALTER USER 'app'@'%' IDENTIFIED WITH mysql_native_password BY '<pw>';",
            "GRANT ALL ON *.* TO app IDENTIFIED BY '<pw>' WITH GRANT OPTION",
            'create user scott identified by "<pw>"',
        ),
        ("a record identified by its id", "identified by 'password'"),
        before=r"(?is)\b(?:create|alter|grant|user|role|set)\b.{0,200}\Z",
    ),
    Place(
        "password",
        "identified",
        r"identified\s{1,8}by\s{1,8}([^\s\"'\\;]{3,128})",
        "in_command",
        ("create user scott identified by <pw>", "ALTER USER scott IDENTIFIED BY <pw>;"),
        ("objects identified by their names",),
        before=r"(?i)\b(?:create|alter)\s{1,8}user\s{1,8}\S{1,64}\s{1,8}\Z",
    ),
    Place(
        "password",
        "rabbitmqctl ",
        r"rabbitmqctl[ ]{1,4}(?:-[^\r\n]{1,60}[ ])?(?:add_user|change_password|authenticate_user)"
        r"[ ]{1,4}[\w.@-]{1,64}[ ]{1,4}<value>",
        "in_command",
        (
            "rabbitmqctl add_user app <pw>",
            "rabbitmqctl -n rabbit@x add_user app '<pw>'",
            "rabbitmqctl change_password app <pw>",
        ),
        ("rabbitmqctl add_user app $PASS", "rabbitmqctl change_password app $PASS"),
    ),
    Place(
        "password",
        "/user:",
        r"/user:",
        "in_command",
        ("net use Z: \\\\srv\\share <pw> /user:corp\\me", "net use \\\\srv\\share '<pw>' /USER:me"),
        ("net use Z: \\\\srv\\share /user:corp\\me", "runas /user:corp\\me cmd"),
        before=r"net use[ ][^\r\n]{1,120}\\[\w$.-]{1,60}(?:<q>)?[ ]{1,4}(?!/)<value>[ ]{1,4}\Z",
    ),
    Place(
        "password",
        "xfreerdp",
        r"xfreerdp[^\r\n]{0,200}?[ ]/p:<value>",
        "in_command",
        ("xfreerdp /u:me /p:<pw> /v:host", "xfreerdp3 /v:host /u:me /p:'<pw>'"),
        ("xfreerdp /u:me /p:$PASS", "msbuild /p:Configuration=Release"),
    ),
    Place(
        "secret",
        "mc alias set ",
        r"mc alias set[ ]{1,4}[\w-]{1,40}[ ]{1,4}\S{1,200}[ ]{1,4}[\w+/-]{1,128}[ ]{1,4}<value>",
        "in_command",
        ("mc alias set minio https://x.test accesskey <pw>",),
        ("mc alias set minio https://x.test $KEY $SECRET",),
    ),
    Place(
        "password",
        "rclone obscure ",
        r"rclone obscure[ ]{1,4}<value>",
        "in_command",
        ("rclone obscure <pw>",),
        ("the docs are obscure about it", "rclone obscure -"),
    ),
    Place(
        "password",
        "http-basic.",
        r"http-basic\.[\w.-]{1,60}[ ]{1,4}[\w.@-]{1,60}[ ]{1,4}<value>",
        "in_command",
        ("poetry config http-basic.private me <pw>",),
        ("poetry config http-basic.private me $PASS",),
    ),
    Place(
        "password",
        "crypt(",
        r"crypt\(\s{0,8}<secret>\s{0,8},\s{0,8}gen_salt\(",
        "literal",
        ("SELECT crypt('<pw>', gen_salt('bf'));",),
        ("SELECT crypt('password', gen_salt('bf'));", "crypt(password, gen_salt('bf'))"),
    ),
    Place(
        "password",
        "assword",
        r"assword[ ]{1,4}from[ ]{1,4}<secret>",
        "literal",
        ("ALTER CURRENT USER SET PASSWORD FROM '<pw>' TO 'other'",),
        ("SET PASSWORD FROM $old TO $new",),
        before=r"set[ ]{1,4}p\Z",
    ),
    Place(
        "password",
        "assword",
        r"assword[ ]{1,4}from[ ]{1,4}<text>[ ]{1,4}to[ ]{1,4}<secret>",
        "literal",
        ("ALTER CURRENT USER SET PASSWORD FROM 'other' TO '<pw>'",),
        ("SET PASSWORD FROM 'old' TO $new",),
        before=r"set[ ]{1,4}p\Z",
    ),
    Place(
        "password",
        "net user ",
        r"net user[ ]{1,4}[\w.\\-]{1,64}[ ]{1,4}(?![/*])<value>[ ]{1,4}/(?:add|domain|active|y)\b",
        "in_command",
        ("net user me <pw> /add", "net user corp\\me '<pw>' /domain"),
        ("net user me * /add", "net user me /add"),
    ),
    Place(
        "password",
        "net user ",
        r"net user[ ]{1,4}[\w.\\-]{1,64}[ ]{1,4}<value>[ ]{0,4}(?:\Z|[\r\n&|\\\"'`])",
        "mixed",
        ("net user me <pw>", "net user Administrator <pw> && whoami"),
        ("net user me $PASS", "a net user experience"),
    ),
    Place(
        "password",
        "nmcli ",
        r"nmcli[ ][^\r\n]{0,160}?[ ](?:password|[\w.-]{0,40}psk)[ ]{1,4}<value>",
        "in_command",
        (
            "nmcli dev wifi connect home password <pw>",
            "nmcli con modify home wifi-sec.psk '<pw>'",
        ),
        ("nmcli dev wifi connect home password $PASS",),
    ),
    Place(
        "password",
        "wpa_passphrase ",
        r"wpa_passphrase[ ]{1,4}(?:<text>|\S{1,40})[ ]{1,4}<value>",
        "in_command",
        ("wpa_passphrase home <pw>", "wpa_passphrase 'my home' '<pw>' > a.conf"),
        ("wpa_passphrase home $PASS",),
    ),
    Place(
        "secret",
        "rclone config ",
        r"rclone config (?:create|update|password)[ ][^\r\n]{0,200}?"
        r"\b(?:\w{0,30}(?:secret|pass|token|_key)\w{0,20})[ =]{1,4}<value>",
        "in_command",
        (
            "rclone config create r s3 secret_access_key <pw>",
            "rclone config create r sftp host x.test user me pass=<pw>",
        ),
        ("rclone config create r s3 secret_access_key $KEY",),
    ),
    *(
        Place(
            "token",
            f"{tool} login ",
            tool + r" login[ ]{1,4}(?:-[^\s=]{1,30}=\S{1,60}[ ]){0,3}"
            r"([^\s\"'`\\$-][^\s\"'`\\]{7,500})",
            "mixed",
            (f"{tool} login <token>",),
            (f"{tool} login $TOKEN", f"{tool} login expected"),
        )
        for tool in ("vault", "cargo")
    ),
)  # fmt: skip
