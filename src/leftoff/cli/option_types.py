"""Parse numeric options; an error names the limit that the number exceeds."""

from typing import Any

import click


class Number(click.ParamType):  # type: ignore[type-arg] # generic only in newer versions of click
    """A number within limits."""

    name = "n"

    def __init__(
        self, least: float, most: float | None = None, *, kind: type[int] | type[float] = int
    ) -> None:
        self._least, self._most, self._kind = least, most, kind

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | float:
        """Return the number, or refuse it."""
        try:
            number = self._kind(value)
        except ValueError:
            what = "a whole number" if self._kind is int else "a number"
            self.fail(f"{value!r} is not {what}.", param, ctx)
        if number < self._least:
            self.fail(f"it must be at least {self._least:,}.", param, ctx)
        # A number that is not one, such as `nan`, is not within any limits.
        if not number >= self._least or (self._most is not None and number > self._most):
            self.fail(f"it must be at most {self._most:,}.", param, ctx)
        return number
