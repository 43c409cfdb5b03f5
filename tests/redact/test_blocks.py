"""A private key is cut out in any layout."""

import base64
import html
import json
import urllib.parse
from collections.abc import Callable

from leftoff.redact import redact
from redact_cases import ALNUM, HEX, made_up
from rows import for_each

Lines = list[str]
Layout = Callable[[Lines], str]
BODY = ALNUM + "+/"
LABELS = [
    "PRIVATE KEY",
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "DSA PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
    "ENCRYPTED COSIGN PRIVATE KEY",
    "ENCRYPTED SIGSTORE PRIVATE KEY",
    "TSS2 PRIVATE KEY",
    "NEBULA X25519 PRIVATE KEY",
    "ED25519 PRIVATE KEY",
]


def wrapped(text: str, width: int) -> Lines:
    return [text[at : at + width] for at in range(0, len(text), width)]


def key(label: str = "RSA PRIVATE KEY", *, size: int = 1600, width: int = 64) -> Lines:
    body = made_up(BODY, size - 2) + "=="
    return [f"-----BEGIN {label}-----", *wrapped(body, width), f"-----END {label}-----"]


def putty() -> Lines:
    return [
        *("PuTTY-User-Key-File-3: ssh-ed25519", "Encryption: none", "Comment: me@host"),
        *("Public-Lines: 2", *wrapped(made_up(BODY, 80), 64)),
        *("Private-Lines: 3", *wrapped(made_up(BODY, 150), 64)),
        "Private-MAC: " + made_up(HEX, 64),
    ]


def openvpn() -> Lines:
    rows = wrapped(made_up(HEX, 512), 32)
    return ["-----BEGIN OpenVPN Static key V1-----", *rows, "-----END OpenVPN Static key V1-----"]


def ssh2() -> Lines:
    head, end = (
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
        "---- END SSH2 ENCRYPTED PRIVATE KEY ----",
    )
    return [head, 'Comment: "rsa-key-2024"', *wrapped(made_up(BODY, 700), 70), end]


def legacy() -> Lines:
    begin, *rest = key()
    dek = "DEK-Info: AES-128-CBC," + made_up(HEX, 32).upper()
    return [begin, "Proc-Type: 4,ENCRYPTED", dek, "", *rest]


def narrow() -> Lines:
    return key(width=32)


def armour() -> Lines:
    begin, *rest = key("PGP PRIVATE KEY BLOCK", size=4000)
    return [begin, "Version: GnuPG v2", "Comment: made for a test", "", *rest]


def before_each(prefix: str) -> Layout:
    return lambda lines: "\n".join(
        prefix.format(n=n, s=n % 60) + line for n, line in enumerate(lines, 1)
    )


