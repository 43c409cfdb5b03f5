"""The handshake and the lists, which must not load the program."""

import subprocess
import sys

import pytest

from gitrepo import Repo
from leftoff.mcp.methods import INSTRUCTIONS, VERSIONS
from mcp_server.raw_client import RawClient

# msgspec alone takes as long as the first answer may.
HEAVY = {"msgspec", "click", "sqlite3", "typing", "subprocess", "asyncio", "leftoff.workspace"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_that_the_server_speaks_is_confirmed(client: RawClient, version: str) -> None:
    answer = client.ask("initialize", protocolVersion=version, capabilities={}, clientInfo={})

    assert answer["result"]["protocolVersion"] == version


@pytest.mark.parametrize("version", ["2026-07-28", "1999-01-01", None, 5, {"a": 1}])
def test_any_other_version_is_answered_with_the_newest_one(
    client: RawClient, version: object
) -> None:
    answer = client.ask("initialize", protocolVersion=version)

    assert answer["result"]["protocolVersion"] == VERSIONS[-1]


def test_it_introduces_itself(client: RawClient) -> None:
    reply = client.introduce()

    assert reply["serverInfo"]["name"] == "leftoff"
    assert set(reply["capabilities"]) == {"tools", "prompts", "resources"}
    assert reply["instructions"] == INSTRUCTIONS
    assert len(INSTRUCTIONS) < 500


@pytest.mark.parametrize("method", ["server/discover", "completion/complete", "logging/setLevel"])
def test_an_unknown_method_is_refused_as_the_protocol_says(client: RawClient, method: str) -> None:
    # Claude Code and Copilot ask for `server/discover` before they shake hands.
    assert client.ask(method)["error"]["code"] == -32601
    assert client.introduce()["serverInfo"]["name"] == "leftoff"


def test_a_client_may_skip_the_handshake(client: RawClient) -> None:
    assert client.ask("ping")["result"] == {}
    assert len(client.ask("tools/list")["result"]["tools"]) == 9
    assert client.call("list")["threads"] == []


@pytest.mark.parametrize("name", ["nope", None, 5, "leftoff_save", [], {}])
def test_an_unknown_tool_is_refused_with_the_names_of_the_others(
    client: RawClient, name: object
) -> None:
    error = client.ask("tools/call", name=name)["error"]

    assert error["code"] == -32602
    assert "save, resume, list" in error["message"]


def test_every_tool_says_that_it_destroys_nothing(client: RawClient) -> None:
    tools = client.ask("tools/list")["result"]["tools"]
    reading = {each["name"] for each in tools if each["annotations"]["readOnlyHint"]}

    assert {each["annotations"]["destructiveHint"] for each in tools} == {False}
    assert reading == {"list", "show", "search", "recall", "status"}
    assert all(each["inputSchema"]["type"] == "object" for each in tools)
    assert all(each["outputSchema"]["type"] == "object" for each in tools)


def test_the_prompts_begin_as_slash_commands_and_say_what_to_call(client: RawClient) -> None:
    names = [each["name"] for each in client.ask("prompts/list")["result"]["prompts"]]
    assert names == ["continue", "checkpoint"]

    def text(prompt: str, **arguments: str) -> str:
        result = client.ask("prompts/get", name=prompt, arguments=arguments)["result"]
        return str(result["messages"][0]["content"]["text"])

    assert text("continue").splitlines()[0] == "/leftoff:continue"
    assert text("continue", name="csv\nexport").splitlines()[0] == "/leftoff:continue csv export"
    assert text("checkpoint", name="csv").splitlines()[0] == "/leftoff:checkpoint csv"
    assert "`resume` tool" in text("continue")
    assert "`save` tool" in text("checkpoint")
    unknown: list[object] = ["nope", None, [], {}]
    for name in unknown:
        assert client.ask("prompts/get", name=name)["error"]["code"] == -32602, name


def test_the_resources_are_the_briefing_and_each_thread(client: RawClient) -> None:
    listed = client.ask("resources/list")["result"]["resources"]
    templates = client.ask("resources/templates/list")["result"]["resourceTemplates"]
    client.call("save", name="csv export", summary="Export orders as CSV")

    (briefing,) = client.ask("resources/read", uri=listed[0]["uri"])["result"]["contents"]
    address = templates[0]["uriTemplate"].replace("{name}", "csv%2Dexport")
    (thread,) = client.ask("resources/read", uri=address)["result"]["contents"]

    assert briefing["uri"] == "leftoff://briefing"
    assert briefing["text"].startswith("<leftoff-briefing>")
    assert "Export orders as CSV" in briefing["text"]
    assert "- summary: Export orders as CSV" in thread["text"]


@pytest.mark.parametrize("uri", ["leftoff://thread/nope", "leftoff://x", "file:///etc/passwd", 5])
def test_an_unknown_resource_is_refused(client: RawClient, uri: object) -> None:
    assert client.ask("resources/read", uri=uri)["error"]["code"] == -32002


def test_the_handshake_loads_nothing_that_is_slow_to_load(repo: Repo) -> None:
    script = (
        "import sys; sys.argv[1:] = ['mcp']; from leftoff.__main__ import main; main();"
        f"print(*sorted(set(sys.modules) & {HEAVY!r}), file=sys.stderr)"
    )
    asked = "".join(
        f'{{"jsonrpc": "2.0", "id": 1, "method": "{method}"}}\n'
        for method in ("initialize", "tools/list", "prompts/list", "resources/list", "ping")
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=asked,
        cwd=repo.folder,
        capture_output=True,
        text=True,
        check=True,
    )

    assert len(done.stdout.splitlines()) == 5
    assert done.stderr.split() == []
