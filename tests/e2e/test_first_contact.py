"""Sessions that nobody saved are found at first contact, and are as old as their last work."""

from e2e.claude import Bench
from e2e.exporter import ABOUT, NEXT, TASK, begin, edit
from e2e.faces import holds, list_work, read_pages, read_start, resume, says_age, start
from e2e.turns import say, write
from e2e.user import User

OTHER_TASK = "Fix the flaky login test"


def _work_until_killed(user: User) -> None:
    """Let a session edit a file, and kill it while the model speaks."""
    made = user.bench.repo.folder / "export.py"
    user.crashes(TASK, write(made, "rows = 1\n"), say("slow", stall=True))


# --- recovered days later ---


def test_a_session_recovered_days_later_is_as_old_as_its_last_work(user: User) -> None:
    _work_until_killed(user)
    user.lets_days_pass(4)

    reply = start(user, "hello")

    assert holds(reply.model, ABOUT)
    assert [row.days for row in list_work(user)] == [4]
    for text in (reply.model, reply.person, read_pages(user), resume(user).briefing):
        assert says_age(text, 4)
        assert "just now" not in text


def test_a_session_recovered_days_later_is_shown_with_what_changed_since(
    bench: Bench, user: User
) -> None:
    _work_until_killed(user)
    user.lets_days_pass(4)
    (bench.repo.folder / "export.py").unlink()
    _commit_today(bench, "Rewrite the client")

    reply = start(user, "hello")

    work = next(row for row in list_work(user) if holds(row.task, ABOUT))
    for text in (reply.model, resume(user, work.key).briefing):
        assert _says_gone(text, "export.py")
        since = text.lower().partition("since")[2]
        assert "rewrite the client" in since or "1 commit" in since
        # The session never saw this commit.
        lines = [line for line in text.splitlines() if "Rewrite the client" in line]
        assert [line for line in lines if line.startswith("Last commit")] == []


def _commit_today(bench: Bench, subject: str) -> None:
    """Commit with the real date; the commits of the repository have fixed ones."""
    bench.repo.write("client.py", "new\n")
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for command in (("add", "client.py"), (*identity, "commit", "-qm", subject)):
        assert bench.program("git", *command).code == 0


def _says_gone(text: str, path: str) -> bool:
    """Return whether a line says that a file is no longer there."""
    words = ("missing", "gone", "deleted", "removed", "no longer")
    lines = [line.lower() for line in text.splitlines() if path in line]
    return any(word in line for line in lines for word in words)


def test_a_session_recovered_late_comes_after_newer_work(bench: Bench, user: User) -> None:
    _work_until_killed(user)
    user.lets_days_pass(3)
    login = write(bench.repo.folder / "test_login.py", "clock = 0\n")
    user.works(OTHER_TASK, login, say("The clock is frozen. Next I will run test_login.py."))
    user.lets_days_pass(1)

    reply = start(user, "hello")

    rows = list_work(user)
    assert [row.days for row in rows] == [1, 4]
    assert holds(rows[0].task, "flaky login")
    assert holds(rows[1].task, ABOUT)
    assert reply.model.index("flaky login") < reply.model.index(rows[1].key)


# --- before anything was saved ---


def _names_the_session(text: str) -> bool:
    """Say whether a text names the unsaved session by its task, and the way to recover it."""
    return holds(text, ABOUT) and "recover" in text


def _leave_unsaved(user: User) -> None:
    """Work without hooks, talk a little, and come back the next day."""
    begin(user)
    user.works("What is 2+2?", say("4"))
    user.lets_days_pass(1)


def test_a_session_from_before_the_hooks_is_named_at_first_contact(newcomer: User) -> None:
    _leave_unsaved(newcomer)

    for command in (("resume",), ("status",), ("init", "--agent", "claude", "--yes")):
        said = newcomer.ok(*command)

        assert _names_the_session(said), command
        assert "2+2" not in said, command
        assert says_age(said, 1), command


def test_the_first_session_with_hooks_is_told_of_the_session_before_them(newcomer: User) -> None:
    _leave_unsaved(newcomer)
    newcomer.installs()

    reply = start(newcomer, "hello")

    assert holds(reply.model, ABOUT)
    assert holds(reply.person, "recover")
    assert holds(reply.person, ABOUT)
    assert "2+2" not in reply.model
    assert reply.model.count("- claude, ") == 1
    assert "1 session of this project has unsaved work" in newcomer.ok("status")
    # Nothing was recovered, so the next session is given the same.
    assert start(newcomer, "hello").model == reply.model


def test_a_killed_session_is_named_before_the_next_session_starts(user: User) -> None:
    _work_until_killed(user)
    user.lets_days_pass(2)

    for command in ("resume", "status"):
        said = user.ok(command)

        # It may have been recovered already; then the command shows it as work.
        assert holds(said, "exporter"), command
        assert "recover" in said or list_work(user), command
        assert says_age(said, 2), command


def test_what_was_recovered_goes_on_like_any_other_work(bench: Bench, newcomer: User) -> None:
    _leave_unsaved(newcomer)
    newcomer.installs()

    newcomer.ok("recover")
    (recovered,) = list_work(newcomer)
    reply = read_start(newcomer, newcomer.works("continue", *edit(bench)))

    assert recovered.days == 1
    assert holds(recovered.task, ABOUT)
    assert "tests/test_export.py" in recovered.next
    assert holds(reply.model, ABOUT)
    (work,) = list_work(newcomer)
    assert work.key == recovered.key
    assert NEXT in work.next
    assert work.days == 0
