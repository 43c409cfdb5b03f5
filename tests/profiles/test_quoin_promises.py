"""quoin, sentence by sentence: what its users do and what they get."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from profiles.quoinspace import (
    MISMATCH,
    OTHER,
    SESSION,
    Workspace,
    followed,
    in_session,
    sections,
    work,
)
from talk import Talk

__all__ = ["in_session", "work"]

JSONL = "6f0c1d3e-7777-4b5c-9d0e-000000000007"


def ledger(work: Workspace, task: str) -> list[str]:
    return (work.root / task / "cost-ledger.md").read_text(encoding="utf-8").splitlines()[2:]


# Save


@pytest.mark.promise("quoin", 10)
def test_a_save_continues_when_its_pidfile_cannot_be_written(cli: Cli, work: Workspace) -> None:
    work.memory.mkdir(parents=True)
    (work.memory / "sessions").write_text("a file where the folder should be", encoding="utf-8")
    cli.ok("save", "login-form", "--summary", "Add a form")

    assert len(work.checkpoints()) == 1


@pytest.mark.promise("quoin", 15)
def test_without_git_the_branch_is_unknown(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for key in ("profile", "mirror"):
        cli.ok("config", "set", key, "quoin", "--project")
    cli.ok("save", "login-form", "--summary", "Add a form")

    (path,) = Workspace(folder).checkpoints()
    assert sections(path)["Branch"] == "unknown"
    assert sections(path)["Restore hint"].endswith("from branch 'unknown'.")


@pytest.mark.promise("quoin", 17)
def test_a_sentence_in_place_of_the_name_is_a_note(cli: Cli, work: Workspace) -> None:
    work.state("2026-11-15-payment-retry.md")
    cli.ok("save", "stopping for lunch, the backoff works")

    parts = sections(work.checkpoints()[0])
    assert parts["Active task"] == "payment-retry"
    assert parts["Last user intent"] == "stopping for lunch, the backoff works"
    assert parts["Unfinished work"].startswith("- T-04")


@pytest.mark.promise("quoin", 16, 23)
def test_the_intent_is_the_note_and_then_the_unfinished_work_whatever_the_task_is(
    cli: Cli, work: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    """The task comes from the transcript in a real session."""
    del in_session
    work.state("2026-11-15-Payment_retry.md", SESSION)
    cli.ok("save", "--summary", "Add the exporter")
    printed = cli.ok("save", "--note", "wip").out

    unfinished, noted = sorted(work.checkpoints(), key=lambda path: path.stat().st_mtime_ns)
    assert sections(unfinished)["Last user intent"] == "T-04 wire processRefund()"
    assert sections(noted)["Last user intent"] == "wip"
    assert sections(noted)["Task summary"] == "Add the exporter"
    assert len(printed.splitlines()) == 3
    out = cli.ok("restore").out
    assert "Resuming task: Payment_retry. Branch: main. Last intent: wip." in out


@pytest.mark.promise("quoin", 18)
def test_a_name_does_not_switch_off_the_session_file_and_the_artifacts(
    cli: Cli, work: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    del in_session
    state = work.state("2026-11-15-payment-retry.md", SESSION)
    plan = work.root / "refund-limits" / "current-plan.md"
    plan.parent.mkdir(parents=True)
    plan.write_text("# Plan\n", encoding="utf-8")
    review = work.root / "refund-limits" / "stage-2" / "round-1" / "review-3.md"
    review.parent.mkdir(parents=True)
    review.write_text("# Review\n", encoding="utf-8")
    cli.ok("save", "refund-limits")

    parts = sections(work.checkpoints()[0])
    assert parts["Active task"] == "refund-limits"
    assert parts["Current stage"] == "implement"
    assert parts["Open questions"] == "- dedupe window?"
    assert f"- current-plan.md: {plan}" in parts["In-flight artifacts"]
    assert f"- latest review: {review}" in parts["In-flight artifacts"]
    assert f"- session-state: {state}" in parts["In-flight artifacts"]


@pytest.mark.promise("quoin", 18)
def test_a_name_prefers_the_session_file_of_its_own_task(cli: Cli, work: Workspace) -> None:
    own = work.state("2026-11-15-login-form.md", OTHER, age=600)
    own.write_text(own.read_text(encoding="utf-8").replace("dedupe", "captcha"), encoding="utf-8")
    work.state("2026-11-15-payment-retry.md", SESSION)
    os.utime(own, (time.time() - 600, time.time() - 600))
    cli.ok("save", "login-form")

    assert sections(work.checkpoints()[0])["Open questions"] == "- captcha window?"


@pytest.mark.promise("quoin", 23)
def test_the_hint_and_the_status_are_quoins_own_sentences(cli: Cli, work: Workspace) -> None:
    cli.ok("save", "login-form", "--summary", "Add a form")
    parts = sections(work.checkpoints()[0])

    assert parts["Status"] == "checkpoint save (voluntary)"
    assert parts["Restore hint"] == (
        "Run /checkpoint --restore in a fresh session to resume task 'login-form' "
        "from branch 'main'."
    )


@pytest.mark.promise("quoin", 25)
def test_the_warning_about_the_size_is_quoins_own_sentence(cli: Cli, work: Workspace) -> None:
    result = cli.ok(
        "save", "login-form", "--summary", "Add a form", "--note", "x" * 3900 + " y" * 99
    )
    (path,) = work.checkpoints()
    size = path.stat().st_size

    assert size > 4096
    assert (
        f"[quoin checkpoint] WARNING: checkpoint file {path} exceeds 4 KB soft cap ({size} bytes) "
        "— paths-not-content rule may be violated; check for accidentally-included content."
    ) in result.err


@pytest.mark.promise("quoin", 27)
def test_the_session_is_the_one_of_the_session_file(cli: Cli, work: Workspace) -> None:
    work.state("2026-11-15-payment-retry.md", SESSION)
    cli.ok("save")

    assert work.marks() == [SESSION]
    (path,) = work.checkpoints()
    mark = work.memory / f"pending-restore-{SESSION}.txt"
    assert mark.read_text(encoding="utf-8") == f"{path}\n"
    assert ledger(work, "payment-retry")[0].startswith(f"{SESSION} | ")


@pytest.mark.promise("quoin", 31)
def test_without_a_session_the_ledger_names_the_newest_transcript(
    cli: Cli, work: Workspace, repo: Repo
) -> None:
    key = "".join(c if c.isalnum() and c.isascii() else "-" for c in str(repo.folder))
    folder = Path.home() / ".claude" / "projects" / key
    folder.mkdir(parents=True)
    for name, age in ((OTHER, 600), (JSONL, 5)):
        (folder / f"{name}.jsonl").write_text("", encoding="utf-8")
        os.utime(folder / f"{name}.jsonl", (time.time() - age, time.time() - age))
    cli.ok("save", "login-form", "--summary", "Add a form")
    cli.ok("restore")

    today = time.strftime("%Y-%m-%d")
    row = f"{JSONL} | {today} | checkpoint | haiku | task | {{}} | 0"
    assert ledger(work, "login-form") == [row.format("save"), row.format("restore")]
    assert work.marks() == []


@pytest.mark.promise("quoin", 61)
def test_a_task_keeps_its_spelling(cli: Cli, work: Workspace) -> None:
    work.state("2026-11-15-Payment_Retry.v2.md")
    cli.ok("save")

    (path,) = work.checkpoints()
    assert path.name.endswith("-Payment_Retry.v2.md")
    assert sections(path)["Active task"] == "Payment_Retry.v2"
    assert "resume task 'Payment_Retry.v2'" in sections(path)["Restore hint"]
    assert len(ledger(work, "Payment_Retry.v2")) == 1
    assert "Resuming task: Payment_Retry.v2." in cli.ok("restore").out


@pytest.mark.promise("quoin", 62)
def test_a_session_file_is_read_however_it_is_spelled(cli: Cli, work: Workspace) -> None:
    path = work.state("2026-11-15-payment-retry.md")
    path.write_text(
        "# Session\n\n### Status:\nin_progress\n\n## **Remaining work**\n1. [ ] T-04 wire it\n\n"
        "### Key Decisions (1)\n- Poll — webhooks get lost\n\n"
        "## Open questions:\n- None\n\n## Completed\n_None yet._\n\n"
        f"## Cost:\n- **Phase**: `review`\n- **Session UUID:** `{SESSION}`\n",
        encoding="utf-8",
    )
    cli.ok("save")

    parts = sections(work.checkpoints()[0])
    assert parts["Current stage"] == "review"
    assert parts["Last user intent"] == "T-04 wire it"
    assert parts["Unfinished work"] == "1. [ ] T-04 wire it"
    assert parts["Decisions made"] == "- Poll — webhooks get lost"
    assert parts["Open questions"] == "(none)"
    assert work.marks() == [SESSION]


@pytest.mark.promise("quoin", 62)
def test_tables_of_a_session_file_are_read_row_by_row(cli: Cli, work: Workspace) -> None:
    path = work.state("2026-11-15-payment-retry.md")
    path.write_text(
        "## Unfinished work\n- T-04 wire it\n\n"
        "## Open questions\n| # | Question | Owner |\n|---|---|---|\n"
        "| 1 | dedupe window? | Kim |\n\n"
        "## Decisions made\n| Decision | Rationale |\n|:--|:--|\n"
        "| Backoff with jitter | all clients come back at once |\n| Keep v1 | |\n\n"
        "## Cost\n| Field | Value |\n|---|---|\n"
        f"| Session UUID | {SESSION} |\n| Phase | review |\n",
        encoding="utf-8",
    )
    cli.ok("save")

    parts = sections(work.checkpoints()[0])
    assert parts["Current stage"] == "review"
    assert parts["Open questions"] == "- dedupe window? (Owner: Kim)"
    assert parts["Decisions made"] == (
        "- Backoff with jitter — all clients come back at once\n- Keep v1"
    )
    assert work.marks() == [SESSION]


@pytest.mark.promise("quoin", 62)
def test_a_bold_line_serves_beside_real_headings(cli: Cli, work: Workspace) -> None:
    path = work.state("2026-11-15-payment-retry.md")
    path.write_text(
        f"**Cost**\n- **Phase:** implement\n- **Session UUID:** `{SESSION}`\n\n"
        "## Open questions\n- dedupe window?\n",
        encoding="utf-8",
    )
    cli.ok("save")

    assert sections(work.checkpoints()[0])["Current stage"] == "implement"


@pytest.mark.promise("quoin", 62)
def test_a_numbered_item_with_details_loses_its_number_only(cli: Cli, work: Workspace) -> None:
    path = work.state("2026-11-15-payment-retry.md")
    path.write_text(
        "## Open questions\n1. Dedupe window?\n   - asked Kim\n2. Partial refunds?\n",
        encoding="utf-8",
    )
    cli.ok("save")

    found = sections(work.checkpoints()[0])["Open questions"]
    assert found == "- Dedupe window?\n   - asked Kim\n- Partial refunds?"


@pytest.mark.promise("quoin", 33)
def test_a_save_prints_three_lines_and_no_advice(
    cli: Cli, work: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    del in_session
    result = cli.ok("save", "login-form")

    assert len(result.out.splitlines()) == 3
    assert (result.err, len(work.checkpoints())) == ("", 1)


@pytest.mark.promise("quoin", 1)
def test_on_a_terminal_a_save_asks_nothing_either(cli: Cli, work: Workspace) -> None:
    work.state("2026-11-15-payment-retry.md", SESSION)
    with cli.terminal("save", columns=200) as terminal:
        printed = terminal.rest()

    assert "Checkpoint saved to: " in printed
    assert len(work.checkpoints()) == 1


# Restore


@pytest.mark.promise("quoin", 57, 58)
def test_what_quoin_saved_is_consumed_by_the_first_restore(
    cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project follows quoin, and no command of leftoff has run since."""
    work = followed(cli, repo)
    path = work.native("payment-retry", OTHER)
    before = path.read_bytes()
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    out = cli.ok("restore").out

    assert "Resuming task: payment-retry." in out
    assert work.marks() == []
    assert work.trashed() == [f"pending-restore-{OTHER}.txt"]
    assert path.read_bytes() == before
    today = time.strftime("%Y-%m-%d")
    row = f"{SESSION} | {today} | checkpoint | haiku | task | restore | 0"
    assert ledger(work, "payment-retry") == [row]
    cli.ok("list")
    assert ledger(work, "payment-retry") == [row]


