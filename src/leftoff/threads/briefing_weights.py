"""Say what each line of a briefing is worth to the next session.

If the budget is short, the lightest lines are left out. The weights were tuned on recorded
sessions; see `make fidelity`.
"""

import msgspec

SHORT_CHARS = 200
"""How much of a sentence is always shown."""


class Weights(msgspec.Struct, frozen=True):
    """The weight of each kind of line, in the order in which a briefing shows them."""

    imported: float = 104
    age: float = 98
    task: float = 100
    task_rest: float = 82.5
    old_task_rest: float = 56
    action: float = 99
    action_rest: float = 78
    request: float = 95
    request_rest: float = 74
    answered: float = 94
    new_request: float = 83
    old_request: float = 62
    rule: float = 76
    # What changed since. Nobody else can say how to get destroyed code back.
    lost_code: float = 103
    branch: float = 97
    head: float = 96
    new_commit: float = 72
    missing_file: float = 94
    changed_file: float = 93
    worktree: float = 92
    # What happened last.
    interruption: float = 91
    failure: float = 88
    error: float = 84
    prompt: float = 92
    blocker: float = 80
    failed: float = 79
    old_failed: float = 66
    last_call: float = 88
    call_before: float = 86
    earlier_call: float = 72
    last_sentence: float = 87
    last_words: float = 71
    earlier_words: float = 58
    # What is planned and known.
    todo: float = 84
    plan: float = 82
    question: float = 70
    decision: float = 68
    done: float = 45
    # Files and commands.
    first_file: float = 93
    needed_file: float = 92.9
    likely_file: float = 89
    command: float = 77
    other_commands: float = 82
    edited_file: float = 80
    deleted_file: float = 79
    seen_file: float = 75.5
    named_file: float = 55
    note: float = 40
    other_line: float = 42
    last_commit: float = 80.5
    folder: float = 60
    uncommitted: float = 35
    usage: float = 20


USUAL = Weights()
# An offer at session start has room for a few lines: those about the work under way.
BRIEF = Weights(
    action_rest=84,
    failure=92,
    last_call=91.8,
    last_sentence=91.6,
    needed_file=86,
    likely_file=81,
    plan=70,
    last_commit=62,
)
