"""Read and write `agents/context.json`: agents that work together, until memory has the results."""

from leftoff.knowledge.features import AgentResult, Choice, Orchestration, Team
from leftoff.profiles.harness.documents import Documents
from leftoff.profiles.json_codec import (
    SAID,
    TEXTS,
    Key,
    KeyTable,
    Kind,
    Plain,
    choose,
    object_of,
    objects_of,
    text_of,
    texts_of,
    without,
)

AGENTS = "agents/context.json"
_ENDED = ("completed", "failed")
_RESULT = KeyTable(
    Key("agent", "agent", SAID, ("name",)),
    Key("role", "role"),
    Key("feature", "feature", SAID),
    Key("status", "status", choose(_ENDED)),
    Key("summary", "summary"),
    Key("files", "files", TEXTS),
    Key("errors", "errors", TEXTS),
    Key("timestamp", "timestamp", SAID),
    Key("root_cause", "rootCause"),
    Key("prevention", "prevention"),
)
_CHOICE = KeyTable(
    Key("decision", "decision", SAID),
    Key("rationale", "rationale"),
    Key("alternatives", "alternatives", TEXTS),
    Key("impact", "impact"),
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


def _read_session(value: object) -> str | None:
    if isinstance(value, dict):
        return text_of(value.get("id")) or text_of(value.get("sessionId")) or "session"
    return text_of(value) or None


def _read_result(found: Plain) -> AgentResult:
    return AgentResult(**{"agent": "agent", "status": "completed", **_RESULT.read(found)})


def _write_result(result: AgentResult) -> Plain:
    written = _RESULT.write(result)
    if result.root_cause or result.prevention:
        return written
    return without(written, "rootCause", "prevention")


def _read_team(found: Plain) -> Team:
    mates = [each for each in objects_of(found.get("teammates")) if each.get("status") in _ENDED]
    return Team(
        name=text_of(found.get("teamName")) or "team",
        feature=text_of(found.get("feature")) or None,
        mates=[_read_result(each) for each in mates],
    )


def _write_team(team: Team | None, found: Plain) -> Plain | None:
    if team is None:
        return None
    mates = [_write_result(each) for each in team.mates]
    return {**found, "teamName": team.name, "feature": team.feature, "teammates": mates}


def _read_choices(found: object) -> list[Choice]:
    plain = found if isinstance(found, list) else []
    choices = [{"decision": each} if isinstance(each, str) else object_of(each) for each in plain]
    values = [_CHOICE.read(each) for each in choices]
    return [Choice(**each) for each in values if "decision" in each]


def _read_patterns(found: object) -> list[str]:
    if isinstance(found, dict):
        return [f"{key}: {value}" for key, value in found.items() if isinstance(value, str)]
    return texts_of(found)


_CONTEXT = KeyTable(
    Key("session", "currentSession", Kind(_read_session)),
    Key(
        "results",
        "agentResults",
        Kind(
            lambda value: [_read_result(each) for each in objects_of(value)],
            lambda results: [_write_result(each) for each in results],
        ),
    ),
    Key(
        "decisions",
        "architecturalDecisions",
        Kind(_read_choices, lambda choices: [_CHOICE.write(each) for each in choices]),
    ),
)


def write(documents: Documents, known: Orchestration) -> None:
    """Write the findings of agents that work together, until they are in memory."""
    if known == Orchestration() and documents.files.read(AGENTS) is None:
        return
    documents.change(AGENTS, lambda found: _write(known, found))


def _write(known: Orchestration, found: Plain) -> Plain:
    if found and read(found) == known:
        return found
    written = _CONTEXT.write(known)
    return {
        "version": 3,
        **found,
        **without(written, "architecturalDecisions"),
        "teamState": _write_team(known.team, object_of(found.get("teamState"))),
        "architecturalDecisions": written["architecturalDecisions"],
        "sharedState": {
            **object_of(found.get("sharedState")),
            "discoveredPatterns": known.patterns,
        },
    }
