"""The `leftoff resume` command: show where the work left off and what changed since."""

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from leftoff import cli, hooks, knowledge
from leftoff.checkpoint import Checkpoint, to_plain
from leftoff.cli import ask_prompts, replay
from leftoff.cli.app import App, command, key_of, printable
from leftoff.cli.complete_words import checkpoint_argument, complete_open
from leftoff.cli.list import list_facts, show_unsaved, show_working
from leftoff.cli.option_types import Number
from leftoff.errors import CheckpointEnded, ChoiceNeeded, NoSuchCheckpoint, StoreRefused, UsageError
from leftoff.store import Action, CheckpointEntry
from leftoff.text import fence
from leftoff.text.fence import Rendered, block, join, quote_key, say
from leftoff.threads import briefing, check_claims
from leftoff.threads.compose_again import refresh

if TYPE_CHECKING:
    from leftoff.knowledge.features import Loop


# --- what `resume` and `resume --pending` show ---


class ViewOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How much to show, and whether to read artifacts (None: ask)."""

    budget: int
    reads: bool | None
    always_asks: bool = False
    """Whether to ask even if there are no artifacts."""
    is_prompt: bool = False
    """Whether a session of another agent begins with it, so that there is nothing to ask."""
    copies: bool = False
    """Whether to copy the briefing once it is accepted."""
    starts: bool = False
    """Whether to offer a person to start an agent with it."""


class ResumeBriefing(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint ready to show, with what changed since and the queued prompts."""

    checkpoint: Checkpoint
    checks: check_claims.Checks
    text: Rendered
    waiting: replay.WaitingPrompts | None
    """The queued prompts; None if there cannot be any."""
    artifacts: Rendered
    """The contents of the artifacts, if the user wants them."""
    question: Rendered
    """The question whether to resume it."""
    is_recovery: bool
    """Whether openclaw's sentence must be approved before anything happens."""
    asks: bool
    """Whether to ask if the artifacts should be read."""
    has_sentinels: bool
    """Whether quoin's files are kept here, whose users know its questions."""
    is_prompt: bool
    """Whether it is the first prompt of a session."""

    def plain(self, question: Rendered | None) -> dict[str, Any]:
        """Return the briefing and its question as JSON-ready values."""
        return {
            "checkpoint": to_plain(self.checkpoint),
            "briefing": self.text,
            "checks": msgspec.to_builtins(self.checks),
            "question": question,
            "prompts": replay.build_rows(self.waiting) if self.waiting else [],
        }

    def ask_user(self, question: Rendered | None) -> Rendered:
        """Return openclaw's sentence for an agent to ask; empty if there is nothing to ask."""
        if question is None or not self.is_recovery:
            return say("")
        return say("Ask the user: {question}", question=question)

    def questions(self) -> list[Rendered]:
        """Return the open questions as text, for output without a terminal."""
        prompts = replay.notice(self.waiting) if self.waiting else say("")
        reads = say("")
        if self.asks:
            reads = cli.artifacts_view.ask_agent(self.checks, has_sentinels=self.has_sentinels)
        return [reads, prompts]


def prepare_briefing(app: App, checkpoint: Checkpoint, view: ViewOptions) -> ResumeBriefing:
    """Check a checkpoint against the current worktree and render its briefing.

    Call it before accepting the checkpoint: a consumed one no longer lists its prompts.
    """
    checks = app.workspace.check(checkpoint)
    text = app.workspace.render_briefing(checkpoint, checks, budget=view.budget)
    asks = view.reads is None and (view.always_asks or bool(checks.artifacts))
    return ResumeBriefing(
        checkpoint=checkpoint,
        checks=checks,
        text=fence.make_prompt(text) if view.is_prompt else text,
        question=app.workspace.ask_to_resume(checkpoint, checks),
        is_recovery=app.settings.profile == "openclaw",
        waiting=_find_prompts(app, checkpoint),
        artifacts=_quote_artifacts(app, checks) if view.reads else say(""),
        asks=asks,
        has_sentinels=asks and app.workspace.mirrors.use_sentinels(),
        # openclaw's sentence asks, whatever is printed before.
        is_prompt=view.is_prompt and app.settings.profile != "openclaw",
    )


