"""The table of all workloads, by their names in reports."""

from collections.abc import Callable

from leftoff.torture import checkpoint_workloads, code_workloads, project_workloads
from leftoff.torture.workload import Workload
from leftoff.torture.world import Bench

WORKLOADS: dict[str, Callable[[Bench], Workload]] = {
    "save": checkpoint_workloads.save,
    "save with a decision": checkpoint_workloads.save_decision,
    "save over a name": checkpoint_workloads.overwrite,
    "save without a name": checkpoint_workloads.save_unnamed,
    "clear": checkpoint_workloads.about("cleared", "clear", "NAME"),
    "delete": checkpoint_workloads.about("cleared", "delete", "NAME"),
    "complete": checkpoint_workloads.about("consumed", "complete", "NAME"),
    "drop": checkpoint_workloads.about("dropped", "drop", "NAME"),
    "resume and accept": checkpoint_workloads.about("resumed", "resume", "NAME", "--accept"),
    "resume and decline": checkpoint_workloads.about("declined", "resume", "NAME", "--decline"),
    "resume and consume": checkpoint_workloads.resume_consuming,
    "undo": checkpoint_workloads.undo,
    "redo": checkpoint_workloads.redo,
    "restore from the trash": checkpoint_workloads.trash_restore,
    "purge": checkpoint_workloads.purge,
    "recover": checkpoint_workloads.recover,
    "export": checkpoint_workloads.export,
    "import": checkpoint_workloads.import_,
    "memory add": project_workloads.memory_add,
    "memory edit": project_workloads.memory_edit,
    "memory reject": project_workloads.memory_reject,
    "feature add": project_workloads.feature_add,
    "feature attempt": project_workloads.feature_attempt,
    "feature pass": project_workloads.feature_pass,
    "config set": project_workloads.config_set,
    "wal add": project_workloads.wal_add,
    "wal reset": project_workloads.wal_reset,
    "prompts import": project_workloads.prompts_import,
    "prompts drop": project_workloads.prompts_drop,
    "ship": project_workloads.ship,
    "init": project_workloads.init,
    "uninstall": project_workloads.uninstall,
    "off and on": project_workloads.switch,
    "settle": project_workloads.settle_events,
    "hook": project_workloads.hook,
    "snapshot": code_workloads.take,
    "snapshot, in git": code_workloads.in_git(code_workloads.take),
    "restore code": code_workloads.restore,
    "restore code, in git": code_workloads.in_git(code_workloads.restore),
    "undo a restore of code": code_workloads.undo_restore,
    "pack snapshots": code_workloads.pack,
    "pack snapshots, in git": code_workloads.in_git(code_workloads.pack),
}
# Workloads that may run at the same time in one project, or before another one is tried. Purges,
# switching off, and settings are missing: several workloads would claim the same one.
TOGETHER = (
    "save", "save with a decision", "save over a name", "save without a name", "clear", "delete",
    "complete", "drop", "resume and accept", "resume and decline", "restore from the trash",
    "memory add", "memory edit", "feature add", "wal add", "prompts import", "settle",
)  # fmt: skip
