"""Learn from failed approaches: keep what a save says about them, and find one that is tried again.

There are two signs: the command is the one that failed, or a text has the words of the failure.
If it concerns the files of the failure, half of its words are enough; elsewhere nearly all must
occur. A missed repeat is better than a false alarm, so a command of one word never counts.
"""

import contextlib
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath

from leftoff.checkpoint import Checkpoint
from leftoff.errors import LeftoffError
from leftoff.knowledge.memory.api import (
    among,
    build_drafts,
    change,
    is_empty,
    learn,
    open_index,
    twin,
)
from leftoff.knowledge.memory.entry import EntryDraft, MemoryEntry, Status, cut_words, id_of
from leftoff.knowledge.memory.memory_log import LOG, STEM, MemoryIndex, Overlay, read_said
from leftoff.store import CheckpointEntry, Store, StoreIndex
from leftoff.store.index_sync import slot_of
from leftoff.store.search_text import split_cjk

# These bound the work for one prompt, however long it is.
_MOST_LOOKED_AT = 100
_MOST_WORDS = 32
_LONGEST_CHARS = 4_000
_SPAN = re.compile(r"`([^`\n]+)`")
_PART = re.compile(r"[^\s`\"'“”‘’()\[\]{}|;&<>,]+")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|[。！？；\n]+")
_WORD = re.compile(r"[^\W_]+")
# Words that introduce a command in a sentence.
_BEFORE_COMMANDS = frozenset("running run ran using use tried trying calling executing".split())
# A longer text is a description, not a command.
_LONGEST_SPAN = 12
# Words too common to show that two texts are about the same thing.
_DULL = frozenset(
    """
    the and for with from into that this then than when was were are has have had not but its use
    using used try tried trying run running ran make made add added set does did via all any too
    der die das und mit von ist war nicht les des une pour avec dans est los las una con por para
    """.split()
)


def find_repeat(
    store: Store, *, command: str = "", files: Collection[str] = (), text: str = ""
) -> MemoryEntry | None:
    """Return the failed approach that this repeats: the same command, or its words and a file."""
    command, text = command[:_LONGEST_CHARS], text[:_LONGEST_CHARS]
    if is_empty(store) or not (command.strip() or text.strip()):
        return None
    with open_index(store) as index:
        overlay = index.with_news()
        same = overlay.get(id_of("failure", cut_words(text))) if text.strip() else None
        if same is not None and same.status == "active":
            return same
        for failure in _find_candidates(index, overlay, _list_words(command, text)):
            if _is_same_command(failure, command) or _is_same_approach(failure, files, text):
                return failure
    return None


def _find_candidates(
    index: MemoryIndex, overlay: Overlay, words: list[str]
) -> Iterator[MemoryEntry]:
    """Yield the newest failures that share the first letters of a word."""
    if not words:
        return
    # The index lacks only a few entries, so these are checked one by one.
    failures = (entry for entry in overlay.entries.values() if entry.kind == "failure")
    yield from (entry for entry in failures if entry.status == "active")
    found = " OR ".join(_build_term(word) for word in words)
    match = f"text : ({found}) AND {among(['failure'], ['active'])}"
    for entry in index.search(match, limit=_MOST_LOOKED_AT):
        if entry.id not in overlay.entries:
            yield entry


def _build_term(word: str) -> str:
    # The prefix index covers stems of this length; shorter words are searched whole.
    return f'"{word[:STEM]}"*' if len(word) >= STEM else f'"{split_cjk(word).strip()}"'


def _list_words(command: str, text: str) -> list[str]:
    words = _list_stems(text) | {*_WORD.findall(command.casefold())}
    return sorted(words, key=lambda word: (-len(word), word))[:_MOST_WORDS]


def _is_same_command(failure: MemoryEntry, command: str) -> bool:
    run = _split_parts(command)
    if not run:
        return False
    # Three or more parts in a row are unlikely to match by chance.
    if len(run) > 2 and _holds(_split_parts(failure.text), run):
        return True
    return any(
        span == run or (len(span) > 1 and _holds(run, span)) for span in _list_spans(failure)
    )


def _list_spans(failure: MemoryEntry) -> Iterator[list[str]]:
    """Yield the parts of a failure's text that may be a command: quoted ones, or all of it."""
    for quoted in _SPAN.findall(failure.text):
        yield _split_parts(quoted)
    parts = _split_parts(failure.text)
    while parts and parts[0] in _BEFORE_COMMANDS:
        del parts[0]
    if len(parts) <= _LONGEST_SPAN:
        yield parts


def _split_parts(text: str) -> list[str]:
    found = (part.rstrip(".:!?") for part in _PART.findall(text.casefold()))
    return [part for part in found if part]


def _holds(parts: list[str], inner: list[str]) -> bool:
    return f" {' '.join(inner)} " in f" {' '.join(parts)} "


def _is_same_approach(failure: MemoryEntry, files: Collection[str], text: str) -> bool:
    """Return whether one sentence has enough of the failure's words; a long text has most words."""
    own, is_about = _list_stems(failure.text), _is_about(failure, files)
    for sentence in _SENTENCE_END.split(text):
        shared = len(own & _list_stems(sentence))
        if is_about and shared > 1 and 2 * shared >= len(own):
            return True
        if shared > 2 and 5 * shared >= 4 * len(own):
            return True
    return False


