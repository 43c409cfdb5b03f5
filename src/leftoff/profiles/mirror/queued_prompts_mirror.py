"""Mirror the prompt queue, for layouts that store waiting prompts in files by session."""

from collections.abc import Iterable, Iterator

import msgspec

from leftoff.profiles.mirror.mirror import Mirror
from leftoff.profiles.profile import PromptNews, Waited
from leftoff.session import prompt_queue
from leftoff.session.prompt_files import FilePrompt
from leftoff.session.prompt_queue import Prompt
from leftoff.store import Store


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
            waiting=_in_file(each for each in found if each.fate == "pending"),
            settled=_in_file(_find_settled(found)),
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
    """Queue the prompts that others wrote to the files."""
    if not isinstance(mirror.profile, Waited):
        return
    for session_id, found in mirror.profile.waiting(mirror.folder).items():
        prompt_queue.import_prompts(mirror.store, found, session_id)


def _in_file(found: Iterable[Prompt]) -> list[FilePrompt]:
    return [
        FilePrompt(
            text=each.text,
            told_at=each.told_at or f"{each.at:%Y-%m-%dT%H:%M:%SZ}",
            at=each.at,
            tag=each.tag,
        )
        for each in found
    ]
