"""A value is cut if its name says that it is a secret, in the syntax of any language or tool."""

import json
import string

from leftoff.redact import redact
from redact_cases import ALNUM, HEX, made_up, uuid_like
from rows import for_each

PASSWORDS = ["hunter22" + "!", "S3cret" + ".Pa55", "corr3ct-" + "horse"]
TOKENS = [made_up(ALNUM, 32), made_up(HEX, 32), made_up(ALNUM, 20), uuid_like()]

# How a name is given a value; `NAME` is in capitals, `name` in snake case, `camel` in camel case.
SYNTAXES = {
    "environment": "NAME=<v>",
    "export": "export NAME='<v>'",
    "docker": "docker run -e NAME=<v> image",
    "docker quoted": 'docker run -e "NAME=<v>" image',
    "dockerfile": "ENV NAME <v>",
    "windows": "set NAME=<v>",
    "powershell": '$env:NAME = "<v>"',
    "setx": 'setx NAME "<v>"',
    "fish": "set -x NAME '<v>'",
    "compose list": "environment:\n  - NAME=<v>",
    "compose map": "environment:\n  NAME: <v>",
    "kubernetes pair": "- name: NAME\n  value: <v>",
    "json pair": '{"name": "NAME", "value": "<v>"}',
    "systemd": 'Environment="NAME=<v>"',
    "yaml": "config:\n  name: '<v>'",
    "ini": "[a]\nname = <v>",
    "properties": "spring.datasource.name=<v>",
    "toml": 'name = "<v>"',
    "hcl": 'name = "<v>"',
    "tfvars variable": 'variable "name" {\n  default = "<v>"\n}',
    "json": '{"camel": "<v>"}',
    "json escaped": '{\\"camel\\": \\"<v>\\"}',
    "xml": "<camel><v></camel>",
    "xml attribute": '<add key="camel" value="<v>"/>',
    "plist": "<key>camel</key>\n<string><v></string>",
    "flag": "tool --dash <v> --verbose",
    "flag with equals": "tool --dash=<v> run",
    "flag quoted": "tool --dash '<v>' run",
    "query": "https://x.test/a?name=<v>&page=2",
    "fragment": "https://x.test/a#name=<v>",
    "form": "grant_type=x&name=<v>",
    "python": 'name = "<v>"',
    "python annotated": 'name: str = "<v>"',
    "python keyword": 'connect(host="x", name="<v>")',
    "python dict": "{'name': '<v>'}",
    "python environ": "os.environ['NAME'] = '<v>'",
    "python default": 'os.getenv("NAME", "<v>")',
    "python or": 'os.environ.get("NAME") or "<v>"',
    "javascript": "const camel = '<v>';",
    "javascript object": "{ camel: '<v>' }",
    "javascript default": "process.env.NAME || '<v>'",
    "typescript default": "process.env.NAME ?? '<v>'",
    "java": 'private static final String NAME = "<v>";',
    "java property": 'props.put("camel", "<v>");',
    "kotlin": 'val camel: String = "<v>"',
    "go": 'camel := "<v>"',
    "go struct": 'Config{Camel: "<v>"}',
    "go setenv": 'os.Setenv("NAME", "<v>")',
    "ruby": "name = '<v>'",
    "ruby hash": ":name => '<v>'",
    "ruby fetch": "ENV.fetch('NAME', '<v>')",
    "csharp": 'var camel = "<v>";',
    "csharp verbatim": 'string camel = @"<v>";',
    "php": "$name = '<v>';",
    "php array": "'name' => '<v>',",
    "php define": "define('NAME', '<v>');",
    "rust": 'let name: &str = "<v>";',
    "swift": 'let camel = "<v>"',
    "shell default": "${NAME:-<v>}",
    "setting": "tool config set name <v>",
    "lua": "name = '<v>'",
    "perl": "my $name = '<v>';",
    "r": 'Sys.setenv(NAME = "<v>")',
    "rust owned": 'let name: String = String::from("<v>");',
    "rust struct": 'Config { name: "<v>".to_string() }',
    "rust wrapped": 'let name = Secret::new(String::from("<v>"));',
    "go bytes": 'camel := []byte("<v>")',
    "python wrapped": 'name=SecretStr("<v>")',
    "node buffer": "const camel = Buffer.from('<v>');",
    "csharp property": 'public string Camel { get; set; } = "<v>";',
    "cpp braces": 'std::string name{"<v>"};',
    "c constant": '#define NAME "<v>"',
    "make": "NAME ?= <v>",
    "dotted setting": 'System.setProperty("app.name", "<v>");',
    "git config": "git config --global app.name <v>",
    "helm": "helm install a b --set app.camel=<v>",
    "vault": "vault kv put secret/app name=<v>",
    "xml without attributes": "<name><v></name>",
    "android": '<string name="name"><v></string>',
    "android manifest": '<meta-data android:name="NAME" android:value="<v>" />',
    "gradle field": 'buildConfigField "String", "NAME", "<v>"',
    "argument list": '["tool", "--dash", "<v>"]',
    "cloud parameters": '{"ParameterKey": "Camel", "ParameterValue": "<v>"}',
    "nginx": "fastcgi_param NAME <v>;",
}
PASSWORD_SYNTAXES = {
    "setter": 'user.setPassword("<v>")',
    "builder": '.password("<v>")',
    "keyword setter": "with_password('<v>')",
    "sql create user": "CREATE USER app WITH PASSWORD '<v>';",
    "sql alter role": "ALTER ROLE app PASSWORD '<v>';",
    "sql encrypted": "CREATE ROLE app LOGIN ENCRYPTED PASSWORD '<v>'",
    "sql login": "CREATE LOGIN app WITH PASSWORD = N'<v>'",
    "sql set": "SET PASSWORD FOR 'app'@'%' = PASSWORD('<v>');",
    "sql mapping": "CREATE USER MAPPING FOR a SERVER s OPTIONS (user 'u', password '<v>');",
    "dblink": "dblink('host=db user=app password=<v> dbname=x')",
    "connection string": "Server=db;User Id=sa;Password=<v>;Encrypt=on",
    "short connection string": "Server=db;Uid=sa;Pwd=<v>;",
    "psql": "PGPASSWORD=<v> psql -h db",
    "keytool": "keytool -list -keystore a.jks -storepass <v>",
    "gpg": "gpg --batch --passphrase <v> -d a.gpg",
    "wget": "wget --user me --password <v> https://x.test",
    "wget http": "wget --http-password='<v>' https://x.test",
    "clickhouse": "clickhouse-client --password <v>",
    "redis": "redis-cli --pass <v>",
    "ansible": "ansible all -e ansible_password=<v>",
    "restic": "export RESTIC_PASSWORD=<v>",
    "netrc style": "SMTP_PASS=<v>",
    "pwd": "DB_PWD=<v>",
    "passwd": "MYSQL_PASSWD: <v>",
    "ansible become": "ansible_become_pass: <v>",
    "ansible inventory": "web1 ansible_user=me ansible_ssh_pass=<v>",
    "remote command": 'ssh web1 "DB_PASSWORD=<v> ./run"',
    "method": '.acmePassword("<v>")',
    "long setter": 'client.setAcmeDbPassword("<v>")',
    "pair": 'user, password = "me", "<v>"',
    "form": "curl -d 'user=me&pass=<v>' https://x.test",
    "spring default": "spring.datasource.password=${DB_PASS:<v>}",
    "sql secret": "CREATE SECRET s (TYPE S3, KEY_ID 'a', SECRET '<v>');",
    "sql credential": "CREATE DATABASE SCOPED CREDENTIAL c WITH IDENTITY = 'i', SECRET = '<v>';",
    "sql encryption": "CREATE MASTER KEY ENCRYPTION BY PASSWORD = '<v>';",
}
NAMES = {
    "password": ("db_password", "smtp_passwd", "admin_passphrase", "root_password"),
    "token": ("auth_token", "slack_bot_token", "refresh_token", "acme_access_token"),
    "secret": ("client_secret", "jwt_secret", "webhook_secret", "acme_secret"),
    "key": ("api_key", "secret_key", "acme_api_key", "encryption_key", "master_key", "signing_key"),
}