def ask_rest(app: App, shown: ResumeBriefing) -> ask_prompts.PromptAnswer:
    """Ask the open questions on a terminal; return what to do with the queued prompts."""
    if shown.asks and cli.artifacts_view.wants_artifacts(has_sentinels=shown.has_sentinels):
        artifacts = _quote_artifacts(app, shown.checks)
        app.out.exact(fence.open_text(artifacts) if app.out.is_for_person else artifacts)
    return ask_prompts.ask(app, shown.waiting) if shown.waiting else ask_prompts.NOTHING_ASKED


def _quote_artifacts(app: App, checks: check_claims.Checks) -> Rendered:
    also = app.workspace.mirrors.list_folders(app.project)
    return cli.artifacts_view.quote_artifacts(checks, app.project, also)


def _find_prompts(app: App, checkpoint: Checkpoint) -> replay.WaitingPrompts | None:
    """Return the queued prompts; only hooks queue any, in the log, a session or an autosave."""
    places = [*app.store.log_paths("prompts"), app.environment.state_folder / "live"]
    if not any(map(os.path.lexists, places)) and app.store.index().autosave() is None:
        return None
    return replay.find_waiting(app, session_id=checkpoint.session_id)


# --- the command ---


_SECTIONS = {
    "Hand the work over": ("agent", "headless", "prints", "copies", "reader", "budget"),
    "After a compaction or restart": ("pending", "skip"),
}


@command(sections=_SECTIONS)
@checkpoint_argument(complete_open, required=False)
@click.option("--accept", "answer", flag_value="accept", help="Resume it without asking.")
@click.option("--decline", "answer", flag_value="decline", help="Start fresh; stop offering it.")
@click.option(
    "--read-artifacts/--no-read-artifacts",
    "reads",
    default=None,
    help="Print the artifacts' contents, or skip the question.",
)
@click.option("--refresh", is_flag=True, help="First save it again with the files as they are now.")
@click.option("--pending", is_flag=True, help="Resume what was left for this session; do not ask.")
@click.option("--skip", is_flag=True, help="With --pending: skip what waits; resume the newest.")
@click.option("--budget", type=Number(100), help="Maximum tokens of the briefing.")
@click.option(
    "--for",
    "reader",
    type=click.Choice([*briefing.MOST_TOKENS]),
    metavar="AGENT",
    help="Fit the briefing to what this agent reads at once.",
)
@click.option(
    "--in",
    "agent",
    type=click.Choice([*briefing.MOST_TOKENS]),
    help="Start this agent to continue the work.",
)
@click.option("--copy", "copies", is_flag=True, help="Copy the briefing to the clipboard.")
@click.option("--headless", is_flag=True, help="With --in: run it without a user interface.")
@click.option("--print", "prints", is_flag=True, help="With --in: print the command line only.")
def resume(app: App, name: str | None, answer: str | None, **given: Any) -> int:
    """Show where the work left off and what changed since.

    On a terminal, leftoff asks whether to resume. Elsewhere pass --accept or --decline; without
    them the checkpoint is only shown.
    """
    _refuse_odd_mixes(answer, given)
    app.await_ends()
    if given["pending"]:
        return cli.pending_view.resume_pending(
            app, name, given["budget"], skip=given["skip"], reads=given["reads"]
        )
    if given["agent"]:
        return _hand_over(app, name, given)
    return _resume(app, name, answer, given)


def _hand_over(app: App, name: str | None, given: dict[str, Any]) -> int:
    cli.hand_over_command.save_sessions(app, is_quiet=given["prints"])
    chosen = _choose_entry(app, name, is_accepted=True, options=_list_hand_over_options(given))
    if chosen is None:
        _show_nothing(app)
        return 1
    return cli.hand_over_command.hand_over_to(
        app,
        chosen.entry,
        given["agent"],
        is_headless=given["headless"],
        is_printed=given["prints"],
    )


def _list_hand_over_options(given: dict[str, Any]) -> str:
    """Return the options of a hand-over, to repeat the command with a name."""
    named = (("--headless", given["headless"]), ("--print", given["prints"]))
    return " ".join([f"--in {given['agent']}", *(option for option, is_on in named if is_on)])


