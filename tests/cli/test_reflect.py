import json
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from knowledge.reflect.talks import NO, PREFER, RULE, corrected_talk, found_talk
from stores import contents


def rules(cli: Cli, status: str) -> list[str]:
    found = cli.json("memory", "list", "--kind=rule", f"--status={status}")
    return [entry["text"] for entry in found]


@pytest.mark.accept(138)
def test_auto_saves_the_sure_queues_the_rest_and_counts_them(cli: Cli, repo: Repo) -> None:
    corrected_talk(repo.folder)

    out = cli.ok("reflect", "--auto").out

    assert out.startswith("AUTO-REFLECTION\n")
    assert "1 rule saved:" in out
    assert "1 rule queued for review:" in out
    assert f"{RULE} (high)" in out
    assert f"{PREFER} (medium)" in out
    assert rules(cli, "active") == [RULE]
    assert rules(cli, "queued") == [PREFER]


@pytest.mark.accept(138)
def test_where_nothing_is_found_nothing_is_said(cli: Cli, repo: Repo, stored: Path) -> None:
    found_talk(repo.folder).ask("Now add a test, please")

    result = cli.ok("reflect", "--auto")

    assert (result.out, result.err) == ("", "")
    assert cli.json("reflect") == {
        "dry_run": False,
        "sessions": [],
        "saved": [],
        "queued": [],
        "skipped": [],
    }
    assert not (stored / "memory.jsonl").exists()


def test_without_a_flag_it_is_auto_and_a_second_run_is_silent(cli: Cli, repo: Repo) -> None:
    corrected_talk(repo.folder)

    assert "AUTO-REFLECTION" in cli.ok("reflect").out
    assert cli.ok("reflect").out == ""


def test_json_shows_the_entries_and_why(cli: Cli, repo: Repo) -> None:
    talk = found_talk(repo.folder)
    talk.ask(NO)

    found = cli.json("reflect")

    (saved,) = found["saved"]
    assert saved["text"] == RULE
    assert saved["confidence"] == "high"
    assert saved["sources"] == ["session-1"]
    assert "I installed express with npm" in saved["why"]
    assert found["sessions"] == ["session-1"]


def test_a_refused_call_with_a_reason_is_learnt_from(cli: Cli, repo: Repo) -> None:
    talk = found_talk(repo.folder)
    talk.begin("npm run build")
    refusal = {
        "type": "tool_result",
        "tool_use_id": "toolu_2",
        "is_error": True,
        "content": "The user doesn't want to proceed with this tool use. "
        "To tell you how to proceed, the user said:\nthe build runs in CI, never run it locally",
    }
    talk.line(type="user", message={"role": "user", "content": [refusal]})

    (queued,) = cli.json("reflect")["queued"]

    assert queued["text"] == "the build runs in CI, never run it locally"
    assert queued["why"] == "refused Bash: npm run build"
    assert queued["confidence"] == "low"


def test_what_no_person_typed_is_not_learnt_from(cli: Cli, repo: Repo) -> None:
    talk = found_talk(repo.folder)
    for text in (
        f"<system-reminder>{NO}</system-reminder>",
        f"<local-command-stdout>{NO}</local-command-stdout>",
        "<command-name>/review</command-name><command-args>never use eval</command-args>",
        f"Stop hook feedback:\n{NO}",
        f"This session is being continued from a previous conversation. {NO}",
    ):
        talk.ask(text)
    talk.line(type="user", isMeta=True, message={"role": "user", "content": NO})
    talk.line(type="user", isSidechain=True, message={"role": "user", "content": NO})
    talk.run("cat rules.md", NO)

    assert cli.ok("reflect").out == ""


@pytest.mark.accept(139)
def test_a_dry_run_shows_what_would_be_kept_and_writes_nothing(
    cli: Cli, repo: Repo, stored: Path
) -> None:
    corrected_talk(repo.folder)

    out = cli.ok("reflect", "--dry-run").out

    assert "1 rule would be saved:" in out
    assert "1 rule would be queued for review:" in out
    assert not stored.exists()
    assert cli.json("reflect", "--dry-run")["dry_run"] is True
    assert not stored.exists()
    assert "1 rule saved:" in cli.ok("reflect").out


def test_a_dry_run_changes_nothing(cli: Cli, repo: Repo, stored: Path) -> None:
    corrected_talk(repo.folder)
    cli.ok("reflect")
    corrected_talk(repo.folder, "session-2").ask("Never use eval.")
    before = _kept(stored)

    assert "Never use eval." in cli.ok("reflect", "--dry-run").out

    assert _kept(stored) == before


def _kept(stored: Path) -> dict[str, str]:
    """Return what is there besides the index of the memory, which a reader may make."""
    derived = ("memory.sqlite", "memory.lock")
    return {path: each for path, each in contents(stored).items() if path not in derived}


@pytest.mark.accept(139)
def test_duplicates_of_an_existing_rule_are_skipped(cli: Cli, repo: Repo) -> None:
    corrected_talk(repo.folder)
    cli.ok("reflect")
    talk = corrected_talk(repo.folder, "session-2")
    talk.ask("Never use eval.")

    found = cli.json("reflect")

    assert [entry["text"] for entry in found["saved"]] == ["Never use eval."]
    assert found["queued"] == []
    assert [each["reason"] for each in found["skipped"]] == ["known", "known"]


