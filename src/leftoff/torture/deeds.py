"""The table of all deeds, by their names in reports."""

from collections.abc import Callable

from leftoff.torture import checkpoint_deeds, code_deeds, project_deeds
from leftoff.torture.deed import Deed
from leftoff.torture.world import Bench

DEEDS: dict[str, Callable[[Bench], Deed]] = {
    "save": checkpoint_deeds.save,
    "save with a decision": checkpoint_deeds.save_decision,
    "save over a name": checkpoint_deeds.overwrite,
    "save without a name": checkpoint_deeds.save_unnamed,
    "clear": checkpoint_deeds.about("cleared", "clear", "NAME"),
    "delete": checkpoint_deeds.about("cleared", "delete", "NAME"),
    "complete": checkpoint_deeds.about("consumed", "complete", "NAME"),
    "drop": checkpoint_deeds.about("dropped", "drop", "NAME"),
    "resume and accept": checkpoint_deeds.about("resumed", "resume", "NAME", "--accept"),
    "resume and decline": checkpoint_deeds.about("declined", "resume", "NAME", "--decline"),
    "resume and consume": checkpoint_deeds.resume_consuming,
    "undo": checkpoint_deeds.undo,
    "redo": checkpoint_deeds.redo,
    "restore from the trash": checkpoint_deeds.trash_restore,
    "purge": checkpoint_deeds.purge,
    "recover": checkpoint_deeds.recover,
    "export": checkpoint_deeds.export,
    "import": checkpoint_deeds.import_,
    "memory add": project_deeds.memory_add,
    "memory edit": project_deeds.memory_edit,
    "memory reject": project_deeds.memory_reject,
    "feature add": project_deeds.feature_add,
    "feature attempt": project_deeds.feature_attempt,
    "feature pass": project_deeds.feature_pass,
    "config set": project_deeds.config_set,
    "wal add": project_deeds.wal_add,
    "wal reset": project_deeds.wal_reset,
    "prompts import": project_deeds.prompts_import,
    "prompts drop": project_deeds.prompts_drop,
    "ship": project_deeds.ship,
    "init": project_deeds.init,
    "uninstall": project_deeds.uninstall,
    "off and on": project_deeds.switch,
    "settle": project_deeds.settle_events,
    "hook": project_deeds.hook,
    "snapshot": code_deeds.take,
    "snapshot, in git": code_deeds.in_git(code_deeds.take),
    "restore code": code_deeds.restore,
    "restore code, in git": code_deeds.in_git(code_deeds.restore),
    "undo a restore of code": code_deeds.undo_restore,
    "pack snapshots": code_deeds.pack,
    "pack snapshots, in git": code_deeds.in_git(code_deeds.pack),
}
# Deeds that may run at the same time in one project, or before another one is tried. Not among them
# are purges, switching off, and settings, of which several deeds would claim the same one.
TOGETHER = (
    "save", "save with a decision", "save over a name", "save without a name", "clear", "delete",
    "complete", "drop", "resume and accept", "resume and decline", "restore from the trash",
    "memory add", "memory edit", "feature add", "wal add", "prompts import", "settle",
)  # fmt: skip
