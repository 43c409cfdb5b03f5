"""What guardz promises, played as its users do: words, files, lines and answers."""

import json
import os
import re
import subprocess
import time
from datetime import datetime
from pathlib import Path

import pytest

from cli.runs import Cli
from cli.screens import show
from gitrepo import Repo
from profiles.guarding import NATIVE, file_of, index, list_in_memory, memory, write_file
from talk import Talk

__all__ = ["memory"]


def names(memory: Path) -> list[str]:
    return sorted(path.stem.removeprefix("checkpoint-") for path in memory.glob("checkpoint-*.md"))


# Words


@pytest.mark.promise("guardz", 1, 2, 3)
@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("save checkpoint login-flow", "leftoff save login-flow"),
        ("save checkpoint", "leftoff save"),
        ("checkpoint", "leftoff save"),
        ("save my progress", "leftoff save"),
        ("continue", "leftoff resume --accept"),
        ("resume", "leftoff resume --accept"),
        ("resume work", "leftoff resume --accept"),
        ("/continue", "leftoff resume --accept"),
        ("where did we stop?", "leftoff resume"),
        ("continue Fix_Login.v2", "leftoff resume fix_login.v2 --accept"),
        ("clear checkpoint fix_login.v2", "leftoff clear fix_login.v2"),
        ("clear all checkpoints", "leftoff clear --all"),
        ("save checkpoint Größe_2.b", "leftoff save 'größe_2.b'"),
    ],
)
def test_the_words_of_the_original_mean_the_same(
    cli: Cli, memory: Path, words: str, command: str
) -> None:
    del memory
    cli.ok("save", "fix_login.v2", "--left-off", "At the form")

    assert cli.ok("intent", words).out == f"{command}\n"


# Names


@pytest.mark.promise("guardz", 4, 5, 6)
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Feat/My Thing", "feat-my-thing"),
        ("fix_login.v2", "fix_login.v2"),
        ("größe", "größe"),
        ("登录-flow", "登录-flow"),
        ("C# parser", "c#-parser"),
        ("..hidden", "hidden"),
        ("/-/x", "x"),
        ("../../etc/passwd", "etc-passwd"),
        ("task", "task"),
        ("backup", "backup"),
        ("a--b", "a--b"),
        ("Fix:  the  thing", "fix:--the--thing"),
        ("Use *args and `kw`", "use-*args-and-`kw`"),
        (r"C:\temp", r"c:\temp"),
        ("a / b/", "a---b-"),
    ],
)
def test_a_name_keeps_its_spelling(cli: Cli, memory: Path, given: str, kept: str) -> None:
    said = cli.ok("save", given, "--left-off", "At the form").out

    assert said == f'Checkpoint "{kept}" saved. Resume anytime: `continue {kept}`\n'
    assert names(memory) == [kept]
    assert f"- **{kept}** (" in index(memory)
    assert cli.json("show", given)["left_off"] == "At the form"
    cli.ok("resume", given, "--accept")
    assert names(memory) == []
    assert index(memory) == "# Project Memory\n"


@pytest.mark.promise("guardz", 8)
@pytest.mark.parametrize("name", ["autosave", "autosave-log"])
def test_the_names_of_our_own_checkpoints_are_free(
    cli: Cli, memory: Path, repo: Repo, name: str
) -> None:
    talk = Talk(repo.folder)
    talk.work()
    talk.fire("SessionEnd", reason="exit")
    cli.ok("save", name, "--left-off", "At the form")
    assert names(memory) == [name]

    assert "At the form" in cli.ok("resume", name, "--accept").out
    assert names(memory) == []
    cli.ok("undo")
    assert cli.ok("clear", name).out == f'Cleared checkpoint "{name}"\n'
    write_file(memory, name, NATIVE.format(name=name, left_off="At the callback"))
    assert "At the callback" in cli.ok("resume", name, "--accept").out
    assert names(memory) == []


@pytest.mark.promise("guardz", 11)
def test_another_name_can_be_typed_and_is_spelled_alike(cli: Cli, memory: Path) -> None:
    with cli.terminal("save", "--summary", "Round the invoice totals") as terminal:
        terminal.expect("2. Provide different name")
        terminal.answer("2")
        terminal.expect("Name")
        terminal.answer("..My Rounding_v2")
        terminal.expect('Checkpoint "my-rounding_v2" saved.')

    assert names(memory) == ["my-rounding_v2"]


# The memory folder


@pytest.mark.promise("guardz", 13)
def test_the_memory_folder_of_the_agents_settings_is_used(
    cli: Cli, memory: Path, repo: Repo
) -> None:
    settings = Path.home() / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('{"autoMemoryDirectory": "~/notes"}', encoding="utf-8")
    cli.ok("save", "login-flow", "--left-off", "At the form")

    assert names(Path.home() / "notes") == ["login-flow"]
    assert not memory.exists()

    local = repo.folder / ".claude" / "settings.local.json"
    local.parent.mkdir()
    inside = repo.folder / "memory"
    local.write_text(json.dumps({"autoMemoryDirectory": str(inside)}), encoding="utf-8")
    cli.ok("save", "cart-totals", "--left-off", "At the cart")
    assert names(inside) == ["cart-totals", "login-flow"]