@pytest.mark.accept(139)
@pytest.mark.parametrize(
    ("key", "expected", "status"),
    [
        ("a", "Approved.", "active"),
        ("r", "Rejected; it will not come back.", "rejected"),
        ("s", "Skipped; it stays in the queue.", "queued"),
    ],
)
def test_review_on_a_terminal_asks_about_each_rule(
    cli: Cli, repo: Repo, key: str, expected: str, status: str
) -> None:
    corrected_talk(repo.folder)
    cli.ok("reflect")

    with cli.terminal("reflect", "--review") as terminal:
        shown = terminal.expect("[approve/edit/reject/Skip] ")
        assert f"1 of 1: {PREFER}" in shown
        assert "confidence: medium" in shown
        assert "after the agent said: I use pnpm now." in shown
        terminal.answer(key)
        assert expected in terminal.rest()

    assert terminal.code == 0
    assert PREFER in rules(cli, status)


@pytest.mark.accept(139)
def test_review_can_put_other_words_in_place_and_approve_them(cli: Cli, repo: Repo) -> None:
    corrected_talk(repo.folder)
    cli.ok("reflect")

    with cli.terminal("reflect", "--review") as terminal:
        terminal.expect("Skip]")
        terminal.answer("x")
        terminal.expect("Skip]")
        terminal.answer("e")
        terminal.expect("New text")
        terminal.answer("Indent with tabs")
        assert "Edited and approved." in terminal.rest()

    assert sorted(rules(cli, "active")) == ["Indent with tabs", RULE]


@pytest.mark.accept(139)
def test_what_was_rejected_in_a_review_never_returns(cli: Cli, repo: Repo) -> None:
    corrected_talk(repo.folder)
    cli.ok("reflect")
    with cli.terminal("reflect", "--review") as terminal:
        terminal.expect("Skip]")
        terminal.answer("r")
        terminal.rest()

    corrected_talk(repo.folder, "session-2")

    assert cli.ok("reflect").out == ""
    assert rules(cli, "queued") == []


@pytest.mark.accept(139)
def test_elsewhere_the_review_is_handed_on_with_commands_that_work(cli: Cli, repo: Repo) -> None:
    corrected_talk(repo.folder)
    cli.ok("reflect")

    result = cli("reflect", "--review")

    assert result.code == 3
    assert result.json["message"] == "1 rule is waiting for review."
    choices = {each["choice"]: each for each in result.json["choices"]}
    assert set(choices) == {"approve", "edit", "reject", "skip"}
    assert choices["approve"]["text"] == PREFER
    assert choices["approve"]["confidence"] == "medium"
    assert cli.shell(choices["edit"]["command"].replace("TEXT", "Use tabs")).returncode == 0
    assert sorted(rules(cli, "active")) == [RULE, "Use tabs"]
    assert cli.shell(choices["reject"]["command"]).returncode == 0
    assert rules(cli, "active") == [RULE]


def test_an_empty_queue_needs_no_review(cli: Cli) -> None:
    assert cli.ok("reflect", "--review").out == "No rules are waiting for review.\n"
    assert cli.json("reflect", "--review") == []


@pytest.mark.accept(139)
def test_disabled_it_says_so_and_how_to_enable_it(cli: Cli, repo: Repo, stored: Path) -> None:
    corrected_talk(repo.folder)
    cli.ok("config", "set", "reflect", "false")

    result = cli("reflect", "--auto")

    assert result.code == 1
    assert "Reflection is disabled" in result.err
    assert "`leftoff config set --project reflect true`" in result.err
    assert not (stored / "memory.jsonl").exists()
    cli.ok("config", "set", "reflect", "true")
    assert "AUTO-REFLECTION" in cli.ok("reflect", "--auto").out


def test_the_setting_decides_what_becomes_active_at_once(cli: Cli, repo: Repo) -> None:
    corrected_talk(repo.folder)
    cli.ok("config", "set", "reflect_at", "medium")

    assert "2 rules saved:" in cli.ok("reflect").out
    assert rules(cli, "queued") == []


@pytest.mark.parametrize("other", ["--auto", "--dry-run"])
def test_review_goes_with_no_other_way(cli: Cli, other: str) -> None:
    result = cli("reflect", "--review", other)

    assert result.code == 2
    assert "--review" in result.err


def test_one_session_is_named_by_id_or_file(cli: Cli, repo: Repo, tmp_path: Path) -> None:
    corrected_talk(repo.folder, "aaaa-1")
    talk = found_talk(repo.folder, "bbbb-2")
    talk.ask("Never use eval.")
    copied = tmp_path / "copied.jsonl"
    copied.write_bytes(talk.transcript.read_bytes())

    assert len(cli.json("reflect", "--dry-run", "--session=aaaa")["saved"]) == 1
    assert cli.json("reflect", f"--session={copied}")["sessions"] == ["copied"]
    assert cli("reflect", "--session=cccc").code == 1


def test_sessions_that_rest_for_longer_than_since_are_left_alone(cli: Cli, repo: Repo) -> None:
    corrected_talk(repo.folder)

    assert cli("reflect", "--since=soon").code == 2
    assert cli.ok("reflect", "--since=2100-01-01").out == ""
    assert "AUTO-REFLECTION" in cli.ok("reflect", "--since=1h").out


@pytest.mark.slow("lets processes race")
def test_two_reflections_at_once_keep_each_rule_once(cli: Cli, repo: Repo) -> None:
    for number in range(5):
        corrected_talk(repo.folder, f"session-{number}")

    done = cli.shell("leftoff reflect --json & leftoff reflect --json & wait")

    assert done.returncode == 0, done.stderr
    assert rules(cli, "active") == [RULE]
    assert rules(cli, "queued") == [PREFER]


def test_as_a_process_it_answers_in_json_only(cli: Cli, repo: Repo) -> None:
    corrected_talk(repo.folder)

    done = cli.process("reflect", "--json")

    assert len(json.loads(done.stdout)["saved"]) == 1
    assert done.stderr == ""
