"""A new session is offered open work once, and the user sees that."""

import re

from e2e.claude import Bench
from e2e.model import Model
from e2e.turns import bash, say, write
from e2e.user import NEXT, TASK, User


def test_an_offer_is_made_to_each_new_session_and_once(
    bench: Bench, model: Model, user: User
) -> None:
    user.works()

    session = bench.run("hello").session_id
    seen = model.requests()[-1].news
    assert TASK in seen
    assert NEXT in seen
    user.settled()

    bench.run("and now", "--resume", session)
    assert TASK not in model.requests()[-1].news
    user.settled()

    # A session that did nothing does not hide the work before it.
    bench.run("hi")
    assert TASK in model.requests()[-1].news


def test_the_interactive_program_shows_the_offer_and_the_model_has_it(
    bench: Bench, model: Model, user: User
) -> None:
    user.works()
    tui = bench.tui()

    tui.wait('leftoff: "add-retry-http-client" was left off')
    tui.send("good morning")

    assert TASK in model.wait_for("good morning").news


def test_of_several_threads_the_model_knows_the_command_that_resumes_another(
    bench: Bench, model: Model, user: User
) -> None:
    user.works()
    user.works("Port the CSV exporter", write(bench.repo.folder / "export.py", "1\n"), say("Done."))
    model.will(bash("leftoff resume add-retry-http-client --accept"), say("I go on."))

    bench.run("the retry, please")

    text = model.requests()[-2].news
    assert "2 threads were left off here." in text
    assert "- add-retry-http-client, branch main" in text
    assert "--accept` (or another name) for the full briefing" in text
    assert TASK in model.requests()[-1].news
    user.settled()
    # The end of the session may have saved a revision since, which is open again.
    assert re.search(r"resumed \(in claude\) +add-retry-http-client", user.ok("log"))


def test_a_first_session_is_told_nothing(bench: Bench, model: Model, user: User) -> None:
    bench.run("hello")

    lines = model.seen_text().splitlines()
    # The model's list of skills names ours; nothing else speaks of leftoff.
    skills = [line for line in lines if line.startswith("- leftoff: Save where the work left off")]
    assert skills
    assert not any("leftoff" in line for line in lines if line not in skills)
    assert user.trouble() == []


def test_a_resumed_session_is_told_what_changed_while_it_was_away(
    bench: Bench, model: Model, user: User
) -> None:
    session = user.works().session_id
    bench.repo.commit("Rewrite the client", {"client.py": "new\n"})

    bench.run("go on", "--resume", session)

    assert "Rewrite the client" in model.requests()[-1].news


def test_the_offer_says_what_changed_and_stays_away_where_leftoff_is_off(
    bench: Bench, model: Model, user: User
) -> None:
    user.works()
    (open_work,) = user.saved()
    assert "retry.py" in user.ok("resume", open_work["id"])
    (bench.repo.folder / "retry.py").unlink()

    bench.run("hello")
    assert "missing: retry.py" in model.requests()[-1].news
    assert TASK in user.ok("resume", open_work["id"], "--accept")

    user.ok("off")
    before = len(user.saved())
    bench.run("hello")

    assert TASK not in model.requests()[-1].news
    assert len(user.saved()) == before