@pytest.mark.promise("guardz", 13)
@pytest.mark.parametrize("text", ["{", "[]", '{"autoMemoryDirectory": 3}', "relative", "outside"])
def test_a_folder_that_a_repository_may_not_choose_is_ignored(
    cli: Cli, memory: Path, repo: Repo, tmp_path: Path, text: str
) -> None:
    folders = {"relative": ".claude/memory", "outside": str(tmp_path / "elsewhere")}
    named = json.dumps({"autoMemoryDirectory": folders[text]}) if text in folders else text
    path = repo.folder / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text(named, encoding="utf-8")
    cli.ok("save", "login-flow", "--left-off", "At the form")

    assert names(memory) == ["login-flow"]
    assert not (tmp_path / "elsewhere").exists()


# What is gathered


@pytest.mark.promise("guardz", 14)
def test_the_line_that_gathers_the_state_agrees_with_the_file(
    cli: Cli, memory: Path, repo: Repo
) -> None:
    repo.git("checkout", "-q", "-b", "fix/rounding")
    (repo.folder / "new.py").write_text("x\n", encoding="utf-8")
    line = "git branch --show-current && git status --short | head -10 && date '+%Y-%m-%d %H:%M'"
    branch, status, before = bash(line, repo.folder).splitlines()
    cli.ok("save", "rounding", "--left-off", "At the cents")
    after = bash(line, repo.folder).splitlines()[-1]

    text = file_of(memory, "rounding")
    saved = re.search(r"- \*\*Saved:\*\* (.*)\n", text)
    assert f"- **Branch:** `{branch}`\n" in text
    assert saved is not None
    assert before <= saved[1] <= after
    assert f"## Modified Files\n- {status.split()[-1]}\n" in text


@pytest.mark.promise("guardz", 16, 19)
def test_what_a_session_did_is_gathered_from_it(cli: Cli, memory: Path, repo: Repo) -> None:
    talk = Talk(repo.folder)
    talk.work()
    cli.ok("save", "login", "--from", str(talk.transcript), "--failed", "cookies :: proxy")

    text = file_of(memory, "login")
    assert "## Modified Files\n- app.py\n" in text
    assert "- cookies — proxy\n" in text


# The plan


PLANS = {
    "ticked": ("- [x] Read\n- [x] Parse\n- [ ] Write\n", "step 3 of 3"),
    "headings": ("## Step 1: Read ✅\n\n## Step 2: Parse\n\n## Step 3: Write\n", "step 2 of 3"),
    "phases": ("## Phase 1\nRead\n\n## Phase 2\nParse\n", "step 1 of 2"),
    "numbers": ("## Steps\n1. Read it\n2. Parse it\n3. Write it\n4. Ship it\n", "step 1 of 4"),
    "bullets": ("## Tasks\n- Read it\n- Parse it\n- Write it\n", "step 1 of 3"),
    "table": (
        "| # | Step | Status |\n|---|---|---|\n| 1 | Read | ✅ |\n| 2 | Parse | |\n",
        "step 2 of 2",
    ),
    "struck": ("1. ~~Read~~\n2. ~~Parse~~\n3. Write\n", "step 3 of 3"),
    "struck bullets": ("- ~~Read~~\n- Parse\n- Write\n", "step 2 of 3"),
    "in French": ("## Étape 1 : Lire ✅\n\n## Étape 2 : Écrire\n", "step 2 of 2"),
}


@pytest.mark.promise("guardz", 20, 23, 29)
@pytest.mark.parametrize("kind", PLANS)
def test_the_plan_that_a_session_states_is_a_line_with_its_step(
    cli: Cli, memory: Path, repo: Repo, kind: str
) -> None:
    body, step = PLANS[kind]
    plan = put_plan("parser.md", f"# Parser\n\n{body}")
    talk = Talk(repo.folder)
    talk.ask("Write the parser")
    talk.line(
        type="attachment",
        attachment={"type": "plan_mode", "planFilePath": str(plan), "planExists": True},
    )
    talk.edit("app.py")
    cli.ok("save", "parser", "--from", str(talk.transcript))

    assert f"- **Plan:** `~/.claude/plans/parser.md` ({step})\n" in file_of(memory, "parser")


