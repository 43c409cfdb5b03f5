"""Hash without OpenSSL.

Nearly every command and hook hashes a path. Importing `hashlib` loads OpenSSL, which takes 3 ms, a
quarter of a bare start of Python. So this imports the small modules behind it, as the standard
library's `random` does.
"""

import sys

TYPE_CHECKING = False  # importing it from `typing` would make every hook event slower
if TYPE_CHECKING:
    from hashlib import blake2b, sha256
else:
    try:
        from _blake2 import blake2b

        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256
    except ImportError:
        # A Python may be built without them.
        from hashlib import blake2b, sha256

__all__ = ["blake2b", "sha256"]
