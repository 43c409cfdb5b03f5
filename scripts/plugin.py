"""Write the parts of the plugin that the package also ships.

    python scripts/plugin.py

The package is the source: its hook script, hook table, skill, slash commands and version. The other
slash commands and `leftoff.sh` exist only in `plugin/`, and are edited there.
"""

import json
import re
from importlib import resources
from pathlib import Path

import leftoff
from leftoff.wiring import claude_hooks

PLUGIN = Path(__file__).resolve().parent.parent / "plugin"
_SCRIPT = 'sh "${CLAUDE_PLUGIN_ROOT}/hooks/letterbox.sh"'
_RUNNER = 'sh "${CLAUDE_PLUGIN_ROOT}/leftoff.sh"'
_MANIFEST = ".claude-plugin/plugin.json"
# Only stands for the script while the hooks are made.
_NOWHERE = Path("/nowhere/leftoff/hook")


def render() -> dict[str, bytes]:
    """Return the content of every file that comes from the package, by its path in the plugin."""
    commands = _shipped("skill", "commands")
    return {
        _MANIFEST: _render_manifest(),
        "hooks/hooks.json": _render_hooks(),
        "hooks/letterbox.sh": resources.files("leftoff")
        .joinpath("hooks/letterbox.sh")
        .read_bytes(),
        "skills/leftoff/SKILL.md": _shipped("skill")["SKILL.md"],
        **{f"commands/{name}": _render_command(data) for name, data in commands.items()},
    }


def _shipped(*folder: str) -> dict[str, bytes]:
    pages = resources.files("leftoff").joinpath(*folder).iterdir()
    return {each.name: each.read_bytes() for each in pages if each.name.endswith(".md")}


def _render_manifest() -> bytes:
    manifest = json.loads((PLUGIN / _MANIFEST).read_bytes())
    return _to_json({**manifest, "version": leftoff.__version__})


def _render_hooks() -> bytes:
    hooks = json.dumps(json.loads(claude_hooks.wire("{}", _NOWHERE))["hooks"])
    for_plugin = hooks.replace(str(_NOWHERE), json.dumps(_SCRIPT)[1:-1])
    description = "leftoff saves where your work left off, and offers it to the next session."
    return _to_json({"description": description, "hooks": json.loads(for_plugin)})


def _render_command(page: bytes) -> bytes:
    """Run the inline commands of a page with the plugin's script, which explains a missing leftoff.

    A command that the agent may run itself, such as `Bash(leftoff save:*)`, stays as it is.
    """
    text = page.decode()
    for words in set(re.findall(r"!`leftoff ([^`]+)`", text)):
        text = text.replace(f"!`leftoff {words}`", f"!`{_RUNNER} {words}`")
        text = text.replace(f"Bash(leftoff {words})", f"Bash({_RUNNER} {words})")
    return text.encode()


def _to_json(value: object) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


def write() -> list[str]:
    """Write what differs, and return the paths in the plugin."""
    different = {
        path: data for path, data in render().items() if (PLUGIN / path).read_bytes() != data
    }
    for path, data in different.items():
        (PLUGIN / path).write_bytes(data)
    return list(different)


if __name__ == "__main__":
    for path in write():
        print(f"Updated plugin/{path}")
