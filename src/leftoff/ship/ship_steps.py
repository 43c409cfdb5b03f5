"""Run the steps of a ship. Running it again continues where the last run stopped.

There is no journal: the store knows what was saved and remembered, git what was committed and
pushed, and GitHub which pull request is open and up to which commit it was described.
"""

import contextlib
from collections.abc import Callable
from functools import partial

import msgspec

from leftoff import snapshots
from leftoff.checkpoint import Checkpoint, Commit, Decision
from leftoff.config import Settings
from leftoff.errors import LeftoffError
from leftoff.git import query
from leftoff.git.github import GitHub, Pull
from leftoff.git.repository import parse_repository_name
from leftoff.git.write import Remote, Repo
from leftoff.knowledge import features, memory
from leftoff.profiles import STATE_FOLDERS, TIDY_SUBJECT
from leftoff.redact import redact_value
from leftoff.ship import (
    branch_history,
    choose_files,
    compose_message,
    delivery,
    outcome,
    record_lessons,
    record_work,
)
from leftoff.ship.branch_history import BranchHistory
from leftoff.ship.choose_files import Judge
from leftoff.ship.outcome import (
    Check,
    Listener,
    Name,
    Options,
    ShipReport,
    ShipStep,
    describe_locations,
    remaining,
)
from leftoff.ship.shipped_work import Work, work_at_hand, work_of_subject
from leftoff.ship.user_checks import run_checks, suggest_checks
from leftoff.store import Store
from leftoff.text.plural import format_count


def ship(
    store: Store, settings: Settings, options: Options, listener: Listener | None = None
) -> ShipReport:
    """Save, remember, check, commit, push and open a pull request for the current changes."""
    run = _Run(store, settings, options, listener or Listener())
    run.remember()
    run.deliver()
    run.close_thread()
    return run.report()


