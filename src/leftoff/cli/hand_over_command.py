"""`leftoff resume NAME --in AGENT`: start another agent, which goes on with a thread."""

import shlex
import shutil
from datetime import timedelta
from pathlib import Path

import msgspec

from leftoff import subprocesses
from leftoff.agents.hook_table import HookTable
from leftoff.checkpoint import Checkpoint
from leftoff.cli.app import App
from leftoff.cli.ask_prompts import PromptAnswer
from leftoff.cli.ask_questions import confirm
from leftoff.errors import LeftoffError
from leftoff.hooks import hand_over
from leftoff.projects.project import find_own_folder, find_project
from leftoff.session import sessions
from leftoff.store import CheckpointEntry
from leftoff.store.layout import is_off
from leftoff.text.fence import join, make_prompt, quote_key
from leftoff.text.plural import format_count
from leftoff.threads import briefing, check_claims
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.install_places import find_places

# A message that asks to continue joins the thread and is never taken for a task.
_PROMPT = "continue"
# As far as `leftoff recover` looks back.
_RECENT = timedelta(days=7)


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """The agent to start, and how."""

    table: HookTable
    folder: Path
    is_headless: bool

    def build(self, prompt: str) -> list[str]:
        """Return the command line that starts it with a prompt."""
        before, after = (
            (self.table.runs, self.table.runs_after) if self.is_headless else (self.table.opens, ())
        )
        return [self.table.programs[0], *before, prompt, *after]


def save_sessions(app: App, *, is_quiet: bool = False) -> None:
    """Save the sessions that ended or wait unsaved, so that the next agent knows what they did.

    People leave a session open at a usage limit, and Codex keeps its sessions open for a while.
    """
    saved = app.workspace.save_ended_turns(since=app.store.now() - _RECENT)
    if saved and not is_quiet:
        app.out.text(f"Saved {format_count(len(saved), 'session')} with unsaved work.")


def hand_over_to(  # noqa: PLR0913 - the thread, the agent, and how to start it
    app: App,
    entry: CheckpointEntry,
    agent: str,
    *,
    is_headless: bool,
    is_printed: bool,
    prompts: PromptAnswer | None = None,
) -> int:
    """Start an agent with a thread, or print the command line that does.

    `prompts` are what the user wants it to do first.
    """
    checkpoint = app.store.load(entry)
    target = Target(
        table=WIRINGS[agent].table,
        folder=find_own_folder(app.project, checkpoint.worktree),
        is_headless=is_headless,
    )
    native = find_own_session(app, checkpoint, agent)
    if is_printed or app.out.as_json:
        _print_command(app, entry, target, native)
        return 0
    program = shutil.which(target.table.programs[0])
    if program is None:
        raise LeftoffError(
            f"{target.table.title} cannot be started: `{target.table.programs[0]}` is not on the "
            "PATH.",
            hint="Install it, or pass --print for the command line.",
        )
    if native and app.out.is_interactive and not is_headless:
        question = f"Continue its own session ({shlex.join(native)}) instead of a new one?"
        if confirm(question, default=False):
            return subprocesses.become(program, native, target.folder)
    asked = _join_prompts(prompts.texts) if prompts is not None else ""
    prompt = _prepare(app, entry, agent, target, asked)
    if prompts is not None:
        prompts.apply()
    app.store.close()
    return subprocesses.become(
        program, target.build(prompt), target.folder, has_input=not is_headless
    )


def _join_prompts(texts: list[str]) -> str:
    """Join prompts into one argument; a space keeps an agent from reading it as an option."""
    asked = "\n\n".join(texts).replace("\0", "")
    return f" {asked}" if asked.startswith("-") else asked


def _prepare(app: App, entry: CheckpointEntry, agent: str, target: Target, asked: str) -> str:
    """Leave the thread for the agent's start hook; without one, return the briefing as prompt.

    What the user asked for is the prompt, or follows the briefing.
    """
    has_hooks = WIRINGS[agent].is_active(find_places(app.environment))
    is_disabled = "session-start" in app.environment.list_disabled_hooks() or is_off(app.project)
    if has_hooks and not is_disabled:
        hand_over.expect(app.store, target.folder, agent, entry)
        return asked or _PROMPT
    checkpoint = app.workspace.load_resumed(entry)
    budget = min(app.settings.budget, briefing.MOST_TOKENS[agent])
    # The agent starts in the thread's worktree, wherever leftoff runs.
    there = find_project(app.environment, target.folder)
    checks = check_claims.check_stored(checkpoint, app.store, there)
    rendered = app.workspace.render_briefing(checkpoint, checks, budget=budget)
    briefed = make_prompt(join([hand_over.INTRODUCTION, rendered]))
    return f"{briefed}\n\n{asked}" if asked else briefed


def _print_command(app: App, entry: CheckpointEntry, target: Target, native: list[str]) -> None:
    """Print a command line that works anywhere: it does not depend on hooks."""
    key, agent = quote_key(entry.name, entry.id), target.table.agent
    text = f"leftoff resume {key} --for {agent}"
    mark = "\0"
    words = [f'"$({text})"' if word == mark else shlex.quote(word) for word in target.build(mark)]
    command = f"cd {shlex.quote(str(target.folder))} && {' '.join(words)}"
    command += " </dev/null" if target.is_headless else ""
    again = f"cd {shlex.quote(str(target.folder))} && {shlex.join(native)}" if native else None
    lines = [command]
    if again:
        lines.append(f"# or, to continue its own session: {again}")
    result = {"command": command, "native": again, "folder": str(target.folder)}
    app.out.result(result, lines, is_exact=True)


def find_own_session(app: App, checkpoint: Checkpoint, agent: str) -> list[str]:
    """Return the command that continues the agent's own session, if it still has that."""
    table = WIRINGS[agent].table
    if checkpoint.agent != agent or not checkpoint.session_id or not table.resumes:
        return []
    if not sessions.find_transcript(app.store, agent, checkpoint.session_id):
        return []
    return [table.programs[0], *table.resumes, checkpoint.session_id]
