"""The `leftoff intent` command: show which command a sentence asks for; run nothing."""

import shlex

import click
import msgspec

from leftoff.cli.app import App, command
from leftoff.errors import NotAProject
from leftoff.names import clean_name, kebab
from leftoff.phrases.intents import Intent, adapt_to_profile, find_intent
from leftoff.phrases.slash_commands import read_slash_command
from leftoff.session import records
from leftoff.threads import check_claims


@command()
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
@click.option(
    "--at-start/--in-session",
    default=None,
    help="Treat it as the first message of a session.",
)
def intent(app: App, words: tuple[str, ...], *, at_start: bool | None) -> None:
    """Show which command a sentence asks for; run nothing."""
    if at_start is None:
        at_start = _is_at_start(app)
    found = _find_intent(app, " ".join(words), at_start=at_start)
    line = shlex.join(found.command) if found else None
    app.out.result(
        {
            "intent": found.kind if found else None,
            "name": found.name if found else None,
            "command": line,
        },
        line or "none",
    )


def _is_at_start(app: App) -> bool:
    """Return whether "continue" still means an offer, because nothing else was asked for since.

    Without hooks, a command that an agent runs counts as one after the first message.
    """
    session = app.environment.find_session()
    if session is None:
        return True
    try:
        lives = records.list_lives(app.environment.state_folder, app.project)
    except NotAProject:
        return False
    return any(
        each.offered and not each.has_passed
        for each in lives
        if (each.agent, each.session_id) == session
    )


def _find_intent(app: App, text: str, *, at_start: bool) -> Intent | None:
    profile = app.settings.profile
    names, can_resume = _list_names(app)
    known = {kebab(each): each for each in names}
    found = read_slash_command(text, profile=profile) or find_intent(
        text, names=known.keys(), can_resume=can_resume, at_start=at_start
    )
    if found is None:
        return None
    if found.name is not None:
        named = known.get(found.name) or _spell(app, text, found.name)
        found = msgspec.structs.replace(found, name=named)
    found = adapt_to_profile(found, profile)
    # guardz resumes without asking, but a question such as "where did we stop?" resumes nothing.
    if (
        profile == "guardz"
        and found.kind == "resume"
        and not text.rstrip().endswith(("?", "\uff1f"))
    ):
        return msgspec.structs.replace(found, options=(*found.options, "--accept"))
    return found


def _spell(app: App, text: str, name: str) -> str:
    """Return a new name as it was typed, if names keep their spelling here."""
    words = text.split()
    typed = (" ".join(words[n:]).strip(" .!?,;:\"'`") for n in range(len(words)))
    spelled = next((each for each in typed if kebab(each) == name), name)
    return clean_name(spelled) if app.settings.names == "plain" else name


def _list_names(app: App) -> tuple[list[str], bool]:
    try:
        return app.store.index().names_like(""), bool(check_claims.list_candidates(app.store))
    except NotAProject:
        return [], False
