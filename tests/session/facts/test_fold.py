"""The fold collects from events what a colleague would remember."""

import msgspec
import pytest

from leftoff.agents.stream import (
    AssistantText,
    Compaction,
    Place,
    PlanSeen,
    PromptQueued,
    PromptTaken,
    SessionEvent,
    SessionInfo,
    TodoChange,
    TodoItem,
    TodoList,
    ToolCall,
    ToolResult,
    Usage,
    UserText,
    prompt_key,
)
from leftoff.agents.tool_calls import tool_call
from leftoff.redact import redact
from leftoff.session.facts.fold import Fold
from leftoff.session.facts.fold_state import FoldState
from leftoff.session.facts.report import Facts, report

HERE = Place(cwd="/r", branch="main")


def facts(*events: SessionEvent) -> Facts:
    fold = Fold()
    fold.add([HERE, *events])
    return report(fold.export())


def edit(path: str, *, ok: bool = True, sidechain: bool = False) -> list[SessionEvent]:
    call = ToolCall(
        id=path, tool="Edit", kind="edit", what=path, paths=(path,), sidechain=sidechain
    )
    return [call, ToolResult(id=path, ok=ok, output="" if ok else "no match", sidechain=sidechain)]


def run(command: str, output: str = "", *, ok: bool = True) -> list[SessionEvent]:
    call = ToolCall(id=str(len(command)), tool="Bash", kind="run", what=command, command=command)
    return [call, ToolResult(id=call.id, ok=ok, output=output)]


def test_the_first_request_is_the_task_and_the_last_the_intent() -> None:
    known = facts(
        UserText(text="build the login page"),
        UserText(text="and a test for it"),
        UserText(text="now build the logout page"),
    )

    assert (known.task, known.intent) == ("build the login page", "now build the logout page")
    assert known.requests == ["and a test for it"]


@pytest.mark.parametrize(
    "asked", ["save this as login-page", "save my progress", "list checkpoints"]
)
def test_a_message_for_leftoff_is_not_the_last_request(asked: str) -> None:
    task = UserText(text="build the login page")

    assert facts(task, UserText(text=asked)).intent == "build the login page"
    assert facts(UserText(text=asked)).intent == asked
    assert facts(UserText(text="continue"), UserText(text=asked)).intent == "continue"
    assert facts(task, UserText(text=f"{asked} and then fix the test")).intent.endswith("the test")


def test_a_question_aside_is_kept_only_if_work_came_of_it() -> None:
    asked = [
        UserText(text="build the login page"),
        *edit("/r/a.py"),
        UserText(text="did you push that?"),
        AssistantText(text="No."),
    ]
    then = UserText(text="now write the docs")

    assert facts(*asked, then).requests == []
    assert facts(*asked, *run("git push"), then).requests == ["did you push that?"]


def test_a_question_is_kept_if_the_user_agreed_to_what_was_proposed_in_reply() -> None:
    known = facts(
        UserText(text="build the login page"),
        *edit("/r/a.py"),
        UserText(text="is there a cleaner way to store the session?"),
        AssistantText(text="A signed cookie needs no table. Want me to implement this?"),
        UserText(text="go ahead"),
    )

    assert known.requests == ["is there a cleaner way to store the session?"]
    # What is to be implemented is in the sentence before the question.
    assert known.answers_to.startswith("A signed cookie needs no table.")


def test_what_a_look_read_is_not_why_it_failed() -> None:
    read = "31  expect(result.errors).toHaveLength(0);\n67  throw new Error(message);"
    command = "nl -ba a.test.ts && rg 'reports global' a.test.ts"
    call = ToolCall(id="1", tool="Bash", kind="run", what=command, command=command)

    known = facts(call, ToolResult(id="1", ok=False, output=read, exit=1))

    assert [each.error for each in known.failures] == ["it completed with exit code 1"]
    assert [each.outcome for each in known.trail] == ["failed"]


