import pytest

from leftoff.words import counted


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1000, "1000 files")]
)
def test_only_one_thing_is_told_in_the_singular(number: int, said: str) -> None:
    assert counted(number, "file") == said
