"""Describe which hooks of an agent leftoff uses, and where its settings name them."""

import msgspec


class WiredEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of an agent that runs leftoff's command."""

    event: str
    """The agent's own name for it."""
    name: str
    """The name in leftoff's command, which is the same for all agents."""
    seconds: int = 5
    """The timeout. Most hooks take milliseconds; the timeouts are for an overloaded machine."""
    matcher: str = ""
    """The tools it is limited to."""
    is_optional: bool = False
    """Whether only some profiles need it; it would slow down every file edit."""


class HookTable(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's hooks."""

    agent: str
    title: str
    """The agent's name, as people write it."""
    programs: tuple[str, ...]
    """The names of its program."""
    tested: str
    """The newest version that leftoff's tests run."""
    file: str
    """The file that names the hooks, below the folder of the agent's settings."""
    is_own_file: bool = False
    """Whether that file is leftoff's alone; otherwise it belongs to the user, too."""
    project_folder: str = ""
    """The folder of a project's own settings; empty if leftoff does not write there."""
    events: tuple[WiredEvent, ...] = ()
    opens: tuple[str, ...] = ()
    """The arguments before a first prompt that the interactive program starts with."""
    runs: tuple[str, ...] = ()
    """The arguments before a prompt that it answers without a screen."""
    runs_after: tuple[str, ...] = ()
    """The arguments after such a prompt."""
    resumes: tuple[str, ...] = ()
    """The arguments before the id of one of its own sessions, to continue that."""
    commands: tuple[str, ...] = ()
    """The files of its slash commands, below the folder of the agent's settings."""
    command_prefix: str = ""
    """What the agent puts before the name of a command's file."""
    has_milliseconds: bool = False
    """Whether timeouts are in milliseconds."""
    has_comments: bool = False
    """Whether the file may have comments and trailing commas."""
    more: dict[str, str] = {}
    """More keys of each command."""
    keeps_positions: bool = False
    """Whether the agent identifies a hook by its position, which then must not change."""
    has_switch: bool = False
    """Whether the user can keep the agent from running hooks that are wired."""