def test_a_look_failed_for_what_its_programs_complain_about() -> None:
    said = "rg: a.toml: No such file or directory (os error 2)\nsrc/b.py:3: raise Error(x)"
    command = "rg -n Error a.toml src"
    call = ToolCall(id="1", tool="Bash", kind="run", what=command, command=command)

    known = facts(call, ToolResult(id="1", ok=False, output=said, exit=2))

    complaint = said.partition("\n")[0]
    assert [each.error for each in known.failures] == [complaint]
    assert [each.outcome for each in known.trail] == [f"failed: {complaint}"]


def test_a_look_of_powershell_is_one() -> None:
    said = "Get-Content : Cannot find path 'a.txt'.\nAt line:1 char:1\n+ Get-Content a.txt"
    command = "Get-Content a.txt | Select-Object -First 5"
    call = ToolCall(id="1", tool="PowerShell", kind="run", what=command, command=command)

    known = facts(call, ToolResult(id="1", ok=False, output=said, exit=1))

    assert [each.error for each in known.failures] == [said.partition("\n")[0]]
    # A file that is not there need not be repaired.
    assert known.failing is None


def test_a_rebase_that_went_on_has_not_failed() -> None:
    failed = run("git rebase main", "CONFLICT (content): Merge conflict in a.py", ok=False)

    assert facts(*failed).failures
    assert not facts(*failed, *run("git add . && git rebase --continue")).failures


def test_to_save_something_as_something_else_is_a_request() -> None:
    asked = "can you save this as acme checkpoint"

    assert facts(UserText(text="review the issues"), UserText(text=asked)).intent == asked


@pytest.mark.parametrize("asked", ["Please pick up where we left off.", "where were we?"])
def test_to_ask_for_the_last_work_is_not_a_task(asked: str) -> None:
    task = UserText(text="build the login page")

    known = facts(UserText(text=asked), AssistantText(text="On the form."))
    assert known.intent == asked
    known = facts(UserText(text=asked), AssistantText(text="On the form."), task)
    assert known.task == task.text


@pytest.mark.parametrize("asked", ["goodnight", "晚安", "thanks, see you tomorrow!"])
def test_a_goodbye_is_not_the_last_request(asked: str) -> None:
    task = UserText(text="build the login page")

    assert facts(task, UserText(text=asked)).intent == "build the login page"
    assert facts(task, UserText(text="say goodnight on the login page")).intent.startswith("say")
    # A thread that was handed over has its task; the session has none.
    assert facts(UserText(text="continue"), UserText(text=asked)).intent == "continue"


def test_the_answer_to_a_goodbye_is_not_the_agents_last_word() -> None:
    work = (UserText(text="build the login page"), AssistantText(text="The form is next."))
    parting = (UserText(text="goodnight"), AssistantText(text="Good night! Sleep well."))

    assert facts(*work, *parting).last_words == "The form is next."
    assert facts(*parting).last_words == "Good night! Sleep well."
    again = (UserText(text="one more thing: add a field"), AssistantText(text="Added."))
    assert facts(*work, *parting, *again).last_words == "Added."
    call = ToolCall(id="c", tool="Edit", kind="edit", what="a.py", paths=("a.py",))
    assert facts(*work, parting[0], call, AssistantText(text="Saved a.py.")).last_words == (
        "Saved a.py."
    )


@pytest.mark.parametrize(
    "asked",
    [
        *["/checkpoint", '/checkpoint --summary "Limits"', "/continue it"],
        *["/leftoff:continue it\n\nRun `leftoff guide`.", "/leftoff-checkpoint", "/leftoff:list"],
    ],
)
def test_a_command_of_leftoff_is_not_a_request(asked: str) -> None:
    task = UserText(text="build the login page")

    assert facts(task, UserText(text=asked)).intent == "build the login page"
    assert facts(UserText(text=asked), task).task == "build the login page"
    assert facts(task, UserText(text="/checkpoint-tests now")).intent == "/checkpoint-tests now"


@pytest.mark.parametrize("reply", ["continue", "yes", "let's go with option 1", "weiter", "merci"])
def test_a_go_ahead_is_neither_a_task_nor_a_request(reply: str) -> None:
    assert facts(UserText(text=reply), UserText(text="fix it")).task == "fix it"
    known = facts(UserText(text="fix it"), UserText(text=reply), UserText(text="then ship it"))
    assert (known.task, known.requests) == ("fix it", [])


