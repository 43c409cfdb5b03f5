import io
import os
import random
import string
from pathlib import Path

import pytest

from cli.runs import Cli
from leftoff.context import find_project
from leftoff.knowledge import features
from leftoff.redact import secret_files
from leftoff.snapshots.shelf import find_snapshot, list_snapshots
from leftoff.store import Store
from rows import for_each
from ship.hub import Hub
from ship.shop import Shop

_CHANCE = random.Random(7)  # noqa: S311 - made up, no secret


def made_up(length: int, letters: str = string.ascii_letters + string.digits) -> str:
    return "".join(_CHANCE.choices(letters, k=length))


TOKEN = f"ghp_{made_up(36)}"
KEY_LINES = "\n".join(made_up(64) for _ in range(6))
PEM = f"-----BEGIN PRIVATE KEY-----\n{KEY_LINES}\n-----END PRIVATE KEY-----\n"
CERTIFICATE = f"-----BEGIN CERTIFICATE-----\n{KEY_LINES}\n-----END CERTIFICATE-----\n"
AWS = f"AKIA{made_up(16, string.ascii_uppercase + '234567')}"
SLACK = f"xoxb-{made_up(12, string.digits)}-{made_up(12, string.digits)}-{made_up(24)}"
STRIPE = f"sk_live_{made_up(24)}"
PASSWORD = made_up(20)

# Where a secret may hide: in files known by their names, and in files like any other.
PLANTED: dict[str, bytes] = {
    ".env": f"SECRET={PASSWORD}\n".encode(),
    ".env.production": PASSWORD.encode(),
    "config/prod.env": PASSWORD.encode(),
    "deploy/id_ed25519": KEY_LINES.encode(),
    "server.key": KEY_LINES.encode(),
    "tls.pem": PEM.encode(),
    "app.p12": b"\x30\x82" + PASSWORD.encode(),
    ".netrc": f"machine x login y password {PASSWORD}\n".encode(),
    ".aws/credentials": PASSWORD.encode(),
    "credentials.json": f'{{"x": "{PASSWORD}"}}'.encode(),
    "secrets.yaml": f"a: {PASSWORD}\n".encode(),
    "infra.tfstate": PASSWORD.encode(),
    "short.txt": f"-----BEGIN PRIVATE KEY-----\n{PASSWORD}\n-----END PRIVATE KEY-----\n".encode(),
    "notes.md": f"# Keys\n\n{PEM}".encode(),
    "settings.py": f'AWS_ACCESS_KEY_ID = "{AWS}"\n'.encode(),
    "ci.yaml": f"token: {TOKEN}\n".encode(),
    "bot.json": f'{{"slack": "{SLACK}"}}\n'.encode(),
    "pay.ts": f'const stripe = new Stripe("{STRIPE}");\n'.encode(),
    "run.sh": f"export DB_PASSWORD={PASSWORD}\n".encode(),
    "db.toml": f'url = "postgres://app:{PASSWORD}@db.test/app"\n'.encode(),
    "windows.txt": f"token {TOKEN}\r\n".encode("utf-16"),
    "image.bin": b"\x00\x01\x02" * 50 + TOKEN.encode() + b"\x00",
    "big.log": b"x = 1\n" * 800_000 + f"token={TOKEN}\n".encode() + b"y = 2\n" * 1000,
    f"{TOKEN}.txt": b"nothing\n",
}
SECRETS = [TOKEN, KEY_LINES[:64], AWS, SLACK, STRIPE, PASSWORD]


def plant(shop: Shop, path: str, data: bytes) -> None:
    place = shop.folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


