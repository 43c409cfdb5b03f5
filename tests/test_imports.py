"""Which modules may use what. `lint-imports` checks the direction of imports."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import leftoff
from leftoff.agents.registry import AGENTS
from leftoff.cli.catalog import COMMANDS

SOURCE = Path(leftoff.__file__).parent

# Every other module gets folders and settings as arguments.
MAY_READ_ENVIRONMENT = {
    "context.py": "it reads the environment once, for whoever is called",
    "processes.py": "it copies the environment for child processes, and looks at nothing in it",
    "hooks/settle.py": "it passes its environment on, and must start without loading context.py",
    "torture/code_workloads.py": "it sets what the programs of a trial inherit, and reads nothing",
    "cli/app.py": "NO_COLOR and the width of the terminal are matters of output alone",
}
# `~` in a path that someone typed or wrote into a checkpoint means the home folder.
MAY_EXPAND_HOME = {
    "cli/resume.py",
    "fingerprints.py",
    "threads/persist.py",
    "threads/check_claims.py",
    "session/sessions.py",
}
# The command line talks to people, the hooks and the MCP server to agents.
FACES = ("cli/", "hooks/", "mcp/", "__main__.py")
STREAMS = {"sys.stdin", "sys.stdout", "sys.stderr", "sys.exit"}
ENVIRONMENT = {"environ", "environb", "getenv", "putenv", "home"}


def modules_with(*words: str) -> Iterator[tuple[str, ast.Module]]:
    """Parse the modules that contain one of the words; to parse all of them takes a second."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if any(word in text for word in words):
            yield path.relative_to(SOURCE).as_posix(), ast.parse(text, path.name)


def attributes(tree: ast.Module) -> set[str]:
    """Return names such as `os.environ` and `.expanduser`."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            found.add(f"{owner}.{node.attr}")
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


def test_only_the_context_reads_the_environment() -> None:
    readers = {
        name
        for name, tree in modules_with(*ENVIRONMENT)
        for found in attributes(tree)
        if found.partition(".")[0] in {"os", "Path"} and found.partition(".")[2] in ENVIRONMENT
    }

    assert readers - set(MAY_READ_ENVIRONMENT) == set()


def test_only_readers_of_written_paths_expand_the_home_folder() -> None:
    readers = {
        name
        for name, tree in modules_with("expanduser")
        if any(found.endswith(".expanduser") for found in attributes(tree))
    }

    assert readers - MAY_EXPAND_HOME == set()


def test_only_faces_print() -> None:
    words = ("print", "input", *(stream.partition(".")[2] for stream in STREAMS))
    printers = {name for name, tree in modules_with(*words) if set(_outputs(tree))}

    assert {name for name in printers if not name.startswith(FACES)} == set()


def _outputs(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"print", "input"}:
            yield ast.unparse(node.func)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in STREAMS:
            yield ast.unparse(node)


def test_registries_are_dict_literals() -> None:
    for file, name in (("agents/registry.py", "AGENTS"), ("cli/catalog.py", "GROUPS")):
        tree = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
        assert isinstance(_assigned(tree, name), ast.Dict), f"{name} in {file}"


def _assigned(tree: ast.Module, name: str) -> ast.expr | None:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            assert isinstance(node, ast.Assign | ast.AnnAssign)
            return node.value
    return None


def test_every_agent_and_every_command_file_is_registered() -> None:
    agents = {path.stem for path in (SOURCE / "agents").iterdir() if _is_agent(path)}
    files = {path.stem for path in (SOURCE / "cli").glob("*.py")} - {"app", "__init__"}
    named = {each.module or each.name.replace("-", "_") for each in COMMANDS.values()}

    assert agents == set(AGENTS)
    assert {file for file in files if _has_command(SOURCE / "cli" / f"{file}.py")} == named


def _is_agent(path: Path) -> bool:
    """Recognise an agent: a module, a package, or a package that keeps it in a module beside."""
    inside = [path / "__init__.py", path / f"{path.name}_agent.py"] if path.is_dir() else [path]
    return any("recognises" in _functions(each) for each in inside if each.is_file())


def _functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def _has_command(path: Path) -> bool:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return any("command" in ast.unparse(mark) for each in functions for mark in each.decorator_list)


def test_every_import_in_a_function_says_what_it_saves() -> None:
    """The linter insists on a comment; it must give the measured CPU time."""
    lines = {
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in SOURCE.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "noqa: PLC0415" in line
    }

    assert {line for line in lines if not re.search(r"PLC0415 - \d+(?:\.\d)? ms\b", line)} == set()


def test_the_version_is_reported_without_loading_the_program() -> None:
    script = (
        "import sys; from leftoff.__main__ import main; sys.argv[1:] = ['--version']; main();"
        "print(*sorted(set(sys.modules) & {'click', 'msgspec', 'rich', 'sqlite3', 're'}))"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r});{script}",
        ],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines() == [f"leftoff {leftoff.__version__} (leftoff-agents)", ""]
