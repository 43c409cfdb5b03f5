"""Carry out what a form of the page asks for, and say how to undo it."""

from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from leftoff.errors import LeftoffError, UsageError
from leftoff.knowledge import memory
from leftoff.session import prompt_queue
from leftoff.session.prompt_queue import Prompt
from leftoff.threads.act_words import describe_act
from leftoff.web.access import Access
from leftoff.web.notices import Notice, NoticeBoard, TakeBack
from leftoff.web.render import cut
from leftoff.web.site import Site
from leftoff.workspace import Workspace

_MOST_BYTES = 64 * 1024
_SHOWN = 60
Form = Mapping[str, str]
Act = Callable[[Workspace, Form], Notice]


class ActRoute:
    """Answers every form: checks it, changes the store, and goes back to the page."""

    def __init__(self, site: Site, access: Access, notices: NoticeBoard) -> None:
        self._site = site
        self._access = access
        self._notices = notices

    async def answer(self, request: Request) -> Response:
        """Carry out one form."""
        form = await _read_form(request)
        if form is None:
            return PlainTextResponse("The form is too large.", status_code=413)
        if not self._access.is_own_form(request, form.get("csrf", "")):
            return PlainTextResponse("The form is not from this page.", status_code=403)
        verb = request.path_params["verb"]
        if verb not in ACTS:
            return PlainTextResponse("Unknown action.", status_code=404)
        notice = await run_in_threadpool(self._act, ACTS[verb], form)
        self._notices.add(self._access.csrf_of(request), notice)
        return RedirectResponse(_choose_way_back(form.get("back", "")), status_code=303)

    def _act(self, act: Act, form: Form) -> Notice:
        try:
            with self._site.open(self._site.find_project(form.get("project"))) as work:
                return act(work, form)
        except (LeftoffError, OSError) as error:
            hint = getattr(error, "hint", "")
            return Notice(text=f"{error} {hint}".strip(), is_problem=True)


async def _read_form(request: Request) -> dict[str, str] | None:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_BYTES:
            return None
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def _choose_way_back(address: str) -> str:
    """Return a path on this page; anything else could lead to another web site."""
    is_local = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if is_local and address.isprintable() else "/"


def _take_back(work: Workspace, form: Form) -> TakeBack | None:
    act = work.store.index().find_undoable()
    fields = {"project": form.get("project", ""), "act": act.act_id if act is not None else ""}
    return TakeBack(verb="undo", fields=fields) if act is not None else None


def _finish(work: Workspace, form: Form) -> Notice:
    entry = work.finish(form.get("id", ""))
    text = f"Marked “{entry.name or entry.id}” as done."
    return Notice(text=text, take_back=_take_back(work, form))


def _drop(work: Workspace, form: Form) -> Notice:
    entry = work.drop(form.get("id", ""))[0]
    return Notice(text=f"Dropped “{entry.name or entry.id}”.", take_back=_take_back(work, form))


def _undo(work: Workspace, form: Form) -> Notice:
    act = work.undo(form.get("act") or None)
    if act is None:
        return Notice(text="Nothing to undo.")
    redo = TakeBack(verb="redo", fields={"project": form.get("project", "")}, label="Redo")
    return Notice(text=f"Undid {describe_act(work.store.index(), act)}.", take_back=redo)


def _redo(work: Workspace, form: Form) -> Notice:
    act = work.redo()
    if act is None:
        return Notice(text="Nothing to redo.")
    text = f"Redid {describe_act(work.store.index(), act)}."
    return Notice(text=text, take_back=_take_back(work, form))


def _judge(work: Workspace, form: Form, status: memory.Status, word: str) -> Notice:
    before = memory.find(work.store, form.get("id", ""))
    memory.change(work.store, before.id, status=status)
    fields = {"project": form.get("project", ""), "id": before.id, "status": before.status}
    return Notice(
        text=f"{word} “{cut(before.text, _SHOWN)}”.",
        take_back=TakeBack(verb="put-entry-back", fields=fields),
    )


def _approve(work: Workspace, form: Form) -> Notice:
    return _judge(work, form, "active", "Approved")


def _reject(work: Workspace, form: Form) -> Notice:
    return _judge(work, form, "rejected", "Rejected")


def _edit(work: Workspace, form: Form) -> Notice:
    before = memory.find(work.store, form.get("id", ""))
    after = memory.change(work.store, before.id, text=form.get("text", ""), why=form.get("why", ""))
    fields = {"project": form.get("project", ""), "id": before.id, "status": before.status}
    return Notice(
        text=f"Changed the entry to “{cut(after.text, _SHOWN)}”.",
        take_back=TakeBack(
            verb="put-entry-back", fields={**fields, "text": before.text, "why": before.why}
        ),
    )


def _put_entry_back(work: Workspace, form: Form) -> Notice:
    known = memory.find(work.store, form.get("id", ""))
    status = next((each for each in memory.STATUSES if each == form.get("status")), None)
    if status is None or status == "superseded":
        raise UsageError("The page does not say what the entry was before.")
    text = form.get("text", known.text)
    memory.change(work.store, known.id, status=status, text=text, why=form.get("why", known.why))
    return Notice(text=f"“{cut(text, _SHOWN)}” is {status} again.")


def _drop_prompt(work: Workspace, form: Form) -> Notice:
    prompt = _find_prompt(work, form.get("id", ""))
    prompt_queue.record(work.store, prompt, "dropped")
    fields = {"project": form.get("project", ""), "id": prompt.id}
    return Notice(
        text=f"Dropped the prompt “{cut(prompt.text, _SHOWN)}”.",
        take_back=TakeBack(verb="restore-prompt", fields=fields),
    )


def _restore_prompt(work: Workspace, form: Form) -> Notice:
    prompt = _find_prompt(work, form.get("id", ""))
    prompt_queue.record(work.store, prompt, "restored")
    return Notice(text=f"The prompt “{cut(prompt.text, _SHOWN)}” is queued again.")


def _find_prompt(work: Workspace, prompt_id: str) -> Prompt:
    for prompt in prompt_queue.history(work.store):
        if prompt.id == prompt_id:
            return prompt
    raise UsageError("This prompt no longer exists.")


ACTS: dict[str, Act] = {
    "done": _finish,
    "drop": _drop,
    "undo": _undo,
    "redo": _redo,
    "approve": _approve,
    "reject": _reject,
    "edit": _edit,
    "put-entry-back": _put_entry_back,
    "drop-prompt": _drop_prompt,
    "restore-prompt": _restore_prompt,
}