def written(syntax: str, name: str, value: str) -> str:
    words = name.split("_")
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    forms = {
        "NAME": name.upper(),
        "name": name,
        "dash": name.replace("_", "-"),
        "camel": camel,
        "Camel": camel[0].upper() + camel[1:],
    }
    kept = {"json pair": ('"name"', '"\0"'), "kubernetes pair": ("name:", "\0:")}.get(syntax)
    text = SYNTAXES[syntax]
    text = text.replace(*kept) if kept else text
    for form, is_called in forms.items():
        text = text.replace(form, is_called)
    return text.replace("\0", "name").replace("<v>", value)


@for_each("syntax", SYNTAXES)
@for_each("kind", NAMES)
def test_the_value_of_a_name_for_secrets_is_cut_in_every_syntax(kind: str, syntax: str) -> None:
    for name in NAMES[kind]:
        for value in PASSWORDS if kind == "password" else TOKENS:
            text = written(syntax, name, value)
            for whole in (text, f"see\n{text}\nand more", json.dumps({"text": f"a\n{text}\nb"})):
                clean = redact(whole)

                assert value not in clean, whole
                assert redact(clean) == clean


@for_each("syntax", PASSWORD_SYNTAXES)
def test_a_password_is_cut_out_of_commands_and_statements(syntax: str) -> None:
    for value in PASSWORDS:
        text = PASSWORD_SYNTAXES[syntax].replace("<v>", value)

        assert value not in redact(text)
        assert value not in redact(json.dumps({"command": f"cd a\n{text}\n"}))


