"""Work keeps its task and its name across sessions of the real Claude Code."""

from e2e.claude import Bench
from e2e.exporter import ABOUT, FIRST_WORDS, LAST_WORDS, NEXT, TASK, begin, edit, only_work, send
from e2e.faces import (
    ID,
    holds,
    list_revisions,
    list_work,
    read_pages,
    resume,
    says_age,
    show_status,
    start,
)
from e2e.model import Model
from e2e.turns import Turn, bash, call, say, write
from e2e.user import User

AFTERWARDS = "and afterwards update the changelog"

# --- one task over many sessions ---


GO_AHEADS = ("continue", "Go on, please.", "yes", "weiter")


def test_the_task_stays_over_sessions_that_continue(bench: Bench, user: User) -> None:
    begin(user)
    for number, go_ahead in enumerate(GO_AHEADS):
        user.works(go_ahead, *edit(bench, f"Test {number} is there. {LAST_WORDS}"))

    reply = start(user, "hello")

    assert holds(reply.model, ABOUT)
    assert NEXT in reply.model
    work = only_work(user)
    assert NEXT in work.next
    revisions = list_revisions(user, work.key)
    assert len(revisions) >= 1 + len(GO_AHEADS)
    assert [each.task for each in revisions if not holds(each.task, ABOUT)] == []


def test_a_session_that_runs_the_offered_command_goes_on_with_the_work(
    bench: Bench, user: User
) -> None:
    begin(user)
    key = list_work(user)[0].key

    user.works("Where were we?", bash(f"leftoff resume {key} --accept"), *edit(bench))

    assert NEXT in only_work(user).next
    reply = start(user, "hello")
    assert holds(reply.model, ABOUT)
    assert NEXT in reply.model


def test_a_session_that_claude_code_resumes_or_forks_goes_on_with_the_work(
    bench: Bench, user: User
) -> None:
    session = begin(user).session_id

    user.works("Now write the tests", *edit(bench), options=("--resume", session))
    assert NEXT in only_work(user).next
    fork = ("--resume", session, "--fork-session")
    user.works("Now the footer", *edit(bench, "Next I will write footer.py."), options=fork)

    assert "footer.py" in only_work(user).next


def test_a_session_that_continues_and_is_killed_leaves_the_task_as_it_was(
    bench: Bench, user: User
) -> None:
    begin(user)
    user.crashes("continue", edit(bench)[0], say("slow", stall=True))

    reply = start(user, "hello")

    assert holds(reply.model, ABOUT)
    assert "test_export.py" in reply.model
    only_work(user)


def test_continue_after_clear_goes_on_with_the_work(bench: Bench, model: Model, user: User) -> None:
    model.will(write(bench.repo.folder / "export.py", "rows = 1\n"), say(FIRST_WORDS))
    tui = bench.tui("--allowedTools", "Write")
    send(tui, TASK, 1)
    model.will(*edit(bench))
    tui.send("/clear")
    tui.send("continue")
    request = model.wait_for("continue")
    tui.wait_for_turns(1)
    tui.send("/exit")
    tui.wait_for_end()

    assert holds(request.news, ABOUT)
    assert NEXT in only_work(user).next


def test_another_request_after_clear_opens_a_thread_of_its_own(
    bench: Bench, model: Model, user: User
) -> None:
    model.will(write(bench.repo.folder / "export.py", "rows = 1\n"), say(FIRST_WORDS))
    tui = bench.tui("--allowedTools", "Write")
    send(tui, TASK, 1)
    model.will(write(bench.repo.folder / "login.py", "1\n"), say("The form is there."))
    tui.send("/clear")
    tui.send("Build a login form for the admin page")
    model.wait_for("Build a login form")
    tui.wait("The form is there.")
    tui.wait_for_turns(1)
    tui.send("/exit")
    tui.wait_for_end()

    tasks = {row.task for row in list_work(user)}

    assert tasks == {TASK, "Build a login form for the admin page"}


def test_people_see_a_name_made_of_the_task_and_no_id(user: User) -> None:
    begin(user)

    work = only_work(user)

    words = work.name.split("-")
    assert 2 <= len(words) <= 4
    assert [word for word in words if not holds(TASK, word)] == []
    assert work.name in read_pages(user)
    assert ID.search(read_pages(user)) is None
    assert holds(resume(user, work.name).task, ABOUT)


def test_the_person_reads_one_line_with_name_age_and_next_action(bench: Bench, user: User) -> None:
    begin(user)
    user.works("continue", *edit(bench))
    user.lets_days_pass(2)
    name = list_work(user)[0].name
    assert name

    screen = bench.tui().wait("leftoff:")

    line = next(line for line in screen.splitlines() if "leftoff:" in line)
    assert name in line
    assert NEXT in line
    assert says_age(line, 2)
    assert "continue" in line
    assert ID.search(line) is None


