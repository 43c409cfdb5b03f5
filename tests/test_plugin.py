"""The Claude Code plugin fits the program, and is silent where it has nothing to do."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import click
import pytest

import leftoff
from gitrepo import Repo
from leftoff import context
from leftoff.cli import leftoff as program
from leftoff.cli.catalog import COMMANDS
from leftoff.hooks import replies, settle
from leftoff.phrases.intents import find_intent, passes_always
from leftoff.wiring import claude_hooks as wiring
from leftoff.wiring.claude_hooks import EVENTS

ROOT = Path(__file__).parent.parent
PLUGIN = ROOT / "plugin"
RENDER = runpy.run_path(str(ROOT / "scripts" / "plugin.py"))["render"]
COMMAND_PAGES = sorted((PLUGIN / "commands").glob("*.md"))
SKILL = PLUGIN / "skills" / "leftoff" / "SKILL.md"
RUNNER = 'sh "${CLAUDE_PLUGIN_ROOT}/leftoff.sh"'
# What runs programs, writes where it is told to, changes settings or destroys: a person decides.
HARMFUL = set("briefing capture config export import init off purge ship uninstall".split())
# What ends work: the user must have typed its slash command, or approve it.
ENDING = set("clear delete done drop".split())


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def shipped(*parts: str) -> bytes:
    return resources.files("leftoff").joinpath(*parts).read_bytes()


def allowed(page: Path) -> set[str]:
    """Return the command lines that a page lets the agent run without asking."""
    line = re.search(r"^allowed-tools: (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert line
    rules = re.findall(r"Bash\(([^)]*)\)", line[1])
    assert ", ".join(f"Bash({rule})" for rule in rules) == line[1]
    return set(rules)


# --- its parts ---


def test_the_marketplace_leads_to_the_plugin_of_this_version() -> None:
    market = read_json(ROOT / ".claude-plugin" / "marketplace.json")
    manifest = read_json(PLUGIN / ".claude-plugin" / "plugin.json")

    (offered,) = market["plugins"]
    assert (ROOT / offered["source"]).resolve() == PLUGIN
    assert offered["name"] == manifest["name"] == "leftoff"
    assert manifest["version"] == leftoff.__version__


def test_what_it_shares_with_the_package_comes_from_the_package() -> None:
    stale = [path for path, data in RENDER().items() if (PLUGIN / path).read_bytes() != data]

    assert stale == [], "run `make plugin`"


def test_its_letterbox_its_skill_and_its_hooks_are_the_ones_that_are_shipped() -> None:
    hooks = read_json(PLUGIN / "hooks" / "hooks.json")["hooks"]
    commands = [group["hooks"][0]["command"] for groups in hooks.values() for group in groups]

    assert (PLUGIN / "hooks" / "letterbox.sh").read_bytes() == shipped("hooks", "letterbox.sh")
    assert SKILL.read_bytes() == shipped("skill", "SKILL.md")
    assert list(hooks) == list(EVENTS)
    script = 'sh "${CLAUDE_PLUGIN_ROOT}/hooks/letterbox.sh" claude'
    assert commands == [f"{script} {event}" for event in EVENTS]


@pytest.mark.parametrize("name", ["checkpoint.md", "continue.md", "dashboard.md"])
def test_the_commands_that_come_with_a_profile_are_the_plugins_without_its_runner(
    name: str,
) -> None:
    ours = (PLUGIN / "commands" / name).read_text(encoding="utf-8")

    assert ours.replace(RUNNER, "leftoff") == shipped("skill", "commands", name).decode()


def test_the_skill_is_short_and_names_only_commands_that_exist() -> None:
    text = SKILL.read_text(encoding="utf-8")

    assert len(text.splitlines()) < 80
    named = set(re.findall(r"[`\n]leftoff ([a-z-]+)", text))
    assert named <= set(COMMANDS)
    asked_for = {"memory", "reflect", "feature", "ship", "wal", "status", "briefing"}
    assert {"guide", "save", "resume", "prompts"} | asked_for <= named
    # It comes first: other projects have other rules.
    assert re.search(r"`leftoff ([a-z-]+)", text.partition("# leftoff")[2])[1] == "guide"  # type: ignore[index]


def test_the_options_that_the_skill_names_exist() -> None:
    text = SKILL.read_text(encoding="utf-8").replace("\\\n", "")
    for line in re.findall(r"^leftoff .*$|(?<=`)leftoff [a-z][^`]*", text, re.MULTILINE):
        words = re.sub(r'"[^"]*"', "", line).split()[1:]
        command = program.get_command(click.Context(program), words[0])
        if isinstance(command, click.Group) and words[1:]:
            command = command.commands[words[1]]
        assert command, line
        options = {option for each in command.params for option in each.opts}
        assert {word for word in words if word.startswith("--")} <= options, line


def test_the_skill_may_do_unasked_only_what_harms_nothing() -> None:
    rules = allowed(SKILL)
    with_arguments = {rule.removesuffix(":*") for rule in rules if rule.endswith(":*")}
    as_they_are = {rule for rule in rules if not rule.endswith(":*")}

    assert with_arguments <= {f"leftoff {name}" for name in set(COMMANDS) - HARMFUL - ENDING}
    assert as_they_are == {"leftoff briefing", "leftoff ship --dry-run"}


@pytest.mark.parametrize("page", COMMAND_PAGES, ids=lambda page: page.stem)
def test_a_slash_command_runs_only_leftoff_and_keeps_the_users_words_out_of_the_shell(
    page: Path,
) -> None:
    inline = re.findall(r"!`([^`]*)`", page.read_text(encoding="utf-8"))

    assert inline
    for line in inline:
        flags = "(?: list| --dry-run| --review| --plan)?"
        found = re.fullmatch(rf"{re.escape(RUNNER)} ([a-z]+){flags}", line)
        assert found, line
        assert found[1] in COMMANDS


@pytest.mark.parametrize("page", COMMAND_PAGES, ids=lambda page: page.stem)
def test_a_slash_command_may_do_unasked_what_it_is_for_and_nothing_else(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    inline = set(re.findall(r"!`([^`]*)`", text))
    found = set(re.findall(r"(?<!!)`leftoff ([a-z]+(?: [a-z]+)?)", text))
    rules = allowed(page)

    assert inline <= rules
    for rule in rules - inline:
        words = re.fullmatch(r"leftoff ([a-z-]+(?: [a-z]+)?):\*", rule)
        assert words, rule
        assert words[1].split()[0] not in (HARMFUL | ENDING) - {page.stem}
    granted = {rule.removesuffix(":*").removeprefix("leftoff ") for rule in rules - inline}
    asked = {each for each in found if each.split()[0] in ENDING - {page.stem}}
    assert all(any(f"{each} ".startswith(f"{one} ") for one in granted) for each in found - asked)


@pytest.mark.parametrize("page", COMMAND_PAGES, ids=lambda page: page.stem)
def test_only_the_user_can_call_a_slash_command_that_ends_or_ships_work(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    is_grave = any(f"leftoff {name}:*" in allowed(page) for name in (*ENDING, "ship"))

    assert ("\ndisable-model-invocation: true\n" in text) == is_grave


def test_init_allows_what_offers_and_the_guide_ask_for_and_nothing_that_ends_work() -> None:
    rules = {re.fullmatch(r"Bash\(leftoff ([a-z ]+?)(?::\*)?\)", rule) for rule in wiring.RULES}

    named = {rule[1] for rule in rules if rule}
    assert len(named) == len(wiring.RULES)
    assert {"resume", "save", "list", "guide", "recover", "prompts replay"} <= named
    assert {name.split()[0] for name in named} <= set(COMMANDS)
    assert not {name.split()[0] for name in named} & (HARMFUL - {"briefing"} | ENDING)
    assert "Bash(leftoff briefing)" in wiring.RULES


def test_every_promised_slash_command_is_there_and_always_passes() -> None:
    names = [page.stem for page in COMMAND_PAGES]

    stored = (ROOT / "docs" / "plugin.md").read_text(encoding="utf-8")
    assert names == sorted(set(re.findall(r"`/leftoff:([a-z]+)", stored)))
    assert all(passes_always(f"/leftoff:{name}") for name in names)


# --- its commands ---


def runs(*words: str, cwd: Path, path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", PLUGIN / "leftoff.sh", *words],
        cwd=cwd,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def installed(tmp_path: Path) -> str:
    """Make a PATH on which leftoff is."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "leftoff"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m leftoff "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    (folder / "git").symlink_to(shutil.which("git") or "git")
    return f"{folder}:/usr/bin:/bin"


