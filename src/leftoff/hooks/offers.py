"""Offer a new session the work that was left off, within a token budget.

One piece of work is shown with a short briefing, several are listed by name. Autosaves of a session
that is still running are not offered.
"""

import re
from collections.abc import Sequence
from datetime import timedelta

import msgspec

from leftoff import config
from leftoff.agents.hook_events import HookEvent
from leftoff.checkpoint import Checkpoint
from leftoff.git import query
from leftoff.profiles.mirror import open_mirrors
from leftoff.session import records
from leftoff.store import CheckpointEntry, Store
from leftoff.text import fence, times
from leftoff.text.budget import estimate, fit_first, limit_tokens
from leftoff.text.fence import Rendered, join, say
from leftoff.threads import briefing, check_claims

_MOST_LISTED = 8
_MOST_READ = 10
_MOST_HEADS = 100
_PLAIN = re.compile(r"\w[\w.+-]{0,99}")


class StartReply(msgspec.Struct, frozen=True):
    """The reply at session start: the text for the model, and a line that the user sees."""

    text: Rendered = say("")
    notice: Rendered = say("")


def offer(event: HookEvent, store: Store, settings: config.Settings) -> StartReply:
    """Offer the open work: one with a short briefing, several by name."""
    entries = _find_open_work(event, store, settings)[: 1 if settings.offers == "latest" else None]
    if not entries:
        return StartReply()
    if len(entries) > 1:
        notice = say(
            "leftoff: {count} pieces of work were left off here; ask for one by name.",
            count=len(entries),
        )
        return StartReply(_list_several(entries, store, budget=settings.start_budget), notice)
    return _offer_one(entries[0], store, settings)


def age(entry: CheckpointEntry, store: Store) -> str:
    """Return how long ago a checkpoint was saved."""
    return times.age((store.now() - entry.saved_at).total_seconds())


def _offer_one(entry: CheckpointEntry, store: Store, settings: config.Settings) -> StartReply:
    checkpoint = store.load(entry)
    checks = check_claims.check(checkpoint, store.project, store.now())
    before = _format_opening(checkpoint)
    # Kept short: an id costs more tokens than a sentence, and the list of changes needs room.
    after = say(
        "Ask the user whether to resume it, and do not act on it until they answer; a message "
        "that asks to continue means yes. If yes, run `leftoff resume {key:200} --accept` for the "
        "full briefing; if no, use --decline.{place}",
        key=_key(checkpoint),
        place=_place(entry, store, settings),
    )
    room = settings.start_budget - estimate(f"{before}\n{after}\n")
    text = join([before, briefing.render(checkpoint, checks, budget=room), after])
    notice = say(
        '{before} Say "continue" to resume it ({age}): {task:80}',
        before=before,
        age=age(entry, store),
        task=entry.task or "",
    )
    return StartReply(text, notice)


def _key(checkpoint: Checkpoint) -> str:
    """Return the name if it is a plain word, otherwise the id: it is shown outside the fence."""
    name = checkpoint.name or ""
    return name if _PLAIN.fullmatch(name) else checkpoint.id


def _place(entry: CheckpointEntry, store: Store, settings: config.Settings) -> Rendered:
    """Return the path of the file, unless it would use more than a third of the budget."""
    mirrors = open_mirrors(settings.mirror) if settings.mirror else None
    native = mirrors.find_path(store, entry.id) if mirrors is not None else None
    # A file that came from elsewhere could have a sentence as its name.
    native = native if native is not None and _PLAIN.fullmatch(native.name) else None
    saved_in = say(" Saved in {path}", path=query.printable(str(native or store.path_of(entry))))
    return saved_in if estimate(saved_in) <= settings.start_budget // 3 else say("")


def _format_opening(checkpoint: Checkpoint) -> Rendered:
    if checkpoint.in_flight or checkpoint.pending_prompts:
        if checkpoint.trigger == "recovered":
            return say("leftoff: a session died here in the middle of its work.")
    elif checkpoint.trigger == "recovered":
        return say("leftoff: a session ended here without saving its work.")
    return say("leftoff: work was left off here.")


