"""Read and write `agents/context.json`: the work of a team of agents, until memory has it.

Older versions have the same in `agent-context.json`, which stays in use if there is nothing newer.
"""

from leftoff.knowledge.features import AgentResult, Choice, Orchestration, Team
from leftoff.profiles.harness.documents import Documents
from leftoff.profiles.harness.spellings import (
    WORDS_LIST,
    item_of,
    list_items,
    list_words,
    spell_status,
    words_of,
)
from leftoff.profiles.json_codec import (
    SAID,
    Key,
    KeyTable,
    Kind,
    Plain,
    object_of,
    objects_of,
    text_of,
    without,
)

AGENTS = "agents/context.json"
OLD_AGENTS = "agent-context.json"
EXTRA = "harness"
"""The key under which a record keeps what only this layout knows."""
_WORDS = Kind(lambda value: words_of(value) or None)
_STATUS = spell_status(
    ("completed", "failed"),
    {
        **dict.fromkeys(("complete", "done", "success", "succeeded", "passed", "ok"), "completed"),
        **dict.fromkeys(("fail", "failure", "error", "errored", "aborted"), "failed"),
    },
)
_RESULT = KeyTable(
    Key("agent", "agent", SAID, ("name",)),
    Key("role", "role", _WORDS),
    Key("feature", "feature", SAID),
    Key("status", "status", _STATUS),
    Key("summary", "summary", _WORDS, ("result", "output")),
    Key("files", "files", WORDS_LIST, ("filesModified", "filesChanged")),
    Key("errors", "errors", WORDS_LIST, ("error",)),
    Key("timestamp", "timestamp", SAID, ("completedAt",)),
    Key("root_cause", "rootCause", _WORDS),
    Key("prevention", "prevention", _WORDS),
)
_CHOICE = KeyTable(
    Key("decision", "decision", SAID, ("what", "title")),
    Key("rationale", "rationale", _WORDS, ("why", "reason")),
    Key("alternatives", "alternatives", WORDS_LIST),
    Key("impact", "impact", _WORDS),
    Key("feature", "feature", SAID),
)


def read(found: Plain) -> Orchestration:
    """Read the findings of agents that work together."""
    team = object_of(found.get("teamState"))
    patterns = object_of(found.get("sharedState")).get("discoveredPatterns")
    return Orchestration(
        **_CONTEXT.read(found),
        team=_read_team(team) if team else None,
        patterns=_read_patterns(patterns),
    )


def find_rest(found: Plain) -> Plain:
    """Return what a file contains besides the findings: agents at work, and unknown members."""
    team = object_of(found.get("teamState"))
    unfinished = _list_unfinished(team)
    rest = without(found, "agentResults", "teamState", "architecturalDecisions", "lastUpdated")
    shared = without(object_of(found.get("sharedState")), "discoveredPatterns")
    parts: Plain = {
        "agentResults": _list_running(found),
        "teamState": {**team, "teammates": unfinished} if unfinished else {},
        "sharedState": shared,
    }
    if not isinstance(found.get("currentSession"), dict):
        rest = without(rest, "currentSession")
    known = {key: value for key, value in parts.items() if value}
    return {**without(rest, "sharedState"), **known}


def _list_running(found: Plain) -> list[object]:
    """Return the entries of agents that are still at work, as they are."""
    listed = list_items(found.get("agentResults"), "summary")
    return [each for each in listed if not _read_results([each])]


def _read_session(value: object) -> str | None:
    if isinstance(value, dict):
        return text_of(value.get("id")) or text_of(value.get("sessionId")) or "session"
    return text_of(value) or None


def _read_result(found: Plain) -> AgentResult | None:
    """Return a result; None for an agent that is still at work, whose entry stays as it is."""
    values = _RESULT.read(found)
    if "status" not in values and found.get("status") is not None:
        return None
    return AgentResult(
        **{"agent": "agent", "status": "completed", **values}, extra=_find_rest(_RESULT, found)
    )


def _list_members(record: AgentResult | Choice) -> Plain:
    """Return the members that only this layout knows."""
    return object_of(record.extra.get(EXTRA))


def _find_rest(table: KeyTable, found: Plain) -> Plain:
    """Return the members that a table does not know, under any spelling."""
    known = {name for key in table.keys for name in (key.find(found)[0], key.theirs)}
    rest = without(found, *known)
    return {EXTRA: rest} if rest else {}