def test_a_briefing_that_comes_back_is_not_a_request() -> None:
    briefing = "<leftoff-briefing>\nTask: port the form\n</leftoff-briefing>"

    # Alone, it asks to go on with its own task.
    alone = facts(UserText(text=briefing))
    assert (alone.task, alone.intent) == ("port the form", "continue")
    assert facts(UserText(text=f"{briefing}\nfix the form")).task == "fix the form"
    again = facts(UserText(text="fix the form"), UserText(text=briefing))
    assert (again.task, again.requests) == ("fix the form", [])


def test_the_thread_of_a_briefing_is_known() -> None:
    header = "Checkpoint: web-form. Left off 2026-11-18 02:07 (just now), on branch main."
    found = f"<leftoff-briefing>\n{header}\nTask: x\n</leftoff-briefing>"

    assert facts(UserText(text=f"{found}\nfix it")).continues == "web-form"
    assert facts(UserText(text="fix it"), UserText(text=found)).continues == ""


def test_rules_given_on_the_way_are_kept() -> None:
    known = facts(UserText(text="port it"), UserText(text="Go on. Stop after each slice."))

    assert known.constraints == ["Stop after each slice."]


@pytest.mark.parametrize(
    ("reply", "meant"),
    [("2", "2. Rewrite the parser"), ("yes", "Which one do you want?"), ("add a test", "Which")],
)
def test_a_short_reply_is_shown_with_what_it_answers(reply: str, meant: str) -> None:
    said = AssistantText(text="I can:\n1. Patch it\n2. Rewrite the parser\nWhich one do you want?")

    assert facts(UserText(text="fix it"), said, UserText(text=reply)).answers_to.startswith(meant)


def test_what_the_user_says_with_a_refusal_is_the_last_request() -> None:
    call = ToolCall(id="1", tool="Bash", kind="run", command="npm i x")
    refused = ToolResult(id="1", ok=False, rejected="use bun instead")

    assert facts(UserText(text="set it up"), call, refused).intent == "use bun instead"


def test_a_slash_command_does_not_wait_for_an_answer() -> None:
    known = facts(PromptQueued(text="/compact"), PromptQueued(text="and the docs"))

    assert known.pending_prompts == ["and the docs"]


def test_a_call_without_a_result_is_given_up_when_the_agent_goes_on() -> None:
    lost = ToolCall(id="lost", tool="Bash", kind="run", what="sleep 9", command="sleep 9")

    assert [call.id for call in facts(*edit("/r/a.py"), lost).in_flight] == ["lost"]
    assert facts(lost, *edit("/r/a.py"), *edit("/r/b.py")).in_flight == []
    assert facts(lost, AssistantText(text="It runs in the background.")).in_flight == []


def test_parallel_calls_are_in_flight_together() -> None:
    one, two, three = (ToolCall(id=name, tool="Read", kind="read") for name in "abc")

    known = facts(one, two, three, ToolResult(id="b", ok=True))

    assert [call.id for call in known.in_flight] == ["a", "c"]


def test_the_trail_pairs_calls_with_their_results() -> None:
    known = facts(*edit("/r/a.py"), *run("make test", "x\n12 passed in 1s\n"))

    assert [(step.what, step.outcome) for step in known.trail] == [
        ("a.py", "edited"),
        ("make test", "12 passed in 1s"),
    ]


def test_edits_in_a_clone_below_the_temp_folder_are_work() -> None:
    clone = run("git clone https://x/y.git /tmp/y")

    assert facts(*clone, *edit("/tmp/y/a.py")).files_modified == ["/tmp/y/a.py"]
    assert facts(*edit("/tmp/y/a.py")).files_modified == []


def test_a_commit_after_much_output_counts() -> None:
    output = "[main 1234567] Add it\n" + "create mode 100644 x\n" * 2000

    assert facts(*run("git commit -m 'Add it'", output)).commit_sha == "1234567"


