"""Run the tools: check the arguments, do the work in the caller's project, and fence the answer."""

import sys
import traceback
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from leftoff import knowledge, mcp, threads
from leftoff.checkpoint import to_plain
from leftoff.errors import (
    BelowQualityBar,
    ChoiceNeeded,
    LeftoffError,
    NoSuchCheckpoint,
    UsageError,
    wrap_os_error,
)
from leftoff.fingerprints import name_path
from leftoff.git import query
from leftoff.hooks import settle
from leftoff.mcp import memory_tools
from leftoff.mcp.caller import Caller, FindCaller
from leftoff.mcp.check_arguments import check
from leftoff.mcp.name_tools import name_tools
from leftoff.mcp.tool_answer import Answer
from leftoff.mcp.tool_schemas import ARGUMENTS
from leftoff.names import check_name, check_specific, suggest_name
from leftoff.session import prompt_queue, records, sessions
from leftoff.store import LISTED, CheckpointEntry
from leftoff.store.layout import is_off
from leftoff.text import fence, times
from leftoff.text.fence import Rendered, block, join, quote_key, say
from leftoff.text.plural import format_count
from leftoff.threads import briefing, check_claims
from leftoff.workspace import Workspace

_MOST_TEXT = 4_000
_MOST_ITEMS = 50
_MOST_PROMPTS = 10
# Agents cut or refuse longer results.
_MOST_CHARS = 40_000


def call(name: str, arguments: object, find_caller: FindCaller) -> dict[str, Any]:
    """Run a tool and return its result; problems are results, too, so that the model sees them."""
    try:
        given = check(name, ARGUMENTS[name], arguments)
        who = find_caller()
        with who.open() as work:
            settle.await_ends(work.project.state_folder)
            answer = HANDLERS[name](work, given, who)
    except LeftoffError as error:
        return _refuse(_describe(error))
    except OSError as error:
        return _refuse(_describe(wrap_os_error(error)))
    except Exception as error:  # noqa: BLE001 - a bug must not end the server
        sys.stderr.write(traceback.format_exc())
        what = traceback.format_exception_only(error)[-1].strip()
        return _refuse(say("This is a bug in leftoff ({what}). Please report it.", what=what))
    warned = [name_tools(each) for each in work.warnings]
    warnings = [say("Warning: {text:lines}", text=each) for each in warned]
    text = fence.cut(join([answer.text, *warnings], "\n\n"), _MOST_CHARS)
    data = _disarm({**answer.data, "warnings": warned})
    return {"content": [{"type": "text", "text": text}], "structuredContent": data}


def _refuse(text: Rendered) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": True}


def _describe(error: LeftoffError) -> Rendered:
    """Say what happened, why, and what to do."""
    lines = [say("leftoff: {text:lines}", text=error.message)]
    if isinstance(error, BelowQualityBar):
        lines += [say("- {text:500}", text=each) for each in error.findings]
    if isinstance(error, ChoiceNeeded):
        lines += [say("Ask the user: {question}", question=error.question), _list_ways(error)]
    elif error.hint:
        lines.append(say("What to do: {text:lines}", text=name_tools(error.hint)))
    return join(lines)


def _list_ways(choice: ChoiceNeeded) -> Rendered:
    """List the choices as arguments of the same tool."""
    ways = []
    for each in choice.choices:
        key = str(each["choice"])
        if key == "overwrite":
            ways.append(say("- overwrite it: call this again with `overwrite` set to true"))
        elif key == "rename":
            ways.append(say("- keep both: call this again with another `name`"))
        else:
            task = each.get("summary") or each.get("label") or ""
            ways.append(say("- `name`: {key:80} ({task:200})", key=key, task=task))
    return join(ways)


def _disarm(value: Any) -> Any:
    """Make every text in a value harmless; rendered text already is."""
    if isinstance(value, Rendered):
        return str(value)
    if isinstance(value, str):
        return fence.disarm(value)
    if isinstance(value, dict):
        return {fence.line(str(key), 200): _disarm(each) for key, each in value.items()}
    return [_disarm(each) for each in value] if isinstance(value, list | tuple) else value


# --- save ---


