"""Read the values of a request; a wrong one counts as missing."""

from starlette.requests import Request


def read_number(request: Request, name: str, *, most: int) -> int:
    """Return a number from the address, 0 to `most`."""
    given = request.query_params.get(name, "")
    number = int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else 0
    return min(number, most)
