"""leftoff memory, as people and agents call it."""

from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli


def add(cli: Cli, *arguments: str) -> Any:
    return cli.json("memory", "add", *arguments)


def test_what_is_added_is_listed_newest_first(cli: Cli) -> None:
    add(cli, "decision", "Stream", "rows", "--why", "Big tenants")
    add(cli, "rule", "No globals")

    listed = cli.json("memory")

    assert [(entry["kind"], entry["text"]) for entry in listed] == [
        ("rule", "No globals"),
        ("decision", "Stream rows"),
    ]
    text = cli.ok("memory", "list").out
    assert text.split("\n")[0].split() == ["id", "kind", "said", "summary"]
    assert "Stream rows — Big tenants" in text


def test_an_entry_has_every_option_in_its_key(cli: Cli) -> None:
    options = "--feature feature-1 --impact src --confidence high --source c1 --source c2".split()
    entry = add(cli, "decision", "Stream", "--alternative", "temp file", "--file", "a.py", *options)

    assert entry["added"] is True
    assert entry["alternatives"] == ["temp file"]
    assert (entry["feature"], entry["impact"], entry["confidence"]) == ("feature-1", "src", "high")
    assert (entry["sources"], entry["files"]) == (["c1", "c2"], ["a.py"])


def test_words_that_look_like_options_are_words(cli: Cli) -> None:
    assert add(cli, "failure", "pytest", "-n", "8")["text"] == "pytest -n 8"
    assert [each["text"] for each in cli.json("memory", "search", "pytest", "-n")] == [
        "pytest -n 8"
    ]


def test_saying_it_again_says_so(cli: Cli) -> None:
    first = add(cli, "rule", "No globals", "--source", "s1")

    again = cli.ok("memory", "add", "rule", "no globals.", "--source", "s2").out

    assert again == f"Already known: rule {first['id']}: No globals\n"
    assert cli.json("memory", "show", first["id"])["sources"] == ["s1", "s2"]


def test_an_agents_own_session_is_the_source(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "session-7")

    assert add(cli, "rule", "No globals")["sources"] == ["session-7"]


def test_a_rejected_entry_stays_out_until_it_is_approved(cli: Cli) -> None:
    entry = add(cli, "rule", "No globals", "--queue")
    assert entry["status"] == "queued"
    assert cli.json("memory", "list") == []
    cli.ok("memory", "reject", entry["id"], "--why", "We need one")

    said = cli.ok("memory", "add", "rule", "No globals").out

    assert "Not added, because it was rejected before" in said
    assert f"leftoff memory approve {entry['id']}" in said
    assert cli.json("memory", "list", "--status", "rejected")[0]["why"] == "We need one"
    assert cli.ok("memory", "approve", entry["id"][:5]).out.startswith("Approved rule")
    assert len(cli.json("memory", "list")) == 1


def test_words_and_reason_can_be_edited(cli: Cli) -> None:
    entry = add(cli, "rule", "No globals")

    edited = cli.json("memory", "edit", entry["id"], "No", "module", "globals", "--why", "Tests")

    assert (edited["text"], edited["why"]) == ("No module globals", "Tests")
    refused = cli("memory", "edit", entry["id"])
    assert refused.code == 2
    assert "Nothing to change" in refused.err


def test_superseding_takes_the_old_one_out_of_view(cli: Cli) -> None:
    old, new = add(cli, "decision", "Use SQLite"), add(cli, "decision", "Use Postgres")

    gone = cli.json("memory", "supersede", old["id"], new["id"])

    assert (gone["status"], gone["superseded_by"]) == ("superseded", new["id"])
    assert [each["text"] for each in cli.json("memory", "list")] == ["Use Postgres"]
    assert len(cli.json("memory", "list", "--all")) == 2
    assert f"superseded by {new['id']}" in cli.ok("memory", "show", old["id"]).out