@pytest.mark.promise("guardz", 21)
def test_the_plan_that_the_user_mentions_is_found(cli: Cli, memory: Path, repo: Repo) -> None:
    put_plan("parser.md", "# Parser\n\n- [x] Read\n- [ ] Write\n")
    talk = Talk(repo.folder)
    talk.ask("Implement the following plan: ~/.claude/plans/parser.md")
    talk.edit("app.py")
    cli.ok("save", "parser", "--from", str(talk.transcript))

    text = file_of(memory, "parser")
    assert "- **Plan:** `~/.claude/plans/parser.md` (step 2 of 2)\n" in text


@pytest.mark.promise("guardz", 22)
def test_the_newest_plan_is_taken_only_if_it_matches_the_work(cli: Cli, memory: Path) -> None:
    put_plan("parser.md", "# Rewrite the invoice parser\n\n- [ ] Read\n- [ ] Write\n")
    put_plan("other.md", "# Paint the garden fence\n\n- [ ] Buy paint\n")
    cli.ok("save", "parser", "--summary", "Rewrite the invoice parser")
    cli.ok("save", "question", "--summary", "Explain the build cache")

    assert "- **Plan:** `~/.claude/plans/parser.md` (step 1 of 2)\n" in file_of(memory, "parser")
    assert "**Plan:**" not in file_of(memory, "question")


@pytest.mark.promise("guardz", 23)
def test_words_say_at_which_step_the_work_stopped(cli: Cli, memory: Path, repo: Repo) -> None:
    text = "# Totals\n\n## Steps\n- Read the invoices\n- Replace floats\n- Migrate the totals\n"
    (repo.folder / "p.md").write_text(text, encoding="utf-8")
    for name, words in {
        "by-number": ["--left-off", "In step 2, half of the files"],
        "by-words": ["--left-off", "Migrating the totals; the index is missing"],
        "by-done": ["--left-off", "Stopped", "--done", "Read all the invoices"],
        "by-nothing": ["--left-off", "Stopped", "--done", "Cleaned up"],
    }.items():
        cli.ok("save", name, "--plan", "p.md", *words)

    def step(name: str) -> str:
        found = re.search(r"`p.md` \((.*)\)", file_of(memory, name))
        return found[1] if found else ""

    assert step("by-number") == "step 2 of 3"
    assert step("by-words") == "step 3 of 3"
    assert step("by-done") == "step 2 of 3"
    # Something is done, but nothing says which steps.
    assert step("by-nothing") == "3 steps"


# A name in use


@pytest.mark.promise("guardz", 25, 26)
def test_an_existing_checkpoint_is_shown_before_it_is_overwritten(cli: Cli, memory: Path) -> None:
    write_file(memory, "login-flow", NATIVE.format(name="login-flow", left_off="At the callback"))
    cli.ok("save", "cart-totals", "--left-off", "At the cart")
    with cli.terminal("save", "login-flow", "--left-off", "At the token") as terminal:
        terminal.expect("2026-11-15 18:40: At the callback")
        terminal.expect("1. Overwrite")
        terminal.expect("2. Different name")
        terminal.answer("2")
        terminal.expect("Name")
        terminal.answer("cart-totals")
        terminal.expect("At the cart")
        terminal.answer("2")
        terminal.expect("Name")
        terminal.answer("login-flow-2")
        terminal.expect('Checkpoint "login-flow-2" saved.')

    assert "At the callback" in file_of(memory, "login-flow")
    assert "At the token" in file_of(memory, "login-flow-2")


@pytest.mark.promise("guardz", 25)
def test_overwriting_replaces_the_file(cli: Cli, memory: Path) -> None:
    cli.ok("save", "login-flow", "--left-off", "At the callback")
    with cli.terminal("save", "login-flow", "--left-off", "At the token") as terminal:
        terminal.expect("2. Different name")
        terminal.answer("1")
        terminal.expect('Checkpoint "login-flow" saved.')

    assert "## Left Off\nAt the token\n" in file_of(memory, "login-flow")
    assert "callback" not in file_of(memory, "login-flow")


@pytest.mark.promise("guardz", 30)
def test_where_the_work_stopped_keeps_its_lines(cli: Cli, memory: Path) -> None:
    cli.ok("save", "rounding", "--left-off", "Half even is in.\nThe table uses floats.\nThird.")

    text = file_of(memory, "rounding")
    assert "## Left Off\nHalf even is in.\nThe table uses floats.\nThird.\n\n" in text


class LaterTalk(Talk):
    """A conversation that goes on after every save of the test."""

    def line(self, **fields: object) -> None:
        super().line(**{"timestamp": "2099-01-01T12:00:00.000Z", **fields})