@pytest.mark.promise("quoin", 80)
def test_a_mark_that_names_a_file_of_another_session_is_consumed(
    cli: Cli, work: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    cli.ok("save", "some-task", "--summary", "Do it")
    in_session.setenv("CLAUDE_CODE_SESSION_ID", OTHER)
    (path,) = work.checkpoints()
    (work.memory / f"pending-restore-{SESSION}.txt").unlink()
    work.mark(OTHER, path)
    os.utime(work.mark("older", path), (0, 0))
    result = cli.ok("restore")

    assert MISMATCH not in result.out
    assert work.marks() == []
    assert work.trashed() == [f"pending-restore-{OTHER}.txt", "pending-restore-older.txt"]


@pytest.mark.promise("quoin", 42)
def test_artifacts_around_the_worktree_are_read_too(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """quoin keeps one folder for several repositories."""
    work = Workspace(Path.home() / "shop")
    plan = work.root / "login-form" / "current-plan.md"
    plan.parent.mkdir(parents=True)
    plan.write_text("# The plan's own words\n", encoding="utf-8")
    repo = Repo(Path.home() / "shop" / "api")
    monkeypatch.chdir(repo.folder)
    followed(cli, repo)
    cli.ok("save", "login-form", "--summary", "Add a form")

    assert len(work.checkpoints()) == 1
    assert "The plan's own words" in cli.ok("restore", "--read-artifacts").out


@pytest.mark.promise("quoin", 2)
@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("save my place", "leftoff save"),
        ("checkpoint", "leftoff save"),
        ("save session", "leftoff save"),
        ("restore checkpoint", "leftoff resume|leftoff restore|leftoff resume --pending"),
        ("resume from checkpoint", "leftoff resume|leftoff restore|leftoff resume --pending"),
    ],
)
def test_what_people_say_leads_to_the_command(
    cli: Cli, work: Workspace, said: str, command: str
) -> None:
    del work
    cli.ok("save", "login-form", "--summary", "Add a form")

    assert cli.json("intent", said)["command"] in command.split("|")


