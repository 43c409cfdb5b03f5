"""Each agent's own events save a session for the same reasons, as far as it has such events."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gitrepo import Repo
from leftoff import context
from leftoff.agents.dialects import DIALECTS
from leftoff.hooks import settle, spool
from leftoff.session import records
from leftoff.store import Store
from recordings import SESSION_IDS, leave_session

_PAYLOADS = Path(__file__).parent / "recorded"
_LONG = "docker build -t app ."
# Only Claude Code says that a session is idle; with the others, the next prompt shows it.
_LATER = ("UserPromptSubmit", {"prompt": "where were we with the notes"})
_NOTICE = ("Notification", {"notification_type": "idle_prompt"})


def _list_events(agent: str) -> list[Any]:
    call = {"tool_input": {"command": _LONG}} | ({"tool_name": "Bash"} if agent == "claude" else {})
    command = {"command": _LONG} if agent == "cursor" else call
    rows = {
        "close": ("UserPromptSubmit", {"prompt": "Thanks, goodnight!"}),
        "idle": _NOTICE if agent == "claude" else _LATER,
        "long-command": ("PreToolUse", command),
        "precompact": ("PreCompact", {"trigger": "manual"}),
        "session-end": ("SessionEnd", {"reason": "other"}),
    }
    return [
        pytest.param(agent, trigger, row, id=f"{agent}-{trigger}") for trigger, row in rows.items()
    ]


@pytest.mark.parametrize(
    ("agent", "trigger", "fired"),
    [row for agent in DIALECTS for row in _list_events(agent)],
)
def test_the_agents_own_event_saves_the_session(
    repo: Repo, store: Store, agent: str, trigger: str, fired: tuple[str, dict[str, Any]]
) -> None:
    leave_session(agent, context.read_environment().find_agent_folder(agent), repo.folder)
    _fire(repo, agent, "UserPromptSubmit", {"prompt": "and the notes, please"})
    assert store.index().newest(9) == []
    if trigger == "idle":
        _set_back(store, agent)

    _fire(repo, agent, *fired)

    (saved,) = store.index().newest(9)
    assert (saved.trigger, saved.agent, saved.session_id) == (trigger, agent, SESSION_IDS[agent])
    # Named from the top of the project, also where the transcript does not say which one that is.
    files = store.load(saved).files_modified
    assert files
    assert not any(Path(each).is_absolute() for each in files)


def _fire(repo: Repo, agent: str, event: str, fields: dict[str, Any]) -> None:
    """Fire an event with the payload that the agent was recorded to send."""
    path = min((_PAYLOADS / agent).glob(f"{event}.*json"), key=lambda path: len(path.name))
    session, folder = SESSION_IDS[agent], str(repo.folder)
    known = json.loads(path.read_bytes())
    names = {"session_id": session, "conversation_id": session, "workspace_roots": [folder]}
    values = {**known, **{key: names[key] for key in names.keys() & known.keys()}, "cwd": folder}
    # The transcript is found by the session.
    data = json.dumps({**values, "transcript_path": None, **fields}).encode()
    spool.keep(context.state_folder(), agent, event, data)
    assert settle.run(context.state_folder())


def _set_back(store: Store, agent: str) -> None:
    """Let the session's last event be more than ten minutes ago."""
    record = records.load(store, agent, SESSION_IDS[agent])
    assert record.seen_at is not None
    earlier = msgspec.structs.replace(record, seen_at=record.seen_at - timedelta(seconds=601))
    store.keep_session(agent, SESSION_IDS[agent], msgspec.json.encode(earlier))
