"""Name every command and alias, with its summary, example and the module to import.

`leftoff --help` reads only this module, because importing every command is slow.
"""

from typing import NamedTuple


class CommandHelp(NamedTuple):
    """A command's name, summary and example, and the module that defines it."""

    name: str
    summary: str
    example: str
    module: str = ""
    """The module's name if it differs from the command's."""
    attribute: str = ""
    """The function's name if it differs from the command's."""


GROUPS: dict[str, tuple[CommandHelp, ...]] = {
    "Everyday": (
        CommandHelp(
            "save",
            "Save where the work left off",
            "leftoff save exporter --next 'Fix the header row'",
        ),
        CommandHelp(
            "resume",
            "Show where the work left off and what changed since",
            "leftoff resume exporter",
        ),
        CommandHelp(
            "list",
            "List open threads, newest first",
            "leftoff list --limit 5",
            attribute="list_",
        ),
        CommandHelp(
            "show", "Show a checkpoint in full (default: the newest)", "leftoff show exporter"
        ),
        CommandHelp("status", "Show where you are and what is open", "leftoff status --next"),
        CommandHelp(
            "ui",
            "Show threads, history and memory on a web page",
            "leftoff ui --everywhere",
            module="ui_command",
        ),
        CommandHelp(
            "done",
            "Mark a thread as done: the work is finished",
            "leftoff done exporter",
            module="clear",
            attribute="mark_done",
        ),
        CommandHelp(
            "drop",
            "Abandon a thread: the work will not be finished",
            "leftoff drop exporter",
            module="clear",
        ),
    ),
    "Automatic": (
        CommandHelp("init", "Set up your agents to save automatically", "leftoff init --dry-run"),
        CommandHelp(
            "doctor", "Check the hooks by running a real event through them", "leftoff doctor"
        ),
        CommandHelp("uninstall", "Remove the hooks; your checkpoints stay", "leftoff uninstall"),
        CommandHelp(
            "on",
            "Turn leftoff back on for this project",
            "leftoff on",
            module="switch",
            attribute="on_",
        ),
        CommandHelp("off", "Turn leftoff off for this project", "leftoff off", module="switch"),
    ),
    "Find": (
        CommandHelp("search", "Search checkpoints, newest first", "leftoff search csv header"),
        CommandHelp(
            "log",
            "Show revisions and events, newest first",
            "leftoff log exporter",
            module="log_command",
        ),
        CommandHelp(
            "diff",
            "Show what changed between two checkpoints",
            "leftoff diff exporter",
        ),
        CommandHelp(
            "sessions",
            "List this project's newest sessions, of every agent",
            "leftoff sessions",
            module="sessions_command",
        ),
        CommandHelp(
            "recover",
            "Save sessions that died without a checkpoint",
            "leftoff recover",
            module="sessions_command",
        ),
        CommandHelp("prompts", "Show prompts that no session answered", "leftoff prompts replay"),
        CommandHelp(
            "stats", "Count sessions, saves, context use and time", "leftoff stats --days 7"
        ),
    ),
    "Knowledge": (
        CommandHelp(
            "memory", "Keep decisions, failed approaches and rules", "leftoff memory search cache"
        ),
        CommandHelp("reflect", "Turn your corrections into rules", "leftoff reflect"),
        CommandHelp(
            "briefing",
            "Show on one page what the project knows",
            "leftoff briefing",
            module="briefing_command",
        ),
        CommandHelp(
            "feature",
            "Track features: attempts, failures, progress",
            "leftoff feature add 'CSV export'",
        ),
    ),
    "Deliver": (
        CommandHelp("ship", "Save, commit, push and open a pull request", "leftoff ship --dry-run"),
        CommandHelp("lint", "Check a checkpoint against the quality bar", "leftoff lint exporter"),
    ),
    "Tidy": (
        CommandHelp(
            "clear",
            "Move checkpoints to the trash; undo brings them back",
            "leftoff clear exporter",
        ),
        CommandHelp("undo", "Undo the last change to a checkpoint", "leftoff undo --dry-run"),
        CommandHelp("redo", "Redo what you last undid", "leftoff redo --dry-run", module="undo"),
        CommandHelp(
            "trash",
            "List or restore what is in the trash",
            "leftoff trash restore exporter",
            module="trash_command",
        ),
        CommandHelp(
            "purge",
            "Delete old checkpoints for good; there is no undo",
            "leftoff purge --older-than 90d",
        ),
    ),
    "Code": (
        CommandHelp(
            "snapshot",
            "Save and restore uncommitted code",
            "leftoff snapshot restore 2342baa3 --here",
            module="snapshot_command",
        ),
    ),
    "Move": (
        CommandHelp(
            "import",
            "Import checkpoints from another system",
            "leftoff import --from sail",
            module="import_export",
            attribute="import_",
        ),
        CommandHelp(
            "export",
            "Export checkpoints as another system's files",
            "leftoff export --to sail",
            module="import_export",
        ),
        CommandHelp(
            "config",
            "Show or change settings",
            "leftoff config set budget 3000",
            module="config_command",
        ),
        CommandHelp(
            "completion",
            "Print or install a shell completion script",
            "leftoff completion install",
        ),
        CommandHelp(
            "help", "Show the help of a command, or of all", "leftoff help all", attribute="help_"
        ),
    ),
}
"""The commands for people, in the order of the help page."""

