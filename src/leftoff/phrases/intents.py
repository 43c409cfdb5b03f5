"""Recognize plain sentences that mean a leftoff command, as people type them to an agent.

Only a whole message counts. Accents, case, punctuation and politeness are ignored. A bare
`continue` means the current work, so it is a command only at the start of a session that has
something to resume.
"""

import functools
import re
from collections.abc import Collection
from typing import Literal, get_args

import msgspec

from leftoff.lazy_patterns import lazy
from leftoff.names import kebab, list_key_words
from leftoff.phrases.match import LONGEST, any_of, fold, read_languages, split_phrases, trim
from leftoff.phrases.short_answers import drop_greeting

Spoken = Literal[
    "save", "restore", "recall", "resume", "clear", "list", "prompts", "undo", "status", "ship"
]
"""What people say in plain words; each has phrases in every language."""
Kind = Spoken | Literal["delete", "dashboard", "next", "briefing", "reflect", "feature", "defer"]

_COMMANDS: dict[Kind, tuple[str, ...]] = {
    "save": ("leftoff", "save"),
    "restore": ("leftoff", "resume", "--pending"),
    "recall": ("leftoff", "resume"),
    "resume": ("leftoff", "resume"),
    "clear": ("leftoff", "clear"),
    "list": ("leftoff", "list"),
    "prompts": ("leftoff", "prompts", "list"),
    "undo": ("leftoff", "undo"),
    "status": ("leftoff", "status"),
    "ship": ("leftoff", "ship"),
    "delete": ("leftoff", "delete"),
    "dashboard": ("leftoff", "status", "--plan"),
    "next": ("leftoff", "status", "--next"),
    "briefing": ("leftoff", "briefing"),
    "reflect": ("leftoff", "reflect"),
    "feature": ("leftoff", "feature", "list"),
    "defer": ("leftoff", "defer"),
}
# Where a system uses other commands for what people say.
_HABITS: dict[str, dict[Kind, Kind]] = {
    "openclaw": {"recall": "list", "clear": "delete"},
    "quoin": {"resume": "restore", "recall": "restore"},
}
_MOST_WORDS = 6


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """The command that a sentence means."""

    kind: Kind
    name: str | None = None
    is_for_all: bool = False
    options: tuple[str, ...] = ()
    """What a slash command passes on, such as `--task` and its text."""

    @property
    def command(self) -> list[str]:
        """The command line as a list of words."""
        words = [*_COMMANDS[self.kind], *([self.name] if self.name else []), *self.options]
        return [*words, "--all"] if self.is_for_all else words


def find_intent(
    text: str, *, names: Collection[str] = (), can_resume: bool = False, at_start: bool = False
) -> Intent | None:
    """Return the command that a message means, if it says nothing else.

    `names` are the names of the checkpoints; `can_resume` says whether there is one to resume.
    """
    plain = _strip(text)
    # "Ok" and "yes please" are more than their politeness.
    if _is_bare(plain) or (len(text) <= LONGEST and _is_bare(trim(fold(text)))):
        return Intent(kind="resume") if at_start and can_resume else None
    if not plain:
        return None
    return next(filter(None, (_match(kind, plain, names) for kind in get_args(Spoken))), None)


def asks_where_it_stopped(text: str) -> bool:
    """Return whether a message asks what the work was, or where it stopped, and says no more."""
    plain = _strip(drop_greeting(text.strip()))
    return any(
        rule.fullmatch(plain) for rule in [*_compile_rules("stops"), *_compile_rules("recall")]
    )


def find_topic(text: str) -> str | None:
    """Return what a message says to continue with, as typed: `go on with the cart`."""
    return _find_topic(text, _compile_topics("topics"))


def find_finish(text: str) -> str | None:
    """Return what a message says to work on, which may be old or new: `finish the cart`."""
    return _find_topic(text, _compile_topics("finishes"))