def save(work: Workspace, given: Mapping[str, Any], who: Caller) -> Answer:
    """Save where the work left off, with what the session and git say."""
    del who
    name, options = given.get("name"), ("name", "overwrite", "strict")
    fields = threads.compose.parse_fields(
        {key: value for key, value in given.items() if key not in options}
    )
    fields |= _name_paths(work, given)
    session = None
    if work.context.session:
        settle.catch_up(work.context.environment.state_folder)
        session = sessions.find_current(work.store)
    with work.mark_work("checkpoint"):
        draft = work.draft(work.add_notes(fields, task=name), session=session)
        outcome = work.save_draft(
            draft,
            _check_name(work, name) or work.suggest_name(draft),
            overwrite=given.get("overwrite", False),
            strict=given.get("strict", False),
        )
    saved = outcome.saved
    if saved.checkpoint.agent and saved.checkpoint.session_id:
        records.defer(work.store, saved.checkpoint.agent, saved.checkpoint.session_id, None)
    work.mirror()
    work.warn_once([*outcome.warnings, *work.unwritten.values()])
    lines = [
        say(
            'Saved "{name}". Any session can continue it: it calls `resume`, or the user runs '
            "`leftoff resume {key}`.",
            name=saved.checkpoint.name,
            key=quote_key(saved.checkpoint.name, saved.checkpoint.id),
        ),
        say('It continues "{name}".', name=outcome.continues) if outcome.continues else say(""),
    ]
    data = {
        "name": saved.checkpoint.name,
        "id": saved.checkpoint.id,
        "path": fence.printable(str(saved.path)),
        "continues": outcome.continues,
    }
    return Answer(join(lines), data)


def _check_name(work: Workspace, name: str | None) -> str | None:
    if work.settings.naming != "required":
        return name
    if name is None:
        raise UsageError("This project requires a name.", hint="Pass `name`: two to four words.")
    return check_specific(check_name(name, strict=True))


