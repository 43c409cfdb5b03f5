"""The official SDK's client, as strict as any, understands the server."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import mcp
import pytest
from mcp import types

from gitrepo import Repo
from leftoff.mcp.methods import INSTRUCTIONS, VERSIONS

Talk = Callable[[mcp.Client], Awaitable[None]]


def talk(repo: Repo, conversation: Talk, **options: Any) -> None:
    """Have a conversation with a server in this repository."""
    server = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "leftoff", "mcp"],
        cwd=repo.folder,
        env=dict(os.environ),
    )

    async def run() -> None:
        async with mcp.Client(server, **options) as client:
            await conversation(client)

    asyncio.run(asyncio.wait_for(run(), 120))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_it_connects_whether_or_not_it_asks_for_the_newest_protocol(repo: Repo, mode: str) -> None:
    async def look(client: mcp.Client) -> None:
        assert client.protocol_version == VERSIONS[-1]
        assert client.server_info is not None
        assert client.server_info.name == "leftoff"
        assert client.instructions == INSTRUCTIONS

    talk(repo, look, mode=mode)


def test_every_list_is_valid(repo: Repo) -> None:
    async def look(client: mcp.Client) -> None:
        tools = (await client.list_tools()).tools
        assert len(tools) == 9
        assert all(tool.description and tool.annotations for tool in tools)
        assert [each.name for each in (await client.list_prompts()).prompts] == [
            "continue",
            "checkpoint",
        ]
        assert len((await client.list_resources()).resources) == 1
        assert len((await client.list_resource_templates()).resource_templates) == 1

    talk(repo, look)


def test_work_is_saved_and_resumed(repo: Repo) -> None:
    async def work(client: mcp.Client) -> None:
        # From now on, the client checks every result against the tool's schema.
        await client.list_tools()
        assert not (await client.call_tool("resume", {})).is_error
        given = {"name": "csv-export", "summary": "Export orders as CSV"}
        saved = await client.call_tool("save", given)
        assert not saved.is_error
        again = await client.call_tool("save", given)
        assert again.is_error
        found = await client.call_tool("resume", {"accept": True})
        assert found.structured_content is not None
        assert "Export orders as CSV" in found.structured_content["briefing"]
        for name, arguments in (
            ("resume", {}),
            ("list", {}),
            ("show", {}),
            ("search", {"words": "csv"}),
            ("remember", {"kind": "rule", "text": "No abbreviations"}),
            ("recall", {}),
            ("status", {}),
            ("snapshot", {}),
            ("snapshot", {"list": True}),
        ):
            assert not (await client.call_tool(name, arguments)).is_error, name

    talk(repo, work)


def test_prompts_and_resources_are_read(repo: Repo) -> None:
    async def look(client: mcp.Client) -> None:
        prompt = await client.get_prompt("continue", {"name": "csv-export"})
        assert prompt.messages[0].role == "user"
        briefing = await client.read_resource("leftoff://briefing")
        assert isinstance(briefing.contents[0], types.TextResourceContents)
        with pytest.raises(mcp.MCPError):
            await client.read_resource("leftoff://thread/nope")

    talk(repo, look)


def test_several_calls_at_once_are_all_answered(repo: Repo) -> None:
    async def look(client: mcp.Client) -> None:
        calls = [client.call_tool("status", {}) for _ in range(10)]
        assert not any(each.is_error for each in await asyncio.gather(*calls))

    talk(repo, look, mode="legacy")


def test_the_folders_of_the_client_decide_on_the_project(repo: Repo, tmp_path: Any) -> None:
    other = Repo.begun(tmp_path / "other project")

    async def list_roots(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult.model_validate({"roots": [{"uri": other.folder.as_uri()}]})

    async def look(client: mcp.Client) -> None:
        reply = await client.call_tool("status", {})
        assert reply.structured_content is not None
        assert reply.structured_content["project"] == str(other.folder)

    talk(repo, look, mode="legacy", list_roots_callback=list_roots)