LAYOUTS: dict[str, Layout] = {
    "plain": "\n".join,
    "windows": "\r\n".join,
    "indented": before_each("      "),
    "docker compose": before_each("web_1       | "),
    "docker compose in colour": before_each("\x1b[36mweb-1  | \x1b[0m"),
    "kubectl": before_each("[pod/web-6d4b75cb6d-hx8kq/web] "),
    "iso time": before_each("2024-05-01T10:00:{s:02}.123456Z "),
    "time and level": before_each("2024-05-01 10:00:{s:02},123 INFO  [main] app.Keys - "),
    "syslog": before_each("May  1 10:00:{s:02} host sshd[1234]: "),
    "klog": before_each("I0501 10:00:{s:02}.123456    1 main.go:42] "),
    "grep -n": before_each("deploy/key.pem:{n}:"),
    "grep -C": before_each("deploy/key.pem-{n}-"),
    "grep -n in colour": before_each(
        "\x1b[35mkey.pem\x1b[m\x1b[36m:\x1b[m\x1b[32m{n}\x1b[m\x1b[36m:\x1b[m"
    ),
    "cat -n": before_each("{n:6}\t"),
    "arrow": before_each("{n:6}→"),
    "nl": before_each("{n:>4}  "),
    "bat": before_each("{n:>4} │ "),
    "diff added": before_each("+"),
    "diff removed": before_each("-"),
    "diff angle": before_each("> "),
    "git blame": before_each("3f2a1bc4 (Some Body 2024-05-01 10:00:00 +0200 {n:3}) "),
    "quoted mail": before_each("> > "),
    "bullets": before_each("- "),
    "hash comment": before_each("# "),
    "slash comment": before_each("// "),
    "star comment": before_each(" * "),
    "yaml block": lambda lines: "key: |\n" + "\n".join("    " + line for line in lines),
    "yaml folded": lambda lines: "key: >-\n" + "\n\n".join("  " + line for line in lines),
    "yaml quoted": lambda lines: 'key: "' + "\\n\\\n  ".join(lines) + '"',
    "heredoc": lambda lines: "cat > k <<'EOF'\n" + "\n".join(lines) + "\nEOF",
    "json": lambda lines: json.dumps({"private_key": "\n".join(lines)}),
    "json in json": lambda lines: json.dumps(json.dumps({"private_key": "\n".join(lines)})),
    "json three deep": lambda lines: json.dumps(json.dumps(json.dumps({"k": "\n".join(lines)}))),
    "json of windows": lambda lines: json.dumps({"k": "\r\n".join(lines)}),
    "json with slashes": lambda lines: json.dumps("\n".join(lines)).replace("/", "\\/"),
    "json array": json.dumps,
    "json array on lines": lambda lines: json.dumps(lines, indent=2),
    "json unicode": lambda lines: '"' + "\\u000a".join(lines) + '"',
    "one line, blanks": " ".join,
    "one line, nothing": "".join,
    "percent": lambda lines: urllib.parse.quote("\n".join(lines), safe=""),
    "form": lambda lines: urllib.parse.quote_plus("\n".join(lines)),
    "percent twice": lambda lines: urllib.parse.quote(urllib.parse.quote("\n".join(lines))),
    "entities": "&#10;".join,
    "entities in hexadecimal": lambda lines: html.escape("\n".join(lines)).replace("\n", "&#xA;"),
    "html breaks": "<br>\n".join,
    "env file": lambda lines: 'KEY="' + "\\n".join(lines) + '"',
    "python": lambda lines: "KEY = (\n" + "\n".join(f'    "{x}\\n"' for x in lines) + "\n)",
    "javascript": lambda lines: "const k =\n  " + " +\n  ".join(f"'{x}\\n'" for x in lines) + ";",
    "java": lambda lines: 'String k = "' + '\\n" +\n        "'.join(lines) + '\\n";',
    "go": lambda lines: "k := `" + "\n".join(lines) + "`",
    "ruby": lambda lines: "K = " + " \\\n  ".join(f'"{x}\\n"' for x in lines),
    "c": lambda lines: "\n".join(f'  "{x}\\n"' for x in lines) + ";",
    "csharp": lambda lines: 'var k = @"' + "\n".join(lines) + '";',
    "php": lambda lines: "$k = " + " .\n".join(f'"{x}\\n"' for x in lines) + ";",
    "rust": lambda lines: 'let k = "' + "\\n\\\n    ".join(lines) + '";',
    "shell": lambda lines: "".join(f'echo "{x}" >> key.pem\n' for x in lines),
    "printf": lambda lines: "printf '" + "\\n".join(lines) + "'",
    "sql": lambda lines: "VALUES ('" + "\n".join(lines) + "');",
    "csv": lambda lines: 'a,"' + "\n".join(lines) + '",b',
    "table": before_each("| {n} | "),
    "long path": before_each("deploy/certs/prod/server.key:{n}: "),
    "log stream": before_each("2024-05-01T10:00:{s:02} web/app/" + made_up(HEX, 32) + " "),
    "arrow in json": lambda lines: json.dumps("\n".join(f"{n:6}→{x}" for n, x in enumerate(lines))),
    "encoded behind prefixes": lambda lines: "\n".join(
        f"web-1 | {x}" for x in wrapped(base64.b64encode("\n".join(lines).encode()).decode(), 76)
    ),
    "encoded twice": lambda lines: base64.b64encode(
        base64.b64encode("\n".join(lines).encode())
    ).decode(),
    "encoded in hexadecimal": lambda lines: "\n".join(lines).encode().hex(),
    "encoded once more": lambda lines: base64.b64encode("\n".join(lines).encode()).decode(),
    "encoded in lines": lambda lines: base64.encodebytes("\n".join(lines).encode()).decode(),
}  # fmt: skip
KEYS: dict[str, Callable[[], Lines]] = {
    **{label: lambda label=label: key(label) for label in LABELS},  # type: ignore[misc]
    "short": lambda: key("EC PRIVATE KEY", size=164),
    "smallest": lambda: key("PRIVATE KEY", size=64),
    "one long line": lambda: key(width=5000),
    "48 columns": lambda: key(width=48),
    "76 columns": lambda: key("OPENSSH PRIVATE KEY", width=76),
    "70 columns": lambda: key("OPENSSH PRIVATE KEY", width=70),
    "huge": lambda: key(size=13_000),
    "putty": putty,
    "openvpn": openvpn,
    "ssh2": ssh2,
    "encrypted with headers": legacy,
    "armour with headers": armour,
    "32 columns": narrow,
}
# Marks of one's own are not part of the encoded text.
ENCODED_ONLY_WITH_MARKS = {"putty", "openvpn", "ssh2"}


