"""The first half of a ship: store what must not be lost, whatever follows."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from leftoff import threads
from leftoff.checkpoint import Checkpoint, NextAction, cut_to_limits, new_id, to_plain
from leftoff.config import Settings
from leftoff.git import query
from leftoff.git.query import GitState
from leftoff.knowledge import features
from leftoff.knowledge.features import work_context
from leftoff.profiles import SESSION_FOLDERS, STATE_FOLDERS
from leftoff.profiles.mirror import open_mirrors
from leftoff.redact import redact, redact_value
from leftoff.session import sessions
from leftoff.session.facts.shell_commands import is_own_ship
from leftoff.session.sessions import KnownSession
from leftoff.ship.outcome import ShipStep
from leftoff.store import LISTED, CheckpointEntry, Store
from leftoff.store.index import StoreIndex
from leftoff.store.index_sync import slot_of
from leftoff.store.layout import Area
from leftoff.threads import autosaves
from leftoff.threads.compose import compose
from leftoff.threads.continue_thread import list_stated

TRIGGER = "ship"
_IMPORT = "import"
# What somebody said about the work: neither git nor a transcript knows it.
_STATED_KEYS = (
    "summary", "intent", "left_off", "done", "next_action", "next_steps", "blockers", "questions",
    "decisions", "failed", "notes", "plan", "artifacts", "tdd_phase", "todos",
)  # fmt: skip
# What still holds after the work was shipped.
_STILL_TRUE = (
    "next_action", "next_steps", "blockers", "questions", "notes", "plan", "artifacts", "todos",
)  # fmt: skip
# How a next action begins that was inferred in the middle of a turn, from its request.
_REPEATS_REQUEST = (
    *("Continue with the request: ", "Continue with what the user agreed to: "),
    *("Continue. ", "Start with the request: "),
)
# Roles that leftoff gave to files, as opposed to what somebody said about them.
_OBSERVED_ROLE = re.compile(
    r"plan|(new|modified|deleted|renamed|copied|related)( from .*)?( - part of \S+)?"
)
# These bound the work in a store with thousands of checkpoints.
_LOOKED_AT = 50
_MOST_LOADED = 10
_MOST_DIRTY = 200


class ShipCheckpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The checkpoint of a ship, with its working context."""

    checkpoint: Checkpoint
    context: work_context.WorkingContext
    notice: str | None = None
    is_new: bool = True
    shipped_texts: tuple[str, ...] = ()
    """What the last save said, if a commit already holds its work."""


def find_session_id(store: Store) -> str | None:
    """Return the id of the session that ships, if an agent does."""
    session = store.project.environment.find_session()
    return session[1] if session else None


