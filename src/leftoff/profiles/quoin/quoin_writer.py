"""Update the files of quoin from the store."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path

import msgspec

from leftoff.checkpoint import Checkpoint
from leftoff.profiles import cost_ledger
from leftoff.profiles.profile import Files, PromptNews, SessionNews, StoreNews, TakenUp
from leftoff.profiles.quoin import sentinels
from leftoff.profiles.quoin.quoin_layout import PRECOMPACT, render, task_of
from leftoff.profiles.quoin.sentinels import CHECKPOINTS, MEMORY, TRASH
from leftoff.profiles.regular_files import find_newest_name

# quoin's own limits: it warns above this size, and its marks expire.
SOFT_CAP_BYTES = 4096
_SWEPT_AFTER = timedelta(days=7)
# After this time, no one waits for the output of the save.
_FRESH = timedelta(minutes=1)
# The tier that quoin declares for this skill.
_TIER = "haiku"
_NO_WORD = re.compile(r"[^A-Za-z0-9]")


def write(files: Files, news: StoreNews) -> None:
    """Write new checkpoints, marks and ledger rows; remove marks that are no longer needed."""
    _warn_of_nested(files, news)
    taken_up = {each.id for each in news.resumed}
    for checkpoint in news.saved:
        path = _write_checkpoint(files, checkpoint, news)
        is_open = checkpoint.id not in taken_up and not checkpoint.source
        if path is not None and is_open:
            _mark(files, checkpoint, path, news)
    restored = _find_restored(files, news)
    for checkpoint in restored:
        _unmark(files, checkpoint)
    for checkpoint in news.reopened:
        _restore_mark(files, checkpoint)
    _write_ledger(files, news, restored)
    for prompts in news.prompts:
        _write_prompts(files, prompts)
    if news.session is not None and news.session.event == "session-start":
        _sweep(files, news, news.session)


def _find_restored(files: Files, news: StoreNews) -> list[Checkpoint]:
    """Return the restored checkpoints; on first contact, those whose mark is still here."""
    # Only a restore consumes a mark: "go on" does not show the checkpoint.
    joined = {key for key, each in news.taken_up.items() if each.is_by_prompt}
    resumed = [each for each in news.resumed if each.id not in joined]
    if not news.is_whole:
        return resumed
    restored = [each for each in resumed if each.id in news.taken_up]
    return [each for each in restored if _is_from_here(files, each) or _is_marked(files, each)]


def _is_marked(files: Files, checkpoint: Checkpoint) -> bool:
    """Return whether the mark of its session names our file about it.

    A project that was copied or restored from a backup counts as first contact again.
    """
    target = sentinels.marks(files.root).get(checkpoint.session_id or "")
    shown = files.read(f"{CHECKPOINTS}/{target.name}") if target is not None else None
    return shown == render(checkpoint).encode("utf-8", "replace")


def _warn_of_nested(files: Files, news: StoreNews) -> None:
    """Warn about a folder of artifacts below the one in use: nothing reads it."""
    nested = news.project.worktree / files.root.name
    is_around = files.root.parent in news.project.worktree.parents
    if news.saved and is_around and nested.is_dir():
        files.warn(f"{nested} is not used: {files.root} contains it.")


# Checkpoints


def _write_checkpoint(files: Files, checkpoint: Checkpoint, news: StoreNews) -> str | None:
    """Write a checkpoint's file, unless it came from a file here."""
    if _is_from_here(files, checkpoint) or _is_covered(files, checkpoint):
        return None
    stem = f"{CHECKPOINTS}/{checkpoint.saved_at.astimezone():%Y-%m-%d}-{task_of(checkpoint)}"
    data = render(checkpoint).encode("utf-8", "replace")
    if checkpoint.name:
        path = files.create(f"{stem}.md", data, of=checkpoint.id)
    else:
        suffix = PRECOMPACT if checkpoint.trigger == PRECOMPACT else "auto"
        path = _write_automatic(files, checkpoint, f"{stem}-{suffix}", data)
    if len(data) > SOFT_CAP_BYTES and _is_fresh(checkpoint, news):
        files.warn(
            f"[quoin checkpoint] WARNING: checkpoint file {files.root / path} exceeds 4 KB soft "
            f"cap ({len(data)} bytes) — paths-not-content rule may be violated; check for "
            "accidentally-included content."
        )
    return path


