"""Words: what sentences need that speak of more than one thing."""


def counted(number: int, thing: str) -> str:
    """Say how many there are of a thing: `1 file`, `2 files`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
