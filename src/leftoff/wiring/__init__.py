"""Install leftoff's hooks in an agent's settings, remove them, and check that they work."""

from typing import TYPE_CHECKING

from leftoff.load_on_use import load_on_use

if TYPE_CHECKING:
    from leftoff.wiring import agent_wirings as agent_wirings
    from leftoff.wiring import hooks_state as hooks_state

# `leftoff status` starts fast, and loads this only after it has found its project.
__getattr__ = load_on_use(__name__)