PLUMBING: tuple[CommandHelp, ...] = (
    CommandHelp(
        "capture",
        "Show what a session file contains; save nothing",
        "leftoff capture session.jsonl",
        module="capture_command",
    ),
    CommandHelp(
        "wal",
        "Keep working notes that must not get lost",
        "leftoff wal add --kind value 'The port is 8081'",
    ),
    CommandHelp(
        "guide",
        "Print how an agent saves and resumes in this project",
        "leftoff guide --for codex",
    ),
    CommandHelp(
        "mcp",
        "Serve leftoff's tools to an agent over MCP",
        "leftoff mcp",
        module="mcp_command",
    ),
    CommandHelp("defer", "Silence context warnings until the next save", "leftoff defer"),
    CommandHelp(
        "intent",
        "Show which command a sentence asks for; run nothing",
        "leftoff intent 'save this as exporter'",
    ),
    CommandHelp("auto", "Show which signals would trigger an autosave", "leftoff auto --explain"),
    CommandHelp(
        "statusline",
        "Print one line about this session for a status bar",
        "leftoff statusline <event.json",
        module="statusline_command",
    ),
    CommandHelp(
        "prompt-segment",
        "Print one line about this project for a shell prompt",
        "leftoff prompt-segment",
        module="prompt_segment_command",
    ),
    CommandHelp(
        "schema", "Print the JSON Schema of a checkpoint", "leftoff schema >checkpoint.schema.json"
    ),
    CommandHelp(
        "ledger",
        "Show what a task cost, from its ledger",
        "leftoff ledger",
        module="ledger_command",
    ),
    CommandHelp(
        "dispatch-check",
        "Check whether a skill should run on the current model",
        "leftoff dispatch-check --declared haiku --current opus",
        module="dispatch_check",
    ),
    CommandHelp(
        "hook-python",
        "Make hooks use the Python that runs leftoff now",
        "leftoff hook-python",
    ),
    CommandHelp(
        "torture", "Try to make leftoff lose data, in a temp folder", "leftoff torture --minutes 1"
    ),
    CommandHelp(
        "delete",
        "Clear one checkpoint, unless it is in use",
        "leftoff delete exporter",
        module="clear",
    ),
)
"""The commands for agents and scripts; only `leftoff help all` lists them."""

