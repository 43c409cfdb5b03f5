"""The documentation describes every command, option, setting and key, and nothing else."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import leftoff
from leftoff import checkpoint, config, context, errors
from leftoff.cli import leftoff as program
from leftoff.cli.catalog import ALIASES, COMMANDS, GROUPS, PLUMBING
from leftoff.mcp.mcp_prompts import PROMPTS
from leftoff.mcp.methods import VERSIONS
from leftoff.mcp.tool_schemas import RESOURCES, TEMPLATES, TOOLS
from leftoff.wiring import mcp_entries
from rows import for_each

ROOT = Path(__file__).parent.parent
COMMANDS_PAGE = ROOT / "docs" / "reference" / "commands.md"
FORMAT_PAGE = ROOT / "docs" / "reference" / "checkpoint-format.md"
MCP_PAGE = ROOT / "docs" / "mcp.md"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LONGEST_CELL = 160
# Documented once, at the head of the page.
COMMON = {"--json", "--quiet", "-q", "--color", "--help", "-h"}


def commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(program)
    for name in COMMANDS:
        command = program.get_command(context, name)
        assert command is not None
        yield f"leftoff {name}", command
        if isinstance(command, click.Group):
            for inner in command.commands.values():
                yield f"leftoff {name} {inner.name}", inner


ALL = dict(commands())


def section(page: Path, heading: str) -> str:
    """Return the text under a heading, up to the next one."""
    text = page.read_text(encoding="utf-8")
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"{page.name} has no section {heading!r}"
    return found[1]


def first_cells(text: str) -> list[str]:
    """Return the first column of the tables in a text."""
    rows = re.findall(r"^\| (.*?) (?<!\\)\|", text, re.MULTILINE)
    return [row for row in rows if row not in {"key", "option", "rule", "setting", "variable"}]


def options_of(command: click.Command) -> set[str]:
    named = [each for each in command.params if isinstance(each, click.Option)]
    return {option for each in named for option in [*each.opts, *each.secondary_opts]} - COMMON


@for_each("name", ALL)
def test_every_command_is_documented_with_exactly_its_options(name: str) -> None:
    text = section(COMMANDS_PAGE, name)
    documented = {
        option for cell in first_cells(text) for option in re.findall(r"(?<!\w)--?[a-z-]+", cell)
    }

    assert f"`{name}" in text
    assert documented == options_of(ALL[name])


def test_no_command_is_documented_that_is_not_there() -> None:
    text = COMMANDS_PAGE.read_text(encoding="utf-8")

    assert sorted(re.findall(r"^##+ (leftoff .*)$", text, re.MULTILINE)) == sorted(ALL)


def test_the_overview_lists_the_groups_of_the_catalog() -> None:
    overview = COMMANDS_PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    rows = re.findall(r"^\| ([\w ]+) \| (\[.*) \|$", overview, re.MULTILINE)
    groups = {**GROUPS, "For agents and scripts": PLUMBING}

    assert [(title, re.findall(r"\[([a-z-]+)\]", cell)) for title, cell in rows] == [
        (title, [each.name for each in commands]) for title, commands in groups.items()
    ]


def test_the_commands_come_in_the_order_of_the_overview() -> None:
    text = COMMANDS_PAGE.read_text(encoding="utf-8")
    overview = text.partition("\n## ")[0]

    assert re.findall(r"\(#leftoff-([a-z-]+)\)", overview) == re.findall(
        r"^## leftoff ([a-z-]+)$", text, re.MULTILINE
    )


def test_every_other_word_for_a_command_is_documented() -> None:
    text = section(COMMANDS_PAGE, "Other words")
    rows = re.findall(r"^\| `leftoff (\S+)` \| `leftoff (.+)` \|$", text, re.MULTILINE)

    assert {word: tuple(words.split()) for word, words in rows} == ALIASES


@for_each("page", PAGES)
def test_no_cell_is_too_long_to_read(page: Path) -> None:
    rows = re.findall(r"^ *\|.*\|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    for cell in (cell for row in rows for cell in re.split(r"(?<!\\)\|", row)):
        assert len(re.sub(r"\]\([^)]*\)", "", cell).strip()) <= LONGEST_CELL, cell


def test_the_index_lists_every_page() -> None:
    folder = ROOT / "docs"
    text = (folder / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\]\(([\w/.-]+\.md)\)", text))
    pages = {each.relative_to(folder).as_posix() for each in folder.glob("**/*.md")}

    assert pages - listed == {"README.md"}


def test_options_that_every_command_has_are_documented_once() -> None:
    head = COMMANDS_PAGE.read_text(encoding="utf-8").partition("\n## ")[0]

    assert all(f"`{option}`" in head for option in COMMON)


def test_every_default_that_help_shows_is_documented() -> None:
    for name, command in ALL.items():
        for each in command.params:
            if isinstance(each, click.Option) and each.show_default:
                row = re.search(rf"`{each.opts[0]}[ `].*", section(COMMANDS_PAGE, name))
                assert row, each.opts[0]
                assert f"({each.default})" in row[0], f"{name} {each.opts[0]}"


def test_every_setting_is_documented_with_its_default_and_meaning() -> None:
    text = section(COMMANDS_PAGE, "Settings")
    defaults = config.Settings()

    for key, meaning in config.HELP.items():
        shown = config.format_value(getattr(defaults, key))
        assert f"| `{key}` | {shown} | {meaning} |" in text
    assert len(re.findall(r"^\| `", text, re.MULTILINE)) == len(config.HELP)


def test_every_environment_variable_is_documented() -> None:
    text = section(COMMANDS_PAGE, "Environment")
    source = Path(context.__file__).read_text(encoding="utf-8")
    read = set(re.findall(r'variables\.get\("([A-Z_]+)"', source)) - {"HOME", "USERNAME"}
    documented = set(re.findall(r"`([A-Z_]+)`", text))

    assert read | {"NO_COLOR", "TMPDIR"} <= documented
    ours = {name for name in documented if name.startswith("LEFTOFF_")}
    settings = {f"LEFTOFF_{key.upper()}" for key in config.HELP}
    assert ours <= read | settings


def test_every_exit_code_is_documented() -> None:
    text = section(COMMANDS_PAGE, "Exit codes")
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    codes = {each.exit_code for each in kinds if issubclass(each, errors.LeftoffError)}

    found = {int(cell) for cell in first_cells(text) if cell.isdigit()}

    assert found == codes | {0, errors.EXIT_BUG, errors.EXIT_INTERRUPTED}


def test_every_key_of_a_checkpoint_is_documented_with_its_kind() -> None:
    schema = checkpoint.json_schema()
    for name, definition in schema["$defs"].items():
        text = section(FORMAT_PAGE, "The keys" if name == "Checkpoint" else name)
        rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", text, re.MULTILINE))

        assert list(rows) == list(definition["properties"]), name
        for key, property_ in definition["properties"].items():
            assert _kind(property_) in rows[key], f"{name}.{key}"


def _kind(property_: dict[str, Any]) -> str:
    """Name a key's type as the page does."""
    for choice in property_.get("anyOf", [property_]):
        if "$ref" in choice:
            return f"[{str(choice['$ref']).rpartition('/')[2]}]"
        if choice.get("type") == "array":
            return f"list of {_kind(choice['items'])}"
        if choice.get("format") == "date-time":
            return "time"
        if choice.get("type") in _KINDS:
            return _KINDS[choice["type"]]
    return "text"