def test_undo_says_what_it_undoes_and_that_automatic_saves_stay(bench: Bench, user: User) -> None:
    begin(user)
    assert user.ok("undo") == "Nothing to undo. Automatic saves are not undone.\n"
    user.works("continue", *edit(bench))
    name = only_work(user).name

    planned, result = user.ok("undo", "--dry-run"), user.leftoff("undo")

    done = result.out
    # The name finds the thread's newest revision, as it should.
    assert result.err == ""
    assert planned.startswith(f"Would undo resuming {name} (")
    assert done.startswith(f"Undid resuming {name}\n")
    assert f"\n1 newer automatic save stays: {name}\n" in planned
    assert f"\n1 newer automatic save stays: {name}\n" in done
    assert NEXT in only_work(user).next


# --- a review that Claude Code runs apart from the conversation ---


def test_a_review_that_ran_is_not_a_request_that_waits(user: User) -> None:
    session = begin(user).session_id

    user.works("/review", say("No issues found."), options=("--resume", session))

    assert "tests/test_export.py" in only_work(user).next
    assert "review" not in resume(user).briefing
    assert "No prompts are waiting." in user.ok("prompts", "list")


def test_a_review_that_was_still_running_is_not_a_request_that_waits(
    bench: Bench, model: Model, user: User
) -> None:
    stalled = say("slow", stall=True, kind="subagent")
    model.will(write(bench.repo.folder / "export.py", "rows = 1\n"), say(FIRST_WORDS), stalled)
    tui = bench.tui("--allowedTools", "Write")
    send(tui, TASK, 1)
    tui.send("/code-review")
    tui.wait("Running in the background")
    tui.kill()
    user.settled()

    reply = start(user, "hello")

    assert "review" not in reply.person
    assert "tests/test_export.py" in only_work(user).next


# --- small talk ---


def test_a_greeting_and_then_yes_continue_goes_on_with_the_work(
    bench: Bench, model: Model, user: User
) -> None:
    begin(user)
    tui = bench.tui("--allowedTools", "Write")
    model.will(say("Good morning. Shall I go on with the exporter?"))
    send(tui, "good morning", 1)
    model.will(*edit(bench))
    send(tui, "yes, continue", 2)
    tui.send("/exit")
    tui.wait_for_end()

    assert NEXT in only_work(user).next


SMALL_TALK: tuple[tuple[str, tuple[Turn, ...]], ...] = (
    ("What is 2+2?", (say("4"),)),
    ("thanks, that was great", (say("You are welcome."),)),
    (
        "How does this project start?",
        (
            bash("ls && git log --oneline"),
            call("Read", given={"file_path": "app.py"}),
            say("With app.py."),
        ),
    ),
)


def test_small_talk_after_real_work_changes_nothing(bench: Bench, user: User) -> None:
    begin(user)
    before = only_work(user)

    for prompt, turns in SMALL_TALK:
        user.works(prompt, *turns)
    assert only_work(user).next == before.next
    reply = start(user, "continue", *edit(bench))

    assert holds(reply.model, ABOUT)
    for prompt, _ in SMALL_TALK:
        assert prompt not in f"{reply.model} {reply.person}"
    after = only_work(user)
    assert after.key == before.key
    assert NEXT in after.next


def test_small_talk_first_and_continue_second_goes_on_with_the_work(
    bench: Bench, model: Model, user: User
) -> None:
    begin(user)
    model.will(say("4"), *edit(bench))
    tui = bench.tui("--allowedTools", "Write")
    send(tui, "What is 2+2?", 1)
    send(tui, "continue", 2)
    tui.send("/exit")
    tui.wait_for_end()
    user.settled()

    assert NEXT in only_work(user).next


def test_small_talk_alone_is_not_work_but_can_be_saved_on_request(user: User) -> None:
    session = user.works("What is 2+2?", say("4")).session_id

    assert list_work(user) == []
    assert show_status(user)[0] == 0
    assert start(user, "hello").model == ""
    assert session in user.ok("sessions")
    user.ok("save", "sums", "--from", session)
    assert [row.name for row in list_work(user)] == ["sums"]


# --- later requests ---


def test_a_later_request_is_added_to_the_task_and_does_not_replace_it(user: User) -> None:
    session = begin(user).session_id
    user.works(AFTERWARDS, say(f"I will. {LAST_WORDS}"), options=("--resume", session))

    reply = start(user, "hello")

    assert holds(reply.model, ABOUT)
    assert "changelog" in reply.model
    only_work(user)
    briefing = resume(user).briefing
    assert holds(briefing, ABOUT)
    assert "changelog" in briefing
    assert briefing.index("exporter") < briefing.index("changelog")