def test_an_order_within_a_task_does_not_replace_the_task() -> None:
    known = facts(UserText(text="build the login page"), UserText(text="commit this"))

    assert (known.task, known.intent) == ("build the login page", "commit this")


def test_a_short_request_is_a_task_where_there_is_no_longer_one() -> None:
    known = facts(UserText(text="fix the login"), UserText(text="go on"))

    assert (known.task, known.intent) == ("fix the login", "go on")


def test_a_sub_agent_s_prompt_is_not_an_intent() -> None:
    assert facts(UserText(text="look into the parser", sidechain=True)).intent == ""


def test_only_edits_that_succeeded_modify_files() -> None:
    assert facts(*edit("/r/a.py"), *edit("/r/b.py", ok=False)).files_modified == ["a.py"]


def test_the_last_edited_file_comes_first() -> None:
    assert facts(*edit("/r/a.py"), *edit("/r/b.py")).files_modified == ["b.py", "a.py"]


def test_paths_are_anchored_at_the_outermost_folder() -> None:
    known = facts(Place(cwd="/r/sub"), *edit("x.py"), *edit("/r/y.py"))

    assert known.files_modified == ["y.py", "sub/x.py"]


def test_a_session_continued_on_another_machine_has_two_roots() -> None:
    known = facts(*edit("/r/a.py"), Place(cwd="/home/other/r"), *edit("/home/other/r/b.py"))

    assert known.files_modified == ["b.py", "a.py"]


def test_edits_in_a_sibling_worktree_are_kept() -> None:
    assert facts(*edit("/r.worktrees/x/a.py")).files_modified == ["/r.worktrees/x/a.py"]


def test_windows_paths_of_all_spellings_are_one_file() -> None:
    known = facts(Place(cwd="d:\\repo"), *edit("D:\\repo\\a.py"), *edit("/d/repo/a.py"))

    assert known.files_modified == ["a.py"]


def test_a_sub_agent_s_edits_count() -> None:
    known = facts(*edit("/r/a.py"), *edit("/r/b.py", sidechain=True))

    assert known.files_modified == ["b.py", "a.py"]


def test_a_plan_file_is_not_a_modified_file() -> None:
    assert facts(*edit("/home/u/.claude/plans/p.md")).files_modified == []


def test_a_failing_command_is_shown_with_its_telling_line() -> None:
    known = facts(
        *run("cd x && make", "all good so far\nmain.c:3: error: no\nmake: *** [all]", ok=False)
    )

    assert known.failures[-1].command == "cd x && make"
    assert "main.c:3: error: no" in known.failures[-1].error


def test_a_command_that_passes_later_is_repaired() -> None:
    broken = run("make test 2>&1", "error: boom", ok=False)

    assert facts(*broken, *run("make test | tail -3")).failures == []
    assert facts(*broken, *run("make fmt && make test")).failures == []
    # A success in another folder says nothing about this one.
    assert facts(*broken, *run("cd sub && make test | tail -3")).failures
    below = run("cd sub && make test", "error: boom", ok=False)
    assert facts(*below, *run("make test")).failures == []


def test_a_later_commit_repairs_a_failed_one_unless_it_skips_the_hooks() -> None:
    broken = run('git add . && git commit -m "Add x"', "a.ts:3:1 error lint/no", ok=False)

    assert facts(*broken, *run('git add -A && git commit -m "Add x and y"')).failures == []
    assert facts(*broken, *run("git commit --no-verify -m x")).failures
    assert facts(*broken, *run("git commit -nm x")).failures
    # What failed may be the check before the commit.
    checked = run("make test && git commit -m x", "error: boom", ok=False)
    assert facts(*checked, *run("git commit -m x")).failures


def test_a_move_to_another_branch_is_not_the_task() -> None:
    moved = [
        UserText(text="ok lets get back to main"),
        *run("git checkout main && git pull"),
        AssistantText(text="On main, up to date."),
    ]

    known = facts(*moved, UserText(text="fix the validator"), *edit("/r/a.py"))
    assert (known.task, known.requests) == ("fix the validator", [])
    # Anything else that ran belongs to a task.
    known = facts(*moved, *run("git stash pop"), UserText(text="fix the validator"))
    assert known.task == "ok lets get back to main"