ALIASES: dict[str, tuple[str, ...]] = {
    "ls": ("list",),
    "rm": ("clear",),
    "complete": ("done",),
    "latest": ("show", "--latest"),
    "dashboard": ("status", "--plan"),
    "start": ("status", "--next"),
    "restore": ("resume", "--pending"),
}
"""Hidden aliases, each with the command and options it runs."""

OTHER_WORDS: dict[str, str] = {
    "abandon": "drop",
    "add": "save",
    "checkpoint": "save",
    "cat": "show",
    "continue": "resume",
    "disable": "off",
    "enable": "on",
    "find": "search",
    "finish": "done",
    "history": "log",
    "info": "status",
    "install": "init",
    "load": "resume",
    "open": "resume",
    "remove": "clear",
    "revert": "undo",
    "setup": "init",
    "threads": "list",
    "version": "--version",
    "view": "show",
}
"""Words that other tools use, each with the command to suggest."""

_REMOVING = ("drop", "unset", "reject", "archive", "reset")
_MAKING = ("add", "take", "set")
OTHER_SUBWORDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("remove", "delete", "rm", "clear"), _REMOVING),
    **dict.fromkeys(("new", "create", "save"), _MAKING),
    **dict.fromkeys(("apply", "pop"), ("restore",)),
    **dict.fromkeys(("get", "show", "list", "ls", "view"), ("show", "list", "explain")),
}
"""The same for subcommands: the first of these that a group has is suggested."""

EXAMPLES: dict[str, str] = {
    "config allow": "leftoff config allow",
    "config explain": "leftoff config explain",
    "config set": "leftoff config set --project profile sail",
    "config unset": "leftoff config unset budget",
    "feature add": "leftoff feature add 'CSV export' --start",
    "feature archive": "leftoff feature archive",
    "feature attempt": "leftoff feature attempt 'Stream the rows' --passed",
    "feature fail": "leftoff feature fail feature-001",
    "feature list": "leftoff feature list",
    "feature pass": "leftoff feature pass feature-001",
    "feature show": "leftoff feature show feature-001",
    "feature start": "leftoff feature start feature-001",
    "memory add": "leftoff memory add decision 'Use SQLite' --why 'No server to run'",
    "memory approve": "leftoff memory approve 1a2b3c",
    "memory edit": "leftoff memory edit 1a2b3c 'Use SQLite in WAL mode'",
    "memory list": "leftoff memory list",
    "memory reject": "leftoff memory reject 1a2b3c",
    "memory search": "leftoff memory search cache",
    "memory show": "leftoff memory show 1a2b3c",
    "memory supersede": "leftoff memory supersede 1a2b3c 3c4d5e",
    "prompts drop": "leftoff prompts drop --all",
    "prompts edit": "leftoff prompts edit 1a2b3c 'Add a login form'",
    "prompts import": "leftoff prompts import pending-prompts.md",
    "prompts list": "leftoff prompts list",
    "prompts replay": "leftoff prompts replay",
    "prompts restore": "leftoff prompts restore 1a2b3c",
    "prompts show": "leftoff prompts show 1a2b3c",
    "snapshot diff": "leftoff snapshot diff 2342baa3",
    "snapshot list": "leftoff snapshot list",
    "snapshot patch": "leftoff snapshot patch 2342baa3 >work.patch",
    "snapshot restore": "leftoff snapshot restore 2342baa3 --file src/export.py",
    "snapshot show": "leftoff snapshot show 2342baa3",
    "snapshot take": "leftoff snapshot",
    "trash list": "leftoff trash list",
    "trash restore": "leftoff trash restore exporter",
    "wal add": "leftoff wal add --kind value 'The port is 8081'",
    "wal reset": "leftoff wal reset",
    "wal scan": "leftoff wal scan 'No, use port 8081'",
    "wal show": "leftoff wal show",
}
"""The example of each subcommand."""

COMMANDS: dict[str, CommandHelp] = {
    command.name: command for group in (*GROUPS.values(), PLUMBING) for command in group
}
