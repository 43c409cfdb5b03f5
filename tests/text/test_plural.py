import pytest

from leftoff.text.plural import format_count


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1000, "1000 files")]
)
def test_only_one_thing_is_named_in_the_singular(number: int, said: str) -> None:
    assert format_count(number, "file") == said
