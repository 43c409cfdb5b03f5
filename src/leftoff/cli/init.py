"""The `leftoff init` command: set up your agents to save automatically."""

from collections.abc import Mapping, Sequence

import click

from leftoff import profiles
from leftoff.agents.registry import AGENTS
from leftoff.cli import adopt_profile, unsaved_view
from leftoff.cli.app import App, command
from leftoff.cli.ask_questions import confirm
from leftoff.cli.change_preview import confirm_changes, describe_changes, show
from leftoff.errors import LeftoffError, UsageError, wrap_os_error
from leftoff.session.unsaved_work import UnsavedSession
from leftoff.store import LISTED
from leftoff.text.plural import join_words
from leftoff.wiring import claude_status_line, detect_agents, inspect_state, install
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.foreign_files import FileChange
from leftoff.wiring.install import Done
from leftoff.wiring.install_places import COMMANDS, Places, find_places


@command()
@click.option(
    "--agent",
    "agents",
    multiple=True,
    type=click.Choice([*AGENTS]),
    help="Wire this agent, even if it was not found; repeatable.",
)
@click.option("--all", "is_all", is_flag=True, help="Wire all supported agents.")
@click.option(
    "--scope",
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="Write to your own settings or the project's.",
)
@click.option(
    "--profile",
    type=click.Choice([*profiles.PROFILES, adopt_profile.NONE]),
    help="Import a system's files and adopt its conventions.",
)
@click.option("--mcp", "with_mcp", is_flag=True, help="Also register leftoff's MCP server.")
@click.option(
    "--statusline/--no-statusline",
    "with_line",
    default=None,
    help="Also show the work in Claude Code's status line.",
)
@click.option("--yes", is_flag=True, help="Do not ask; add no status line without --statusline.")
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
def init(  # noqa: PLR0913 - one option each
    app: App,
    agents: tuple[str, ...],
    scope: str,
    profile: str | None,
    *,
    is_all: bool,
    with_mcp: bool,
    with_line: bool | None,
    yes: bool,
    dry_run: bool,
) -> int:
    """Set up your agents to save automatically."""
    wired = _to_wire(app, agents, profile, is_all=is_all)
    if scope == "project":
        wired = _keep_project_agents(wired, is_named=bool(agents))
    places = find_places(app.environment, app.project.worktree if scope == "project" else None)
    used = _list_profiles(app, profile)
    wired, refused = _refuse_unusable(app, places, wired, used, with_mcp=with_mcp)
    if with_line is None:
        with_line = not (yes or dry_run) and _offer_line(app, places, wired, used)
    extras = {"with_mcp": with_mcp, "with_line": with_line}
    changes = _plan(places, wired, used, extras) if wired else []
    done = [] if dry_run else _install_hooks(app, places, changes, yes=yes)
    backups = [str(each.backup) for each in done if each.backup]
    is_declined = bool(changes) and not (done or dry_run)
    notes = [] if is_declined else [*_list_notes(places, wired), *_explain_commands(places, used)]
    notes += adopt_profile.follow(app, profile, dry_run=dry_run)
    unsaved = [] if dry_run else _find_unsaved(app)
    if app.out.as_json:
        result = {"done": bool(done), "agents": wired, "settings": str(places.settings)}
        result |= {"changes": describe_changes(changes, with_diffs=dry_run), "backups": backups}
        found = unsaved_view.describe_unsaved(app, unsaved)
        app.out.json({**result, "notes": [*refused, *notes], "unsaved": found})
        return int(bool(refused))
    if wired:
        is_shown = app.out.is_interactive and not yes
        _print_outcome(app, wired, changes, done, dry_run=dry_run, is_shown=is_shown)
    else:
        app.out.text("No agent was found, so no hooks were installed. Use `leftoff save`.")
    kept = [f"Backed up {each.change.path} to {each.backup}" for each in done if each.backup]
    app.out.text([*kept, *notes, *unsaved_view.format_unsaved(app, unsaved)])
    return int(bool(refused))


def _refuse_unusable(
    app: App, places: Places, agents: Sequence[str], used: Sequence[str], *, with_mcp: bool
) -> tuple[list[str], list[str]]:
    """Return the agents whose settings can be changed; warn why the others are left out."""
    usable, refused = [], list[LeftoffError]()
    for agent in agents:
        try:
            _plan(places, [agent], used, {"with_mcp": with_mcp})
        except LeftoffError as error:
            refused.append(error)
        except OSError as error:
            refused.append(wrap_os_error(error))
        else:
            usable.append(agent)
    reasons = [f"{each.message.removesuffix(_SO)}. {each.hint}" for each in refused]
    if not app.out.as_json:
        for reason in reasons if usable else reasons[1:]:
            app.out.warn(reason)
    if refused and not usable:
        raise refused[0]
    return usable, reasons


_SO = ", so nothing was changed"


def _find_unsaved(app: App) -> list[UnsavedSession]:
    """Return sessions from before the hooks were installed, if this is a project without saves."""
    try:
        return [] if app.store.index().count_heads([*LISTED]) else app.workspace.find_unsaved()
    except (LeftoffError, OSError):
        return []