# What people choose or programs make, behind a name in the syntaxes that have no quotes.
ODD_VALUES = [
    "abcd" + "1234",
    "/" + made_up(ALNUM, 43),
    made_up(ALNUM + "+/", 43) + "=",
    "-" + made_up(ALNUM, 24),
    "%" + made_up(ALNUM, 15),
    "v1." + made_up(ALNUM, 10) + "." + made_up(ALNUM, 32),
    made_up(ALNUM, 8) + "." + made_up(ALNUM, 32),
    made_up(string.ascii_letters, 32),
    made_up(string.ascii_lowercase, 24),
    "window-correct-" + "maple-staple",
    "Maple" + "7527$",
    "{" + made_up(ALNUM, 40) + ":" + made_up(HEX, 24) + "}",
]


@for_each("value", ODD_VALUES)
@for_each(
    "syntax",
    [
        "app:\n  acme_api_key: <v>\n  other: 1\n",
        "ACME_TOKEN=<v>\n",
        "acme_secret = <v>\n",
        "tool --acme-token <v> --verbose",
        "tool --acme-token=<v> run",
        "X-Acme-Api-Key: <v>\r\n",
        "<acmeToken><v></acmeToken>",
    ],
)
def test_an_odd_value_is_a_secret_in_a_syntax_without_quotes(syntax: str, value: str) -> None:
    assert value not in redact(syntax.replace("<v>", value))


@for_each(
    "syntax",
    [
        "[client]\nuser=root\npassword=<v>\n",
        "db:\n  password: <v>\n  host: x\n",
        "- admin_password: <v>\n",
        "curl -d 'user=me&password=<v>&a=1' x.test",
        "tool --password <v> --verbose",
        "--password <v>",
        "tool \\\n--token <v>\n",
        "gpg --passphrase <v>",
        "https://x.test/a?password=<v>",
        'password = "<v>"',
        "client_secret: <v>\n",
        "tool --acme-token=<v> run",
        "<acmeClientSecret><v></acmeClientSecret>",
        "SSHPASS=<v> sshpass -e ssh host",
        "export DBPASS=<v>",
    ],
)
def test_a_plain_word_is_a_password_in_settings_and_commands(syntax: str) -> None:
    word = "grape" + "fruit"

    assert word not in redact(syntax.replace("<v>", word))


