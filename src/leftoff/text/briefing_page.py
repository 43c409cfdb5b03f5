"""The page that shows a new session the state of a project, as a file."""

import re

HEAD = "# Session Briefing\nLast updated: "
TITLES = (
    "Active Features",
    "Recent Decisions (last 5)",
    "Approaches to AVOID",
    "Learned Rules",
    "Current Status",
)
_HEADING = re.compile(rb"^## +(.+?)[ \t\r]*$", re.MULTILINE)


def is_generated(page: bytes) -> bool:
    """Return whether a program wrote a whole page; a person may have added other sections."""
    if not page.startswith(HEAD.encode()):
        return False
    titles = {each.decode("utf-8", "replace") for each in _HEADING.findall(page)}
    return titles <= {*TITLES}
