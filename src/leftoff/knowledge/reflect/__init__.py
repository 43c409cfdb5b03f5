"""Turn what the user corrected into rules, so that nobody has to say it twice.

Only text that a person typed counts, and only what is new since the last run. A clear correction
becomes an active rule in memory; others wait there for review. A rejected rule does not come
back.
"""

from leftoff.knowledge.reflect.judge_message import ORDER, Bar, Grade
from leftoff.knowledge.reflect.learn_rules import (
    Reflection,
    SkippedCorrection,
    describe_in_harness_words,
    queue,
    reflect,
)

__all__ = [
    "ORDER",
    "Bar",
    "Grade",
    "Reflection",
    "SkippedCorrection",
    "describe_in_harness_words",
    "queue",
    "reflect",
]
