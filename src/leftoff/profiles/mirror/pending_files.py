"""Read what native files say about current work: notes for a save, and waiting checkpoints."""

import os
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from leftoff import profiles
from leftoff.checkpoint import Checkpoint
from leftoff.names import suggest_name
from leftoff.profiles import import_native
from leftoff.profiles.mirror import WaitingFile
from leftoff.profiles.mirror.mirror import Mirror
from leftoff.profiles.profile import Filed, NoteKeeper, PromptNews, Waited
from leftoff.profiles.regular_files import read_regular
from leftoff.session import prompt_queue
from leftoff.session.prompt_files import FilePrompt
from leftoff.session.prompt_queue import Prompt
from leftoff.store import Store, trash

_RECENT = timedelta(days=7)


def read_notes(
    store: Store,
    names: Iterable[str],
    session_id: str | None = None,
    *,
    since: datetime | None = None,
    task: str | None = None,
) -> dict[str, Any]:
    """Return the notes in native files about a session's work, in canonical keys."""
    running = store.project.environment.find_session()
    current = session_id or (running[1] if running else None)
    if session_id is not None and since is None:
        # An automatic save is not confirmed, so older notes may belong to other work.
        since = store.now() - _RECENT
    notes: dict[str, Any] = {}
    for name in names:
        mirror = Mirror(store, name)
        if isinstance(mirror.profile, NoteKeeper):
            notes = {**mirror.profile.read_notes(mirror.folder, current, since, task), **notes}
    return notes


def find_waiting(store: Store, names: Iterable[str]) -> list[WaitingFile]:
    """Return the native files that wait to be resumed, newest first."""
    found = []
    for name in names:
        mirror = Mirror(store, name)
        import_first(mirror)
        if isinstance(mirror.profile, Waited):
            pending = mirror.profile.pending(mirror.folder)
            found += [
                _find_waiting(mirror, session_id, path) for session_id, path in pending.items()
            ]
    return found


def _find_waiting(mirror: Mirror, session_id: str, path: Path) -> WaitingFile:
    entry = mirror.manifest.files.get(str(path.relative_to(mirror.folder)))
    known = entry.of if entry is not None and entry.of and mirror.index.get(entry.of) else None
    # A missing file has nothing to show, and its content is in the store.
    if known is not None and (mirror.wrote(path) or not os.path.lexists(path)):
        return WaitingFile(session_id=session_id, path=path, checkpoint_id=known)
    taken = import_native.import_file(mirror.store, mirror.name, mirror.profile, path)
    if taken.checkpoint is not None:
        return WaitingFile(session_id=session_id, path=path, checkpoint_id=taken.checkpoint.id)
    read = read_regular(path)
    text = read[0].decode("utf-8", "replace") if read else ""
    return WaitingFile(
        session_id=session_id, path=path, copy_id=known, problem=taken.problem or "", text=text
    )


def import_first(mirror: Mirror) -> None:
    """Import what existed before a mirror was first used, if its files show what waits."""
    is_new = mirror.manifest.read_cursor() is None and mirror.folder.is_dir()
    if is_new and isinstance(mirror.profile, Waited):
        import_native.import_all(
            mirror.store,
            mirror.name,
            mirror.profile,
            mirror.folder,
            is_ours=mirror.wrote,
            is_asked=False,
        )


def find_shown(store: Store, names: Iterable[str]) -> dict[str, Path]:
    """Return the native file of each checkpoint, if files show what waits."""
    mirrors = [Mirror(store, name) for name in names if isinstance(profiles.load(name), Waited)]
    return {
        entry.of: mirror.folder / entry.path
        for mirror in mirrors
        for entry in mirror.manifest.files.values()
        if entry.of
    }


def find_task(names: Iterable[str], checkpoint: Checkpoint) -> str:
    """Return the task of a checkpoint: as its native files have it, or its name."""
    for name in names:
        profile = profiles.load(name)
        if isinstance(profile, Filed):
            return profile.task_of(checkpoint)
    return checkpoint.name or suggest_name([checkpoint.summary, checkpoint.intent], None)


def find_path(store: Store, names: Iterable[str], checkpoint_id: str) -> Path | None:
    """Return the native file that shows a checkpoint, if one does."""
    for name in names:
        mirror = Mirror(store, name)
        for entry in mirror.manifest.files.values():
            if entry.of == checkpoint_id:
                return mirror.folder / entry.path
    return None


def keeps_notes(names: Iterable[str]) -> bool:
    """Return whether the native files of one of these contain notes about current work."""
    return any(isinstance(profiles.load(name), NoteKeeper) for name in names)


def uses_sentinels(names: Iterable[str]) -> bool:
    """Return whether the native files of one of these show what waits for which session."""
    return any(isinstance(profiles.load(name), Waited) for name in names)


# --- the prompt queue ---


def measure(store: Store) -> int:
    """Return the length of the queue's log, which grows with every change to a prompt."""
    return sum(path.stat().st_size for path in store.log_paths("prompts") if path.is_file())


def list_prompts(store: Store) -> list[PromptNews]:
    """Return the prompts of each session that ever stored some, oldest first."""
    by_session: dict[str, list[Prompt]] = {}
    for prompt in prompt_queue.list_prompts(store):
        by_session.setdefault(prompt.session_id, []).append(prompt)
    return [
        PromptNews(
            session_id=session_id,
            waiting=_to_file_prompts(each for each in found if each.fate == "pending"),
            settled=_to_file_prompts(_find_settled(found)),
        )
        for session_id, found in by_session.items()
    ]


def _find_settled(found: Iterable[Prompt]) -> Iterator[Prompt]:
    """Yield prompts that no longer wait, including texts that were replaced."""
    for prompt in found:
        if prompt.fate != "pending":
            yield prompt
        if prompt.typed:
            yield msgspec.structs.replace(prompt, text=prompt.typed)


def import_prompts(mirror: Mirror) -> None:
    """Queue the prompts that others wrote to the files, or brought back from the trash."""
    if not isinstance(mirror.profile, Waited):
        return
    for session_id, found in mirror.profile.waiting(mirror.folder).items():
        path = mirror.profile.prompt_file(mirror.folder, session_id)
        is_back = path in trash.list_returned(mirror.store.project.store)
        prompt_queue.import_prompts(mirror.store, found, session_id, is_back=is_back)


def _to_file_prompts(found: Iterable[Prompt]) -> list[FilePrompt]:
    return [
        FilePrompt(
            text=each.text,
            written_at=each.written_at or f"{each.at:%Y-%m-%dT%H:%M:%SZ}",
            at=each.at,
            tag=each.tag,
        )
        for each in found
    ]
