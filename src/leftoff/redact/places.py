"""Where secrets are: headers, cookies, URLs, login files, calls, SQL.

Each row has its own examples: in `cut`, the placeholder for the secret is removed; `stays` must not
change. `<pw>` is a password, `<token>` a random token, `<base64>` an encoded one.
"""

from typing import NamedTuple


class SecretPlace(NamedTuple):
    """A lower-case literal, and what follows it; the group is the secret.

    In a pattern, `<q>` is a quote with its backslashes, `<h>` the colon between a header and its
    value, `<credential>` what a header may carry, `<text>` a quoted text, `<value>` one word or a
    quoted text. `before` must match up to the literal. `judge` names a function in `around`.
    """

    kind: str
    literal: str
    pattern: str
    judge: str
    cut: tuple[str, ...]
    stays: tuple[str, ...] = ()
    before: str = ""


PLACES: tuple[SecretPlace, ...] = (
    SecretPlace(
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
    SecretPlace(
        "authorization",
        "auth",
        r"authorization<h><credential>",
        "without_scheme",
        ("Authorization: <token>", '"authorization": "<token>"'),
        (
            "Authorization: required",
            "authorization: Optional[str]",
            '"AWS::Redshift::EndpointAuthorization": "e72be424d109da1d"',
        ),
        before=r"(?<![:\w-])[\w-]{0,40}\Z",
    ),
    SecretPlace(
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
    SecretPlace(
        "authorization",
        "auth",
        r"authorization<h>(?:digest|hawk|aws4-hmac-sha256|oauth|negotiate|ntlm|signature|hmac|mac"
        r"|sharedkey|kerberos|vapid)[ ]+([^\r\n\\'\"]{16,2000})",
        "sealed",
        ('"Authorization: Negotiate <base64>", "b"', '"authorization": "Hawk <token>"'),
        before=r"\"[\w-]{0,20}\Z",
    ),
    SecretPlace(
        "docker login",
        "auth",
        r"auth<q>\s{0,8}:\s{0,8}<q>([\w+/]{12,4000}={0,2})<q>",
        "random",
        ('"auths": {"x.test": {"auth": "<base64>"}}',),
        ('"auth": "basic-authentication"',),
    ),
    SecretPlace(
        "npm token",
        "auth",
        r"auth\s{0,4}=\s{0,4}[\"']?([A-Za-z0-9+/]{8,4000}={0,2})(?![\w(.])",
        "encoded",
        ("//registry.test/:_auth=<base64>", "_auth = <base64>"),
        ("CLIENT_AUTH = ObjectIdentifier(1)", "self._x509_auth = SyncX509Auth(client)"),
        before=r"(?<!cli)_\Z",
    ),
    SecretPlace(
        "password",
        "auth",
        r"auth(?:entication|enticator|handler)?"
        r"(?:\s{0,4}=?\s{0,4}\(|<q>?\s{0,4}(?:=>|:)\s{0,4}\[|[ ](?=<q>))\s{0,8}<text>"
        r"\s{0,8},\s{0,8}<secret>(?!\s{0,8},\s{0,8}<q>(?!basic|digest|ntlm|bearer))",
        "literal",
        (
            'requests.get(url, auth=("me", "<pw>"))',
            "'auth' => ['me', '<pw>', 'digest']",
            "http.basic_auth 'me', '<pw>'",
            'HTTPBasicAuth("me", "<pw>")',
            "req.SetBasicAuth('me', '<pw>')",
            ".basicAuth('me', '<pw>')",
            "'auth' => ['me', '<pw>']",
            'new PasswordAuthentication("me", "<pw>".toCharArray())',
            'client.basic_auth("me", Some("<pw>"))',
        ),
        (
            'auth = ("username", "password")',
            'authenticate("me", options)',
            "'auth' => ['guards', 'providers', 'brokers']",
            'RequireAuth("users", "demo1")',
        ),
        before=r"(?<!require)(?<!check)(?<!needs)(?<!has)(?<!is)\Z",
    ),
    SecretPlace(
        "password",
        "login(",
        r"login\(\s{0,8}(?:\$\w{1,40}\s{0,8},\s{0,8})?(?!<q>/)<text>\s{0,8},\s{0,8}<secret>"
        r"(?!\s{0,8},\s{0,8}<q>)",
        "literal",
        (
            "ftp_login($ftp, 'me', '<pw>')",
            'smtp.login("me@x.test", "<pw>")', "ftp.login('me', '<pw>')"),
        (
            'login("username", "password")',
            "login(user, password)",
            'client.login("/login", "someone", "password")',
            'Login("x.test", "user-1", "other", "https")',
        ),
    ),
    SecretPlace(
        "password",
        "cred",
        r"credentials?\(\s{0,8}<text>\s{0,8},\s{0,8}<secret>",
        "literal",
        (
            'new NetworkCredential("me", "<pw>")',
            'pika.PlainCredentials("me", "<pw>")',
            'new UsernamePasswordCredentials("me", "<pw>")',
        ),
        (
            'credentials("user", "password")',
            'saveCredential("https://x.test", "staging", token)',
            'GitCredential("https", "mygithost")',
        ),
        before=r"(?<!save)(?<!clear)(?<!get)(?<!set)(?<!delete)(?<!remove)(?<!load)(?<!git)\Z",
    ),
    SecretPlace(
        "password",
        "connect",
        r"connect(?:ion)?\(\s{0,8}(?:<text>|(?!\d+\b)[\w.$>-]{1,64})\s{0,8},\s{0,8}"
        r"(?:\d{2,5}\s{0,8},\s{0,8})?<text>\s{0,8},\s{0,8}"
        r"<secret>",
        "literal",
        (
            'mysqli_connect("localhost", "app", "<pw>", "shop")',
            'DriverManager.getConnection(url, "app", "<pw>")',
            'MySQLdb.connect("localhost", "app", "<pw>")',
            'client.connect("x.test", 22, "app", "<pw>")',
        ),
        (
            'signal.connect("clicked", "handler", callback)',
            'cscope_connection(3, "out", "local")',
            "createConnection(graph, 'node1', 'node2', 'ai_tool')",
        ),
        before=r"(?<!create)\Z",
    ),
    SecretPlace(
        "password",
        "pdo(",
        r"pdo\(\s{0,8}(?:<text>|\$\w{1,40})\s{0,8},\s{0,8}(?:<text>|\$\w{1,40})\s{0,8},\s{0,8}<secret>",
        "literal",
        (
            "new PDO('mysql:host=db;dbname=shop', 'app', '<pw>')",
            "new PDO($dsn, 'app', '<pw>')",
            "new PDO($dsn, $user, '<pw>')",
        ),
        ("new PDO($dsn, $user, $password)",),
    ),
    SecretPlace(
        "password",
        "crypt.",
        r"crypt\.(?:(?:hash|compare)(?:sync|pw)?|checkpw|generatefrompassword|hash_password"
        r"|comparehashandpassword\([\w.()\[\]]{1,60},[ ]?(?=\[))\(?\s{0,8}(?:\[\]byte\()?<secret>",
        "literal",
        (
            'bcrypt.hashSync("<pw>", 10)',
            'await bcrypt.hash("<pw>", 10)',
            'bcrypt.hashpw(b"<pw>", bcrypt.gensalt())',
            'bcrypt.GenerateFromPassword([]byte("<pw>"), 14)',
            'bcrypt.CompareHashAndPassword(hash, []byte("<pw>"))',
            "bcrypt.compare('<pw>', user.hash)",
        ),
        ("bcrypt.hashSync(password, 10)", 'bcrypt.hash("password", 10)'),
    ),
    SecretPlace(
        "password",
        "password_hash(",
        r"password_hash\(\s{0,8}<secret>",
        "literal",
        ("password_hash('<pw>', PASSWORD_BCRYPT)",),
        ("password_hash($password, PASSWORD_DEFAULT)",),
    ),
    SecretPlace(
        "password",
        "pbkdf2",
        r"pbkdf2(?:_hmac|sync)?\(\s{0,8}(?:<text>\s{0,8},\s{0,8})?"
        r"<secret>\s{0,8}[,.]",
        "literal",
        (
            'hashlib.pbkdf2_hmac("sha256", b"<pw>", salt, 100000)',
            "crypto.pbkdf2Sync('<pw>', salt, 1, 64, 'sha512')",
        ),
        (
            'hashlib.pbkdf2_hmac("sha256", password, salt, 100000)',
            'pbkdf2("sha256", password, salt)',
        ),
    ),
    SecretPlace(
        "secret",
        "jwt.",
        r"jwt\.(?:sign|encode|verify|decode)\(\s{0,8}[^\"'\r\n,()]{1,80},\s{0,8}<secret>",
        "literal",
        ('jwt.sign(payload, "<pw>")', "jwt.decode(token, '<pw>', algorithms=['HS256'])"),
        ("jwt.sign(payload, secret)", "jwt.verify(token, publicKey)"),
    ),
    SecretPlace(
        "secret",
        "createhmac(",
        r"createhmac\(\s{0,8}<text>\s{0,8},\s{0,8}<secret>",
        "literal",
        ("crypto.createHmac('sha256', '<pw>')",),
        ("createHmac('sha256', secret)", "crypto.createHmac('sha256', 'key')"),
    ),
    *(
        SecretPlace(
            "secret",
            call,
            call.replace(".", r"\.").replace("(", r"\(") + r"\s{0,8}<secret>",
            "literal",
            (f'{call}b"<pw>", body)', f'{call}"<pw>".getBytes())'),
            (f"{call}key, body)", f'{call}"key")'),
        )
        for call in ("hmac.new(", "hmacshakeyfor(")
    ),
    SecretPlace(
        "secret",
        "secretkeyspec(",
        r"secretkeyspec\(\s{0,8}<secret>",
        "literal",
        ('new SecretKeySpec("<pw>".getBytes(), "AES")',),
        ('new SecretKeySpec(bytes, "HmacSHA256")', 'new SecretKeySpec("secret", "AES")'),
    ),
    SecretPlace(
        "secret",
        "securitykey(",
        r"securitykey\(\s{0,8}[\w.]{0,30}getbytes\(\s{0,8}<secret>",
        "literal",
        ('new SymmetricSecurityKey(Encoding.UTF8.GetBytes("<pw>"))',),
        ("new SymmetricSecurityKey(Encoding.UTF8.GetBytes(key))",),
    ),
    SecretPlace(
        "secret",
        "signedstring(",
        r"signedstring\(\s{0,8}(?:\[\]byte\()?<secret>",
        "literal",
        ('token.SignedString([]byte("<pw>"))',),
        ("token.SignedString(key)",),
    ),
    SecretPlace(
        "secret",
        "signwith(",
        r"signwith\(\s{0,8}(?:<text>|[\w.]{1,60})\s{0,8},\s{0,8}<secret>",
        "literal",
        ('.signWith(SignatureAlgorithm.HS512, "<pw>")', '.signWith("HS256", "<pw>")'),
        (".signWith(SignatureAlgorithm.HS512, secret)", '.signWith(key, "HS256")'),
    ),
    SecretPlace(
        "secret",
        "cookie",
        r"cookie(?:parser|store)\(\s{0,8}(?:\[\]byte\()?<secret>",
        "literal",
        ("app.use(cookieParser('<pw>'))", 'sessions.NewCookieStore([]byte("<pw>"))'),
        ("app.use(cookieParser(secret))", "cookieParser('secret')"),
    ),
    SecretPlace(
        "key",
        "fernet(",
        r"fernet\(\s{0,8}<secret>",
        "random",
        ('Fernet(b"<base64>")',),
        ("Fernet(key)", 'Fernet("key")'),
    ),
    SecretPlace(
        "password",
        "_bind",
        r"_bind(?:_s)?\(\s{0,8}(?:\$\w{1,40}\s{0,8},\s{0,8})?<text>\s{0,8},\s{0,8}<secret>",
        "literal",
        ("ldap_bind($ldap, 'cn=me', '<pw>')", 'conn.simple_bind_s("cn=me,dc=x", "<pw>")'),
        ("ldap_bind($ldap, $dn, $password)",),
    ),
    SecretPlace(
        "password",
        "tochararray",
        r"tochararray\(",
        "literal",
        (
            'keyStore.load(stream, "<pw>".toCharArray())',
            'new PBEKeySpec("<pw>".toCharArray(), salt, 1000)',
        ),
        ("keyStore.load(stream, password.toCharArray())", '"abcdefgh7".toCharArray()'),
        before=r"(?:load|protection|keyspec|getkey|setkeyentry|keymanager\w{0,20}\.init)\("
        r"[^;\r\n\"\\]{0,100}(?:<text>[^;\r\n\"\\]{1,40})?<q>([^\"\\\r\n]{4,128})<q>\.\Z",
    ),
    SecretPlace(
        "password",
        "certificate2(",
        r"certificate2\(\s{0,8}(?:<text>|[\w.]{1,60})\s{0,8},\s{0,8}<secret>",
        "literal",
        ('new X509Certificate2("me.pfx", "<pw>")', "new X509Certificate2(path, '<pw>')"),
        ("new X509Certificate2(path, password)",),
    ),
    SecretPlace(
        "password",
        "new mysqli(",
        r"new mysqli\((?:\s{0,8}(?:<text>|\$\w{1,40})\s{0,8},){2}\s{0,8}<secret>",
        "literal",
        ('new mysqli("localhost", "app", "<pw>", "shop")', "new mysqli($host, $user, '<pw>')"),
        ("new mysqli($host, $user, $password)",),
    ),
    SecretPlace(
        "password",
        "hash::make(",
        r"hash::make\(\s{0,8}<secret>",
        "literal",
        ("Hash::make('<pw>')", "'password' => Hash::make('<pw>')"),
        ("Hash::make($password)", "Hash::make('password')"),
    ),
    *(
        SecretPlace(
            "password",
            name,
            name + r"[ ]?(?:--plaintext[ ])?<value>(?=\s*(?:\Z|[\r\n\"'`\\]))",
            "mixed",
            (f"{name} <pw>", f"olc{name} <pw>\n"),
            (f"{name} --lock", f"the directive {name} is set"),
        )
        for name in ("rootpw ", "rootpw:")
    ),
    SecretPlace(
        "password",
        "auth",
        r"auth_?pass[ ]<value>(?=[ ]*(?:\Z|[\r\n\"'`\\]))",
        "mixed",
        ("    auth_pass <pw>\n", "auth_pass <pw>"),
        ("the auth_pass is long", "auth_pass $PASS"),
    ),
    SecretPlace(
        "token",
        "auth",
        r"authtoken[ ]<value>",
        "random",
        ("ngrok authtoken <token>", "ngrok config add-authtoken <token>"),
        ("an authtoken is needed", "ngrok authtoken $TOKEN"),
    ),
    SecretPlace(
        "authorization",
        "auth",
        r"authorization[ ]{1,4}<q><scheme><credential>",
        "in_header",
        ('proxy_set_header Authorization "Basic <base64>";',),
        ('proxy_set_header Authorization "Bearer $token";',),
        before=r"header[ ](?:set[ ])?\Z",
    ),
    SecretPlace(
        "password",
        "assword",
        r"assword\(\s{0,8}(?:[\w.]{1,40}\s{0,8},\s{0,8})?<text>\s{0,8},\s{0,8}<secret>",
        "literal",
        (
            'signInWithEmailAndPassword(auth, "me@x.test", "<pw>")',
            "createUserWithEmailAndPassword('me@x.test', '<pw>')",
        ),
        ("signInWithEmailAndPassword(auth, email, password)", "checkPassword('a', 'something7')"),
        before=r"and_?p\Z",
    ),
    SecretPlace(
        "password",
        "assword",
        r"assword\(\s{0,8}<secret>",
        "literal",
        ("make_password('<pw>')",),
        ("make_password(password)", "make_password('password')"),
        before=r"(?<![\w.])make_p\Z",
    ),
    SecretPlace(
        "password",
        "assword",
        r"assword<q>[^<>\r\n]{0,120}\bvalue\s{0,4}=\s{0,4}<secret>",
        "literal",
        ('<input type="password" name="pw" value="<pw>">',),
        ('<input type="password" value="{{ value }}">', '<input type="password" value="Password">'),
        before=r"type\s{0,4}=\s{0,4}<q>p\Z",
    ),
    SecretPlace(
        "password",
        "assword",
        r"assword[ ]<secret>",
        "literal",
        ("    storePassword '<pw>'", 'keyPassword "<pw>"'),
        ("storePassword 'password'", "keyPassword project.keyPassword"),
        before=r"(?:^|[\s\"])(?:store|key)p\Z",
    ),
    SecretPlace(
        "password",
        "assword",
        r"assword:[ ](?:[|>][+-]?\d?[ \t]{0,8}\r?(?:\n|\\{1,8}n)[ \t]{1,40}|!!str[ ])"
        r"([^\s\"'\\]{4,200})(?=[ \t]{0,8}(?:\Z|[\r\n\"'\\]))",
        "mixed",
        ("password: >-\n  <pw>\n", "password: |\n  <pw>", "password: !!str <pw>"),
        ("password: >-\n  text\n", "password: |\n  The password of the user"),
    ),
    SecretPlace(
        "password",
        "create_",
        r"create_(?:super)?user\(\s{0,8}<text>\s{0,8},\s{0,8}(?:<text>|none)\s{0,8},\s{0,8}<secret>",
        "literal",
        (
            'User.objects.create_user("ada", "ada@x.test", "<pw>")',
            "create_superuser('ada', None, '<pw>')",
        ),
        ('User.objects.create_user("ada", "ada@x.test", password)',),
    ),
    SecretPlace(
        "password",
        "@tcp(",
        r"@tcp\(",
        "literal",
        ('sql.Open("mysql", "ada:<pw>@tcp(db:3306)/shop")',),
        ('sql.Open("mysql", "ada:password@tcp(db:3306)/shop")', "dsn := user + pass + @tcp(db)"),
        before=r"[\"'`=][\w.-]{1,60}:([^\s\"'`\\]{4,128})\Z",
    ),
    SecretPlace(
        "cookie",
        "cookie",
        r"cookie<h>([\w.%-]{1,64}=[^\s;\"'\\]{1,4096}+"
        r"(?:;[ ]?[\w.%-]{1,64}=[^\s;\"'\\]{0,4096}+){0,60}+)",
        "in_cookie",
        ("Cookie: session=<token>; theme=dark", "-H 'cookie: sid=<token>'"),
        ("cookie: Cookie", "Set-Cookie and Cookie: see the manual", "cookie: 'get=cookies'"),
        before=r"(?<!set-)\Z",
    ),
    SecretPlace(
        "cookie",
        "cookie",
        r"cookie<h>[\w.%-]{1,64}=([^\s;\"'\\]{4,4096})",
        "in_cookie",
        ("Set-Cookie: sid=<token>; Path=/; HttpOnly",),
        ("'set-cookie': 'undici=getSetCookies; Secure'",),
        before=r"set-\Z",
    ),
    SecretPlace(
        "cookie",
        "cookie",
        r"cookies?(?:-jar)?[ =]{1,2}(?:<q>)?([\w.%-]{1,64}=[^\s\"'\\]{8,4096})",
        "in_cookie",
        ("curl --cookie 'sid=<token>' https://x.test",),
        ("curl --cookie 'theme=highcontrast' https://x.test",),
        before=r"--\Z",
    ),
    SecretPlace(
        "password",
        "pass",
        r"password\s{1,40}([^\s\"'\\]{1,200})",
        "in_url",
        (
            "machine x.test login me password <pw>",
            "machine x.test\n  login me\n  password <pw>",
            "default login me password <pw>",
        ),
        ("machine learning login page password reset", "default login and password to use"),
        before=r"(?:machine\s{1,40}(?:[\w-]{1,60}[.:][\w.:-]{1,100}|localhost)|default)\s{1,40}"
        r"login\s{1,40}(?!and\s)\S{1,100}\s{1,40}(?:account\s{1,40}\S{1,100}\s{1,40})?\Z",
    ),
    SecretPlace(
        "password",
        "pass",
        r"pass(?::([^\s\"'\\]{4,200})|[ ]{1,4}<value>(?=\s*(?:\Z|[\r\n\"'`\\])))",
        "in_command",
        (
            "openssl rsa -in key.pem -passin pass:<pw>",
            "openssl enc -aes-256-cbc -pass pass:<pw> -in a",
            'openssl pkcs12 -passout "pass:<pw>"',
            "requirepass <pw>",
            "redis-cli CONFIG SET requirepass '<pw>'",
        ),
        (
            "bypass:something here",
            "openssl rsa -passin pass:$PASS",
            "'pass:word'",
            "requirepass $PASS",
            "the option requirepass is set",
        ),
        before=r"(?:-(?:pass|passin|passout|srcstorepass|deststorepass|storepass|keypass)"
        r"[\s,=\"'\\]{1,8}|(?<![\w-])require)\Z",
    ),
    SecretPlace(
        "password",
        "auth",
        r"auth[ ](?:(?:plain|login|xoauth2)[ ]([\w+/]{12,2000}={0,2})"
        r"|(?!plain|login|cram|xoauth|digest|ntlm|gssapi)(?:default[ ])?(?=[^\s\"'`]*[0-9!@#$%^*])"
        r"<value>)",
        "mixed",
        (
            "127.0.0.1:6379> AUTH <pw>",
            "redis-cli AUTH <pw>",
            "AUTH default <pw>",
            "C: AUTH PLAIN <base64>",
        ),
        (
            "AUTH LOGIN",
            "250 AUTH PLAIN LOGIN",
            "AUTH required first",
            "AUTH PLAIN LOGIN",
            "- auth headers, URL",
        ),
        before=r"(?:^|[\n\"'`]|[>$:-][ ]|redis-cli[ ](?:[^\r\n]{0,80}[ ])?)\Z",
    ),
    SecretPlace(
        "password",
        "assword",
        r"assword[^\r\n]{0,12}[\"}][ \t]{0,8};?(?:\s|[{;]){0,40}(?:exp_)?send\s{1,4}(?:--\s{1,4})?"
        r"<q>([^\s\"'\\]{3,128})",
        "in_command",
        ('expect "*?assword:*"\nsend -- "<pw>\\r"', 'expect "Password:" { send "<pw>\\r" }'),
        ('expect "Password:"\nsend "$password\\r"',),
    ),
    SecretPlace(
        "password",
        "assword",
        r"assword[\w\]-]{0,20}<q>\)?\)?(?:\.\w{1,20}\(\))?\.(?:fill|type|send_?keys|set_?value|set_?text"
        r"|press_?sequentially)\(\s{0,8}<secret>",
        "literal",
        (
            "cy.get('#password').type('<pw>')",
            "page.getByLabel('Password').fill('<pw>')",
            'driver.findElement(By.id("password")).sendKeys("<pw>")',
            'cy.get("[name=password]").clear().type("<pw>")',
        ),
        ("page.getByLabel('Password').fill(password)", "cy.get('#password').type('{enter}')"),
    ),
    SecretPlace(
        "password",
        "assword",
        r"assword[\w\]-]{0,20}<q>,\s{0,8}(?:with:\s{0,8})?<secret>",
        "literal",
        ("page.fill('#password', '<pw>')", 'fill_in "Password", with: "<pw>"'),
        ("page.fill('#password', password)", "t('Password', 'password')"),
        before=r"\b(?:fill|fill_in|type|type_text|enter_text|send_keys)[( ]\s{0,8}"
        r"<q>[^\"'\r\n]{0,40}\Z",
    ),
    *(
        SecretPlace(
            "password",
            port,
            port + r"[^\s:]{1,100}:[^\s:]{1,100}:([^\s*:\"'\\][^\s\"'\\]{2,200})",
            "in_url",
            (f"db.test{port}app:me:<pw>", f"localhost{port}*:me:<pw>"),
            (f"db.test{port}app:me:$PASS",),
        )
        for port in (":5432:", ":5433:", ":6543:")
    ),
    SecretPlace(
        "password",
        ":*:",
        r":\*:(?!\d+:\d+:)[^\s:]{1,100}:[\w*][^\s:]{0,99}:([^\s*:\"'\\][^\s\"'\\]{2,200})",
        "in_url",
        ("*:*:*:postgres:<pw>", "db.test:*:app:me:<pw>"),
        (
            "arn:aws:s3:*:*:bucket",
            "*:*:*:*:*:*:*:*",
            "a:*:*:+b:-c:-d",
            "root:*:0:0:root:/root:/bin/bash",
        ),
        before=r"(?:^|[\s\"'`])(?:\*|[\w.-]{1,100})\Z",
    ),
    SecretPlace(
        "password",
        "psk",
        r"psk(?:[ ]{0,4}=[ ]{0,4}<secret>|=([^\s\"'\\]{8,63}))",
        "mixed",
        ('psk="<pw>"', "psk=<pw>", "wpa_psk=<pw>", "802-11-wireless-security.psk=<pw>"),
        ("psk = get_psk", "wpa-psk=$PSK", "psk=wpa_passphrase"),
        before=r"(?:^|[\s\"'.])(?:wpa[_-]?|sae[_-]?)?\Z",
    ),
)  # fmt: skip
