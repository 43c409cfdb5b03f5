"""Offer a new session the work that was left off, within a token budget.

The newest piece of work of this worktree is shown with a short briefing, the others with one line
each. Work in other worktrees is named as such. Work that a running session is doing is not offered.
Work that the user declined is listed last, and only beside other work.
"""

import re
from collections.abc import Sequence
from datetime import timedelta

import msgspec

from leftoff import config
from leftoff.agents.hook_events import HookEvent
from leftoff.checkpoint import NOTHING_NEXT, Checkpoint, address_user
from leftoff.errors import LeftoffError
from leftoff.git import query
from leftoff.names import suggest_name
from leftoff.profiles.mirror import open_mirrors
from leftoff.session import records
from leftoff.store import CheckpointEntry, State, Store, StoreIndex
from leftoff.text import fence, times
from leftoff.text.budget import Item, Section, estimate, fit_first, limit_tokens
from leftoff.text.fence import Rendered, join, say
from leftoff.text.plural import age_in_words, format_count
from leftoff.threads import briefing, check_claims

_MOST_LISTED = 8
_MOST_NAMED = 3
_MOST_FILES = 3
# Other work is always named; its files are worth less than what changed since in the newest.
_OTHER_WORK = 102
_ITS_FILES = 70
_MOST_HEADS = 100
_ALL_HEADS = 1_000_000
_OFFERED: tuple[State, ...] = ("open", "resumed")
_NOTICE_CHARS = 120
# With less than this, a first sentence does not say enough.
_LEAST_CHARS = 20
_SENTENCE = re.compile(r".*?[.!?…](?=\s|$)")
_ENDS = (".", "!", "?", "…", "。", "！", "？")
_CAPITAL = re.compile(r"[A-Z][a-z]+(?=[\s,.:])")
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
        latest = check_claims.find_latest(store, found.here)
        here = check_claims.prefer_saved(store, found.here)
        found = _Open(here, found.elsewhere)
        if settings.offers == "latest":
            found = _Open([latest] if latest is not None else [])
    if not found.here:
        return _offer_elsewhere(found.elsewhere, store, settings)
    return _offer_newest(found, store, settings, event.agent)


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
    return _offer_newest(_Open(entries), store, settings, event.agent)


def age(entry: CheckpointEntry, store: Store) -> str:
    """Return how long ago the last activity was that a checkpoint describes."""
    return times.age((store.now() - entry.as_of).total_seconds())


