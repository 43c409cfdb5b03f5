"""One browser for the tests of a module, and a fresh page for each test."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from real_programs import find_program
from web.watching import FLAGS, PATIENCE_MS, Watched


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start Chromium with a home of its own."""
    program = find_program("chromium")
    home = tmp_path_factory.mktemp("browser")
    variables: dict[str, str | float | bool] = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    with sync_playwright() as driver:
        running = driver.chromium.launch(
            executable_path=program, args=[*FLAGS], env=variables, timeout=PATIENCE_MS
        )
        yield running
        running.close()


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    """Open an empty page at the usual size, which may read and write the clipboard."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    )
    context.set_default_timeout(PATIENCE_MS)
    yield Watched(context.new_page())
    context.close()