def _find_topic(text: str, rules: list[re.Pattern[str]]) -> str | None:
    plain = trim(drop_greeting(text.replace("’", "'").strip()))
    if len(text) > LONGEST or "\n" in plain:
        return None
    found = next(filter(None, (rule.fullmatch(plain) for rule in rules)), None)
    return found["topic"] if found is not None and list_key_words(found["topic"]) else None


def list_beginnings(text: str) -> list[str]:
    """Return the parts of a message after which it may go on to something else, shortest first."""
    ends = [found.start() for found in _CLAUSE_END.finditer(text[:LONGEST])]
    return [text[:end] for end in ends[:_MOST_CLAUSES] if text[:end].strip()]


def begins_with_continue(text: str) -> bool:
    """Return whether a message begins with an order to continue, and says more after it."""
    beginnings = list_beginnings(drop_greeting(text.strip()))
    return any(_compile_continues().fullmatch(_strip(each)) is not None for each in beginnings)


_MOST_CLAUSES = 3
# Where a message that names some work may go on: "… the cart, but skip the tests".
_CLAUSE_END = lazy(
    r"\n|[,;:.!?](?=\s|$)|[，。；：！？、]|\s+[-–—]+\s"
    r"|\s+(?:and|but|by|then|und|aber|et|mais|puis|y|pero|luego)\s",
    re.IGNORECASE,
)


def begins_to_agree(text: str) -> bool:
    """Return whether a message begins with a word such as "yes", and says more after it."""
    return _compile_agreements().match(fold(drop_greeting(text.strip()))) is not None


@functools.cache
def _compile_agreements() -> re.Pattern[str]:
    return re.compile(rf"{_join_bare_words('agreements')}(?:[,.!;:]|\s|[，。！])+\S")


def adapt_to_profile(intent: Intent, profile: str) -> Intent:
    """Return what an intent means to the users of a profile."""
    kind = _HABITS.get(profile, {}).get(intent.kind)
    # Only `delete` always needs a name.
    fits = bool(intent.name) == (kind == "delete")
    return msgspec.structs.replace(intent, kind=kind) if kind and fits else intent


def passes_always(prompt: str) -> bool:
    """Return whether to let a prompt through however full the context is, such as `/compact`."""
    # A command that deletes checkpoints is not a way out of a full context.
    if _PURGE.match(prompt):
        return False
    if _WAYS_OUT.match(prompt):
        return True
    plain = _strip(prompt)
    return bool(plain) and _match("save", plain) is not None


def is_slash_command(prompt: str) -> bool:
    """Return whether a prompt is a command to the agent's program, such as `/model opus`."""
    return _SLASH_COMMAND.match(prompt) is not None


# A path has another slash: /etc/hosts.
_SLASH_COMMAND = lazy(r"\s*/[a-zA-Z][\w:.-]*(?:\s|$)")
_WAYS_OUT = lazy(r"\s*/(?:checkpoint|compact|clear|help|leftoff[:-]\S+)(?:\s|$)")
_PURGE = lazy(r"\s*/checkpoint\s+--(?!restore(?:\s|$))")


def _match(kind: Spoken, plain: str, names: Collection[str] = ()) -> Intent | None:
    for pattern in _compile_rules(kind):
        found = pattern.fullmatch(plain)
        if found is not None and (intent := _build_intent(kind, found, names)) is not None:
            return intent
    return None


def _build_intent(kind: Spoken, found: re.Match[str], names: Collection[str]) -> Intent | None:
    groups = found.groupdict()
    if "all" in groups:
        return Intent(kind=kind, is_for_all=True)
    given = groups.get("name") or groups.get("known")
    if given is None:
        return Intent(kind=kind)
    name = kebab(given)
    # That many words are a sentence, not a name.
    if not name or name.count("-") >= _MOST_WORDS:
        return None
    if groups.get("known") and name not in names and not _LOOKS_NAMED.fullmatch(given):
        # `continue with the tests` is about the tests, not about a checkpoint.
        return None
    return Intent(kind=kind, name=name)


