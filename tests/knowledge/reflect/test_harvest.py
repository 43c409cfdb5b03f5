from leftoff.agents.stream import AssistantText, SessionEvent, ToolCall, ToolResult, UserText
from leftoff.knowledge.reflect.harvest import Correction, Harvest, HarvestContext

NO = "No, use pnpm instead of npm."


def harvest(*events: SessionEvent) -> list[Correction]:
    gathered = Harvest(HarvestContext())
    gathered.add(events)
    return gathered.corrections


def test_a_correction_shows_what_it_answers() -> None:
    (found,) = harvest(
        UserText(text="add express"),
        AssistantText(text="## I install it with npm\nThen I go on."),
        UserText(text=NO, at="2026-11-15T12:00:00Z"),
    )

    assert found == Correction(
        text=NO,
        grade="high",
        why="after the agent said: I install it with npm",
        at="2026-11-15T12:00:00Z",
    )


def test_where_the_agent_said_nothing_the_last_call_is_shown() -> None:
    (found,) = harvest(
        ToolCall(id="1", tool="Bash", what="npm install express"),
        UserText(text=NO),
    )

    assert found.why == "after Bash: npm install express"


def test_a_refused_call_is_shown_with_the_reason() -> None:
    (found,) = harvest(
        ToolCall(id="1", tool="Bash", what="npm install"),
        ToolCall(id="2", tool="Edit", what="app.py"),
        ToolResult(id="1", ok=False, rejected=NO),
    )

    assert (found.text, found.why) == (NO, "refused Bash: npm install")


def test_a_refusal_without_a_reason_says_nothing() -> None:
    call = ToolCall(id="1", tool="Bash", what="npm install")

    assert harvest(call, ToolResult(id="1", ok=False, rejected="")) == []


def test_results_notices_and_sub_agents_are_not_searched() -> None:
    assert (
        harvest(
            ToolCall(id="1", tool="Read", what="rules.md"),
            ToolResult(id="1", ok=True, output=NO),
            UserText(text=f"Implement the following plan:\n{NO}"),
            UserText(text=NO, sidechain=True),
            AssistantText(text=NO),
        )
        == []
    )


def test_users_may_speak_of_users() -> None:
    said = "The user has the last word here. Never delete a file without asking."

    (found,) = harvest(AssistantText(text="Deleted."), UserText(text=said))

    assert found.text == "Never delete a file without asking."


def test_the_excerpt_is_bounded() -> None:
    (found,) = harvest(AssistantText(text="word " * 1000), UserText(text=NO))

    assert len(found.why) < 250
    assert found.why.endswith("…")


def test_what_is_passed_over_is_not_judged_again() -> None:
    events = [AssistantText(text="Done."), UserText(text=NO), UserText(text="Never use eval.")]
    again = Harvest(HarvestContext(), skip=1)
    again.add(events)

    assert [found.text for found in again.corrections] == ["Never use eval."]
    assert again.context.judged == 2


def test_calls_that_never_end_do_not_pile_up() -> None:
    gathered = Harvest(HarvestContext())
    gathered.add(ToolCall(id=str(number), tool="Bash") for number in range(500))

    assert len(gathered.context.calls) < 50
