"""kill -9 loses nothing, and the next session is offered the work."""

import json
import os
import time

from e2e.bench import wait_for_file
from e2e.claude import Bench
from e2e.model import Model
from e2e.turns import bash, say, write
from e2e.user import TASK, TOOLS, User, edits
from e2e.waiting import until

# It says that it runs, and ends on its own if nobody ends it.
SLOW = """\
touch running
for _ in $(seq 400); do
  [ -e running ] || exit 0
  sleep 0.1
done
"""


def test_killed_in_a_tool_call_the_next_session_is_told_the_call_the_files_and_the_intent(
    bench: Bench, model: Model, user: User
) -> None:
    bench.repo.commit("A slow check", {"slow_check.sh": SLOW, ".gitignore": "running\n"})
    model.will(write(bench.repo.folder / "retry.py", "RETRIES = 3\n"), bash("sh slow_check.sh"))
    run = bench.start(TASK, *TOOLS)
    running = wait_for_file(bench.repo.folder / "running")

    run.kill()
    running.unlink()
    bench.run("hello")

    seen = model.requests()[-1].news
    assert TASK in seen
    assert "sh slow_check.sh" in seen
    assert "retry.py" in seen
    (recovered,) = user.saved("recovered")
    assert recovered["in_flight"]["what"] == "sh slow_check.sh"
    assert "retry.py" in recovered["files_modified"]


def test_killed_in_a_thread_the_work_is_named_everywhere_before_anyone_recovers_it(
    bench: Bench, model: Model, user: User
) -> None:
    bench.repo.commit("A slow check", {"slow_check.sh": SLOW, ".gitignore": "running\n"})
    login = bench.repo.folder / "login.py"
    user.works("Users cannot log in with a plus sign", write(login, "1\n"), say("Half done."))
    model.will(write(login, "2\n"), bash("sh slow_check.sh"))
    run = bench.start("finish the login thing", *TOOLS)
    running = wait_for_file(bench.repo.folder / "running")
    user.settled()

    run.kill()
    running.unlink()

    name = user.saved()[0]["name"]
    for command in (("status",), ("list",), ("resume",), ("resume", name)):
        assert f"- claude, just now: finish the login thing (in {name})" in user.ok(*command)
    assert user.saved("recovered") == []


def test_killed_while_the_model_speaks_the_next_session_is_told_the_intent_once(
    bench: Bench, model: Model, user: User
) -> None:
    model.will(say("slow", stall=True))
    run = bench.start(TASK)
    model.wait_for(TASK)

    run.kill()
    bench.run("hello")
    assert TASK in model.requests()[-1].news
    assert user.saved("recovered")

    user.works("Something else", say("It is done."))
    assert len(user.saved("recovered")) == 1


def test_the_interactive_program_killed_is_recovered_too(
    bench: Bench, model: Model, user: User
) -> None:
    model.will(edits(bench), say("Half of it is done."))
    tui = bench.tui(*TOOLS)
    tui.send(TASK)
    tui.wait_for_turns(1)

    tui.kill()
    again = bench.tui()
    again.wait('leftoff: "add-retry-http-client" was left off')
    again.send("good morning")

    news = model.wait_for("good morning").news
    assert "leftoff: a session ended here without saving" in news
    assert TASK in news
    assert user.saved("recovered")


def test_an_open_session_is_dead_when_its_process_is_also_without_hooks(
    bench: Bench, model: Model, newcomer: User
) -> None:
    model.will(edits(bench), say("Half of it is done."))
    tui = bench.tui(*TOOLS)
    tui.send(TASK)
    tui.wait_for_turns(1)
    (session,) = bench.sessions()
    an_hour_ago = time.time() - 3600
    os.utime(bench.transcript_path(session), (an_hour_ago, an_hour_ago))

    assert "Skipped 1 session that is still open." in newcomer.leftoff("recover").err
    assert json.loads(newcomer.ok("sessions", "--json"))[0]["state"] == "active"
    newcomer.installs()
    bench.run("hello")
    assert TASK not in model.requests()[-1].news

    tui.kill()
    bench.transcript_path(session).touch()
    assert "Saved 1 session." in newcomer.ok("recover")
    assert newcomer.saved("recovered")[0]["intent"] == TASK


def test_a_queued_prompt_survives_kill(bench: Bench, model: Model, user: User) -> None:
    model.will(say("slow", stall=True))
    tui = bench.tui()
    tui.send(TASK)
    session = model.wait_for(TASK).session_id
    tui.send("then update the changelog")

    def queued() -> list[str]:
        # Claude Code writes its transcript with a delay.
        entries = bench.transcript(session) if session in bench.sessions() else []
        return [one["content"] for one in entries if one.get("operation") == "enqueue"]

    until(lambda: "then update the changelog" in queued(), "the queued prompt in the transcript")

    tui.kill()
    bench.run("hello")

    assert "then update the changelog" in model.requests()[-1].news
    assert user.saved("recovered")


def test_a_session_that_still_runs_is_not_taken_for_crashed(
    bench: Bench, model: Model, user: User
) -> None:
    model.will(say("slow", stall=True, when=TASK))
    run = bench.start(TASK)
    model.wait_for(TASK)

    bench.run("hello")

    assert user.saved("recovered") == []
    model.release()
    assert run.wait().code == 0
