"""Let a person fill in what only they know about a save: in their editor, or by three questions."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from leftoff.checkpoint import Checkpoint
from leftoff.cli.app import App, one_line, printable
from leftoff.cli.ask_questions import ask_text, confirm
from leftoff.errors import LeftoffError, NameRefused
from leftoff.session import sessions
from leftoff.session.sessions import KnownSession
from leftoff.store import LISTED, CheckpointEntry, disk
from leftoff.text import times
from leftoff.text.fence import quote_key
from leftoff.text.plural import format_count
from leftoff.threads import continue_thread, save_form
from leftoff.threads.save_form import FormTorn, Values

_FORMS = "forms"
_KEPT_SECONDS = 30 * 86_400
_MOST_FILES = 5
_MOST_OPEN = 20
_SHOWN_CHARS = 60
_HEAD = (
    "Say where the work left off, then save this file and close the editor.",
    "Lines that start with # are ignored. To cancel, delete the task or everything.",
)
_WAITING_EDITOR = (
    "If your editor returns before you close it, set EDITOR to a command that waits, such as "
    "`code --wait`."
)


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """What a form is filled from: the state that would be saved, and where it comes from."""

    base: Checkpoint
    fresh: Checkpoint
    """The same without what the thread has already."""
    name: str
    is_suggested: bool = False
    """Whether leftoff made the name of the task that it knows."""
    entry: CheckpointEntry | None = None
    """The head of the thread that the save continues."""
    session: KnownSession | None = None


class Filled(msgspec.Struct, frozen=True, kw_only=True):
    """What to save, and under which name."""

    draft: Checkpoint
    name: str
    overwrite: bool
    has_answers: bool = False
    """Whether it comes from the three questions, which do not ask for everything."""


@contextlib.contextmanager
def fill(
    app: App, name: str | None, session: KnownSession | None, fields: dict[str, Any]
) -> Iterator[Filled]:
    """Let the user fill in a form, and yield what to save; its text is kept until that is done."""
    origin = _find_origin(app, name, session, fields)
    editor = app.environment.find_editor()
    if not editor:
        filled = _conclude(app, origin, *_ask(app, origin))
        yield msgspec.structs.replace(filled, has_answers=True)
        return
    shown = save_form.read_values(origin.base, origin.name)
    known = _describe_known(app, origin)
    text = printable(save_form.write_form(shown, _HEAD, known).splitlines())
    with _open_form(app, f"{text}\n") as path:
        yield _conclude(app, origin, *_edit(app, path, editor))


def _conclude(app: App, origin: Origin, before: Values, after: Values) -> Filled:
    draft = save_form.apply_changes(origin.base, before, after)
    if after != before:
        # What the user says is about now, however old the session is.
        draft = msgspec.structs.replace(draft, as_of=None)
    chosen = str(after["name"]) or app.workspace.suggest_name(draft)
    head = origin.entry
    if head is None:
        return Filled(draft=draft, name=chosen, overwrite=False)
    if chosen != head.name:
        return Filled(draft=_start_other(origin, before, after), name=chosen, overwrite=False)
    _confirm_newer(app, head)
    return Filled(draft=draft, name=chosen, overwrite=True)


def _start_other(origin: Origin, before: Values, after: Values) -> Checkpoint:
    """Return other work: what the form says, without the lines that the thread already had."""
    fresh = save_form.read_values(origin.fresh, origin.name)
    kept = {
        key: [each for each in value if each in fresh[key] or each not in before[key]]
        if isinstance(value, list)
        else value
        for key, value in after.items()
    }
    return save_form.apply_changes(origin.fresh, fresh, kept)


def _confirm_newer(app: App, head: CheckpointEntry) -> None:
    """Ask before saving over what somebody else saved while the form was open."""
    newest = app.store.index().head(head.slot)
    if newest is None or newest.id == head.id:
        return
    age = times.age((app.store.now() - newest.saved_at).total_seconds())
    if not confirm(f'"{head.name}" was saved again while you wrote ({age}). Save yours on top?'):
        raise LeftoffError(
            "Nothing was saved.",
            hint=f"Run `leftoff save --edit {quote_key(head.name, head.id)}` to start from it.",
        )


# --- what the form is filled from ---


def _find_origin(
    app: App, name: str | None, session: KnownSession | None, fields: dict[str, Any]
) -> Origin:
    """Choose the thread and the session to start from: the named one, or the newest."""
    index = app.store.index()
    entry = index.find_named(name) if name else None
    entry = entry if entry is not None and entry.is_open else None
    if session is None and name is None:
        session = sessions.find_newest(app.store)
        entry = _find_newest_here(app)
        if session is not None and entry is not None and session.touched_at < entry.saved_at:
            session = None
    if session is not None and name is None:
        entry = index.find_open_thread(session.session_id)
    draft = fresh = app.workspace.draft(fields, session=session)
    if entry is not None:
        head = msgspec.structs.replace(app.store.load(entry), thread=entry.slot)
        draft = continue_thread.continue_thread(head, draft, app.project.worktree)
    named = entry.name if entry is not None and entry.name else name
    suggested = app.workspace.suggest_name(draft) if draft.summary or draft.intent else ""
    return Origin(
        base=draft,
        fresh=fresh,
        name=suggested if named is None else named,
        is_suggested=named is None,
        entry=entry,
        session=session,
    )


def _find_newest_here(app: App) -> CheckpointEntry | None:
    """Return the newest open thread of this worktree."""
    here = str(app.project.worktree)
    found = app.store.index().heads([*LISTED], _MOST_OPEN)
    mine = (each for each in found if each.is_open and each.worktree in {None, here})
    return next((each for each in mine if each.state != "declined"), None)


def _describe_known(app: App, origin: Origin) -> list[str]:
    """Return what leftoff knows without the user, as lines of the form."""
    base, session = origin.base, origin.session
    lines = ["leftoff also saves what it knows without you:"]
    if base.branch or base.head:
        named = ", ".join(base.dirty[:_MOST_FILES])
        more = f" and {len(base.dirty) - _MOST_FILES} more" if len(base.dirty) > _MOST_FILES else ""
        changed = f": {named}{more}" if named else ""
        count = format_count(len(base.dirty), "changed file")
        branch = base.branch or f"detached at {(base.head or '')[:8]}"
        lines.append(f"  git      {branch}, {count}{changed}")
    if session is not None:
        age = times.age((app.store.now() - session.touched_at).total_seconds())
        lines.append(f"  session  {session.agent}, {age}: {one_line(session.request)}")
    if base.plan is not None and base.plan.path:
        lines.append(f"  plan     {base.plan.path}")
    if base.next_action is not None and base.next_action.origin == "inferred":
        lines.append(
            "The next action above is a guess from the session. Correct it if it is wrong."
        )
    if origin.entry is not None:
        lines += [
            f"This continues {origin.name}. Under another name, it starts another thread,",
            "with only the lines that you add.",
        ]
    return [" ".join(line.splitlines()) for line in lines] if len(lines) > 1 else []


# --- in the editor ---


def _edit(app: App, path: Path, editor: str) -> tuple[Values, Values]:
    """Open the form in the editor until it can be read; return what it said before and after."""
    before = save_form.parse_form(_read(path))
    while True:
        _run_editor(editor, path)
        try:
            after = save_form.parse_form(_read(path))
            if after["name"]:
                app.check_name(str(after["name"]))
        except (FormTorn, NameRefused) as refused:
            app.out.warn(refused.message)
            if not confirm("Edit the form again?"):
                raise LeftoffError("Nothing was saved.") from refused
            continue
        _refuse_empty(after, is_same=after == before)
        question = "You changed nothing in the form. Save it as it is?"
        if after == before and not confirm(question, default=False):
            raise LeftoffError("Nothing was saved.")
        return before, after


@contextlib.contextmanager
def _open_form(app: App, text: str) -> Iterator[Path]:
    """Write the form to a private file; if the save fails, keep what the user wrote in it."""
    folder = app.environment.state_folder / _FORMS
    disk.ensure_folder(folder)
    _remove_old(folder, app.store.now().timestamp())
    path = folder / f"save-{os.getpid()}.txt"
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    try:
        yield path
    except BaseException:
        if _has_text(path, text):
            app.out.warn(f"Your text is still in {path}")
        else:
            path.unlink(missing_ok=True)
        raise
    path.unlink(missing_ok=True)


def _has_text(path: Path, given: str) -> bool:
    """Return whether the user wrote something into a form."""
    if not path.is_file():
        return False
    written = _read(path)
    try:
        return written != given and not save_form.is_empty(save_form.parse_form(written))
    except FormTorn:
        return True


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise LeftoffError("The form is gone, so nothing was saved.") from error


def _remove_old(folder: Path, now: float) -> None:
    for path in folder.glob("save-*.txt"):
        with contextlib.suppress(OSError):
            if now - path.stat().st_mtime > _KEPT_SECONDS:
                path.unlink()


def _run_editor(editor: str, path: Path) -> None:
    """Run the editor; Ctrl-C is the editor's as long as it runs."""
    pressed: list[int] = []
    # A handler, because the editor would inherit that a signal is ignored.
    before = signal.signal(signal.SIGINT, lambda number, _frame: pressed.append(number))
    try:
        click.edit(filename=str(path), editor=editor)
    except (click.ClickException, ValueError) as error:
        if pressed:
            raise KeyboardInterrupt from error
        raise LeftoffError(
            f"The editor failed ({editor}), so nothing was saved.",
            hint="Set VISUAL or EDITOR to an editor that works, or pass --summary and --next.",
        ) from error
    finally:
        signal.signal(signal.SIGINT, before)