def _is_fresh(checkpoint: Checkpoint, news: StoreNews) -> bool:
    """Return whether it was saved just now, so that somebody is there to read a warning."""
    return news.now - checkpoint.saved_at < _FRESH


def _is_from_here(files: Files, checkpoint: Checkpoint) -> bool:
    source = checkpoint.source
    if source is None or not source.path:
        return False
    path = Path(source.path)
    return path.parent == files.root / CHECKPOINTS and path.is_file()


def _is_covered(files: Files, checkpoint: Checkpoint) -> bool:
    """Return whether its session has a deliberate save waiting, which must not be displaced."""
    mark = sentinels.restore_path(checkpoint.session_id)
    if checkpoint.name or mark is None:
        return False
    target = (files.read(mark) or b"").decode("utf-8", "replace").strip()
    return bool(target) and not _is_automatic(target)


def _is_automatic(path: str) -> bool:
    return f"-{PRECOMPACT}" in Path(path).name or "-auto" in Path(path).name


def _write_automatic(files: Files, checkpoint: Checkpoint, stem: str, data: bytes) -> str:
    """Write an automatic save: one file for each session and day."""
    own = f"## Session ID\n{checkpoint.session_id}\n".encode("utf-8", "replace")
    name = Path(stem).name
    for path in files.names(CHECKPOINTS, f"{_escape_pattern(name)}*.md"):
        if checkpoint.session_id and own in (files.read(path) or b""):
            files.replace(path, data, of=checkpoint.id)
            return path
    return files.create(f"{stem}.md", data, of=checkpoint.id)


# A task's name may contain characters that are patterns to glob.
def _escape_pattern(name: str) -> str:
    return "".join(f"[{char}]" if char in "[]*?" else char for char in name)


# Marks


def _mark(files: Files, checkpoint: Checkpoint, path: str, news: StoreNews) -> None:
    """Mark what the next session should resume; other automatic saves get no mark."""
    if not checkpoint.name and checkpoint.trigger != PRECOMPACT:
        return
    mark = sentinels.restore_path(checkpoint.session_id)
    if mark is not None:
        files.edit(mark, lambda _: f"{files.root / path}\n")
    elif _is_fresh(checkpoint, news):
        files.warn(
            "No session id is known, so no pending-restore file was written; "
            f"the checkpoint is {files.root / path}"
        )


def _unmark(files: Files, checkpoint: Checkpoint) -> None:
    """Move the marks of resumed checkpoints to the trash; the checkpoints stay."""
    source = Path(checkpoint.source.path).name if checkpoint.source else None
    for session_id, target in sentinels.marks(files.root).items():
        is_shown = target.name == source or files.is_of(
            f"{CHECKPOINTS}/{target.name}", checkpoint.id
        )
        if session_id == checkpoint.session_id or is_shown:
            _trash(files, sentinels.restore_path(session_id))


def _restore_mark(files: Files, checkpoint: Checkpoint) -> None:
    """Bring back the mark of a checkpoint whose restore was undone."""
    mark = sentinels.restore_path(checkpoint.session_id)
    if mark is None or files.read(mark) is not None:
        return
    name = Path(mark).stem
    days = sorted((files.root / TRASH).glob(f"*/{_escape_pattern(name)}*.txt"))
    shown = [each for each in files.names(CHECKPOINTS) if files.is_of(each, checkpoint.id)]
    if checkpoint.source is not None:
        shown.append(f"{CHECKPOINTS}/{Path(checkpoint.source.path).name}")
    names = {Path(each).name for each in shown}
    trashed = (files.read(str(each.relative_to(files.root))) for each in reversed(days))
    texts = (each.decode("utf-8", "surrogateescape") for each in trashed if each)
    text = next((each for each in texts if Path(each.strip()).name in names), None)
    if text is not None:
        files.edit(mark, lambda _: text)


