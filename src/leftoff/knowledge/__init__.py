"""What a project remembers beyond single checkpoints: memory, features and corrections."""

from typing import TYPE_CHECKING

from leftoff.load_on_use import load_on_use

if TYPE_CHECKING:
    from leftoff.knowledge import features as features
    from leftoff.knowledge import memory as memory
    from leftoff.knowledge import reflect as reflect

__getattr__ = load_on_use(__name__)
