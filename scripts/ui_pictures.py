"""Take the pictures of the web page for the documentation, in a real browser.

    python scripts/ui_pictures.py [FOLDER]

The pages show the story of `ui_story.py`, and are served by the real command.
"""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import agents
from demo_page import serve_page
from stage import stage
from ui_story import FILES, play_story

PICTURES = Path(__file__).parent.parent / "docs" / "images"
# Debian's browser, as a program without a screen, that asks nobody for anything.
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
# What a desktop would use as its own font, if it is installed: apt install fonts-inter
_FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
<include>/etc/fonts/fonts.conf</include>
<match><test name="family"><string>sans</string></test>
<edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>
<match><test name="family"><string>sans-serif</string></test>
<edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>
<match><test name="family"><string>system-ui</string></test>
<edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>
</fontconfig>
"""
SHOTS = {
    "ui-overview": ("/", 1280, 820, "light"),
    "ui-thread": ("thread", 1280, 1180, "light"),
    "ui-search": ("/search?q=export", 1280, 560, "light"),
    "ui-memory": ("/memory", 1280, 820, "dark"),
    "ui-phone": ("thread", 360, 740, "dark"),
}


@contextlib.contextmanager
def open_browser(folder: Path) -> Iterator[Browser]:
    """Start the browser, with a home and fonts of its own."""
    fonts = folder / "fonts.conf"
    fonts.write_text(_FONTS, encoding="utf-8")
    variables: dict[str, str | float | bool] = {
        "HOME": str(folder),
        "PATH": "/usr/bin:/bin",
        "FONTCONFIG_FILE": str(fonts),
    }
    with sync_playwright() as driver:
        program = agents.install("chromium")
        browser = driver.chromium.launch(executable_path=program, args=[*FLAGS], env=variables)
        yield browser
        browser.close()


def settle(page: Page) -> None:
    """Wait until the page is live, and everything on the screen is there."""
    page.wait_for_selector("#live[data-state=on]")
    for place in page.locator("[data-lazy]").all():
        place.scroll_into_view_if_needed()
        place.and_(page.locator("[data-filled]")).wait_for(state="attached")
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")


def find_thread(page: Page, name: str) -> str:
    """Return the address of a thread's page."""
    card = page.locator(".card", has=page.locator(".name", has_text=name))
    return str(card.locator("h2 a").get_attribute("href"))


_RENAME = """([from, to]) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) walker.currentNode.data = walker.currentNode.data.replaceAll(from, to);
}"""


def take_pictures(link: str, browser: Browser, project: Path, folder: Path) -> None:
    """Visit the pages and write one picture of each, without the path of the temp folder."""
    context = browser.new_context(device_scale_factor=1, reduced_motion="reduce")
    page = context.new_page()
    page.goto(link)
    page.wait_for_selector(".cards")
    thread = find_thread(page, "csv-export")
    root = page.url.rstrip("/")
    for name, (path, width, height, scheme) in SHOTS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.goto(root + (thread if path == "thread" else path))
        settle(page)
        page.evaluate(_RENAME, [str(project), f"/home/ada/{project.name}"])
        page.screenshot(path=folder / f"{name}.png")
    context.close()


def main(names: list[str]) -> None:
    """Take all pictures; without a browser, leave them as they are."""
    try:
        agents.install("chromium")
    except agents.CannotInstallError as error:
        print(f"The pictures of the web page stay as they are. {error}")
        return
    folder = Path(names[0]) if names else PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    with stage(FILES) as world:
        play_story(world)
        with serve_page(world) as link, open_browser(world.folder) as browser:
            take_pictures(link, browser, world.project, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
