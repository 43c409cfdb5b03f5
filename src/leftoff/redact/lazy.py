"""Compile regular expressions when they are first used.

Most texts need few of them, and compiling all of them takes longer than redacting a short text.
"""

import re
from typing import Any, cast


class _Lazy:
    def __init__(self, pattern: bytes) -> None:
        self._pattern = pattern

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._pattern)
        for method in ("search", "match", "fullmatch", "finditer", "findall", "sub", "split"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy(pattern: bytes) -> re.Pattern[bytes]:
    """Return a stand-in for a compiled pattern, which compiles the pattern at its first call."""
    return cast("re.Pattern[bytes]", _Lazy(pattern))
