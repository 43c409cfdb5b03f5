"""Write checkpoints, features, memory and loops to claude-harness's files."""

from collections.abc import Callable, Mapping
from functools import partial

from leftoff.checkpoint import Checkpoint
from leftoff.errors import StoreRefused
from leftoff.git.query import read_state
from leftoff.knowledge.features import DOCUMENTS, Board, Loop
from leftoff.profiles.harness import (
    agent_files,
    checkpoints,
    compaction_backups,
    feature_files,
    loop_files,
    memories,
    write_checkpoints,
)
from leftoff.profiles.harness.checkpoints import CONTEXT, PROGRESS
from leftoff.profiles.harness.documents import Documents, render
from leftoff.profiles.json_codec import Plain, iso, moment_of
from leftoff.profiles.profile import Files, Knowledge, StoreNews
from leftoff.text.briefing_page import is_generated

BRIEFING = "session-briefing.md"
_IGNORE = ".gitignore"
_IGNORED = ("sessions/", "memory/compaction-backups/", "working/")
# What an earlier version wrote in place of the last one, and what is not worth a change.
_COVERED = {"working/": "memory/working/"}


def write(files: Files, news: StoreNews) -> None:
    """Update the files with what was saved, remembered and worked on."""
    shared, knowledge, session = Documents(files), news.knowledge, news.session
    board = knowledge.board if knowledge else Board()
    problems = shared.problems
    for worktree, saved in _group_by_worktree(news).items():
        problems += _act_locally(files, worktree, partial(_write_checkpoints, saved, board, news))
    for checkpoint in _find_shown_again(news):
        act = partial(_write_again, checkpoint, board, news)
        problems += _act_locally(files, checkpoint.worktree, act)
    if knowledge is not None and knowledge.is_new:
        shared.attempt(lambda: _write_knowledge(shared, knowledge, news))
        for worktree in dict.fromkeys(loop.worktree for loop in knowledge.loops.values()):
            problems += _act_locally(
                files, worktree, partial(_write_loops, knowledge.loops, worktree)
            )
    if session is not None and session.event == "pre-compact":
        problems += _act_locally(files, None, partial(compaction_backups.write, news, session))
    shared.attempt(lambda: _write_briefing(files, news))
    if problems:
        raise StoreRefused(" ".join(problems), hint="Repair them; the next command updates them.")


def _act_locally(files: Files, worktree: str | None, act: Callable[[Documents], None]) -> list[str]:
    """Act on the files of a worktree, if it exists; return the problems."""
    local = files.in_worktree(worktree)
    if local is None:
        return []
    documents = Documents(local)
    documents.attempt(lambda: act(documents))
    return documents.problems


def _group_by_worktree(news: StoreNews) -> dict[str | None, list[Checkpoint]]:
    found: dict[str | None, list[Checkpoint]] = {}
    # Ids sort by time, so the last one of each list is the newest.
    for checkpoint in sorted(news.saved, key=lambda each: each.id):
        found.setdefault(checkpoint.worktree, []).append(checkpoint)
    return found


def _write_checkpoints(
    saved: list[Checkpoint], board: Board, news: StoreNews, documents: Documents
) -> None:
    _ignore(documents.files)
    # Of several saves in one session folder only the newest is written.
    for checkpoint in {checkpoints.folder_of(each): each for each in saved}.values():
        if not _is_older(
            documents, f"{checkpoints.folder_of(checkpoint)}/{CONTEXT}", checkpoint, news
        ):
            _write_session(documents, checkpoint, board, news)
    if not _is_older(documents, PROGRESS, saved[-1], news):
        _write_progress(documents, saved[-1], news)


def _find_shown_again(news: StoreNews) -> list[Checkpoint]:
    """Return what names show although it was not saved just now: a later save may be undone."""
    saved = {checkpoint.id for checkpoint in news.saved}
    return [each for each in news.current.values() if each is not None and each.id not in saved]


def _write_again(
    checkpoint: Checkpoint, board: Board, news: StoreNews, documents: Documents
) -> None:
    """Write a checkpoint again after a later one of its name was undone."""
    folder = checkpoints.folder_of(checkpoint)
    record = documents.read(f"{folder}/{checkpoints.RECORD}")
    is_undone = record.get("id") != checkpoint.id and record.get("name") == checkpoint.name
    if not record or not is_undone:
        return
    progress = documents.read(PROGRESS)
    is_last = moment_of(progress.get("lastUpdated")) == moment_of(record.get("saved_at"))
    _write_session(documents, checkpoint, board, news)
    if is_last:
        _write_progress(documents, checkpoint, news)


def _write_progress(documents: Documents, checkpoint: Checkpoint, news: StoreNews) -> None:
    name = news.project.root.name

    def change(found: Plain) -> Plain:
        return write_checkpoints.with_progress(found, checkpoint, name)

    standing = documents.read(PROGRESS)
    if checkpoint.is_autosave and standing and change(standing) == standing:
        # It shows what somebody said, which is another checkpoint than this one.
        return
    if checkpoints.is_unused(documents.files.root / PROGRESS):
        # The installer's page holds no work, so there is nothing to import from it.
        documents.change(PROGRESS, change)
    else:
        _replace(documents, PROGRESS, checkpoint, change)


