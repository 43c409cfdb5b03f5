"""Back up a session's state as claude-harness does before a compaction; keep five copies."""

from datetime import UTC, datetime

from leftoff.git import query
from leftoff.profiles.harness import checkpoints, loop_files
from leftoff.profiles.harness.documents import Documents, render
from leftoff.profiles.json_codec import Plain, iso, object_of, text_of
from leftoff.profiles.profile import SessionNews, StoreNews
from leftoff.projects.project import Project

BACKUPS = "memory/compaction-backups"
_MOST = 5


def write(news: StoreNews, session: SessionNews, documents: Documents) -> None:
    """Copy the loop, working context and progress, and count the compaction."""
    if not documents.files.root.is_dir():
        return
    at = session.at or news.now
    path = f"{BACKUPS}/pre-compact-{at.astimezone(UTC):%Y%m%d-%H%M%S}.json"
    if documents.files.read(path) is None:
        backup = _build_backup(documents, news.project, session.session_id, at)
        documents.files.create(path, render(backup).encode())
    text = (documents.files.read(checkpoints.PROGRESS) or b"").decode("utf-8", "surrogateescape")
    counted = documents.apply(checkpoints.PROGRESS, text, lambda found: _count(found, at))
    if counted != text:
        # Record this as our own write, so that the count does not look like somebody's edit.
        data = counted.encode("utf-8", "surrogateescape")
        documents.files.replace(checkpoints.PROGRESS, data)
    for old in documents.files.names(BACKUPS, "pre-compact-*.json")[:-_MOST]:
        documents.files.trash(old)


def _build_backup(documents: Documents, project: Project, session_id: str, at: datetime) -> Plain:
    folder = f"{checkpoints.SESSIONS}/{checkpoints.build_folder_name(session_id)}"
    progress = documents.read(checkpoints.PROGRESS)
    return {
        "version": 1,
        "timestamp": iso(at),
        "sessionId": session_id,
        "git": _read_git_state(project),
        "loopState": _read_loop(documents, folder) or None,
        "workingContext": _read_context(documents, folder, progress) or None,
        "progress": progress or None,
    }


def _read_loop(documents: Documents, folder: str) -> Plain:
    """Return the session's loop, or the one outside of sessions."""
    nobodys = documents.files.names(checkpoints.SESSIONS, f"worktree-*/{loop_files.LOOP}")
    places = (f"{folder}/{loop_files.LOOP}", *nobodys, "loops/state.json")
    return next((found for place in places if (found := documents.read(place))), {})


def _read_context(documents: Documents, folder: str, progress: Plain) -> Plain:
    """Return the session's working context, or that of the last save outside of sessions."""
    own = documents.read(f"{folder}/{checkpoints.CONTEXT}")
    last = text_of(object_of(progress.get("lastSession")).get("sessionId"))
    place = f"{checkpoints.SESSIONS}/{checkpoints.build_folder_name(last)}"
    if own or not last or documents.read(f"{place}/{checkpoints.RECORD}").get("session_id"):
        return own or documents.read(checkpoints.OLD_CONTEXT)
    return documents.read(f"{place}/{checkpoints.CONTEXT}")


def _read_git_state(project: Project) -> Plain:
    state = query.read_state(project.worktree) if project.is_git else None
    if state is None:
        return {"branch": None, "lastCommit": None, "uncommittedCount": None}
    last = state.last_commit
    return {
        "branch": state.branch,
        "lastCommit": f"{last.sha[:7]} {last.subject}" if last else None,
        "uncommittedCount": len(state.changes),
    }


def _count(found: Plain, at: datetime) -> Plain:
    if found.get("lastCompaction") == iso(at):
        return found
    count = found.get("compactionCount")
    number = count if isinstance(count, int) and not isinstance(count, bool) else 0
    return {**found, "lastCompaction": iso(at), "compactionCount": number + 1}
