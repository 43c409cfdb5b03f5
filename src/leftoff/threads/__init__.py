"""Threads: compose checkpoints, save them, check them and describe them to the next session."""

from typing import TYPE_CHECKING

from leftoff.load_on_use import load_on_use

if TYPE_CHECKING:
    from leftoff.threads import briefing as briefing
    from leftoff.threads import check_claims as check_claims
    from leftoff.threads import compare as compare
    from leftoff.threads import compose as compose
    from leftoff.threads import find_by_name as find_by_name
    from leftoff.threads import memory_briefing as memory_briefing
    from leftoff.threads import name_thread as name_thread
    from leftoff.threads import persist as persist
    from leftoff.threads import recover as recover
    from leftoff.threads import recovery_briefing as recovery_briefing

__getattr__ = load_on_use(__name__)