_LOOKS_NAMED = lazy(r"[a-z0-9]+(?:-[a-z0-9]+)+")


def _strip(text: str) -> str:
    """Remove accents, case, surrounding punctuation and politeness from a message."""
    if len(text) > LONGEST:
        return ""
    plain = trim(fold(text))
    # Politeness comes in layers: "hey, could you please …, thanks".
    for _ in range(3):
        plain = trim(_compile_politeness().sub("", plain))
    return plain


@functools.cache
def _compile_politeness() -> re.Pattern[str]:
    around = []
    for language in read_languages():
        said, edge = language.intents, language.boundary
        before = any_of(split_phrases(said.polite_before, said.parts))
        after = any_of(split_phrases(said.polite_after, said.parts))
        around += [f"^{before}{edge}", f"{edge}{after}$"]
    return re.compile(any_of(around))


def _is_bare(plain: str) -> bool:
    """Return whether a message consists of words such as "continue" alone: "yes, go on"."""
    return _compile_bare().fullmatch(plain) is not None


@functools.cache
def _compile_bare() -> re.Pattern[str]:
    one = any_of([_join_bare_words("bare"), _join_bare_words("agreements")])
    # Politeness may be in the middle: "ok, please continue".
    return re.compile(rf"(?:please )?{one}(?:[\W_]+(?:please )?{one})*")


@functools.cache
def _compile_continues() -> re.Pattern[str]:
    """Compile a go-ahead with a word for "continue" in it: "yes" may begin any other request."""
    one, agreed = _join_bare_words("bare"), _join_bare_words("agreements")
    return re.compile(rf"(?:{agreed}[\W_]+)*(?:please )?{one}(?:[\W_]+{any_of([one, agreed])})*")


def _join_bare_words(key: Literal["bare", "agreements"]) -> str:
    tables = [language.intents for language in read_languages()]
    words = {each for table in tables for each in getattr(table, key)}
    return any_of(map(re.escape, sorted(words, key=len, reverse=True)))


# NAME matches any name; KNOWN only the name of a checkpoint, or what looks like one.
_NAMES = {
    "NAME": r"[\"'`]?(?P<name>\w[\w ./-]*?)[\"'`]?",
    "KNOWN": r"[\"'`]?(?P<known>\w[\w ./-]*?)[\"'`]?",
}


# Other tables whose phrases mean a command, too.
_ALSO: dict[str, tuple[str, ...]] = {"resume": ("stops",)}


@functools.cache
def _compile_rules(kind: Spoken | Literal["stops"]) -> list[re.Pattern[str]]:
    """Compile the phrases of a command; the first one that matches the whole message counts."""
    shared = _share_parts()
    tables = [language.intents for language in read_languages()]
    rules = [
        re.compile(phrase)
        for table in tables
        for key in (kind, *_ALSO.get(kind, ()))
        for phrase in split_phrases(getattr(table, key), table.parts | shared)
    ]
    # `continue la session` names nothing in French, so names are only matched at the end.
    return sorted(rules, key=lambda rule: "known" in rule.groupindex)


@functools.cache
def _compile_topics(key: Literal["topics", "finishes"]) -> list[re.Pattern[str]]:
    topic = {"TOPIC": "(?P<topic>.+?)"}
    return [
        re.compile(phrase, re.IGNORECASE)
        for table in (language.intents for language in read_languages())
        for phrase in split_phrases(getattr(table, key), table.parts | topic)
    ]


@functools.cache
def _share_parts() -> dict[str, str]:
    """Return the parts that all languages share, since people mix them: `clear alle checkpoints`.

    POINT and POINTS are the words for checkpoints; ALL are the words for every one of them.
    """
    tables = [language.intents.parts for language in read_languages()]
    point, points, every = (
        any_of(table[name] for table in tables if name in table)
        for name in ("POINT", "POINTS", "ALL")
    )
    return {"POINT": point, "POINTS": points, "ALL": f"(?P<all>{every})", **_NAMES}