@for_each("sign", ["|", "[", "<", ">", "{"])
@for_each(
    "syntax",
    ["docker run -e ACME_SECRET=<v> image", "GET /a?acme_client_secret=<v>&page=2 HTTP/1.1"],
)
def test_a_random_value_may_contain_a_bracket_or_a_pipe(syntax: str, sign: str) -> None:
    value = "a1B2" + sign + made_up(ALNUM, 40)

    clean = redact(syntax.replace("<v>", value))

    assert clean == syntax.replace("<v>", "[redacted: secret]")


@for_each(
    "text",
    [
        "def login(user, password=default_value):",
        "    password: options,",
        "password: hashed;",
        "self.password=supplied",
        "the --password option is required",
        "connect(user, password=supplied)",
        "passwd:         compat",
        "passwd: files systemd",
        "passwd: elevated-privileges 4755 root/root",
        "NAME_TOKEN: Non-zero token of a dialog",
    ],
)
def test_a_plain_word_in_a_program_or_a_sentence_is_not_a_password(text: str) -> None:
    assert redact(text) == text


@for_each(
    "text",
    [
        "fun elixir_erl_pass:translate_args/3, Match",
        'post "/create_passkey" => "users#create_passkey"',
        'post "/user-api-key" => "user_api_keys#create"',
        '    hide_password: "Ocultar"',
        '    header_secret: "Header-Anmeldedaten"',
        '.append(", hasPassword=").append(hasPassword)\n.append(", x=")',
        "tool --priv-passwd=SSH_PRIV_PASSWD",
        "git config --global user.signingkey 64CBBC8173D76B3F",
        'InitialClusterToken: "etcd-cluster",',
        'cask_token = "local-caffeine"',
        'TOKEN_TYPE_JWT_LOGOUT_TOKEN = "logout+jwt";',
        "the SSH transport password is subcommand-local.",
        "rolpassword => '_null_', rolvaliduntil => '_null_'",
        '"<a href=\\"{{ root }}/accounts/"\n"password\\">zresetować</a>."',
        '"API key": "API-sleutel",',
        "gen_ex(; cached_cred=nothing, allow_prompt=true)",
        '$this->_password="anon@ftp.com";',
        'accessKey: "Wrong-AccessID",',
        "fun getpwnam_r(__name : Char*, __pwd : Passwd*, __buf : Char*)",
        "ERROR_NULL_LM_PASSWORD                        =       1304_u32",
        "Password = Context#context.password,",
        "if (!reserver.reserve(/*with_passphrase=*/true)) {",
        '["timedatectl", "--no-ask-password", "set-timezone", zone]',
        "$password = Convertto-SecureString -String $text",
        "https://x.test/authorize?oauth_token=request_token",
        '"sha3_256_hash_of_signing_key": "af98fdf9fd9bcf1f44c424a15c54a0dd26073f26bfdb32c1"',
        "o->timing_secret = 0x0102030405060708ULL;",
        "'pp_preshared_key'    => '1.3.6.1.4.1.34380.1.1.4',",
        "    /etc/passwd: 429b225650b912a2ee067b0a4cf1e949",
        '| Pass -> "passed"',
        "sync --interactive --sftp-ask-password public/ :sftp:www/",
        "https://x.test/webhook?secret=WEBHOOKSECRET",
        "https://x.test/webhook?secret=ACME-WEBHOOK-SECRET&team=a",
        "create user 'me'@'%' identified by '&#123;me-password&#125;';",
        "<td>accesskey</td>\n<td>Base64-encoded access key for your storage.</td>",
        'PASS = "\\033[32mPASS\\033[0m"',
        "PASS           {'Column.marketplace.Completeness': 1.0}",
        "@param array{name: string, password: ?string, age: int}",
        "'password' => 'required|min:6',",
        "'password'  => 'min:6|required_with:password_confirm',",
        'with(query: {"access_token" => "app_id|app_secret"})',
        "# if using a password: HOST:PORT:DATABASE:PASSWORD",
        "DB_PASSWORD=database_user_password",
        "'users_password' => 'Brugeradgangskode',",
        "oninput:e=>{e.target.value?n.record.password=e.target.value:delete n.record.password}",
        "return a[`Auth with password`]=e.passwordAuth?.enabled?async e=>{}",
        'r.password===""?r.password=r.url.password:r.url.password=r.password}let',
        'npmAuthToken "ffffffff-ffff-ffff-ffff-ffffffffffff"',
        'SESSION_KEY="_Acme_Shop_Session"',
        'include("reset_password_token=resettoken")',
        '// Use "?ApiKey=" as seen in other parts of the code',
        'n+o+"apiKey="+encodeURIComponent(r)),i,!1).then(function(t){return t+"error"})',
        "RUN ACME_SECRET_KEY=build-time-dummy ./build",
        'extendToken = "acme:session-cookie:\\(cookieName)"',
        'extendToken = "acme:last-session-cookie"',
        "    ownPass: !!ownPass,",
        "declare function isCommaToken(token: Token): token is CommaToken$1;",
        "    * - `url-token`: `url('./icon.png')`",
        'lastSignificantToken = "?InterpolationInJSX";',
        'secret_key: "Optional[str]" = None,',
        "the quoted token is **removed** from it",
        'common["X-CSRF-TOKEN"]=meta.content),no.use(x),window.path="/"+location.path',
        "  - serviceKey: 'DemoService:1.0.0'",
        "let tenant_token = hashmap! {",
        "form.reset('password', 'password_confirmation');",
        "generated_token = SHA512Base64PBKDF2PasswordHasher().encode(x)",
        '@override_settings(RSA_PRIVATE_KEY="WRONG-FORMAT")',
        'App(app=app, auth_token=f"auth_token-{app.name}-{i}")',
        "load(auth_token=raw_token2, x=1)",
        "orders[0].checkout_token = ch_token_1",
        "Event.ACCOUNT_SET_STAFF_PASSWORD: send_set_staff_password_email,",
        'NewRequest("GET", "/api/sse?token="+token, nil)\nuse("a")',
        '"smtp-password": "SMTP-wachtwoord",',
        'metadata = {"private_key1": "private_value_1"}',
        "{ name: 'ACME_OPEN_AI_API_KEY', value: 'test-key' }",
        "  removeFieldWithToken: procedure\n    .input(x)",
        "  SNKFILE_SECRET: #SecretDatabase.kdbx / acme.snk",
        "ALTER USER <DB_USERNAME> WITH ENCRYPTED PASSWORD 'newpasswordhere';",
        "* **Login and password reset**",
        "Default username and password for admin are: `admin@example.com` and another.",
        "DB_URL='postgresql://acmeusername:acmepassword@db.test:5432/acme'",
        "cookie: 'acme_maintenance_token=invalid-jwt',",
        'verify(service).checkUserPassword("userId");',
        '{"encryptKey":"MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBALa36JRlLS4WVUqXeS6AF2xlvUZeJg"}',
        '<Header title="Set password" description="Create one." />',
        'INVALID_ADMIN_PASSWORD = "5165",',
        '"targetClassToken": "Symbol(token)",',
        'let pwd = "linked_current_dir2";',
        'grant_type: password ? "password" : "session",',
        '"wifi_password": "EB6B",',
        'ACME_DATABASE_PASSWORD: "_admin_password_"',
        "'password' => $request->input('password'), 'activated' => 1]",
        "'password' => 'required|notIn:[\"'.$user->email.'\"]'",
        '"acme/laravel-password": "^1.0",',
        "APP_KEY=Change_this_key_or_someone_will_take_it",
        "SECRET_KEY_BASE: generate-with-openssl-rand-hex-64",
        "'personal_access_token' => 'crwdns12312:0crwdne12312:0',",
        "'email_credentials' => 'E-mailgegevens',",
        "(a live pass: `Pricing::Context.from_order` never ran)",
        "**No password is set.** A welcome",
        "# credentials: POST /api/v3/webhooks/orders/:integration_id",
        "create!(id: 1, encrypted_password: 'alice_digest')",
        "currentPassword: 'label.current-password',",
        '<Tabs.Trigger value="password">Settings</Tabs.Trigger>',
        "<source>label.password</source>\n<target>Парола</target>",
        't+="  access-token: "+e.accessToken+"\\n":(t+="  ca: "+e.path',
        "X509ClientCredential x509ClientCredentials = (X509ClientCredential) credentials;",
        "for (LwM2MCredential credential : lwM2MBootstrapServersConfigurations) {",
        "bootstrapCredentials = getBootstrapClientCredentialsX509(certificate, key);",
        "fieldErrors = { currentPassword: 'ra.validation.required' }",
        "ok ? 'admin.oauth2.update-access-token' : 'admin.oauth2.generate-access-token'",
        '{defaultToken : "string.attribute-value.xml"}',
        '"password": "MQTT-adgangskode"',
        '"lwm2m-server-secret-key": "LwM2M-Server-Geheimschlüssel",',
        '--client-secret "$($info.clientSecret)"',
        'password = "@env:AC_PASSWORD"',
        '"(ApiKey:\\")[\\w]*",',
        "'set-cookie': 'from1=astro1',",
        "'mail_password' => 'required_unless:mail_driver,log',",
        "const token = '%[a-f0-9]{2}';",
    ],
)
def test_code_and_labels_behind_a_name_for_secrets_stay(text: str) -> None:
    assert redact(text) == text


