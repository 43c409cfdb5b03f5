"""Find the user's state folder without loading anything, for what runs at every prompt."""

import os

try:
    import posix as system
except ImportError:  # Windows
    import nt as system  # type: ignore[no-redef]


def state_folder() -> str:
    """Return the user's state folder; `leftoff.context` would take longer to load."""
    environment = {os.fsdecode(key): os.fsdecode(value) for key, value in system.environ.items()}
    home = environment.get("HOME", "")
    base = environment.get("XDG_STATE_HOME", "")
    # A relative folder does not count, as the specification of these variables says.
    base = base if base.startswith(("/", "~/")) else f"{home}/.local/state"
    state = environment.get("LEFTOFF_HOME") or f"{base}/leftoff"
    return f"{home}{state[1:]}" if state.startswith("~/") else os.path.abspath(state)  # noqa: PTH100