def _is_about(failure: MemoryEntry, files: Collection[str]) -> bool:
    names = (PurePosixPath(path).name for path in files)
    # Short file names occur in too many texts to mean anything.
    return bool({*failure.files} & {*files}) or any(
        len(name) > STEM and name in failure.text for name in names
    )


def _list_stems(text: str) -> set[str]:
    """Return the significant words, cut to stems; in Chinese each character is a word."""
    words = _WORD.findall(split_cjk(text).casefold())
    significant = (
        word for word in words if (len(word) > 2 or not word.isascii()) and word not in _DULL
    )
    return {word[:STEM] for word in significant}


# --- learning from a saved checkpoint ---


# A longer list is a pasted log.
_MOST_COMPARED = 10
# A session that autosaved more often is not searched for everything it said.
_MOST_REVISIONS = 500


def take_lessons(store: Store, checkpoint: Checkpoint, *, warns: bool = True) -> list[str]:
    """Store what outlives a checkpoint; return a warning for each approach that failed before.

    The checkpoint is already on disk, so a problem here never fails its save.
    """
    try:
        warnings = _find_repeats(store, checkpoint) if warns else []
        learn(store, checkpoint)
    except (LeftoffError, OSError) as error:
        return [f"Could not add its decisions and failed approaches to memory: {error}"]
    return warnings


def _find_repeats(store: Store, checkpoint: Checkpoint) -> list[str]:
    found: dict[str, MemoryEntry] = {}
    for failed in checkpoint.failed[:_MOST_COMPARED]:
        again = find_repeat(
            store, command=failed.what, files=checkpoint.files_modified, text=failed.what
        )
        if again is not None and not _is_its_own(store, again, checkpoint):
            found[again.id] = again
    return [format_warning(entry) for entry in found.values()]


def _is_its_own(store: Store, entry: MemoryEntry, checkpoint: Checkpoint) -> bool:
    """Return whether the entry comes from the same session, or an earlier save of the work."""
    if checkpoint.session_id in entry.sources:
        return True
    index, slot = store.index(), slot_of(checkpoint)
    return any(
        each.slot == slot or (each.name is not None and each.name == checkpoint.name)
        for each in _find_sources(index, entry)
    )


def format_warning(entry: MemoryEntry) -> str:
    """Write the warning that an approach failed before."""
    why = f" — {entry.why}" if entry.why else ""
    return f"This failed before: {entry.text}{why} (leftoff memory show {entry.id})"


def review_lessons(store: Store, ids: Iterable[str]) -> list[MemoryEntry]:
    """Retract what only cleared or undone checkpoints taught, and bring back what counts again.

    Pass the checkpoints whose state changed; the result is the entries that changed. Work that is
    done or dropped keeps what it taught.
    """
    if is_empty(store):
        return []
    index = store.index()
    slots = {found.slot for each in ids if (found := index.get(each))}
    revisions = [each for slot in slots for each in index.revisions(slot)[:_MOST_REVISIONS]]
    taught = {
        entry.id: entry
        for checkpoint in _load(store, revisions)
        for draft in build_drafts(checkpoint)
        if draft.text.strip() and (entry := twin(store, draft))
        if entry.status in {"active", "retracted"}
    }
    return [*_review(store, taught)] if taught else []


def _review(store: Store, taught: dict[str, MemoryEntry]) -> Iterator[MemoryEntry]:
    said = read_said(store.log_paths(LOG), taught)
    for entry in taught.values():
        status: Status = "active" if _is_supported(store, entry, said[entry.id]) else "retracted"
        if status != entry.status:
            yield change(store, entry.id, status=status)


def _is_supported(store: Store, entry: MemoryEntry, said: Iterable[MemoryEntry]) -> bool:
    """Return whether anything but cleared and undone checkpoints taught an entry."""
    found = _find_sources(store.index(), entry)
    if len(found) > _MOST_REVISIONS:
        return True
    # Saving gives an entry the time of its checkpoint. Anything else was added on its own.
    moments = {each.saved_at for each in found}
    if not all(line.at in moments for line in said):
        return True
    living = [each for each in found if _is_living(store, each)]
    return any(_teaches(store, checkpoint, entry) for checkpoint in _load(store, living))


def _find_sources(index: StoreIndex, entry: MemoryEntry) -> list[CheckpointEntry]:
    """Return the checkpoints that an entry names as its sources, and those of its sessions."""
    return [
        each
        for source in entry.sources
        for each in [index.get(source), *index.of_session(source, _MOST_REVISIONS + 1)]
        if each is not None
    ]


def _is_living(store: Store, revision: CheckpointEntry) -> bool:
    """Return whether a revision is neither undone nor part of cleared work."""
    head = store.index().head(revision.slot)
    return revision.state != "undone" and head is not None and head.state != "cleared"


def _teaches(store: Store, checkpoint: Checkpoint, entry: MemoryEntry) -> bool:
    drafts = [each for each in build_drafts(checkpoint) if each.kind == entry.kind]
    return any(_is_same(store, draft, entry) for draft in drafts if draft.text.strip())


def _is_same(store: Store, draft: EntryDraft, entry: MemoryEntry) -> bool:
    found = twin(store, draft)
    return found is not None and found.id == entry.id


def _load(store: Store, revisions: Collection[CheckpointEntry]) -> Iterator[Checkpoint]:
    for each in revisions:
        # `leftoff list` reports checkpoints that cannot be read.
        with contextlib.suppress(LeftoffError, OSError):
            yield store.load(each)