def _refuse_odd_mixes(answer: str | None, given: dict[str, Any]) -> None:
    if given["skip"] and not given["pending"]:
        raise UsageError("--skip needs --pending.")
    if (given["headless"] or given["prints"]) and not given["agent"]:
        raise UsageError("--headless and --print need --in AGENT.")
    if given["copies"] and answer == "decline":
        raise UsageError("--copy and --decline contradict each other.")
    others = ("refresh", "pending", "reader", "budget", "copies")
    if given["agent"] and (answer or any(given[each] for each in others)):
        raise UsageError(
            "--in cannot be combined with --accept, --decline, --refresh, --pending, --for, "
            "--copy or --budget."
        )
    if given["pending"] and (
        answer or any(given[each] for each in ("refresh", "reader", "copies"))
    ):
        raise UsageError(
            "--pending cannot be combined with --accept, --decline, --refresh, --copy or --for."
        )


def _resume(app: App, name: str | None, answer: str | None, given: dict[str, Any]) -> int:
    if _is_gone(app, name) and app.settings.profile == "guardz":
        app.out.result({"gone": name}, _GONE)
        return 0
    try:
        chosen = _choose_entry(app, name, is_accepted=answer == "accept")
    except (NoSuchCheckpoint, CheckpointEnded) as error:
        # There, any name without a file gets this message; the error has more to say.
        if app.settings.profile == "guardz" and not app.out.as_json:
            app.out.text(_GONE)
        if isinstance(error, NoSuchCheckpoint):
            # The user may mean work that has no name yet because it was never saved.
            show_unsaved(app, beside_json=True)
        raise
    if chosen is None:
        _show_nothing(app)
        return 0
    if answer == "decline":
        _decline(app, chosen.entry)
        return 0
    if name is not None and not app.out.as_json:
        # The briefing lacks what these sessions did.
        unsaved = [
            each for each in app.workspace.find_unsaved() if each.thread == chosen.entry.slot
        ]
        app.out.text(cli.unsaved_view.format_unsaved(app, unsaved) if unsaved else [])
    # Most of the time nothing runs, and loading what would find it takes a while.
    if os.path.lexists(app.environment.state_folder / "live"):
        show_working(app, chosen.entry.slot)
    # Enter in the picker, with the briefing beside it, is a yes.
    is_sure = answer == "accept" or chosen.is_picked
    is_accepted = _needs_no_question(app, is_accepted=is_sure)
    return _show_and_ask(app, chosen.entry, name, given, is_accepted=is_accepted, answer=answer)


def _show_and_ask(  # noqa: PLR0913 - the choice and the options, passed on once
    app: App,
    entry: CheckpointEntry,
    name: str | None,
    given: dict[str, Any],
    *,
    is_accepted: bool,
    answer: str | None,
) -> int:
    budget = given["budget"] or app.settings.budget
    checkpoint = app.workspace.load_resumed(entry, name)
    if name == "autosave" and not given["refresh"]:
        # What follows calls it what the user called it.
        entry = msgspec.structs.replace(entry, name=name)
    if given["refresh"]:
        checkpoint = refresh(app.store, checkpoint, app.settings).checkpoint
        entry = app.store.find(checkpoint.id)
    view = ViewOptions(
        budget=min(budget, briefing.MOST_TOKENS.get(given["reader"], budget)),
        reads=given["reads"],
        is_prompt=bool(given["reader"]) and not (app.out.is_interactive or app.out.is_for_agent),
        copies=given["copies"],
        starts=answer != "accept",
    )
    shown = prepare_briefing(app, checkpoint, view)
    return _offer(app, entry, shown, view, is_accepted=is_accepted)


# guardz prints this when the file of a checkpoint was deleted.
_GONE = "Checkpoint file missing (cleaned up stale entry)"