@for_each(
    "text",
    [
        'show_password: "<v>"',
        "password: <v>, external_id: ?string",
        "DB_PASSWORD=<v>",
        "n.record.password='<v>'",
        "the token is <v>",
        'common["X-CSRF-TOKEN"]="<v>"',
        "orders[0].checkout_token = <v>",
        'user.setPassword("<v>")',
        'INVALID_PASSWORD = "<v>"',
        'mode ? "password" : password = "<v>"',
        "x = eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.<v>=",
        "removeFieldWithToken = '<v>'",
        '"smtp-password": "<v>"',
        "https://x.test/?apiKey=<v>",
        '"password" => "<v>"',
        'acme_token = "<v>"',
        "my password is <v>",
        "--signing-key <v>",
    ],
)
def test_a_random_value_in_the_place_of_such_code_is_cut(text: str) -> None:
    value = made_up(ALNUM, 24)

    assert value not in redact(text.replace("<v>", value))


SENTENCES = [
    "the db password=<v>",
    "the db password=<v>, and the host is x.test",
    "password: <v>",
    "my password is <v>",
    "My Password Is <v>",
    'the password is "<v>"',
    "the password is '<v>'.",
    "the password is `<v>`",
    "the password was <v>, please change it",
    "password is: <v>",
    "pwd: <v>",
    "passwort: <v>",
    "das Passwort ist <v>",
    "passcode is <v>",
]
CHOSEN = [
    "hunter2" + "secret",
    "Hunter2" + "Secret",
    "blue42" + "fish",
    "Winter" + "2024",
    "hunt" + "er2",
    "tr0ub" + "4dor",
]


