"""Serve leftoff's tools to any agent over the Model Context Protocol, on standard input and output.

The official SDK takes 75 times the CPU of `python -c pass` to import, and agents drop servers
that start slowly. So the protocol is written here. `connection` and `methods` answer the handshake
with nothing but the standard library; everything else is loaded on the first call of a tool.
"""

from leftoff.load_on_use import load_on_use

TYPE_CHECKING = False  # importing `typing` takes as long as the rest of the handshake
if TYPE_CHECKING:
    from leftoff.mcp import caller as caller
    from leftoff.mcp import mcp_resources as mcp_resources
    from leftoff.mcp import run_tools as run_tools
    from leftoff.mcp import snapshot_tool as snapshot_tool

__getattr__ = load_on_use(__name__)
