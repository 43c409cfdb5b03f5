import errno
import os
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from leftoff.knowledge import features
from leftoff.store import Store
from ship.shop import Shop


@pytest.mark.accept(141)
def test_secrets_are_named_and_never_committed(shop: Shop, cli: Cli) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq" * 8 + "\n"
    for path in (".env", "deploy/id_rsa", "server.key", "notes.txt"):
        shop.write(path, key if path == "notes.txt" else "x\n")
    shop.write(".claude-harness/claude-progress.json", "{}\n")
    shop.write(".claude-harness/sessions/s1/context.json", "{}\n")
    shop.write(".claude-harness/memory/compaction-backups/pre-compact-1.json", "{}\n")
    shop.write("app.py", "print('csv')\n")

    answer = cli.json("ship", "--no-pr")

    left_out = {each["path"] for each in answer["left_out"]}
    assert {".env", "deploy/id_rsa", "server.key", "notes.txt"} <= left_out
    assert shop.committed() == {"app.py", ".claude-harness/claude-progress.json"}


@pytest.mark.accept(141)
def test_a_secret_that_is_staged_already_is_taken_out_and_stays_on_disk(
    shop: Shop, cli: Cli
) -> None:
    shop.write(".env", "TOKEN=x\n")
    shop.git("add", ".env")
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "--no-pr")

    assert shop.committed() == {"app.py"}
    assert shop.status == "?? .env"


@pytest.mark.accept(142)
def test_nothing_changed_makes_no_commit_and_says_so(shop: Shop, cli: Cli) -> None:
    head = shop.head()

    first, second = cli.ok("ship", "--no-pr"), cli.ok("ship", "--no-pr")

    assert shop.head() == head
    assert "Nothing changed since the last commit" in first.out
    assert "NOTHING TO SHIP" in second.out


@pytest.mark.accept(142)
def test_shipping_twice_saves_and_commits_once(shop: Shop, cli: Cli) -> None:
    cli.ok("config", "set", "briefing_file", "BRIEFING.md")
    shop.write("app.py", "print('csv')\n")
    first = cli.json("ship", "--no-pr")
    head = shop.head()

    again = cli.json("ship", "--no-pr")

    assert (again["checkpoint"], shop.head()) == (first["checkpoint"], head)
    assert shop.committed() == {"app.py", "BRIEFING.md"}
    assert shop.status == ""


@pytest.mark.accept(143)
def test_the_loop_gives_the_prefix_and_a_fix_its_issues(shop: Shop, cli: Cli, store: Store) -> None:
    features.add(store, features.ItemDraft(name="Export orders", issue=3))
    features.start(store, "1")
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship", "--no-pr")
    features.pass_(store, "1")
    shop.write("app.py", "print('more')\n")
    cli.ok("ship", "--no-pr", "-m", "Stream it")
    fix = features.add_fix(store, "1", features.ItemDraft(name="Quote commas", issue=9))
    features.start(store, fix.id)
    shop.write("app.py", "print('quoted')\n")

    cli.ok("ship", "--no-pr")

    assert shop.subjects()[:3] == [
        "fix(feature-001): Quote commas",
        "feat(feature-001): Stream it",
        "feat(feature-001): Export orders",
    ]
    assert shop.message().splitlines()[-2:] == ["Fixes #9", "Related to #3"]


@pytest.mark.accept(143)
def test_a_loop_of_the_worktree_counts_where_the_session_has_none(
    shop: Shop, cli: Cli, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    features.add(store, features.ItemDraft(name="Export orders"))
    features.start(store, "1")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "11111111-1111-4111-8111-111111111111")
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "--no-pr")

    assert shop.subjects()[0] == "feat(feature-001): Export orders"


def test_without_a_loop_the_message_is_what_was_said_or_what_changed(shop: Shop, cli: Cli) -> None:
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship", "--no-pr", "-m", "Say hello in CSV\n\nBecause.")
    assert shop.message() == "Say hello in CSV\n\nBecause."
    shop.write("export.py")
    cli.ok("ship", "--no-pr")
    assert shop.message() == "Update export.py"


def test_a_ship_that_cannot_read_what_changed_fails(
    shop: Shop, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = shop.write("app.py", "print('csv')\n")
    before = shop.head()
    real: Any = Path.open

    def refuse(path: Path, *words: Any, **named: Any) -> Any:
        if path == changed:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return real(path, *words, **named)

    monkeypatch.setattr(Path, "open", refuse)
    ended = cli("ship", "--no-push", "-m", "Export")

    assert ended.code == 1
    assert "Nothing was committed: the changed files cannot be read." in ended.out
    assert shop.head() == before
