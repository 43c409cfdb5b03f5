"""Read and write quoin's files of what waits for a session: a checkpoint, or blocked prompts."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from leftoff.profiles.regular_files import read_regular
from leftoff.session.prompt_files import FilePrompt, parse

MEMORY = "memory"
CHECKPOINTS = f"{MEMORY}/checkpoints"
TRASH = f"{MEMORY}/trash"

_MIGRATED = "legacy-pre-migration"
_HEADER = re.compile(r"^=== BLOCKED PROMPT \[[^\]\n]*\](?: \[[^\]\n]*\])? ===[ \t]*$", re.MULTILINE)
# A session's id becomes part of a file name.
_PLAIN = re.compile(r"[\w.@+=-]{1,128}", re.ASCII)


def restore_path(session_id: str | None) -> str | None:
    """Return the path of a session's mark; None if its id cannot be a file name."""
    return _find_path("pending-restore", session_id)


def prompt_path(session_id: str | None) -> str | None:
    """Return the path of a session's prompts; None if its id cannot be a file name."""
    return _find_path("pending-prompt", session_id)


def _find_path(kind: str, session_id: str | None) -> str | None:
    if not session_id or session_id == "unknown" or _PLAIN.fullmatch(session_id) is None:
        return None
    return f"{MEMORY}/{kind}-{session_id}.txt"


def session_of(path: Path) -> str:
    """Return the session that a file's name contains."""
    return path.stem.removeprefix("pending-restore-").removeprefix("pending-prompt-")


def marks(folder: Path) -> dict[str, Path]:
    """Return the checkpoint that waits for each session, newest mark first."""
    found = [*(folder / MEMORY).glob("pending-restore-*.txt")]
    read = [(path, read_regular(path)) for path in found]
    dated = sorted(
        ((each[1].st_mtime, path, each[0]) for path, each in read if each is not None),
        reverse=True,
    )
    return {session_of(path): _find_target(folder, data) for _, path, data in dated if data.strip()}


def _find_target(folder: Path, data: bytes) -> Path:
    named = data.decode("utf-8", "replace").strip().split("\n")[0].strip()
    # The project may have been moved since, but checkpoints are always in this folder.
    return folder / CHECKPOINTS / Path(named.replace("\0", "")).name


def prompts(folder: Path) -> dict[str, Sequence[FilePrompt]]:
    """Return the waiting prompts, by session."""
    found: dict[str, Sequence[FilePrompt]] = {}
    for path in sorted((folder / MEMORY).glob("pending-prompt-*.txt")):
        if (read := read_regular(path)) is None:
            continue
        written_at = datetime.fromtimestamp(read[1].st_mtime, UTC)
        entries = parse(read[0].decode("utf-8", "replace"), written_at=written_at)
        if entries:
            found[session_of(path)] = entries
    return found


def with_prompts(text: str, waiting: Iterable[FilePrompt], settled: Iterable[FilePrompt]) -> str:
    """Return a file with every waiting prompt, without the settled ones.

    What somebody else wrote stays in its place and unchanged.
    """
    waiting = [*waiting]
    known = {words(each.text) for each in waiting}
    gone = {words(each.text) for each in settled} - known
    standing = _split_entries(text)
    entries = [entry for entry in standing if words(entry[1]) not in gone]
    there = {words(body) for _, body in entries}
    new = [(_format_header(each), each.text) for each in waiting if words(each.text) not in there]
    if entries == standing and not new:
        return text
    entries += new
    return "".join(f"{header}\n{body.strip(_NEWLINES)}\n" for header, body in entries)


_NEWLINES = "\r\n"


def _split_entries(text: str) -> list[tuple[str, str]]:
    """Return the headers of a file with the text below each; text without one gets a header."""
    heads = [*_HEADER.finditer(text)]
    ends = [*(head.start() for head in heads[1:]), len(text)]
    entries = [
        (head[0].rstrip(), text[head.end() : end]) for head, end in zip(heads, ends, strict=False)
    ]
    before = text[: heads[0].start()] if heads else text
    if before.strip():
        entries.insert(0, (f"=== BLOCKED PROMPT [{_MIGRATED}] ===", before))
    return [entry for entry in entries if entry[1].strip()]


def _format_header(prompt: FilePrompt) -> str:
    tag = f" [non-replayable:{prompt.tag}]" if prompt.tag else ""
    return f"=== BLOCKED PROMPT [{prompt.written_at}]{tag} ==="


def words(text: str) -> str:
    """Normalize a prompt to its words, to compare prompts."""
    return text.replace("\r\n", "\n").strip()
