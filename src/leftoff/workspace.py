"""Open a project and save, find, resume and recover its checkpoints; the CLI and API use this."""

import contextlib
import functools
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack, overload

import msgspec

from leftoff import knowledge, snapshots, threads
from leftoff import session as agent_sessions
from leftoff.checkpoint import Checkpoint, to_plain
from leftoff.config import Loaded, Settings
from leftoff.context import Context, Environment
from leftoff.errors import (
    CheckpointEnded,
    LeftoffError,
    NoSuchCheckpoint,
    NotAProject,
    UsageError,
)
from leftoff.names import clean_name, kebab
from leftoff.profiles.mirror import Mirrors, open_mirrors
from leftoff.projects.project import Project, find_project
from leftoff.store import (
    BY_PROMPT,
    BY_REMOVAL,
    LISTED,
    TRASHED,
    Action,
    CheckpointEntry,
    Hit,
    Query,
    SavedCheckpoint,
    Store,
    StoreEvent,
    WatchReading,
)
from leftoff.text.fence import Rendered, join

if TYPE_CHECKING:
    from leftoff.session.running_work import RunningSession, WorkingSession
    from leftoff.session.sessions import KnownSession, UnreadableTranscript
    from leftoff.session.unsaved_work import UnsavedSession
    from leftoff.threads.check_claims import Checks
    from leftoff.threads.compare import KeyChange
    from leftoff.threads.persist import SaveOutcome

_LOOK_BACK = timedelta(days=7)
_MOST_TAKEN = 20


class Fields(TypedDict, total=False):
    """What you can pass to `save`; it finds out the rest from git and the session."""

    summary: str
    """The task, in one line."""
    next_action: str
    """The exact next action."""
    next_steps: list[str]
    """What follows the next action, in order."""
    left_off: str
    done: list[str]
    blockers: list[str]
    questions: list[str]
    decisions: list[str]
    """Decisions, each as `what :: why`."""
    failed: list[str]
    """Failed approaches, each as `what :: why`."""
    files: list[str]
    notes: list[str]
    plan: str
    """The path of the plan in use."""


