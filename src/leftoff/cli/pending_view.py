"""Run `leftoff resume --pending`: resume what waits for this session, or the newest checkpoint."""

import contextlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import click
import msgspec

from leftoff.checkpoint import Checkpoint
from leftoff.cli import candidates, replay
from leftoff.cli.app import App, one_line, printable
from leftoff.cli.artifacts_view import ARTIFACTS_QUESTION
from leftoff.cli.candidates import FoundCandidates
from leftoff.cli.resume import ResumeBriefing, ViewOptions, ask_rest, prepare_briefing
from leftoff.errors import CheckpointUnreadable, ChoiceNeeded, LeftoffError
from leftoff.names import kebab
from leftoff.profiles.mirror import WaitingFile
from leftoff.store import CheckpointEntry
from leftoff.text import fence
from leftoff.text.fence import Rendered, block, join, say
from leftoff.threads import pick_pending
from leftoff.threads.pick_pending import Candidate, Pick

MISMATCH = "Session-id mismatch: sentinel is from a prior session. Using it anyway."
MANUAL_RECOVERY = (
    "Manual recovery — please paste the checkpoint content above and I will reconstruct state."
)
_SKIP = "skip"
_TRIES = 2
_INTENT_CHARS = 200
_NOTED_WITHIN = timedelta(days=7)


def resume_pending(
    app: App, name: str | None, budget: int | None, *, skip: bool, reads: bool | None
) -> int:
    """Resume what waits for this session, or the newest checkpoint if nothing does.

    If only other sessions left something, resume it with a warning, or ask which one to resume.
    """
    # quoin asks this question even if a checkpoint has no artifacts.
    always_asks = app.workspace.mirrors.use_sentinels()
    view = ViewOptions(budget=budget or app.settings.budget, reads=reads, always_asks=always_asks)
    with app.workspace.mark_work("checkpoint"):
        found = candidates.find(app)
        if name is not None:
            return _restore_named(app, found, name, view)
        session_id = candidates.find_current_session(app)
        waits = None if skip else pick_pending.pick(found.candidates, session_id=session_id)
        pick = _pick_waiting(app, waits) if waits else None
        noted = app.workspace.read_notes(since=app.store.now() - _NOTED_WITHIN)
        # A user who skipped one list does not want to see another.
        pick = pick or _pick_newest(app, found, noted, may_ask=not skip and not waits)
        if pick.chosen is not None:
            return _restore(app, found, pick, view)
        app.out.result({"checkpoint": None}, "No saved checkpoints found.")
    return 0


def _restore_named(app: App, found: FoundCandidates, name: str, view: ViewOptions) -> int:
    """Resume the checkpoint, or show the unreadable file, that the user named."""
    broken = [each for each in found.candidates if each.key == name and name in found.unreadable]
    if broken:
        return _restore(app, found, Pick(chosen=broken[0]), view)
    entry = app.workspace.find_open(name)
    waiting = [each for each in found.candidates if each.key == entry.id and each.is_pending]
    current = candidates.find_current_session(app)
    # The user chose from the list of waiting checkpoints. quoin warns in this case, too.
    is_foreign = app.workspace.mirrors.use_sentinels() and any(
        each.session_id != current for each in waiting
    )
    _resume_entry(app, entry, Pick(is_foreign=is_foreign), view)
    return 0


def _pick_waiting(app: App, pick: Pick) -> Pick | None:
    if not pick.among:
        return pick
    question = "Multiple pending-restore sentinels found. Which session do you want to restore?"
    chosen = _ask(app, question, pick.among)
    return Pick(chosen=chosen, is_foreign=True) if chosen else None


def _pick_newest(app: App, found: FoundCandidates, noted: dict[str, Any], *, may_ask: bool) -> Pick:
    readable = [each for each in found.candidates if each.key not in found.unreadable]
    task = kebab(noted.get("name", "")) or None
    pick = pick_pending.pick_newest(
        readable,
        now=app.store.now(),
        task=task,
        may_ask=may_ask,
        is_literal=app.workspace.mirrors.use_sentinels(),
    )
    if not pick.among:
        return _with_notes(pick, noted)
    question = "Several tasks were saved recently. Which one do you want to restore?"
    return Pick(chosen=_ask(app, question, pick.among) or pick.among[0])


def _with_notes(pick: Pick, noted: dict[str, Any]) -> Pick:
    """Name the notes of the newest session beside a doubt."""
    path = noted.get("artifacts", {}).get("session-state")
    if not (pick.doubt and path):
        return pick
    doubt = say("{doubt} The newest session's notes: {path:400}", doubt=pick.doubt, path=path)
    return msgspec.structs.replace(pick, doubt=doubt)


def _ask(app: App, question: str, among: Sequence[Candidate]) -> Candidate | None:
    """Ask the user for a number; return None if they skip the list."""
    shown = [msgspec.structs.replace(each, task=_find_task(app, each)) for each in among]
    lines = [_format_candidate(number, each) for number, each in enumerate(shown, 1)]
    if not app.out.is_interactive:
        raise _build_choice(question, lines, shown)
    click.echo(printable([question, *lines]))
    for _ in range(_TRIES):
        prompt = "Enter number, or 'skip' to proceed to direct checkpoint lookup:"
        answer = str(click.prompt(prompt, prompt_suffix=" ", default="", show_default=False))
        if answer.strip().lower() == _SKIP:
            break
        if answer.strip().isdecimal() and 1 <= int(answer) <= len(among):
            return among[int(answer) - 1]
    return None