def _read_results(value: object) -> list[AgentResult]:
    found = (item_of(each, "summary") for each in list_items(value, "summary"))
    return [result for each in found if each and (result := _read_result(each))]


def _write_result(result: AgentResult) -> Plain:
    written = {**_RESULT.write(result), **_list_members(result)}
    if result.root_cause or result.prevention:
        return written
    return without(written, "rootCause", "prevention")


def _read_team(found: Plain) -> Team:
    mates = [
        {"name": text_of(each.get("name")), **each} for each in objects_of(_list_teammates(found))
    ]
    ended = [result for each in mates if each.get("status") and (result := _read_result(each))]
    return Team(
        name=text_of(found.get("teamName")) or text_of(found.get("name")) or "team",
        feature=text_of(found.get("feature")) or None,
        mates=ended,
    )


def _list_teammates(found: Plain) -> list[object]:
    return list_items(found.get("teammates"), "name")


def _write_team(team: Team | None, found: Plain) -> Plain | None:
    if team is None:
        return None
    mates = [*(_write_result(each) for each in team.mates), *_list_unfinished(found)]
    return {**found, "teamName": team.name, "feature": team.feature, "teammates": mates}


def _list_unfinished(team: Plain) -> list[object]:
    """Return the members of a team that are still at work, as they are."""
    return [each for each in _list_teammates(team) if not _read_team({"teammates": [each]}).mates]


def _read_choices(found: object) -> list[Choice]:
    choices = [item_of(each, "decision") for each in list_items(found, "decision")]
    read = [(_CHOICE.read(each), _find_rest(_CHOICE, each)) for each in choices]
    return [Choice(**values, extra=rest) for values, rest in read if "decision" in values]


def _read_patterns(found: object) -> list[str]:
    if isinstance(found, dict):
        said = {key: list_words(value) for key, value in found.items()}
        return [f"{key}: {', '.join(texts)}" for key, texts in said.items() if texts]
    if isinstance(found, list):
        return [text for each in found if (text := _describe_pattern(each))]
    return list_words(found)


def _describe_pattern(found: object) -> str:
    """Return a pattern in one text: its name alone would not say what it is."""
    if isinstance(found, dict):
        name = words_of(found.get("name")) or words_of(found.get("title"))
        rest = words_of(found.get("description"))
        if name and rest:
            return f"{name}: {rest}"
    return words_of(found)


_CONTEXT = KeyTable(
    Key("session", "currentSession", Kind(_read_session)),
    Key(
        "results",
        "agentResults",
        Kind(_read_results, lambda results: [_write_result(each) for each in results]),
    ),
    Key(
        "decisions",
        "architecturalDecisions",
        Kind(
            _read_choices,
            lambda choices: [{**_CHOICE.write(each), **_list_members(each)} for each in choices],
        ),
    ),
)


def write(documents: Documents, known: Orchestration, now: str) -> None:
    """Write the findings of agents that work together, until they are in memory."""
    has_new = documents.files.read(AGENTS) is not None
    path = AGENTS if has_new or documents.files.read(OLD_AGENTS) is None else OLD_AGENTS
    if known == Orchestration() and documents.files.read(path) is None:
        return
    documents.change(path, lambda found: _write(known, found, now), key="agentResults")


def _write(known: Orchestration, found: Plain, now: str) -> Plain:
    if found and read(found) == known:
        return found
    written = _CONTEXT.write(known)
    running = _list_running(found)
    if known.team is None:
        # The team has ended; its unfinished agents appear nowhere else.
        running += _list_unfinished(object_of(found.get("teamState")))
    if _read_session(found.get("currentSession")) == known.session:
        written["currentSession"] = found.get("currentSession")
    shared = object_of(found.get("sharedState"))
    patterns: object = known.patterns
    if not known.patterns and isinstance(shared.get("discoveredPatterns"), dict):
        patterns = {}
    return {
        "version": 3,
        **found,
        **without(written, "architecturalDecisions"),
        "agentResults": [*written["agentResults"], *running],
        "teamState": _write_team(known.team, object_of(found.get("teamState"))),
        "architecturalDecisions": written["architecturalDecisions"],
        "sharedState": {**shared, "discoveredPatterns": patterns},
        "lastUpdated": now,
    }