@pytest.mark.promise("guardz", 66)
@pytest.mark.parametrize("event", ["SessionEnd", "PreCompact"])
def test_where_the_work_stopped_survives_an_automatic_save(
    cli: Cli, memory: Path, repo: Repo, event: str
) -> None:
    plan = put_plan("login.md", "# Login\n\n1. Fields\n2. Callback\n3. Docs\n")
    talk = Talk(repo.folder)
    talk.ask("Log in with OAuth")
    talk.line(
        type="attachment",
        attachment={"type": "plan_mode", "planFilePath": str(plan), "planExists": True},
    )
    talk.edit("app.py")
    left = "In step 2 the choice is open: cookies or tokens?"
    cli.ok("save", "login", "--from", str(talk.transcript), "--left-off", left)
    assert "(step 2 of 3)" in file_of(memory, "login")
    talk.ask("save my progress")
    talk.say('Checkpoint "login" saved.')
    talk.fire(event, reason="exit", trigger="auto")

    out = cli.ok("resume", "login").out
    assert f"Left off:\n > {left}" in out
    assert "(step 2 of 3)" in out
    assert "(step 2 of 3)" in file_of(memory, "login")
    # Work that follows makes it outdated.
    later = LaterTalk(repo.folder)
    later.edit("later.py")
    later.say("The callback uses tokens.")
    later.fire(event, reason="exit", trigger="auto")
    out = cli.ok("resume", "login").out
    assert "The agent's last words:\n > The callback uses tokens." in out
    assert left not in out


# What a save prints


@pytest.mark.promise("guardz", 39, 40)
@pytest.mark.parametrize("percent", [10, 92, 97, 100])
def test_a_save_prints_its_line_and_nothing_else(cli: Cli, memory: Path, percent: int) -> None:
    del memory
    fields = json.dumps({"left_off": "Stopped", "context": {"percent": percent}})
    result = cli.ok("save", "login", "--from-json", "-", "--decision", "Cookies", stdin=fields)

    assert result.out == 'Checkpoint "login" saved. Resume anytime: `continue login`\n'
    assert result.err == ""


@pytest.mark.promise("guardz", 39, 64)
def test_a_save_in_a_session_that_was_saved_before_prints_its_line_only(
    cli: Cli, memory: Path, repo: Repo
) -> None:
    talk = Talk(repo.folder)
    talk.work()
    talk.fire("PreCompact", trigger="manual")
    assert len(cli.json("list")) == 1
    result = cli.ok("save", "login", "--from", str(talk.transcript), "--left-off", "At the form")

    assert result.out == 'Checkpoint "login" saved. Resume anytime: `continue login`\n'
    assert names(memory) == ["login"]


@pytest.mark.promise("guardz", 40)
@pytest.mark.parametrize("percent", [91, 96, 100])
def test_no_hook_suggests_to_compact_or_clear(memory: Path, repo: Repo, percent: int) -> None:
    del memory
    talk = Talk(repo.folder)
    talk.work(percent=percent)
    talk.fire("UserPromptSubmit", prompt="Go on")

    said = talk.waiting_reply()
    assert f"context at {percent}" in said
    assert "compact" not in said
    assert "/clear" not in said


# Resuming


@pytest.mark.promise("guardz", 41)
@pytest.mark.parametrize("spelling", ["Fix_Login.v2", "fix_login.v2", "FIX_LOGIN.V2"])
def test_a_name_is_found_in_any_case(cli: Cli, memory: Path, spelling: str) -> None:
    cli.ok("save", "Fix_Login.v2", "--left-off", "At the form")

    assert "At the form" in cli.ok("resume", spelling, "--accept").out
    assert names(memory) == []


@pytest.mark.promise("guardz", 42)
def test_the_only_checkpoint_is_resumed_whatever_was_saved_automatically(
    cli: Cli, memory: Path, repo: Repo
) -> None:
    for number in range(3):
        talk = Talk(repo.folder, f"other-{number}")
        talk.work()
        talk.fire("SessionEnd", reason="exit")
    cli.ok("save", "login-flow", "--left-off", "At the callback")
    assert len(cli.json("list")) > 1

    assert "At the callback" in cli.ok("resume", "--accept").out
    assert names(memory) == []


@pytest.mark.promise("guardz", 42)
def test_on_a_terminal_the_only_checkpoint_is_resumed_without_a_question(
    cli: Cli, memory: Path
) -> None:
    cli.ok("save", "login-flow", "--left-off", "At the callback")
    with cli.terminal("resume") as terminal:
        out = terminal.rest()

    assert "At the callback" in out
    assert names(memory) == []


@pytest.mark.promise("guardz", 43)
def test_of_several_the_user_chooses_by_branch_and_date(cli: Cli, memory: Path, repo: Repo) -> None:
    cli.ok("save", "login-flow", "--left-off", "At the callback")
    repo.git("checkout", "-q", "-b", "fix/cart")
    cli.ok("save", "cart-totals", "--left-off", "At the cart")
    day = time.strftime("%Y-%m-%d")
    with cli.terminal("resume", columns=120, env={"TERM": "dumb"}) as terminal:
        terminal.expect("2 threads can be resumed")
        shown = terminal.expect("Which one")
        terminal.answer("1")
        shown += terminal.rest()

    assert all(text in shown for text in ("login-flow", "cart-totals", "main", "fix/cart", day))
    assert names(memory) == ["login-flow"]


