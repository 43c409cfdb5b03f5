"""The places where secrets stand: headers, cookies, URLs, login files, calls, SQL.

Each row has examples of its own: in `cut`, what stands for the secret goes; `stays` is left alone.
`<pw>` is a password, `<token>` a random token, `<base64>` an encoded one.
"""

from typing import NamedTuple


class Place(NamedTuple):
    """A lower-case literal, and what follows it; the group is the secret.

    In a pattern, `<q>` is a quote with its backslashes, `<h>` the colon between a header and its
    value, `<credential>` what a header may carry, `<text>` a quoted text, `<value>` one word or a
    quoted text. `before` must match up to the literal. `judge` names a function of `context`.
    """

    kind: str
    literal: str
    pattern: str
    judge: str
    cut: tuple[str, ...]
    stays: tuple[str, ...] = ()
    before: str = ""


PLACES: tuple[Place, ...] = (
    Place(
        "authorization",
        "auth",
        r"authorization<h><scheme><credential>",
        "in_header",
        (
            "Authorization: Bearer <token>",
            "authorization: token <token>",
            "-H 'Authorization: Basic <base64>'",
            '"Authorization": "Bearer <token>"',
            "headers['Authorization'] = 'Bearer <token>'",
            "Proxy-Authorization: Basic <base64>",
            "X-Goog-IAM-Authorization: Bearer <token>",
        ),
        ("Authorization: Bearer <your-token>", "Authorization: Bearer ${token}"),
    ),
    Place(
        "authorization",
        "auth",
        r"authorization<h><credential>",
        "without_scheme",
        ("Authorization: <token>", '"authorization": "<token>"'),
        ("Authorization: required", "authorization: Optional[str]"),
    ),
    Place(
        "authorization",
        "auth",
        r"authorization<h>(?:digest|hawk|aws4-hmac-sha256|oauth|negotiate|ntlm|signature|hmac|mac"
        r"|sharedkey|kerberos|vapid)[ ]+([^\r\n\\']{16,2000})",
        "sealed",
        (
            "Authorization: Negotiate <base64>",
            "Authorization: NTLM <base64>",
            "Authorization: Hawk <token>",
            "authorization: Signature <token>",
            "Authorization: SharedKey <token>",
        ),
        ("Authorization: Digest or Basic", 'Authorization: OAuth realm="Example"'),
        before=r"(?:^|[^\"\w-])[\w-]{0,20}\Z",
    ),
    Place(
        "authorization",
        "auth",
        r"authorization<h>(?:digest|hawk|aws4-hmac-sha256|oauth|negotiate|ntlm|signature|hmac|mac"
        r"|sharedkey|kerberos|vapid)[ ]+([^\r\n\\'\"]{16,2000})",
        "sealed",
        ('"Authorization: Negotiate <base64>", "b"', '"authorization": "Hawk <token>"'),
        before=r"\"[\w-]{0,20}\Z",
    ),
    Place(
        "docker login",
        "auth",
        r"auth<q>\s{0,8}:\s{0,8}<q>([\w+/]{12,4000}={0,2})<q>",
        "random",
        ('"auths": {"x.test": {"auth": "<base64>"}}',),
        ('"auth": "basic-authentication"',),
    ),
    Place(
        "npm token",
        "auth",
        r"auth\s{0,4}=\s{0,4}[\"']?([A-Za-z0-9+/]{8,4000}={0,2})",
        "encoded",
        ("//registry.test/:_auth=<base64>", "_auth = <base64>"),
        ("CLIENT_AUTH = ObjectIdentifier(1)",),
        before=r"_\Z",
    ),
    Place(
        "password",
        "auth",
        r"auth(?:entication|enticator|handler)?(?:\s{0,4}=?\s{0,4}\(|<q>?\s{0,4}(?:=>|:)\s{0,4}\[)"
        r"\s{0,8}<text>"
        r"\s{0,8},\s{0,8}<secret>",
        "literal",
        (
            'requests.get(url, auth=("me", "<pw>"))',
            'HTTPBasicAuth("me", "<pw>")',
            "req.SetBasicAuth('me', '<pw>')",
            ".basicAuth('me', '<pw>')",
            "'auth' => ['me', '<pw>']",
            'new PasswordAuthentication("me", "<pw>".toCharArray())',
            'client.basic_auth("me", Some("<pw>"))',
        ),
        ('auth = ("username", "password")', 'authenticate("me", options)'),
    ),
    Place(
        "password",
        "login(",
        r"login\(\s{0,8}<text>\s{0,8},\s{0,8}<secret>",
        "literal",
        ('smtp.login("me@x.test", "<pw>")', "ftp.login('me', '<pw>')"),
        ('login("username", "password")', "login(user, password)"),
    ),
    Place(
        "password",
        "cred",
        r"credentials?\(\s{0,8}<text>\s{0,8},\s{0,8}<secret>",
        "literal",
        (
            'new NetworkCredential("me", "<pw>")',
            'pika.PlainCredentials("me", "<pw>")',
            'new UsernamePasswordCredentials("me", "<pw>")',
        ),
        ('credentials("user", "password")',),
    ),
    Place(
        "password",
        "connect",
        r"connect(?:ion)?\(\s{0,8}(?:<text>|[\w.$>-]{1,64})\s{0,8},\s{0,8}<text>\s{0,8},\s{0,8}"
        r"<secret>",
        "literal",
        (
            'mysqli_connect("localhost", "app", "<pw>", "shop")',
            'DriverManager.getConnection(url, "app", "<pw>")',
            'MySQLdb.connect("localhost", "app", "<pw>")',
        ),
        ('signal.connect("clicked", "handler", callback)',),
    ),
    Place(
        "password",
        "pdo(",
        r"pdo\(\s{0,8}<text>\s{0,8},\s{0,8}<text>\s{0,8},\s{0,8}<secret>",
        "literal",
        ("new PDO('mysql:host=db;dbname=shop', 'app', '<pw>')",),
        ("new PDO($dsn, $user, $password)",),
    ),
    Place(
        "cookie",
        "cookie",
        r"cookie<h>([\w.%-]{1,64}=[^\s;\"'\\]{1,4096}+"
        r"(?:;[ ]?[\w.%-]{1,64}=[^\s;\"'\\]{0,4096}+){0,60}+)",
        "in_cookie",
        ("Cookie: session=<token>; theme=dark", "-H 'cookie: sid=<token>'"),
        ("cookie: Cookie", "Set-Cookie and Cookie: see the manual", "cookie: 'get=cookies'"),
        before=r"(?<!set-)\Z",
    ),
    Place(
        "cookie",
        "cookie",
        r"cookie<h>[\w.%-]{1,64}=([^\s;\"'\\]{4,4096})",
        "in_cookie",
        ("Set-Cookie: sid=<token>; Path=/; HttpOnly",),
        ("'set-cookie': 'undici=getSetCookies; Secure'",),
        before=r"set-\Z",
    ),
    Place(
        "cookie",
        "cookie",
        r"cookies?(?:-jar)?[ =]{1,2}(?:<q>)?([\w.%-]{1,64}=[^\s\"'\\]{8,4096})",
        "in_cookie",
        ("curl --cookie 'sid=<token>' https://x.test",),
        ("curl --cookie 'theme=highcontrast' https://x.test",),
        before=r"--\Z",
    ),
    Place(
        "password",
        "pass",
        r"password\s{1,40}([^\s\"'\\]{1,200})",
        "in_url",
        (
            "machine x.test login me password <pw>",
            "machine x.test\n  login me\n  password <pw>",
            "default login me password <pw>",
        ),
        ("machine learning login page password reset",),
        before=r"(?:machine\s{1,40}(?:[\w-]{1,60}[.:][\w.:-]{1,100}|localhost)|default)\s{1,40}"
        r"login\s{1,40}\S{1,100}\s{1,40}(?:account\s{1,40}\S{1,100}\s{1,40})?\Z",
    ),
    Place(
        "password",
        "pass",
        r"pass:([^\s\"'\\]{4,200})",
        "in_command",
        (
            "openssl rsa -in key.pem -passin pass:<pw>",
            "openssl enc -aes-256-cbc -pass pass:<pw> -in a",
            'openssl pkcs12 -passout "pass:<pw>"',
        ),
        ("bypass:something here", "openssl rsa -passin pass:$PASS"),
        before=r"[ '\"]\Z",
    ),
    Place(
        "password",
        "assword",
        r"assword[^\r\n]{0,12}[\"}][ \t]{0,8};?(?:\s|[{;]){0,40}(?:exp_)?send\s{1,4}(?:--\s{1,4})?"
        r"<q>([^\s\"'\\]{3,128})",
        "in_command",
        ('expect "*?assword:*"\nsend -- "<pw>\\r"', 'expect "Password:" { send "<pw>\\r" }'),
        ('expect "Password:"\nsend "$password\\r"',),
    ),
    Place(
        "password",
        ":5432:",
        r":5432:[^\s:]{1,100}:[^\s:]{1,100}:([^\s:\"'\\]{3,200})",
        "in_url",
        ("db.test:5432:app:me:<pw>",),
        ("db.test:5432:app:me:$PASS",),
    ),
    Place(
        "password",
        ":*:",
        r":\*:[^\s:]{1,100}:[^\s:]{1,100}:([^\s:\"'\\]{3,200})",
        "in_url",
        ("*:*:*:postgres:<pw>", "db.test:*:app:me:<pw>"),
        ("arn:aws:s3:*:*:bucket",),
        before=r"(?:^|[\s\"'`])(?:\*|[\w.-]{1,100})\Z",
    ),
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
        r"mc alias set[ ]{1,4}[\w-]{1,40}[ ]{1,4}\S{1,200}[ ]{1,4}[\w+/-]{3,128}[ ]{1,4}<value>",
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
)  # fmt: skip
