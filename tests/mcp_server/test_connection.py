"""The server survives whatever arrives on its input, and answers what can be answered."""

import signal
import subprocess
import sys

import pytest

from gitrepo import Repo
from leftoff.mcp.connection import MOST_BYTES
from mcp_server.raw_client import RawClient, call_of, request


def test_it_ends_without_an_error_when_the_client_closes_its_input(client: RawClient) -> None:
    client.introduce()

    assert client.finish() == (0, [], "")


def test_it_answers_everything_that_came_before_the_end_of_the_input(repo: Repo) -> None:
    with RawClient(repo.folder) as client:
        client.send(request(1, "ping"), call_of(2, "status"))
        # The last line has no line break.
        client.write(b'{"jsonrpc": "2.0", "id": 3, "method": "ping"}')
        code, output, errors = client.finish()

    assert [each["id"] for each in output] == [1, 2, 3]
    assert (code, errors) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_an_idle_server_without_an_error(
    client: RawClient, number: signal.Signals
) -> None:
    client.introduce()

    assert client.end_by(number) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_does_not_cut_a_save_short(
    client: RawClient, repo: Repo, number: signal.Signals
) -> None:
    client.introduce()
    # The answer to the ping shows that the save is next in line.
    client.send(request(90, "ping"), call_of(91, "save", name="csv-export"))
    assert client.receive()["id"] == 90

    assert client.end_by(number) == 0

    _, output, _ = client.finish()
    saved = [each for each in output if each["id"] == 91]
    files = [*(repo.folder / ".git" / "leftoff").glob("checkpoints/*/*.json")]
    assert len(files) == len(saved)


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense\n",
        b"{\n",
        b"\xff\xfe\n",
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping"\n',
        b"[" * 100_000 + b"\n",
        b"1" * 10_000 + b"\n",
    ],
)
def test_a_malformed_line_is_answered_with_a_parse_error(client: RawClient, line: bytes) -> None:
    client.write(line)
    answer = client.receive()

    assert answer["id"] is None
    assert answer["error"]["code"] in {-32700, -32600}
    assert client.ask("ping")["result"] == {}


@pytest.mark.parametrize(
    ("message", "code", "id_"),
    [
        ("text", -32600, None),
        ({}, -32600, None),
        ({"id": 1}, -32600, 1),
        ({"id": 1, "method": 5}, -32600, 1),
        ({"id": None, "method": "ping"}, -32600, None),
        ({"id": True, "method": "ping"}, -32600, None),
        ({"id": {"a": 1}, "method": "ping"}, -32600, None),
        ({"id": 7, "method": "ping", "params": [1]}, -32602, 7),
        ([], -32600, None),
    ],
)
def test_an_invalid_message_is_refused_with_its_id(
    client: RawClient, message: object, code: int, id_: object
) -> None:
    client.send(message)
    answer = client.receive()

    assert (answer["error"]["code"], answer["id"]) == (code, id_)
    assert client.ask("ping")["result"] == {}


def test_blank_lines_and_carriage_returns_do_no_harm(client: RawClient) -> None:
    client.write(b'\n\r\n\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n  \n')

    assert client.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize(
    ("start", "end", "id_"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"', b'"}}', 1),
        # The official clients put the id last.
        (b'{"method":"ping","params":{"id":2,"x":"', b'"},"jsonrpc":"2.0","id":"a-1"}', "a-1"),
        (b'{"method":"ping","params":{"x":"', b'"},"id":3,"jsonrpc":"2.0"} \r', 3),
        (b'{"method":"ping","params":{"x":"', b'","id":5}}', None),
        (b'{"method":"ping","params":{"x":"', b'\\"id\\":5}"}}', None),
        (b'"id":', b"", None),
    ],
)
def test_a_line_that_is_too_long_is_refused_and_the_next_one_answered(
    client: RawClient, start: bytes, end: bytes, id_: object
) -> None:
    client.write(start)
    client.write(b"x" * (MOST_BYTES + 1))
    client.write(end + b"\n")
    answer = client.receive()

    assert str(MOST_BYTES) in answer["error"]["message"]
    assert answer["id"] == id_
    assert client.ask("ping")["result"] == {}


def test_a_long_line_within_the_limit_is_read_whole(client: RawClient) -> None:
    text = "x" * (MOST_BYTES // 2)

    assert "must be true or false" in client.fail("list", all=text)


def test_notifications_are_never_answered(client: RawClient) -> None:
    for method in ("notifications/initialized", "notifications/unknown", "tools/list"):
        client.send({"jsonrpc": "2.0", "method": method})

    assert client.ask("ping")["result"] == {}


def test_an_answer_that_nobody_asked_for_is_ignored(client: RawClient) -> None:
    client.send({"jsonrpc": "2.0", "id": "leftoff-1", "result": {}})
    client.send({"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": "no"}})
    no_ids: list[object] = [[], {}, [1], None, True, 1.5]
    for no_id in no_ids:
        client.send({"jsonrpc": "2.0", "id": no_id, "result": {}})

    assert client.ask("ping")["result"] == {}