def test_a_failed_call_on_the_trail_is_described_without_colours() -> None:
    output = "\x1b[31;1mTraceback (most recent call last):\x1b[0m\n\x1b[31mKeyError: 'x'\x1b[0m"

    assert facts(*run("python a.py", output, ok=False)).trail[-1].outcome == "failed: KeyError: 'x'"


def test_a_command_that_is_polled_pushes_no_other_out() -> None:
    polled = [event for _ in range(500) for event in run("workmux status")]

    known = facts(*run("bd create --title x"), *polled, *run("git fetch"))

    assert {*known.heads} == {"bd create", "workmux status", "git fetch"}


def test_a_pipe_that_hides_the_exit_code_repairs_nothing_while_errors_show() -> None:
    broken = run("make test", "error: boom", ok=False)

    assert facts(*broken, *run("make test | tail -3", "error: boom")).failures


def test_a_failure_that_says_nothing_is_none_unless_its_exit_code_does() -> None:
    assert facts(*run("grep x y", "", ok=False)).failures == []

    silent = ToolResult(id="8", ok=False, exit=2)
    (failed,) = facts(run("make all")[0], silent).failures
    assert (failed.command, failed.error) == ("make all", "it completed with exit code 2")
    # Whoever looks into a file that is not there often hides the error.
    assert facts(run("cat none")[0], silent).failures == []


def test_the_branch_is_taken_from_git_where_the_agent_records_none() -> None:
    moved = run("git switch form", "Switched to branch 'form'")

    assert facts(*moved).branch == "main"
    fold = Fold()
    fold.add([Place(cwd="/r"), *moved])
    assert report(fold.export()).branch == "form"


@pytest.mark.parametrize("command", ["cd gone;", "cd gone && ", "", " "])
def test_a_failed_command_that_only_changes_the_folder_is_not_trouble(command: str) -> None:
    known = facts(*run(command, "no such folder", ok=False), *run("make build", "done"))

    assert [failure.command for failure in known.failures] == [command.strip()] * bool(
        command.strip()
    )


def test_only_the_outputs_of_kept_failures_are_held() -> None:
    fold = Fold()
    fold.add([event for n in range(50) for event in run(f"make {'x' * n}", "no rule", ok=False)])

    assert len(fold._failed) == len(fold.state.failures) < 10  # noqa: SLF001


def test_a_refused_call_is_a_decision_and_no_failure() -> None:
    refused = ToolResult(id="4", ok=False, output="no", rejected="use ninja")
    known = facts(run("make")[0], refused)

    assert known.failures == []
    assert [(refusal.what, refusal.why) for refusal in known.refusals] == [
        ("Bash: make", "use ninja")
    ]


def test_the_last_commit_is_read_from_git_s_own_words() -> None:
    known = facts(
        *run("git add -A && git commit -m x", "[main 1a2b3c4] Add login\n 1 file changed")
    )

    assert (known.commit_sha, known.commit_subject) == ("1a2b3c4", "Add login")


def test_a_commit_stays_though_the_push_after_it_failed() -> None:
    output = "[main 1a2b3c4] Add login\nerror: failed to push some refs"
    known = facts(*run("git commit -am x && git push", output, ok=False))

    assert known.commit_sha == "1a2b3c4"
    assert known.failures


def test_a_plan_pasted_into_a_request_is_the_plan() -> None:
    asked = UserText(text="Implement the following plan:\n\n# Login page\n\n1. form")

    assert facts(asked).plan_title == "Login page"


def test_a_call_without_result_is_in_flight() -> None:
    assert [call.what for call in facts(run("sleep 99")[0]).in_flight] == ["sleep 99"]


def test_a_new_request_ends_the_calls_before_it() -> None:
    assert facts(run("sleep 99")[0], UserText(text="stop")).in_flight == []


