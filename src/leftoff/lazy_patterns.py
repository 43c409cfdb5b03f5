"""Compile regular expressions when they are first used.

Most texts need few of them. Compiling all rules of redaction takes longer than redacting a short
text, and compiling what reads an agent's last words takes half as long as a bare start of Python.
"""

import re
from typing import Any, AnyStr, cast


class _Lazy:
    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._pattern, self._flags)
        for method in ("search", "match", "fullmatch", "finditer", "findall", "sub", "split"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a stand-in for a compiled pattern, which compiles the pattern at its first call."""
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, flags))