class WorktreeView(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the worktree, and whether it has anything to commit."""

    state: GitState
    has_news: bool


class LastSave(msgspec.Struct, frozen=True, kw_only=True):
    """The last save here; `is_shipped` means that a commit already holds its work."""

    checkpoint: Checkpoint | None = None
    is_shipped: bool = False

    @property
    def news(self) -> Checkpoint | None:
        """The checkpoint, if no commit describes it yet."""
        return None if self.is_shipped else self.checkpoint


def find_last_save(store: Store, state: GitState, heads: Collection[str | None]) -> LastSave:
    """Return the last save here; `heads` are the commits at which an unfinished ship stopped."""
    return _build_last_save(store, _find_newest(store, store.index(), state), state, heads)


def peek_last_save(store: Store, state: GitState, heads: Collection[str | None]) -> LastSave:
    """Return the last save without updating the index, which a dry run must not touch."""
    if not store.project.store.is_dir():
        return LastSave()
    # This index is in memory only, so nothing is written.
    index = StoreIndex(None, [Area(store.project.store)])
    try:
        index.sync()
        return _build_last_save(store, _find_newest(store, index, state), state, heads)
    finally:
        index.close()


def _build_last_save(
    store: Store, found: Checkpoint | None, state: GitState, heads: Collection[str | None]
) -> LastSave:
    mine = find_session_id(store)
    # What another session said about its work stays with that session, unless this one resumed it.
    # A file that belongs to no session is everybody's.
    is_shared = found is not None and found.source is not None and found.session_id is None
    if found is None or (mine is not None and found.session_id != mine and not is_shared):
        joined = store.index().find_open_thread(mine) if found is not None else None
        if found is None or joined is None:
            return LastSave()
        if joined.slot != slot_of(found):
            # Newer work of another thread does not hide what is left to do in this one.
            found = _load_joined(store, joined, state)
            if found is None:
                return LastSave()
    is_shipped = found.trigger == TRIGGER and found.head not in heads
    return LastSave(checkpoint=found, is_shipped=is_shipped)


def _load_joined(store: Store, entry: CheckpointEntry, state: GitState) -> Checkpoint | None:
    """Return the newest checkpoint of the thread that the session is in, if it is about this."""
    here = query.printable(str(store.project.worktree))
    if not _is_here(entry, here, state.branch):
        return None
    joined = store.load(entry)
    return joined if _is_about(joined, state, find_session_id(store)) else None


def _find_newest(store: Store, index: StoreIndex, state: GitState) -> Checkpoint | None:
    """Return the newest checkpoint here that may describe what is shipped."""
    here = query.printable(str(store.project.worktree))
    # A ship ends its thread, and the next one must see what was shipped.
    entries = [
        entry
        for entry in index.heads([*LISTED, "consumed"], _LOOKED_AT)
        if entry.state in LISTED or entry.trigger == TRIGGER
    ]
    mine = [each for each in entries if _is_here(each, here, state.branch)]
    loaded = map(store.load, mine[:_MOST_LOADED])
    about = (each for each in loaded if _is_about(each, state, find_session_id(store)))
    found = next(about, None)
    if found is None:
        others = [each for each in entries if each not in mine and each.trigger != TRIGGER]
        elsewhere = [each for each in others if _is_here(each, here, each.branch)]
        return _find_moved_work(map(store.load, elsewhere[:_MOST_LOADED]), state)
    if found.source is None:
        return found
    return _join_files([found, *(each for each in about if each.source is not None)])


def _find_moved_work(others: Iterator[Checkpoint], state: GitState) -> Checkpoint | None:
    """Return what was saved before a switch to a new branch with the same uncommitted changes."""
    changed = {query.printable(path) for path in state.dirty}
    moved = (each for each in others if each.head == state.head and changed & {*each.dirty})
    return next((each for each in moved if each.source is None), None)


def _join_files(found: Sequence[Checkpoint]) -> Checkpoint:
    """Join what one system says in two files: about a session, and about the project.

    The file of the session names the feature; that of the project says what was accomplished.
    """
    own = next((each for each in found if each.session_id), found[0])
    shared = next((each for each in found if each is not own and not each.session_id), None)
    if shared is None:
        return own
    action = own if own.next_action else shared
    return msgspec.structs.replace(
        own,
        summary=shared.summary or own.summary,
        done=[*dict.fromkeys([*own.done, *shared.done])],
        blockers=[*dict.fromkeys([*own.blockers, *shared.blockers])],
        next_action=action.next_action,
        next_steps=action.next_steps,
    )


def _is_about(checkpoint: Checkpoint, state: GitState, session: str | None) -> bool:
    """Return whether a checkpoint can be about the changes in a worktree.

    Other work on the same branch must not lend its words to a commit.
    """
    is_own = session is not None and checkpoint.session_id == session
    changed = {query.printable(path) for path in state.dirty}
    if checkpoint.source is not None and checkpoint.session_id is None:
        # It is news only until a commit holds the file that it comes from.
        return any(checkpoint.source.path.endswith(f"/{path}") for path in changed)
    if is_own or not changed or checkpoint.trigger == TRIGGER:
        return True
    named = {*checkpoint.files_modified, *checkpoint.dirty, *(f.path for f in checkpoint.files)}
    # A checkpoint from before the first change names no file.
    return bool(named & changed) if named else checkpoint.head in {None, state.head}


def _is_here(entry: CheckpointEntry, worktree: str, branch: str | None) -> bool:
    # Files of other systems do not name the branch.
    is_on = entry.branch == branch or (entry.branch is None and entry.trigger == _IMPORT)
    return entry.problem is None and entry.worktree == worktree and is_on


def save(
    store: Store, settings: Settings, last: LastSave, message: str, seen: WorktreeView
) -> ShipCheckpoint:
    """Save the current state, unless it is already saved."""
    item, now = _find_item(store), store.now()
    # Native state is not the work itself.
    changes = [each for each in seen.state.changes if not each.path.startswith(STATE_FOLDERS)]
    roles = work_context.collect_working_context(item, changes, work_context.WorkNotes(), now).files
    stated = _list_stated_roles(last)
    roles = {**{path: role for path, role in stated.items() if not role}, **roles}
    roles |= {path: role for path, role in stated.items() if role}
    named = [{"path": path, "role": role} for path, role in roles.items()]
    again = {"files": named, **_as_seen(seen.state), **_carry_over(last, message)}
    session = _read_session(store)
    # git was asked a moment ago; a store that believes it is outside git does not ask again.
    blind = msgspec.structs.replace(store.project, is_git=False)
    with closing(Store(blind, now=store.now)) as unasked:
        draft = compose(again, unasked, settings, session=session)
    at_hand = _clean(work_context.collect_working_context(item, changes, _build_notes(draft), now))
    draft = msgspec.structs.replace(
        draft,
        trigger=TRIGGER,
        act=new_id(now),
        feature=draft.feature or at_hand.feature,
        next_action=_drop_fulfilled(draft.next_action),
        stated=_list_stated(last, message, draft),
        **_find_thread(store, last, draft),
    )
    kept, _ = cut_to_limits(redact_value(draft))
    # A resumed ship has nothing else to save.
    if last.checkpoint is not None and _says_the_same(last.checkpoint, kept, seen):
        return ShipCheckpoint(checkpoint=last.checkpoint, context=at_hand, is_new=False)
    saved = store.save(kept)
    before = last.checkpoint if last.is_shipped else None
    texts = (before.summary, before.intent, before.left_off) if before else ()
    return ShipCheckpoint(
        checkpoint=saved.checkpoint,
        context=at_hand,
        notice=saved.notice,
        shipped_texts=tuple(" ".join(text.split()) for text in texts if text),
    )


def _drop_fulfilled(action: NextAction | None) -> NextAction | None:
    """Return the next action, unless it only repeats the request that this ship fulfils."""
    if action is None or action.origin == "stated":
        return action
    return None if action.text.startswith(_REPEATS_REQUEST) else action


def drop_guess(ended: Checkpoint | None) -> Checkpoint | None:
    """Return what a thread that has ended leaves to do: nothing that was only inferred."""
    if ended is None or ended.next_action is None or ended.next_action.origin == "stated":
        return ended
    return msgspec.structs.replace(ended, next_action=None)


def _read_session(store: Store) -> KnownSession | None:
    """Return the session that ships, without the call that is running this ship."""
    session = sessions.find_current(store) if find_session_id(store) else None
    if session is None:
        return None
    calls = [each for each in session.facts.in_flight if not is_own_ship(each.command)]
    facts = msgspec.structs.replace(session.facts, in_flight=calls)
    return msgspec.structs.replace(session, facts=facts)


def _list_stated(last: LastSave, message: str, draft: Checkpoint) -> list[str]:
    """Return the keys that somebody stated, without what an autosave inferred."""
    before = list_stated(last.checkpoint) if last.checkpoint else []
    # A message is the summary of work that has none.
    is_message = draft.summary is not None and draft.summary in message
    said = {*before, *(["summary"] if is_message else [])}
    return [key for key in draft.stated if key in said]


def _list_stated_roles(last: LastSave) -> dict[str, str]:
    """Return what somebody said about files in the last save; of shipped work, nothing.

    A file that somebody only named has an empty role.
    """
    files = last.news.files if last.news else []
    return {each.path: each.role for each in files if not _OBSERVED_ROLE.fullmatch(each.role)}


def _find_thread(store: Store, last: LastSave, draft: Checkpoint) -> dict[str, Any]:
    """Return the thread that a ship continues: the session's, or that of the last save here."""
    entry = store.index().find_open_thread(find_session_id(store))
    if entry is not None:
        head = store.load(entry)
        # A commit message is not the task of the work, which may go on.
        joined = last.news.summary if last.news and last.news.source else None
        task = joined or head.summary or head.intent
        kept = {"summary": task if task != draft.intent else None} if task else {}
        return {"thread": entry.slot, "name": entry.name, **kept}
    if last.checkpoint is not None:
        return {"thread": slot_of(last.checkpoint), "name": last.checkpoint.name}
    return {"thread": None, "name": None}


def end_thread(store: Store, kept: ShipCheckpoint) -> bool:
    """End the thread of shipped work; return False if it had ended before."""
    entry = store.index().get(kept.checkpoint.id)
    if entry is None or entry.state not in LISTED:
        return False
    # One undo takes back both, the save and the end.
    store.record("consumed", [entry.id], trigger=TRIGGER, act=kept.checkpoint.act)
    return True


def reopen_thread(store: Store, kept: ShipCheckpoint) -> None:
    """Reopen a thread that a ship has ended, because a later step failed."""
    store.record("restored", [kept.checkpoint.id], trigger=TRIGGER, act=kept.checkpoint.act)


def is_finished(kept: ShipCheckpoint) -> bool:
    """Return whether nobody said or planned that anything is left to do."""
    left = kept.checkpoint
    is_open = left.blockers or left.questions or left.pending_prompts
    is_stated = left.next_action is not None and left.next_action.origin == "stated"
    is_planned = any(todo.status in {"pending", "in_progress"} for todo in left.todos)
    return not (is_open or is_stated or is_planned)


def _find_item(store: Store) -> features.Feature | features.Fix | None:
    """Return the feature or fix at hand: that of the loop, or the first one that is not done."""
    loop, board = features.load_loop(store, find_session_id(store)), features.glance(store)
    own = (each for each in board.items if loop is not None and each.id == loop.feature)
    return next(own, None) or board.active_feature


def _as_seen(state: GitState) -> dict[str, Any]:
    """Return the state of git in the keys of a checkpoint."""
    last = to_plain(state.last_commit) if state.last_commit else None
    dirty = [query.printable(path) for path in state.dirty[:_MOST_DIRTY]]
    seen = {"branch": state.branch, "head": state.head, "dirty": dirty, "last_commit": last}
    return {key: value for key, value in seen.items() if value is not None}


def _carry_over(last: LastSave, message: str) -> dict[str, Any]:
    """Carry over what was said before; of shipped work, only what is still to be done."""
    plain = to_plain(last.checkpoint) if last.checkpoint else {}
    keys = _STILL_TRUE if last.is_shipped else _STATED_KEYS
    again = {key: plain[key] for key in keys if key in plain}
    if message and not again.get("summary"):
        again["summary"] = message.partition("\n")[0]
    return again


def _says_the_same(standing: Checkpoint, draft: Checkpoint, seen: WorktreeView) -> bool:
    """Compare two checkpoints, ignoring the commit that the ship itself has made since."""
    is_unmoved = standing.head == draft.head and standing.dirty == draft.dirty
    if standing.trigger != TRIGGER or (seen.has_news and not is_unmoved):
        return False
    one, other = (
        msgspec.structs.replace(each, head=None, last_commit=None) for each in (standing, draft)
    )
    return autosaves.digest_work(one) == autosaves.digest_work(other)


def _clean(at_hand: work_context.WorkingContext) -> work_context.WorkingContext:
    """Redact secrets, in file names too."""
    files = {redact(path): role for path, role in at_hand.files.items()}
    return msgspec.structs.replace(redact_value(at_hand), files=files)


def _build_notes(draft: Checkpoint) -> work_context.WorkNotes:
    action = [draft.next_action.text] if draft.next_action else []
    return work_context.WorkNotes(
        decisions=[each.what for each in draft.decisions],
        next_steps=[*action, *draft.next_steps, *draft.blockers],
    )


def archive(store: Store) -> ShipStep:
    """Archive completed features and fixes."""
    messages = features.archive(store).messages
    if not messages:
        return ShipStep(name="archive", state="skipped", text="No feature is newly complete.")
    return ShipStep(name="archive", state="done", text=messages[0], lines=messages[1:])


class Mirrored(msgspec.Struct, frozen=True, kw_only=True):
    """The updated native files, the problems, and notes for the user."""

    files: list[str] = []
    problems: list[str] = []
    warnings: list[str] = []


def sync_mirrors(store: Store, names: Sequence[str], briefing: Callable[[], str]) -> Mirrored:
    """Update the native files of profiles, and list those to commit."""
    exported = open_mirrors(names).export_changes(store, briefing=briefing)
    written = [path for found in exported.written.values() for path in found]
    return Mirrored(
        files=_keep_inside(written, store.project.worktree),
        problems=exported.problems,
        warnings=exported.warnings,
    )


def _keep_inside(files: Sequence[Path], worktree: Path) -> list[str]:
    names = [str(file.relative_to(worktree)) for file in files if file.is_relative_to(worktree)]
    return [name for name in names if not name.startswith(SESSION_FOLDERS)]


# --- the briefing file ---


class WrittenPage(msgspec.Struct, frozen=True, kw_only=True):
    """The briefing's file inside the worktree, if there is one, and whether it changed."""

    files: list[str] = []
    is_changed: bool = False


def write(store: Store, settings: Settings, briefing: Callable[[], str]) -> WrittenPage:
    """Write the briefing to its configured file, unless only its time would change.

    A file that a person wrote is left unchanged and is not listed.
    """
    if not settings.briefing_file:
        return WrittenPage()
    target = threads.memory_briefing.find_page_path(store.project, settings.briefing_file)
    if target is None:
        return WrittenPage()
    # A person wrote this for the next session. A mirror has already moved away what it replaces.
    if threads.memory_briefing.is_somebodys_page(target):
        return WrittenPage()
    is_changed = threads.memory_briefing.write_page(target, briefing())
    worktree = store.project.worktree
    is_inside = target.is_relative_to(worktree)
    return WrittenPage(
        files=[str(target.relative_to(worktree))] if is_inside else [], is_changed=is_changed
    )


def page(store: Store, subject: str = "") -> str:
    """Build the page that shows a new session the state of the project.

    `subject` is that of a commit which is about to be made.
    """
    return threads.memory_briefing.page(store, subject=subject)
