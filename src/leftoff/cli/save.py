"""The `leftoff save` command: save where the work left off, and ask for what is missing."""

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from leftoff import cli, hooks
from leftoff.agents.registry import AGENTS
from leftoff.checkpoint import Checkpoint
from leftoff.cli import questions
from leftoff.cli.app import App, CheckedCommand, command, one_line
from leftoff.cli.complete_words import complete_paths
from leftoff.errors import ChoiceNeeded, SessionUnreadable, StoreRefused, UsageError
from leftoff.fingerprints import can_be_path, name_path
from leftoff.hooks import settle
from leftoff.names import check_name, check_specific
from leftoff.session import plans, records, sessions
from leftoff.session.sessions import KnownSession
from leftoff.store import SavedCheckpoint
from leftoff.text.fence import quote_key
from leftoff.threads import persist
from leftoff.threads.compose import parse_fields
from leftoff.threads.compose_again import append_day

_FULL = 100.0


class _Save(CheckedCommand):
    """A command whose NAME may start with dashes, such as `-/x`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and _NO_OPTION.match(args[0]):
            args = [args[0].lstrip("-"), *args[1:]]
        return super().parse_args(ctx, args)


# Dashes before a character that no option starts with.
_NO_OPTION = re.compile(r"-+[^\w-]")


_SECTIONS = {
    "What only you know": (
        *("summary", "left_off", "done", "next_action", "blocker", "question", "decision"),
        *("failed", "files", "artifact", "note"),
    ),
    "Plan": ("plan", "step", "no_plan"),
    "Where the rest comes from": ("source", "edit", "from_json", "no_capture"),
    "How it is saved": ("append_day", "overwrite", "strict", "auto_name"),
}


@command(cls=_Save, sections=_SECTIONS)
@click.argument("name", required=False)
@click.option("--summary", "--task", help="The task, in one sentence.")
@click.option("--left-off", help="Where the work stopped, in one to three sentences.")
@click.option("--done", "--progress", multiple=True, help="Something done; repeatable.")
@click.option(
    "--next", "next_action", multiple=True, help="The exact next action, then later steps."
)
@click.option("--blocker", multiple=True, help="What blocks the work; repeatable.")
@click.option("--question", multiple=True, help="An open question; repeatable.")
@click.option("--decision", multiple=True, metavar="'WHAT :: WHY'", help="A decision; repeatable.")
@click.option(
    "--failed", multiple=True, metavar="'WHAT :: WHY'", help="A failed approach; repeatable."
)
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="'PATH :: ROLE'",
    shell_complete=complete_paths,
    help="A file, and its role in the work; repeatable.",
)
@click.option(
    "--artifact", multiple=True, metavar="NAME=PATH", help="A file the work is about; repeatable."
)
@click.option("--note", "--context", multiple=True, help="Anything else worth knowing; repeatable.")
@click.option("--plan", metavar="PATH", shell_complete=complete_paths, help="The plan in use.")
@click.option("--step", metavar="N/M", help="The current step of the plan.")
@click.option("--no-plan", is_flag=True, help="Do not look for a plan.")
@click.option(
    "--from",
    "source",
    metavar="latest|AGENT|SESSION_ID|FILE",
    help="Save this session's state; latest is the newest.",
)
@click.option("--edit", is_flag=True, help="Fill in a form in your editor first.")
@click.option(
    "--from-json",
    metavar="FILE|-",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Read the checkpoint's keys from a JSON file.",
)
@click.option("--append-day", is_flag=True, help="Keep the progress of earlier days.")
@click.option("--overwrite", is_flag=True, help="Save a new revision of a name in use.")
@click.option("--strict", is_flag=True, help="Refuse to save below the quality bar.")
@click.option("--auto-name", is_flag=True, help="Use the suggested name without asking.")
@click.option("--no-capture", is_flag=True, help="Do not read the agent's session.")
def save(app: App, name: str | None, **given: Any) -> int:
    """Save where the work left off.

    Without NAME, leftoff makes a short one from the work. It asks before it overwrites a name.
    """
    with app.workspace.mark_work("checkpoint"):
        return _save(app, *_take_note(app, name, given))


def _take_note(
    app: App, name: str | None, given: dict[str, Any]
) -> tuple[str | None, dict[str, Any]]:
    """Treat a sentence in the place of the name as a note, if a mirrored system names the work."""
    if name is None or not _SENTENCE.search(name.strip()) or not app.workspace.mirrors.keep_notes():
        return name, given
    return None, {**given, "note": (name, *given["note"])}


_SENTENCE = re.compile(r"\s")


def _save(app: App, name: str | None, given: dict[str, Any]) -> int:
    _refuse_odd_mixes(given)
    session, stated = _find_session(app, given), _collect_fields(app, given)
    if _wants_form(app, given, stated):
        return _save_form(app, name, session, given, stated)
    fields = _with_notes(app, name, given, _ask_missing(app, given, session, stated))
    draft = app.workspace.draft(fields, session=session, with_plan=not given["no_plan"])
    if name is None and not given["edit"] and _is_empty(draft):
        raise UsageError(
            "There is nothing to save: no task, no next action, no changed file and no session.",
            hint="Run `leftoff save --summary TASK --next ACTION`, or `leftoff save --from latest` "
            "to save the newest session.",
        )
    # A full context leaves the agent no room to answer a question.
    is_auto = given["auto_name"] or _read_percent(draft) >= _FULL
    return _finish(app, draft, _name(app, draft, name, auto=is_auto), given)


def _is_empty(draft: Checkpoint) -> bool:
    """Return whether a draft says nothing but where it was made."""
    said = (draft.stated, draft.task, draft.plan, draft.feature, draft.files, draft.dirty)
    return not (any(said) or draft.session_id or draft.artifacts or draft.extra)


def _save_form(
    app: App,
    name: str | None,
    session: KnownSession | None,
    given: dict[str, Any],
    stated: dict[str, Any],
) -> int:
    """Let a person fill in a form, and save it."""
    if given["edit"] and name is not None:
        app.workspace.find_open(name)
    fields = _with_notes(app, name, given, stated)
    with cli.fill_form.fill(app, name, session, fields) as filled:
        name = _name(app, filled.draft, filled.name, auto=True)
        is_again = given["overwrite"] or filled.overwrite
        given = {**given, "overwrite": is_again}
        return _finish(app, filled.draft, name, given, has_answers=filled.has_answers)


def _finish(
    app: App, draft: Checkpoint, name: str, given: dict[str, Any], *, has_answers: bool = False
) -> int:
    """Save a draft under its name, and say what was saved."""
    if given["append_day"]:
        draft = append_day(draft, app.store, name)
    outcome = _save_or_ask(
        app,
        draft,
        name,
        overwrite=given["overwrite"] or given["append_day"],
        strict=given["strict"],
    )
    _show(app, _drop_unasked(app, outcome) if has_answers else outcome, name)
    _end_deferral(app, outcome.saved.checkpoint)
    if app.settings.confirm == "always":
        state = app.environment.state_folder
        hooks.first_prompt.expect(state, str(app.project.worktree), app.settings)
    if (percent := _read_percent(draft)) >= app.settings.fresh_at:
        app.out.warn(f"context at {percent:.2f}%: compact or start a fresh session now.")
    return _choose_exit_code(app, outcome.saved)


def _drop_unasked(app: App, outcome: persist.SaveOutcome) -> persist.SaveOutcome:
    """Leave out the warnings about progress, which the three questions do not ask for."""
    findings = persist.lint(outcome.saved.checkpoint, app.project.worktree)
    unasked = [each.message for each in findings if each.rule == "progress"]
    kept = [each for each in outcome.warnings if each not in unasked]
    return msgspec.structs.replace(outcome, warnings=kept)


def _read_percent(draft: Checkpoint) -> float:
    return (draft.context.percent if draft.context else None) or 0.0


def _wants_form(app: App, given: dict[str, Any], stated: dict[str, Any]) -> bool:
    """Return whether a person should fill in a form: they asked for it, or said nothing.

    A name says nothing about the state of the work. quoin's session file says it, so nobody is
    asked.
    """
    if given["edit"]:
        if not app.out.is_interactive:
            raise UsageError("--edit needs a terminal.", hint="Pass --summary and --next instead.")
        return True
    if not app.out.is_interactive or app.out.is_for_agent or app.settings.questions:
        return False
    is_said = stated or given["source"] or given["auto_name"]
    if is_said or app.settings.naming == "required":
        return False
    return not app.workspace.mirrors.keep_notes()


def _choose_exit_code(app: App, saved: SavedCheckpoint) -> int:
    """Fail if the files of the profile in use do not show the checkpoint."""
    problem = app.workspace.unwritten.get(app.settings.profile)
    if problem is None:
        return 0
    if app.out.as_json:
        return StoreRefused.exit_code
    raise StoreRefused(
        f"{app.workspace.mark_reported(problem)}. The checkpoint itself is safe in the store: "
        f"{saved.checkpoint.id} in {saved.path}",
        hint="Make these files writable; the next leftoff command will update them. "
        f"`leftoff resume {saved.checkpoint.id}` already works.",
    )


def _end_deferral(app: App, checkpoint: Checkpoint) -> None:
    """Turn context warnings on again: `leftoff defer` silences them until a save."""
    if checkpoint.agent and checkpoint.session_id:
        records.defer(app.store, checkpoint.agent, checkpoint.session_id, None)


def _ask_missing(
    app: App, given: dict[str, Any], session: KnownSession | None, fields: dict[str, Any]
) -> dict[str, Any]:
    """Return the given fields; ask for missing ones if the settings say so."""
    is_full = session is not None and (session.facts.percent or 0.0) >= _FULL
    if not app.settings.questions or given["source"] or is_full:
        return fields
    return questions.ask_missing(app, fields, is_captured=session is not None)


def _refuse_odd_mixes(given: dict[str, Any]) -> None:
    if given["no_plan"] and (given["plan"] or given["step"]):
        raise UsageError("--no-plan cannot be combined with --plan or --step.")
    if given["source"] and given["no_capture"]:
        raise UsageError("--from cannot be combined with --no-capture.")


def _find_session(app: App, given: dict[str, Any]) -> KnownSession | None:
    if given["source"]:
        return _find_source(app, given["source"])
    if app.environment.find_session() is None:
        # Most people save from a terminal, outside an agent's session.
        return None
    settle.catch_up(app.environment.state_folder)
    return None if given["no_capture"] else sessions.find_current(app.store)


def _find_source(app: App, source: str) -> KnownSession:
    """Find the session to save: the newest, the newest of an agent, or a named one."""
    agent = source if source in AGENTS else None
    if source != "latest" and agent is None:
        return sessions.find(app.store, source)
    found = sessions.find_newest(app.store, agent)
    if found is None:
        whose = f"of {agent} " if agent else ""
        raise SessionUnreadable(
            f"No session {whose}with work was found in this project.",
            hint="Run `leftoff sessions` to list this project's sessions.",
        )
    return found


def _with_notes(
    app: App, name: str | None, given: dict[str, Any], fields: dict[str, Any]
) -> dict[str, Any]:
    """Add what mirrored files say about the work; they say nothing about another session."""
    if given["source"]:
        return app.workspace.name_intent(fields)
    return app.workspace.add_notes(fields, task=name)


def _collect_fields(app: App, given: dict[str, Any]) -> dict[str, Any]:
    """Merge the JSON and the options; an option overrides the same key of the JSON."""
    fields = parse_fields(_read_json(given["from_json"])) if given["from_json"] else {}
    _warn_of_unknown(app, fields, given["from_json"])
    flags: dict[str, Any] = {
        "summary": given["summary"],
        "left_off": given["left_off"],
        "done": list(given["done"]),
        "next_action": list(given["next_action"]),
        "blockers": list(given["blocker"]),
        "questions": list(given["question"]),
        "decisions": list(given["decision"]),
        "failed": list(given["failed"]),
        "files": [_parse_file(app, each) for each in given["files"]],
        "artifacts": dict(_parse_artifact(app, each) for each in given["artifact"]),
        "notes": list(given["note"]),
    }
    fields |= parse_fields({key: value for key, value in flags.items() if _says_something(value)})
    return fields | _collect_plan(app, fields.get("plan"), given)


def _warn_of_unknown(app: App, fields: Mapping[str, Any], source: Path | None) -> None:
    """Warn of keys that nothing reads; they are kept, as a newer version may know them."""
    unknown = [repr(key) for key in fields if key not in Checkpoint.__struct_fields__]
    if unknown:
        app.out.warn(
            f"{source} has keys that a checkpoint does not have: {', '.join(unknown)}. They are "
            "kept, but leftoff shows them nowhere. `leftoff schema` lists the keys."
        )


def _says_something(value: Any) -> bool:
    return bool(value.strip() if isinstance(value, str) else value)


def _parse_file(app: App, given: str) -> dict[str, str]:
    path, _, role = given.partition(" :: ")
    return {"path": _name_path(app, path.strip() if role else path), "role": role.strip()}


def _parse_artifact(app: App, given: str) -> tuple[str, str]:
    name, _, path = given.partition("=")
    if not name or not path:
        raise UsageError(
            f"Invalid artifact {given!r}: expected NAME=PATH, such as plan=docs/plan.md."
        )
    return name, _name_path(app, path)


def _collect_plan(app: App, plan: Any, given: dict[str, Any]) -> dict[str, Any]:
    flags: dict[str, Any] = {}
    if given["plan"]:
        flags["path"] = _name_path(app, given["plan"])
    if given["step"]:
        flags["step"], flags["total"] = plans.parse_step(given["step"])
    # Leave a plan of the wrong type alone: validation refuses it with the rest of the JSON.
    is_joined = flags and isinstance(plan, dict | None)
    return {"plan": {**(plan or {}), **flags}} if is_joined else {}


def _name_path(app: App, path: str) -> str:
    """Resolve a path against the current folder, as the shell does."""
    if not can_be_path(path):
        raise UsageError(f"{path[:60]!r} is not a valid file path.")
    return name_path(Path.cwd(), path, app.project.worktree)


def _read_json(source: Path) -> object:
    try:
        data = _read_stdin() if str(source) == "-" else source.read_bytes()
    except OSError as error:
        raise UsageError(f"Cannot read {source}: {error.strerror}") from error
    try:
        return msgspec.json.decode(data)
    # Deeply nested JSON raises RecursionError.
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{source} is not valid JSON: {error}") from error


def _read_stdin() -> bytes:
    if sys.stdin is None:
        raise UsageError("Cannot read the JSON: standard input is closed.")
    return sys.stdin.buffer.read()


def _save_or_ask(
    app: App, draft: Checkpoint, name: str, *, overwrite: bool, strict: bool
) -> persist.SaveOutcome:
    # A loop, because the other name may be in use, too.
    while True:
        try:
            return app.workspace.save_draft(draft, name, overwrite=overwrite, strict=strict)
        except ChoiceNeeded as choice:
            if _wants_revision(app, _with_whole_commands(choice, name)):
                overwrite = True
            else:
                name = cli.ask_questions.ask_name(app)


def _wants_revision(app: App, choice: ChoiceNeeded) -> bool:
    """Ask whether to save a new revision of a name in use, rather than use another name."""
    asking = cli.ask_questions
    # guardz has its own list for this.
    if not app.out.is_interactive or app.settings.profile == "guardz":
        return asking.choose(app, choice) == "overwrite"
    asking.show_lines(choice.message)
    return asking.confirm(choice.question)


def _with_whole_commands(choice: ChoiceNeeded, name: str) -> ChoiceNeeded:
    """Repeat all options of this call in the offered commands, so that nothing gets lost."""
    verb, *arguments = click.get_current_context().find_root().obj
    whole = {"overwrite": shlex.join(["leftoff", verb, "--overwrite", *arguments])}
    # If another argument equals the name, we cannot know which of them to replace.
    if arguments.count(name) <= 1:
        rest = arguments if name in arguments else ["OTHER-NAME", *arguments]
        renamed = ["OTHER-NAME" if each == name else each for each in rest]
        whole["rename"] = shlex.join(["leftoff", verb, *renamed])
    choices = [
        {**each, "command": whole.get(str(each["choice"]), each.get("command"))}
        for each in choice.choices
    ]
    return ChoiceNeeded(choice.message, question=choice.question, choices=choices, hint=choice.hint)


def _name(app: App, draft: Checkpoint, name: str | None, *, auto: bool) -> str:
    # An empty name counts as given: check_name refuses it later, with a reason.
    given = name if name is not None else draft.name
    if app.settings.naming == "required":
        if given is None:
            raise UsageError("'save' requires a name.", hint="Run `leftoff save NAME …`.")
        return check_specific(check_name(given, strict=True))
    return given if given is not None else _suggest_name(app, draft, auto=auto)


def _suggest_name(app: App, draft: Checkpoint, *, auto: bool) -> str:
    name = app.workspace.suggest_name(draft)
    # The work has a name already.
    auto = auto or app.store.index().find_open_thread(draft.session_id) is not None
    if auto or app.settings.naming == "auto" or not app.out.is_interactive:
        return name
    asking = cli.ask_questions
    if app.settings.profile != "guardz":
        return name if asking.confirm(f'Save it as "{name}"?') else asking.ask_name(app)
    choice = ChoiceNeeded(
        "The checkpoint needs a name.",
        question="Which name?",
        choices=[
            {"choice": "use", "label": f"Use '{name}' (Recommended)"},
            {"choice": "other", "label": "Provide different name"},
        ],
    )
    return name if asking.choose(app, choice) == "use" else asking.ask_name(app)


def _show(app: App, outcome: persist.SaveOutcome, name: str) -> None:
    checkpoint, path = outcome.saved.checkpoint, outcome.saved.path
    # Now instead of on close, so that the confirmation can list the files.
    written = app.workspace.mirror()
    natives = [str(each) for found in written.values() for each in found]
    lines = build_confirmation(
        app.settings.noise, checkpoint, path, written, advise_clear=app.settings.advise_clear
    )
    if app.out.is_for_person:
        # People use names, not the paths of the store.
        lines = [line for line in lines if not line.endswith(f"  {path}")]
    app.out.result(
        {
            "id": checkpoint.id,
            "name": checkpoint.name,
            "path": str(path),
            **({"continues": outcome.continues} if outcome.continues else {}),
            "warnings": [*outcome.warnings, *app.workspace.unwritten.values()],
            **({"mirrored": [*dict.fromkeys(natives)]} if natives else {}),
        },
        lines,
    )
    # The line of guardz, the box of sail and the report of quoin are all that those print.
    is_brief = app.settings.noise in {"silent", "line", "box", "report"}
    is_shown = not is_brief and not app.out.as_json
    if name != checkpoint.name and is_shown:
        app.out.text(
            f'The name is "{checkpoint.name}": names are lowercase words joined by dashes.'
        )
    if outcome.continues and is_shown:
        app.out.text(_describe_thread(outcome.continues, checkpoint))
    if not app.out.as_json:
        for warning in outcome.warnings:
            app.out.warn(warning)


def _describe_thread(former: str, checkpoint: Checkpoint) -> str:
    """Say which work a save in a session continues."""
    if former != checkpoint.name:
        return f'This continues "{former}", which is now named "{checkpoint.name}".'
    key = quote_key(former, checkpoint.id)
    return f'This continues "{former}"; `leftoff log {key}` shows the earlier saves.'


# --- the confirmation, in the style that the `noise` setting names ---


_SHOWN_CHARS = 200

Written = Mapping[str, Sequence[Path]]
"""The native files written for the checkpoint, by profile."""


def build_confirmation(
    noise: str, checkpoint: Checkpoint, path: Path, written: Written, *, advise_clear: bool = False
) -> list[str]:
    """Return the lines that confirm a saved checkpoint."""
    if noise == "silent":
        return []
    if noise != "full":
        return cli.native_confirmations.confirm(
            noise, checkpoint, path, written, advise_clear=advise_clear
        )
    natives = [each for found in written.values() for each in found]
    first, *others = dict.fromkeys([*natives, path])
    return [
        f'Saved checkpoint "{checkpoint.name}"',
        f"  Task  {one_line(checkpoint.task, _SHOWN_CHARS)}",
        f"  Next  {next_line(checkpoint)}",
        f"  Path  {first}",
        *(f"  Also  {each}" for each in others),
    ]


def next_line(checkpoint: Checkpoint) -> str:
    """Return the next action as one line."""
    action = checkpoint.next_action
    return one_line(action.text, _SHOWN_CHARS) if action else "(none given)"
