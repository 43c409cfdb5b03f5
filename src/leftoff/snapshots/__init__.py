"""Keep the uncommitted code of a worktree, so that no command can destroy it."""

from typing import TYPE_CHECKING

from leftoff.load_on_use import load_on_use

if TYPE_CHECKING:
    from leftoff.snapshots import lost_files as lost_files
    from leftoff.snapshots import retention as retention
    from leftoff.snapshots import shelf as shelf
    from leftoff.snapshots import take as take

# Most commands and events take no snapshot and look at none.
__getattr__ = load_on_use(__name__)
