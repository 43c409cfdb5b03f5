"""Add leftoff's MCP server to the settings of each agent, and remove it again.

Each function takes and returns the text of the agent's own file. Nothing else in it changes: the
agents' own `mcp add` commands of Gemini CLI, opencode and Copilot rewrite the whole file.
"""

import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import tomlkit
from tomlkit.exceptions import TOMLKitError

from leftoff.errors import LeftoffError
from leftoff.wiring import json_edit, jsonc_edit

if TYPE_CHECKING:
    from leftoff.context import Environment

NAME = "leftoff"


class McpFile(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent's settings name an MCP server."""

    find: "Callable[[Environment], Path]"
    """Where the file is."""
    section: str
    """The key that holds the servers."""
    build: Callable[[str, Sequence[str]], dict[str, Any]]
    """Makes the entry from a program and its arguments."""
    is_toml: bool = False


def find_file(environment: "Environment", agent: str) -> Path:
    """Return the file in which an agent's MCP servers are named."""
    return FILES[agent].find(environment)


def read_entry(agent: str, text: str) -> dict[str, Any] | None:
    """Return the entry named `leftoff`, if there is one."""
    servers = _read(agent, text).get(FILES[agent].section)
    entry = servers.get(NAME) if isinstance(servers, dict) else None
    return entry if isinstance(entry, dict) else None


def add_entry(agent: str, text: str, command: Sequence[str]) -> str:
    """Return the text with an entry that starts this command; unchanged if it is there.

    What the user added to the entry, such as variables, stays.
    """
    file = FILES[agent]
    wanted = file.build(command[0], command[1:])
    before = _read(agent, text)
    servers = before.get(file.section, {})
    if not isinstance(servers, dict) or not isinstance(servers.get(NAME, {}), dict):
        raise _refuse(agent, f"{file.section} is not a table")
    entry = {**servers.get(NAME, {}), **wanted}
    if servers.get(NAME) == entry:
        return text
    put = _put_toml if file.is_toml else _put_json
    after = put(text, file.section, entry, is_new=NAME not in servers)
    if _read(agent, after) != {**before, file.section: {**servers, NAME: entry}}:
        raise _refuse(agent, "the result would be wrong")
    return after


def remove_entry(agent: str, text: str) -> str:
    """Return the text without the entry; a section that this leaves empty goes, too."""
    file = FILES[agent]
    before = _read(agent, text)
    servers = before.get(file.section)
    if not isinstance(servers, dict) or NAME not in servers:
        return text
    rest = {key: value for key, value in servers.items() if key != NAME}
    after = (_cut_toml if file.is_toml else _cut_json)(text, file.section, is_only=not rest)
    wanted = {key: value for key, value in before.items() if key != file.section}
    if _read(agent, after) != ({**before, file.section: rest} if rest else wanted):
        raise _refuse(agent, "the result would be wrong")
    return after


def _read(agent: str, text: str) -> dict[str, Any]:
    try:
        if FILES[agent].is_toml:
            return tomllib.loads(text)
        values = jsonc_edit.read(text) if text.strip() else {}
    except (json_edit.NotJson, tomllib.TOMLDecodeError) as error:
        raise _refuse(agent, str(error)) from error
    if not isinstance(values, dict):
        raise _refuse(agent, "it is not an object")
    return values


def _refuse(agent: str, why: str) -> LeftoffError:
    return LeftoffError(
        f"The settings of {agent} cannot be changed ({why}), so nothing was changed",
        hint="Fix the file by hand, then try again.",
    )


# --- JSON ---


def _put_json(text: str, section: str, entry: dict[str, Any], *, is_new: bool) -> str:
    del is_new
    if text.strip():
        return jsonc_edit.put(text, (section, NAME), entry)
    return jsonc_edit.put("{}", (section, NAME), entry) + "\n"


def _cut_json(text: str, section: str, *, is_only: bool) -> str:
    return jsonc_edit.remove(text, (section,) if is_only else (section, NAME))


# --- TOML ---


def _put_toml(text: str, section: str, entry: dict[str, Any], *, is_new: bool) -> str:
    """Append a table to the end, which changes nothing before it; edit one that is there."""
    if is_new:
        newline = "\r\n" if "\r\n" in text else "\n"
        lines = tomlkit.dumps({section: {NAME: entry}}).replace(f"[{section}]\n", "", 1)
        apart = "" if not text or text.endswith("\n") else newline
        blank = newline if text.strip() else ""
        added = f"{text}{apart}{blank}{lines.replace(chr(10), newline)}"
        if _is_toml(added):
            return added
    # The section is written in one line, such as `mcp_servers = {}`, or the entry is there.
    document = tomlkit.parse(text)
    table: Any = document[section]
    if is_new:
        table[NAME] = entry
    else:
        for key, value in entry.items():
            table[NAME][key] = value
    return document.as_string()


def _cut_toml(text: str, section: str, *, is_only: bool) -> str:
    """Cut the lines of the table and of those below it."""
    after = "".join(_drop_tables(text.splitlines(keepends=True), section))
    wanted = tomllib.loads(text)
    del wanted[section][NAME]
    if is_only:
        del wanted[section]
    # A text of several lines may hold what looks like a table.
    if _is_toml(after) and tomllib.loads(after) == wanted:
        return after
    document = tomlkit.parse(text)
    if is_only:
        document.remove(section)
    else:
        table: Any = document[section]
        table.remove(NAME)
    return document.as_string()


def _drop_tables(lines: Sequence[str], section: str) -> list[str]:
    """Drop leftoff's tables, each with the blank line before it.

    Blank lines and comments at the end of a table belong to the next one.
    """
    ours = re.compile(rf"[ \t]*\[[ \t]*{re.escape(section)}[ \t]*\.[ \t]*{NAME}[ \t]*[.\]]")
    kept: list[str] = []
    held: list[str] = []
    is_ours = False
    for line in lines:
        plain = line.strip()
        if plain.startswith("["):
            kept += held
            held, is_ours = [], ours.match(line) is not None
            if is_ours and kept and not kept[-1].strip():
                kept.pop()
        if not is_ours:
            kept.append(line)
        elif plain and not plain.startswith("#"):
            held = []
        else:
            held.append(line)
    return kept + held


def _is_toml(text: str) -> bool:
    try:
        tomlkit.parse(text)
        tomllib.loads(text)
    except (TOMLKitError, tomllib.TOMLDecodeError):
        return False
    return True


# --- the agents ---


def _find_claude(environment: "Environment") -> Path:
    """Claude Code keeps the servers of all projects in its state file, beside the folder."""
    named = environment.find_folder("CLAUDE_CONFIG_DIR")
    return (named or environment.home) / ".claude.json"


def _find_opencode(environment: "Environment") -> Path:
    folder = environment.config_file.parent.parent / "opencode"
    commented = folder / "opencode.jsonc"
    return commented if commented.is_file() else folder / "opencode.json"


def _find_below(agent: str, name: str) -> "Callable[[Environment], Path]":
    return lambda environment: environment.find_agent_folder(agent) / name


FILES: dict[str, McpFile] = {
    "claude": McpFile(
        find=_find_claude,
        section="mcpServers",
        build=lambda program, words: {"type": "stdio", "command": program, "args": [*words]},
    ),
    "codex": McpFile(
        find=_find_below("codex", "config.toml"),
        section="mcp_servers",
        build=lambda program, words: {"command": program, "args": [*words]},
        is_toml=True,
    ),
    "gemini": McpFile(
        find=_find_below("gemini", "settings.json"),
        section="mcpServers",
        build=lambda program, words: {"command": program, "args": [*words]},
    ),
    "opencode": McpFile(
        find=_find_opencode,
        section="mcp",
        build=lambda program, words: {
            "type": "local",
            "command": [program, *words],
            "enabled": True,
        },
    ),
    "copilot": McpFile(
        find=_find_below("copilot", "mcp-config.json"),
        section="mcpServers",
        build=lambda program, words: {
            "type": "local",
            "command": program,
            "args": [*words],
            "tools": ["*"],
        },
    ),
    "cursor": McpFile(
        find=_find_below("cursor", "mcp.json"),
        section="mcpServers",
        build=lambda program, words: {"command": program, "args": [*words]},
    ),
}
"""Where each agent names its servers, and how."""