def test_a_todo_list_replaces_the_one_before() -> None:
    first = TodoList(items=(TodoItem(text="a"), TodoItem(text="b")))
    second = TodoList(items=(TodoItem(text="a", status="completed"), TodoItem(text="c")))
    known = facts(first, second)

    assert [(todo.text, todo.status) for todo in known.todos] == [
        ("a", "completed"),
        ("c", "pending"),
    ]
    assert (known.step, known.total) == (2, 2)


def test_a_finished_list_has_no_step() -> None:
    known = facts(TodoList(items=(TodoItem(text="a", status="completed"),)))

    assert (known.step, known.total) == (None, None)


def test_todos_change_by_id() -> None:
    known = facts(
        TodoChange(id="c1", text="a"),
        TodoChange(id="c1", new_id="1"),
        TodoChange(id="2", text="b"),
        TodoChange(id="1", status="in_progress"),
        TodoChange(id="2", status="deleted"),
        TodoChange(id="9", status="completed"),
    )

    assert [(todo.id, todo.text, todo.status) for todo in known.todos] == [
        ("1", "a", "in_progress")
    ]


def test_a_todo_still_being_made_is_not_on_the_list() -> None:
    call = ToolCall(id="c1", tool="TaskCreate", what="subject: a")

    assert facts(call, TodoChange(id="c1", text="a", status="pending")).todos == []


def test_a_plan_keeps_its_path_while_its_title_stays() -> None:
    written = PlanSeen(path="/home/u/.claude/plans/p.md", text="# Login\n\n1. form")
    known = facts(written, PlanSeen(text="# Login\n\n1. form"))
    assert (known.plan_path, known.plan_title) == ("/home/u/.claude/plans/p.md", "Login")

    other = facts(written, PlanSeen(text="# Logout"))
    assert (other.plan_path, other.plan_title) == ("", "Logout")


def test_a_prompt_waits_until_it_is_taken() -> None:
    queued = [PromptQueued(text="one"), PromptQueued(text="two"), PromptQueued(text="three")]

    assert facts(*queued).pending_prompts == ["one", "two", "three"]
    assert facts(*queued, PromptTaken()).pending_prompts == ["two", "three"]
    assert facts(*queued, PromptTaken(text="two")).pending_prompts == ["one", "three"]
    assert facts(*queued, PromptTaken(key=prompt_key("three"))).pending_prompts == ["one", "two"]
    assert facts(*queued, UserText(text="two")).pending_prompts == ["one", "three"]


def test_context_use_is_that_of_the_last_answer() -> None:
    known = facts(
        Usage(tokens=10, model="claude-sonnet-4-5"),
        Usage(tokens=50_000),
        Usage(tokens=9, sidechain=True),
    )

    assert (known.tokens, known.window, known.percent) == (50_000, 200_000, 25.0)


def test_the_transcript_s_own_window_wins() -> None:
    assert facts(Usage(tokens=95, window=190, model="gpt-5.4")).percent == 50.0


def test_a_compaction_is_counted_once() -> None:
    assert facts(Compaction(), Compaction(summary="we did x")).compactions == 1


def test_after_a_compaction_the_context_use_is_what_the_agent_says_since() -> None:
    full = Usage(tokens=186_000, window=200_000)

    assert facts(full, Compaction(summary="we did x")).percent is None
    left = facts(full, Compaction(), Usage(tokens=12_000), Compaction(summary="we did x"))
    assert left.percent == 6.0


def test_the_agent_s_words_on_what_is_next_are_picked() -> None:
    known = facts(
        AssistantText(text="The parser works. All tests pass.\n\nNext I'll wire the CLI.")
    )

    assert known.next_words == "Next I'll wire the CLI."


@pytest.mark.parametrize(
    ("said", "next_words", "closing_words"),
    [
        (
            "It failed. Next action: fix it.",
            "It failed. Next action: fix it.",
            "Next action: fix it.",
        ),
        ("Now I will:\n- mend the test", "Now I will: - mend the test", "Now I will"),
        ("Done. All tests pass.", "", "All tests pass."),
        ("Shall I push?", "Shall I push?", "Shall I push?"),
        ("All is done. Changes:\n- a is new", "", "All is done."),
    ],
)
def test_the_agent_s_words_on_what_is_next_are_whole(
    said: str, next_words: str, closing_words: str
) -> None:
    known = facts(AssistantText(text=said))

    assert (known.next_words, known.closing_words) == (next_words, closing_words)


