"""Reflection: what the user corrected becomes a rule, so that it need not be said again.

Only what a person typed is looked at, and only what is new since the last time. A correction that
is sure enough becomes an active rule of the memory; others wait there for review. Nothing that was
rejected comes back.
"""

from leftoff.knowledge.reflect.judge_message import ORDER, Grade
from leftoff.knowledge.reflect.learn_rules import Reflection, Skipped, queue, reflect

__all__ = ["ORDER", "Grade", "Reflection", "Skipped", "queue", "reflect"]