def leaked(text: str, lines: Lines) -> int:
    """Count the characters of a key's longer lines that can still be read in a text."""
    flat = "".join(text.split())
    body = [line for line in lines if len(line) > 30 and " " not in line and "-----" not in line]
    return sum(len(line) for line in body if line[4:28] in flat)


@for_each("layout", LAYOUTS)
@for_each("name", KEYS)
def test_a_private_key_is_cut_out_of_any_layout(name: str, layout: str) -> None:
    if layout.startswith("encoded") and name in ENCODED_ONLY_WITH_MARKS:
        return
    lines = KEYS[name]()
    secret = lines[lines.index("Private-Lines: 3") :] if name == "putty" else lines
    text = f"before it\n{LAYOUTS[layout](lines)}\nafter it"

    clean = redact(text)

    assert leaked(clean, secret) == 0
    assert clean.startswith("before it\n")
    assert clean.endswith("\nafter it")


TORN_LAYOUTS = [name for name in LAYOUTS if not name.startswith("encoded")]


@for_each("layout", TORN_LAYOUTS)
@for_each("torn", ["head", "end"])
def test_a_private_key_that_was_cut_off_is_cut_out(torn: str, layout: str) -> None:
    lines = key()
    rest = lines[1:] if torn == "head" else lines[:-1]

    clean = redact(f"before it\n{LAYOUTS[layout](rest)}\nafter it")

    assert leaked(clean, rest) == 0
    assert clean.startswith("before it\n")
    assert clean.endswith("\nafter it")


def test_the_first_line_of_a_narrow_key_without_its_mark_is_cut_out_too() -> None:
    first = "MIIEpAIBAAKCAQEA" + "AoIBAQCAQEAAKCAQ"
    lines = [first, *key(width=32)[1:]]

    assert redact("before it\n" + "\n".join(lines)) == "before it\n[redacted: private key]"


@for_each("layout", LAYOUTS)
@for_each("label", ["PUBLIC KEY", "CERTIFICATE", "RSA PUBLIC KEY", "PGP SIGNATURE"])
def test_what_is_public_stays_whole(label: str, layout: str) -> None:
    text = f"before it\n{LAYOUTS[layout](key(label))}\nafter it"

    assert redact(text) == text


def test_a_web_token_near_a_mark_without_a_key_is_no_line_of_it() -> None:
    text = "check('-----BEGIN PRIVATE KEY-----');\n  check(x);\n  const jwt = "

    assert redact(f"{text}'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3'").startswith(text)


def test_code_between_two_marks_is_not_a_key() -> None:
    code = "\n".join(f"    self.assert_equal_to_rsa2048_fixture_{n}(value)" for n in range(40))
    text = f'A = "-----BEGIN PRIVATE KEY-----"\n{code}\nB = "-----END PRIVATE KEY-----"\n'

    assert redact(text) == text
