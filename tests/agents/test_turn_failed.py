"""The error that ended a turn is read from every agent's own session, as its program writes it."""

from typing import Any

from leftoff.agents.agent import Agent
from leftoff.agents.claude import claude_agent
from leftoff.agents.codex import codex_agent
from leftoff.agents.copilot import copilot_agent
from leftoff.agents.gemini import gemini_agent
from leftoff.agents.opencode.messages import Session, read_session
from leftoff.agents.stream import AssistantText, ToolCall, TurnEnded, TurnFailed, UserText
from leftoff.session.facts.fold import Fold
from recordings import feed, only
from rows import for_each

CODEX = (
    "You\u2019ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit "
    "https://chatgpt.com/settings/usage to purchase more credits or try again at 9:58 AM."
)
COPILOT = "Last error: 429 Sorry, you've hit a rate limit that restricts the number of requests."
LINES: list[tuple[Agent, dict[str, Any], str]] = [
    (
        codex_agent,
        {
            "timestamp": "2026-11-18T04:58:59.932Z",
            "type": "event_msg",
            "payload": {
                "type": "task_complete",
                "last_agent_message": None,
                "error": {"message": CODEX, "codex_error_info": "usage_limit_exceeded"},
            },
        },
        CODEX,
    ),
    (
        copilot_agent,
        {
            "type": "session.error",
            "data": {"errorType": "rate_limit", "message": COPILOT, "statusCode": 429},
            "id": "1bcadd0b",
            "timestamp": "2026-11-18T05:01:37.940Z",
        },
        COPILOT,
    ),
    (
        claude_agent,
        {
            "type": "assistant",
            "isApiErrorMessage": True,
            "message": {
                "model": "<synthetic>",
                "role": "assistant",
                "content": [{"type": "text", "text": "You've hit your limit \u00b7 resets 3pm"}],
            },
        },
        "You've hit your limit \u00b7 resets 3pm",
    ),
    (
        gemini_agent,
        {
            "id": "e1",
            "timestamp": "2026-11-18T05:01:37.940Z",
            "type": "error",
            "content": "You have exhausted your daily quota on this model.",
        },
        "You have exhausted your daily quota on this model.",
    ),
]


@for_each(("agent", "line", "error"), LINES)
def test_the_error_is_read(agent: Agent, line: dict[str, Any], error: str) -> None:
    assert [event.error for event in only(feed(agent, [line]), TurnFailed)] == [error]


def test_the_error_of_opencode_is_read() -> None:
    error = {"name": "APIError", "data": {"message": "Too Many Requests", "statusCode": 429}}
    message = {"info": {"role": "assistant", "error": error}, "parts": []}

    events = [*read_session(Session({"id": "ses_1"}, [message]), lambda _: None)]

    assert [event.error for event in only(events, TurnFailed)] == ["Too Many Requests"]


def test_the_end_of_a_turn_in_codex_is_read() -> None:
    line = {
        "type": "event_msg",
        "payload": {"type": "task_complete", "last_agent_message": "Done."},
    }

    assert len(only(feed(codex_agent, [line]), TurnEnded)) == 1


def test_an_answer_of_copilot_without_a_call_ends_the_turn() -> None:
    answers = [
        {"type": "assistant.message", "data": {"content": "Now.", "toolRequests": [{}]}},
        {"type": "assistant.message", "data": {"content": "Done.", "toolRequests": []}},
    ]

    found = only(feed(copilot_agent, answers), AssistantText)

    assert [each.ends_turn for each in found] == [False, True]


def test_the_end_of_a_turn_counts_only_after_the_last_call() -> None:
    asked, call = (
        UserText(text="Add a retry"),
        ToolCall(id="1", tool="Bash", kind="run", what="make"),
    )
    fold = Fold()

    fold.add([asked, AssistantText(text="Next I will run make."), call, TurnEnded()])
    assert not fold.state.ends_turn

    fold.add([AssistantText(text="It works."), TurnEnded()])
    assert fold.state.ends_turn


def test_work_after_a_limit_shows_that_it_is_over() -> None:
    fold = Fold()
    fold.add([TurnFailed(error=CODEX)])
    assert fold.state.limit == "a usage limit, which resets at 9:58 AM"

    fold.add([AssistantText(text="It goes on.")])

    assert fold.state.limit == ""
