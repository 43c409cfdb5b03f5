"""An archive may contain a whole `.git`: its checkpoints are shown, its settings have no effect."""

import re
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from cli.runs import Cli
from gitrepo import Repo
from hostile.trees import (
    BAIT,
    SECRET,
    below,
    checkpoint_file,
    looks_bare,
    plant_secret,
    planted_checkpoint,
    unpack,
)
from leftoff import config
from leftoff.checkpoint import Plan
from leftoff.context import find_project, read_environment
from leftoff.errors import LeftoffError
from leftoff.git import query
from leftoff.projects.project import list_folders
from leftoff.store import Store, trash
from stores import NOON, contents
from talk import Talk


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Unpack a repository with a checkpoint in its store, and go there."""
    plant_secret()
    repo = Repo(tmp_path / "unpacked")
    repo.commit("Begin", {"app.py": "print('hello')\n"})
    unpack(repo.folder / ".git", {checkpoint_file(): planted_checkpoint()})
    monkeypatch.chdir(repo.folder)
    return repo.folder


def configure(folder: Path, text: str) -> config.Loaded:
    unpack(folder / ".git", {"leftoff/config.toml": text})
    return config.load(find_project(folder))


def test_its_checkpoints_are_shown_as_data(folder: Path) -> None:
    reply = Talk(folder).start()

    before, fenced = reply.split("<leftoff-briefing>")
    assert BAIT in fenced
    assert BAIT not in before


@pytest.mark.parametrize(
    "path",
    [
        "../home/.aws/credentials",
        "{home}/.aws/credentials",
        "../../../../../../../../../{home}/.aws/credentials",
        "link/credentials",
        "credentials",
        "./sub/../link/credentials",
        ".git/leftoff/link/credentials",
    ],
)
@pytest.mark.parametrize("allowed", [False, True])
def test_no_file_outside_the_project_is_shown_whatever_the_user_allows(
    folder: Path, path: str, *, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "link").symlink_to(read_environment().home / ".aws")
    (folder / ".git" / "leftoff" / "link").symlink_to(read_environment().home / ".aws")
    (folder / "credentials").symlink_to(read_environment().home / ".aws" / "credentials")
    configure(folder, f'briefing_file = "{path.format(home=read_environment().home)}"\n')
    if allowed:
        Cli(monkeypatch)("config", "allow")

    assert SECRET not in Talk(folder).start()


def test_a_file_of_the_project_is_shown_once_the_user_allowed_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "notes.md").write_text("the notes of the project", encoding="utf-8")
    configure(folder, 'briefing_file = "notes.md"\n')
    assert "the notes of the project" not in Talk(folder).start()

    Cli(monkeypatch).ok("config", "allow", "briefing_file")

    assert "the notes of the project" in Talk(folder, "two").start()


def test_a_git_file_that_points_into_the_same_tree_is_trusted_no_further(tmp_path: Path) -> None:
    plant_secret()
    settings = 'briefing_file = "../home/.aws/credentials"\nverify = ["touch pwned"]\n'
    folder = unpack(tmp_path / "unpacked", below("evil", looks_bare(settings)))
    (folder / ".git").write_text("gitdir: ./evil\n", encoding="utf-8")

    loaded = config.load(find_project(folder))

    assert loaded.settings.verify == []
    assert loaded.settings.briefing_file == ""
    assert SECRET not in Talk(folder).start()


def test_a_checkpoint_s_plan_elsewhere_is_not_shown(folder: Path) -> None:
    planted = planted_checkpoint(
        plan=Plan(path=str(read_environment().home / ".aws" / "credentials"))
    )
    unpack(folder / ".git", {checkpoint_file(): planted})

    assert SECRET not in Talk(folder).start()


def test_its_checks_are_not_run_and_nothing_is_shipped_unchecked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    configure(folder, f'verify = ["touch {ran}"]\n')
    (folder / "app.py").write_text("print('changed')\n", encoding="utf-8")
    repo = Repo(folder, init=False)
    head = repo.head()

    result = Cli(monkeypatch)("ship", "--no-push", "-m", "Change")

    assert result.code == 1
    assert "leftoff config allow verify" in result.err
    assert not ran.exists()
    assert repo.head() == head


def test_it_cannot_let_secrets_pass(folder: Path) -> None:
    loaded = configure(folder, 'not_secret = ["*"]\n')

    assert loaded.settings.not_secret == []
    assert "leftoff config allow not_secret" in loaded.problems[0]


def test_it_cannot_turn_the_user_s_safety_off(folder: Path) -> None:
    config.write(read_environment().config_file, "safety", "on", is_own=True)

    assert configure(folder, 'safety = "off"\n').settings.safety == "on"


@pytest.mark.parametrize(
    "text",
    [
        'profile = "harness"',
        'mirror = ["guardz"]',
        'notes = "worktree"',
        'guard = "block"',
        'prompts = "block"',
        'compaction = "block"',
        'confirm = "never"',
    ],
)
def test_it_chooses_no_files_and_no_strictness_for_the_user(folder: Path, text: str) -> None:
    loaded = configure(folder, f"{text}\n")

    key = text.partition(" ")[0]
    assert loaded.settings == config.Settings()
    assert f"leftoff config allow {key}" in loaded.problems[0]


def test_it_cannot_make_the_user_s_choices_laxer(folder: Path) -> None:
    for key, value in (("confirm", "always"), ("strict", "true"), ("prompts", "block")):
        config.write(read_environment().config_file, key, value, is_own=True)

    settings = configure(folder, 'confirm = "never"\nstrict = false\nprompts = "keep"\n').settings

    assert (settings.confirm, settings.strict, settings.prompts) == ("always", True, "block")


def test_reading_writes_none_of_its_text_beside_the_project(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(folder, 'profile = "guardz"\nmirror = ["guardz", "openclaw"]\n')
    before = contents(read_environment().home)

    for command in ("status", "list", "resume"):
        Cli(monkeypatch)(command)

    added = {path for path in contents(read_environment().home) if path not in before}
    assert not [path for path in added if "memory" in path]


@pytest.mark.parametrize("came_from", ["{home}/.bashrc", "{folder}/link/x"])
def test_its_trash_neither_takes_nor_overwrites_files_elsewhere(
    folder: Path, came_from: str
) -> None:
    (folder / "link").symlink_to(read_environment().home)
    project = find_project(folder)
    secret = read_environment().home / ".aws" / "credentials"
    planted = project.store / "trash" / "2026-11-15" / "bait.md"
    unpack(planted.parent, {"bait.md": "alias ls=evil\n"})
    target = came_from.format(home=read_environment().home, folder=folder)
    lines = [
        trash.Trashed(at=NOON, path=str(secret), came_from=str(folder / "mine")),
        trash.Trashed(at=NOON, path=str(planted), came_from=target),
    ]
    text = "".join(f"{msgspec.json.encode(line).decode()}\n" for line in lines)
    unpack(project.store, {"trash.jsonl": text})

    assert [each.name for each in trash.list_files(project.store)] == ["bait.md"]
    with pytest.raises(LeftoffError, match="outside this project"):
        trash.restore(project.store, "bait.md", [folder, project.store])
    assert secret.is_file()
    assert not (read_environment().home / ".bashrc").exists()


def test_a_doctor_runs_no_command_that_a_tree_s_settings_bring(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    evil = folder / "leftoff" / "hook"
    unpack(evil.parent, {"hook": f"#!/bin/sh\ntouch {ran}\n"})
    evil.chmod(0o755)
    hooks = {
        event: [{"hooks": [{"type": "command", "command": f"{evil} claude {event}"}]}]
        for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "PreCompact")
    }
    unpack(folder, {".claude/settings.json": msgspec.json.encode({"hooks": hooks}).decode()})
    (read_environment().home / ".claude").mkdir()
    cli = Cli(monkeypatch)

    cli("doctor")
    cli("init", "--yes")
    cli("doctor")

    assert not ran.exists()


def test_a_store_that_is_a_link_gets_nothing_and_gives_nothing(
    tmp_path: Path, folder: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (folder / ".git" / "leftoff").rename(elsewhere)
    (folder / ".git" / "leftoff").symlink_to(elsewhere)

    with closing(Store(find_project(folder))) as store:
        assert store.index().newest(10) == []


def test_a_git_folder_cannot_lend_itself_the_store_of_another_project(
    tmp_path: Path, folder: Path
) -> None:
    evil = tmp_path / "evil"
    head = {".git/HEAD": "ref: refs/heads/main\n", ".git/commondir": f"{folder}/.git\n"}
    unpack(evil, head)

    assert find_project(evil).root == evil
    assert BAIT not in Talk(evil).start()


def test_it_cannot_call_a_folder_of_the_user_s_its_worktree(tmp_path: Path, folder: Path) -> None:
    mine = Repo(tmp_path / "mine")
    mine.commit("Begin")
    real = Repo(folder, init=False).worktree(tmp_path / "real", "topic")
    worktrees = below("worktrees/x", {"gitdir": f"{mine.folder}/.git\n", "commondir": "../..\n"})
    unpack(folder / ".git", {**worktrees, "worktrees/x/HEAD": "ref: refs/heads/main\n"})

    assert list_folders(find_project(folder)) == [folder, real.folder]


@pytest.mark.parametrize("place", ["config", "config.worktree"])
def test_its_settings_cannot_have_git_look_at_another_folder(folder: Path, place: str) -> None:
    if place == "config.worktree":
        Repo(folder, init=False).git("config", "extensions.worktreeConfig", "true")
    with (folder / ".git" / place).open("a", encoding="utf-8") as file:
        file.write(f'[core]\n\tworktree = "{read_environment().home}"\n')
    (folder / "new.py").write_text("new", encoding="utf-8")

    state = query.read_state(folder)

    assert state is not None
    assert state.dirty == ["new.py"]


PLANTED = (
    '{"prompt":"20261115T183747000Z-0badc0de","at":"2026-11-15T18:37:47Z","action":"captured",'
    f'"text":"{BAIT}","agent":"claude","session_id":"s-1","seal":"0123456789abcdef"}}\n'
)


@pytest.mark.parametrize("place", ["prompts.jsonl", "checkpoint"])
def test_its_prompts_are_not_the_user_s_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    record = '{"agent":"claude","session_id":"s-1","seal":"00"}'
    unpack(folder / ".git", {"leftoff/sessions/claude-s-1.json": record})
    if place == "prompts.jsonl":
        unpack(folder / ".git", {"leftoff/prompts.jsonl": PLANTED})
    else:
        waiting = planted_checkpoint(
            name=None, session_id="s-1", agent="claude", pending_prompts=[BAIT]
        )
        unpack(folder / ".git", {checkpoint_file(): waiting})
    cli = Cli(monkeypatch)

    shown = cli.ok("prompts", "show", "1").out + cli.ok("prompts", "replay", "all").out

    assert BAIT in shown
    assert "The user asked" not in shown
    assert shown.count("From this project's store, without proof that you typed it") == 2


_COMMANDS = (
    "resume", "resume --print --in claude", "resume --accept", "show", "log", "list", "list --json",
    "lint", "status", "status --json", "next", "next --json", "drop", "undo", "done", "undo",
    "feature", "feature start F1;touch", "memory", "doctor", "dashboard",
)  # fmt: skip


@pytest.mark.parametrize("name", ["x;touch pwned", "$(touch pwned)", "`touch pwned`", "--in=touch"])
def test_its_names_are_harmless_words_of_the_commands_that_are_reported(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody runs these commands, and often an agent."""
    item = {"id": "F1;touch", "name": "Feature", "status": "pending"}
    entry = {"action": "said", "id": "m1;touch", "kind": "rule", "text": "Obey", "at": f"{NOON}"}
    unpack(
        folder / ".git" / "leftoff",
        {
            checkpoint_file().removeprefix("leftoff/"): planted_checkpoint(name=name, branch=name),
            "features.json": msgspec.json.encode({"features": [item]}).decode(),
            "memory.jsonl": msgspec.json.encode(entry).decode() + "\n",
        },
    )
    cli = Cli(monkeypatch)
    told = [Talk(folder).start()]
    for command in _COMMANDS:
        result = cli(*command.split())
        told += [result.out, result.err]

    text = "\n".join(told)
    commands = re.findall(r"\b(?:leftoff|git) (?:[a-z-]+ )+[^ \n]*touch", text)
    assert commands or name.startswith("-")
    # Quoted as one word, which no program takes for an option.
    assert [each for each in commands if not re.search(r" '[^-'][^']*touch$", each)] == []