@pytest.mark.promise("guardz", 43)
def test_a_bare_continue_takes_none_of_several(cli: Cli, memory: Path, repo: Repo) -> None:
    for name in ("login-flow", "cart-totals"):
        cli.ok("save", name, "--left-off", "At the callback")
    talk = Talk(repo.folder)
    shown = talk.start()
    talk.ask("continue")
    talk.fire("UserPromptSubmit", prompt="continue")

    assert '"continue" without a name chooses none' in shown
    assert {entry["state"] for entry in cli.json("list")} == {"open"}
    assert names(memory) == ["cart-totals", "login-flow"]


@pytest.mark.promise("guardz", 43)
def test_the_picker_names_branch_and_date_of_each(cli: Cli, memory: Path, repo: Repo) -> None:
    cli.ok("save", "login-flow", "--left-off", "At the callback")
    repo.git("checkout", "-q", "-b", "fix/cart")
    cli.ok("save", "cart-totals", "--left-off", "At the cart")
    days = {name: time.strftime("%Y-%m-%d") for name in ("login-flow", "cart-totals")}
    with show("resume", columns=100, rows=24) as screen:
        screen.wait(f"login-flow · {days['login-flow']} · main")
        screen.wait(f"cart-totals · {days['cart-totals']} · fix/cart")
        screen.press("\x1b")
        screen.finish()

    assert names(memory) == ["cart-totals", "login-flow"]


@pytest.mark.promise("guardz", 44)
def test_without_any_checkpoint_that_is_all_it_says(cli: Cli, memory: Path) -> None:
    del memory

    assert cli.ok("resume").out == "No saved checkpoints found.\n"


@pytest.mark.promise("guardz", 44)
def test_what_was_saved_automatically_is_not_a_saved_checkpoint(
    cli: Cli, memory: Path, repo: Repo
) -> None:
    del memory
    talk = Talk(repo.folder)
    talk.work()
    talk.fire("SessionEnd", reason="exit")
    [entry] = cli.json("list")

    for words in (["resume"], ["resume", "--accept"]):
        result = cli.ok(*words)
        assert result.out == "No saved checkpoints found.\n"
        assert f"leftoff resume {entry['name']}" in result.err
    assert cli.json("list")[0]["state"] == "open"
    assert cli.ok("clear", "--all").out == "Cleared 0 checkpoint(s)\n"


@pytest.mark.promise("guardz", 45, 46, 51)
def test_a_file_that_the_agent_wrote_is_presented(cli: Cli, memory: Path, repo: Repo) -> None:
    write_file(memory, "login-flow", NATIVE.format(name="login-flow", left_off="At the callback"))
    repo.git("checkout", "-q", "-b", "side")
    out = cli.ok("resume", "login-flow", "--accept").out

    assert "At the callback" in out
    assert "⚠ Previously failed: Cookies — the proxy drops them" in out
    assert (
        "Warning: You're on `side` but checkpoint was saved on `main`. "
        "Switch with: git checkout main" in out
    )


@pytest.mark.promise("guardz", 46)
def test_a_detached_head_is_another_branch_in_both_directions(
    cli: Cli, memory: Path, repo: Repo
) -> None:
    commit = repo.head()[:7]
    cli.ok("save", "on-main", "--left-off", "At the callback")
    repo.git("checkout", "-q", "--detach")
    cli.ok("save", "detached", "--left-off", "At the form")
    assert "Warning" not in cli.ok("resume", "detached").out
    assert (
        f"You're on `{commit}` but checkpoint was saved on `main`."
        in cli.ok("resume", "on-main").out
    )

    repo.git("checkout", "-q", "main")
    warning = (
        f"Warning: You're on `main` but checkpoint was saved on `{commit}`. "
        f"Switch with: git checkout {commit}"
    )
    assert warning in cli.ok("resume", "detached").out
    text = file_of(memory, "detached").replace("Checkpoint: detached", "Checkpoint: by-hand")
    write_file(memory, "by-hand", text)
    assert warning in cli.ok("resume", "by-hand", "--accept").out


FAILURES = {
    "table": "| Approach | Why |\n|---|---|\n| Cookies | the proxy drops them |",
    "numbered table": "| # | Tried | Result |\n|:-|:-|:-|\n| 1 | Cookies | the proxy drops them |",
    "headings": "### Cookies\nthe proxy drops them",
    "below": "- Cookies\n  - **Why:** the proxy drops them",
    "bold": "- **Cookies**: the proxy drops them",
    "colon": "* Cookies: the proxy drops them",
    "hyphen": "1. Cookies - the proxy drops them",
    "arrow": "- Cookies → the proxy drops them",
}


