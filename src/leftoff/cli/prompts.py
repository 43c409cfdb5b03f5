"""The `leftoff prompts` command: show prompts that no session answered."""

from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec

from leftoff.cli import ask_prompts
from leftoff.cli import replay as replaying
from leftoff.cli.app import App, clean_line, command, group, one_line
from leftoff.cli.look import ThreadRow, layout_threads
from leftoff.cli.replay import WaitingPrompts
from leftoff.errors import UsageError
from leftoff.session import prompt_queue as queue
from leftoff.session.prompt_files import parse
from leftoff.session.prompt_queue import Prompt
from leftoff.text import times
from leftoff.text.fence import join
from leftoff.text.plural import format_count

_NONE = "No prompts are waiting."


@command(name="list")
@click.option("--all", "with_all", is_flag=True, help="Include answered and dropped prompts.")
def prompts_list(app: App, *, with_all: bool) -> None:
    """List prompts that no session answered, oldest first."""
    found = replaying.find_waiting(app)
    if with_all:
        found = WaitingPrompts(prompts=queue.history(app.store), current=found.current)
        _show_history(app, found)
        return
    if found.prompts and app.out.is_for_person:
        _show_page(app, found)
        return
    text = join([found.mismatch, *replaying.format_prompts(found.prompts)])
    app.out.result(replaying.build_rows(found), text or _NONE)


def _show_page(app: App, found: WaitingPrompts) -> None:
    """Show the prompts to a person: their words first, then the number that commands take."""
    rows = [
        ThreadRow(
            task=clean_line(prompt.text),
            name=str(number),
            age=times.age((app.store.now() - prompt.at).total_seconds()),
            state="" if prompt.is_from_a_session else "from a file",
            agent=clean_line(prompt.agent),
        )
        for number, prompt in enumerate(found.prompts, 1)
    ]
    hint = "`leftoff prompts show N` prints one in full; `replay N` also takes it off this list."
    with app.out.paged():
        app.out.lines(layout_threads(rows, app.out.look))
        app.out.gap()
        app.out.text([*([found.mismatch] if found.mismatch else []), hint])


def _show_history(app: App, found: WaitingPrompts) -> None:
    if app.out.as_json or not found.prompts:
        app.out.result(replaying.build_rows(found), "No prompts have been kept yet.")
        return
    app.out.table(
        {
            "id": [prompt.id for prompt in found.prompts],
            "time": [times.local(prompt.at) for prompt in found.prompts],
            "state": [prompt.fate for prompt in found.prompts],
            "prompt": [one_line(prompt.text) for prompt in found.prompts],
        }
    )


@group(prompts_list)
def prompts() -> None:
    """Show prompts that no session answered."""


@command(name="show")
@click.argument("number", metavar="N|ID")
def prompts_show(app: App, number: str) -> None:
    """Show a prompt in full."""
    found = replaying.find_waiting(app)
    prompt = _find_prompt(number, [*found.prompts], app)
    only = WaitingPrompts(prompts=[prompt], current=found.current)
    app.out.result(
        {**replaying.build_rows(only)[0], "number": None},
        replaying.format_whole_prompt(app, prompt, prompt.text),
    )


@command(name="replay")
@click.argument("which", nargs=-1, metavar="[N|ID... | all | none]")
def prompts_replay(app: App, which: tuple[str, ...]) -> None:
    """Print prompts as you typed them, and dequeue them.

    Without a number, it asks on a terminal, and prints the choices elsewhere.
    """
    found, words = replaying.find_waiting(app), " ".join(which).strip().lower()
    if not found.prompts:
        app.out.result({"replayed": []}, _NONE)
    elif words == "none":
        dropped, kept = replaying.drop_own(app, found)
        ids = {"dropped": [each.id for each in dropped], "kept": [each.id for each in kept]}
        app.out.result({"replayed": [], **ids}, "")
    elif (chosen := _select_prompts(words, found)) is not None:
        _warn_of_others(app, found, chosen)
        replaying.replay_prompts(app, found, chosen)
    elif app.out.is_interactive:
        ask_prompts.ask(app, found).apply()
    else:
        raise ask_prompts.build_choice(found)


