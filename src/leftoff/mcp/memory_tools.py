"""Remember what outlives a piece of work for the caller, and recall it."""

from collections.abc import Mapping
from typing import Any

from leftoff.knowledge import memory as book
from leftoff.mcp.caller import Caller
from leftoff.mcp.tool_answer import Answer
from leftoff.text import fence
from leftoff.text.fence import join, say
from leftoff.workspace import Workspace


def remember(work: Workspace, given: Mapping[str, Any], who: Caller) -> Answer:
    """Add a memory entry, or a source to one that exists."""
    del who
    session = work.context.session
    draft = book.EntryDraft(
        kind=given["kind"],
        text=given["text"],
        why=given.get("why", ""),
        files=given.get("files", []),
        alternatives=given.get("alternatives", []),
        relations=given.get("relations", []),
        sources=[session[1]] if session else [],
    )
    new = book.add(work.store, [draft], status="active")
    entry = new[0] if new else book.twin(work.store, draft)
    assert entry is not None  # noqa: S101 - either it was added, or its twin exists
    if (aside := book.waiting_in(work.store)) is not None:
        work.warn_once(
            [f"The store is not writable, so this waits in {aside} until a command can write."]
        )
    said = {"kind": entry.kind, "id": entry.id, "text": entry.text}
    if new:
        text = say("Remembered {kind} {id}: {text:300}", **said)
    elif entry.status in {"rejected", "superseded"}:
        text = say(
            "Not added, because it was {status} before: {text:300}. To bring it back, ask the "
            "user to run `leftoff memory approve {id}`.",
            status=entry.status,
            **said,
        )
    else:
        text = say("Already known: {kind} {id}: {text:300}", **said)
    return Answer(text, {"added": bool(new), **_describe_memory(entry)})


def recall(work: Workspace, given: Mapping[str, Any], who: Caller) -> Answer:
    """Find memory entries by words, or list the newest."""
    del who
    kinds, limit = given.get("kinds") or None, given.get("limit", 20)
    words = given.get("words", "").strip()
    found = (
        book.search(work.store, words, kinds=kinds, limit=limit)
        if words
        else book.entries(work.store, kinds=kinds, limit=limit)
    )
    lines = [
        say(
            "- {kind} {id}: {text:400}{why}",
            kind=each.kind,
            id=each.id,
            text=each.text,
            why=say(" — {why:400}", why=each.reason) if each.reason else say(""),
        )
        for each in found
    ]
    text = fence.enclose_text(join(lines)) if lines else say("Nothing is remembered about that.")
    rows = [_describe_memory(each) for each in found]
    return Answer(text, {"notice": fence.NOTICE, "entries": rows})


def _describe_memory(entry: book.MemoryEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "kind": entry.kind,
        "text": entry.text,
        "why": entry.why,
        "status": entry.status,
        "at": entry.at.isoformat(),
    }