@for_each("sentence", SENTENCES)
@for_each("value", CHOSEN)
def test_a_password_in_a_sentence_is_cut(sentence: str, value: str) -> None:
    before, _, after = sentence.partition("<v>")

    assert redact(before + value + after) == f"{before}[redacted: password]{after}"


def test_a_password_with_underscores_in_a_sentence_is_cut() -> None:
    assert redact("my password is hunter_2_" + "secret") == "my password is [redacted: password]"


def test_a_password_in_a_sentence_is_cut_with_all_its_marks() -> None:
    assert redact("the password is tr0ub" + "4dor&3") == "the password is [redacted: password]"


@for_each("sentence", ["my secret is <v>", "secret: <v>", "the token is <v>"])
@for_each("value", ["s3cr3t" + "value", "hunter2" + "xyz", "abcd1234" + "efgh5678"])
def test_a_secret_in_a_sentence_is_cut(sentence: str, value: str) -> None:
    assert value not in redact(sentence.replace("<v>", value))


@for_each(
    "text",
    [
        "password is required",
        "password: string",
        "password=None",
        "password is 8 characters long",
        "the password is 12-digit",
        "the password is stored in env var DB_PASS1",
        "the password is DB_PASS1",
        "the password is $DB_PASS1",
        "the password is base64-encoded",
        "the password is sha256-hashed",
        "the password is case-sensitive",
        "the password: ./secrets/db1",
        "password = oauth2token",
        "password = user1Password,",
        "password=args.password2",
        "password is field2",
        "the password is step-3-value",
        "the token is invalid",
        "the token is oauth2",
        "the token is token1",
        "then the token is verified!",
        "printf(&quot;Password is correct.&quot;);",
        "the token is step2-dependent",
        "secret: my-secret-2",
        "secret: tls-cert-v1",
        "secret: db.password1",
    ],
)
def test_what_a_sentence_says_about_a_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_the_first_of_two_values_is_not_the_password() -> None:
    text = 'user, password = "coyote", "' + "hunter" + '22"'

    assert redact(text) == 'user, password = "coyote", "[redacted: password]"'