def _select_prompts(words: str, found: WaitingPrompts) -> list[Prompt] | None:
    named = {prompt.id.lower(): prompt for prompt in found.prompts}
    ids = words.replace(",", " ").split()
    if ids and all(each in named for each in ids):
        return [named[each] for each in dict.fromkeys(ids)]
    # `all` means this session's own prompts; a number can name any prompt.
    return replaying.parse_selection(
        words, found.prompts_to_offer if words == "all" else found.prompts
    )


def _warn_of_others(app: App, found: WaitingPrompts, chosen: list[Prompt]) -> None:
    others = [prompt for prompt in chosen if not found.is_own(prompt)]
    if others:
        app.out.warn(str(msgspec.structs.replace(found, prompts=others).mismatch))


@command(name="edit")
@click.argument("number", metavar="N|ID")
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
def prompts_edit(app: App, number: str, words: tuple[str, ...]) -> None:
    """Change the text of a queued prompt."""
    prompt = _find_prompt(number, replaying.find_waiting(app).prompts)
    text = " ".join(words)
    queue.record(app.store, prompt, "edited", text=text)
    app.out.result({"edited": prompt.id, "text": text}, f"Edited: {one_line(text)}")


@command(name="drop")
@click.argument("numbers", nargs=-1, metavar="[N|ID]...")
@click.option("--all", "with_all", is_flag=True, help="Drop every queued prompt.")
def prompts_drop(app: App, numbers: tuple[str, ...], *, with_all: bool) -> None:
    """Remove prompts from the queue.

    `leftoff prompts restore` brings them back.
    """
    if bool(numbers) == with_all:
        raise UsageError("Name the prompts to drop by number, or pass --all.")
    waiting = replaying.find_waiting(app).prompts
    found = waiting if with_all else [_find_prompt(each, waiting) for each in numbers]
    dropped = [*{prompt.id: prompt for prompt in found}.values()]
    replaying.drop(app, dropped)
    ids = [prompt.id for prompt in dropped]
    app.out.result({"dropped": ids}, f"Dropped {format_count(len(ids), 'prompt')}")


@command(name="restore")
@click.argument("prompt_ids", nargs=-1, required=True, metavar="ID...")
def prompts_restore(app: App, prompt_ids: tuple[str, ...]) -> None:
    """Queue replayed, dropped or answered prompts again."""
    found = [_find_prompt(each, [], app) for each in prompt_ids]
    for prompt in found:
        queue.record(app.store, prompt, "restored")
    text = [f"Restored: {one_line(prompt.text)}" for prompt in found]
    app.out.result({"restored": [prompt.id for prompt in found]}, text)


@command(name="import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--session", metavar="ID", help="Session of the prompts, if the file name lacks it.")
def prompts_import(app: App, file: Path, session: str | None) -> None:
    """Queue the prompts of a pending-prompt file.

    The file contains one prompt, or several under `=== BLOCKED PROMPT [TIME] ===` lines.
    """
    try:
        text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else None
        written_at = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except OSError as error:
        raise UsageError(f"Cannot read {file}: {error.strerror}") from error
    if text is None:
        raise UsageError(f"{file} is not a regular file.")
    session_id = session or file.stem.removeprefix("pending-prompt-")
    taken = queue.import_prompts(app.store, parse(text, written_at=written_at), session_id)
    ids = [prompt.id for prompt in taken]
    app.out.result({"imported": ids}, f"Imported {format_count(len(ids), 'prompt')}")


def _find_prompt(number: str, waiting: list[Prompt], app: App | None = None) -> Prompt:
    """Find a prompt by its number in the list or by its id; with an App, search the history too."""
    if number.isdecimal() and 1 <= int(number) <= len(waiting):
        return waiting[int(number) - 1]
    for prompt in [*waiting, *(queue.history(app.store) if app else [])]:
        if prompt.id == number:
            return prompt
    raise UsageError(
        f"No prompt {number} found.",
        hint="Run `leftoff prompts list --all` to see all prompts.",
    )


for _each in (
    prompts_show,
    prompts_replay,
    prompts_edit,
    prompts_drop,
    prompts_restore,
    prompts_import,
):
    prompts.add_command(_each)