@pytest.mark.promise("guardz", 51)
@pytest.mark.parametrize("form", FAILURES)
@pytest.mark.parametrize(
    "title", ["Failed Approaches", "Approches échouées", "Gescheiterte Ansätze", "失败的尝试"]
)
def test_each_failed_approach_is_shown_with_its_reason(
    cli: Cli, memory: Path, form: str, title: str
) -> None:
    text = NATIVE.format(name="login-flow", left_off="At the callback")
    native = "## Failed Approaches\n- Cookies — the proxy drops them"
    write_file(memory, "login-flow", text.replace(native, f"## {title}\n{FAILURES[form]}"))

    out = cli.ok("resume", "--accept").out
    assert "⚠ Previously failed: Cookies — the proxy drops them\n" in out
    assert out.count("Previously failed") == 1


@pytest.mark.promise("guardz", 51, 63)
@pytest.mark.parametrize("words", ["- None", "None.", "- None (all went well)", "- Aucune", "- 无"])
def test_nothing_failed_in_any_words(cli: Cli, memory: Path, words: str) -> None:
    text = NATIVE.format(name="login-flow", left_off="At the callback")
    write_file(memory, "login-flow", text.replace("- Cookies — the proxy drops them", words))

    assert "Previously failed" not in cli.ok("resume", "--accept").out


FRENCH = """\
# Checkpoint : facture

- **Branche :** `main`
- **Enregistré :** {saved}
- **Plan :** `~/.claude/plans/parser.md` (étape 2 sur 3)

## Où le travail s'est arrêté
La table utilise encore des flottants.

## Fait pendant cette session
- Remplacé round()

## Fichiers modifiés
| Fichier | Modification |
|---|---|
| src/money.py | arrondi |
"""


@pytest.mark.promise("guardz", 45, 61)
@pytest.mark.parametrize(
    "saved",
    [
        "15 novembre 2026 à 18h40", "Nov 15, 2026 6:40 PM", "15.11.2026 18:40", "2026-11-15T18:40",
        "Sunday, November 15th, 2026 at 18:40", "2026年11月15日 18:40", "11/15/2026 18:40",
    ],
)  # fmt: skip
def test_a_file_in_another_language_is_understood(cli: Cli, memory: Path, saved: str) -> None:
    write_file(memory, "facture", FRENCH.format(saved=saved))

    shown = cli.json("show", "facture")
    assert shown["branch"] == "main"
    moment = datetime.fromisoformat(shown["saved_at"]).astimezone()
    assert f"{moment:%Y-%m-%d %H:%M}" == "2026-11-15 18:40"
    assert shown["plan"] == {"path": "~/.claude/plans/parser.md", "step": 2, "total": 3}
    assert shown["left_off"] == "La table utilise encore des flottants."
    assert shown["done"] == ["Remplacé round()"]
    assert shown["files_modified"] == ["src/money.py"]


@pytest.mark.promise("guardz", 32, 38)
@pytest.mark.parametrize("saved", ["2026-11-15 18:40", "yesterday evening", ""])
def test_the_line_of_a_file_that_nobody_changed_stays(cli: Cli, memory: Path, saved: str) -> None:
    text = NATIVE.format(name="by-hand", left_off="At the callback")
    write_file(memory, "by-hand", text.replace("2026-11-15 18:40", saved))
    list_in_memory(memory, "- **by-hand** (main, Nov 10) — at the callback\n  - and a detail")
    before = index(memory)
    for words in (["list"], ["show", "by-hand"], ["resume", "by-hand"], ["status"]):
        cli.ok(*words)
    assert index(memory) == before

    cli.ok("save", "login-flow", "--left-off", "At the form")
    assert "- **by-hand** (main, Nov 10) — at the callback\n  - and a detail\n" in index(memory)
    cli.ok("resume", "login-flow", "--accept")
    assert index(memory) == before


@pytest.mark.promise("guardz", 47)
@pytest.mark.parametrize("looks_first", ["hook", "command", "nobody"])
def test_a_missing_file_is_cleaned_up_whichever_command_finds_it_first(
    cli: Cli, memory: Path, repo: Repo, looks_first: str
) -> None:
    cli.ok("save", "login-flow", "--left-off", "At the callback")
    cli.ok("save", "cart-totals", "--left-off", "At the cart")
    listed = index(memory).replace("Resume any", "- **old-one** (main, Nov 01) — gone\nResume any")
    (memory / "MEMORY.md").write_text(listed, encoding="utf-8")
    (memory / "checkpoint-login-flow.md").unlink()
    if looks_first == "hook":
        talk = Talk(repo.folder)
        talk.work()
        talk.fire("UserPromptSubmit", prompt="Go on")
    elif looks_first == "command":
        cli.ok("list")

    for name in ("login-flow", "old-one"):
        said = cli.ok("resume", name, "--accept").out
        assert said == "Checkpoint file missing (cleaned up stale entry)\n"
        assert f"**{name}**" not in index(memory)
    assert "**cart-totals**" in index(memory)