def _offer(
    app: App,
    entry: CheckpointEntry,
    shown: ResumeBriefing,
    view: ViewOptions,
    *,
    is_accepted: bool,
) -> int:
    is_asked = not is_accepted and app.settings.confirm != "never"
    question = shown.question if is_asked else None
    is_offered = view.starts and app.out.is_interactive and app.out.is_for_person
    if is_accepted and not is_offered:
        app.workspace.accept(entry, once=True)
    _print_briefing(app, shown, question, entry, is_accepted=is_accepted)
    if not app.out.is_interactive:
        _copy(app, shown, view)
        return 0
    if question:
        app.out.gap()
        if not _is_confirmed(shown, question):
            _decline(app, entry)
            return 0
    prompts = ask_rest(app, shown)
    if is_offered and not view.copies:
        return cli.start_agent.end_in_action(app, entry, prompts)
    prompts.apply()
    if question or is_offered:
        app.workspace.accept(entry, once=is_accepted)
    _copy(app, shown, view)
    return 0


def _copy(app: App, shown: ResumeBriefing, view: ViewOptions) -> None:
    if view.copies:
        cli.clipboard.copy_text(shown.text)
        if not app.out.as_json:
            app.out.text("Copied the briefing; paste it into your agent.")


def _print_briefing(
    app: App,
    shown: ResumeBriefing,
    question: Rendered | None,
    entry: CheckpointEntry,
    *,
    is_accepted: bool,
) -> None:
    """Print a briefing and, unless it was accepted, the commands that resume or decline it."""
    quoted = quote_key(entry.name, entry.id)
    key = None if is_accepted or shown.is_prompt else quoted
    opening = [hooks.hand_over.INTRODUCTION] if shown.is_prompt and not is_accepted else []
    broken_off = _list_loops(app)
    said = [
        _plan(shown.checks.plan),
        _count_artifacts(shown),
        shown.artifacts,
        _format_loops(broken_off),
    ]
    # A terminal asks them afterwards, one by one; elsewhere print them as the last lines.
    if not app.out.is_interactive:
        said += [*shown.questions(), shown.ask_user(question), _explain_commands(key, shown.checks)]
    text = join([join([*opening, shown.text]), *said], "\n\n")
    app.out.briefing(
        {
            **shown.plain(question),
            "interrupted": [to_plain(loop) for loop in broken_off],
            "choices": [] if is_accepted else _list_choices(quoted, shown.checks),
        },
        fence.make_prompt(text) if shown.is_prompt else text,
        list_facts(app, entry) if app.out.is_for_person else (),
    )


def _count_artifacts(shown: ResumeBriefing) -> Rendered:
    if not shown.checks.artifacts:
        return say("")
    questions = len(shown.checkpoint.questions)
    return cli.artifacts_view.count_artifacts(shown.checks, questions)


def _show_nothing(app: App) -> None:
    found = _list_loops(app)
    cli.nothing_to_resume.show_nothing(app, found, _format_loops(found))


def _is_gone(app: App, name: str | None) -> bool:
    """Return whether someone removed the mirrored file of this checkpoint."""
    return name is not None and app.workspace.is_missing(name)


def _needs_no_question(app: App, *, is_accepted: bool) -> bool:
    # Without a terminal a look changes nothing: an agent may only want to know what is there.
    if not app.out.is_interactive:
        return is_accepted
    # `always` asks on a terminal even with --accept.
    if app.settings.confirm == "always":
        return False
    return is_accepted or app.settings.confirm == "never"


def _list_choices(key: str, checks: check_claims.Checks) -> list[dict[str, str]]:
    """List the possible answers, each with the command that carries it out."""
    words = ("resume anyway", "start fresh") if checks.is_stale else ("yes", "no")
    commands = [f"leftoff resume {key} --accept", f"leftoff resume {key} --decline"]
    choices = zip(words, commands, strict=True)
    found = [{"choice": word, "command": command} for word, command in choices]
    if checks.is_stale:
        found.append({"choice": "refresh", "command": f"leftoff resume {key} --refresh"})
    return found


