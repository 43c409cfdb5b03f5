"""sail: append-only JSON checkpoints beside their plan, and an index of what is active.

`plans/<plan>/checkpoints/` has those of a plan, `checkpoints/` the others, each in its own file
that is never changed. In state-index.json a save changes only `last_checkpoint`; what is active
follows the plans' own files.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from leftoff.checkpoint import Checkpoint
from leftoff.profiles import json_codec, sail_format, sail_plans, sail_spellings
from leftoff.profiles.profile import Files, More, Native, SessionNews, StoreNews
from leftoff.profiles.regular_files import compute_digest, list_newest
from leftoff.projects.project import Project

SETTINGS: Mapping[str, Any] = {
    "on_resume": "keep",
    "confirm": "never",
    "naming": "auto",
    "same_name": "revise",
    "questions": True,
    "quality": [],
    "noise": "box",
    "offers": "latest",
    # Room for the reasons of decisions, which sail is about.
    "start_budget": 800,
    "advise_at": 65.0,
    "urge_at": 75.0,
}
HOLDS = sail_format.HOLDS
IS_LIVING = False
PER_WORKTREE = True
WANTS_KNOWLEDGE = False
EVENTS = frozenset({"post-tool"})
NATIVE = frozenset({"checkpoints/*", "plans/*/checkpoints/*", sail_plans.INDEX})

_CHECKPOINTS = "checkpoints"
_SUFFIX = ".json"


def home(project: Project) -> Path:
    """Return the worktree's own `.claude` folder."""
    return project.worktree / sail_plans.FOLDER


def is_here(folder: Path) -> bool:
    """Return whether this folder, which agents also use, has a checkpoint or an index."""
    return (folder / sail_plans.INDEX).is_file() or next(list_natives(folder), None) is not None


def folders(folder: Path) -> list[Path]:
    """Return the global checkpoint folder and that of each plan, with the files that may change."""
    found = _list_places(folder)
    return [*found, *(path for each in found for path in list_newest(each, _SUFFIX))]


def _list_places(folder: Path) -> list[Path]:
    return [folder / _CHECKPOINTS, *sorted(folder.glob(f"{sail_plans.PLANS}/*/{_CHECKPOINTS}"))]


def find_stale_names(folder: Path) -> list[str]:
    """Return nothing: no index lists checkpoints."""
    del folder
    return []


def list_natives(folder: Path) -> Iterator[Path]:
    """Yield the files of checkpoints by name, which is by time, from all plans."""
    found = [path for each in _list_places(folder) for path in each.glob(f"*{_SUFFIX}")]
    yield from sorted(found, key=lambda path: (path.name, path))


def read(path: Path, data: bytes) -> Native:
    """Read a checkpoint's file."""
    return sail_format.parse(data, stem=path.stem, plan=_plan_of(path))


def _plan_of(path: Path) -> str | None:
    folder = path.parent.parent
    return folder.name if folder.parent.name == sail_plans.PLANS else None


def read_more(folder: Path) -> More:
    """Return nothing: there is nothing else to import."""
    del folder
    return More()


# Writing


def write(files: Files, news: StoreNews) -> None:
    """Write a file for each new checkpoint, update the last one, and follow the plans' files."""
    is_elsewhere = files.root != home(news.project)
    new = [each for each in news.saved if not _is_from_here(files, each)]
    for checkpoint in [*new]:
        place = _place(files, checkpoint)
        if checkpoint.is_autosave and not is_elsewhere and _hides_saved(files, place, checkpoint):
            new.remove(checkpoint)
            continue
        _create(files, place, checkpoint)
    if new:
        last = max(checkpoint.saved_at for checkpoint in new)
        _update(files, lambda index: _with_last(index, last), warns=True)
    if news.session is not None:
        _follow(files, news.session)


def _create(files: Files, place: str, checkpoint: Checkpoint) -> None:
    """Write a checkpoint under its second, or under the next one that is free.

    Sail's readers sort by whole seconds, so two files of one second would have no order.
    """
    moment = checkpoint.saved_at.astimezone(UTC)
    while True:
        path = f"{place}/{moment:%Y%m%dT%H%M%SZ}{_SUFFIX}"
        data = sail_format.render(checkpoint, moment).encode("utf-8", "replace")
        # The same event may be processed twice, the first time by an older version.
        if files.is_of(path, checkpoint.id):
            return
        if files.read(path) in {None, data}:
            break
        moment += timedelta(seconds=1)
    files.create(path, data, of=checkpoint.id)


def _hides_saved(files: Files, place: str, autosave: Checkpoint) -> bool:
    """Return whether an autosave would become the latest instead of what somebody saved.

    Sail's readers take the greatest timestamp of a folder, and know no other order.
    """
    for path in reversed(files.names(place, f"*{_SUFFIX}")):
        found = sail_spellings.read_checkpoint(files.root / path)
        if found is not None and not sail_format.is_autosave(found):
            moment = sail_format.find_moment(found)
            return moment is None or moment <= autosave.saved_at
    return False


def _is_from_here(files: Files, checkpoint: Checkpoint) -> bool:
    """Return whether a checkpoint was read from a file that is already here."""
    source = checkpoint.source
    if source is None or not source.path.startswith(f"{files.root}/"):
        return False
    data = files.read(os.path.relpath(source.path, files.root))
    return data is not None and compute_digest(data) == source.sha256