def test_commands_are_shown_once_per_kind_the_latest_first() -> None:
    known = facts(*run("make test a"), *run("make test b"), *run("git status"))

    assert known.commands == ["git status", "make test b"]


def test_the_last_session_id_is_the_one_alive() -> None:
    known = facts(SessionInfo(session_id="a", agent_version="1"), SessionInfo(session_id="b"))

    assert (known.session_id, known.agent_version) == ("b", "1")


def test_secrets_are_cut_out_of_all_that_is_kept() -> None:
    fold = Fold()
    fold.add(
        [
            UserText(text="the key is SECRET, log in with it"),
            AssistantText(text="SECRET works"),
            *run("login SECRET", "error: SECRET refused", ok=False),
            PromptQueued(text="again with SECRET"),
            TodoList(items=(TodoItem(text="rotate SECRET"),)),
            PlanSeen(text="# Rotate SECRET"),
            run("curl SECRET")[0],
        ]
    )
    state = fold.export(lambda text: text.replace("SECRET", "[redacted]"))

    assert "SECRET" not in repr(state)
    assert "[redacted]" in repr(report(state))


@pytest.mark.parametrize("limit", [120, 180, 200, 400, 600, 1000, 1500, 3000, 4000])
def test_no_part_of_a_secret_is_left_by_a_cut(limit: int) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    for at in range(limit - 44, limit + 1):
        words = f"{'word ' * (at // 5)}{'x' * (at % 5)} {secret} to the end"
        fold = Fold()
        fold.add(
            [
                UserText(text=words),
                AssistantText(text=f"{words}{' and so on' * 400}"),
                *run(words, f"error: {words}", ok=False),
                run(words)[0],
                ToolResult(id=str(len(words)), ok=False, rejected=words),
                run(words)[0],
                TodoList(items=(TodoItem(text=words),)),
                PromptQueued(text=words),
                PlanSeen(text=words),
                tool_call("2", "tool", "other", {"text": words}),
            ]
        )

        assert secret[:12] not in repr(fold.export(redact))


def test_a_line_of_a_secret_is_not_shown_as_an_error() -> None:
    lines = ["Zm9vYmFyYmF6" * 5] * 4
    key = "\n".join(["-----BEGIN " + "PRIVATE KEY-----", *lines])
    fold = Fold()
    fold.add(run("cat key.pem missing.pem", f"error: no missing.pem\n{key}", ok=False))

    assert lines[0] not in repr(fold.export(redact))


def test_a_state_that_an_older_version_stored_is_read_on() -> None:
    stored = msgspec.json.decode(
        b'{"calls":2,"task":"port it","requests":[{"text":"port it"}],"open":{"1":{"id":"1",'
        b'"tool":"Bash","type":"ToolCall","kind":"run","what":"make","command":"make"}},'
        b'"failures":[{"key":"k","command":"make","error":"no","at":1}]}',
        type=FoldState,
    )
    fold = Fold(stored)
    assert [call.id for call in report(fold.export()).in_flight] == ["1"]

    fold.add([ToolResult(id="1", ok=True), *edit("/r/a.py")])

    assert report(fold.export()).task == "port it"


def test_leftoff_s_own_commands_leave_no_trace() -> None:
    known = facts(
        *run("make test", "1 passed"),
        *run("leftoff resume exporter", "no such name", ok=False),
        *run("git add -A && leftoff save exporter --next 'Run it'"),
    )

    kept = [*known.commands, *known.heads, *(step.what for step in known.trail)]
    assert {"make test", "git add -A"} <= set(kept)
    assert not any("leftoff" in text for text in kept)
    assert known.failures == []


def test_a_save_leaves_a_mark_on_the_trail_that_is_not_a_call() -> None:
    known = facts(*edit("/r/a.py"), *run("leftoff save exporter"), *edit("/r/b.py"))

    assert [step.is_save for step in known.trail] == [False, True, False]


