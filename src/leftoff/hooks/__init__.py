"""Hooks: the letterbox stores every event, and settle turns events into checkpoints."""

from leftoff.load_on_use import load_on_use

TYPE_CHECKING = False  # importing it from `typing` would make every event slower
if TYPE_CHECKING:
    from leftoff.hooks import after_compaction as after_compaction
    from leftoff.hooks import answer_compaction as answer_compaction
    from leftoff.hooks import before_command as before_command
    from leftoff.hooks import command_policy as command_policy
    from leftoff.hooks import context_policy as context_policy
    from leftoff.hooks import context_usage as context_usage
    from leftoff.hooks import drain_spool as drain_spool
    from leftoff.hooks import first_contact as first_contact
    from leftoff.hooks import first_prompt as first_prompt
    from leftoff.hooks import hand_over as hand_over
    from leftoff.hooks import installation as installation
    from leftoff.hooks import interrupted_work as interrupted_work
    from leftoff.hooks import late_offers as late_offers
    from leftoff.hooks import lost_code as lost_code
    from leftoff.hooks import memory_context as memory_context
    from leftoff.hooks import pending_notice as pending_notice
    from leftoff.hooks import process_event as process_event
    from leftoff.hooks import protect_code as protect_code
    from leftoff.hooks import settle as settle
    from leftoff.hooks import snapshot_step as snapshot_step
    from leftoff.hooks import spool as spool
    from leftoff.hooks import start_recovery as start_recovery
    from leftoff.hooks import trouble as trouble

__getattr__ = load_on_use(__name__)