def _trash(files: Files, path: str | None) -> None:
    if path is None:
        return
    try:
        files.trash(path, to=TRASH)
    except OSError as error:
        files.warn(f"{files.root / path} could not be moved to the trash and is left: {error}")


def _sweep(files: Files, news: StoreNews, session: SessionNews) -> None:
    """Move expired marks to the trash, except for this session's own."""
    own = sentinels.restore_path(session.session_id)
    for path in files.names(MEMORY, "pending-restore-*.txt"):
        age = news.now.timestamp() - (files.root / path).stat().st_mtime
        if path != own and age > _SWEPT_AFTER.total_seconds():
            _trash(files, path)


# Prompts


def _write_prompts(files: Files, news: PromptNews) -> None:
    path = sentinels.prompt_path(news.session_id)
    if path is None:
        return
    text = (files.read(path) or b"").decode("utf-8", "surrogateescape")
    if not news.waiting and not text:
        return
    if sentinels.with_prompts(text, news.waiting, news.settled):
        files.edit(path, lambda now: sentinels.with_prompts(now, news.waiting, news.settled))
    else:
        _trash(files, path)


# The ledger


def _write_ledger(files: Files, news: StoreNews, restored: Sequence[Checkpoint]) -> None:
    """Add a row for each save on purpose and each restore; nobody ran what hooks save."""
    ours = [each for each in news.saved if each.source is None and each.name]
    if news.is_whole:
        _fill_ledgers(files, ours, news)
        ours = []
    for checkpoint in ours:
        _add(files, _build_row(checkpoint, "save", news), key=f"saved {checkpoint.id}")
    for checkpoint in restored:
        taken_up = news.taken_up.get(checkpoint.id) or TakenUp(event=checkpoint.id)
        row = _build_row(checkpoint, "restore", news, session_id=taken_up.session_id)
        _add(files, row, key=f"resumed {taken_up.event}")


def _build_row(
    checkpoint: Checkpoint, note: str, news: StoreNews, *, session_id: str | None = None
) -> cost_ledger.Row:
    is_save = note == "save"
    at = checkpoint.saved_at if is_save else news.now
    own = checkpoint.session_id
    is_now = not is_save or (own is None and _is_fresh(checkpoint, news))
    running = _find_newest_session(news) if is_now and session_id is None else None
    nobody = f"unknown-checkpoint-{checkpoint.saved_at.timestamp():.0f}"
    return cost_ledger.Row(
        task=task_of(checkpoint),
        uuid=session_id or running or own or nobody,
        date=f"{at.astimezone():%Y-%m-%d}",
        phase="checkpoint",
        model=_TIER,
        kind="task",
        note=note,
    )


def _find_newest_session(news: StoreNews) -> str | None:
    """Return the session of Claude Code that wrote here last: if none is known, it is this one."""
    claude = news.project.environment.find_agent_folder("claude")
    folder = claude / "projects" / _NO_WORD.sub("-", str(news.project.worktree))
    return find_newest_name(folder, ".jsonl")


def _add(files: Files, row: cost_ledger.Row, *, key: str) -> None:
    path = f"{row.task}/{cost_ledger.FILE}"
    files.append(path, cost_ledger.line(row), key=key, head=cost_ledger.header(row.task))


def _fill_ledgers(files: Files, checkpoints: Iterable[Checkpoint], news: StoreNews) -> None:
    """Add only the missing rows when everything is written again."""
    wanted = [(checkpoint, _build_row(checkpoint, "save", news)) for checkpoint in checkpoints]
    # Count equal rows: two saves of one task on one day look the same. Version 0.1 named no tier.
    there = Counter(
        cost_ledger.line(msgspec.structs.replace(row, model=_TIER))
        for task in {row.task for _, row in wanted}
        for row in cost_ledger.rows(files.root, task)
    )
    for checkpoint, row in wanted:
        if there[cost_ledger.line(row)]:
            there[cost_ledger.line(row)] -= 1
        else:
            _add(files, row, key=f"saved {checkpoint.id}")