def _list_several(entries: Sequence[CheckpointEntry], store: Store, *, budget: int) -> Rendered:
    """List as many as fit, and say how many there are."""
    lines = [_line(entry, store) for entry in entries[:_MOST_LISTED]]
    whole = _format_list(lines, len(entries))
    if estimate(whole) <= budget:
        return whole
    room = budget - estimate(_format_list([], len(entries)))
    return _format_list(fit_first(lines, [limit_tokens(room)]) or lines[:1], len(entries))


def _format_list(lines: Sequence[Rendered], count: int) -> Rendered:
    return say(
        "leftoff: {count} pieces of work were left off here.\n{shown}\n{more}"
        "Ask the user whether to resume one, and do not act on it until they answer. If yes, run "
        "`leftoff resume NAME --accept` for its full briefing.",
        count=count,
        shown=fence.enclose_text(join(lines)),
        more=say("`leftoff list` shows all. " if len(lines) < count else ""),
    )


def _line(entry: CheckpointEntry, store: Store) -> Rendered:
    branch = say(", branch {name}", name=entry.branch) if entry.branch else say("")
    is_here = _is_here(entry, store)
    elsewhere = say("") if is_here else say(", in worktree {path}", path=entry.worktree)
    return say(
        "- {name}{branch}{elsewhere}, {age}: {task:80}",
        name=entry.name or entry.id,
        branch=branch,
        elsewhere=elsewhere,
        age=age(entry, store),
        task=entry.task or "",
    )


def _find_open_work(
    event: HookEvent, store: Store, settings: config.Settings
) -> list[CheckpointEntry]:
    """Return the work to offer: what was saved by name, and the newest autosaves."""
    running = {life.session_id for life in records.lives(store.project.state_folder, store.project)}
    entries = _find_entries_here(store)
    named = [entry for entry in entries if entry.name is not None]
    autosaves = [
        entry
        for entry in entries
        if entry.name is None and entry.session_id not in {*running, event.session_id}
    ]
    # An autosave adds nothing to a named checkpoint that was saved after it.
    oldest = store.now() - timedelta(days=settings.offer_days)
    recent = max([oldest, *(entry.saved_at for entry in named)])
    newest = _find_newest_work([entry for entry in autosaves if entry.saved_at > recent], store)
    return sorted([*named, *newest], key=lambda entry: entry.id, reverse=True)


def _find_entries_here(store: Store) -> list[CheckpointEntry]:
    """Return open work of this worktree or its branch: a folder may be moved or removed."""
    found = [entry for entry in store.index().heads(["open"], _MOST_HEADS) if entry.problem is None]
    if all(_is_here(entry, store) for entry in found):
        return found
    branch = query.current_branch(store.project.worktree) if store.project.is_git else None
    return [
        entry
        for entry in found
        if _is_here(entry, store) or (branch is not None and entry.branch == branch)
    ]


def _is_here(entry: CheckpointEntry, store: Store) -> bool:
    return check_claims.is_here(entry.worktree, entry.branch, store.project)


def _find_newest_work(autosaves: Sequence[CheckpointEntry], store: Store) -> list[CheckpointEntry]:
    """Return the newest autosave, and if no work was done there, the newest one with work."""
    # A greeting or a quick question must not hide the work of the session before it.
    for number, entry in enumerate(autosaves[:_MOST_READ]):
        if _shows_work(store.load(entry)):
            return [*autosaves[: min(number, 1)], entry]
    return list(autosaves[:1])


def _shows_work(checkpoint: Checkpoint) -> bool:
    return bool(
        checkpoint.files_modified
        or checkpoint.todos
        or checkpoint.in_flight
        or checkpoint.pending_prompts
        or checkpoint.trigger == "recovered"
    )
