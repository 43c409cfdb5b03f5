"""The web page of `leftoff ui`: rendered here, served on this machine only."""

from typing import TYPE_CHECKING

from leftoff.load_on_use import load_on_use

if TYPE_CHECKING:
    from leftoff.web import serve as serve
    from leftoff.web import site as site

# The server takes longer to import than most commands to run, and its packages may be missing.
__getattr__ = load_on_use(__name__)
