"""Load modules when they are first used: those of a package, and those that a registry names.

Hooks and listings start Python for every event and every call. Loading what an event may need takes
11 times the CPU of `python -c pass`, and most runs need a small part of it.
"""

import os
import sys

TYPE_CHECKING = False  # importing it from `typing` would make every hook event slower
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


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


class _StandIn:
    """A module that is not loaded yet, in a registry."""

    __slots__ = ("__dict__", "_path")

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> object:
        known: object = sys.modules.get(self._path)
        if known is self:
            del sys.modules[self._path]
        __import__(self._path)
        module = sys.modules[self._path]
        # From now on it has everything that the module has, without a way round.
        self.__dict__ = module.__dict__
        return getattr(module, name)


def module_on_use(path: str) -> "Any":
    """Return a stand-in for a module, which imports it when one of its names is first used."""
    return _StandIn(path)


def import_without(name: str, needless: str, **given: object) -> None:
    """Import a module, but load another one that it imports only when it is used.

    `given` are names of the other module that can be used without loading it.
    """
    if needless in sys.modules:
        __import__(name)
        return
    stand_in = module_on_use(needless)
    # The import statement reads the spec of a module that is in `sys.modules`, and its path if
    # it imports names from it.
    stand_in.__dict__.update(given, __spec__=None, __path__=[])
    sys.modules[needless] = stand_in
    try:
        __import__(name)
    finally:
        if sys.modules.get(needless) is stand_in:
            del sys.modules[needless]


def import_msgspec() -> None:
    """Import msgspec, and what it imports, without modules of which nothing is used."""
    import typing  # noqa: PLC0415 - 7 ms, which the shell prompt saves

    # pathlib needs it, at once or, from Python 3.13 on, for the address of a database.
    import_without("urllib.parse", "ipaddress")
    import_without("uuid", "platform", system=lambda: os.uname().sysname)
    # Only the extra `ui` brings typing_extensions along; Python's own `typing` has these names.
    hints = {"get_type_hints": typing.get_type_hints}
    names = {"NotRequired": typing.NotRequired, "Required": typing.Required}
    import_without("msgspec", "typing_extensions", **hints, **names)
