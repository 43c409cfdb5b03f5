"""Import the native files of a profile into the store, without changing the files."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from leftoff import knowledge, redact
from leftoff.checkpoint import (
    SCHEMA,
    Checkpoint,
    Source,
    cut_to_limits,
    from_plain,
    new_id,
    to_plain,
)
from leftoff.errors import LeftoffError
from leftoff.fingerprints import can_be_path, fingerprint
from leftoff.git import query
from leftoff.names import FORBIDDEN, RESERVED, clean_name, kebab
from leftoff.profiles.profile import More, Native, Profile
from leftoff.profiles.regular_files import compute_digest, read_regular
from leftoff.session import prompt_queue
from leftoff.store import Store
from leftoff.text.times import is_plausible

_TRIGGER = "import"
_FOREIGN = "It belongs to another project; name its folder to import it anyway."
# A single event for all files would be read again for each of them.
_BATCH = 100
# The files of other systems can be longer than our checkpoints.
_ROOM = 16
# Native files record times to the minute.
_PRECISION_SECONDS = 60
# An id begins with its time, to the millisecond.
_TIME_OF_ID = 19


Plain = dict[str, Any]


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A file that could not be imported, and why."""

    path: str
    problem: str


class ImportReport(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of an import."""

    imported: int = 0
    known: int = 0
    prompts: int = 0
    memories: int = 0
    features: int = 0
    problems: list[Problem] = []


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for one file."""

    checkpoint: Checkpoint | None = None
    is_new: bool = False
    is_open: bool = True
    """Whether it may still be resumed."""
    is_foreign: bool = False
    """Whether it belongs to another project that uses the same folder."""
    problem: str | None = None


def import_all(  # noqa: PLR0913 - each is a keyword
    store: Store,
    name: str,
    profile: Profile,
    folder: Path,
    *,
    watched: Callable[[Iterable[Path]], Iterable[Path]] = iter,
    is_ours: Callable[[Path], bool] = lambda _: False,
    is_asked: bool = True,
) -> ImportReport:
    """Import every native file of a folder; an unreadable one is reported and skipped.

    Files that our own mirror wrote show what is already in the store. If somebody asked for the
    import, `undo` takes it back as one act.
    """
    act = new_id(store.now()) if is_asked else None
    tally = _Tally(store, act)
    for path in watched([*profile.list_natives(folder)]):
        if is_ours(path):
            tally.known += 1
        else:
            tally.add(path, import_file(store, name, profile, path, act=act))
    tally.close()
    more = profile.read_more(folder)
    if more.documents:
        knowledge.features.keep_documents(store, more.documents)
    queued = _import_prompts(store, more)
    memories, features = import_knowledge(store, more)
    problems = [Problem(path=str(folder), problem=problem) for problem in more.problems]
    return ImportReport(
        imported=tally.imported,
        known=tally.known,
        prompts=queued,
        memories=memories,
        features=features,
        problems=[*tally.problems, *problems],
    )


class _Tally:
    """Collects the outcomes of an import, and the work left for its end."""

    def __init__(self, store: Store, act: str | None) -> None:
        self.imported = 0
        self.known = 0
        self.problems: list[Problem] = []
        self._store = store
        self._act = act
        self._settled: list[str] = []
        self._undone: list[str] = []
        self._telling: list[Checkpoint] = []

    def add(self, path: Path, taken: Taken) -> None:
        problem = _FOREIGN if taken.is_foreign else taken.problem
        if problem is not None:
            self.problems.append(Problem(path=str(path), problem=problem))
            return
        is_again = self._is_undone(taken)
        self.imported += taken.is_new or is_again
        self.known += not (taken.is_new or is_again)
        if taken.checkpoint is None or not taken.is_new:
            return
        if not taken.is_open:
            self._settled.append(taken.checkpoint.id)
        if taken.checkpoint.decisions or taken.checkpoint.failed:
            self._telling.append(taken.checkpoint)
            if len(self._telling) >= _BATCH:
                self._learn()

    def _is_undone(self, taken: Taken) -> bool:
        """Return whether an earlier import of this file was undone; this one brings it back."""
        if self._act is None or taken.checkpoint is None or taken.is_new:
            return False
        entry = self._store.index().get(taken.checkpoint.id)
        if entry is None or entry.state != "undone":
            return False
        self._undone.append(entry.id)
        return True

    def close(self) -> None:
        """Finish the import."""
        for begin in range(0, len(self._undone), _BATCH):
            again = self._undone[begin : begin + _BATCH]
            self._store.record("restored", again, trigger=_TRIGGER, act=self._act)
        mark_declined(self._store, self._settled, act=self._act)
        self._learn()

    def _learn(self) -> None:
        if self._telling:
            knowledge.memory.learn(self._store, *self._telling)
            self._telling = []


def mark_declined(store: Store, ids: Sequence[str], *, act: str | None = None) -> None:
    """Offer these checkpoints to no session: they were resumed long ago."""
    for begin in range(0, len(ids), _BATCH):
        store.record("declined", ids[begin : begin + _BATCH], act=act)


def import_knowledge(store: Store, more: More, *, is_edit: bool = False) -> tuple[int, int]:
    """Import memory and features from files; return the number of new items of each.

    `is_edit` means that somebody changed the files since we wrote them.
    """
    if is_edit:
        _switch_rules(store, more)
    features, new_ids = _import_features(store, more, is_edit=is_edit)
    return _import_memories(store, _with_ids(more, new_ids), is_edit=is_edit), features


def _with_ids(more: More, new_ids: Mapping[str, str]) -> More:
    """Return memory entries about the features that their files mean."""
    if not new_ids:
        return more

    def follow(drafts: "Sequence[knowledge.memory.EntryDraft]") -> Any:
        return [
            msgspec.structs.replace(each, feature=new_ids.get(each.feature or "", each.feature))
            for each in drafts
        ]

    return msgspec.structs.replace(more, memories=follow(more.memories), queued=follow(more.queued))


def _switch_rules(store: Store, more: More) -> None:
    """Follow somebody who switched a rule on or off in a file."""
    for draft in more.queued:
        _switch_rule(store, draft, {"active"}, "queued")
    for draft in more.memories:
        _switch_rule(store, draft, {"queued", "rejected"}, "active")


def _switch_rule(
    store: Store,
    draft: knowledge.memory.EntryDraft,
    before: set[str],
    after: knowledge.memory.Status,
) -> None:
    known = knowledge.memory.twin(store, draft) if draft.kind == "rule" else None
    if known is not None and known.status in before:
        knowledge.memory.change(store, known.id, status=after)


class NativeEdit(msgspec.Struct, frozen=True, kw_only=True):
    """A change that somebody made to a native file: to our content, or a file of their own."""

    at: datetime
    base: Checkpoint | None = None
    """What the file showed before: the checkpoint holds more than the file can."""


def import_file(  # noqa: PLR0913 - two are keywords
    store: Store,
    name: str,
    profile: Profile,
    path: Path,
    *,
    edit: NativeEdit | None = None,
    act: str | None = None,
) -> Taken:
    """Import one file, as a new checkpoint or as a change to an existing one."""
    found = read_regular(path)
    if found is None:
        return Taken(problem="It is not a readable regular file.")
    data, stat = found
    native = _read(profile, path, data)
    if native.problem is not None:
        return Taken(problem=native.problem)
    if _is_foreign(native, store) and (edit or path.is_relative_to(profile.home(store.project))):
        return Taken(is_foreign=True)
    if (known := _find_shown(native, profile, store)) is not None:
        return Taken(checkpoint=known, is_open=native.is_open)
    if edit is None or _is_another(native, edit.base):
        edit = NativeEdit(at=_find_moment(native, stat))
    source = Source(
        profile=name,
        path=query.printable(str(path)),
        sha256=compute_digest(data),
        extra=_build_time_extra(native),
    )
    try:
        checkpoint = _build_checkpoint(
            store, source, _complete_native(native, profile, store, edit), edit.at
        )
    except (
        msgspec.ValidationError, LeftoffError, ValueError, TypeError, LookupError, OverflowError
    ) as error:  # fmt: skip
        return Taken(problem=f"It cannot become a checkpoint: {error}")
    saved = store.add(msgspec.structs.replace(checkpoint, act=act))
    return Taken(checkpoint=checkpoint, is_new=saved is not None, is_open=native.is_open)


def _find_shown(native: Native, profile: Profile, store: Store) -> Checkpoint | None:
    """Return the checkpoint that a file shows, which is in the store already.

    git takes a tracked file to other worktrees and clones without the record that names its
    checkpoint. Then its exact time and its words identify it.
    """
    index = store.index()
    if native.shows and (entry := index.get(native.shows)) and not entry.problem:
        return store.load(entry)
    if not native.is_exact or native.saved_at is None:
        return None
    for entry in index.with_prefix(new_id(native.saved_at)[:_TIME_OF_ID]):
        checkpoint = None if entry.problem else store.load(entry)
        if checkpoint and checkpoint.saved_at == native.saved_at:
            plain = to_plain(checkpoint)
            shown = profile.HOLDS & native.fields.keys()
            if all(_is_within(native.fields[key], plain.get(key)) for key in shown):
                return checkpoint
    return None


def _is_within(shown: object, kept: object) -> bool:
    """Return whether a file shows a value as it is kept, perhaps without its details."""
    if isinstance(shown, dict) and isinstance(kept, dict):
        return all(kept.get(key) == value for key, value in shown.items())
    return (shown or None) == (kept or None)


def _find_moment(native: Native, stat: os.stat_result) -> datetime:
    """Return when a file was saved: the time it names, or that of the file system."""
    if native.saved_at and is_plausible(native.saved_at):
        return native.saved_at
    return datetime.fromtimestamp(stat.st_mtime, UTC)


def _complete_native(native: Native, profile: Profile, store: Store, edit: NativeEdit) -> Native:
    """Add what the file cannot hold: the rest of its previous checkpoint, and fingerprints."""
    kept = _list_beyond(profile, edit.base) if edit.base else {}
    files = _fingerprint_files(native.fields, edit.base, store, edit.at)
    fields = {
        key: value
        for key, value in native.fields.items()
        if key in profile.HOLDS or not _repeats(edit.base, value)
    }
    fields |= {key: _keep_details(edit.base, key, fields[key]) for key in _DETAILED & fields.keys()}
    return msgspec.structs.replace(native, fields={**kept, **fields, "files": files})


# A file shows only what and why of these.
_DETAILED = frozenset({"decisions", "failed"})


def _keep_details(base: Checkpoint | None, key: str, found: list[Plain]) -> list[Plain]:
    """Return entries as the checkpoint before had them, unless their words were changed."""
    before = [to_plain(each) for each in getattr(base, key)] if base else []
    known = {(each["what"], each.get("why", "")): each for each in before}
    return [known.get((each.get("what"), each.get("why", "")), each) for each in found]


def _repeats(base: Checkpoint | None, value: object) -> bool:
    """Return whether the data beside a file only repeats what we wrote there last time."""
    known = (base.summary, base.intent, base.left_off, base.name) if base else ()
    return value in [" ".join(text.split()) for text in known if text]


def _is_foreign(native: Native, store: Store) -> bool:
    return native.project not in {"", query.printable(str(store.project.root))}


def _is_another(native: Native, base: Checkpoint | None) -> bool:
    """Return whether our file now shows another state, as after a git checkout."""
    if not native.is_exact or native.saved_at is None:
        return False
    if base is None:
        return True
    known = base.source.extra.get(_NAMED_AT) if base.source else None
    return native.saved_at != base.saved_at and _build_time_extra(native)[_NAMED_AT] != known


_NAMED_AT = "told_at"


def _build_time_extra(native: Native) -> dict[str, str]:
    """Keep the time that a file names: people who edit a file seldom change that as well."""
    if not native.is_exact or native.saved_at is None:
        return {}
    return {_NAMED_AT: native.saved_at.isoformat()}


def _list_beyond(profile: Profile, base: Checkpoint) -> dict[str, Any]:
    """Return the values of a checkpoint that no file of this profile can hold."""
    # These belong to a single checkpoint and are never taken over from another.
    ours = {*profile.HOLDS, "schema", "id", "saved_at", "trigger", "name", "source", "files"}
    ours |= {"as_of", "stated", "act"}
    return {key: value for key, value in to_plain(base).items() if key not in ours}


def _fingerprint_files(
    fields: Mapping[str, Any], base: Checkpoint | None, store: Store, moment: datetime
) -> list[dict[str, Any]]:
    """Return the named files, each with its fingerprint if that is known."""
    named = fields.get("files") or []
    if not base:
        return [_as_then(each, store, moment) for each in named]
    known = {file.path: to_plain(file) for file in base.files}
    files = [known.get(each["path"]) or _as_then(each, store, moment) for each in named]
    here = {each["path"] for each in named}
    plan = fields.get("plan") or {}
    others = {*(fields.get("files_modified") or []), plan.get("path")} - here
    return [*files, *(file for path, file in known.items() if path in others)]


def _as_then(named: dict[str, Any], store: Store, moment: datetime) -> dict[str, Any]:
    """Add the fingerprint of a file that was last written before the given moment."""
    if "size" in named or not can_be_path(named["path"]):
        return named
    seen = fingerprint(named["path"], store.project.worktree)
    # A file changed since then has a fingerprint that means nothing for the checkpoint.
    if seen.mtime is None or seen.mtime > moment.timestamp() + _PRECISION_SECONDS:
        return named
    return {**to_plain(seen), **named}


def _read(profile: Profile, path: Path, data: bytes) -> Native:
    try:
        return profile.read(path, data)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        # A file can contain anything; one unforeseen content must not stop the other files.
        return Native(problem=f"It cannot be read: {error}")


def _build_checkpoint(store: Store, source: Source, native: Native, moment: datetime) -> Checkpoint:
    project = store.project
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    # The same content at the same moment has the same id, so importing twice adds nothing.
    known_by = compute_digest(f"{source.profile}:{native.name}:{source.sha256}".encode())[:8]
    plain: dict[str, Any] = {
        "trigger": _TRIGGER,
        "project": query.printable(str(project.root)),
        "worktree": query.printable(str(project.worktree)),
        **{key: value for key, value in native.fields.items() if value not in (None, [], {}, "")},
        "schema": SCHEMA,
        "id": f"{new_id(moment)[:_TIME_OF_ID]}-{known_by}",
        "saved_at": moment.isoformat(),
        "name": name_of(native) or None,
        "source": to_plain(source),
    }
    draft = from_plain({key: each for key, each in plain.items() if each is not None}, Checkpoint)
    return cut_to_limits(redact.redact_value(draft), room=_ROOM)[0]


def name_of(native: Native) -> str:
    """Return the name under which a file is saved; may be empty."""
    text = native.name or ""
    name = clean_name(text) if native.has_plain_name else kebab(text)
    # A save would refuse these names.
    is_refused = name in FORBIDDEN | RESERVED and not native.has_plain_name
    return f"{name}-imported" if is_refused else name


def _import_prompts(store: Store, more: More) -> int:
    found = more.prompts.items()
    return sum(
        len(prompt_queue.import_prompts(store, each, session_id)) for session_id, each in found
    )


def _import_memories(store: Store, more: More, *, is_edit: bool) -> int:
    if not (more.memories or more.queued):
        return 0
    read = knowledge.memory.import_entries
    new = read(store, more.memories, is_edit=is_edit)
    return len(new) + len(read(store, more.queued, status="queued", is_edit=is_edit))


def _import_features(store: Store, more: More, *, is_edit: bool) -> tuple[int, dict[str, str]]:
    """Import features and the work on them; return how many, and the numbers that had to change."""
    has_links = more.memories or more.queued or more.loops
    if not (more.features or more.orchestration or has_links):
        return 0, {}
    taken = knowledge.features.import_items(
        store, more.features, written_at=more.features_at, is_edit=is_edit
    )
    # Files that we wrote have our numbers. Others may be read one by one, after their features.
    new_ids = {} if is_edit else knowledge.features.list_new_ids(store)
    knowledge.features.import_loops(store, more.loops, is_edit=is_edit, new_ids=new_ids)
    knowledge.features.import_orchestration(store, more.orchestration)
    return len(taken), new_ids
