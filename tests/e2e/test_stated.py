"""What a person or an agent stated stays: later sessions add to it and never replace it."""

from pathlib import Path

import pytest

from e2e.claude import Bench
from e2e.exporter import TASK, begin, edit, only_work, send
from e2e.faces import resume, start
from e2e.model import Model
from e2e.turns import bash, say, write
from e2e.user import User

# What was said when nothing was known about the next action.
FILLER = "ask the user what comes next"
STATED = "Compare the memory use of both exporters"
SAVE = f"leftoff save csv-port --next '{STATED}'"


def _save(user: User) -> str:
    """State the next action in a session, and return the session."""
    return begin(user, bash(SAVE), say("Saved as csv-port.")).session_id


def _thank(user: User, session: str) -> None:
    user.works("ok thanks", say("You are welcome."), options=("--resume", session))


def test_a_stated_next_action_stays_after_thanks_and_the_end(user: User) -> None:
    _thank(user, _save(user))

    reply = start(user, "hello")

    assert STATED in reply.model
    assert FILLER not in reply.model
    work = only_work(user)
    assert (work.name, work.next) == ("csv-port", STATED)


def test_work_after_a_stated_next_action_is_added_and_does_not_replace_it(
    bench: Bench, user: User
) -> None:
    _thank(user, _save(user))
    user.works("continue", *edit(bench))

    reply = start(user, "hello")

    assert STATED in reply.model
    assert only_work(user).next == STATED
    briefing = resume(user).briefing
    assert STATED in briefing
    assert "test_export.py" in briefing


def _native_texts(bench: Bench) -> dict[Path, str]:
    folders = [bench.repo.folder / name for name in (".claude", ".claude-harness")]
    paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {path: path.read_text(encoding="utf-8") for path in paths}


@pytest.mark.parametrize("profile", ["harness", "sail"])
def test_native_files_keep_the_stated_next_action_after_thanks_and_the_end(
    bench: Bench, newcomer: User, profile: str
) -> None:
    newcomer.follows(profile)
    session = _save(newcomer)
    before = {path for path, text in _native_texts(bench).items() if STATED in text}
    assert before

    _thank(newcomer, session)

    after = _native_texts(bench)
    assert {path for path in before if STATED not in after.get(path, "")} == set()
    assert [path for path, text in after.items() if FILLER in text] == []


def test_a_clean_tree_stays_clean_after_ship_and_clear(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.follows("harness")
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        bench.repo.git("config", key, value)
    made = write(bench.repo.folder / "export.py", "rows = iter(())\n")
    model.will(made, bash(SAVE), bash("leftoff ship --no-push"), say("Shipped."))
    tui = bench.tui("--allowedTools", "Write,Bash")
    send(tui, TASK, 1)
    newcomer.settled()
    assert bench.repo.git("status", "--porcelain") == ""

    tui.send("/clear")
    send(tui, "hello", 1)
    newcomer.settled()

    assert bench.repo.git("status", "--porcelain") == ""