def _to_wire(app: App, agents: tuple[str, ...], profile: str | None, *, is_all: bool) -> list[str]:
    """Choose the agents to wire; adopting a profile works without any."""
    if is_all and agents:
        raise UsageError("--all and --agent cannot be combined.", hint="Pass one of them.")
    is_chosen = bool(agents) or is_all
    if profile is not None and not is_chosen and not detect_agents.can_wire(app.environment):
        return []
    return detect_agents.to_wire(app.environment, agents, is_all=is_all)


def _keep_project_agents(agents: list[str], *, is_named: bool) -> list[str]:
    """Leave out the agents whose hooks leftoff does not write into a project."""
    able = [agent for agent in agents if WIRINGS[agent].table.project_folder]
    unable = [detect_agents.TITLES[agent] for agent in agents if agent not in able]
    if unable and (is_named or not able):
        raise UsageError(
            f"leftoff does not write the hooks of {join_words(unable)} into a project.",
            hint="Leave out --scope to write them to your own settings.",
        )
    return able


def _list_profiles(app: App, profile: str | None) -> list[str]:
    """Return the profiles whose files and conventions this project uses, the new one included."""
    if profile == adopt_profile.NONE:
        return []
    return [*app.settings.mirror, *([profile] if profile else [])]


def _offer_line(app: App, places: Places, agents: Sequence[str], used: Sequence[str]) -> bool:
    """Say what will happen, and offer the status line, if nobody has answered that before."""
    changes = _plan(places, agents, used) if app.out.is_interactive else []
    if not changes:
        return False
    app.out.text(_introduce(agents, changes))
    app.out.gap()
    if "claude" not in agents or not claude_status_line.can_offer(places):
        return False
    return confirm("Show the work and its context use in Claude Code's status line, too?")


def _introduce(agents: Sequence[str], changes: Sequence[FileChange]) -> list[str]:
    """Say in plain words what the changes are, before anybody is asked about them."""
    titles = join_words([detect_agents.TITLES[agent] for agent in agents])
    names = [f"/{each.path.stem}" for each in changes if each.path.name in COMMANDS]
    has_rules = any(each.agent == "claude" for each in changes)
    has_skill = any(each.path.name == "SKILL.md" for each in changes)
    parts = [
        "hooks that save your sessions" if any(each.agent for each in changes) else "",
        "a skill that explains leftoff" if has_skill else "",
        f"the {'command' if len(names) == 1 else 'commands'} {join_words(names)}" if names else "",
        "rules that let Claude Code save, resume and list without asking you" if has_rules else "",
    ]
    added = [each for each in parts if each] or ["leftoff's own files"]
    return [
        f"leftoff adds to {titles}: {join_words(added)}.",
        "Your other settings stay, and are backed up; `leftoff uninstall` undoes all of this.",
    ]


def _plan(
    places: Places,
    agents: Sequence[str],
    used: Sequence[str],
    extras: Mapping[str, bool] | None = None,
) -> list[FileChange]:
    """Plan what to install: the profiles in use need more events and slash commands."""
    events = profiles.find_wanted_events(used)
    return install.plan_install(
        places, agents, events=events, with_commands=bool(used), **(extras or {})
    )


def _explain_commands(places: Places, used: Sequence[str]) -> list[str]:
    return [
        f"/{path.stem} was not replaced, because {path} is not leftoff's. To use leftoff's, "
        "move it away and run `leftoff init` again."
        for path in (install.list_foreign_commands(places) if used else ())
    ]


def _install_hooks(
    app: App, places: Places, changes: Sequence[FileChange], *, yes: bool
) -> list[Done]:
    # Hooks fail silently, so make sure that they can run before installing them.
    install.check_python()
    install.compile_package()
    if not changes or not confirm_changes(app, changes, "Make these changes?", yes=yes):
        return []
    return install.install(places, changes)


def _print_outcome(  # noqa: PLR0913 - one for each thing that it says
    app: App,
    agents: Sequence[str],
    changes: Sequence[FileChange],
    done: Sequence[Done],
    *,
    dry_run: bool,
    is_shown: bool,
) -> None:
    """Say what was done; `is_shown` if the user was asked about these changes just now."""
    titles = join_words([detect_agents.TITLES[agent] for agent in agents])
    if not changes:
        app.out.text(f"The hooks of {titles} are already installed; nothing to do.")
    elif dry_run:
        app.out.text("This would be done:")
        show(app, changes)
    elif done:
        has_hooks = any(change.agent for change in changes)
        headline = f"Installed the hooks of {titles}" if has_hooks else "Updated leftoff's files"
        app.out.text(headline if is_shown else f"{headline}:")
        if not is_shown:
            show(app, changes, are_done=True)
        app.out.text("Run `leftoff doctor` to test them, or `leftoff uninstall` to undo this.")
    else:
        app.out.text("Nothing was changed.")


def _list_notes(places: Places, agents: Sequence[str]) -> list[str]:
    notes = [
        f"You edited {path}, so it was left unchanged."
        for path in install.list_edited_skills(places)
    ]
    for agent in agents:
        notes += WIRINGS[agent].explain(places)
    return [*notes, *(inspect_state.explain_missing_command() if agents else [])]
