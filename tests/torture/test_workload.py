"""A workload acknowledges its claims, except those that its output takes back."""

from leftoff.torture.claims_ledger import Claim
from leftoff.torture.workload import Workload, list_acknowledged

CHECKPOINT, MEMORY = Claim("checkpoint", "job-1-1z"), Claim("memory", "job-1-1z")
WORKLOAD = Workload(
    work=lambda: 0, claims=(CHECKPOINT, MEMORY), takes_back={b"not in the memory": "memory"}
)


def test_all_claims_are_acknowledged() -> None:
    assert list_acknowledged(WORKLOAD, b"Saved.") == [CHECKPOINT, MEMORY]


def test_only_the_claims_that_it_takes_back_are_not() -> None:
    assert list_acknowledged(WORKLOAD, b"Saved. warning: It is not in the memory.") == [CHECKPOINT]
