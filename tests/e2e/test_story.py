"""A week with the real Claude Code: three pieces of work, two worktrees, two crashes.

What a careful colleague would have said at each moment was written down by hand, in `ANSWERS`.
"""

from pathlib import Path

import pytest

from e2e.bench import Result
from e2e.claude import Bench
from e2e.colleague import Answer, Colleague, Work
from e2e.faces import read_start, resume
from e2e.test_crashes import SLOW
from e2e.turns import Turn, bash, call, say, write
from e2e.user import User

EXPORT = "Port the CSV exporter to streaming writes"
SEARCH = "Add fuzzy matching to the search box"
LOGIN = "Fix the flaky login test"
MEASURE = "Measure the ranking with bench/search.py"


def _exporter(next_action: str, days: int) -> Work:
    return Work(word="exporter", next=next_action, days=days)


def _search(next_action: str, days: int) -> Work:
    return Work(word="fuzzy", next=next_action, days=days)


def _login(next_action: str, days: int | None) -> Work:
    return Work(word="flaky", next=next_action, days=days)


ANSWERS: dict[str, Answer] = {
    # The exporter begins, then somebody asks what 2+2 is.
    "Monday, main, first": Answer(),
    "Monday, main, second": Answer(here=(_exporter("tests/test_export.py", 0),)),
    # In the other worktree nothing is open; the search begins there and crashes in a slow check.
    "Monday, search": Answer(everywhere=(_exporter("tests/test_export.py", 0),)),
    # The crash is in the other worktree, so main goes on with the exporter.
    "Tuesday, main": Answer(
        here=(_exporter("tests/test_export.py", 1),),
        everywhere=(_search("slow_check.sh", 1), _exporter("tests/test_export.py", 1)),
    ),
    # The exporter has been worked on today, and the search waits where it crashed.
    "Tuesday, search": Answer(
        here=(_search("slow_check.sh", 1),),
        everywhere=(_exporter("pytest tests/test_export.py", 0), _search("slow_check.sh", 1)),
    ),
    # The search was saved with its next action; thanks changed nothing.
    "Wednesday, main": Answer(
        here=(_exporter("pytest tests/test_export.py", 1),),
        everywhere=(_search(MEASURE, 1), _exporter("pytest tests/test_export.py", 1)),
    ),
    # The login test was begun on Wednesday and crashed; the exporter rests since Tuesday.
    "Thursday, main, first": Answer(
        here=(_login("test_login", 1), _exporter("pytest tests/test_export.py", 2)),
        everywhere=(
            _login("test_login", 1),
            _search(MEASURE, 2),
            _exporter("pytest tests/test_export.py", 2),
        ),
    ),
    # The exporter was taken up again by name, and went through a compaction.
    "Thursday, main, second": Answer(
        here=(_exporter("ship", 0), _login("test_login", 1)),
        everywhere=(_exporter("ship", 0), _login("test_login", 1), _search(MEASURE, 2)),
    ),
    # It was shipped, so it is no longer open.
    "Thursday, main, shipped": Answer(
        here=(_login("test_login", 1),),
        everywhere=(_login("test_login", 1), _search(MEASURE, 2)),
    ),
    "Friday, main, first": Answer(
        here=(_login("test_login", 2),),
        everywhere=(_login("test_login", 2), _search(MEASURE, 3)),
    ),
    # The login test is done.
    "Friday, main, done": Answer(everywhere=(_search(MEASURE, 3),)),
    # Undone by mistake, and done again.
    "Friday, main, undone": Answer(
        here=(_login("", None),), everywhere=(_login("", None), _search(MEASURE, 3))
    ),
    "Friday, search": Answer(here=(_search(MEASURE, 3),)),
}


@pytest.fixture
def tree(bench: Bench) -> Path:
    """Return the worktree of the search; the repository has what the story needs."""
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        bench.repo.git("config", key, value)
    bench.repo.commit("A slow check", {"slow_check.sh": SLOW, ".gitignore": "running\n"})
    return bench.worktree("search").folder


