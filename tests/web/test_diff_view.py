"""Two revisions differ in words, what matters most first."""

from leftoff.threads.compare import KeyChange
from leftoff.web.diff_view import describe_diff


def test_every_kind_of_value_is_one_text_and_the_work_comes_before_the_details() -> None:
    changes = [
        KeyChange(key="trigger", removed=["idle"], added=["manual"]),
        KeyChange(key="context", removed=[{"tokens": 1, "percent": 63.2}], added=[]),
        KeyChange(key="from_elsewhere", removed=[], added=[{"a": 1, "b": 2}]),
        KeyChange(key="todos", removed=[], added=[{"text": "Test", "status": "in_progress"}]),
        KeyChange(key="decisions", removed=[], added=[{"what": "Stream", "why": "2 GB"}]),
        KeyChange(key="trail", removed=[], added=[{"tool": "Edit", "what": "app.py"}]),
    ]

    found = [(each.label, each.removed, each.added) for each in describe_diff(changes)]

    assert found == [
        ("Todos", [], ["Test — in progress"]),
        ("Decisions", [], ["Stream — 2 GB"]),
        ("Last calls", [], ["Edit — app.py"]),
        ("Context", ["63 %"], []),
        ("Why it was saved", ["saved after a pause"], ["saved on request"]),
        ("From elsewhere", [], ["a 1, b 2"]),
    ]
