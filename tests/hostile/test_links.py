"""No link in a project's tree leads to a file elsewhere."""

import json
import os
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from gitrepo import Repo
from hostile.trees import BAIT, SECRET, clone, plant_secret, publish
from leftoff import config, context
from leftoff.checkpoint import Plan
from leftoff.cli.artifacts_view import quote_artifacts
from leftoff.context import find_project, read_environment
from leftoff.hooks import start
from leftoff.profiles.mirror import open_mirrors
from leftoff.projects.project import Project
from leftoff.store import Store
from leftoff.threads import briefing, check_claims, dashboard, persist
from stores import compose, draft
from talk import Talk

# What each profile reads from a tree, and the file there that an agent would be shown.
NATIVE = {
    "harness": [
        ".claude-harness",
        ".claude-harness/memory",
        ".claude-harness/memory/procedural",
        ".claude-harness/sessions",
        ".claude-harness/session-briefing.md",
        ".claude-harness/claude-progress.json",
        ".claude-harness/features/active.json",
    ],
    "sail": [".claude", ".claude/checkpoints", ".claude/plans", ".claude/state-index.json"],
    "quoin": [".workflow_artifacts", ".workflow_artifacts/memory"],
    "openclaw": ["memory", "memory/checkpoints", "SESSION-STATE.md", "memory/working-buffer.md"],
}
LINKS = [(profile, path) for profile, paths in NATIVE.items() for path in paths]


@pytest.fixture
def vault() -> Path:
    """Make a folder of the user's with secrets in files of every name that could be looked for."""
    secret = plant_secret()
    folder = read_environment().home / "vault"
    names = [
        "session-briefing.md", "claude-progress.json", "state-index.json", "SESSION-STATE.md",
        "working-buffer.md", "autosave.md", "x.md", "credentials", "checkpoint.json",
        "working-context.json", "active.json", "pending-prompt-s.txt", "pending-restore-s.txt",
    ]  # fmt: skip
    layouts = [
        "", "checkpoints", "memory", "memory/checkpoints", "sessions/s", "s", "procedural",
        "memory/procedural", "features", "plans/p", "p", "p/checkpoints", "memory/sessions",
    ]  # fmt: skip
    for layout in layouts:
        place = folder / layout
        place.mkdir(parents=True, exist_ok=True)
        for name in names:
            text = secret.read_text(encoding="utf-8") if not name.endswith("json") else _JSON
            (place / name).write_text(f"## Active task\n**Name:** {SECRET}\n{text}")
    return folder


_JSON = f'{{"summary": "{SECRET}", "active_plan": "{SECRET}", "name": "{SECRET}"}}'


def adopted(folder: Path, profile: str) -> Project:
    project = find_project(folder)
    config.set_for(project, "profile", profile)
    config.set_for(project, "mirror", profile)
    return project


def everything_shown(project: Project) -> str:
    """Do what shows something to an agent or a person, and return all of it."""
    reply = [_started(project, "one", source) for source in ("startup", "compact")]
    settings = config.load(project).settings
    with closing(Store(project)) as store:
        open_mirrors(settings.mirror).import_edits(store)
        open_mirrors(settings.mirror).export_changes(store)
        draft = compose({"summary": "Mine"}, store)
        saved = persist.save(store, draft, name="mine").saved
        checks = check_claims.check(saved.checkpoint, project, store.now())
        reply += [briefing.render(saved.checkpoint, checks, budget=5000)]
        reply += [
            str(dashboard.read_dashboard(store, settings)),
            str(open_mirrors(settings.mirror).read_notes(store)),
        ]
        reply += [str(store.load(entry)) for entry in store.index().newest(100)]
        reply += [
            line for log in ("memory", "prompts") for line in store.read_log(log, bytes.decode)
        ]
    return "\n".join([*reply, _started(project, "two", "startup")])


def _started(project: Project, session: str, source: str) -> str:
    payload = Talk(project.worktree, session).payload("SessionStart", source=source)
    return start.answer("claude", msgspec.json.encode(payload), context.state_folder())


@pytest.mark.parametrize(("profile", "path"), LINKS)
def test_nothing_behind_a_link_is_shown_or_written(
    tmp_path: Path, vault: Path, profile: str, path: str
) -> None:
    target = vault / Path(path).name if path.endswith((".md", ".json")) else vault
    origin = publish(tmp_path / "origin", {}, {path: os.path.relpath(target, tmp_path / "x" / "y")})
    victim = clone(origin, tmp_path / "victim")
    link = victim.folder / path
    link.unlink()
    link.symlink_to(target)
    before = {each: each.read_bytes() for each in vault.rglob("*") if each.is_file()}

    shown = everything_shown(adopted(victim.folder, profile))

    assert SECRET not in shown
    assert {each: each.read_bytes() for each in vault.rglob("*") if each.is_file()} == before


