"""The instructions for agents: one page for each profile, in the words of its system."""

from collections.abc import Mapping
from importlib import resources

from leftoff.agents.dialects import DIALECTS

DEFAULT = "default"


def compose_guide(
    profile: str, agent: str | None = None, changed: Mapping[str, str] | None = None
) -> str:
    """Return the page of a profile, with what differs for an agent and in this project.

    `changed` are settings that override the profile's, with their values.
    """
    parts = [_read(profile)]
    if agent is not None:
        parts.append(_read("with-hooks" if agent in DIALECTS else "without-hooks"))
    if changed:
        listed = ", ".join(f"`{key} = {value}`" for key, value in changed.items())
        parts.append(f"The user changed these settings, which take precedence: {listed}.\n")
    return "\n".join(parts)


def _read(name: str) -> str:
    return (resources.files(__name__) / f"{name}.md").read_text(encoding="utf-8")
