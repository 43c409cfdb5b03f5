"""The page ends with Ctrl-C and when nobody uses it, and listens on this machine only."""

import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.context import read_environment
from leftoff.errors import LeftoffError
from leftoff.web.serve import serve as serve_site
from leftoff.web.site import Site
from web.serving import serve


def make_site(*folders: Path) -> Site:
    return Site(read_environment(), lambda: [*folders])


def test_ctrl_c_ends_it_well_even_while_a_page_listens(repo: Repo) -> None:
    with serve(repo.folder) as page:
        page.log_in()
        host, _, port = page.host.partition(":")
        with socket.create_connection((host, int(port))) as listening:
            request = f"GET /events HTTP/1.1\r\nHost: {page.host}\r\nCookie: {page.cookie}\r\n\r\n"
            listening.sendall(request.encode())
            assert b"event: ready" in _read_until(listening, b"event: ready")
            assert page.stop() == 0


def _read_until(connection: socket.socket, wanted: bytes) -> bytes:
    found = b""
    while wanted not in found and (more := connection.recv(4096)):
        found += more
    return found


def test_it_ends_when_nobody_uses_it(repo: Repo) -> None:
    program = """
        import sys
        from pathlib import Path
        from leftoff.context import read_environment
        from leftoff.web.serve import serve
        from leftoff.web.site import Site

        site = Site(read_environment(), lambda: [Path(sys.argv[1])])
        is_idle = serve(site, announce=lambda serving: None, idle_seconds=0.3)
        print(is_idle)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), repo.folder],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    assert done.stdout == "True\n"


def test_a_port_in_use_is_explained(repo: Repo) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LeftoffError, match=f"Cannot serve on port {port}") as refused:
            serve_site(make_site(repo.folder), port=port, announce=lambda _: None)

    assert "--port" in refused.value.hint


def test_other_machines_do_not_reach_it(repo: Repo) -> None:
    with serve(repo.folder) as page:
        port = int(page.host.rpartition(":")[2])
        table = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()
        listening = [line.split()[1] for line in table if line.split()[3] == "0A"]

        assert [each for each in listening if each.endswith(f":{port:04X}")] == [
            f"0100007F:{port:04X}"
        ]