@pytest.mark.accept(141)
def test_a_secret_in_whatever_shape_reaches_no_object_no_store_and_no_pull_request(
    shop: Shop, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D24: names and contents show what is a secret; nobody has to notice it while staging."""
    hub = Hub(tmp_path / "github")
    hub.install(monkeypatch)
    for path, data in PLANTED.items():
        plant(shop, path, data)
    shop.write("app.py", "print('csv')\n")
    store = Store(find_project(shop.folder))
    features.add(store, features.ItemDraft(name=f"Export with {TOKEN}"))
    features.start(store, "1")
    arguments = ["--done", f"Logged in with {TOKEN}", "--decision", f"Use {STRIPE} :: it works"]
    cli.ok("save", "csv", "--summary", f"Export with {SLACK}", "--next", f"Try {AWS}", *arguments)

    answer = cli.json("ship", "-m", f"Export orders\n\nThe key is {TOKEN}")

    named = [each["path"] for each in answer["left_out"]]
    assert len(named) == len(PLANTED)
    assert set(PLANTED) - set(named) == {f"{TOKEN}.txt"}
    assert shop.committed() == {"app.py"}
    objects = shop.git("cat-file", "--batch-all-objects", "--batch", "--unordered")
    own = shop.folder / ".git" / "leftoff"
    # Snapshots keep uncommitted code as it is, whatever it contains, so that it can come back.
    code = own / "snapshots" / "objects.git" / "objects"
    files = [each for each in _files(own) if code not in each.parents]
    kept = b"".join(path.read_bytes() for path in files)
    github = b"".join(path.read_bytes() for path in _files(hub.folder))
    for secret in SECRETS:
        assert secret not in objects
        assert secret.encode() not in kept
        assert secret.encode() not in github
        assert secret not in str(answer)
    in_snapshots = _read_snapshots(shop)
    assert "app.py" in in_snapshots
    for path, data in PLANTED.items():
        is_named = secret_files.why_by_name(path) is not None
        assert (path in in_snapshots, data in in_snapshots.values()) == (not is_named,) * 2


def _read_snapshots(shop: Shop) -> dict[str, bytes]:
    project = find_project(shop.folder)
    found = [find_snapshot(project, each.id) for _, each in list_snapshots(project)]
    return {
        entry.path: data
        for stored in found
        if stored is not None
        for entry, data in stored.read(stored.content.work)
    }


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_file_that_already_held_a_secret_may_be_changed_but_not_get_another(
    shop: Shop, cli: Cli
) -> None:
    shop.commit("A fixture", {"fixture.py": f'KEY = "{TOKEN}"\n'})
    shop.write("fixture.py", f'KEY = "{TOKEN}"\nMORE = 1\n')
    assert cli.json("ship", "--no-pr", "-m", "More")["left_out"] == []
    shop.write("fixture.py", f'KEY = "{TOKEN}"\nMORE = "{SLACK}"\n')

    (left_out,) = cli.json("ship", "--no-pr", "-m", "Even more")["left_out"]

    assert left_out["path"] == "fixture.py"
    assert left_out["why"].startswith("it contains a secret (slack")


def test_what_the_user_says_is_not_a_secret_is_committed(shop: Shop, cli: Cli) -> None:
    cli.ok("config", "set", "not_secret", "tests/keys/*, .env.test")
    shop.write("tests/keys/server.key", PEM)
    shop.write(".env.test", "X=1\n")
    shop.write(".env", "X=1\n")

    answer = cli.json("ship", "--no-pr", "-m", "Keys of tests")

    assert [each["path"] for each in answer["left_out"]] == [".env"]
    assert {"tests/keys/server.key", ".env.test"} <= shop.committed()


def test_a_link_counts_by_where_it_leads_and_is_not_followed(shop: Shop, cli: Cli) -> None:
    secret = shop.write("../outside.txt", PEM)
    (shop.folder / "link").symlink_to(secret)
    os.symlink(f"https://x:{PASSWORD}@host/", shop.folder / "odd")  # noqa: PTH211 - a Path is tidied up

    answer = cli.json("ship", "--no-pr", "-m", "Links")

    assert [each["path"] for each in answer["left_out"]] == ["odd"]
    assert "link" in shop.committed()


def test_what_cannot_be_read_and_what_is_a_repository_itself_is_left_out(
    shop: Shop, cli: Cli
) -> None:
    inner = Shop(shop.folder / "vendor")
    assert inner.head()
    shop.write("app.py", "print('csv')\n")
    if os.geteuid():
        shop.write("closed.txt").chmod(0)

    answer = cli.json("ship", "--no-pr", "-m", "Vendor")

    reasons = {each["path"]: each["why"] for each in answer["left_out"]}
    assert reasons["vendor/shop/"] == "it is a separate repository"
    assert not os.geteuid() or "cannot be read" in reasons["closed.txt"]
    assert "app.py" in shop.committed()


NO_SECRETS = """
    .env.example .env.sample .env.template .env.dist example.env prod.env.example id_rsa.pub
    deploy_rsa.pub monkey.py keys.md secrets.py src/env.ts environment.yml package-lock.json pem.txt
    credentials.py credentials.md vite-env.d.ts passwords.ts key.json hotkey.json keyboard-keys.json
    migrations/0001_init.sql schema.sql db/structure.sql backup.py dump.py core.py core/index.ts
    core.ts docker/config.json config.json kube/config.go settings.xml gradle.properties hosts.yml
    terraform.tf variables.tf example.tfvars prod.tfvars.example history.md browser_history.ts
    release.asc app.tar.gz.asc signature.gpg share.md harbor.yml wg.py nginx.conf rclone.md
    .gitignore .dockerignore .bashrc .yarnrc.yml .editorconfig certificate.crt sqlite.py
""".split()

HELD_BACK = """
    .env .ENV a/b/.env.local .env.production .env~ prod.env.bak .env.old .envrc Server.KEY x/tls.pem
    app.p12 app.PFX release.jks android.keystore putty.ppk vault.kdbx deploy_rsa keys/ci_ed25519
    id_rsa id_rsa.bak home/.ssh/id_ed25519 secring.gpg my-secret-key.asc private.gpg client.ovpn
    vpn/wg0.conf config/master.key project-key.json x/.docker/config.json x/.kube/config kubeconfig
    prod.kubeconfig .aws/credentials home/.AWS/Credentials credentials credentials.yml.enc.yml
    credentials.json app_credentials.json application_default_credentials.json ada_accessKeys.csv
    client_secret_123.json service-account.json sub/my-service-account.json ci-sa.json
    shop-firebase-adminsdk-x1-abc.json gha-creds-0123.json .netrc _netrc .pypirc .npmrc web/.npmrc
    .pgpass .my.cnf .mylogin.cnf .htpasswd .git-credentials .vault-token .terraformrc rclone.conf
    .s3cfg .boto gh/hosts.yml home/.cargo/credentials.toml .m2/settings.xml secrets.yml secrets.yaml
    config/secrets.prod.json passwords.txt terraform.tfvars prod.auto.tfvars vars.tfvars.json
    terraform.tfstate terraform.tfstate.backup .bash_history .zsh_history .python_history
    .psql_history .mysql_history .node_repl_history .irb_history .sqlite_history .rediscli_history
    .lesshst fish_history login.har trace.pcap heap.hprof core.1234 app.dmp prod.dump dump.sql
    shop-dump.sql db_backup_2026.sql shop.sql.gz db.sqlite3 data/app.sqlite dump.rdb
    local.settings.json
""".split()


@for_each("path", NO_SECRETS)
def test_names_that_only_sound_like_secrets_are_none(path: str) -> None:
    assert secret_files.why_by_name(path) is None


@for_each("path", HELD_BACK)
def test_names_are_known_in_any_case_and_place(path: str) -> None:
    assert secret_files.why_by_name(path) is not None
    assert secret_files.why_by_name(f"deep/down/{path}") is not None


DUMP = "-- PostgreSQL database dump\n\nCREATE TABLE users (id int, name text);\n"


def test_the_dump_of_a_database_is_held_back_and_its_schema_is_not() -> None:
    filled = DUMP + "COPY public.users (id, name) FROM stdin;\n1\tAda\n\\.\n"

    assert list(secret_files.secrets_in(filled.encode()).values()) == ["database dump"]
    assert secret_files.secrets_in(DUMP.encode()) == {}
    assert secret_files.secrets_in(b"INSERT INTO plans VALUES (1, 'free');\n") == {}


@pytest.mark.parametrize("head", ["-- MySQL dump 10.13", "-- MariaDB dump 10.19"])
def test_the_dumps_of_other_databases_are_known_too(head: str) -> None:
    text = f"{head}\n\nINSERT INTO `users` VALUES (1,'Ada');\n"

    assert list(secret_files.secrets_in(text.encode()).values()) == ["database dump"]


def test_a_certificate_is_public_and_a_bundle_with_its_key_is_not() -> None:
    assert secret_files.is_public("tls.pem", CERTIFICATE.encode())
    assert not secret_files.is_public("tls.pem", (CERTIFICATE + PEM).encode())


@pytest.mark.parametrize("before", [3_999_990, 4_000_000, 3_999_960, 7_980_000])
def test_a_secret_on_the_border_of_two_windows_is_found(before: int) -> None:
    data = b"x " * (before // 2) + f" {TOKEN} ".encode() + b"y " * 100

    assert list(secret_files.secrets_of(io.BytesIO(data))) == [TOKEN]