@pytest.mark.promise("guardz", 48)
def test_a_name_that_never_existed_has_no_file_either(cli: Cli, memory: Path) -> None:
    cli.ok("save", "login-flow", "--left-off", "At the callback")
    result = cli("resume", "never-heard-of")

    assert result.out == "Checkpoint file missing (cleaned up stale entry)\n"
    assert (result.code, "No checkpoint named" in result.err) == (1, True)
    assert names(memory) == ["login-flow"]

    # Nor does one that was resumed have a file.
    cli.ok("resume", "login-flow", "--accept")
    result = cli("resume", "login-flow")
    assert result.out == "Checkpoint file missing (cleaned up stale entry)\n"
    assert (result.code, "leftoff trash restore login-flow" in result.err) == (1, True)


@pytest.mark.promise("guardz", 50)
def test_the_plan_is_read_when_its_checkpoint_is_resumed(cli: Cli, memory: Path) -> None:
    put_plan("parser.md", "# Parser\n\n- [x] Read\n- [ ] Write the emitter\n")
    plan = "- **Plan:** `~/.claude/plans/parser.md` (step 2 of 2)"
    text = NATIVE.format(name="parser", left_off="At the emitter")
    write_file(memory, "parser", text.replace("18:40\n", f"18:40\n{plan}\n"))

    out = cli.ok("resume", "parser", "--accept").out
    assert "Write the emitter" in out
    assert "(step 2 of 2)" in out


@pytest.mark.promise("guardz", 52, 53)
@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("login-flow", "- **login-flow** (main, Nov 15) — at the callback"),
        ("Login Flow", "- **Login Flow** (main, Nov 15) — at the callback"),
        ("Login Flow", "* **login flow**: at the callback\n  - with a detail"),
        ("login-flow", "- [Login flow](checkpoint-login-flow.md) — at the callback"),
        ("login-flow", "- `login-flow` (main) - at the callback"),
    ],
)
def test_file_and_line_go_together_and_come_back_together(
    cli: Cli, memory: Path, file: str, line: str
) -> None:
    path = write_file(memory, file, NATIVE.format(name=file, left_off="At the callback"))
    before = path.read_bytes()
    list_in_memory(memory, line)
    out = cli.ok("resume", "login-flow", "--accept").out

    assert not path.exists()
    assert index(memory) == "# Project Memory\n"
    assert "clear" not in out.lower()
    cli.ok("undo")
    assert path.read_bytes() == before
    assert f"{line}\nResume any" in index(memory)


@pytest.mark.promise("guardz", 45, 62)
def test_a_file_without_any_heading_is_a_checkpoint(cli: Cli, memory: Path) -> None:
    write_file(memory, "parser", "The parser reads dates.\n\nTimes are missing.\n")

    out = cli.ok("resume", "--accept").out
    assert "The parser reads dates." in out
    assert "Times are missing." in out
    assert names(memory) == []


@pytest.mark.promise("guardz", 49)
def test_what_guardz_does_not_know_is_shown_and_given_back(cli: Cli, memory: Path) -> None:
    more = "\n## Gotchas\n- The clock is wrong\n  - by an hour\n\n| a | b |\n|---|---|\n| c | d |\n"
    text = NATIVE.format(name="clock", left_off="At the dial") + more
    path = write_file(memory, "clock", text)
    out = cli.ok("resume", "clock", "--accept").out

    for words in ("Gotchas", "The clock is wrong", "by an hour", "c | d"):
        assert words in out
    cli.ok("undo")
    assert path.read_text(encoding="utf-8") == text


# Cleaning up


@pytest.mark.promise("guardz", 56)
def test_removing_the_file_in_a_shell_clears_the_checkpoint(cli: Cli, memory: Path) -> None:
    cli.ok("save", "login-flow", "--left-off", "At the callback")
    cli.ok("save", "cart-totals", "--left-off", "At the cart")
    bash("rm checkpoint-login-flow.md", memory)

    assert [each["name"] for each in cli.json("list")] == ["cart-totals"]
    assert "login-flow" not in index(memory)
    assert cli.ok("clear", "login-flow").out == 'Cleared checkpoint "login-flow"\n'
    cli.ok("undo")
    assert names(memory) == ["cart-totals", "login-flow"]


@pytest.mark.promise("guardz", 57)
def test_clearing_one_removes_its_file_and_line(cli: Cli, memory: Path) -> None:
    cli.ok("save", "login-flow", "--left-off", "At the callback")
    cli.ok("save", "cart-totals", "--left-off", "At the cart")

    assert cli.ok("clear", "Login-Flow").out == 'Cleared checkpoint "login-flow"\n'
    assert names(memory) == ["cart-totals"]
    assert "login-flow" not in index(memory)
    assert "**cart-totals**" in index(memory)


