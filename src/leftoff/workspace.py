"""The workspace: an open project, with all that a program or a command does in it."""

import contextlib
import functools
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

import msgspec

from leftoff import session as agent_sessions
from leftoff import threads
from leftoff.checkpoint import Checkpoint
from leftoff.config import Loaded, Settings
from leftoff.context import Context
from leftoff.environment import Environment
from leftoff.errors import LeftoffError, NoSuchCheckpoint, NotAProject
from leftoff.names import kebab
from leftoff.profiles.mirror import Mirrors, open_mirrors
from leftoff.projects.project import Project, find_project
from leftoff.store import (
    LISTED,
    TRASHED,
    Action,
    CheckpointEntry,
    Hit,
    Query,
    SavedCheckpoint,
    Store,
)

if TYPE_CHECKING:
    from leftoff.session.sessions import KnownSession, UnreadableTranscript
    from leftoff.threads.check_claims import Checks
    from leftoff.threads.persist import Outcome

_LOOK_BACK = timedelta(days=7)


class Fields(TypedDict, total=False):
    """What you can say about the work; everything else is found out."""

    summary: str
    """The task, in one line."""
    next_action: str
    """What to do next, exactly."""
    left_off: str
    done: list[str]
    blockers: list[str]
    questions: list[str]
    decisions: list[str]
    """Each as `what :: why`."""
    failed: list[str]
    """What did not work, each as `what :: why`."""
    files: list[str]
    notes: list[str]
    plan: str
    """The path of the plan in use."""


