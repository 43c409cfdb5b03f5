"""Read the values of a request; a wrong one counts as missing."""

from starlette.requests import Request


def read_number(request: Request, name: str, *, most: int, least: int = 0) -> int:
    """Return a number from the address, within its limits."""
    given = request.query_params.get(name, "")
    number = int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else least
    return min(max(number, least), most)