def test_everything_a_session_stated_can_be_set_aside(cli: Cli) -> None:
    ids = [add(cli, "rule", f"Rule {n}", "--source", "led-astray")["id"] for n in range(3)]
    add(cli, "rule", "Rule 0", "--source", "another")
    add(cli, "rule", "A good one", "--source", "another")

    result = cli.json("memory", "list", "--source", "led-astray")

    assert [each["id"] for each in result] == ids[::-1]
    assert cli("memory", "reject", ids[1], "abcdef", ids[2]).code == 1
    assert len(cli.json("memory", "list")) == 4
    rejected = cli.json("memory", "reject", *(each[:8] for each in ids), "--why", "Nonsense")
    assert [each["status"] for each in rejected] == ["rejected"] * 3
    assert [each["text"] for each in cli.json("memory", "list")] == ["A good one"]
    assert cli.json("memory", "list", "--source", "led-astray") == []
    assert len(cli.json("memory", "list", "--source", "led-astray", "--all")) == 3


def test_lists_can_be_narrowed(cli: Cli) -> None:
    for number in range(60):
        add(cli, "decision", f"Decision {number}")
    add(cli, "rule", "No globals", "--feature", "feature-2")

    assert len(cli.json("memory", "list")) == 50
    assert len(cli.json("memory", "list", "--limit", "100")) == 61
    assert len(cli.json("memory", "list", "--kind", "rule", "--kind", "pattern")) == 1
    assert len(cli.json("memory", "list", "--feature", "feature-2")) == 1
    assert len(cli.json("memory", "search", "decision", "--kind", "rule")) == 0


@pytest.mark.parametrize("verb", ["show", "approve", "reject"])
def test_an_unknown_id_is_reported_with_the_way_to_find_one(cli: Cli, verb: str) -> None:
    refused = cli("memory", verb, "abcdef")

    assert refused.code == 1
    assert "no entry 'abcdef'" in refused.err
    assert "leftoff memory list --all" in refused.err


def test_an_unknown_kind_is_reported_with_the_kinds_there_are(cli: Cli) -> None:
    refused = cli("memory", "add", "hunch", "x")

    assert refused.code == 2
    assert "'decision', 'failure', 'success', 'rule'" in refused.err


def test_looking_at_an_empty_memory_creates_nothing(cli: Cli, stored: Path) -> None:
    assert cli.ok("memory").out == "No entries found.\n"
    assert cli.json("memory", "search", "x") == []
    assert not stored.exists()


def test_a_save_teaches_and_warns_of_what_failed_before(cli: Cli) -> None:
    cli.ok("save", "csv-export", "--failed", "Parse it with a regex :: quotes nest")

    again = cli.ok("save", "csv-import", "--failed", "parse it with a regex")
    revision = cli.ok("save", "csv-export", "--overwrite", "--failed", "Parse it with a regex")

    [entry] = cli.json("memory", "list", "--kind", "failure")
    assert (
        f"warning: This failed before: Parse it with a regex — quotes nest "
        f"(leftoff memory show {entry['id']})"
    ) in again.err
    assert "failed before" not in revision.err
    assert len(entry["sources"]) == 3