@pytest.mark.promise("guardz", 58)
def test_all_are_cleared_and_the_count_is_what_the_user_sees(
    cli: Cli, memory: Path, repo: Repo
) -> None:
    talk = Talk(repo.folder)
    talk.work()
    talk.fire("SessionEnd", reason="exit")
    cli.ok("save", "cart-totals", "--left-off", "At the cart")
    write_file(memory, "By Hand", NATIVE.format(name="by-hand", left_off="At the callback"))

    assert bash("ls checkpoint-*.md | wc -l", memory).strip() == "2"
    result = cli.ok("clear", "--all")
    assert result.out == "Cleared 2 checkpoint(s)\n"
    assert "1 automatic save cleared, too" in result.err
    assert bash("ls", memory) == "MEMORY.md\n"
    assert index(memory) == "# Project Memory\n"


def put_plan(name: str, text: str) -> Path:
    path = Path.home() / ".claude" / "plans" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def bash(line: str, folder: Path) -> str:
    """Run a line of the original text."""
    return subprocess.run(
        ("bash", "-c", line), cwd=folder, env=os.environ, capture_output=True, text=True, check=True
    ).stdout


# After resuming


@pytest.mark.promise("guardz", 54, 65)
def test_a_session_that_dies_after_resuming_keeps_what_it_resumed(
    cli: Cli, memory: Path, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--summary", "Log in with OAuth", "--left-off", "At the form"]
    cli.ok("save", "login-flow", *words, "--failed", "Cookies :: the proxy drops them")
    talk = Talk(repo.folder, "second")
    talk.start()
    talk.ask("continue login-flow")
    with monkeypatch.context() as inside:
        inside.setenv("CLAUDE_CODE_SESSION_ID", "second")
        inside.setenv("CLAUDECODE", "1")
        cli.ok("resume", "login-flow", "--accept")
    talk.work()
    talk.fire("SessionEnd", reason="exit")

    assert names(memory) == []
    assert cli.ok("resume").out == "No saved checkpoints found.\n"
    [entry] = cli.json("list")
    assert (entry["name"], entry["summary"]) == ("login-flow", "Log in with OAuth")
    out = cli.ok("resume", "login-flow").out
    for text in ("⚠ Previously failed: Cookies", "app.py"):
        assert text in out
    cli.ok("save", "other", "--left-off", "At the cart")
    cli.ok("undo")
    assert names(memory) == []


@pytest.mark.promise("guardz", 67)
def test_a_session_is_asked_before_it_overwrites_its_own_checkpoint(
    cli: Cli, memory: Path, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Talk(repo.folder)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)
    talk.work()
    cli.ok("save", "login-flow", "--left-off", "At the callback")
    result = cli("save", "login-flow", "--left-off", "At the token")

    assert result.code == 3
    assert [each["label"] for each in result.json["choices"]] == ["Overwrite", "Different name"]
    assert "At the callback" in file_of(memory, "login-flow")
    cli.ok("resume", "login-flow", "--accept")
    cli.ok("save", "login-flow", "--left-off", "At the token")
    assert "At the token" in file_of(memory, "login-flow")


@pytest.mark.promise("guardz", 68)
def test_work_on_a_plan_is_named_after_the_plan(cli: Cli, memory: Path, repo: Repo) -> None:
    talk = Talk(repo.folder)
    put_plan("billing.md", "# Billing cleanup\n\n## Step 1: Read\n## Step 2: Round the totals\n")
    talk.ask("Implement the following plan: ~/.claude/plans/billing.md")
    talk.edit("app.py")
    talk.say("Step 1 is done. I am at step 2.")
    cli.ok("save", "--from", str(talk.transcript))

    assert names(memory) == ["billing-cleanup"]
    assert "(step 2 of 2)" in file_of(memory, "billing-cleanup")


@pytest.mark.promise("guardz", 45)
def test_bold_lines_and_dashes_serve_beside_real_headings(cli: Cli, memory: Path) -> None:
    write_file(
        memory,
        "llm-made",
        "# Checkpoint: llm-made\n\n* **branch** – `other`\n\n**Left Off**\nAt the callback.\n\n"
        "### Done this session:\n1. Wrote oauth\n",
    )
    shown = cli.json("show", "llm-made")

    assert (shown["branch"], shown["left_off"]) == ("other", "At the callback.")
    assert shown["done"] == ["Wrote oauth"]
    assert "checkpoint was saved on `other`" in cli.ok("resume").out


@pytest.mark.promise("guardz", 70)
def test_a_failure_that_is_known_adds_no_line_to_the_answer(cli: Cli, memory: Path) -> None:
    failed = ("--failed", "Patch round globally :: broke the axis labels")
    cli.ok("save", "rounding", "--left-off", "Half done", *failed)
    again = cli.ok("save", "charts", "--left-off", "Half done", *failed)

    assert again.out == 'Checkpoint "charts" saved. Resume anytime: `continue charts`\n'
    assert again.err == ""
    assert names(memory) == ["charts", "rounding"]
