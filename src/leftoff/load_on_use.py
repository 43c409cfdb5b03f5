"""Load the modules of a package when they are first used.

Hooks and listings start Python for every event and every call. Loading what an event may need takes
11 times the CPU of `python -c pass`, and most runs need a small part of it.
"""

import sys

TYPE_CHECKING = False  # importing it from `typing` would make every hook event slower
if TYPE_CHECKING:
    from collections.abc import Callable


def load_on_use(package: str) -> "Callable[[str], object]":
    """Return a package's `__getattr__`, which imports a module on first access."""

    def load(name: str) -> object:
        module = f"{package}.{name}"
        if name.startswith("_"):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            __import__(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from error
        return sys.modules[module]

    return load