def _explain_commands(key: str | None, checks: check_claims.Checks) -> Rendered:
    """Say how to answer the question: off a terminal, nobody can type `yes`."""
    if key is None:
        return say("")
    accept, decline, *rest = [each["command"] for each in _list_choices(key, checks)]
    stale = say(" although some of it is stale" if checks.is_stale else "")
    refresh = say(" To update it first, run `{command}`.", command=rest[0]) if rest else say("")
    return say(
        "To resume it{stale}, run `{accept}`. To start fresh, run `{decline}`.{refresh}",
        stale=stale,
        accept=accept,
        decline=decline,
        refresh=refresh,
    )


_ANSWERS = {
    **dict.fromkeys(("yes", "y", "resume", "anyway", "resume anyway"), "yes"),
    **dict.fromkeys(("no", "n", "fresh", "start fresh"), "no"),
}


def _is_confirmed(shown: ResumeBriefing, question: Rendered) -> bool:
    if not shown.is_recovery:
        return cli.ask_questions.confirm(question, words=_ANSWERS)
    # openclaw's sentence ends with its own choices.
    while True:
        answer = str(click.prompt(printable(question), prompt_suffix=" ")).strip().lower()
        if answer in _ANSWERS:
            return _ANSWERS[answer] == "yes"
        click.echo("Please answer with one of the words in brackets.")


class ChosenThread(NamedTuple):
    """A thread, and whether the user picked it with its briefing in view."""

    entry: CheckpointEntry
    is_picked: bool = False


def _choose_entry(
    app: App, name: str | None, *, is_accepted: bool, options: str = "--accept"
) -> ChosenThread | None:
    """Find the named checkpoint or choose an open one; accepting twice is the same as once.

    `options` are those of the command that does the same with one of several.
    """
    taken = app.workspace.find_taken(name) if is_accepted and name is not None else None
    if name is not None:
        return ChosenThread(taken or app.workspace.find_open(name))
    try:
        found = app.workspace.choose()
    except ChoiceNeeded as choice:
        unsaved = show_unsaved(app, beside_json=not app.out.is_interactive)
        if app.out.can_draw:
            picked = cli.choose_thread.pick_to_resume(app, choice.question, unsaved=unsaved)
            return ChosenThread(picked, is_picked=True)
        if is_accepted:
            # The user accepted already, and need not do so again after choosing.
            choice.choices = [
                {**each, "command": f"{each['command']} {options}"} for each in choice.choices
            ]
            choice.hint = f"Name one: `leftoff resume NAME {options}`."
        # The nearest comes first.
        return ChosenThread(app.store.find(cli.ask_questions.choose(app, choice)))
    found = found or (app.workspace.find_taken(None) if is_accepted else None)
    if found is not None and not is_accepted:
        show_unsaved(app)
    return ChosenThread(found) if found else None


def _decline(app: App, entry: CheckpointEntry) -> None:
    is_trashed = app.settings.on_decline == "trash"
    action: Action = "cleared" if is_trashed else "declined"
    app.store.record(action, [entry.id], session=app.environment.find_session())
    kept = "moved to the trash" if is_trashed else "kept"
    app.out.result(
        {"declined": key_of(entry), "kept": not is_trashed},
        f"Starting fresh; {key_of(entry)} is {kept}.",
    )


def _plan(plan: check_claims.PlanCheck | None) -> Rendered:
    if plan is None:
        return say("")
    if plan.text is None:
        return say("Plan {path} is missing.", path=plan.path)
    return fence.enclose_text(join([say("Plan {path}:", path=plan.path), block(plan.text)]))


# --- interrupted work on features ---


def _list_loops(app: App) -> "list[Loop]":
    """List the interrupted work on this project's features, newest first."""
    store = app.store
    places = [store.project.store / "loops", *store.log_paths("features")]
    # Most projects have no features, so avoid importing the code for them.
    if not any(place.exists() for place in places):
        return []
    try:
        return knowledge.features.list_interrupted_loops(store)
    except StoreRefused as error:
        # An unreadable feature file must not prevent resuming a checkpoint.
        app.out.warn(error.message)
        return []


def _format_loops(found: "list[Loop]") -> Rendered:
    """Describe each interruption: what failed and how to continue."""
    if not found:
        return say("")
    return fence.enclose_text(
        join(map(knowledge.features.describe_ways_to_continue, found), "\n\n")
    )