BEHIND_A_KEY = [
    "config:\n  acme_token: <v>\n",
    "ACME_TOKEN=<v>\n",
    "tool --acme-token <v> --verbose",
]


@for_each("bracket", "[{(<>")
@for_each("syntax", BEHIND_A_KEY)
def test_a_random_value_may_hold_a_bracket(syntax: str, bracket: str) -> None:
    value = made_up(ALNUM, 14) + bracket + made_up(ALNUM, 26)

    assert redact(syntax.replace("<v>", value)) == syntax.replace("<v>", "[redacted: token]")


@for_each("call", ["make_token(user, 12)", "tokens[index]", "Token{id: 1}"])
def test_a_call_behind_a_key_is_not_a_value(call: str) -> None:
    assert redact(f"acme_token: {call}\n") == f"acme_token: {call}\n"


@for_each("value", ["{auths: {x: {auth: " + made_up(ALNUM, 32) + "}}}", "V1 " + made_up(ALNUM, 40)])
def test_a_quoted_object_or_phrase_with_a_random_part_is_a_secret(value: str) -> None:
    assert redact(f'acme_secret = "{value}"') == 'acme_secret = "[redacted: secret]"'


@for_each(
    "text",
    [
        'access_token = "sdlfkj452"',
        "refresh_token=askfjh234as9sd8",
        'smtp.password = "doesnotexist"',
        'password = "geheim$parole"',
        "password: sekrit",
        "password:yh^%#rest-of-my-password",
        'password = "generatedwebdavpassword1"',
        'auth_token = "deadbeefcafebad"',
        "JSESSIONID_TOKEN=ABCDERANDOM123",
        '"access_token":"2YotnFZFEjr1zCsicMWpAA"',
        "Authorization: Bearer mF_9.B5f-4.1JqM",
        '"clientRequestToken": "1d2129a1-3d38-460a-9756-e5b91fddb951"',
        '"clientToken": "a1b2c3d4-5678-90ab-cdef-0123456789ab"',
        "https://img.shields.io/codecov/c/github/ada/shop?token=o2KN5GrPsY&style=flat",
        '"NextToken": "eyJDcmVhdGlvbkRhdGUi' + "OiIyMDE5LTA3LTE2VDE0OjM4" * 5 + '"',
    ],
)
def test_a_specimen_of_a_manual_stays(text: str) -> None:
    assert redact(text) == text


@for_each(
    "text",
    [
        'access_token = "<v>"',
        "oauth_token=<v>&a=1",
        '"clientToken": "<v>"',
        "https://x.test/shop?token=<v>&style=flat",
        "Authorization: Bearer <v>",
    ],
)
def test_a_random_value_in_the_place_of_a_specimen_is_cut(text: str) -> None:
    value = made_up(string.ascii_lowercase + string.digits, 24)

    assert value not in redact(text.replace("<v>", value))


@for_each("syntax", ['smtp_password = "<v>"', "app_password: '<v>'", 'APP_TOKEN="<v>"'])
@for_each("count", (4, 6))
def test_a_password_in_groups_of_four_is_cut(syntax: str, count: int) -> None:
    value = " ".join(made_up(ALNUM, 4 * count)[at : at + 4] for at in range(0, 4 * count, 4))

    assert value not in redact(syntax.replace("<v>", value))
