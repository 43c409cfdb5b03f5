"""Made-up secrets of the right shape, the places they stand in, and what is no secret."""

import base64
import hashlib
import json
import random
import string
import uuid

HEX = "0123456789abcdef"
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "_-"


def made_up(alphabet: str, length: int) -> str:
    """Made anew here, so that no secret, not even a false one, is written in this file."""
    return "".join(random.Random(f"{alphabet}{length}").choices(alphabet, k=length))  # noqa: S311


def uuid_like() -> str:
    return str(uuid.UUID(made_up(HEX, 32)))


def jwt() -> str:
    def part(value: dict[str, str]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head = part({"alg": "HS256", "typ": "JWT", "kid": made_up(HEX, 40)})
    return f"{head}.{part({'sub': '1234567890', 'name': 'Somebody'})}.{made_up(URLSAFE, 43)}"


def pem(label: str = "RSA PRIVATE KEY", lines: int = 8, end: str = "\n") -> str:
    body = made_up(ALNUM + "+/", 64 * lines + 20)
    rows = [body[at : at + 64] for at in range(0, len(body), 64)]
    return end.join([f"-----BEGIN {label}-----", *rows, f"-----END {label}-----"])


SHAPES: dict[str, tuple[str, str]] = {
    "aws": ("aws access key", "AKIA" + made_up(UPPER, 16)),
    "aws temporary": ("aws access key", "ASIA" + made_up(UPPER, 16)),
    "aws marketplace": ("aws key", "amzn.mws." + uuid_like()),
    "google": ("google key", "AIza" + made_up(URLSAFE, 35)),
    "google oauth": ("google key", "ya29." + made_up(URLSAFE, 60)),
    "google client secret": ("google key", "GOCSPX-" + made_up(URLSAFE, 28)),
    "google refresh": ("google key", "0" + made_up(URLSAFE, 40)),
    "azure secret": ("azure secret", made_up(ALNUM, 3) + "8Q~" + made_up(ALNUM, 34)),
    "azure devops": ("azure key", made_up(ALNUM, 76) + "AZDO" + made_up(ALNUM, 4)),
    "azure ai": ("azure key", made_up(ALNUM, 52) + "JQQJ99" + made_up(ALNUM, 27)),
    "alibaba": ("alibaba key", "LTAI" + made_up(ALNUM, 20)),
    "digitalocean": ("digitalocean token", "dop_v1_" + made_up(HEX, 64)),
    "heroku": ("heroku key", "HRKU-AA" + made_up(URLSAFE, 58)),
    "cloudflare": ("cloudflare key", f"v1.0-{made_up(HEX, 24)}-{made_up(HEX, 146)}"),
    "databricks": ("databricks token", "dapi" + made_up(HEX, 32)),
    "vault": ("vault token", "hvs." + made_up(URLSAFE, 90)),
    "terraform": ("terraform token", made_up(ALNUM, 14) + ".atlasv1." + made_up(URLSAFE, 64)),
    "supabase": ("supabase key", "sbp_" + made_up(HEX, 40)),
    "supabase secret": ("supabase key", "sb_secret_" + made_up(URLSAFE, 31)),
    "vercel": ("vercel token", "vcp_" + made_up(ALNUM, 56)),
    "netlify": ("netlify token", "nfp_" + made_up(ALNUM, 40)),
    "fly": ("fly token", "fm2_" + made_up(ALNUM, 90)),
    "render": ("render key", "rnd_" + made_up(ALNUM, 32)),
    "planetscale": ("planetscale token", "pscale_tkn_" + made_up(ALNUM, 43)),
    "pulumi": ("pulumi token", "pul-" + made_up(HEX, 40)),
    "doppler": ("doppler token", "dp.pt." + made_up(ALNUM, 43)),
    "tailscale": ("tailscale key", "tskey-auth-" + made_up(ALNUM, 16)),
    "age": ("age key", "AGE-SECRET-KEY-1" + made_up(UPPER, 58)),
    "github": ("github token", "ghp_" + made_up(ALNUM, 36)),
    "github app": ("github token", "ghs_" + made_up(ALNUM, 36)),
    "github fine-grained": (
        "github token",
        f"github_pat_{made_up(ALNUM, 22)}_{made_up(ALNUM, 59)}",
    ),
    "gitlab": ("gitlab token", "glpat-" + made_up(URLSAFE, 20)),
    "gitlab runner": ("gitlab token", "glrt-" + made_up(URLSAFE, 20)),
    "gitlab old runner": ("gitlab token", "GR1348941" + made_up(URLSAFE, 20)),
    "bitbucket": ("bitbucket token", "ATBB" + made_up(ALNUM, 32)),
    "atlassian": ("atlassian token", "ATATT3xFfGF0" + made_up(URLSAFE, 180)),
    "npm": ("npm token", "npm_" + made_up(ALNUM, 36)),
    "pypi": ("pypi token", "pypi-AgEIcHlwaS5vcmc" + made_up(URLSAFE, 150)),
    "rubygems": ("rubygems key", "rubygems_" + made_up(HEX, 48)),
    "nuget": ("nuget key", "oy2" + made_up(LOWER, 43)),
    "docker": ("docker token", "dckr_pat_" + made_up(URLSAFE, 27)),
    "artifactory": ("artifactory token", "AKCp8" + made_up(ALNUM, 68)),
    "circleci": ("circleci token", f"CCIPAT_{made_up(ALNUM, 22)}_{made_up(HEX, 40)}"),
    "anthropic": ("anthropic key", "sk-ant-api03-" + made_up(URLSAFE, 95)),
    "anthropic login": ("anthropic key", "sk-ant-oat01-" + made_up(URLSAFE, 95)),
    "openai": ("openai key", "sk-" + made_up(ALNUM, 48)),
    "openai project": ("openai key", "sk-proj-" + made_up(URLSAFE, 120)),
    "openrouter": ("openrouter key", "sk-or-v1-" + made_up(HEX, 64)),
    "huggingface": ("huggingface token", "hf_" + made_up(ALNUM, 34)),
    "groq": ("groq key", "gsk_" + made_up(ALNUM, 52)),
    "xai": ("xai key", "xai-" + made_up(ALNUM, 80)),
    "perplexity": ("perplexity key", "pplx-" + made_up(ALNUM, 48)),
    "replicate": ("replicate token", "r8_" + made_up(ALNUM, 37)),
    "langsmith": ("langsmith key", f"lsv2_pt_{made_up(HEX, 32)}_{made_up(HEX, 10)}"),
    "slack bot": ("slack token", f"xoxb-{made_up('123456789', 12)}-{made_up(ALNUM, 24)}"),
    "slack app": ("slack token", f"xapp-1-A0{made_up(UPPER, 9)}-{made_up(HEX, 64)}"),
    "discord": (
        "discord token",
        f"MTE3{made_up(ALNUM, 21)}.{made_up(ALNUM, 6)}.{made_up(URLSAFE, 38)}",
    ),
    "telegram": ("telegram token", "AA" + made_up(URLSAFE, 33)),
    "twilio": ("twilio key", "SK" + made_up(HEX, 32)),
    "sendgrid": ("sendgrid key", f"SG.{made_up(URLSAFE, 22)}.{made_up(URLSAFE, 43)}"),
    "mailgun": ("mailgun key", "key-" + made_up(HEX, 32)),
    "mailchimp": ("mailchimp key", made_up(HEX, 32) + "-us12"),
    "brevo": ("brevo key", f"xkeysib-{made_up(HEX, 64)}-{made_up(ALNUM, 16)}"),
    "stripe": ("stripe key", "sk_live_" + made_up(ALNUM, 24)),
    "stripe restricted": ("stripe key", "rk_test_" + made_up(ALNUM, 99)),
    "stripe webhook": ("webhook secret", "whsec_" + made_up(ALNUM, 32)),
    "square": ("square token", "sq0csp-" + made_up(URLSAFE, 43)),
    "square access": ("square token", "EAAA" + made_up(URLSAFE, 60)),
    "braintree": (
        "braintree token",
        f"access_token$production${made_up(LOWER, 16)}${made_up(HEX, 32)}",
    ),
    "shopify": ("shopify token", "shpat_" + made_up(HEX, 32)),
    "newrelic": ("newrelic key", "NRAK-" + made_up(UPPER, 27)),
    "newrelic license": ("newrelic key", made_up(HEX, 36) + "NRAL"),
    "sentry": ("sentry token", "sntrys_eyJpYXQi" + made_up(ALNUM, 90)),
    "grafana": ("grafana token", f"glsa_{made_up(ALNUM, 32)}_{made_up(HEX, 8)}"),
    "linear": ("linear key", "lin_api_" + made_up(ALNUM, 40)),
    "notion": ("notion token", "ntn_" + made_up(ALNUM, 46)),
    "notion old": ("notion token", "secret_" + made_up(ALNUM, 43)),
    "airtable": ("airtable token", f"pat{made_up(ALNUM, 14)}.{made_up(HEX, 64)}"),
    "figma": ("figma token", "figd_" + made_up(URLSAFE, 40)),
    "postman": ("postman key", f"PMAK-{made_up(HEX, 24)}-{made_up(HEX, 34)}"),
    "jwt": ("jwt", jwt()),
    "bcrypt": ("password hash", made_up(ALNUM + ".", 53)),
    "private key": ("private key", pem()),
    "openssh key": ("private key", pem("OPENSSH PRIVATE KEY")),
    "plain key": ("private key", pem("PRIVATE KEY")),
    "pgp key": ("private key", pem("PGP PRIVATE KEY BLOCK")),
}
# A few shapes are part of something longer, the rest of which stays.
BEFORE = {"google refresh": "1//", "telegram": "123456789:", "bcrypt": "$2b$12$"}

SECRET = made_up(ALNUM, 40)
STORAGE_KEY = made_up(ALNUM + "+/", 86) + "=="
LOGIN = base64.b64encode(b"me:secr3tPass").decode()
SLACK_HOOK = f"services/T{made_up(UPPER, 8)}/B{made_up(UPPER, 8)}/{made_up(ALNUM, 24)}"
DISCORD_HOOK = f"{made_up('123456789', 18)}/{made_up(URLSAFE, 68)}"
SIGNATURE = made_up(ALNUM, 43) + "%3D"
PASSWORD = "correct" + "Horse!" + "7"
PLACES: dict[str, tuple[str, str, str]] = {
    "environment password": ("password", "DB_PASSWORD={}", PASSWORD),
    "short password": ("password", "SMTP_PASS={}", PASSWORD),
    "quoted pass": ("password", '{{"user": "me", "pass": "{}"}}', PASSWORD),
    "plain digits and letters": ("key", "X-Api-Key: {}", "abcdef" + "123456"),
    "token as url user": ("password in url", "https://x-access-token:{}@git.test/a", SECRET),
    "sentry": ("token in url", "https://{}@o1.ingest.sentry.test/2", made_up(HEX, 32)),
    "exported key": ("key", "export DATADOG_API_KEY={}", made_up(HEX, 32)),
    "exported and quoted": ("token", "export HEROKU_TOKEN='{}'", uuid_like()),
    "vercel token by name": ("token", "VERCEL_TOKEN={}", made_up(ALNUM, 24)),
    "cloudflare token by name": ("token", "CLOUDFLARE_API_TOKEN={}", made_up(URLSAFE, 40)),
    "aws secret": ("secret", "aws_secret_access_key = {}", made_up(ALNUM + "+/", 40)),
    "json password": ("password", '"password": "{}"', PASSWORD),
    "json with quotes in it": ("password", '{{"password":"{}","a":1}}', PASSWORD),
    "json api key": ("key", '"apiKey": "{}"', made_up(HEX, 32)),
    "json client secret": ("secret", '"client_secret": "{}"', made_up(ALNUM, 24)),
    "yaml password": ("password", "  password: {}", PASSWORD),
    "python assignment": ("password", "password = '{}'", "hunter" + "two"),
    "annotated assignment": ("token", "auth_token: str = '{}'", made_up(ALNUM, 30)),
    "go literal": ("key", "cfg.APIKey := '{}'", made_up(HEX, 32)),
    "subscript": ("password", "os.environ['PGPASSWORD'] = '{}'", PASSWORD),
    "kubernetes pair": ("password", "name: DB_PASSWORD\n  value: {}", PASSWORD),
    "xml": ("password", "<password>{}</password>", PASSWORD),
    "command option": ("password", "deploy --password {} --verbose", PASSWORD),
    "command option with equals": ("token", "deploy --token={} -v", made_up(ALNUM, 32)),
    "query": ("token", "https://x.test/a?access_token={}&page=2", made_up(ALNUM, 32)),
    "spoken password": ("password", "the password is {} for now", "hunter" + "2"),
    "connection string": ("password", "Server=db;User Id=sa;Password={};Encrypt=on", "letmein"),
    "libpq": ("password", "host=db user=me password={} dbname=x", PASSWORD),
    "azure storage": ("key", "AccountName=a;AccountKey={};E=1", STORAGE_KEY),
    "bearer": ("authorization", "Authorization: Bearer {}", SECRET),
    "basic": ("authorization", "Authorization: Basic {}", "dXNlcjpw" + "YXNzd29yZA=="),
    "token header": ("authorization", "authorization: token {}", SECRET),
    "raw authorization": ("authorization", "Authorization: {}", SECRET),
    "lone bearer": ("authorization", "sent Bearer {} along", SECRET),
    "api key header": ("key", "X-Api-Key: {}", SECRET),
    "gitlab header": ("token", "PRIVATE-TOKEN: {}", SECRET),
    "cookie": ("cookie", "Cookie: {}", "session=" + SECRET + "; theme=dark"),
    "set-cookie": ("cookie", "Set-Cookie: sid={}; Path=/; HttpOnly", SECRET),
    "url password": ("password in url", "postgres://app:{}@db.test:5432/app", PASSWORD),
    "url token": ("token in url", "https://{}@git.test/a/b.git", made_up(ALNUM, 40)),
    "curl user": ("password", "curl -s -u admin:{} https://x.test", PASSWORD),
    "curl user quoted": ("password", "curl --user 'admin:{}' https://x.test", PASSWORD),
    "sshpass": ("password", "sshpass -p {} ssh host", PASSWORD),
    "mysql": ("password", "mysql -h db -u root -p{} app", PASSWORD),
    "netrc": ("password", "machine x.test login me password {}", PASSWORD),
    "netrc lines": ("password", "machine x.test\n  login me\n  password {}", PASSWORD),
    "pgpass": ("password", "db.test:5432:app:me:{}", PASSWORD),
    "docker config": ("docker login", '"auths": {{"x": {{"auth": "{}"}}}}', LOGIN),
    "npmrc": ("token", "//registry.test/:_authToken={}", uuid_like()),
    "slack webhook": ("slack webhook", "https://hooks.slack.com/{}", SLACK_HOOK),
    "discord webhook": ("discord webhook", "https://discord.com/api/webhooks/{}", DISCORD_HOOK),
    "azure signature": ("azure signature", "https://x.test/b?sv=2022&sig={}", SIGNATURE),
    "vault unseal": ("vault unseal key", "Unseal Key 1: {}", made_up(ALNUM + "+/", 44)),
}  # fmt: skip


STAYS = [
    "commit " + hashlib.sha1(b"x").hexdigest(),  # noqa: S324
    "index 3f2a1bc..9d8e7f6 100644",
    "session " + uuid_like(),
    "sha256:" + hashlib.sha256(b"x").hexdigest(),
    '"integrity": "sha512-' + base64.b64encode(hashlib.sha512(b"x").digest()).decode() + '"',
    "pkg==1.0 --hash=sha256:" + hashlib.sha256(b"y").hexdigest(),
    "data:image/png;base64," + base64.b64encode(random.Random(1).randbytes(6000)).decode(),  # noqa: S311
    "/home/me/projects/token-service/secrets/keys/password_reset.py:12",
    "src/auth/token.ts(4,7): error TS2322",
    "C:\\Users\\me\\secret\\token=x",
    "SSH_AUTH_SOCK=/run/user/1000/keyring/ssh",
    "PWD=/home/me/project OLDPWD=/home/me",
    "PASSWORD_FILE=/run/secrets/db",
    "TOKEN_URL=https://x.test/oauth/token",
    "API_KEY=YOUR_API_KEY",
    "API_KEY=your-api-key-here",
    "api_key: xxx",
    "API_KEY=xxxxxxxxxxxxxxxx",
    "token: ${TOKEN}",
    "TOKEN=$TOKEN npm publish",
    'TOKEN="$(gh auth token)"',
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "Authorization: Bearer <token>",
    "Authorization: Bearer ${token}",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer YOUR_ACCESS_TOKEN",
    "const token = process.env.GITHUB_TOKEN;",
    'token = os.environ["GITHUB_TOKEN"]',
    'password = os.getenv("DB_PASSWORD")',
    "password=***",
    "DB_PASSWORD=********",
    "postgres://user:${DB_PASSWORD}@db/app",
    "postgres://user:password@localhost/app",
    "https://x.test:8080/@scope/name",
    "git@github.com:me/repo.git",
    "ssh://git@x.test:22/repo.git",
    "def login(user: str, password: str) -> Token:",
    "interface Login { password: string; token: string | null }",
    "let token: Option<String> = None;",
    "token = get_token()",
    "password = request.form['password']",
    "token = self.session.token",
    "this.token = token2",
    "password=password, token=token, secret=secret",
    "secret: config.jwtSecret,",
    '"max_tokens": 4096, "input_tokens": 18234, "output_tokens": 512',
    "maxTokens=200000 tokens: 1234567890",
    '"nextPageToken": "CAEQAA3x9Zk2LmQ8"',
    '<input type="password" name="password" id="password" placeholder="Password">',
    '"password": "Enter your password"',
    '"password": "string"',
    "password: required",
    "pass: 12 fail: 0",
    '"fs-minipass": "^3.0.0"',
    "GIT_ASKPASS: 'echo'",
    "PASS: TestLogin123Redirect (0.01s)",
    "pass=10000 fail=2",
    "The token is invalid or the password is wrong.",
    "the password is base64 encoded",
    "secretName: db-credentials",
    '"token": "color-blue-500"',
    "primary_key=user_id cache_key=abc123def456",
    "key: value, keyboard: querty123456",
    'api_key="OPENAI_API_KEY"',
    'credentials: "same-origin"',
    "-----BEGIN PRIVATE KEY----- is what the line must say",
    "-----BEGIN CERTIFICATE-----\nMIIB" + made_up(ALNUM, 60) + "\n-----END CERTIFICATE-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA" + made_up(ALNUM, 44) + " me@host",
    "task-runner-with-a-very-long-name disk-usage-report-of-today risk-assessment",
    "test_a_long_name_of_a_test_that_says_what_it_checks_and_why",
    "pk_live_is_public NEXT_PUBLIC_KEY",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-ant-api03-your-key-here-and-nothing-else",
    "sk-...",
    "curl -u $USER:$PASS https://x.test",
    "docker run -u 1000:1000 image",
    "git push -u origin main:main",
    "Set-Cookie and Cookie: see the manual",
    "cookie: Cookie",
    "mysql -p -u root",
    "machine learning login page password reset",
    "[REDACTED]",
    "DB_PASSWORD=REDACTED",
]
