"""The next action is inferred from the end of the session."""

from leftoff.agents.stream import ToolCall
from leftoff.session.facts.fold_state import TodoEntry
from leftoff.session.facts.next_action import infer_next_action
from leftoff.session.facts.report import Facts


def test_a_waiting_prompt_comes_first() -> None:
    known = Facts(pending_prompts=["also the docs"], next_words="Next I'll rest.")

    assert infer_next_action(known) == "Answer the prompt that was still waiting: also the docs"


def test_a_call_cut_short_is_to_be_checked_and_repeated() -> None:
    known = Facts(
        in_flight=[ToolCall(id="1", tool="Bash", what="make")], next_words="Now the build."
    )

    assert infer_next_action(known) == "Check, then repeat, the call cut short: Bash: make."


def test_a_question_left_open_is_put_to_the_user_again() -> None:
    known = Facts(in_flight=[ToolCall(id="1", tool="AskUserQuestion", what="Tabs?")])

    assert "Ask the user again" in infer_next_action(known)


def test_the_todo_in_work_is_continued() -> None:
    todos = [TodoEntry("a", "completed"), TodoEntry("b"), TodoEntry("c", "in_progress")]
    known = Facts(todos=todos, step=2, total=3)

    assert infer_next_action(known) == "Continue step 2 of 3: c."


def test_the_agent_s_last_words_follow() -> None:
    assert infer_next_action(Facts(next_words="Next I'll wire the CLI.")).endswith(
        "Next I'll wire the CLI."
    )


def test_after_an_answer_that_promises_nothing_the_user_is_asked() -> None:
    answered = Facts(intent="fix it", closing_words="All tests pass.", is_turn_over=True)

    assert infer_next_action(answered) == (
        "The last request seems answered: ask the user what comes next. "
        "The agent's last words: All tests pass."
    )


def test_in_the_middle_of_a_turn_the_last_words_are_all_there_is() -> None:
    working = Facts(intent="fix it", closing_words="It is in the parser.")

    assert infer_next_action(working) == "The agent's last words: It is in the parser."


def test_a_request_not_yet_begun_is_to_be_begun() -> None:
    assert infer_next_action(Facts(intent="fix it")) == "Begin with the request: fix it"


def test_nothing_known_is_nothing_said() -> None:
    assert infer_next_action(Facts()) == ""