class _Week:
    """The people and sessions of the story."""

    def __init__(self, bench: Bench, user: User, tree: Path) -> None:
        self.bench, self.user, self.tree = bench, user, tree
        self.main = bench.repo.folder
        self.colleague = Colleague(user, ("exporter", "fuzzy", "flaky"))

    def look(self, moment: str, *, cwd: Path | None = None) -> None:
        self.colleague.compare_faces(moment, ANSWERS[moment], cwd=cwd)

    def start(self, moment: str, prompt: str, *turns: Turn, cwd: Path | None = None) -> Result:
        result = self.user.works(prompt, *turns, cwd=cwd)
        self.colleague.compare_start(moment, ANSWERS[moment], result)
        return result

    # --- the days ---

    def monday(self) -> None:
        made = write(self.main / "export.py", "rows = iter(())\n")
        words = say("The rows stream now. Next I will add tests/test_export.py.")
        self.look("Monday, main, first")
        self.start("Monday, main, first", EXPORT, made, words)
        self.look("Monday, main, second")
        self.start("Monday, main, second", "What is 2+2?", say("4"))
        self.look("Monday, search", cwd=self.tree)
        matching = write(self.tree / "search.py", "fuzzy = True\n")
        slow, running = bash("sh slow_check.sh"), self.tree / "running"
        crashed = self.user.crashes(SEARCH, matching, slow, cwd=self.tree, when=running)
        running.unlink()
        self.colleague.compare_start("Monday, search", ANSWERS["Monday, search"], crashed)

    def tuesday(self) -> None:
        # The crash is found at this start, so the commands come after it.
        self.start("Tuesday, main", "How do I leave vim?", say("With :q."))
        self.look("Tuesday, main")
        tests = write(self.main / "tests" / "test_export.py", "def test_rows(): ...\n")
        words = "The tests are there. Next I will run pytest tests/test_export.py."
        session = self.start("Tuesday, main", "continue", tests, say(words)).session_id
        afterwards = "and afterwards update the changelog"
        self.colleague.go_on(afterwards, say(f"I will. {words}"), session=session)
        self.look("Tuesday, search", cwd=self.tree)
        ranking = write(self.tree / "ranking.py", "best = max\n")
        save = bash(f"leftoff save fuzzy-search --next '{MEASURE}'")
        turns = (ranking, save, say("Saved."))
        session = self.start("Tuesday, search", "continue", *turns, cwd=self.tree).session_id
        thanks = say("You are welcome.")
        self.colleague.go_on("ok thanks", thanks, session=session, cwd=self.tree)

    def wednesday(self) -> None:
        self.look("Wednesday, main")
        self.start("Wednesday, main", "Is quicksort stable?", say("No."))
        made = {"file_path": str(self.main / "tests" / "test_login.py"), "content": "clock = 0\n"}
        edit = call("Write", "I freeze the clock in tests/test_login.py first.", given=made)
        crashed = self.user.crashes(LOGIN, edit, say("slow", stall=True))
        self.colleague.compare_start("Wednesday, main", ANSWERS["Wednesday, main"], crashed)

    def thursday(self) -> None:
        self.start("Thursday, main, first", "good morning", say("Good morning."))
        self.look("Thursday, main, first")
        self._go_through_a_compaction()
        self.look("Thursday, main, second")
        accept = bash(f"leftoff resume {self.colleague.key('exporter')} --accept")
        ship = (
            bash("leftoff feature add 'Stream the CSV rows' --start"),
            bash("leftoff feature pass --approach 'Stream row by row'"),
            bash("leftoff ship --no-push -m 'Stream the CSV rows'"),
        )
        self.start("Thursday, main, second", "Ship it", accept, *ship, say("Shipped."))
        self.look("Thursday, main, shipped")

    def _go_through_a_compaction(self) -> None:
        accept = bash(f"leftoff resume {self.colleague.key('exporter')} --accept")
        changelog = write(self.main / "CHANGELOG.md", "- Rows stream.\n")
        prompt = "Let's get back to the exporter"
        turns = (accept, changelog, say("The changelog has it. Next I will ship it."))
        session = self.user.works(prompt, *turns).session_id
        self.colleague.go_on("/compact", session=session)
        self.colleague.go_on("go on", say("Next I will ship it."), session=session)
        seen = self.bench.model.seen_text()
        expect = self.colleague.expect
        expect("Thursday, compacted", "the task is lost", is_true=EXPORT in seen)
        is_own = "earlier session" not in seen
        expect("Thursday, compacted", "its own state is another session's", is_true=is_own)

    def friday(self) -> None:
        self.look("Friday, main, first")
        key = self.colleague.key("flaky")
        fixed = write(self.main / "tests" / "conftest.py", "clock = 0\n")
        done = bash(f"leftoff done {key}")
        self.start("Friday, main, first", "continue", fixed, done, say("The login test is done."))
        self.look("Friday, main, done")
        self.user.leftoff("undo")
        self.look("Friday, main, undone")
        self.user.leftoff("redo")
        self.look("Friday, main, done")
        self.start("Friday, main, done", "hello", say("Hello."))
        self._go_to_the_search()

    def _go_to_the_search(self) -> None:
        (self.tree / "search.py").unlink()
        self.bench.repo.git("-C", str(self.tree), "add", "ranking.py")
        self.bench.repo.git("-C", str(self.tree), "commit", "-qm", "Tune the index")
        self.look("Friday, search", cwd=self.tree)
        result = self.start("Friday, search", "hello", say("Hello."), cwd=self.tree)
        texts = (read_start(self.user, result).model, resume(self.user, cwd=self.tree).briefing)
        for text in texts:
            has_both = "search.py" in text.replace("bench/search.py", "") and (
                "Tune the index" in text or "1 commit" in text
            )
            self.colleague.expect(
                "Friday, search", f"changes are missing: {text}", is_true=has_both
            )


def test_a_week_of_work_is_described_as_a_careful_colleague_would(
    bench: Bench, user: User, tree: Path
) -> None:
    week = _Week(bench, user, tree)

    week.monday()
    user.lets_days_pass(1)
    week.tuesday()
    user.lets_days_pass(1)
    week.wednesday()
    user.lets_days_pass(1)
    week.thursday()
    user.lets_days_pass(1)
    week.friday()

    assert not week.colleague.wrong, "\n".join(week.colleague.wrong)