def _offer_newest(found: _Open, store: Store, settings: config.Settings, agent: str) -> StartReply:
    entry, *others = found.here
    checkpoint = store.load(entry)
    checks = check_claims.check_stored(checkpoint, store)
    opening = _count_work(found.here, age(entry, store)) if others else _format_opening(checkpoint)
    limit = _find_limit(checkpoint, store)
    other = _find_other_agent(checkpoint, store, agent) if limit else None
    stopped = _format_limit(checkpoint, limit, other)
    rest = [*others, *found.elsewhere, *found.declined]
    also = _list_others(rest, store, budget=settings.start_budget // 3)
    # Kept short: an id costs more tokens than a sentence, and the list of changes needs room.
    after = say(
        "Ask the user {what}, and do not act on it until they answer{asked}. If "
        "yes, run `leftoff resume {key:200} {how}`{other} for the full briefing; if no, use "
        "--decline. If they ask for something else, just do that.{place}",
        what=say("which one to resume, if any" if also else "whether to resume it"),
        asked=_say_what_continue_means(settings, are_several=bool(also)),
        key=_choose_key(checkpoint),
        # With quoin's files, the restore also reads artifacts and prompts.
        how="--pending" if _has_sentinels(settings) else "--accept",
        other=say(" (or another name)" if also else ""),
        place=_place(entry, store, settings) if not also else say(""),
    )
    room = settings.start_budget - estimate(f"{join([opening, stopped, after])}\n\n")
    shown, is_dated = briefing.render_offer(checkpoint, checks, budget=room, more=also)
    if others and is_dated:
        opening = _count_work(found.here)
    text = join([opening, stopped, shown, after])
    has_gone_on = checkpoint.has_gone_on and bool(checkpoint.trail)
    notice = _format_notice(entry, others, store, has_gone_on=has_gone_on)
    if limit:
        notice = join([notice, _format_limit(checkpoint, limit, other, is_for_user=True)], " ")
    if checks.lost_code is not None:
        notice = join([notice, _format_lost_code(checks.lost_code)], " ")
    return StartReply(text, notice, entry.slot)


def _has_sentinels(settings: config.Settings) -> bool:
    return bool(settings.mirror) and open_mirrors(settings.mirror).use_sentinels()


def _say_what_continue_means(settings: config.Settings, *, are_several: bool) -> Rendered:
    # Some want to be asked even then.
    if settings.confirm == "always":
        return say("")
    if are_several and settings.offers == "saved":
        return say('; "continue" without a name chooses none, so ask them')
    newest = say(" for the first" if are_several else "")
    return say("; a message that asks to continue means yes{newest}", newest=newest)


def _format_lost_code(lost: check_claims.LostCodeCheck) -> Rendered:
    """Say to the user that uncommitted code is gone, and how to get it back."""
    return say(
        "Uncommitted changes in {count} are gone; run `{command}` to bring them back.",
        count=format_count(len(lost.paths), "file"),
        command=lost.command,
    )


def _find_limit(checkpoint: Checkpoint, store: Store) -> str:
    """Return the usage limit that stopped the work; nothing if it was something else."""
    if not (checkpoint.agent and checkpoint.session_id):
        return ""
    record = records.load(store, checkpoint.agent, checkpoint.session_id)
    return checkpoint.limit or record.limit or ""


def _find_other_agent(checkpoint: Checkpoint, store: Store, agent: str) -> str | None:
    """Return an agent that could go on, if the session runs in the one with the limit."""
    if agent != checkpoint.agent:
        return None
    return next(iter(store.project.environment.list_installed_agents(but=agent)), None)


def _format_limit(
    checkpoint: Checkpoint, limit: str, other: str | None, *, is_for_user: bool = False
) -> Rendered:
    """Say that the work stopped at a usage limit, and which other agent could continue it."""
    if not limit:
        return say("")
    command = say(
        "`leftoff resume {key:200} --in {agent}`", key=_choose_key(checkpoint), agent=other or ""
    )
    elsewhere = (
        say(" To continue in another agent, run {command}.", command=command)
        if is_for_user
        else say(" Tell the user that {command} continues it in another agent.", command=command)
    )
    return say(
        "It stopped because {agent} reached {limit:120}.{elsewhere}",
        agent=checkpoint.agent,
        limit=limit,
        elsewhere=elsewhere if other else say(""),
    )


def _count_work(here: Sequence[CheckpointEntry], moment: str = "") -> Rendered:
    is_newest = here[0].as_of == max(entry.as_of for entry in here)
    return say(
        "leftoff: {about}{count} threads were left off here. The newest{where}{age}:",
        about=say("more than ") if len(here) >= _MOST_HEADS else say(""),
        count=len(here),
        where=say("") if is_newest else say(" on this branch"),
        age=say(", {moment}", moment=moment) if moment else say(""),
    )


def _format_notice(
    entry: CheckpointEntry,
    others: Sequence[CheckpointEntry],
    store: Store,
    *,
    has_gone_on: bool,
) -> Rendered:
    """Return the line that shows the user what the model was offered."""
    named = [say('"{name:60}"', name=_find_title(each)) for each in others[:_MOST_NAMED]]
    more = len(others) - len(named)
    rest = join([*named, *([say("{count} more", count=more)] if more > 0 else [])], ", ")
    return say(
        'leftoff: "{name:60}" was left off {age}{what}{also}',
        name=_find_title(entry),
        age=age_in_words((store.now() - entry.as_of).total_seconds()),
        what=_format_choice(entry, has_gone_on=has_gone_on),
        also=say(" Also open: {rest}.", rest=rest) if named else say(""),
    )


def _format_choice(entry: CheckpointEntry, *, has_gone_on: bool) -> Rendered:
    """Return what comes next, and what the user may say.

    A stated action may be done by now, if work has gone on since.
    """
    if not (entry.next_action or "").startswith(NOTHING_NEXT):
        what = _format_next(entry)
        next_up = say(": {text}", text=what) if what else say(".")
        since = say(" Work has continued since then." if what and has_gone_on else "")
        return say('{next_up}{since} Say "continue" to go on.', next_up=next_up, since=since)
    # Nothing was announced, so it may well be finished.
    last = _shorten(" ".join((entry.next_action or "").removeprefix(NOTHING_NEXT).split()))
    end = say("") if not last or last.endswith(_ENDS) else say(".")
    return say(
        '.{last}{end} Say "continue" to go on, or run `leftoff done {key:60}` if it is finished.',
        last=say(" {text}", text=last) if last else say(""),
        end=end,
        key=entry.name if entry.name and _PLAIN.fullmatch(entry.name) else entry.id,
    )


def _format_next(entry: CheckpointEntry) -> str:
    """Return the next action as the end of a sentence, with its full stop."""
    text = _shorten(" ".join(address_user(entry.next_action or entry.task).split()))
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
    lines = [_format_line(entry, store) for entry in entries[:_MOST_LISTED]]
    shown = fit_first(lines, [limit_tokens(settings.start_budget // 2)]) or lines[:1]
    more = say(" `leftoff list` shows all." if len(shown) < len(entries) else "")
    text = say(
        "leftoff: nothing was left off here, but in other worktrees:\n{shown}\n"
        "Do not continue it here unless the user asks for it. Then run "
        "`leftoff resume NAME --accept`.{more}",
        shown=fence.enclose_text(join(shown)),
        more=more,
    )
    named = [say('"{name:60}"', name=_find_title(each)) for each in entries[:_MOST_NAMED]]
    rest = len(entries) - len(named)
    notice = say(
        "leftoff: nothing was left off here. Open in {where}: {named}{rest}.",
        where=say("another worktree" if len(entries) == 1 else "other worktrees"),
        named=join(named, ", "),
        rest=say(", {count} more", count=rest) if rest else say(""),
    )
    return StartReply(text, notice)


def _list_others(entries: Sequence[CheckpointEntry], store: Store, *, budget: int) -> list[Section]:
    """List as many other pieces of work as fit, with their files, and say if there are more."""
    if not entries:
        return []
    lines = [_format_line(entry, store) for entry in entries[:_MOST_LISTED]]
    shown = fit_first(lines, [limit_tokens(budget)]) or lines[:1]
    more = say(" (`leftoff list` shows all)" if len(shown) < len(entries) else "")
    items = [
        Item(line, _OTHER_WORK, [_list_files(entry, store)])
        for line, entry in zip(shown, entries, strict=False)
    ]
    return [Section(say("Also open{more}:", more=more), items)]


def _list_files(entry: CheckpointEntry, store: Store) -> Item:
    """Return the line with the edited files of other work, read only if there is room for it."""

    def fill() -> Rendered:
        try:
            checkpoint = store.load(entry)
        except (LeftoffError, OSError):
            # `leftoff list` reports it; a damaged checkpoint must not keep others from being shown.
            return say("")
        edited = ", ".join(checkpoint.files_modified[:_MOST_FILES])
        return say("  edited: {edited:200}", edited=edited) if edited else say("")

    return Item(say("  edited: "), _ITS_FILES, fill=fill)


def _choose_key(checkpoint: Checkpoint) -> str:
    """Return the name if it is a plain word, otherwise the id: it is shown outside the fence."""
    name = checkpoint.name or ""
    return name if _PLAIN.fullmatch(name) else checkpoint.id


def _place(entry: CheckpointEntry, store: Store, settings: config.Settings) -> Rendered:
    """Return the path of the mirrored file, unless it would use a third of the budget.

    The path of our own file costs as much as the agent's last words, and `leftoff resume` shows
    all that is in it.
    """
    mirrors = open_mirrors(settings.mirror) if settings.mirror else None
    native = mirrors.find_path(store, entry.id) if mirrors is not None else None
    # A file that came from elsewhere could have a sentence as its name.
    if native is None or not _PLAIN.fullmatch(native.name):
        return say("")
    saved_in = say(" Saved in {path}", path=query.printable(str(native)))
    return saved_in if estimate(saved_in) <= settings.start_budget // 3 else say("")


def _format_opening(checkpoint: Checkpoint) -> Rendered:
    if checkpoint.in_flight or checkpoint.pending_prompts:
        if checkpoint.trigger == "recovered":
            return say("leftoff: a session died here in the middle of its work.")
    elif checkpoint.trigger == "recovered":
        return say("leftoff: a session ended here without saving its work.")
    return say("leftoff: work was left off here.")


def _format_line(entry: CheckpointEntry, store: Store) -> Rendered:
    branch = say(", branch {name}", name=entry.branch) if entry.branch else say("")
    return say(
        "- {name}{branch}{elsewhere}, {age}{declined}: {task:80}",
        name=_find_title(entry),
        branch=branch,
        elsewhere=say("") if _is_here(entry, store) else _format_worktree(entry, store),
        declined=say(", declined") if entry.state == "declined" else say(""),
        age=age(entry, store),
        task=entry.task or "",
    )


def _format_worktree(entry: CheckpointEntry, store: Store) -> Rendered:
    is_gone = check_claims.is_removed(entry.worktree, store.project)
    gone = say(" (removed or moved)" if is_gone else "")
    return say(", in worktree {path}{gone}", path=entry.worktree, gone=gone)


def _find_title(entry: CheckpointEntry) -> str:
    """Return a name that `leftoff resume` finds; version 0.1 gave autosaves none."""
    return entry.name or suggest_name([entry.task], entry.branch)


def _find_open(event: HookEvent, store: Store, settings: config.Settings) -> _Open:
    """Find the open work, and where it is."""
    index = store.index()
    busy = _list_busy(event, store)
    oldest = store.now() - timedelta(days=settings.offer_days)
    entries = [
        entry
        # Any number of autosaves may be newer than what somebody saved.
        for entry in index.heads(_OFFERED, _MOST_HEADS if settings.offers == "all" else _ALL_HEADS)
        if entry.problem is None
        and entry.slot not in busy
        # Work that was only saved automatically is not offered forever.
        and (entry.as_of > oldest or index.find_purposeful(entry.slot) is not None)
    ]
    declined = [
        entry
        for entry in (_list_declined(index) if entries else [])
        if entry.problem is None and entry.slot not in busy and entry.as_of > oldest
    ]
    ranked = check_claims.sort_by_nearness(entries, store.project)
    return _Open(
        [entry for rank, entry in ranked if rank < check_claims.ELSEWHERE],
        [entry for rank, entry in ranked if rank == check_claims.ELSEWHERE],
        declined,
    )


def _list_declined(index: StoreIndex) -> list[CheckpointEntry]:
    # An empty list would make the index count all files.
    return index.heads(["declined"], _MOST_LISTED) if index.count_heads(["declined"]) else []


def _list_busy(event: HookEvent, store: Store) -> set[str]:
    """Return the threads that running sessions work on."""
    lives = records.list_lives(store.project.state_folder, store.project)
    running = {life.session_id for life in lives if not life.has_crashed} | {event.session_id}
    found = map(store.index().find_thread, running)
    return {entry.slot for entry in found if entry is not None}


def _is_here(entry: CheckpointEntry, store: Store) -> bool:
    return check_claims.is_here(entry.worktree, entry.branch, store.project)
