"""Choose a thread where a command got no name: in the picker, or by its number."""

from leftoff import cli, threads
from leftoff.cli.app import App, key_of, terminal_width
from leftoff.cli.ask_questions import choose
from leftoff.cli.list import format_name, format_nothing_open
from leftoff.errors import ChoiceNeeded, NoSuchCheckpoint
from leftoff.store import CheckpointEntry
from leftoff.text.fence import quote_key
from leftoff.text.plural import format_count


def choose_open(app: App, verb: str) -> CheckpointEntry:
    """Return the only open thread; of several, let the user choose the one for a command."""
    entries = _list_open(app, _MOST_CHOICES)
    if not entries:
        nothing = format_nothing_open(app, "Nothing is open.")
        raise NoSuchCheckpoint(nothing, hint="Run `leftoff list --all` to see what has ended.")
    if len(entries) == 1:
        return entries[0]
    return pick_open(app, f"Which one do you want to {_VERBS[verb]}?", verb)


def _choose_by_number(app: App, question: str, verb: str) -> CheckpointEntry:
    """Let the user choose an open thread where no picker can be drawn; scripts get the choices."""
    entries = _list_open(app, _MOST_CHOICES)
    choice = ChoiceNeeded(
        f"{len(entries)} threads are open.",
        question=question,
        choices=[
            {
                "choice": key_of(entry),
                "label": format_name(entry),
                "command": f"leftoff {verb} {quote_key(entry.name, entry.id)}",
                "branch": entry.branch,
                "saved_at": entry.as_of.isoformat(),
                "summary": entry.task,
            }
            for entry in entries
        ],
        hint=f"Name one: `leftoff {verb} NAME`.",
    )
    return app.workspace.find_open(choose(app, choice))


_VERBS = {"done": "mark as done", "drop": "drop", "diff": "compare"}
_MOST_CHOICES = 20
_MOST_PICKED = 1_000
_WIDE = 90


def pick_open(app: App, question: str, verb: str) -> CheckpointEntry:
    """Let the user choose one of the open threads, in the picker if it can be drawn."""
    if not app.out.can_draw:
        return _choose_by_number(app, question, verb)
    picker = cli.thread_picker
    choice = picker.ThreadChoice(
        question=question, verb=verb, load=lambda: _list_open(app, _MOST_PICKED)
    )
    return picker.pick_thread(app, choice)


def has_several(app: App) -> bool:
    """Return whether to ask which thread: there are several, and a person to choose."""
    is_asked = app.out.is_interactive and app.out.is_for_person
    return is_asked and len(_list_open(app, 2)) > 1


def _list_open(app: App, limit: int) -> list[CheckpointEntry]:
    entries = app.workspace.list_checkpoints(limit=limit)
    return [entry for entry in entries if not entry.problem]


def pick_to_resume(app: App, question: str, *, unsaved: int) -> CheckpointEntry:
    """Let the user choose one of the threads that can be resumed, in the picker."""
    picker = cli.thread_picker

    def load() -> list[CheckpointEntry]:
        found = threads.check_claims.list_candidates(app.store, limit=_MOST_PICKED)
        is_limited = app.settings.offers == "saved"
        return threads.check_claims.list_saved(app.store, found) if is_limited else found

    asked = _mention_unsaved(question, unsaved)
    return picker.pick_thread(app, picker.ThreadChoice(question=asked, verb="resume", load=load))


def _mention_unsaved(question: str, unsaved: int) -> str:
    """Say in the picker, which hides the lines above it, that some work is not in the list."""
    if not unsaved or terminal_width() < _WIDE:
        return question
    return f"{question}  ({format_count(unsaved, 'unsaved session')}: `leftoff recover`)"
