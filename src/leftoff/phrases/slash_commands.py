"""Read slash commands as people type them: leftoff's own, and those of the five systems.

`/checkpoint` has other arguments in each system: a mode and a name, `--restore`, `--summary`, or a
note. All of them work everywhere; the profile decides what other words after it are.
"""

import re
import shlex

from leftoff.phrases.intents import Intent, Kind

# `[no-redispatch]` keeps a skill on the current model; a plugin's name comes before a colon. Agents
# that name a command after its file alone have `/leftoff-continue`.
_COMMAND = re.compile(
    r"\s*(?:\[no-redispatch(?::\d+)?\]\s*)?/(?:([\w-]+):|(leftoff)-)?([\w-]+)(?:\s+(.*))?",
    re.DOTALL,
)
_QUOTES = str.maketrans("“”„«»", '"' * 5)
_OWN = "leftoff"

_COMMANDS: dict[str, Kind] = {
    "checkpoint": "save",
    "continue": "resume",
    "dashboard": "dashboard",
    "start": "next",
}
"""Commands that also work without leftoff's name before them."""
_OWN_COMMANDS: dict[str, Kind] = {
    **_COMMANDS,
    "save": "save",
    "resume": "resume",
    "list": "list",
    "status": "status",
    "clear": "clear",
    "briefing": "briefing",
    "reflect": "reflect",
    "feature": "feature",
    "ship": "ship",
}
_MODES: dict[str, Kind] = {"save": "save", "list": "list", "resume": "resume", "delete": "delete"}
_FLAGS: dict[str, Kind] = {"--restore": "restore", "--defer": "defer"}
_VALUES = ("--summary", "--task", "--next", "--note")
# What words without an option are; elsewhere, one word is a name.
_WORDS_ARE = {"quoin": "--note", "sail": "--summary", "harness": "--note"}
_TAKES_NAME = frozenset({"save", "resume", "restore", "delete", "clear"})


def read_slash_command(text: str, *, profile: str = "default") -> Intent | None:
    """Return the command that a slash command means; None if it is not one that leftoff knows."""
    found = _COMMAND.fullmatch(text)
    if found is None:
        return None
    plugin, prefix, command, rest = found.groups()
    kind = (_OWN_COMMANDS if _OWN in {plugin, prefix} else _COMMANDS).get(command)
    words = _split(rest or "")
    if kind is None or words is None:
        return None
    return _read_checkpoint(words, profile) if command == "checkpoint" else _read(kind, words, "")


def _read_checkpoint(words: list[str], profile: str) -> Intent | None:
    first, *rest = words or [""]
    # Where words are a note, "list the open questions" is one.
    if first in _MODES and (profile not in _WORDS_ARE or len(rest) <= 1):
        return _read(_MODES[first], rest, "")
    if first in _FLAGS:
        return _read(_FLAGS[first], rest, "")
    # Only hooks run this mode of openclaw.
    if words == ["auto"] and profile not in _WORDS_ARE:
        return None
    return _read("save", words, _WORDS_ARE.get(profile, ""))


def _read(kind: Kind, words: list[str], loose: str) -> Intent | None:
    """Separate the name from the options; words that are neither become the option `loose`."""
    options, others = _take_options(words)
    if options is None:
        return None
    if not others or kind not in _TAKES_NAME:
        return Intent(kind=kind, options=options)
    if loose or (kind == "save" and len(others) > 1):
        return Intent(kind=kind, options=(*options, loose or "--note", " ".join(others)))
    if kind == "clear" and others == ["all"]:
        return Intent(kind=kind, is_for_all=True)
    return Intent(kind=kind, name=" ".join(others), options=options)


def _take_options(words: list[str]) -> tuple[tuple[str, ...] | None, list[str]]:
    """Return the options that a save knows and the other words; None for an unknown option."""
    options: list[str] = []
    others: list[str] = []
    left = iter(words)
    for word in left:
        key, equals, value = word.partition("=")
        if key in _VALUES:
            given = value if equals else next(left, None)
            # An option without its text asks for nothing; the questions follow.
            options += [key, given] if given else []
        elif word.startswith("--"):
            return None, []
        else:
            others.append(word)
    return tuple(options), others


def _split(text: str) -> list[str] | None:
    """Split the words as a shell does; an apostrophe in a sentence is not a quotation mark."""
    plain = text.translate(_QUOTES)
    try:
        return shlex.split(plain)
    except ValueError:
        return plain.split()