def _write_session(
    documents: Documents, checkpoint: Checkpoint, board: Board, news: StoreNews
) -> None:
    path = f"{checkpoints.folder_of(checkpoint)}/{CONTEXT}"
    seen = read_state(documents.files.root.parent) if checkpoint.dirty else None
    show = partial(
        write_checkpoints.with_context,
        checkpoint=checkpoint,
        board=board,
        changes=seen.changes if seen else (),
        decided=_list_decided(checkpoint, news.knowledge),
    )
    context = show(documents.read(path))
    progress = write_checkpoints.with_progress(
        documents.read(PROGRESS), checkpoint, news.project.root.name
    )
    # Write the record first: it marks the context as ours, even if we are killed in between.
    record = render(write_checkpoints.record_of(checkpoint, context, progress)).encode()
    place = f"{checkpoints.folder_of(checkpoint)}/{checkpoints.RECORD}"
    documents.files.replace(place, record, of=checkpoint.id)
    _replace(documents, path, checkpoint, show)


def _list_decided(checkpoint: Checkpoint, knowledge: Knowledge | None) -> list[str]:
    """Return the decisions that the session of a checkpoint added to the memory."""
    if knowledge is None or checkpoint.session_id is None:
        return []
    found = knowledge.remembered("decision")
    return [
        each.text
        for each in found
        if each.status == "active" and checkpoint.session_id in each.sources
    ]


def _replace(
    documents: Documents, path: str, checkpoint: Checkpoint, change: Callable[[Plain], Plain]
) -> None:
    data = documents.files.read(path) or b""
    after = documents.apply(path, data.decode("utf-8", "surrogateescape"), change)
    documents.files.replace(path, after.encode("utf-8", "surrogateescape"), of=checkpoint.id)


def _is_older(documents: Documents, path: str, checkpoint: Checkpoint, news: StoreNews) -> bool:
    """Return whether a file already describes something newer than a checkpoint."""
    shown_at = moment_of(documents.read(path).get("lastUpdated"))
    # A time in the future is a mistake; honouring it would block every later write.
    if shown_at is None or shown_at > news.now:
        return False
    # A file that somebody wrote at the same time as another one keeps its own text.
    is_same = checkpoint.source is not None and checkpoint.saved_at == shown_at
    return checkpoint.saved_at < shown_at or is_same


def _write_knowledge(documents: Documents, knowledge: Knowledge, news: StoreNews) -> None:
    kept = knowledge.board.extra.get(DOCUMENTS)
    documents.kept = kept if isinstance(kept, dict) else {}
    feature_files.write(documents, knowledge.board)
    memories.write(documents, knowledge, news.now)
    agent_files.write(documents, knowledge.board.orchestration, iso(news.now))
    if documents.files.root.is_dir():
        _ignore(documents.files)


def _write_loops(loops: Mapping[str, Loop], worktree: str | None, documents: Documents) -> None:
    """Write the loops of a worktree, and any interrupted work."""
    mine = {key: loop for key, loop in loops.items() if loop.worktree == worktree}
    for key, loop in mine.items():
        loop_files.write_loop(documents, key, loop)
    loop_files.write_interrupted(documents, mine)
    _ignore(documents.files)


def _write_briefing(files: Files, news: StoreNews) -> None:
    """Write the briefing file, if anything else of this layout exists."""
    has_news = bool(news.saved) or (news.knowledge is not None and news.knowledge.is_new)
    # The changes may come from another worktree, which has its own page.
    is_start = news.session is not None and news.session.event == "session-start"
    local = files.in_worktree(None)
    if news.briefing is None or local is None or not local.root.is_dir():
        return
    if not (has_news or is_start):
        return
    text, standing = news.briefing(), local.read(BRIEFING)
    if standing is None or is_generated(standing):
        # A generated page is replaced every time, also by `leftoff briefing --write`.
        local.edit(BRIEFING, lambda old: old if _drop_time(old) == _drop_time(text) else text)
    elif has_news:
        # A person wrote this for the next session: it is moved aside, and the user is informed.
        local.replace(BRIEFING, text.encode("utf-8", "replace"))


def _drop_time(page: str) -> list[str]:
    """Drop the time of a generated page: git tracks it, so a new time alone is not a change."""
    return [line for line in page.splitlines() if not line.startswith("Last updated: ")]


def _ignore(files: Files) -> None:
    """Keep session files out of commits."""

    def change(text: str) -> str:
        lines = text.splitlines()
        missing = [
            each for each in _IGNORED if not {each, f"/{each}", _COVERED.get(each, each)} & {*lines}
        ]
        end = "" if not text or text.endswith("\n") else "\n"
        return text + end + "".join(f"{each}\n" for each in missing) if missing else text

    files.edit(_IGNORE, change)
