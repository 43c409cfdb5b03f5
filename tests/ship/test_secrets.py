import io
import os
import random
import string
from pathlib import Path

import pytest

from cli.runs import Cli
from leftoff import features
from leftoff.paths import find_project
from leftoff.ship import secrets
from leftoff.store import Store
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
    """D24: what is a secret is told by names and contents, not left to whoever stages."""
    hub = Hub(tmp_path / "github")
    hub.install(monkeypatch)
    for path, data in PLANTED.items():
        plant(shop, path, data)
    shop.write("app.py", "print('csv')\n")
    store = Store(find_project(shop.folder))
    features.add(store, features.Draft(name=f"Export with {TOKEN}"))
    features.start(store, "1")
    told = ["--done", f"Logged in with {TOKEN}", "--decision", f"Use {STRIPE} :: it works"]
    cli.ok("save", "csv", "--summary", f"Export with {SLACK}", "--next", f"Try {AWS}", *told)

    answer = cli.json("ship", "-m", f"Export orders\n\nThe key is {TOKEN}")

    named = [each["path"] for each in answer["left_out"]]
    assert len(named) == len(PLANTED)
    assert set(PLANTED) - set(named) == {f"{TOKEN}.txt"}
    assert shop.committed() == {"app.py"}
    objects = shop.git("cat-file", "--batch-all-objects", "--batch", "--unordered")
    kept = b"".join(path.read_bytes() for path in _files(shop.folder / ".git" / "leftoff"))
    github = b"".join(path.read_bytes() for path in _files(hub.folder))
    for secret in SECRETS:
        assert secret not in objects
        assert secret.encode() not in kept
        assert secret.encode() not in github
        assert secret not in str(answer)


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
    assert left_out["why"].startswith("it holds a secret (slack")


def test_what_the_user_says_is_no_secret_is_committed(shop: Shop, cli: Cli) -> None:
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
    assert reasons["vendor/shop/"] == "it is a repository of its own"
    assert not os.geteuid() or "cannot be read" in reasons["closed.txt"]
    assert "app.py" in shop.committed()


@pytest.mark.parametrize(
    "path",
    [
        ".env.example", "example.env", "id_rsa.pub", "monkey.py", "keys.md", "secrets.py",
        "src/env.ts", "environment.yml", "package-lock.json", "pem.txt", "credentials.py",
        "vite-env.d.ts", "deploy_rsa.pub",
    ],
)  # fmt: skip
def test_names_that_only_sound_like_secrets_are_none(path: str) -> None:
    assert secrets.why_by_name(path) is None


@pytest.mark.parametrize(
    "path",
    [
        ".ENV", "a/b/.env.local", "Server.KEY", "x/.docker/config.json", ".env~", "prod.env.bak",
        "deploy_rsa", "keys/ci_ed25519", "credentials", "ada_accessKeys.csv",
    ],
)  # fmt: skip
def test_names_are_known_in_any_case_and_place(path: str) -> None:
    assert secrets.why_by_name(path) is not None


def test_a_certificate_is_public_and_a_bundle_with_its_key_is_not() -> None:
    assert secrets.is_public("tls.pem", CERTIFICATE.encode())
    assert not secrets.is_public("tls.pem", (CERTIFICATE + PEM).encode())


@pytest.mark.parametrize("before", [3_999_990, 4_000_000, 3_999_960, 7_980_000])
def test_a_secret_on_the_border_of_two_windows_is_found(before: int) -> None:
    data = b"x " * (before // 2) + f" {TOKEN} ".encode() + b"y " * 100

    assert list(secrets.secrets_of(io.BytesIO(data))) == [TOKEN]