class Resumption(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint, what has changed since it was saved, and the text to go on from."""

    checkpoint: Checkpoint
    checks: "Checks"
    briefing: str


class Workspace:
    """An open project; use it in a `with` statement, or close it.

    It prints nothing. What you should know but need not act on is in `warnings`.
    """

    def __init__(
        self,
        context: Context,
        *,
        warn: Callable[[str], None] | None = None,
        refusal: NotAProject | None = None,
    ) -> None:
        self.context = context
        self._refusal = refusal or NotAProject("This workspace has no project.")
        self.warnings: list[str] = []
        self.unwritten: dict[str, str] = {}
        """Why the native files of a profile could not be brought up to date."""
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
        """Write what native files do not show yet, and close the store."""
        if "_store_and_missing" not in self.__dict__:
            return
        try:
            self.mirror()
            self.warn_once(self.unwritten.values())
        finally:
            self.store.close()

    # --- what it consists of ---

    @property
    def project(self) -> Project:
        """The project's folders."""
        if self.context.project is None:
            raise self._refusal
        return self.context.project

    @property
    def configuration(self) -> Loaded:
        """The settings and their sources; what is wrong with one of them becomes a warning."""
        loaded = self.context.configuration
        self.warn_once(loaded.problems)
        return loaded

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.configuration.settings

    @property
    def store(self) -> Store:
        """The project's store, with all that was changed by hand in mirrored files."""
        return self._store_and_missing[0]

    @property
    def missing_names(self) -> list[str]:
        """The names whose mirrored file somebody removed."""
        return self._store_and_missing[1]

    @functools.cached_property
    def _store_and_missing(self) -> tuple[Store, list[str]]:
        store = Store(self.project)
        edits = self.mirrors.import_edits(store)
        self.warn_once(edits.problems)
        return store, edits.gone

    @functools.cached_property
    def mirrors(self) -> Mirrors:
        """The native files of the profiles that this project mirrors."""
        return open_mirrors(self.settings.mirror)

    # --- saving ---

    def draft(
        self,
        told: Mapping[str, Any],
        *,
        session: "KnownSession | None" = None,
        with_plan: bool = True,
    ) -> Checkpoint:
        """Compose a checkpoint that is not saved yet: what you say, what git and files show."""
        made = threads.compose.compose(
            told, self.store, self.settings, session=session, with_plan=with_plan
        )
        return threads.apply_settings.drop_unwanted(made, self.settings)

    def save(
        self,
        name: str | None = None,
        *,
        session: str | None = None,
        overwrite: bool = False,
        strict: bool = False,
        **told: Unpack[Fields],
    ) -> "Outcome":
        """Save where the work left off; when this returns, it is on disk.

        Without a name, a short one is made from the work. A name in use raises `ChoiceNeeded`
        unless you pass `overwrite`. `session` is the id of an agent's session to save, or the
        path of its transcript.
        """
        found = agent_sessions.sessions.find(self.store, session) if session else None
        draft = self.draft(threads.parse_input.parse_fields(told), session=found)
        return self.save_draft(
            draft, name or self.suggest_name(draft), overwrite=overwrite, strict=strict
        )

    def save_draft(
        self, draft: Checkpoint, name: str, *, overwrite: bool = False, strict: bool = False
    ) -> "Outcome":
        """Save a checkpoint that `draft` composed."""
        return threads.persist.save(
            self.store,
            draft,
            name=name,
            overwrite=overwrite or self.settings.same_name == "revise",
            strict=strict or self.settings.strict,
        )

    def suggest_name(self, draft: Checkpoint) -> str:
        """Suggest a name of two to four words for a checkpoint."""
        may_revise = self.settings.same_name == "revise"
        return threads.apply_settings.name_for(draft, self.store, may_revise=may_revise)

    # --- finding ---

    def list_checkpoints(
        self, *, limit: int = 20, with_ended: bool = False
    ) -> list[CheckpointEntry]:
        """List open checkpoints, newest first; on request those that ended, too."""
        index = self.store.index()
        states = [*LISTED, *TRASHED] if with_ended else [*LISTED]
        entries = index.heads(states, limit)
        return index.heads(states, limit) if index.recheck(entries) else entries

    def find(self, name: str) -> CheckpointEntry:
        """Find a checkpoint by name or id; a name may be typed as it was when it was saved."""
        try:
            return self.store.find(name)
        except NoSuchCheckpoint:
            stored = kebab(name)
            found = self.store.index().head(stored) if stored and stored != name else None
            if found is None:
                raise
            return found

    def find_open(self, name: str) -> CheckpointEntry:
        """Find a checkpoint that was not cleared, done or undone."""
        entry = self.find(name)
        if entry.state in TRASHED:
            key = entry.name or entry.id
            raise LeftoffError(
                f"{name} is already {entry.state}",
                hint=f"`leftoff trash restore {key}` brings it back.",
            )
        return entry

    def load(self, name: str) -> Checkpoint:
        """Load a checkpoint by name or id."""
        return self.store.load(self.find(name))

    def search(self, words: str, *, limit: int = 20, with_ended: bool = False) -> list[Hit]:
        """Search checkpoints, newest first; the last word matches as a prefix."""
        return self.store.search(Query(words=words, limit=limit, with_trashed=with_ended))

    # --- resuming ---

    def resume(
        self, name: str | None = None, *, budget: int | None = None, accept: bool = True
    ) -> Resumption | None:
        """Resume a checkpoint: check what it claims, and note that the work goes on.

        Without a name the only open one is taken; several raise `ChoiceNeeded`, and without any
        the answer is None. With `accept=False` you only look: nothing is noted.
        """
        entry = self.find_open(name) if name else threads.check_claims.choose(self.store, None)
        if entry is None:
            return None
        checkpoint = self.store.load(entry)
        checks = self.check(checkpoint)
        text = threads.briefing.render(checkpoint, checks, budget=budget or self.settings.budget)
        if accept:
            self.accept(entry)
        return Resumption(checkpoint=checkpoint, checks=checks, briefing=text)

    def check(self, checkpoint: Checkpoint) -> "Checks":
        """Compare what a checkpoint claims with the worktree as it is now."""
        return threads.check_claims.check(checkpoint, self.project, self.store.now())

    def accept(self, entry: CheckpointEntry) -> None:
        """Note that a checkpoint was resumed; the settings say whether it is still listed."""
        action: Action = "consumed" if self.settings.on_resume == "consume" else "resumed"
        self.store.record(action, [entry.id], session=self.context.session)

    # --- sessions ---

    def list_unsaved(
        self,
        *,
        since: datetime | None = None,
        unreadable: "list[UnreadableTranscript] | None" = None,
    ) -> "list[KnownSession]":
        """List the sessions with work that no checkpoint holds, newest first."""
        after = since or self.store.now() - _LOOK_BACK
        return agent_sessions.sessions.list_unsaved(self.store, since=after, unreadable=unreadable)

    def recover(self, *, since: datetime | None = None) -> list[SavedCheckpoint]:
        """Save every session that died without a checkpoint in the last days."""
        now = self.store.now()
        dead = [each for each in self.list_unsaved(since=since) if not each.may_be_alive(now)]
        return [agent_sessions.sessions.recover(self.store, each) for each in dead]

    # --- native files of other systems ---

    def mirror(self) -> dict[str, list[Path]]:
        """Bring mirrored files up to date; return what was written, by profile."""
        if not self.settings.mirror:
            return {}
        exported = self.mirrors.export_changes(self.store, briefing=self.brief)
        self.unwritten = exported.unwritten
        failed = set(exported.unwritten.values())
        others = [problem for problem in exported.problems if problem not in failed]
        self.warn_once([*others, *exported.warnings])
        return exported.written

    def brief(self) -> str:
        """Write the page that tells a new session what the project knows."""
        return threads.memory_briefing.page(self.store)

    def mark_work(self, what: str) -> contextlib.AbstractContextManager[None]:
        """Leave a mark while something is done, where a mirrored system looks for one."""
        return self.mirrors.mark_work(self.project, what)

    def read_notes(self, *, since: datetime | None = None) -> dict[str, Any]:
        """Read what mirrored files say about the work at hand, in canonical keys."""
        return self.mirrors.read_notes(self.store, since=since)

    def mark_reported(self, problem: str) -> str:
        """Return a problem that the caller reports, so that nobody else does."""
        self.warnings.append(problem)
        return problem

    def warn_once(self, problems: Iterable[str]) -> None:
        """Warn of what was not said yet: files are looked at more than once."""
        for problem in problems:
            if problem not in self.warnings:
                self._warn(self.mark_reported(problem))


def open_project(
    folder: str | Path = ".", *, variables: Mapping[str, str] | None = None
) -> Workspace:
    """Open the project that a folder belongs to.

    leftoff does not read your process's environment. Pass `variables=os.environ` if variables such
    as LEFTOFF_HOME, XDG_STATE_HOME or an agent's session id should count.
    """
    environment = Environment(dict(variables or {}))
    return Workspace(Context(environment, find_project(environment, Path(folder))))