def _name_paths(work: Workspace, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the paths of files and the plan as checkpoints have them."""
    root = work.project.worktree

    def name_one(path: str) -> dict[str, str]:
        return {"path": name_path(root, path, root)}

    named: dict[str, Any] = {}
    if given.get("files"):
        named["files"] = [name_one(path) for path in given["files"]]
    if given.get("plan"):
        named["plan"] = name_one(given["plan"])
    return named


# --- resume ---


def resume(work: Workspace, given: Mapping[str, Any], who: Caller) -> Answer:
    """Show where the work left off and what changed since; with `accept`, mark it as resumed."""
    is_accepted = bool(given.get("accept"))
    entry = _choose_entry(work, given.get("name"), is_accepted=is_accepted)
    if entry is None:
        text = say("Nothing is saved in this project. Call `save` to save the current work.")
        empty = {"found": False, "briefing": "", "accepted": False}
        return Answer(text, empty)
    checkpoint = work.load_resumed(entry, given.get("name"))
    checks = work.check(checkpoint)
    text = work.render_briefing(checkpoint, checks, budget=_find_budget(work, given, who))
    prompts = _list_prompts(work)
    question = None
    if is_accepted:
        work.accept(entry, once=True)
    elif work.settings.confirm != "never":
        question = work.ask_to_resume(checkpoint, checks)
    key = entry.name or entry.id
    data = {
        "found": True,
        "name": entry.name,
        "id": entry.id,
        "briefing": text,
        "is_stale": checks.is_stale,
        "accepted": is_accepted,
        "question": question,
        "prompts": prompts,
    }
    loops = _quote_loops(work)
    rest = [_quote_prompts(prompts), loops, _say_how(key, question, is_accepted=is_accepted)]
    return Answer(join([text, *rest], "\n\n"), data)


def _choose_entry(
    work: Workspace, name: str | None, *, is_accepted: bool
) -> CheckpointEntry | None:
    """Find the work to resume; accepting it twice is the same as once."""
    if name is not None:
        taken = work.find_taken(name) if is_accepted else None
        return taken or work.find_open(name)
    return work.choose() or (work.find_taken(None) if is_accepted else None)


def _find_budget(work: Workspace, given: Mapping[str, Any], who: Caller) -> int:
    """Return how many tokens the briefing may have, as for `leftoff resume --for AGENT`."""
    wanted = int(given.get("budget") or work.settings.budget)
    return min(wanted, briefing.MOST_TOKENS.get(who.agent or "", wanted))


def _list_prompts(work: Workspace) -> list[str]:
    return [each.text[:_MOST_TEXT] for each in prompt_queue.list_pending(work.store)][
        -_MOST_PROMPTS:
    ]


def _quote_prompts(prompts: list[str]) -> Rendered:
    if not prompts:
        return say("")
    head = say(
        "No session answered {count}. Ask the user which to run:",
        count=format_count(len(prompts), "prompt"),
    )
    return fence.enclose_text(join([head, *map(block, prompts)]))


def _quote_loops(work: Workspace) -> Rendered:
    """Describe interrupted work on features; most projects have none."""
    places = [work.project.store / "loops", *work.store.log_paths("features")]
    if not any(place.exists() for place in places):
        return say("")
    found = knowledge.features.list_interrupted_loops(work.store)
    ways = [knowledge.features.describe_ways_to_continue(each) for each in found]
    return fence.enclose_text(join(ways, "\n\n")) if ways else say("")


def _say_how(key: str, question: Rendered | None, *, is_accepted: bool) -> Rendered:
    if is_accepted:
        return say("This session continues it: its saves are new revisions of this work.")
    how = say(
        "Nothing was changed. To resume it, call `resume` with `name` {key} and `accept` true.",
        key=key,
    )
    if question is None:
        return how
    return join([say("Ask the user: {question}", question=question), how])


# --- list, show, search ---


def list_threads(work: Workspace, given: Mapping[str, Any], who: Caller) -> Answer:
    """List open work, newest first."""
    del who
    limit = given.get("limit", 20)
    entries = work.list_checkpoints(limit=limit + 1, with_ended=bool(given.get("all")))
    shown, now = entries[:limit], work.store.now()
    _warn_of_damage(work)
    lines = [_describe_entry(each, now) for each in shown]
    if len(entries) > limit:
        lines.append(say("There is more; pass a higher `limit`."))
    lines += [*_list_unsaved(work), *_list_running(work)]
    text = fence.enclose_text(join(lines)) if lines else say("No work is saved here.")
    rows = [_build_row(each, now) for each in shown]
    return Answer(text, {"notice": fence.NOTICE, "threads": rows, "more": len(entries) > limit})


def _list_unsaved(work: Workspace) -> list[Rendered]:
    """Name the sessions whose work is in no checkpoint."""
    return [
        say(
            "- unsaved, of {agent}: {request:120} (ask the user to run `leftoff recover`)",
            agent=each.agent,
            request=each.request,
        )
        for each in work.find_unsaved()
    ]


def _list_running(work: Workspace) -> list[Rendered]:
    """Name the running sessions whose work is in no thread yet."""
    return [
        say(
            "- not saved yet, {agent} is working on it: {request:120}",
            agent=each.agent,
            request=each.request,
        )
        for each in work.find_running()
    ]


def _warn_of_damage(work: Workspace) -> None:
    # Otherwise damaged work would look as if it had never been saved.
    for entry in work.store.index().unreadable():
        path = work.store.path_of(entry)
        work.warn_once([f"Cannot read {path} ({entry.problem})"])


def _build_row(entry: CheckpointEntry, now: datetime) -> dict[str, Any]:
    return {
        "name": _name(entry),
        "id": entry.id,
        "state": _find_state(entry),
        "age": _format_age(entry, now),
        "as_of": entry.as_of.isoformat(),
        "branch": entry.branch,
        "agent": entry.agent,
        "task": entry.task,
        "next_action": entry.next_action,
    }


def _describe_entry(entry: CheckpointEntry, now: datetime) -> Rendered:
    action = entry.next_action
    return say(
        "- {name:80} ({state}, {age}{branch}): {task:200}{action}",
        name=_name(entry),
        state=_find_state(entry),
        age=_format_age(entry, now),
        branch=say(", branch {name:80}", name=entry.branch) if entry.branch else say(""),
        task=entry.task or "no task stated",
        action=say("\n  Next: {text:200}", text=action) if action else say(""),
    )


def _name(entry: CheckpointEntry) -> str:
    if entry.problem:
        return entry.name or entry.id
    # Version 0.1 gave autosaves no name.
    return entry.name or suggest_name([entry.task], entry.branch)


def _find_state(entry: CheckpointEntry) -> str:
    state = "unreadable" if entry.problem else entry.state
    return "done" if state == "consumed" else state


def _format_age(entry: CheckpointEntry, now: datetime) -> str:
    return times.age((now - entry.as_of).total_seconds())


def show(work: Workspace, given: Mapping[str, Any], who: Caller) -> Answer:
    """Show everything in a checkpoint."""
    del who
    entry = work.find(given["name"]) if given.get("name") else _find_newest(work)
    # The text of a native file repeats the other keys.
    plain = {
        key: _shorten(value)
        for key, value in to_plain(work.store.load(entry)).items()
        if value not in (None, "", [], {}) and key not in {"schema", "native_text"}
    }
    state = _find_state(entry)
    head = say("Checkpoint: {name:80} ({state})", name=_name(entry), state=state)
    lines = [_describe_key(key, value) for key, value in plain.items()]
    text = fence.enclose_text(join([head, *lines]))
    data = {"name": entry.name, "id": entry.id, "state": state, "checkpoint": plain}
    return Answer(text, {"notice": fence.NOTICE, **data})


def _find_newest(work: Workspace) -> CheckpointEntry:
    prefers_saved = work.settings.offers == "latest"
    entry = check_claims.find_newest(work.store, prefers_saved=prefers_saved)
    if entry is None:
        raise NoSuchCheckpoint("No work is saved here.", hint="Call `save` to save the work.")
    return entry


def _shorten(value: Any) -> Any:
    """Cut what is too long for a model to read."""
    if isinstance(value, str):
        return value if len(value) <= _MOST_TEXT else f"{value[: _MOST_TEXT - 1]}…"
    if isinstance(value, dict):
        return {key: _shorten(each) for key, each in value.items()}
    if isinstance(value, list):
        rest = len(value) - _MOST_ITEMS
        kept = [_shorten(each) for each in value[:_MOST_ITEMS]]
        return [*kept, f"… and {rest} more"] if rest > 0 else kept
    return value


def _describe_key(key: str, value: Any) -> Rendered:
    if not isinstance(value, list):
        return say("- {key:80}: {text:lines}", key=key, text=_format_inline(value))
    items = [say("  - {text:lines}", text=_format_inline(each)) for each in value]
    return join([say("- {key:80}:", key=key), *items])


def _format_inline(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    return ", ".join(f"{key} {each}" for key, each in value.items() if each not in (None, ""))


def search(work: Workspace, given: Mapping[str, Any], who: Caller) -> Answer:
    """Search saved work, newest first."""
    del who
    now = work.store.now()
    hits = work.search(
        given["words"], limit=given.get("limit", 20), with_ended=bool(given.get("all"))
    )
    lines = [
        say(
            "{entry}\n  {where}: {snippet:300}",
            entry=_describe_entry(each.entry, now),
            where="An earlier revision says" if each.is_earlier else "It says",
            snippet=each.snippet,
        )
        for each in hits
    ]
    text = fence.enclose_text(join(lines)) if lines else say("Nothing found.")
    rows = [
        {**_build_row(each.entry, now), "snippet": each.snippet, "is_earlier": each.is_earlier}
        for each in hits
    ]
    return Answer(text, {"notice": fence.NOTICE, "hits": rows})


# --- status ---


def status(work: Workspace, given: Mapping[str, Any], who: Caller) -> Answer:
    """Show where the caller is, and what is open."""
    del given
    project, index = work.project, work.store.index()
    state = query.read_state(project.worktree) if project.is_git else None
    session = work.context.session
    thread = index.find_open_thread(session[1]) if session else None
    count = index.count_heads([*LISTED]) - index.count_heads(["declined"])
    data = {
        "project": fence.printable(str(project.root)),
        "worktree": fence.printable(str(project.worktree)),
        "branch": state.branch if state else None,
        "changed": len(state.dirty) if state else None,
        "open": count,
        "is_off": is_off(project),
        "agent": session[0] if session else who.agent,
        "session_id": session[1] if session else None,
        "thread": thread.name if thread else None,
    }
    shown = [say("- {key}: {value}", key=key, value=each) for key, each in data.items() if each]
    newest = work.list_checkpoints(limit=1)
    if newest:
        now = work.store.now()
        shown += [say("Newest work:"), *(_describe_entry(each, now) for each in newest)]
    shown += [*_list_unsaved(work), *_list_running(work)]
    return Answer(fence.enclose_text(join(shown)), data)


def snapshot(work: Workspace, given: Mapping[str, Any], who: Caller) -> Answer:
    """Keep the uncommitted code, or list what is kept."""
    # These modules take longer to load than most calls need, and few calls need them.
    return mcp.snapshot_tool.take_or_list(work, given, who)


HANDLERS: dict[str, Callable[[Workspace, Mapping[str, Any], Caller], Answer]] = {
    "save": save,
    "resume": resume,
    "list": list_threads,
    "show": show,
    "search": search,
    "remember": memory_tools.remember,
    "recall": memory_tools.recall,
    "status": status,
    "snapshot": snapshot,
}
"""What runs each tool."""