@pytest.mark.parametrize("profile", ["default", *NATIVE])
def test_files_of_a_profile_count_for_nothing_until_it_is_adopted(
    tmp_path: Path, profile: str
) -> None:
    files = {path: text for _, found in _baits().items() for path, text in found.items()}
    victim = clone(publish(tmp_path / "origin", files), tmp_path / "victim")
    project = find_project(victim.folder)
    if profile != "default":
        adopted(victim.folder, profile)

    shown = everything_shown(project)

    assert {name for name in NATIVE if f"{BAIT}-{name}" in shown} <= {profile}


def _baits() -> dict[str, dict[str, str]]:
    """Return files of each profile that name their owner."""

    def plain(name: str) -> str:
        return f"## Active task\n**Name:** {BAIT}-{name}\n"

    def build_bait(name: str) -> str:
        bait = f"{BAIT}-{name}"
        last = {"summary": bait}
        return json.dumps({"active_plan": bait, "summary": bait, "lastSession": last})

    return {
        "openclaw": {
            "SESSION-STATE.md": plain("openclaw"),
            "memory/checkpoints/bait.md": f"# {BAIT}-openclaw\n\n## Task\n{BAIT}-openclaw\n",
            "memory/working-buffer.md": plain("openclaw"),
        },
        "sail": {
            ".claude/state-index.json": build_bait("sail"),
            f".claude/plans/{BAIT}-sail/state.json": '{"current_stage": 1}',
            ".claude/checkpoints/checkpoint-1.json": build_bait("sail"),
        },
        "harness": {
            ".claude-harness/claude-progress.json": build_bait("harness"),
            ".claude-harness/session-briefing.md": plain("harness"),
        },
        "quoin": {
            ".workflow_artifacts/memory/checkpoints/bait.md": plain("quoin"),
            ".workflow_artifacts/memory/pending-prompt-one.txt": plain("quoin"),
        },
    }


def test_a_plan_that_is_a_link_to_a_file_elsewhere_is_not_shown(repo: Repo) -> None:
    secret = plant_secret()
    (repo.folder / "plans").mkdir()
    (repo.folder / "plans" / "next.md").symlink_to(secret)
    project = find_project(repo.folder)

    shown = _plan_shown(project, "plans/next.md")

    assert SECRET not in shown


def test_a_plan_that_is_a_link_within_the_tree_is_shown(repo: Repo) -> None:
    repo.write("plans/3.md", "# Plan\n\n1. Do what is right\n")
    (repo.folder / "plans" / "next.md").symlink_to("3.md")

    assert "Do what is right" in _plan_shown(find_project(repo.folder), "plans/next.md")


@pytest.mark.parametrize("start", ["{home}", "~", "../home"])
def test_a_checkpoint_cannot_name_a_file_elsewhere_as_its_plan_or_artifact(
    repo: Repo, start: str
) -> None:

    plant_secret()
    named = f"{start.format(home=read_environment().home)}/.aws/credentials"
    project = find_project(repo.folder)
    checks = check_claims.check(
        draft("x", plan=Plan(path=named), artifacts={"spec": named}), project, draft("x").saved_at
    )

    assert checks.artifacts[0].is_there
    assert SECRET not in str(checks)
    assert SECRET not in quote_artifacts(checks, project)


def test_fifos_and_huge_files_in_the_tree_of_an_adopted_profile_do_no_harm(repo: Repo) -> None:
    for path in (".claude-harness/claude-progress.json", ".claude-harness/session-briefing.md"):
        place = repo.folder / path
        place.parent.mkdir(exist_ok=True)
        os.mkfifo(place)
    huge = repo.folder / ".claude-harness" / "features" / "active.json"
    huge.parent.mkdir()
    with huge.open("wb") as file:
        file.truncate(40_000_000_000)

    everything_shown(adopted(repo.folder, "harness"))

    assert huge.stat().st_size == 40_000_000_000


def _plan_shown(project: Project, path: str) -> str:
    with closing(Store(project)) as store:
        plain = {"summary": "Mine", "plan": {"path": path}}
        saved = persist.save(store, compose(plain, store), name="mine").saved
        checks = check_claims.check(saved.checkpoint, project, store.now())
        return briefing.render(saved.checkpoint, checks, budget=5000) + str(checks)