def test_a_command_that_fails_ends_well_and_says_how_it_ended(repo: Repo, installed: str) -> None:
    for name in ("first-thing", "second-thing"):
        assert (
            runs("save", name, "--next", "Run it", cwd=repo.folder, path=installed).returncode == 0
        )

    done = runs("resume", cwd=repo.folder, path=installed)

    assert (done.returncode, done.stderr) == (0, "")
    assert '"choice": "first-thing"' in done.stdout
    assert done.stdout.endswith("(leftoff ended with exit code 3)\n")
    assert runs("no-such-command", cwd=repo.folder, path=installed).returncode == 0


def test_without_leftoff_a_command_says_in_one_sentence_how_to_get_it(repo: Repo) -> None:
    done = runs("list", cwd=repo.folder, path="/nowhere")

    assert done.returncode == 0
    assert done.stdout.startswith("leftoff is not installed: run `uv tool install leftoff-agents`")
    assert done.stdout.count("\n") == 1


def test_another_program_of_that_name_is_asked_for_its_version_and_never_run(
    repo: Repo, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    other = tmp_path / "bin" / "leftoff"
    # As the one on PyPI, it asks a question first.
    other.write_text("#!/bin/sh\nread -r title || exit 1\ntouch leftoff.json\n", encoding="utf-8")
    other.chmod(0o755)

    done = runs("list", cwd=repo.folder, path=f"{tmp_path / 'bin'}:/usr/bin:/bin")

    assert done.returncode == 0
    assert done.stdout.startswith("The `leftoff` on your PATH is another program")
    assert done.stdout.count("\n") == 1


# --- its hooks ---


def fires(event: str, repo: Repo, path: str, **payload: str) -> str:
    """Fire a hook as the plugin does, and return what it prints."""
    hooks = read_json(PLUGIN / "hooks" / "hooks.json")["hooks"]
    given = {"session_id": "s1", "cwd": str(repo.folder), "source": "startup", **payload}
    done = subprocess.run(
        ["/bin/sh", "-c", hooks[event][0]["hooks"][0]["command"]],
        cwd=repo.folder,
        env={**os.environ, "PATH": path, "CLAUDE_PLUGIN_ROOT": str(PLUGIN)},
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stderr == ""
    return done.stdout


def test_without_leftoff_the_hooks_are_silent_and_keep_nothing(repo: Repo) -> None:
    for event in EVENTS:
        assert fires(event, repo, "/usr/bin:/bin", prompt="a secret") == ""

    assert not context.state_folder().exists()


def test_session_start_finds_the_python_once_and_then_every_hook_works(
    repo: Repo, installed: str
) -> None:
    runs("save", "first-thing", "--next", "Run pytest", cwd=repo.folder, path=installed)

    offer = fires("SessionStart", repo, installed)

    assert "first-thing" in json.loads(offer)["hookSpecificOutput"]["additionalContext"]
    python = (context.state_folder() / "python").read_text(encoding="utf-8")
    assert python == f"{sys.executable}\n{settle.__file__}\n"
    # From now on no program is looked for.
    fires("Stop", repo, "/usr/bin:/bin")
    assert settle.run(context.state_folder(), wait_seconds=120)


def test_a_python_that_is_gone_is_found_anew(repo: Repo, installed: str) -> None:
    context.state_folder().mkdir(parents=True)
    (context.state_folder() / "python").write_text("/gone/python\n", encoding="utf-8")

    fires("SessionStart", repo, installed)

    python = (context.state_folder() / "python").read_text(encoding="utf-8")
    assert python == f"{sys.executable}\n{settle.__file__}\n"


@pytest.mark.parametrize(
    "where", ["for the user", "for the folder", "for the folder, by the version before"]
)
def test_where_init_wired_the_settings_the_plugins_hooks_keep_quiet(
    repo: Repo, installed: str, where: str
) -> None:
    runs("save", "first-thing", "--next", "Run pytest", cwd=repo.folder, path=installed)
    state = context.state_folder()
    folder = {
        "for the user": state,
        "for the folder": replies.place_of(state, repo.folder),
        "for the folder, by the version before": replies.old_place_of(state, repo.folder),
    }[where]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "wired.claude").touch()

    for event in EVENTS:
        assert fires(event, repo, installed) == ""
    assert not (state / "spool").exists()


# --- plain words ---


@pytest.mark.accept(24)
def test_the_phrases_of_the_skill_mean_the_commands_beside_them() -> None:
    table = SKILL.read_text(encoding="utf-8").partition("| they say | run |")[2]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", table.partition("\n\n")[0], re.MULTILINE)
    meant = 0
    for said, run in rows:
        kinds = {command.split()[1] for command in re.findall(r"`(leftoff [^`]+)`", run)}
        for phrase in re.split(r", | / ", re.sub(r" \(.*?\)", "", said)):
            named = phrase.replace("NAME", "my-feature")
            found = find_intent(named, names=["my-feature"], can_resume=True, at_start=True)
            meant += found is not None
            assert found is None or found.command[1] in kinds, phrase

    assert meant >= 10


@pytest.mark.accept(24)
def test_typing_continue_first_offers_the_work_and_names_the_command(
    repo: Repo, installed: str
) -> None:
    runs("save", "my-feature", "--next", "Run pytest", cwd=repo.folder, path=installed)

    offer = fires("SessionStart", repo, installed)
    answer = json.loads(offer)["hookSpecificOutput"]["additionalContext"]
    intent = runs("intent", "continue", "--at-start", cwd=repo.folder, path=installed).stdout

    assert "`leftoff resume my-feature --accept`" in answer
    assert intent == "leftoff resume\n"
