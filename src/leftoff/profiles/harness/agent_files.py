"""Agents that work together: `agents/context.json`, until what they found is in memory."""

from leftoff.features import Choice, Orchestration, Result, Team
from leftoff.profiles.harness.documents import (
    Documents,
    Plain,
    object_of,
    objects_of,
    text_of,
    texts_of,
)

AGENTS = "agents/context.json"
_RESULT_KEYS = ("agent", "role", "feature", "status", "summary", "files", "errors", "timestamp")


def read(found: Plain) -> Orchestration:
    """Read what agents that work together have found."""
    shared = object_of(found.get("sharedState"))
    team = object_of(found.get("teamState"))
    return Orchestration(
        session=_session(found.get("currentSession")),
        results=[_result(each) for each in objects_of(found.get("agentResults"))],
        team=_team(team) if team else None,
        decisions=_choices(found.get("architecturalDecisions")),
        patterns=_patterns(shared.get("discoveredPatterns")),
    )


def _session(value: object) -> str | None:
    if isinstance(value, dict):
        return text_of(value.get("id")) or text_of(value.get("sessionId")) or "session"
    return text_of(value) or None


def _result(found: Plain) -> Result:
    return Result(
        agent=text_of(found.get("agent")) or text_of(found.get("name")) or "agent",
        status="failed" if found.get("status") == "failed" else "completed",
        role=text_of(found.get("role")),
        feature=text_of(found.get("feature")) or None,
        summary=text_of(found.get("summary")),
        files=texts_of(found.get("files")),
        errors=texts_of(found.get("errors")),
        root_cause=text_of(found.get("rootCause")),
        prevention=text_of(found.get("prevention")),
        timestamp=text_of(found.get("timestamp")) or None,
    )


def _team(found: Plain) -> Team:
    mates = [_result(each) for each in objects_of(found.get("teammates")) if _has_ended(each)]
    return Team(
        name=text_of(found.get("teamName")) or "team",
        feature=text_of(found.get("feature")) or None,
        mates=mates,
    )


def _has_ended(mate: Plain) -> bool:
    return text_of(mate.get("status")) in {"completed", "failed"}


def _choices(found: object) -> list[Choice]:
    plain = [each for each in found if each] if isinstance(found, list) else []
    told = [{"decision": each} if isinstance(each, str) else object_of(each) for each in plain]
    return [
        Choice(
            decision=text_of(each.get("decision")),
            rationale=text_of(each.get("rationale")),
            alternatives=texts_of(each.get("alternatives")),
            impact=text_of(each.get("impact")),
            feature=text_of(each.get("feature")) or None,
        )
        for each in told
        if text_of(each.get("decision"))
    ]


def _patterns(found: object) -> list[str]:
    if isinstance(found, dict):
        return [f"{key}: {value}" for key, value in found.items() if isinstance(value, str)]
    return texts_of(found)


def write(documents: Documents, known: Orchestration) -> None:
    """Show what agents that work together have found, until it is in memory."""
    if known == Orchestration() and documents.files.read(AGENTS) is None:
        return
    documents.change(AGENTS, lambda found: _write(known, found))


def _write(known: Orchestration, found: Plain) -> Plain:
    if found and read(found) == known:
        return found
    shared = {**object_of(found.get("sharedState")), "discoveredPatterns": known.patterns}
    return {
        "version": 3,
        **found,
        "currentSession": known.session,
        "agentResults": [_write_result(each) for each in known.results],
        "teamState": _write_team(known.team, object_of(found.get("teamState"))),
        "architecturalDecisions": [_write_choice(each) for each in known.decisions],
        "sharedState": shared,
    }


def _write_result(result: Result) -> Plain:
    return {key: getattr(result, key) for key in _RESULT_KEYS} | (
        {"rootCause": result.root_cause, "prevention": result.prevention}
        if result.root_cause or result.prevention
        else {}
    )


def _write_team(team: Team | None, found: Plain) -> Plain | None:
    if team is None:
        return None
    mates = [_write_result(each) for each in team.mates]
    return {**found, "teamName": team.name, "feature": team.feature, "teammates": mates}


def _write_choice(choice: Choice) -> Plain:
    keys = ("decision", "rationale", "alternatives", "impact", "feature")
    return {key: getattr(choice, key) for key in keys}
