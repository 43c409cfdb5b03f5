"""The work that the tests of threads are about: a CSV exporter, over several sessions."""

from e2e.bench import Result
from e2e.claude import Bench
from e2e.faces import Row, holds, list_work, resume, show_status
from e2e.tui import Tui
from e2e.turns import Turn, say, write
from e2e.user import User

TASK = "Port the CSV exporter to streaming writes"
ABOUT = "CSV exporter streaming"
FIRST_WORDS = "The rows stream now. Next I will add tests/test_export.py."
LAST_WORDS = "The tests are written. Next I will run pytest tests/test_export.py."
NEXT = "pytest tests/test_export.py"


def begin(user: User, *more: Turn) -> Result:
    """Give the task to a first session, which does some of it."""
    made = user.bench.repo.folder / "export.py"
    return user.works(TASK, write(made, "rows = iter(())\n"), *(more or (say(FIRST_WORDS),)))


def edit(bench: Bench, words: str = LAST_WORDS) -> tuple[Turn, Turn]:
    """Return the turns of a session that goes on with the task."""
    return write(bench.repo.folder / "tests" / "test_export.py", f"# {words}\n"), say(words)


def only_work(user: User) -> Row:
    """Return the work, which must be all that is open, by every face."""
    rows = list_work(user)
    count, shown = show_status(user)
    tasks = [row.task for row in rows]
    assert tasks == [row.task for row in shown], f"list: {tasks}, status: {shown}"
    assert len(rows) == count == 1, f"status counts {count}; open: {tasks}"
    assert holds(tasks[0], ABOUT), f"The task became {tasks[0]!r}"
    resumed = resume(user)
    assert holds(resumed.task, ABOUT), f"resume shows or asks: {resumed}"
    return rows[0]


def send(tui: Tui, words: str, turn: int) -> None:
    """Send words and wait until this turn has ended."""
    tui.send(words)
    tui.wait_for_turns(turn)