@pytest.mark.promise("quoin", 60)
def test_waiting_prompts_are_named_when_a_session_starts(
    cli: Cli, work: Workspace, repo: Repo
) -> None:
    cli.ok("save", "login-form", "--summary", "Add a form")
    path = work.memory / f"pending-prompt-{OTHER}.txt"
    path.write_text(
        "=== BLOCKED PROMPT [2026-11-15T18:41:07Z] ===\nrename the column\n", encoding="utf-8"
    )
    text = Talk(repo.folder, SESSION).start()

    assert "leftoff: 1 prompt was never answered." in text
    assert "- rename the column (from a file)" in text
    assert "do not act on it until they answer" in text


# The shell


@pytest.mark.promise("quoin", 63)
def test_the_files_can_be_used_with_quoins_own_shell_lines(
    cli: Cli, work: Workspace, in_session: pytest.MonkeyPatch, repo: Repo
) -> None:
    del in_session
    cli.ok("save", "login-form", "--summary", "Add a form")
    (path,) = work.checkpoints()
    work.native("payment-retry", OTHER)
    script = r"""
    set -e
    sentinel_list=$(ls -t .workflow_artifacts/memory/pending-restore-*.txt 2>/dev/null)
    echo "$sentinel_list" | wc -l | tr -d ' '
    own=.workflow_artifacts/memory/pending-restore-$SID.txt
    cat "$own"
    sed -n '/^## Active task/{n;p;}' "$(cat "$own")"
    sed -n '/^## Branch/{n;p;}' "$(cat "$own")"
    ls -t .workflow_artifacts/memory/checkpoints/*.md | wc -l | tr -d ' '
    tail -1 .workflow_artifacts/login-form/cost-ledger.md | awk -F' [|] ' '{print NF, $3, $4}'
    trash=.workflow_artifacts/memory/trash/$(date +%F)
    mkdir -p "$trash" && mv "$own" "$trash/"
    """
    done = subprocess.run(
        ("bash", "-c", script), cwd=repo.folder, env={**os.environ, "SID": SESSION},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "2", str(path), "login-form", "main", "2", "7 checkpoint haiku",
    ]  # fmt: skip
    result = json.loads(cli.ok("restore", "--json").out)
    assert result["checkpoint"]["name"] == "payment-retry"
