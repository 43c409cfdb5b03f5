"""Every value of a Kubernetes Secret is cut, and nothing of its neighbours."""

import json

from leftoff.redact import redact
from redact_cases import ALNUM, made_up

SECRET = """\
apiVersion: v1
kind: Secret
metadata:
  name: db
data:
  user: YWRtaW4=
  tls.crt: "Zm9vYmFy"
stringData:
  pin: 1234x
type: Opaque
"""
CONFIG = "---\nkind: ConfigMap\ndata:\n  user: YWRtaW4=\n"


def test_the_values_of_a_secret_are_cut() -> None:
    clean = redact(SECRET + CONFIG)

    assert (
        clean
        == SECRET.replace("YWRtaW4=", "[redacted: secret]")
        .replace("Zm9vYmFy", "[redacted: secret]")
        .replace("1234x", "[redacted: secret]")
        + CONFIG
    )


def test_a_kind_after_its_data_counts_too() -> None:
    lines = SECRET.splitlines()
    text = "\n".join([*lines[4:], *lines[:4]])

    assert "YWRtaW4=" not in redact(text)


def test_the_values_of_a_secret_in_json_are_cut() -> None:
    value = {"kind": "Secret", "data": {"a": "YWRtaW4=", "b": "Zm9v"}, "metadata": {"name": "x"}}

    assert json.loads(redact(json.dumps(value))) == {
        "kind": "Secret",
        "data": {"a": "[redacted: secret]", "b": "[redacted: secret]"},
        "metadata": {"name": "x"},
    }


def test_what_anyone_may_know_stays_in_a_secret() -> None:
    text = (
        "kind: Secret\nstringData:\n  url: https://git.test/a/b.git\n  insecure: true\n"
        "  jitter: 60s\n  ca.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t\n"
    )

    assert redact(text) == text


def test_names_and_addresses_stay_if_a_secret_is_written_plainly() -> None:
    text = (
        "kind: Secret\nstringData:\n  username: my-user\n  host: demo-db\n  port: '5432'\n"
        "  name: staging\n"
    )

    assert redact(text) == text
    assert "hunter" not in redact(text + "  pin: hunter\n")


def test_what_a_manual_writes_in_place_of_a_value_stays_in_a_secret() -> None:
    text = (
        "kind: Secret\nstringData:\n  KEY: 'your-encryption-key-min-32-chars'\n"
        "  KEY_2: 'REPLACE_WITH_GENERATED_KEY'\n  SMTP_USERNAME: 'smtp-7'\n"
        "  SMTP_PASSWORD: 'smtp-password'\n  URL: 'postgresql://user:password@db.test/shop'\n"
        "  provider: 'postgresql'\n"
    )

    assert redact(text) == text
    value = made_up(ALNUM, 24)
    line = f"  HOOK: https://x.test/hooks/{value}\n  DB_URL: postgres://me:{value}@db.test/shop\n"
    assert value not in redact(text + line)


def test_what_is_encrypted_already_stays_in_a_secret() -> None:
    text = "kind: Secret\ndata:\n  a: ENC[AES256_GCM,data:Zm9vYmFy,iv:eA==,tag:eA==,type:str]\n"

    assert redact(text) == text


def test_a_secret_in_a_manual_ends_with_its_listing() -> None:
    text = "```\nkind: Secret\n```\n\n```\nkind: ConfigMap\ndata:\n  user: YWRtaW4=\n```\n"

    assert redact(text) == text