_KINDS = {
    "object": "texts by name",
    "integer": "number",
    "number": "number",
    "boolean": "true or false",
}


def test_the_example_of_the_format_is_a_checkpoint() -> None:
    text = FORMAT_PAGE.read_text(encoding="utf-8")
    example = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert example

    read = checkpoint.decode(example[1].encode())

    assert read.extra == {}
    assert checkpoint.is_id(read.id)


@for_each("tool", TOOLS)
def test_every_tool_of_the_server_is_documented_with_its_arguments(tool: dict[str, Any]) -> None:
    text = section(MCP_PAGE, tool["name"])
    arguments = tool["inputSchema"]["properties"]
    rows = re.findall(r"^\| `(\w+)` \(.*?(, required)?\) \| (.*) \|$", text, re.MULTILINE)

    assert tool["description"] in text
    assert [name for name, _, _ in rows] == [*arguments]
    for name, required, meaning in rows:
        assert meaning.startswith(arguments[name]["description"])
        assert bool(required) == (name in tool["inputSchema"]["required"])
        assert all(each in meaning for each in arguments[name].get("enum", []))


def test_no_other_tool_prompt_or_resource_of_the_server_is_documented() -> None:
    text = MCP_PAGE.read_text(encoding="utf-8")
    rows = section(MCP_PAGE, "Prompts and resources")
    cells = re.findall(r"^\| `(.*?)` \|", rows, re.MULTILINE)
    shown = [each["uri"] for each in RESOURCES]
    shown += [each["uriTemplate"].replace("{name}", "NAME") for each in TEMPLATES]

    assert re.findall(r"^### (\w+)$", text, re.MULTILINE) == [each["name"] for each in TOOLS]
    assert cells == [*(each["name"] for each in PROMPTS), *shown]
    assert all(version in text for version in VERSIONS)


def test_the_page_on_the_server_shows_the_entry_of_every_agent() -> None:
    text = MCP_PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"```(json|toml)\n(.*?)```", text, re.DOTALL)

    assert len(blocks) == len(mcp_entries.FILES)
    for agent, (_, block) in zip(mcp_entries.FILES, blocks, strict=True):
        added = mcp_entries.add_entry(agent, "", ("leftoff", "mcp"))
        shown = mcp_entries.read_entry(agent, block)
        assert shown == mcp_entries.read_entry(agent, added), agent
        place = mcp_entries.find_file(context.Environment({"HOME": "/home/ada"}), agent)
        assert f"`{str(place).replace('/home/ada', '~')}`" in text, agent


@for_each("page", PAGES)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in _anchors(file), f"{page.name} links to {target}"


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@for_each("page", PAGES)
def test_commands_shown_in_the_pages_exist(page: Path) -> None:
    known = {*COMMANDS, *ALIASES}

    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    shown = re.findall(r"^\$ leftoff ([a-z][a-z-]*)", "\n".join(blocks), re.MULTILINE)

    assert set(shown) <= known


def test_every_page_is_within_reach_of_the_readme() -> None:
    reached, queue = set(), [ROOT / "README.md"]
    while queue:
        page = queue.pop().resolve()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
        queue += [page.parent / each for each in targets if "://" not in each]

    assert {page.resolve() for page in PAGES} - reached == set()


def test_the_architecture_names_every_room_and_no_other() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("| modules | what they do |")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+/?)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)))
    package = ROOT / "src" / "leftoff"
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    folders = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}

    assert sorted(named) == sorted(modules | folders)


def test_every_dependency_has_its_reason() -> None:
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    tables = pyproject.partition("[tool.")[0].partition("dependencies = [")[2]
    packages = set(re.findall(r'"([a-z-]+)(?:\[\w+\])?>=', tables))

    assert {package for package in packages if not re.search(rf"\b{package}\b", text)} == set()


def test_the_changelog_speaks_of_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert leftoff.__version__ in text
