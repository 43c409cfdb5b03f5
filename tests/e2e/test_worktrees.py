"""Two sessions at once in two worktrees do not mix."""

from e2e.claude import Bench
from e2e.model import Model
from e2e.turns import say, write
from e2e.user import TOOLS, User

LOGIN, EXPORT = "Build the login page", "Build the CSV export"


def test_sessions_at_once_in_two_worktrees_are_each_told_of_their_own_work(
    bench: Bench, model: Model, user: User
) -> None:
    left, right = bench.worktree("login"), bench.worktree("export")
    model.will(
        write(left.folder / "login.py", "one\n", at=left.folder),
        write(right.folder / "export.py", "two\n", at=right.folder),
        say("Half done.", stall=True, at=left.folder),
        say("Half done.", stall=True, at=right.folder),
    )
    runs = [
        bench.start(LOGIN, *TOOLS, cwd=left.folder),
        bench.start(EXPORT, *TOOLS, cwd=right.folder),
    ]
    model.wait_for(LOGIN)
    model.wait_for(EXPORT)
    model.release()
    assert [run.wait().code for run in runs] == [0, 0]
    user.settled()

    bench.run("hello left", cwd=left.folder)
    bench.run("hello right", cwd=right.folder)

    seen_left, seen_right = (model.wait_for(f"hello {side}").news for side in ("left", "right"))
    assert LOGIN in seen_left
    assert EXPORT in seen_right
    by_task = {one["intent"]: one for one in user.saved("session-end", cwd=left.folder)}
    assert by_task[LOGIN]["files_modified"] == ["login.py"]
    assert by_task[EXPORT]["files_modified"] == ["export.py"]
    assert by_task[LOGIN]["branch"] == "login"
    assert by_task[EXPORT]["branch"] == "export"


def test_the_work_of_another_worktree_is_named_as_such(
    bench: Bench, model: Model, user: User
) -> None:
    other = bench.worktree("login")
    user.works(LOGIN, say("Half done."), cwd=other.folder)

    bench.run("hello")

    seen = model.requests()[-1].news
    assert LOGIN not in seen or "login" in seen.replace(LOGIN, "")


def test_a_session_in_a_subfolder_belongs_to_the_same_project(
    bench: Bench, model: Model, user: User
) -> None:
    bench.repo.commit("A folder", {"web/index.html": "<p>\n"})
    folder = bench.repo.folder / "web"
    user.works(LOGIN, write(folder / "login.html", "<form>\n"), say("Half done."), cwd=folder)

    bench.run("hello")

    news = model.requests()[-1].news
    assert LOGIN in news
    assert "- web/login.html (edited, uncommitted)" in news
    assert "Changed since" not in news


def test_work_of_a_removed_worktree_is_called_that_by_every_face(
    bench: Bench, model: Model, user: User
) -> None:
    other = bench.worktree("login")
    user.works(LOGIN, write(other.folder / "login.py", "1\n"), say("Half."), cwd=other.folder)
    bench.repo.git("worktree", "remove", "--force", str(other.folder))

    bench.run("hello")

    assert f"in worktree {other.folder} (removed or moved)" in model.requests()[-1].news
    user.settled()
    for face in ("list", "status"):
        assert f"{other.folder} (removed or moved)" in user.ok(face)
    shown = user.ok("resume")
    assert f"saved in another worktree: {other.folder}, which was removed or moved" in shown
