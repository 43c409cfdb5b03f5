"""Features, fixes and the work on them: what is to be done, what was tried, what is done.

Features and fixes are the project's, in `features.json` of the store; a loop is the session's or
worktree's, in `loops/`.
"""

from leftoff.features.context import Notes, WorkingContext, helper_text, working_context
from leftoff.features.files import waiting_in
from leftoff.features.interruption import (
    avoided,
    how_to_go_on,
    interrupted_loops,
    mark_interrupted,
    ways_to_go_on,
)
from leftoff.features.lessons import told_to_helper
from leftoff.features.loops import (
    Ending,
    Reset,
    attempt,
    fail,
    keep_loop,
    loop,
    loops,
    pass_,
    reset_completed,
    start,
)
from leftoff.features.orchestration import (
    Folded,
    add_result,
    fold_orchestration,
    keep_orchestration,
)
from leftoff.features.steps import Again, Try
from leftoff.features.taking import places, take_in, take_in_loops, take_in_orchestration
from leftoff.features.values import (
    Attempt,
    Board,
    Choice,
    Feature,
    Fix,
    Interrupted,
    Loop,
    LoopStatus,
    Orchestration,
    Result,
    Scenario,
    Status,
    Tasks,
    Team,
)
from leftoff.features.work import (
    Archived,
    Draft,
    add,
    add_fix,
    archive,
    find,
    load,
    put,
    restore,
    update,
    waits_for,
)

__all__ = [
    "Again",
    "Archived",
    "Attempt",
    "Board",
    "Choice",
    "Draft",
    "Ending",
    "Feature",
    "Fix",
    "Folded",
    "Interrupted",
    "Loop",
    "LoopStatus",
    "Notes",
    "Orchestration",
    "Reset",
    "Result",
    "Scenario",
    "Status",
    "Tasks",
    "Team",
    "Try",
    "WorkingContext",
    "add",
    "add_fix",
    "add_result",
    "archive",
    "attempt",
    "avoided",
    "fail",
    "find",
    "fold_orchestration",
    "helper_text",
    "how_to_go_on",
    "interrupted_loops",
    "keep_loop",
    "keep_orchestration",
    "load",
    "loop",
    "loops",
    "mark_interrupted",
    "pass_",
    "places",
    "put",
    "reset_completed",
    "restore",
    "start",
    "take_in",
    "take_in_loops",
    "take_in_orchestration",
    "told_to_helper",
    "update",
    "waiting_in",
    "waits_for",
    "ways_to_go_on",
    "working_context",
]