def test_what_a_session_of_the_same_thread_reported_is_not_called_a_repeat(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = ("--failed", "Parse it with a regex :: quotes nest")
    with monkeypatch.context() as session:
        session.setenv("CLAUDE_CODE_SESSION_ID", "session-1")
        cli.ok("save", "csv-export", *failed)

    again = cli.ok("save", "csv-export", "--overwrite", *failed)
    renamed = cli.ok("save", "csv-import", *failed)

    assert "failed before" not in again.err
    assert "failed before" in renamed.err


def test_while_the_store_cannot_be_written_the_user_is_told_where_an_entry_is_kept(
    cli: Cli, stored: Path
) -> None:
    stored.write_text("in the way", encoding="utf-8")

    result = cli.ok("memory", "add", "rule", "No globals")

    assert "The next command that can write to the store moves it there." in result.err
    assert [each["text"] for each in cli.json("memory")] == ["No globals"]
    stored.unlink()
    assert cli.ok("memory", "add", "rule", "Small functions").err == ""
    assert len(cli.json("memory")) == 2


TAUGHT = (
    "--decision",
    "Redis, not memory :: deploys reset the counter",
    "--failed",
    "A global :: raced",
)


def taught_texts(cli: Cli) -> list[str]:
    return sorted(each["text"] for each in cli.json("memory", "list"))


def teach(cli: Cli, name: str, *more: str) -> None:
    cli.ok("save", name, "--summary", "Limit the rate", "--next", "Run pytest", *more)


@pytest.mark.parametrize("act", ["clear", "delete"])
def test_clearing_a_checkpoint_retracts_what_only_it_taught(cli: Cli, act: str) -> None:
    teach(cli, "rate-limit", *TAUGHT)
    cli.ok(act, "rate-limit")
    assert taught_texts(cli) == []
    assert "Redis" not in cli.ok("briefing").out
    assert {each["status"] for each in cli.json("memory", "list", "--all")} == {"retracted"}

    cli.ok("undo")
    assert taught_texts(cli) == ["A global", "Redis, not memory"]
    cli.ok("redo")
    assert taught_texts(cli) == []
    cli.ok("trash", "restore", "rate-limit")
    assert taught_texts(cli) == ["A global", "Redis, not memory"]


def test_undoing_a_save_retracts_what_only_it_taught(cli: Cli) -> None:
    teach(cli, "rate-limit", "--decision", "Count per user :: fair")
    teach(cli, "rate-limit", "--overwrite", *TAUGHT)
    cli.ok("undo")

    assert taught_texts(cli) == ["Count per user"]
    cli.ok("redo")
    assert taught_texts(cli) == ["A global", "Count per user", "Redis, not memory"]


@pytest.mark.parametrize("act", ["done", "drop"])
def test_work_that_ended_keeps_what_it_taught(cli: Cli, act: str) -> None:
    teach(cli, "rate-limit", *TAUGHT)
    cli.ok(act, "rate-limit")

    assert taught_texts(cli) == ["A global", "Redis, not memory"]


def test_what_another_checkpoint_teaches_too_stays(cli: Cli) -> None:
    teach(cli, "rate-limit", *TAUGHT)
    teach(cli, "other-work", *TAUGHT[:2])
    cli.ok("clear", "rate-limit")
    assert taught_texts(cli) == ["Redis, not memory"]

    cli.ok("clear", "other-work")
    assert taught_texts(cli) == []
    cli.ok("undo")
    assert taught_texts(cli) == ["Redis, not memory"]


def test_what_the_same_session_saved_under_another_name_stays(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "session-1")
    for name in ("rate-limit", "other-work"):
        teach(cli, name, *TAUGHT)
    cli.ok("clear", "rate-limit")

    assert taught_texts(cli) == ["A global", "Redis, not memory"]


def test_what_somebody_added_themselves_is_never_retracted(cli: Cli) -> None:
    cli.ok("memory", "add", "decision", "Redis, not memory")
    teach(cli, "rate-limit", *TAUGHT)
    cli.ok("clear", "rate-limit")

    assert taught_texts(cli) == ["Redis, not memory"]


def test_what_was_rejected_stays_rejected(cli: Cli) -> None:
    teach(cli, "rate-limit", *TAUGHT[:2])
    (entry,) = cli.json("memory", "list")
    cli.ok("memory", "reject", entry["id"])
    cli.ok("clear", "rate-limit")
    cli.ok("undo")

    assert taught_texts(cli) == []


def test_a_retracted_entry_comes_back_when_it_is_taught_again(cli: Cli) -> None:
    teach(cli, "rate-limit", *TAUGHT[:2])
    cli.ok("clear", "rate-limit")
    teach(cli, "second-try", *TAUGHT[:2])

    assert taught_texts(cli) == ["Redis, not memory"]


def test_a_reason_may_follow_the_text_as_in_a_save(cli: Cli) -> None:
    cli.ok("memory", "add", "decision", "Use std::vector :: it is contiguous")
    cli.ok("memory", "add", "rule", "Write what :: why")

    (rule, decision) = cli.json("memory", "list")
    assert (decision["text"], decision["why"]) == ("Use std::vector", "it is contiguous")
    assert rule["text"] == "Write what :: why"
