"""leftoff's MCP server goes into each agent's settings, and out of them, byte for byte."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.context import Environment
from leftoff.errors import LeftoffError
from leftoff.wiring import jsonc_edit
from leftoff.wiring.mcp_entries import FILES, add_entry, find_file, read_entry, remove_entry

COMMAND = ("/home/ada/bin/leftoff", "mcp")
JSON_AGENTS = [agent for agent, file in FILES.items() if not file.is_toml]

TEXTS = {
    "compact": '{"theme":"dark","list":[1,2]}',
    "spaced": '{ "theme": "dark" }',
    "indented": '{\n    "theme": "dark",\n    "nested": {\n        "a": [1, 2]\n    }\n}\n',
    "tabs": '{\n\t"theme": "dark"\n}',
    "windows": '{\r\n  "theme": "dark"\r\n}\r\n',
    "servers": '{\n  "SECTION": {\n    "other": {"command": "x"}\n  },\n  "z": 1\n}\n',
    "servers in a line": '{"SECTION": {"other": {"command": "x"}}, "z": 1}\n',
    "unicode": '{\n  "näme": "❤ // no comment", "path": "C:\\\\x"\n}\n',
}
COMMENTED = {
    "comment at the end of the line": '{\n  "a": 1 // why\n}\n',
    "comment and comma": '{\n  "a": 1, // why\n}\n',
    "trailing comma": '{\n  "a": 1,\n}\n',
    "block comment": '{\n  /* one\n     two */\n  "a": 1 /* three\n  four */\n}\n',
    "comment like JSON": '{\n  // "a": {,\n  "a": "/* no */ // no",\n  "b": [1, 2,],\n}\n',
    "comment at the top": '// Settings, by hand\n{\n  "a": 1\n}\n// the end\n',
    "servers": '{\n  "SECTION": {\n    // mine\n    "other": {"command": "x"}, // stays\n  },\n}\n',
}
TOMLS = {
    "plain": 'model = "o3"\n',
    "no line break at the end": 'model = "o3"',
    "windows": 'model = "o3"\r\n\r\n[features]\r\nhooks = true\r\n',
    "tables": '# Mine\nmodel = "o3"\n\n[features]  # these\nhooks = true\n\n\n[tui]\ntheme = "x"\n',
    "servers": '[mcp_servers.other]\ncommand = "x"\n\n[mcp_servers.other.env]\nA = "[b]"\n',
    "section": '[mcp_servers]\n\n[mcp_servers.other]\ncommand = "x"\n',
    "hooks state": '[hooks.state."/x/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n',
    "blank lines at the end": 'model = "o3"\n\n\n',
}


def example(agent: str, text: str) -> str:
    return text.replace("SECTION", FILES[agent].section)


# --- every agent ---


@pytest.mark.parametrize("agent", FILES)
def test_an_empty_or_missing_file_gets_the_entry(agent: str) -> None:
    text = add_entry(agent, "", COMMAND)

    assert text.endswith("\n")
    assert read_entry(agent, text) is not None
    assert read_entry(agent, remove_entry(agent, text)) is None


@pytest.mark.parametrize(
    ("agent", "entry"),
    [
        ("claude", {"type": "stdio", "command": COMMAND[0], "args": ["mcp"]}),
        ("codex", {"command": COMMAND[0], "args": ["mcp"]}),
        ("gemini", {"command": COMMAND[0], "args": ["mcp"]}),
        ("opencode", {"type": "local", "command": [*COMMAND], "enabled": True}),
        (
            "copilot",
            {"type": "local", "command": COMMAND[0], "args": ["mcp"], "tools": ["*"]},
        ),
        ("cursor", {"command": COMMAND[0], "args": ["mcp"]}),
    ],
)
def test_each_agent_gets_the_entry_that_it_understands(agent: str, entry: dict[str, Any]) -> None:
    assert read_entry(agent, add_entry(agent, "", COMMAND)) == entry


def test_each_agent_has_its_own_file(tmp_path: Path) -> None:
    environment = Environment({"HOME": str(tmp_path), "CODEX_HOME": "/codex"})
    found = {agent: find_file(environment, agent) for agent in FILES}

    assert found == {
        "claude": tmp_path / ".claude.json",
        "codex": Path("/codex/config.toml"),
        "gemini": tmp_path / ".gemini" / "settings.json",
        "opencode": tmp_path / ".config" / "opencode" / "opencode.json",
        "copilot": tmp_path / ".copilot" / "mcp-config.json",
        "cursor": tmp_path / ".cursor" / "mcp.json",
    }
    elsewhere = Environment(
        {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": "/claude", "XDG_CONFIG_HOME": str(tmp_path)}
    )
    assert find_file(elsewhere, "claude") == Path("/claude/.claude.json")
    commented = tmp_path / "opencode" / "opencode.jsonc"
    commented.parent.mkdir()
    commented.write_text("{}")
    assert find_file(elsewhere, "opencode") == commented


@pytest.mark.parametrize("agent", FILES)
def test_twice_is_the_same_as_once(agent: str) -> None:
    text = add_entry(agent, "", COMMAND)

    assert add_entry(agent, text, COMMAND) == text


@pytest.mark.parametrize("agent", FILES)
def test_a_program_that_has_moved_is_replaced_and_the_rest_of_the_entry_stays(agent: str) -> None:
    section = FILES[agent].section
    mine = (
        f'[{section}.leftoff]\ncommand = "/old/leftoff"\nargs = ["mcp"]\nrequired = true\n'
        if agent == "codex"
        else json.dumps(
            {section: {"leftoff": {"command": "/old/leftoff", "required": True}}}, indent=2
        )
    )
    entry = read_entry(agent, add_entry(agent, mine, COMMAND))

    assert entry is not None
    assert COMMAND[0] in json.dumps(entry)
    assert "/old/leftoff" not in json.dumps(entry)
    assert entry["required"] is True


@pytest.mark.parametrize("agent", FILES)
def test_a_file_without_the_entry_is_not_changed_by_a_removal(agent: str) -> None:
    text = 'model = "o3"\n' if agent == "codex" else '{"theme": "dark"}'

    assert remove_entry(agent, text) == text


@pytest.mark.parametrize("agent", FILES)
def test_a_file_that_cannot_be_read_is_refused(agent: str) -> None:
    for text in ("{", "[1]" if agent != "codex" else "[x", "\0"):
        with pytest.raises(LeftoffError, match="nothing was changed"):
            add_entry(agent, text, COMMAND)


@pytest.mark.parametrize("agent", FILES)
def test_a_section_of_another_kind_is_refused(agent: str) -> None:
    section = FILES[agent].section
    text = f'{section} = "x"\n' if agent == "codex" else json.dumps({section: "x"})

    with pytest.raises(LeftoffError, match=section):
        add_entry(agent, text, COMMAND)


# --- JSON ---


@pytest.mark.parametrize("text", [*TEXTS.values(), *COMMENTED.values()])
@pytest.mark.parametrize("agent", JSON_AGENTS)
def test_a_removal_brings_json_back_byte_for_byte(agent: str, text: str) -> None:
    text = example(agent, text)
    added = add_entry(agent, text, COMMAND)

    before, after = jsonc_edit.read(text), jsonc_edit.read(added)
    section = FILES[agent].section
    after[section].pop("leftoff")
    assert {key: value for key, value in after.items() if value} == before
    assert remove_entry(agent, added) == text


def test_what_changed_since_is_not_lost() -> None:
    later = add_entry("gemini", '{"theme": "dark"}', COMMAND).replace("dark", "light")

    assert remove_entry("gemini", later) == '{"theme": "light"}'


def test_the_comment_of_a_line_stays_on_its_line() -> None:
    added = add_entry("cursor", COMMENTED["comment at the end of the line"], COMMAND)

    assert '"a": 1, // why\n' in added


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_entry_can_be_removed_from_anywhere(place: int) -> None:
    servers = {"one": {"command": "x"}, "two": {"command": "y"}}
    names = [*servers]
    names.insert(place, "leftoff")
    every = {name: servers.get(name, {"command": "leftoff"}) for name in names}
    text = json.dumps({"mcpServers": every}, indent=2)

    assert remove_entry("cursor", text) == json.dumps({"mcpServers": servers}, indent=2)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)
LAYOUTS: list[dict[str, Any]] = [
    {"indent": 2},
    {"indent": "\t"},
    {"indent": None},
    {"separators": (",", ":")},
]


@given(
    values=st.dictionaries(st.text(max_size=5), VALUES, min_size=1),
    servers=st.dictionaries(st.text(max_size=5), VALUES, min_size=1) | st.none(),
    layout=st.sampled_from(LAYOUTS),
)
def test_any_json_comes_back_byte_for_byte(
    values: dict[str, Any], servers: dict[str, Any] | None, layout: dict[str, Any]
) -> None:
    values.pop("mcpServers", None)
    settings = values if servers is None else {**values, "mcpServers": servers}
    text = json.dumps(settings or {"a": 1}, ensure_ascii=False, **layout)

    assert remove_entry("cursor", add_entry("cursor", text, COMMAND)) == text


# --- TOML ---


@pytest.mark.parametrize("text", TOMLS.values())
def test_toml_is_only_appended_to_and_comes_back_byte_for_byte(text: str) -> None:
    added = add_entry("codex", text, COMMAND)

    assert added.startswith(text)
    assert tomllib.loads(added)["mcp_servers"]["leftoff"]["args"] == ["mcp"]
    # Nothing says that the last line had no line break.
    assert remove_entry("codex", added) == (text if text.endswith("\n") else f"{text}\n")


@pytest.mark.parametrize(
    "text", ["mcp_servers = {}\n", 'mcp_servers = { other = { command = "x" } } # mine\n']
)
def test_a_section_in_one_line_is_edited_in_place(text: str) -> None:
    added = add_entry("codex", text, COMMAND)

    assert read_entry("codex", added) == {"command": COMMAND[0], "args": ["mcp"]}
    rest = tomllib.loads(remove_entry("codex", added)).get("mcp_servers", {})
    assert rest == tomllib.loads(text)["mcp_servers"]


def test_a_text_that_looks_like_the_entry_stays() -> None:
    text = 'note = """\n[mcp_servers.leftoff]\ncommand = 1\n"""\n'
    added = add_entry("codex", text, COMMAND)

    assert remove_entry("codex", added).rstrip("\n") == text.rstrip("\n")


def test_comments_before_the_next_table_stay() -> None:
    added = add_entry("codex", 'model = "o3"\n', COMMAND) + "\n# About the terminal\n[tui]\na = 1\n"

    assert remove_entry("codex", added) == 'model = "o3"\n\n# About the terminal\n[tui]\na = 1\n'


def test_tables_below_the_entry_go_with_it() -> None:
    text = 'model = "o3"\n'
    more = '\n[mcp_servers.leftoff.env]\nA = "b"\n\n[mcp_servers.leftoff.tools.save]\nx = 1\n'
    added = add_entry("codex", text, COMMAND) + more

    assert remove_entry("codex", f"{added}\n[tui]\ntheme = 1\n") == f"{text}\n[tui]\ntheme = 1\n"