def test_two_requests_at_once_are_both_answered_in_order(client: RawClient) -> None:
    client.send(call_of("a", "save", name="csv-export"), call_of("b", "list"))
    first, second = client.receive(), client.receive()

    assert (first["id"], second["id"]) == ("a", "b")
    threads = second["result"]["structuredContent"]["threads"]
    assert [each["name"] for each in threads] == ["csv-export"]


def test_a_request_that_was_cancelled_before_its_turn_is_not_run(client: RawClient) -> None:
    cancel = {"method": "notifications/cancelled", "params": {"requestId": 2}}
    client.send(call_of(1, "list"), call_of(2, "save", name="csv-export"), cancel)
    client.send(call_of(3, "list"))

    first, second = client.receive(), client.receive()

    assert (first["id"], second["id"]) == (1, 3)
    assert second["result"]["structuredContent"]["threads"] == []


def test_the_answer_to_a_request_that_was_cancelled_while_it_ran_is_dropped(
    client: RawClient,
) -> None:
    # While a tool waits for the client's folders, the request is being answered.
    client.introduce(roots={})
    client.send(call_of(50, "save", name="csv-export"))
    asked = client.receive()
    assert asked["method"] == "roots/list"
    client.send({"method": "notifications/cancelled", "params": {"requestId": 50}})
    client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}})

    client.send(call_of(51, "list"))

    answer = client.receive()
    assert answer["id"] == 51
    # A half save is worth nothing, so it went on to its end.
    assert len(answer["result"]["structuredContent"]["threads"]) == 1


def test_a_cancellation_of_something_unknown_is_ignored(client: RawClient) -> None:
    for id_ in (9, "x", None, {"a": 1}):
        client.send({"method": "notifications/cancelled", "params": {"requestId": id_}})

    client.send(request(9, "ping"))
    assert client.receive()["id"] == 9


def test_a_batch_gets_one_answer_for_all_its_requests(client: RawClient) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    client.send([request(1, "ping"), note, request(2, "unknown"), request(3, "ping")])
    answers = client.receive()

    assert [each["id"] for each in answers] == [1, 2, 3]
    assert answers[1]["error"]["code"] == -32601


def test_a_batch_of_notifications_gets_no_answer(client: RawClient) -> None:
    client.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}])

    assert client.ask("ping")["result"] == {}


def test_an_invalid_part_of_a_batch_does_not_stop_the_others(client: RawClient) -> None:
    client.send([5, request(1, "ping")])

    assert client.receive()["error"]["code"] == -32600
    assert [each["id"] for each in client.receive()] == [1]


def test_a_client_that_closes_its_end_early_does_no_harm(repo: Repo) -> None:
    with RawClient(repo.folder) as client:
        assert client.process.stdout is not None
        client.process.stdout.close()
        client.send(request(1, "tools/list"))
        assert client.process.stdin is not None
        client.process.stdin.close()
        code = client.process.wait(120)
        assert client.process.stderr is not None
        errors = client.process.stderr.read()

    assert (code, errors) == (0, b"")


def test_nothing_but_the_protocol_gets_into_the_output(repo: Repo) -> None:
    # A library that prints must not break the connection.
    script = (
        "import sys; from leftoff.mcp import methods\n"
        "methods.Methods._initialize = lambda *_: print('stray', flush=True) or {}\n"
        "sys.exit(methods.serve())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=b'{"jsonrpc": "2.0", "id": 1, "method": "initialize"}\n',
        cwd=repo.folder,
        capture_output=True,
        check=False,
        timeout=120,
    )

    assert done.stdout == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
    assert done.stderr == b"stray\n"


def test_a_bug_is_an_answer_and_does_not_end_the_server(repo: Repo) -> None:
    script = (
        "import sys; from leftoff.mcp import methods\n"
        "methods.Methods._initialize = lambda *_: 1 / 0\n"
        "sys.exit(methods.serve())"
    )
    with RawClient(repo.folder, program=(sys.executable, "-c", script)) as client:
        answer = client.ask("initialize")
        assert client.ask("ping")["result"] == {}
        code, _, errors = client.finish()

    assert answer["error"]["code"] == -32603
    assert "ZeroDivisionError" in errors
    assert code == 0


def test_two_clients_at_once_lose_nothing(repo: Repo) -> None:
    with RawClient(repo.folder) as first, RawClient(repo.folder) as second:
        names = [f"part-{number}-of-it" for number in range(6)]
        for number, name in enumerate(names):
            client = (first, second)[number % 2]
            client.send(call_of(number, "save", name=name, summary=f"Do {name}"))
        for client in (first, second):
            answers = [client.receive() for _ in range(3)]
            assert not any(each["result"].get("isError") for each in answers), answers

        for client in (first, second):
            assert {each["name"] for each in client.call("list")["threads"]} == {*names}


def test_what_a_server_has_answered_outlives_its_kill(repo: Repo) -> None:
    with RawClient(repo.folder) as client:
        client.call("save", name="csv-export", summary="Export orders as CSV")
        client.send(call_of(7, "save", name="other-work", summary="Something else"))
        client.end_by(signal.SIGKILL)

    with RawClient(repo.folder) as again:
        found = {each["name"] for each in again.call("list")["threads"]}
        assert found in ({"csv-export"}, {"csv-export", "other-work"})
        # Nothing is left that keeps the next one from saving.
        assert again.call("save", name="third-part", summary="The rest")["name"] == "third-part"
