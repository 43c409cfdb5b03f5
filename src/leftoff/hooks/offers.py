"""Offer a new session the work that was left off, within a token budget.

The newest piece of work of this worktree is shown with a short briefing, the others with one line
each. Work in other worktrees is named as such. Work that a running session is doing is not offered.
Work that the user declined is listed last, and only beside other work.
"""

import re
from collections.abc import Collection, Sequence
from datetime import timedelta

import msgspec

from leftoff import config
from leftoff.agents.hook_events import HookEvent
from leftoff.checkpoint import Checkpoint
from leftoff.git import query
from leftoff.profiles.mirror import open_mirrors
from leftoff.projects.project import list_folders
from leftoff.session import records
from leftoff.store import CheckpointEntry, State, Store, StoreIndex
from leftoff.text import fence, times
from leftoff.text.budget import estimate, fit_first, limit_tokens
from leftoff.text.fence import Rendered, join, say
from leftoff.text.plural import age_in_words
from leftoff.threads import briefing, check_claims

_MOST_LISTED = 8
_MOST_NAMED = 3
_MOST_HEADS = 100
_ELSEWHERE = 3
_OFFERED: tuple[State, ...] = ("open", "resumed")
# A next action is written for the agent. These begin otherwise when the user reads them.
_FOR_THE_USER = {
    "Answer the prompt that is still waiting: ": "your prompt is still waiting: ",
    "Ask the user to approve the plan: ": "approve the plan: ",
    "Ask the user again: ": "answer the question: ",
    "Ask the user: ": "answer the question: ",
}
_NOTHING_NEXT = "Ask the user what comes next."
_NOTICE_CHARS = 120
# With less than this, a first sentence does not say enough.
_LEAST_CHARS = 20
_SENTENCE = re.compile(r".*?[.!?…](?=\s|$)")
_ENDS = (".", "!", "?", "…", "。", "！", "？")
_CAPITAL = re.compile(r"[A-Z][a-z]+(?=[\s,])")
_PLAIN = re.compile(r"\w[\w.+-]{0,99}")


class StartReply(msgspec.Struct, frozen=True):
    """The reply at session start: the text for the model, and a line that the user sees."""

    text: Rendered = say("")
    notice: Rendered = say("")
    offered: str = ""
    """The thread that is offered first; a prompt such as "continue" resumes it."""


class _Open(msgspec.Struct, frozen=True):
    """The work to offer: open here, best first; open in other worktrees; declined anywhere."""

    here: Sequence[CheckpointEntry] = ()
    elsewhere: Sequence[CheckpointEntry] = ()
    declined: Sequence[CheckpointEntry] = ()


def offer(event: HookEvent, store: Store, settings: config.Settings) -> StartReply:
    """Offer the open work: the newest with a short briefing, the others by name."""
    found = _find_open(event, store, settings)
    if settings.offers != "all":
        here = check_claims.prefer_saved(store, found.here)
        found = _Open(here[:1]) if settings.offers == "latest" else _Open(here, found.elsewhere)
    if not found.here:
        return _offer_elsewhere(found.elsewhere, store, settings)
    return _offer_newest(found, store, settings)


def offer_recovered(
    event: HookEvent, store: Store, settings: config.Settings, sessions: Sequence[str]
) -> StartReply:
    """Offer the work of sessions that were recovered after the session start was answered."""
    index = store.index()
    busy = _list_busy(event, store)
    found = [index.find_thread(each) for each in sessions]
    heads = {
        entry.slot: entry
        for entry in found
        if entry is not None and entry.state in _OFFERED and entry.slot not in busy
    }
    entries = sorted(heads.values(), key=lambda entry: entry.as_of, reverse=True)
    if not entries:
        return StartReply()
    return _offer_newest(_Open(entries), store, settings)


def age(entry: CheckpointEntry, store: Store) -> str:
    """Return how long ago the last activity was that a checkpoint describes."""
    return times.age((store.now() - entry.as_of).total_seconds())


