"""What the last runs show counts more than what the agent says about them."""

from e2e.claude import Bench
from e2e.exporter import begin, only_work
from e2e.faces import resume, start
from e2e.turns import bash, say, write
from e2e.user import User

# Fails with exit 1 as long as export.py lacks `rows`, whatever a pipe makes of it.
CHECK = "sh test.sh"
PLAN = "export.py is written. Next I will add a test to test_export.py."


def test_claims_pipes_and_asides_do_not_hide_what_is_next(bench: Bench, user: User) -> None:
    script = write(
        bench.repo.folder / "test.sh", "grep rows export.py || { echo '1 failed'; exit 1; }"
    )
    broken = write(bench.repo.folder / "export.py", "pass\n")
    session = begin(user, script, broken, bash(CHECK), say("All tests pass.")).session_id

    claimed = only_work(user).next
    assert claimed.startswith("Fix what made `sh test.sh` fail")
    assert 'The agent said "All tests pass.", but its last run of this shows otherwise.' in claimed
    assert claimed in resume(user).briefing

    again = ("--resume", session)
    user.works("try again", bash(f"{CHECK} 2>&1 | tail -1"), say("It fails."), options=again)
    assert only_work(user).next == "Fix what made `sh test.sh 2>&1 | tail -1` fail: 1 failed."

    fixed = write(bench.repo.folder / "export.py", "rows = iter(())\n")
    user.works("now stream the rows", fixed, bash(CHECK), say(PLAN), options=again)
    user.works("what does flask do?", say("Flask is a web framework."), options=again)

    kept = "Add a test to test_export.py. The agent said this before the user's last message"
    assert only_work(user).next.startswith(kept)
    assert "test_export.py" in start(user, "hello").model
