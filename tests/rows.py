"""Tests over a table: one test for all rows, which names every row that fails."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

# Of these the failure is shown in full; a rule that breaks altogether breaks a thousand rows.
_SHOWN = 10

Test = Callable[..., None]


def for_each(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Call a test once for each row, as `pytest.mark.parametrize` does, but as one test.

    This is for tests of pure functions with many rows: pytest and its fixtures take longer for
    one test than most functions take for a hundred rows. All rows share the fixtures of the test.
    """
    columns = [names] if isinstance(names, str) else list(names)
    table = [(row,) if isinstance(names, str) else tuple(row) for row in rows]
    assert table, "there are no rows"

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def test_all(**fixtures: Any) -> None:
            failures = [
                failure
                for row in table
                if (failure := _try(test, fixtures, dict(zip(columns, row, strict=True))))
            ]
            if failures:
                message = f"{len(failures)} of {len(table)} rows fail"
                raise ExceptionGroup(message, failures[:_SHOWN])

        signature = inspect.signature(test)
        kept = [value for name, value in signature.parameters.items() if name not in columns]
        test_all.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return test_all

    return decorate


def _try(test: Test, fixtures: dict[str, Any], row: dict[str, Any]) -> Exception | None:
    try:
        test(**fixtures, **row)
    except Exception as error:  # noqa: BLE001 - whatever it is, the other rows are tried, too
        error.add_note(f"in the row {row!r}")
        return error
    return None