def _offer_newest(found: _Open, store: Store, settings: config.Settings) -> StartReply:
    entry, *others = found.here
    checkpoint = store.load(entry)
    checks = check_claims.check(checkpoint, store.project, store.now())
    before = _format_opening(checkpoint) if not others else _count_work(found.here)
    rest = [*others, *found.elsewhere, *found.declined]
    also = _list_others(rest, store, budget=settings.start_budget // 3)
    # Kept short: an id costs more tokens than a sentence, and the list of changes needs room.
    after = say(
        "Ask the user whether to resume it, and do not act on it until they answer{asked}. If "
        "yes, run `leftoff resume {key:200} --accept` for the full briefing; if no, use --decline."
        "{place}",
        # Some want to be asked even then.
        asked=say("")
        if settings.confirm == "always"
        else say("; a message that asks to continue means yes"),
        key=_key(checkpoint),
        place=_place(entry, store, settings) if not also else say(""),
    )
    ending = join([also, after])
    room = settings.start_budget - estimate(f"{before}\n{ending}\n")
    text = join([before, briefing.render(checkpoint, checks, budget=room), ending])
    return StartReply(text, _format_notice(entry, others, store), entry.slot)


def _count_work(here: Sequence[CheckpointEntry]) -> Rendered:
    is_newest = here[0].as_of == max(entry.as_of for entry in here)
    return say(
        "leftoff: {about}{count} pieces of work were left off here. The newest{where}:",
        about=say("more than ") if len(here) >= _MOST_HEADS else say(""),
        count=len(here),
        where=say("") if is_newest else say(" on this branch"),
    )


def _format_notice(
    entry: CheckpointEntry, others: Sequence[CheckpointEntry], store: Store
) -> Rendered:
    """Return the line that shows the user what the model was offered."""
    named = [say('"{name:60}"', name=_find_title(each)) for each in others[:_MOST_NAMED]]
    more = len(others) - len(named)
    rest = join([*named, *([say("{count} more", count=more)] if more > 0 else [])], ", ")
    return say(
        'leftoff: "{name:60}" was left off {age}{what}{also}',
        name=_find_title(entry),
        age=age_in_words((store.now() - entry.as_of).total_seconds()),
        what=_format_choice(entry),
        also=say(" Also open: {rest}.", rest=rest) if named else say(""),
    )


def _format_choice(entry: CheckpointEntry) -> Rendered:
    """Return what comes next, and what the user may say."""
    if not (entry.next_action or "").startswith(_NOTHING_NEXT):
        what = _format_next(entry)
        next_up = say(": {text}", text=what) if what else say(".")
        return say('{next_up} Say "continue" to go on.', next_up=next_up)
    # Nobody announced anything, so it may well be finished.
    last = _shorten(" ".join((entry.next_action or "").removeprefix(_NOTHING_NEXT).split()))
    end = say("") if not last or last.endswith(_ENDS) else say(".")
    return say(
        '.{last}{end} Say "continue" to go on, or run `leftoff done {key:60}` if it is finished.',
        last=say(" {text}", text=last) if last else say(""),
        end=end,
        key=entry.name if entry.name and _PLAIN.fullmatch(entry.name) else entry.id,
    )


def _format_next(entry: CheckpointEntry) -> str:
    """Return the next action as the end of a sentence, with its full stop."""
    text = " ".join((entry.next_action or entry.task or "").split())
    lead = next((lead for lead in _FOR_THE_USER if text.startswith(lead)), None)
    if lead is not None:
        text = _FOR_THE_USER[lead] + text.removeprefix(lead)
    text = _shorten(text)
    first = _CAPITAL.match(text)
    # A name keeps its capital. It is one if it has a capital in the middle of a sentence.
    name = rf"[\w,;]\s+{first[0]}\b" if first else ""
    if first and not any(re.search(name, each) for each in (entry.task or "", text)):
        text = text[0].lower() + text[1:]
    return text if text.endswith(_ENDS) or not text else f"{text}."


def _shorten(text: str) -> str:
    """Keep whole sentences if that leaves enough, otherwise whole words."""
    if len(text) <= _NOTICE_CHARS:
        return text
    ends = [found.end() for found in _SENTENCE.finditer(text[: _NOTICE_CHARS + 1])]
    kept = [end for end in ends if _LEAST_CHARS <= end <= _NOTICE_CHARS]
    if kept:
        return text[: kept[-1]]
    return text[:_NOTICE_CHARS].rpartition(" ")[0].rstrip(" ,;:-") + " …"


def _offer_elsewhere(
    entries: Sequence[CheckpointEntry], store: Store, settings: config.Settings
) -> StartReply:
    """Name the work of other worktrees; the user may want to go there, or to take it over."""
    if not entries:
        return StartReply()
    lines = [_line(entry, store) for entry in entries[:_MOST_LISTED]]
    shown = fit_first(lines, [limit_tokens(settings.start_budget // 2)]) or lines[:1]
    more = say(" `leftoff list` shows all." if len(shown) < len(entries) else "")
    text = say(
        "leftoff: nothing was left off here, but in other worktrees:\n{shown}\n"
        "Do not continue it here unless the user asks for it.{more}",
        shown=fence.enclose_text(join(shown)),
        more=more,
    )
    return StartReply(text)


def _list_others(entries: Sequence[CheckpointEntry], store: Store, *, budget: int) -> Rendered:
    """List as many other pieces of work as fit, and say if there are more."""
    if not entries:
        return say("")
    lines = [_line(entry, store) for entry in entries[:_MOST_LISTED]]
    shown = fit_first(lines, [limit_tokens(budget)]) or lines[:1]
    more = say(" (`leftoff list` shows all)" if len(shown) < len(entries) else "")
    return say("Also open{more}:\n{shown}", more=more, shown=fence.enclose_text(join(shown)))


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


def _line(entry: CheckpointEntry, store: Store) -> Rendered:
    branch = say(", branch {name}", name=entry.branch) if entry.branch else say("")
    is_here = _is_here(entry, store)
    elsewhere = say("") if is_here else say(", in worktree {path}", path=entry.worktree)
    return say(
        "- {name}{branch}{elsewhere}, {age}{declined}: {task:80}",
        name=_find_title(entry),
        branch=branch,
        elsewhere=elsewhere,
        declined=say(", declined") if entry.state == "declined" else say(""),
        age=age(entry, store),
        task=entry.task or "",
    )


def _find_title(entry: CheckpointEntry) -> str:
    return entry.name or entry.task or entry.id


def _find_open(event: HookEvent, store: Store, settings: config.Settings) -> _Open:
    """Find the open work, and where it is."""
    index = store.index()
    busy = _list_busy(event, store)
    oldest = store.now() - timedelta(days=settings.offer_days)
    entries = [
        entry
        for entry in index.heads(_OFFERED, _MOST_HEADS)
        if entry.problem is None
        and entry.slot not in busy
        # What nobody saved on purpose is not offered for ever.
        and (entry.as_of > oldest or index.find_purposeful(entry.slot) is not None)
    ]
    declined = [
        entry
        for entry in (_list_declined(index) if entries else [])
        if entry.problem is None and entry.slot not in busy and entry.as_of > oldest
    ]
    project = store.project
    if all(_is_here(entry, store) for entry in entries) and not project.is_git:
        return _Open(entries, declined=declined)
    branch = query.current_branch(project.worktree) if project.is_git else None
    folders = {query.printable(str(each)) for each in list_folders(project)}
    ranked = [(_rank(entry, store, branch, folders), entry) for entry in entries]
    here = sorted((pair for pair in ranked if pair[0] < _ELSEWHERE), key=lambda pair: pair[0])
    return _Open(
        [entry for _, entry in here],
        [entry for rank, entry in ranked if rank == _ELSEWHERE],
        declined,
    )


def _list_declined(index: StoreIndex) -> list[CheckpointEntry]:
    # An empty list would make the index count all files.
    return index.heads(["declined"], _MOST_LISTED) if index.count_heads(["declined"]) else []


def _rank(
    entry: CheckpointEntry, store: Store, branch: str | None, folders: Collection[str]
) -> int:
    """Return how near work is: this worktree and branch, this worktree, this branch, elsewhere."""
    is_same_branch = branch is not None and entry.branch == branch
    is_here = _is_here(entry, store)
    # The worktree was removed, so its branch is all that says where the work belongs.
    is_moved_here = is_same_branch and entry.worktree not in folders
    if is_moved_here or (is_here and (is_same_branch or None in {branch, entry.branch})):
        return 0
    if is_here:
        return 1
    return 2 if is_same_branch else _ELSEWHERE


def _list_busy(event: HookEvent, store: Store) -> set[str]:
    """Return the threads that running sessions work on."""
    lives = records.lives(store.project.state_folder, store.project)
    running = {life.session_id for life in lives if not life.has_crashed} | {event.session_id}
    found = map(store.index().find_thread, running)
    return {entry.slot for entry in found if entry is not None}


def _is_here(entry: CheckpointEntry, store: Store) -> bool:
    return check_claims.is_here(entry.worktree, entry.branch, store.project)
