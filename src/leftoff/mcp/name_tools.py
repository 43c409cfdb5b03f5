"""Turn advice to run a command into advice to call a tool: an agent may have no shell."""

import re

from leftoff.mcp.tool_schemas import ARGUMENTS

_RUN = re.compile(r"\b(?P<run>[Rr]un) `leftoff(?: (?P<word>[a-z-]+)(?P<rest>[^`]*))?`")


def name_tools(text: str) -> str:
    """Name the tool that does what a command does; only the user can run the other commands."""
    return _RUN.sub(_name_tool, text)


def _name_tool(found: re.Match[str]) -> str:
    word, rest = found["word"] or "status", (found["rest"] or "").strip()
    is_subcommand = word == "snapshot" and rest != ""
    has_options = rest.startswith("-") and rest != "--all"
    if word not in ARGUMENTS or is_subcommand or has_options:
        ask = "Ask" if found["run"] == "Run" else "ask"
        return f"{ask} the user to run {found[0][4:]}"
    call = "Call" if found["run"] == "Run" else "call"
    return f"{call} `{word}`{' with `all` true' * (rest == '--all')}"