class _Run:
    """One running ship, and what it knows so far."""

    def __init__(
        self, store: Store, settings: Settings, options: Options, listener: Listener
    ) -> None:
        self.store, self.settings, self.options, self.listener = store, settings, options, listener
        self.worktree = store.project.worktree
        self.repo = Repo(self.worktree, may_ask=options.may_ask)
        self.state = choose_files.read_worktree(self.worktree)
        self.head = self.state.head
        self.steps: list[ShipStep] = []
        self.kept: record_work.ShipCheckpoint | None = None
        self.history = BranchHistory()
        self.notices: list[str] = []
        self.has_ended = False
        self.work = Work()
        self.checks: list[Check] = []
        self.judge = Judge(self.repo, settings.not_secret)
        self.chosen = self.judge.choose(self.state)
        self.native: set[str] = set()
        # Those of them that this run changed.
        self.updated: set[str] = set()
        self.has_state_news = False
        self.decisions: list[Decision] = []
        self.made: Commit | None = None
        self.is_pushed = False
        self.remote: Remote | None = None
        self.pull: Pull | None = None

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The checkpoint, once it is on disk."""
        return self.kept.checkpoint if self.kept else None

    # Reporting

    def end(self, step: ShipStep) -> bool:
        """Record a step; return whether it succeeded."""
        self.steps.append(step)
        self.listener.ends(step)
        return step.state != "failed"

    def attempt(self, name: Name, act: Callable[[], ShipStep]) -> bool:
        """Take a step whose failure must not stop the others."""
        self.listener.begins(name)
        try:
            return self.end(act())
        except LeftoffError as error:
            return self.end(
                ShipStep(name=name, state="failed", text=error.message, hint=error.hint)
            )
        except OSError as error:
            return self.end(outcome.build_refused_step(name, error))

    # Remembering

    def remember(self) -> None:
        """Save and remember first, so that nothing is lost whatever follows."""
        self.attempt("save", self._save)
        self.work = work_at_hand(
            self.store, record_work.find_session_id(self.store), self.state.branch
        )
        self.history = self._read_history()
        if self.kept is not None:
            kept = self.kept
            self.attempt("memory", lambda: self._learn(kept))
        self.attempt("archive", lambda: record_work.archive(self.store))
        # Before native files are written: the commit must hold them as they will stay.
        self._end_thread()
        self.attempt("briefing", self._write_briefing)

    def _learn(self, kept: record_work.ShipCheckpoint) -> ShipStep:
        bar = self.settings.reflect_at if self.settings.reflect else None
        new = [each.path for each in self.state.changes if {*each.code} & {"?", "A"}]
        # Only claude-harness keeps a list of the project's files.
        is_harness = self.settings.follows("harness")
        paths = [each for each in new if each in self.chosen.rest] if is_harness else []
        lesson = record_lessons.learn(self.store, kept, bar=bar, paths=paths, has_layers=is_harness)
        self.decisions = lesson.decisions
        return lesson.step

    def _end_thread(self) -> None:
        """End the thread of work that is complete once it is delivered."""
        is_archived = any(step.name == "archive" and step.state == "done" for step in self.steps)
        # Another feature may have been archived.
        if self.kept is None or self.work.is_under_way:
            return
        if is_archived or (self._shows_work() and record_work.is_finished(self.kept)):
            with contextlib.suppress(LeftoffError, OSError):
                # Native files show open work only, and must show this save first.
                written = self._write_native()
                self.notices += [*written.problems, *written.warnings]
                self.has_ended = record_work.end_thread(self.store, self.kept)

    def _shows_work(self) -> bool:
        return bool(self.settings.mirror or self.settings.briefing_file)

    def close_thread(self) -> None:
        """End the thread if nothing is left to do, or reopen it if a step failed."""
        if self.kept is None:
            return
        is_failed = any(step.state == "failed" for step in self.steps)
        with contextlib.suppress(LeftoffError, OSError):
            if is_failed and self.has_ended:
                record_work.reopen_thread(self.store, self.kept)
                self.has_ended = False
            # Native files and the briefing show open work; the commit holds them as they were.
            elif not (is_failed or self._shows_work()) and self._is_finished(self.kept):
                self.has_ended = record_work.end_thread(self.store, self.kept)

    def _is_finished(self, kept: record_work.ShipCheckpoint) -> bool:
        return not self.work.is_under_way and record_work.is_finished(kept)

    def _save(self) -> ShipStep:
        last = record_work.find_last_save(self.store, self.state, self._find_unfinished_heads())
        seen = record_work.WorktreeView(state=self.state, has_news=bool(self.chosen.files))
        saved = record_work.save(self.store, self.settings, last, self.options.message, seen)
        self.kept = saved
        lines = [saved.notice] if saved.notice else []
        if self.chosen.files and self.settings.snapshots == "on":
            # Checks and hooks run next, and may change files.
            with contextlib.suppress(LeftoffError, OSError):
                snapshots.take.take_with_checkpoint(self.store.project, saved.checkpoint)
        if not saved.is_new:
            text = f"Already saved as {_name_save(saved.checkpoint)}"
            return ShipStep(name="save", state="skipped", text=text)
        text = f"Saved {_name_save(saved.checkpoint)}"
        return ShipStep(name="save", state="done", text=text, lines=lines)

    def _find_unfinished_heads(self) -> set[str | None]:
        """Return the commits at which an unfinished ship may have stopped: here, or just before."""
        head = self.state.head
        if head is None or self.chosen.files:
            return {head}
        made = delivery.without_tidying(self.repo, head)
        return {head, made, self.repo.parent(made)}

    def _write_briefing(self) -> ShipStep:
        written = self._write_native()
        if self.native and not self.chosen.files:
            # These files may be all that there is to commit, and the briefing names the commit.
            # A file that is left out stays uncommitted, so it does not count as a change.
            now = choose_files.read_worktree(self.worktree)
            self.has_state_news = bool(self.judge.choose(now).files)
            written = self._write_native() if self.has_state_news else written
        if not self.native:
            return ShipStep(
                name="briefing", state="skipped", text="No profile has native files here."
            )
        notices = [*dict.fromkeys([*self.notices, *written.problems, *written.warnings])]
        if not self.updated:
            text = "Native files are up to date."
            return ShipStep(name="briefing", state="skipped", text=text, lines=notices)
        text = f"Updated {format_count(len(self.updated), 'native file')}"
        return ShipStep(name="briefing", state="done", text=text, lines=notices)

    def _write_native(self) -> record_work.Mirrored:
        """Update native files and the briefing's file."""
        page = partial(record_work.page, self.store, self._find_new_subject())
        mirrored = record_work.sync_mirrors(self.store, self.settings.mirror, page)
        written = record_work.write(self.store, self.settings, page)
        self.native |= {*mirrored.files, *written.files}
        self.updated |= {*mirrored.files, *(written.files if written.is_changed else ())}
        return mirrored

    def _find_new_subject(self) -> str:
        """Return the subject of the commit that this run is about to make; empty if there is none.

        The briefing names it, and the commit holds the briefing.
        """
        if self.made is not None or not (self.chosen.files or self.has_state_news):
            return ""
        subject = self._message().partition("\n")[0]
        return "" if subject == TIDY_SUBJECT else subject

    def _read_history(self) -> BranchHistory:
        branch = self.state.branch
        if branch is None:
            return BranchHistory()
        shipped = self.kept.shipped_texts if self.kept else ()
        messages = branch_history.read_messages(self.repo, branch)
        return BranchHistory(messages=messages, shipped_texts=shipped)

    # Delivering

    def deliver(self) -> None:
        """Check, commit, push and open a pull request; a failed step ends the run."""
        problem = delivery.find_obstacle(self.state)
        if problem is not None:
            self.listener.begins("commit")
            self.end(problem)
            return
        self._check()
        if self._commit() and self._push() and self._publish_pull():
            self.attempt("tidy", self._tidy)

    def _check(self) -> None:
        if self.settings.verify:
            self.listener.begins("checks")
            self.checks = run_checks(self.settings.verify, self.worktree, self.listener)
            self.end(outcome.build_checks_step(self.checks))
        else:
            self.end(outcome.build_no_checks_step(suggest_checks(self.worktree)))

    def _commit(self) -> bool:
        self.listener.begins("stage")
        # The state read a moment ago still holds, unless our files or the checks changed the tree.
        known = None if self.native or self.checks else self.state
        try:
            self.chosen = choose_files.stage(self.repo, self.judge, known=known)
        except LeftoffError as error:
            return self.end(
                ShipStep(name="stage", state="failed", text=error.message, hint=error.hint)
            )
        self.end(outcome.build_stage_step(self.chosen))
        self.listener.begins("commit")
        if not self.chosen.files:
            return self.end(outcome.explain_nothing_to_commit(self.chosen))
        text = self._message()
        try:
            problem = delivery.commit(self.repo, text)
        except LeftoffError as error:
            problem = ShipStep(name="commit", state="failed", text=error.message, hint=error.hint)
        if problem is not None:
            return self.end(problem)
        self.head = query.find_head_sha(self.worktree) or ""
        self.made = Commit(sha=self.head, subject=text.partition("\n")[0])
        report = f"{self.head[:12]} {self.made.subject}"
        return self.end(ShipStep(name="commit", state="done", text=report))

    def _message(self) -> str:
        message = self.options.message
        files = [file for file in self.chosen.files if not self._is_native(file)]
        if not message and not files:
            return compose_message.write_state_message(self.work, self.checkpoint, self.history)
        return compose_message.commit_message(
            self.work, message, self.checkpoint, files, self.history
        )

    def _push(self) -> bool:
        self.listener.begins("push")
        branch, head = self.state.branch or "", self.head
        if not self.options.push:
            return self.end(
                ShipStep(name="push", state="skipped", text="Not pushed, as you asked.")
            )
        if head is None:
            return self.end(delivery.build_no_commit_step())
        self.remote = self.repo.push_remote(branch)
        if self.remote is None:
            return self.end(delivery.explain_no_remote(self.repo))
        # An earlier, interrupted run may have pushed this very commit.
        if self.made is None and self.repo.remote_head(self.remote.name, branch) == head:
            self.is_pushed = True
            return self.end(delivery.build_up_to_date_step(f"{self.remote.name}/{branch}"))
        self.is_pushed = self.end(delivery.push(self.repo, self.remote, branch))
        return self.is_pushed

    def _publish_pull(self) -> bool:
        self.listener.begins("pull request")
        branch, remote = self.state.branch or "", self.remote
        why_not = self._why_no_pull(branch, remote)
        if why_not or remote is None:
            return self.end(ShipStep(name="pull request", state="skipped", text=why_not))
        about = self._about()
        self.work = about.work
        wanted = delivery.Wanted(
            branch=branch,
            owner=delivery.find_owner(remote),
            head=delivery.head_of(self.repo, remote, branch),
            sha=about.sha,
            text=compose_message.pull_request(about),
            comment=compose_message.comment(about),
            # A fix has labels of its own, and is not what the issue's labels describe.
            issue=None if about.work.is_fix else about.work.issue,
        )
        step, self.pull = delivery.publish_pull(GitHub(self.worktree), wanted)
        return self.end(step)

    def _why_no_pull(self, branch: str, remote: Remote | None) -> str:
        if not self.options.pull_request:
            return "No pull request, as you asked."
        if remote is None:
            return "No pull request: nothing was pushed."
        if delivery.is_main(branch, self.repo.default_branch(remote.name)):
            return delivery.explain_main_branch(branch)
        return ""

    def _about(self) -> compose_message.About:
        """Describe the commit to publish; one that only records state does not count."""
        sha = delivery.without_tidying(self.repo, self.head or "")
        text = self.repo.message(sha)
        branch = self.state.branch or ""
        said = redact_value(branch_history.read_saves(self.store, branch))
        decisions = {each.what: each for each in (*said.decisions, *self.decisions)}
        history = msgspec.structs.replace(
            said,
            messages=branch_history.read_messages(self.repo, branch),
            decisions=[*decisions.values()],
        )
        work = self.work if self.work.scope else work_of_subject(self.store, text)
        return compose_message.About(
            sha=sha,
            text=text,
            work=work,
            branch=branch,
            saved=self.checkpoint,
            checks=self.checks,
            history=history,
        )

    # Finishing

    def _tidy(self) -> ShipStep:
        """Record the outcome, and commit the native files that this changes."""
        messages = self._note()
        written = self._write_native()
        messages += written.warnings
        problems = written.problems
        if self.native or choose_files.has_state(self.worktree):
            problems += self._commit_state(messages)
        if problems:
            return ShipStep(name="tidy", state="failed", text=problems[0], lines=problems[1:])
        if not messages:
            return ShipStep(name="tidy", state="skipped", text="Nothing left to record.")
        return ShipStep(name="tidy", state="done", text=messages[0], lines=messages[1:])

    def _commit_state(self, messages: list[str]) -> list[str]:
        """Commit native files that changed since the commit, so that the tree ends clean."""
        chosen = choose_files.stage(self.repo, self.judge, only=self._is_native)
        if not chosen.files:
            return []
        ended = self.repo.commit_only(chosen.files, TIDY_SUBJECT)
        if not ended.is_done:
            return [f"Could not commit the state: {_pick_reason(ended.trouble_lines)}"]
        self.head = query.find_head_sha(self.worktree)
        messages.append("Committed the state that changed meanwhile")
        if self.remote is None:
            return []
        pushed = delivery.push(self.repo, self.remote, self.state.branch or "")
        return [pushed.text] if pushed.state == "failed" else []

    def _note(self) -> list[str]:
        """Store the pull request's number, and reset a completed loop to idle."""
        item, pull = self.work.item, self.pull
        messages = []
        if item is not None and pull is not None and item.pr != pull.number:
            features.update(self.store, item.id, pr=pull.number, branch=self.state.branch)
            messages.append(f"Noted #{pull.number} in {item.id}")
        if self.head is not None:
            session = record_work.find_session_id(self.store)
            reset = features.reset_completed(self.store, self.head, session_id=session)
            messages += reset.messages if reset else []
        return messages

    def _is_native(self, path: str) -> bool:
        return path in self.native or path.startswith(STATE_FOLDERS)

    # The end

    def _last_look(self) -> tuple[Commit | None, list[str]]:
        """Return the last commit and the uncommitted files; ask git if they may have changed."""
        ours = self.checks or self.native or self.pull
        # Only this run can have changed the tree since, so git need not be asked.
        if self.made is not None and not ours and not self.repo.has_hooks():
            return self.made, []
        state = choose_files.read_worktree(self.worktree)
        out = {each.path for each in self.chosen.left_out}
        dirty = [path for path in state.dirty if path not in out]
        last = state.last_commit
        # Hooks may have changed the subject of our commit. Skip one that only records state.
        is_ours = self.made is None or (last is not None and last.sha == self.made.sha)
        return last if is_ours else self.made, dirty

    def report(self) -> ShipReport:
        """Collect the results of all steps."""
        last, dirty = self._last_look()
        return ShipReport(
            steps=self.steps,
            checkpoint=self.checkpoint.id if self.checkpoint else None,
            context=self.kept.context if self.kept else None,
            branch=self.state.branch,
            commit=last,
            is_new=self.made is not None,
            remote=self.remote.name if self.remote else None,
            repository=parse_repository_name(self.remote.url) if self.remote else None,
            pushed=self.is_pushed,
            pull=self.pull,
            checks=self.checks,
            left_out=self.chosen.left_out,
            remaining=remaining(
                dirty,
                record_work.drop_guess(self.checkpoint) if self.has_ended else self.checkpoint,
                self.checks,
                features.glance(self.store),
                rules=memory.count_waiting_rules(self.store),
            ),
            kept=describe_locations(self.store, self.checkpoint, self.native),
            preserved=outcome.list_preserved(self.worktree) if self.settings.mirror else {},
        )


def _pick_reason(lines: list[str]) -> str:
    return lines[0] if lines else "git gave no reason"


def _name_save(saved: Checkpoint) -> str:
    """Return what people call a checkpoint."""
    return f'"{saved.name}"' if saved.name else saved.id