def _place(files: Files, checkpoint: Checkpoint) -> str:
    """Return the folder: that of the checkpoint's own plan, the active plan, or the global one."""
    active = sail_plans.read_active_plan(sail_plans.read_index(files.root) or {})
    for plan in (_own_plan(files, checkpoint), active):
        if plan is not None and sail_plans.is_plan_name(plan):
            return f"{sail_plans.PLANS}/{plan}/{_CHECKPOINTS}"
    return _CHECKPOINTS


def _own_plan(files: Files, checkpoint: Checkpoint) -> str | None:
    """Return the plan that a checkpoint names, if it is one of these and not a file elsewhere."""
    plan = checkpoint.plan
    if plan is None or plan.title is None or not sail_plans.is_plan_name(plan.title):
        return None
    is_here = (files.root / sail_plans.PLANS / plan.title).is_dir()
    return plan.title if is_here or plan.path is None else None


# The index of what is active

_BOM = "\ufeff"
_NEW: dict[str, Any] = {
    "active_plan": None,
    "active_plan_stage": None,
    "active_tdd": None,
    "active_tdd_phase": None,
    "last_checkpoint": None,
    "delegate_running": False,
}

Members = dict[str, Any]


def _update(files: Files, change: Callable[[Members], Members], *, warns: bool = False) -> None:
    """Change members of the index, if it exists and can be read; none is created."""
    path = files.root / sail_plans.INDEX
    problems: list[str] = []
    if path.is_file():
        files.edit(sail_plans.INDEX, lambda text: _change(text, change, problems))
    # Warn once with every save, not with every event of every session.
    if problems and warns:
        files.warn(f"{path} cannot be read and was left as it is: {problems[0]}")


def _change(text: str, change: Callable[[Members], Members], problems: list[str]) -> str:
    try:
        index = json.loads(text.removeprefix(_BOM))
        if isinstance(index, dict):
            return json_codec.with_members(text, change(index))
        problems.append("it is not a JSON object")
    except (ValueError, RecursionError) as error:
        problems.append(str(error) or "it is nested too deeply")
    return text


def _with_last(index: Members, last: datetime) -> Members:
    before = sail_plans.moment(index.get("last_checkpoint"))
    # sail writes whole seconds, so compare those.
    last = last.astimezone(UTC).replace(microsecond=0)
    is_newer = before is None or last > before
    return {"last_checkpoint": f"{last:%Y-%m-%dT%H:%M:%SZ}"} if is_newer else {}


def _follow(files: Files, session: SessionNews) -> None:
    """Update the index from the plans' own files, after one of them was edited."""
    edited = _find_edited(files.root, session.file)
    if edited is None:
        return
    path = files.root / sail_plans.INDEX
    if not path.exists() or not (files.read(sail_plans.INDEX) or b"").strip():
        files.edit(sail_plans.INDEX, lambda text: text if text.strip() else _write_new())
    _update(files, lambda index: _read_active(files.root, index, edited))


def _write_new() -> str:
    return f"{json.dumps(_NEW, indent=2)}\n"


def _find_edited(root: Path, file: str) -> str | None:
    """Return the plan whose state was written, empty for a test-first session; None for others."""
    if not file:
        return None
    # Compare real paths: the agent may name the file through a link.
    below = os.path.relpath(os.path.realpath(file), os.path.realpath(root))
    match Path(below).parts:
        case (sail_plans.PLANS, plan, sail_plans.PLAN_STATE):
            return plan
        case _:
            return "" if below == sail_plans.TDD else None


def _read_active(root: Path, index: Members, edited: str | None) -> Members:
    return {**_read_active_plan(root, index, edited), **_read_active_tdd(root)}


def _read_active_plan(root: Path, index: Members, edited: str | None) -> Members:
    """Return the open plan that was edited, or the active one, or the next open one."""
    plans = {plan.name: plan for plan in sail_plans.list_plans(root)}
    current = sail_plans.read_active_plan(index)
    is_edited_open = edited in plans and plans[edited].is_open
    if current is not None and current not in plans and not is_edited_open:
        # Its file is broken at the moment, or does not exist.
        return {}
    wanted = [edited, current, *plans]
    plan = next((plans[each] for each in wanted if each in plans and plans[each].is_open), None)
    shown = {"active_plan": plan.name, "active_plan_stage": plan.stage} if plan else _NO_PLAN
    return shown | {twin: shown[key] for key, twin in _TWINS.items() if twin in index}


_NO_PLAN: Members = {"active_plan": None, "active_plan_stage": None}
# Later versions write everything under two names.
_TWINS = {"active_plan": "active_blueprint", "active_plan_stage": "active_blueprint_stage"}


def _read_active_tdd(root: Path) -> Members:
    found = sail_plans.read_object(root / sail_plans.TDD)
    if found is None and (root / sail_plans.TDD).exists():
        return {}
    session = found or {}
    return {
        "active_tdd": sail_plans.text(session.get("id")),
        "active_tdd_phase": sail_plans.text(session.get("phase")),
    }
