"""Nobody but the user's own browser gets a page, and no other web site can change anything."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import leftoff
from gitrepo import Repo
from leftoff.web.access import Access
from leftoff.web.web_app import PAGES
from web.serving import RunningPage, serve

NAME = "csv-export"


@pytest.fixture
def page(repo: Repo) -> Iterator[RunningPage]:
    _save(repo.folder)
    with serve(repo.folder) as running:
        yield running


def _save(folder: Path) -> None:
    with leftoff.open_project(folder, variables=os.environ) as work:
        work.save(NAME, summary="Export orders", next_action="Write the header", done=["Rows"])


def test_the_link_works_once_and_gives_a_cookie_that_scripts_and_other_sites_never_see(
    page: RunningPage,
) -> None:
    assert page.ask("/").status == 403
    # A wrong or early request does not use it up.
    path = page.link.removeprefix(page.root)
    assert page.ask("/open").status == 403
    assert page.ask("/open?token=").status == 403
    assert page.ask(path + "x").status == 403
    assert page.ask(path, Sec_Purpose="prefetch;prerender").status == 403
    assert page.ask(path, method="HEAD").status in {403, 405}
    assert page.ask(path, Host="evil.example").status == 403

    opened = page.log_in()
    assert opened.status == 200
    text = opened.headers["set-cookie"].lower()
    assert "httponly" in text
    assert "samesite=strict" in text
    assert NAME in page.ask("/").text

    again = page.ask(path, Cookie=None)
    assert again.status == 403
    assert "set-cookie" not in again.headers


def test_only_requests_of_the_page_itself_are_answered_and_no_folder_is_served(
    page: RunningPage,
) -> None:
    page.log_in()
    port = page.host.rpartition(":")[2]
    assert page.ask("/").status == 200
    assert page.ask("/", Host=f"localhost:{port}").status == 200
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1.nip.io:{port}"):
        assert page.ask("/", Host=host).status == 403, host
    for origin in (
        "http://evil.example",
        "null",
        f"https://{page.host}",
        f"http://localhost:{port}",
    ):
        assert page.ask("/", Origin=origin).status == 403, origin
    assert page.ask("/", Sec_Fetch_Site="cross-site").status == 403
    assert page.ask("/events", Sec_Fetch_Site="same-site").status == 403
    assert page.ask("/", Cookie="leftoff-1=guessed").status == 403
    # Every answer carries the headers that protect it.
    answers = [
        page.ask("/", Cookie=None),
        page.ask("/"),
        page.ask("/nothing"),
        page.ask("/search?q=orders"),
    ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers
        assert "<script>" not in answer.text
        assert " style=" not in answer.text
        assert " onclick=" not in answer.text
    # No folder is served.
    assert page.ask("/assets/leftoff.css").status == 200
    for path in ("/assets/", "/assets/render.py", "/assets/../serve.py", "/assets/%2e%2e/serve.py",
                 "/static/leftoff.css", "/etc/passwd", "/.git/config"):  # fmt: skip
        assert page.ask(path).status == 404, path


def test_a_change_needs_the_origin_the_cookie_and_the_token_of_the_page(page: RunningPage) -> None:
    page.log_in()
    form = {"csrf": page.find_csrf("/"), "id": NAME, "back": "/"}
    assert form["csrf"]
    refused = [
        page.ask("/act/drop", method="POST", form=form, Cookie=None),
        page.ask("/act/drop", method="POST", form=form, Origin=None),
        page.ask("/act/drop", method="POST", form=form, Origin="http://evil.example"),
        page.ask("/act/drop", method="POST", form=form, Host="evil.example"),
        page.ask("/act/drop", method="POST", form=form, Sec_Fetch_Site="cross-site"),
        page.ask("/act/drop", method="POST", form={**form, "csrf": ""}),
        page.ask("/act/drop", method="POST", form={**form, "csrf": "x" * 43}),
        page.ask("/act/drop", method="POST", form={"id": NAME}),
    ]
    assert [each.status for each in refused] == [403] * len(refused)
    assert page.ask("/act/drop").status == 405
    assert page.ask("/act/nothing", method="POST", form=form).status == 404
    assert page.ask("/act/drop", method="POST", form={**form, "x": "y" * 70_000}).status == 413
    assert NAME in page.ask("/").text

    dropped = page.ask("/act/drop", method="POST", form=form)
    assert dropped.status == 303
    assert "Dropped" in page.ask("/").text
    # The way back never leads to another site.
    for back in ("//evil.example", "http://evil.example", "/\\evil.example", "/\nx", ""):
        answer = page.ask("/act/done", method="POST", form={**form, "back": back})
        assert answer.headers["location"] == "/", back
    answer = page.ask("/act/done", method="POST", form={**form, "back": "/?state=ended"})
    assert answer.headers["location"] == "/?state=ended"


def test_an_address_may_have_any_parameter(page: RunningPage) -> None:
    page.log_in()
    for path in PAGES:
        assert page.ask(f"{path}?path=x&values=y&self=z").status in {200, 404}, path


def test_a_read_only_page_has_no_forms_and_refuses_changes(repo: Repo) -> None:
    _save(repo.folder)
    with serve(repo.folder, "--read-only") as page:
        page.log_in()
        overview = page.ask("/").text
        assert "Read-only" in overview
        assert 'method="post"' not in overview
        answer = page.ask("/act/drop", method="POST", form={"id": NAME, "csrf": "x"})
        assert answer.status == 403
        assert "read-only" in answer.text


def test_the_tokens_differ_between_two_runs() -> None:
    first, second = Access(8000), Access(8000)

    assert first.link_token != second.link_token
    assert first.take_link(second.link_token) is None
    cookie = first.take_link(first.link_token)
    assert cookie
    assert first.take_link(first.link_token) is None