def test_what_a_look_showed_last_is_not_a_result() -> None:
    known = facts(*run("sed -n 1,3p a.py", "import re\n\nNAME = 1\n"))

    assert known.trail[0].outcome == "2 lines, first: import re"


def test_what_a_failed_search_found_is_not_an_error() -> None:
    output = "src/a.py:3: name\nrg: b.toml: No such file or directory"
    known = facts(*run("rg -n name src b.toml", output, ok=False))

    assert known.failures[0].error.splitlines()[0].startswith("rg: b.toml")


def test_a_question_that_only_made_the_agent_look_is_not_the_task() -> None:
    asked = [UserText(text="what does `app status` print?"), *run("app status", "on")]
    task = UserText(text="Make `app status` print the branch as well.")

    assert facts(*asked, task, *edit("/r/a.py")).task == task.text
    assert facts(*asked, *edit("/r/a.py"), task).task == "what does `app status` print?"


def test_the_words_of_a_plan_are_not_the_user_s_rules() -> None:
    plan = "Implement the following plan:\n\n# Form\n\nIf you need more, read the transcript."

    assert facts(UserText(text=plan)).constraints == []


def test_a_number_picks_a_row_of_the_table_that_the_agent_showed() -> None:
    table = "| # | Title | Age |\n|---|---|---|\n| 5 | Retry | - |\n| 6 | Fix the check | 2d |"
    said = AssistantText(text=table)

    # The second number corrects the first, before the agent has said anything.
    known = facts(UserText(text="list the todos"), said, UserText(text="5"), UserText(text="6"))

    assert known.answers_to == "6, Fix the check, 2d"


def test_all_items_that_a_short_reply_picks_are_shown() -> None:
    offered = AssistantText(text="Pick:\n1. Port it\n2. Test it\n3. Ship it\nWhich ones?")

    known = facts(UserText(text="port it"), offered, UserText(text="do 1 and 3"))

    assert known.answers_to == "1. Port it 3. Ship it"


def test_only_what_a_colleague_would_run_again_is_a_command_in_use() -> None:
    ran = [
        "git reset --hard",
        "rm -rf build",
        "ls -la",
        "sed -n 1,9p a.py",
        "pytest -q",
        "make lint",
    ]
    denied = ToolResult(id=str(len("npm test")), ok=False, rejected="no")
    known = facts(*(event for each in ran for event in run(each)), run("npm test")[0], denied)

    assert known.reruns == ["make lint", "pytest -q"]
    assert not {"git reset", "rm -rf"} & {*known.heads}


def test_a_command_keeps_the_folder_that_it_needs() -> None:
    below = [Place(cwd="/r/web"), *run("npm run lint"), Place(cwd="/r")]
    known = facts(*run("cd tests && pytest -q"), *run("cd /r && make"), *below)

    assert known.reruns == ["cd web && npm run lint", "make", "cd tests && pytest -q"]
    assert [each.what for each in known.trail][:2] == ["cd tests && pytest -q", "make"]


def test_a_success_in_a_quiet_commit_overtakes_a_failure() -> None:
    broken = run("make test", "error: boom", ok=False)

    assert facts(*broken, *run("git commit -qm x")).failing is None


def test_a_choice_from_the_agents_list_is_kept_with_what_was_chosen() -> None:
    offer = AssistantText(
        text="Two ways:\n1. Fill the column.\n2. Load it in model.py.\n\nWhich one?"
    )
    talk = [UserText(text="add the minimum stock"), offer]
    chosen = [*talk, UserText(text="option 2")]

    # While it is the last request, it is shown with what it answers.
    assert (facts(*chosen).intent, facts(*chosen).requests) == ("option 2", [])
    later = facts(*chosen, UserText(text="Why is one missing?"))
    assert later.requests == ["option 2 (2. Load it in model.py.)"]
    assert facts(*talk, UserText(text="yes"), UserText(text="Why?")).requests == []
    corrected = [*chosen, UserText(text="option 1"), UserText(text="Why is one missing?")]
    assert facts(*corrected).requests == ["option 1 (1. Fill the column.)"]
