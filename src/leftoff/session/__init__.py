"""Read agents' sessions and work out what was done, what is planned and what comes next."""

from typing import TYPE_CHECKING

from leftoff.load_on_use import load_on_use

if TYPE_CHECKING:
    from leftoff.session import capture as capture
    from leftoff.session import prompt_queue as prompt_queue
    from leftoff.session import records as records
    from leftoff.session import running_work as running_work
    from leftoff.session import sessions as sessions
    from leftoff.session import unsaved_work as unsaved_work

__getattr__ = load_on_use(__name__)