def _find_task(app: App, candidate: Candidate) -> str:
    """Return the task as quoin's files have it; names in the store are in kebab-case."""
    entry = app.store.index().get(candidate.key)
    if entry is None or not app.workspace.mirrors.use_sentinels():
        return candidate.task
    # A damaged checkpoint must not hide the others.
    with contextlib.suppress(LeftoffError, OSError):
        return app.workspace.mirrors.find_task(app.store.load(entry))
    return candidate.task


def _format_candidate(number: int, candidate: Candidate) -> str:
    day = candidate.day or f"{candidate.saved_at.astimezone():%Y-%m-%d}"
    branch = candidate.branch or "unknown"
    return f"{number}. Task: {candidate.task} Branch: {branch} (checkpoint: {day})"


def _build_choice(question: str, lines: list[str], among: Sequence[Candidate]) -> ChoiceNeeded:
    choices: list[dict[str, Any]] = [
        {
            "choice": str(number),
            "label": line,
            "command": f"leftoff resume --pending {each.key}",
            "task": each.task,
            "branch": each.branch,
            "saved_at": each.saved_at.isoformat(),
            "session_id": each.session_id,
        }
        for number, (line, each) in enumerate(zip(lines, among, strict=True), 1)
    ]
    skip = {
        "choice": _SKIP,
        "label": "The newest checkpoint",
        "command": "leftoff resume --pending --skip",
    }
    return ChoiceNeeded(
        question,
        question="Enter number, or 'skip' to proceed to direct checkpoint lookup:",
        choices=[*choices, skip],
        hint="Name one: `leftoff resume --pending ID`.",
    )


def _restore(app: App, found: FoundCandidates, pick: Pick, view: ViewOptions) -> int:
    key = pick.chosen.key if pick.chosen else ""
    if (broken := found.unreadable.get(key)) is not None:
        return _show_broken(app, broken)
    _resume_entry(app, app.store.find(key), pick, view)
    return 0


def _show_broken(app: App, broken: WaitingFile) -> int:
    """Show the raw text of an unreadable file and fail; the file stays pending."""
    problem = f"{broken.path} cannot be read: {broken.problem}"
    lines = [MANUAL_RECOVERY]
    if broken.copy_id:
        lines.append(
            f"The store has a complete copy: run `leftoff resume --pending {broken.copy_id}`."
        )
    if app.out.as_json:
        app.out.json({"error": problem, "hint": " ".join(lines), "text": broken.text})
        return CheckpointUnreadable.exit_code
    app.out.exact(_format_broken_file(broken))
    raise CheckpointUnreadable(problem, hint=" ".join(lines))


def _format_broken_file(broken: WaitingFile) -> Rendered:
    if not broken.text.strip():
        return say("The file is missing: {path}", path=broken.path)
    return join([say("From the file {path}:", path=broken.path), block(broken.text)])


def _resume_entry(app: App, entry: CheckpointEntry, pick: Pick, view: ViewOptions) -> None:
    checkpoint = app.store.load(entry)
    said = [say(MISMATCH if pick.is_foreign else ""), pick.doubt]
    said += [*_format_headline(app, checkpoint), _name_others(pick.beside)]
    _surface(app, checkpoint, [each for each in said if each], view, entry)


def _name_others(others: Sequence[Candidate]) -> Rendered:
    if not others:
        return say("")
    return say(
        "Saved at about the same time: {tasks:600}. To restore another: "
        "`leftoff resume --pending ID`.",
        tasks=", ".join(f"{each.task} ({each.key})" for each in others),
    )


def _surface(
    app: App,
    checkpoint: Checkpoint,
    head: list[Rendered],
    view: ViewOptions,
    entry: CheckpointEntry,
) -> None:
    shown = prepare_briefing(app, checkpoint, view)
    app.workspace.accept(entry)
    if app.out.is_for_person:
        _show_person(app, head, shown)
    else:
        parts = [join(head), shown.text, shown.artifacts]
        parts += [] if app.out.is_interactive else shown.questions()
        app.out.result(
            {
                **shown.plain(ARTIFACTS_QUESTION if shown.asks else None),
                "prompt_question": replay.describe_question(shown.waiting),
                "said": head,
            },
            join(parts, "\n\n"),
        )
    if app.out.is_interactive:
        ask_rest(app, shown).apply()


def _show_person(app: App, head: list[Rendered], shown: ResumeBriefing) -> None:
    """Show quoin's lines, then the briefing as a page, without the marks for agents."""
    app.out.text(head)
    app.out.gap()
    app.out.briefing(None, shown.text)
    if shown.artifacts:
        app.out.gap()
        app.out.exact(fence.open_text(shown.artifacts))
    app.out.gap()


def _format_headline(app: App, checkpoint: Checkpoint) -> list[Rendered]:
    mirrors = app.workspace.mirrors
    # quoin's files have the task as it was typed.
    task = mirrors.find_task(checkpoint) if mirrors.use_sentinels() else checkpoint.name
    intent = one_line(checkpoint.intent or checkpoint.summary or "(none)", _INTENT_CHARS)
    return [
        say(
            "Resuming task: {task:60}. Branch: {branch:200}. Last intent: {intent:200}.",
            task=task or checkpoint.task or "-",
            branch=checkpoint.branch or "unknown",
            intent=intent.rstrip("."),
        ),
        say("In-flight artifacts: {count} paths.", count=len(checkpoint.artifacts)),
        say("Open questions: {count} items.", count=len(checkpoint.questions)),
    ]