def _refuse_empty(after: Values, *, is_same: bool) -> None:
    if after["summary"] or after["left_off"]:
        return
    what = "The form is empty" if save_form.is_empty(after) else "The form has no task"
    hint = _WAITING_EDITOR if is_same else "Run `leftoff save` again to fill it in."
    raise LeftoffError(f"{what}, so nothing was saved.", hint=hint)


# --- by three questions ---


_QUESTIONS = (
    ("summary", "What are you working on?"),
    ("left_off", "Where did it stop?"),
    ("next_action", "What is the next action?"),
)


def _ask(app: App, origin: Origin) -> tuple[Values, Values]:
    """Ask for the task, where it stopped and what comes next; Enter keeps what is known."""
    before = dict(save_form.read_values(origin.base, origin.name))
    if origin.entry is not None:
        app.out.text(f"This continues {origin.name}. For other work, run `leftoff save NAME`.")
    answers = {
        key: ask_text(question, known, shown=one_line(known, _SHOWN_CHARS))
        for key, question in _QUESTIONS
        for known in (str(before[key]),)
    }
    after = {**before, **answers}
    if origin.is_suggested and after["summary"] != before["summary"]:
        after["name"] = ""
    if not (after["summary"] or after["left_off"]):
        raise LeftoffError(
            "You did not name a task, so nothing was saved.",
            hint="Run `leftoff save` again, or set EDITOR to fill in a form instead.",
        )
    return before, after
