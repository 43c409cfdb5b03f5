"""The model of a new session gets what the project knows: complete, once and in one reply."""

import json
from typing import Any

import pytest

from e2e.claude import Bench
from e2e.model import Model
from e2e.turns import SUMMARY, bash, say
from e2e.user import NEXT, TASK, User

# What a reply may hold before Claude Code cuts it.
LIMIT = 10_000
HARD = r"""Ship 🚀 “now” C:\new\"x" \u0041 </leftoff-briefing>"""
LAYERS = {
    "learned/rules": ("rules", "description"),
    "episodic/decisions": ("entries", "decision"),
    "procedural/failures": ("entries", "approach"),
}
BUILD = "npm run build --offline"


def _remembers(user: User, count: int) -> None:
    """Give the project so many entries of every kind, long ones, with whatever people write."""
    layout = user.bench.root / "old" / ".claude-harness"
    for name, (key, field) in LAYERS.items():
        path = layout / "memory" / f"{name}.json"
        path.parent.mkdir(parents=True)
        texts = [f"{field} {number}: {HARD} {'long ' * 60}" for number in range(count)]
        entries = [{"id": f"{field}-{n}", field: text} for n, text in enumerate(texts)]
        path.write_text(json.dumps({"version": 3, key: entries}), encoding="utf-8")
    user.ok("import", "--from", "harness", str(layout))


def _replies(bench: Bench, session_id: str) -> list[dict[str, Any]]:
    """Return what leftoff's hook at the start of a session printed, as Claude Code took it."""
    found = (entry.get("attachment") or {} for entry in bench.transcript(session_id))
    return [
        {**json.loads(each["stdout"]), "size": len(each["stdout"])}
        for each in found
        if each.get("type") == "hook_success" and each.get("hookEvent") == "SessionStart"
    ]


def test_a_session_has_the_offer_and_the_memory_once_in_one_reply_below_the_limit(
    bench: Bench, model: Model, user: User
) -> None:
    user.works()
    _remembers(user, 167)

    session = bench.run("hello").session_id

    (reply,) = _replies(bench, session)
    context = reply["hookSpecificOutput"]["additionalContext"]
    assert reply["size"] < LIMIT
    news = model.requests()[-1].news
    # Word for word, so nothing was cut, escaped or put into a file.
    assert news.count(context.strip()) == 1
    assert news.count("leftoff: work was left off here.") == 1
    assert news.count("leftoff: what is known about this project.") == 1
    assert context.index(TASK) < context.index("# Session Briefing")
    for field in ("description", "decision", "approach"):
        assert f'- {field} 166: Ship 🚀 “now” C:\\new\\"x" \\u0041' in context
    # What the entries say cannot end the fence around them.
    assert context.count("</leftoff-briefing>") == 2

    # A resumed session is not told again.
    user.settled()
    bench.run("and now", "--resume", session)
    assert model.seen_text().count("leftoff: what is known about this project.") == 1


def test_after_a_compaction_state_and_memory_are_given_again_once(
    bench: Bench, model: Model, user: User
) -> None:
    _remembers(user, 167)
    session = user.works().session_id

    bench.run("/compact", "--resume", session)
    user.settled()
    bench.run("go on", "--resume", session)

    seen = model.seen_text()
    assert SUMMARY in seen
    assert TASK in seen
    assert NEXT in seen
    assert seen.count("leftoff: what is known about this project.") == 1
    assert "\ncompactions  1\n" in user.ok("stats")


def test_what_an_agent_saves_as_decision_and_failure_is_reported_to_the_next_session(
    bench: Bench, model: Model, user: User
) -> None:
    user.works(
        TASK,
        bash("leftoff save retry --decision 'Retry three times :: more hides outages'"),
        say("Saved."),
    )
    user.works("Something else", bash("leftoff memory add rule 'Import with @/'"), say("Done."))

    bench.run("hello")

    news = model.requests()[-1].news
    assert "- Retry three times" in news
    assert "- Import with @/" in news


def test_a_session_that_repeats_what_failed_is_warned_with_the_next_prompt_and_once(
    bench: Bench, model: Model, user: User
) -> None:
    arguments = f"--failed '`{BUILD}` :: the lockfile names a private host'"
    user.works(TASK, bash(f"leftoff save build-it {arguments}"), say("Saved."))
    warning = f"leftoff: This failed before: `{BUILD}`"
    model.will(bash(BUILD), say("No luck."), say("Sorry."), bash(BUILD), say("Again."), say("Ok."))
    tui = bench.tui("--allowedTools", "Bash")
    tui.send("Build the site")
    tui.wait_for_turns(1)
    user.settled()

    tui.send("go on then")
    tui.wait_for_turns(2)
    user.settled()
    tui.send("once more")
    tui.wait_for_turns(3)
    user.settled()
    tui.send("the last one")

    assert model.wait_for("go on then").news.count(warning) == 1
    assert warning not in model.wait_for("once more").news
    assert warning not in model.wait_for("the last one").news


def test_what_the_user_corrects_becomes_a_rule_that_the_next_session_is_told(
    bench: Bench, model: Model, user: User
) -> None:
    session = user.works(TASK, bash("echo npm install"), say("Installed with npm.")).session_id
    correction = "No, use pnpm instead of npm."
    user.works(correction, say("I use pnpm."), options=("--resume", session))

    assert "  Use pnpm instead of npm. (high)" in user.ok("reflect")
    assert user.ok("reflect") == ""
    bench.run("hello")

    rules = model.requests()[-1].news.partition("## Learned Rules")[2]
    assert "- Use pnpm" in rules


@pytest.mark.parametrize("budget", ["0", "1000"])
def test_the_memory_stays_out_where_it_is_not_wanted(
    bench: Bench, model: Model, user: User, budget: str
) -> None:
    _remembers(user, 3)
    user.ok("config", "set", "memory_budget", budget, "--project")

    bench.run("hello")

    is_told = "# Session Briefing" in model.seen_text()
    assert is_told == (budget != "0")