class Resumption(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint, what has changed since it was saved, and the briefing to continue from."""

    checkpoint: Checkpoint
    checks: "Checks"
    briefing: str


class Workspace:
    """An open project; use it in a `with` statement, or close it yourself.

    It prints nothing. Problems that do not stop an operation are in `warnings`.
    """

    def __init__(
        self,
        context: Context,
        *,
        warn: Callable[[str], None] | None = None,
        refusal: NotAProject | None = None,
        watch: WatchReading | None = None,
    ) -> None:
        self.context = context
        self._watch = watch
        self._refusal = refusal
        self.warnings: list[str] = []
        self.unwritten: dict[str, str] = {}
        """Why a profile's native files could not be updated, by profile."""
        self._warn = warn or (lambda _: None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Update the native files and close the store."""
        # A cached property is in __dict__ only after its first use.
        if "_store_and_missing" not in self.__dict__:
            return
        try:
            self._review_memory()
            self.mirror()
            self.warn_once(self.unwritten.values())
        finally:
            self.store.close()

    def _review_memory(self) -> None:
        """Retract what only cleared checkpoints taught; the memory must not fail a command."""
        changed = self.store.shown_or_hidden
        # Most projects have no memory, and loading the code for it takes a while.
        if not changed or not any(path.exists() for path in self.store.log_paths("memory")):
            return
        try:
            knowledge.memory.review_lessons(self.store, changed)
        except (LeftoffError, OSError) as error:
            self.warn_once([f"Could not update the memory: {error}"])
        changed.clear()

    # --- project, settings, store ---

    @property
    def project(self) -> Project:
        """The project's folders."""
        if self.context.project is None:
            raise self._refusal or NotAProject("This workspace has no project.")
        return self.context.project

    @property
    def configuration(self) -> Loaded:
        """The settings and their sources; invalid ones are added to `warnings`."""
        loaded = self.context.configuration
        self.warn_once(loaded.problems)
        return loaded

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.configuration.settings

    @property
    def store(self) -> Store:
        """The project's store, including edits you made in mirrored files."""
        return self._store_and_missing[0]

    @property
    def missing_names(self) -> list[str]:
        """The names of checkpoints whose mirrored file was found removed just now."""
        return self._store_and_missing[1]

    def is_missing(self, name: str) -> bool:
        """Return whether somebody removed the mirrored file of this checkpoint, now or earlier."""
        if not self.settings.mirror:
            return False
        spellings = {clean_name(name), kebab(name)}
        if not spellings.isdisjoint(self.missing_names):
            return True
        entry = threads.find_by_name.find_spelling(self.store.index(), name)
        if entry is None:
            return self.mirrors.was_removed(self.store, spellings)
        if entry.state != "cleared":
            return False
        events = self.store.index().events_of(entry.id)
        cleared = [each for each in events if each.action == "cleared"]
        return bool(cleared) and cleared[-1].trigger == BY_REMOVAL

    @functools.cached_property
    def _store_and_missing(self) -> tuple[Store, list[str]]:
        # One property for both, because importing the edits also finds the removed files.
        store = Store(self.project, watch=self._watch)
        try:
            if not self.settings.mirror:
                return store, []
            edits = self.mirrors.import_edits(store)
            self.warn_once(edits.problems)
        except BaseException:
            # `close` does not know a store that was never returned.
            store.close()
            raise
        return store, edits.gone

    @functools.cached_property
    def mirrors(self) -> Mirrors:
        """The native files of the profiles that this project mirrors."""
        return open_mirrors(self.settings.mirror)

    # --- saving ---

    def draft(
        self,
        fields: Mapping[str, Any],
        *,
        session: "KnownSession | None" = None,
        with_plan: bool = True,
    ) -> Checkpoint:
        """Compose a checkpoint from your fields, the session, git and files; do not save it."""
        made = threads.compose.compose(
            fields, self.store, self.settings, session=session, with_plan=with_plan
        )
        return threads.compose.drop_unwanted(made, self.settings)

    def save(
        self,
        name: str | None = None,
        *,
        session: str | None = None,
        overwrite: bool = False,
        strict: bool = False,
        **fields: Unpack[Fields],
    ) -> "SaveOutcome":
        """Save where the work left off; when this returns, the checkpoint is on disk.

        Without a name, leftoff makes a short one from the work. A name in use raises
        `ChoiceNeeded` unless you pass `overwrite`. `session` is the id of the agent's session to
        save, or the path of its transcript.
        """
        _refuse_unknown(fields)
        found = agent_sessions.sessions.find(self.store, session) if session else None
        draft = self.draft(threads.compose.parse_fields(fields), session=found)
        return self.save_draft(
            draft, name or self.suggest_name(draft), overwrite=overwrite, strict=strict
        )

    def save_draft(
        self, draft: Checkpoint, name: str, *, overwrite: bool = False, strict: bool = False
    ) -> "SaveOutcome":
        """Save a checkpoint that `draft` composed, and the uncommitted code with it."""
        outcome = threads.persist.save(
            self.store,
            draft,
            name=name,
            overwrite=overwrite or self.settings.same_name == "revise",
            strict=strict or self.settings.strict,
            settings=self.settings,
        )
        self._keep_code(outcome.saved.checkpoint)
        return outcome

    def _keep_code(self, checkpoint: Checkpoint) -> None:
        """Take a snapshot of uncommitted code; the checkpoint is safe whether that works or not."""
        if not checkpoint.dirty or self.settings.snapshots == "off" or not self.project.is_git:
            return
        try:
            snapshots.take.take_with_checkpoint(self.project, checkpoint)
        except (LeftoffError, OSError) as error:
            self.warn_once([f"Could not take a snapshot of the uncommitted code: {error}"])

    def suggest_name(self, draft: Checkpoint) -> str:
        """Suggest a name of two to four words, or the name of the thread that the session is in."""
        thread = self.store.index().find_open_thread(draft.session_id)
        if thread is not None and thread.name is not None:
            return thread.name
        may_revise = self.settings.same_name == "revise"
        return threads.name_thread.name_thread(draft, self.store, may_revise=may_revise)

    # --- finding ---

    def list_checkpoints(
        self, *, limit: int = 20, with_ended: bool = False
    ) -> list[CheckpointEntry]:
        """List open checkpoints, newest first; `with_ended` includes done and cleared ones.

        The age of work counts from the last event of a session that is working on it.
        """
        index = self.store.index()
        states = [*LISTED, *TRASHED] if with_ended else [*LISTED]
        entries = index.heads(states, limit)
        entries = index.heads(states, limit) if index.recheck(entries) else entries
        return agent_sessions.running_work.date_by_activity(self.store, entries)

    def find(self, name: str) -> CheckpointEntry:
        """Find a checkpoint by id or by name, in kebab-case or as you typed it when saving.

        `autosave` is the newest checkpoint that leftoff saved on its own, unless you saved one
        under this name.
        """
        if name == "autosave":
            newest = threads.find_by_name.find_autosave(self.store.index())
            if newest is not None:
                return newest
        try:
            return self.store.find(name)
        except NoSuchCheckpoint:
            found = threads.find_by_name.find_by_name(self.store.index(), name)
            if found is None:
                raise
            return found

    def find_open(self, name: str) -> CheckpointEntry:
        """Find a checkpoint that is still open, by name or id."""
        entry = self.find(name)
        if entry.state in TRASHED:
            key = entry.name or entry.id
            state = "done" if entry.state == "consumed" else entry.state
            raise CheckpointEnded(
                f"{name} is already {state}",
                hint=f"Run `leftoff trash restore {key}` to bring it back.",
            )
        return entry

    def load(self, name: str) -> Checkpoint:
        """Load a checkpoint by name or id."""
        return self.store.load(self.find(name))

    def search(self, words: str, *, limit: int = 20, with_ended: bool = False) -> list[Hit]:
        """Search checkpoints, newest first; the last word matches as a prefix."""
        return self.find_hits(Query(words=words, limit=limit, with_trashed=with_ended))

    def find_hits(self, query: Query) -> list[Hit]:
        """Search with filters; what is found is as old as in every list."""
        return agent_sessions.running_work.date_hits(self.store, self.store.search(query))

    # --- resuming ---

    @overload
    def resume(
        self, name: str, *, budget: int | None = None, accept: bool = True
    ) -> Resumption: ...

    @overload
    def resume(
        self, name: str | None = None, *, budget: int | None = None, accept: bool = True
    ) -> Resumption | None: ...

    def resume(
        self, name: str | None = None, *, budget: int | None = None, accept: bool = True
    ) -> Resumption | None:
        """Resume a checkpoint: check its claims against the worktree and mark it as resumed.

        Without a name, resume the only open checkpoint. Several raise `ChoiceNeeded`; none
        returns None. With `accept=False` nothing is marked.
        """
        entry = self.find_open(name) if name else self.choose()
        if entry is None:
            return None
        checkpoint = self.load_resumed(entry, name)
        checks = self.check(checkpoint)
        text = self.render_briefing(checkpoint, checks, budget=budget or self.settings.budget)
        if accept:
            self.accept(entry)
        return Resumption(checkpoint=checkpoint, checks=checks, briefing=text)

    def load_resumed(self, entry: CheckpointEntry, name: str | None = None) -> Checkpoint:
        """Load what resuming an entry shows; `name` is what the user called it.

        With openclaw's profile, a name shows what somebody saved under it; autosaves since then
        are only listed beside it. The name `autosave`, or an id, shows the autosave itself.
        """
        is_meant = name is not None and (name == "autosave" or entry.id.startswith(name))
        if self.settings.profile == "openclaw" and entry.is_autosave and not is_meant:
            entry = self.store.index().find_purposeful(entry.slot) or entry
        return self.store.load(entry)

    def render_briefing(self, checkpoint: Checkpoint, checks: "Checks", *, budget: int) -> Rendered:
        """Render a checkpoint's briefing in the form of the profile in use."""
        if self.settings.profile != "openclaw":
            is_guardz = self.settings.profile == "guardz"
            more = threads.briefing.list_guardz_warnings(checks) if is_guardz else ()
            return threads.briefing.render(checkpoint, checks, budget=budget, more=more)
        shown = threads.recovery_briefing
        buffer = shown.quote_buffer(checkpoint, self.project, self.settings)
        newer = shown.find_newer(self.store, checkpoint)
        text = shown.render(checkpoint, checks, newer=newer, budget=budget)
        return join([text, buffer], "\n\n")

    def ask_to_resume(self, checkpoint: Checkpoint, checks: "Checks") -> Rendered:
        """Return the question whether to resume, in the form of the profile in use."""
        if self.settings.profile != "openclaw":
            return threads.briefing.question(checkpoint, checks)
        return threads.recovery_briefing.question(checkpoint, checks)

    def choose(self) -> CheckpointEntry | None:
        """Return the only checkpoint to resume, or the latest; several raise `ChoiceNeeded`."""
        return threads.check_claims.choose(self.store, None, offers=self.settings.offers)

    def check(self, checkpoint: Checkpoint) -> "Checks":
        """Compare a checkpoint's claims with the current worktree."""
        return threads.check_claims.check_stored(checkpoint, self.store)

    def find_taken(self, name: str | None) -> CheckpointEntry | None:
        """Find a checkpoint that this session has resumed and so closed.

        Accepting it again must work: an agent may repeat a command whose answer it lost.
        """
        try:
            named = [self.find(name)] if name is not None else []
        except NoSuchCheckpoint:
            return None
        found = named or self.store.index().heads(["consumed"], _MOST_TAKEN)
        closed = (each for each in found if each.state == "consumed")
        return next((each for each in closed if self._find_taking(each, "consumed")), None)

    def accept(self, entry: CheckpointEntry, *, once: bool = False) -> None:
        """Mark a checkpoint as resumed, or as done if `on_resume` is set to consume.

        `once` records nothing if this session has resumed it before.
        """
        action: Action = "consumed" if self.settings.on_resume == "consume" else "resumed"
        # A hook may have joined the thread while its claims were being checked.
        entry = self.store.index().get(entry.id) or entry
        taking = self._find_taking(entry, action) if entry.state == action else None
        # A hook may have seen the user's "continue" before the agent ran the command. Where files
        # show what waits for a session, only the command consumes it.
        by_prompt = taking is not None and taking.trigger == BY_PROMPT
        is_known = by_prompt and not self.mirrors.use_sentinels()
        if taking is None or not (is_known or (once and not by_prompt)):
            self.store.record(action, [entry.id], session=self.context.session)

    def _find_taking(self, entry: CheckpointEntry, action: Action) -> StoreEvent | None:
        """Return the event with which this session resumed a checkpoint, if it was the last to."""
        session = self.context.session
        events = [each for each in self.store.index().events_of(entry.id) if each.action == action]
        is_ours = session is not None and events and events[-1].session_id == session[1]
        return events[-1] if is_ours else None

    # --- ending, and taking back ---

    def finish(self, name: str) -> CheckpointEntry:
        """Mark a thread as done: it is no longer listed or offered, and `undo` reopens it."""
        entry = self.find_open(name)
        self.store.record("consumed", [entry.id])
        return entry

    def drop(self, *names: str) -> list[CheckpointEntry]:
        """Abandon threads without finishing them; `undo` reopens them."""
        found = [self.find_open(name) for name in names]
        # A name and an id may refer to the same checkpoint.
        entries = [*{entry.id: entry for entry in found}.values()]
        self.store.record("dropped", [entry.id for entry in entries])
        return entries

    def undo(self, act: str | None = None) -> StoreEvent | None:
        """Undo the newest act and return it; None if there is nothing to undo.

        With the id of an act, undo nothing unless that is still the newest one.
        """
        newest = self.store.index().find_undoable()
        if newest is None:
            return None
        if act is not None and newest.act_id != act:
            raise LeftoffError(
                "Something else happened since, so this was not undone.",
                hint="Run `leftoff log` to see what, and `leftoff undo` to undo it first.",
            )
        _refuse_files(newest)
        return self.store.undo()

    def redo(self) -> StoreEvent | None:
        """Bring back the act that was undone last and return it; None if there is none."""
        found = self.store.index().find_redoable()
        if found is None:
            return None
        _refuse_files(found[1])
        return self.store.redo()

    def list_revisions(self, name: str) -> list[CheckpointEntry]:
        """List all revisions of a thread, newest first."""
        return self.store.index().revisions(self.find(name).slot)

    def compare(self, old: str, new: str) -> "list[KeyChange]":
        """Return what changed from one checkpoint to another, key by key."""
        before, after = (to_plain(self.load(each)) for each in (old, new))
        return threads.compare.compare(before, after)

    # --- sessions ---

    def list_unsaved(
        self,
        *,
        since: datetime | None = None,
        unreadable: "list[UnreadableTranscript] | None" = None,
        watch: WatchReading | None = None,
    ) -> "list[KnownSession]":
        """List the sessions whose work is in no checkpoint, newest first, without small talk.

        `watch` shows how far the reading of their transcripts is.
        """
        after = since or self.store.now() - _LOOK_BACK
        return agent_sessions.sessions.list_unsaved(
            self.store, since=after, unreadable=unreadable, watch=watch
        )

    def find_unsaved(self) -> "list[UnsavedSession]":
        """Return the newest sessions that ended, or were killed, with work in no checkpoint.

        Everything that says what is open names them. A reader is loaded only for those that
        are new.
        """
        if not self.context.environment.list_other_agents(""):
            return []
        lives = agent_sessions.records.list_lives(self.project.state_folder, self.project)
        running = {life.session_id for life in lives if not life.has_crashed}
        return agent_sessions.unsaved_work.find_unsaved_work(self.store, besides=running)

    def find_running(self) -> "list[RunningSession]":
        """Return the running sessions whose work is in no open thread yet, newest first."""
        return agent_sessions.running_work.find_running_work(self.store)

    def find_working(self) -> "list[WorkingSession]":
        """Return the other sessions that work on open threads now, newest first."""
        return agent_sessions.running_work.find_working_sessions(self.store)

    def recover(self, *, since: datetime | None = None) -> list[SavedCheckpoint]:
        """Save each recent session that died without a checkpoint."""
        now = self.store.now()
        dead = [each for each in self.list_unsaved(since=since) if not each.may_be_alive(now)]
        return threads.recover.recover_sessions(self.store, dead)

    def save_ended_turns(self, *, since: datetime) -> list[SavedCheckpoint]:
        """Save each recent session that died, or whose agent waits for its user."""
        now = self.store.now()
        found = [each for each in self.list_unsaved(since=since) if not each.is_current]
        alive = [each for each in found if each.may_be_alive(now)]
        dead = [each for each in found if each not in alive]
        idle = [each for each in alive if each.facts.is_turn_over or each.facts.limit]
        saved = threads.recover.recover_sessions(self.store, dead)
        return [*saved, *threads.recover.recover_sessions(self.store, idle, trigger="idle")]

    # --- native files of other systems ---

    def mirror(self) -> dict[str, list[Path]]:
        """Update the mirrored files; return the written paths by profile."""
        if not self.settings.mirror:
            return {}
        exported = self.mirrors.export_changes(self.store, briefing=self.brief)
        self.unwritten = exported.unwritten
        # `close` or the caller reports these.
        failed = set(exported.unwritten.values())
        others = [problem for problem in exported.problems if problem not in failed]
        self.warn_once([*others, *exported.warnings])
        return exported.written

    def brief(self) -> str:
        """Return the page that briefs a new session on the project."""
        return threads.memory_briefing.page(self.store)

    def mark_work(self, what: str) -> contextlib.AbstractContextManager[None]:
        """Mark work in progress for as long as the block runs, in the files of mirrored systems."""
        if not self.settings.mirror:
            return contextlib.nullcontext()
        return self.mirrors.mark_work(self.project, what)

    def read_notes(
        self, *, since: datetime | None = None, task: str | None = None
    ) -> dict[str, Any]:
        """Read what mirrored files say about the current work, as checkpoint fields."""
        if not self.settings.mirror:
            return {}
        return self.mirrors.read_notes(self.store, since=since, task=task)

    def add_notes(self, fields: Mapping[str, Any], *, task: str | None) -> dict[str, Any]:
        """Add what mirrored files say about the work to the fields of a save."""
        named = self.name_intent(fields)
        noted = self.read_notes(task=task)
        given_artifacts = named.get("artifacts", {})
        if not isinstance(given_artifacts, dict):
            return {**noted, **named}  # validation refuses it later, with a message
        artifacts = {**noted.get("artifacts", {}), **given_artifacts}
        return {**noted, **named, **({"artifacts": artifacts} if artifacts else {})}

    def name_intent(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Use the first note as the intent if a mirrored system keeps all other notes."""
        notes = fields.get("notes")
        is_named = fields.get("summary") or fields.get("intent")
        if is_named or not notes or not isinstance(notes, list) or not self.mirrors.keep_notes():
            return {**fields}
        return {**fields, "intent": notes[0]}

    def mark_reported(self, problem: str) -> str:
        """Return a problem for the caller to report, and do not warn about it again."""
        self.warnings.append(problem)
        return problem

    def warn_of_ignored_checks(self) -> None:
        """Warn if the project sets checks for `ship` that you have not allowed."""
        self.warn_once(self.configuration.ignored_checks)

    def warn_once(self, problems: Iterable[str]) -> None:
        """Issue only new warnings: one command may check the same file several times."""
        for problem in problems:
            if problem not in self.warnings:
                self._warn(self.mark_reported(problem))


def _refuse_unknown(fields: Mapping[str, Any]) -> None:
    """Refuse keywords that are not fields; a checkpoint would keep a misspelled one unread."""
    unknown = [key for key in fields if key not in Fields.__annotations__]
    if unknown:
        raise UsageError(
            f"`save` has no field {unknown[0]!r}.",
            hint=f"Its fields are {', '.join(Fields.__annotations__)}.",
        )


def _refuse_files(act: StoreEvent) -> None:
    """Refuse an act that restored code: taking it back changes files of the worktree."""
    if act.snapshots:
        raise LeftoffError(
            "The last act restored files from a snapshot.",
            hint="Run `leftoff undo` or `leftoff redo` in the project's folder to change them.",
        )


def open_project(
    folder: str | Path = ".", *, variables: Mapping[str, str] | None = None
) -> Workspace:
    """Open the project that a folder belongs to.

    leftoff does not read your process's environment. Pass `variables=os.environ` if variables such
    as LEFTOFF_HOME, XDG_STATE_HOME or an agent's session id should count.
    """
    place = Path(folder)
    if not place.exists():
        raise NotAProject(
            f"The folder {place} does not exist.", hint="Pass the path of an existing folder."
        )
    environment = Environment(dict(variables or {}))
    return Workspace(Context(environment, find_project(environment, place)))
