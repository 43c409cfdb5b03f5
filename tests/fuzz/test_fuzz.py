"""A short run of every fuzz target; `make fuzz` runs them for as long as you like."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fuzz.mutations import mutated
from fuzz.targets import TARGETS, ending

_FEW = 40
_FEWER = 5


@pytest.mark.parametrize("name", TARGETS)
def test_every_seed_holds(name: str) -> None:
    with ending():
        for seed in TARGETS[name].seeds:
            TARGETS[name].check(seed)


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_seeds_hold(name: str) -> None:
    target = TARGETS[name]

    @settings(
        max_examples=_FEWER if target.is_slow else _FEW,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[*HealthCheck],
        phases=[Phase.generate, Phase.shrink],
    )
    @given(mutated(target.seeds))
    def holds(data: bytes) -> None:
        with ending():
            target.check(data)

    holds()


@settings(max_examples=50, derandomize=True, database=None)
@given(st.data())
def test_mutations_keep_the_seed_reachable_and_change_it(data: st.DataObject) -> None:
    drawn = data.draw(mutated([b"seed"]))

    assert isinstance(drawn, bytes)
