"""Which thread a prompt of the real Claude Code belongs to."""

from e2e.claude import Bench
from e2e.faces import list_work
from e2e.turns import say, write
from e2e.user import User

TASK = "add coupon codes to the checkout"
WORDS = "The codes are there. Next I will add a test for expired codes."


def test_a_resumed_session_that_only_talked_can_still_join_the_thread(
    bench: Bench, user: User
) -> None:
    repo = bench.repo.folder
    user.works(TASK, write(repo / "coupons.py", "CODES = {}\n"), say(WORDS))
    talked = user.works("hi", say("Hello! Shall we go on with the coupon codes?")).session_id
    more = (write(repo / "test_coupons.py", "1\n"), say("Next I will run the tests."))

    user.works("let's go on with the coupon codes", *more, options=("--resume", talked))

    assert [(row.task, row.next) for row in list_work(user)] == [(TASK, "Run the tests.")]
