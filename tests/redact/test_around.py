"""Each row of the tables of places and commands cuts its own examples and leaves the others."""

import json
import re
from collections.abc import Iterator

from leftoff.redact import redact
from leftoff.redact.addresses import ADDRESSES, PIPES, Address, Pipe
from leftoff.redact.commands import BEFORE_USER, COMMANDS, LETTERS, LONG_OPTIONS, CommandRule
from leftoff.redact.markers import is_marker, marker
from leftoff.redact.places import PLACES, SecretPlace
from leftoff.redact.private_keys import PRIVATE_KEYS
from leftoff.redact.prose import PROSE
from leftoff.redact.statements import STATEMENTS
from redact_cases import ALNUM, HEX, made_up
from rows import for_each

SECRETS = {
    "<pw>": ["hunter2" + "!x", "S3cr" + "et.Pa55", "Tr0ub4dor" + "&3", "c0rrect" + "Horse"],
    "<token>": [made_up(ALNUM, 40), made_up(ALNUM, 32)],
    "<base64>": ["dXNlcjpw" + "YXNzd29yZDEyMzQ1Njc4OTA=", made_up(ALNUM, 44)],
    "<hex>": [made_up(HEX, 64)],
    "<colons>": ["".join(f"{byte:02x}:" for byte in range(40, 55))],
}
# Words of other scripts are looked for as they are written, not in escapes.
WIDE = re.compile("[\u0400-\uffff]")
ROWS: list[SecretPlace | Address | Pipe | CommandRule] = [
    *PLACES,
    *PRIVATE_KEYS,
    *STATEMENTS,
    *PROSE,
    *ADDRESSES,
    *PIPES,
    *COMMANDS,
]
CUT = [(row.kind, example) for row in ROWS for example in row.cut]
STAYS = [(row.kind, example) for row in ROWS for example in row.stays]


def filled(example: str) -> Iterator[tuple[str, list[str]]]:
    """Yield an example with each made-up secret in it, and those secrets."""
    names = [name for name in SECRETS if name in example]
    for at in range(max((len(SECRETS[name]) for name in names), default=0)):
        text, used = example, []
        for name in names:
            secret = SECRETS[name][at % len(SECRETS[name])]
            text = text.replace(name, secret)
            used.append(secret)
        yield text, used


@for_each(("kind", "example"), CUT)
def test_the_examples_of_a_row_are_cut(kind: str, example: str) -> None:
    for text, secrets in filled(example):
        dumped = json.dumps({"command": text}, ensure_ascii=not WIDE.search(text))
        for written in (text, f"$ {text}\n", f"- {text}\n- next", dumped):
            clean = redact(written)

            assert not any(secret in clean for secret in secrets), clean
            assert redact(clean) == clean
        assert f"[redacted: {kind}]" in redact(text)


@for_each(("kind", "example"), STAYS)
def test_the_counter_examples_of_a_row_stay(kind: str, example: str) -> None:
    for text in (example, json.dumps({"command": example}), f"see `{example}` for more"):
        assert redact(text) == text, kind


def test_every_row_has_an_example() -> None:
    assert all(row.cut for row in ROWS)


@for_each("kind", sorted({row.kind for row in ROWS}))
def test_the_marker_of_every_kind_is_known(kind: str) -> None:
    assert is_marker(marker(kind))


def test_every_option_of_the_commands_is_looked_for() -> None:
    for row in COMMANDS:
        for example in row.cut:
            options = [word for word in example.split() if word.startswith("-")]
            assert any(
                option.encode()[1:2] in LETTERS
                or option.encode().startswith(LONG_OPTIONS)
                or re.match(b"-" + BEFORE_USER, option.encode())
                for option in options
            )
