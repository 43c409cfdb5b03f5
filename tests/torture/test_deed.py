"""A deed acknowledges what it claims, but for what it says it did not do."""

from leftoff.torture.deed import Deed, acknowledged
from leftoff.torture.ledger import Claim

CHECKPOINT, MEMORY = Claim("checkpoint", "job-1-1z"), Claim("memory", "job-1-1z")
DEED = Deed(
    work=lambda: 0, claims=(CHECKPOINT, MEMORY), takes_back={b"not in the memory": "memory"}
)


def test_all_claims_are_acknowledged() -> None:
    assert acknowledged(DEED, b"Saved.") == [CHECKPOINT, MEMORY]


def test_only_the_claims_that_it_takes_back_are_not() -> None:
    assert acknowledged(DEED, b"Saved. warning: It is not in the memory.") == [CHECKPOINT]
