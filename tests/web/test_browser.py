"""A real browser plays what people do on the page."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from real_programs import find_program
from web.serving import RunningPage, StoryWorld, play_story, serve
from web.watching import PATIENCE_MS, Watched

pytestmark = pytest.mark.slow("runs a real browser")
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture
def world(tmp_path: Path) -> StoryWorld:
    return play_story(tmp_path / "shop")


@pytest.fixture
def running(world: StoryWorld) -> Iterator[RunningPage]:
    with serve(world.project) as running:
        yield running


def card(page: Page, name: str) -> str:
    """Return the address of a thread that the overview shows."""
    found = page.locator(".card", has=page.locator(".name", has_text=name))
    return str(found.locator("h2 a").get_attribute("href"))


def test_a_person_reads_a_thread_ends_it_and_takes_everything_back(
    watched: Watched, running: RunningPage
) -> None:
    page = watched.page
    page.goto(running.link)
    expect(page.locator("h1")).to_have_text("Open threads")
    expect(page.locator(".card")).to_have_count(5)
    first = page.locator(".card").first
    expect(first).to_contain_text("Export orders as CSV")
    expect(first).to_contain_text("Write the header row in src/export.py")
    expect(first.locator(".since")).to_have_text("1 new commit · 1 file changed")
    expect(page.locator(".attention")).to_contain_text("1 prompt waits")
    expect(page.locator(".attention")).to_contain_text("2 entries to review")
    expect(page.locator(".attention")).to_contain_text("Hooks are missing")

    page.goto(running.root + card(page, "csv-export"))
    expect(page.locator(".callout")).to_contain_text("Write the header row")
    expect(page.locator(".checks")).to_contain_text("src/cart.py changed")
    for kind in ("save", "autosave", "compaction", "crash", "handover", "commit", "snapshot"):
        assert page.locator(f".lanes .mark-{kind}").count() > 0, kind
    assert page.locator(".lane-name").all_text_contents() == ["claude", "codex", "gemini", "code"]
    expect(page.locator(".curve .step-text")).to_have_text(["60 %", "70 %", "75 %", "90 %", "95 %"])
    expect(page.locator(".snapshots li")).to_have_count(1)
    expect(page.locator(".commands dd").first).to_contain_text("--in gemini")
    page.get_by_role("button", name="Copy the command for Codex").click()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert re.fullmatch(r"cd \S+/shop && leftoff resume csv-export --in codex", copied)

    page.get_by_role("link", name="For an agent").click()
    expect(page.locator(".briefing")).to_contain_text("<leftoff-briefing>")
    page.get_by_role("button", name="Compare A with B").click()
    expect(page.locator("#diff")).to_contain_text("Next action")
    expect(page.locator("#diff .added").first).to_be_visible()

    page.get_by_role("button", name="Mark as done").click()
    expect(page.locator(".toast")).to_have_text(re.compile("Marked “csv-export” as done"))
    expect(page.locator(".state")).to_have_text("done")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_have_text(re.compile("Undid marking csv-export as done"))
    expect(page.locator(".state")).to_have_text("open")
    page.locator(".toast").get_by_role("button", name="Redo").click()
    expect(page.locator(".state")).to_have_text("done")
    page.goto(f"{running.root}/?state=ended")
    expect(page.locator(".card")).to_have_count(2)
    # What happened to one thread cannot be undone by mistake on the page of another.
    page.goto(running.root + card(page, "search-index"))
    expect(page.locator(".state")).to_have_text("done")
    expect(page.get_by_role("button", name=re.compile("^Undo"))).to_have_count(0)
    assert watched.troubles == []


def test_a_person_reviews_the_memory_and_the_prompts(
    watched: Watched, running: RunningPage
) -> None:
    page = watched.page
    page.goto(running.link)
    page.get_by_role("link", name="Memory", exact=True).click()
    queue = page.locator("section", has=page.get_by_role("heading", name="To review"))
    expect(queue.locator(".entry")).to_have_count(2)
    page.get_by_role("button", name="Approve: Write tests first").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(queue.locator(".entry")).to_have_count(1)
    # The next one is chosen, so that the keyboard can go through the list.
    expect(queue.locator(".entry")).to_be_focused()
    page.locator(".toast").get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Approve: Never push to main").click()
    expect(queue.locator(".entry")).to_have_count(1)
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(queue.locator(".entry")).to_have_count(2)
    page.get_by_role("button", name="Reject: Write tests first").click()
    expect(queue.locator(".entry")).to_have_count(1)
    entry = page.locator(".entry", has_text="Never push to main")
    entry.locator("summary").click()
    entry.get_by_label("Text").fill("Never push to main without a review")
    entry.get_by_role("button", name="Save the text").click()
    expect(page.locator(".toast")).to_contain_text("Never push to main without a review")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_contain_text("“Never push to main” is queued again")

    page.get_by_role("link", name="Prompts", exact=True).click()
    prompt = "Also export the shipping address, one column per line of it."
    page.get_by_role("button", name="Copy the prompt").click()
    assert page.evaluate("() => navigator.clipboard.readText()") == prompt
    page.get_by_role("button", name="Drop").click()
    expect(page.locator(".lead")).to_have_text("No prompts are waiting.")
    # Beside a long text, the button keeps its word on one line.
    assert page.evaluate("() => document.querySelector('.toast button').clientHeight") < 40
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".prompts .entry")).to_have_count(1)

    page.get_by_role("link", name="Features", exact=True).click()
    expect(page.locator(".column", has_text="In progress")).to_contain_text("Export orders as CSV")
    page.get_by_role("link", name="Settings", exact=True).click()
    row = page.locator(".setting", has=page.get_by_text("advise_at", exact=True))
    expect(row.locator(".copyable")).to_contain_text("leftoff config set advise_at VALUE")
    page.get_by_role("link", name="Doctor", exact=True).click()
    expect(page.locator(".findings")).to_contain_text("The hooks are not installed")
    assert watched.troubles == []


def test_the_keyboard_is_enough_and_a_save_elsewhere_appears_at_once(
    watched: Watched, running: RunningPage, world: StoryWorld
) -> None:
    page = watched.page
    page.goto(running.link)
    expect(page.locator("#live")).to_have_text("Live")
    expect(page.locator(".card")).to_have_count(5)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Export orders as CSV")

    page.keyboard.press("/")
    page.keyboard.type("42")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("9")
    expect(page).to_have_url(re.compile("q=429$"))
    expect(page.locator(".results li")).to_have_count(2)
    page.go_back()
    expect(page.locator("h1")).to_contain_text("Export orders as CSV")
    page.go_forward()
    expect(page.locator("#q")).to_have_value("429")
    page.keyboard.press("/")
    page.keyboard.type("retry-af")
    expect(page.locator("#result-count")).to_have_text("2 results.")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).not_to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("h1, .column h2").first).to_be_visible()

    page.keyboard.press("o")
    expect(page.locator("#live")).to_have_text("Live")
    expect(page.locator(".card")).to_have_count(5)
    words = ["save", "live-one", "--summary", "Seen at once", "--next", "Look at the page"]
    subprocess.run([sys.executable, "-m", "leftoff", *words], cwd=world.project, check=True)
    expect(page.locator(".card")).to_have_count(6)
    expect(page.locator(".card").first).to_contain_text("Seen at once")
    running.stop()
    expect(page.locator("#live")).to_have_text(re.compile("Ended|Not connected"))


def test_a_page_that_waited_for_someone_who_typed_catches_up_afterwards(
    watched: Watched, running: RunningPage, world: StoryWorld
) -> None:
    page = watched.page
    page.goto(running.link)
    page.get_by_role("link", name="Memory", exact=True).click()
    expect(page.locator("#live")).to_have_text("Live")
    field = page.get_by_label("Words")
    field.fill("half a wo")
    page.evaluate(_WATCH_CHANGES)
    words = ["memory", "add", "rule", "Say it in one sentence"]
    subprocess.run([sys.executable, "-m", "leftoff", *words], cwd=world.project, check=True)
    page.evaluate("() => window.changed")

    expect(field).to_have_value("half a wo")
    added = page.locator(".entry", has_text="Say it in one sentence")
    expect(added).to_have_count(0)
    field.blur()
    expect(added).to_have_count(1)
    assert watched.troubles == []


# A stream of its own notices the change when the page does.
_WATCH_CHANGES = """() => new Promise((done) => {
  const stream = new EventSource("/events");
  window.changed = new Promise((seen) => stream.addEventListener("change", () => seen()));
  stream.addEventListener("ready", () => done());
})"""


# The story has something on every page; the test fills in what has no fixed address.
NARROW, USUAL, WIDE = (360, 740, "dark"), (1280, 900, "light"), (2560, 1400, "dark")
PAGES = {
    "/": (NARROW, USUAL, WIDE),
    "/?state=ended": (USUAL,),
    "thread": (NARROW, USUAL, WIDE),
    "agent": (NARROW, USUAL),
    "diff": (NARROW, USUAL),
    "/search?q=export": (NARROW, USUAL),
    "/memory": (NARROW, USUAL),
    "/prompts": (NARROW, USUAL),
    "/features": (NARROW, USUAL),
    "/settings": (NARROW, WIDE),
    "/doctor": (NARROW,),
    "/nothing": (USUAL,),
}
_SHIFTS = """() => {
  window.shifts = 0;
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifts += each.value;
  }).observe({ type: "layout-shift", buffered: true });
}"""

_CRAMPED = """() => [...document.querySelectorAll("td")].some((each) => each.clientHeight > 90)"""

_PLACES = """() => [...document.querySelectorAll(".copyable, .version, h1")]
  .map((each) => each.getBoundingClientRect())
  .map((box) => [box.x, box.y, box.width, box.height])"""


def test_every_page_is_accessible_at_every_size_and_nothing_moves(
    watched: Watched, running: RunningPage
) -> None:
    page, script = watched.page, find_program("axe-core").read_text(encoding="utf-8")
    page.goto(running.link)
    expect(page.locator(".card")).to_have_count(5)
    thread = card(page, "csv-export")
    page.goto(running.root + thread)
    ids = [str(each.get_attribute("value")) for each in page.locator("input[name=a]").all()]
    named = {
        "thread": thread,
        "agent": f"{thread}&view=agent",
        "diff": f"{thread}&a={ids[0]}&b={ids[-1]}",
    }
    found = [
        f"{path} at {size[0]} px, {size[2]}: {problem}"
        for path, sizes in PAGES.items()
        for size in sizes
        for problem in _examine(page, running.root + named.get(path, path), script, size)
    ]

    assert found == []


def test_nothing_moves_when_the_script_arrives_late(watched: Watched, running: RunningPage) -> None:
    page = watched.page
    page.goto(running.link)
    thread = card(page, "csv-export")
    for path in (thread, "/settings"):
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            page.route("**/leftoff.js*", lambda route: route.fulfill(body=""))
            page.goto(running.root + path)
            before = page.evaluate(_PLACES)
            page.unroute("**/leftoff.js*")
            page.goto(running.root + path)
            expect(page.locator("#live")).to_have_text("Live")

            assert before == page.evaluate(_PLACES) != []


def _examine(page: Page, address: str, script: str, size: tuple[int, int, str]) -> Iterator[str]:
    """Visit a page; yield the violations, and what does not fit or moves."""
    width, height, scheme = size
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(
        color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce"
    )
    page.goto(address)
    page.evaluate(_SHIFTS)
    if page.locator("#live").count():
        expect(page.locator("#live")).to_have_text("Live")
    for place in page.locator(".attention, .findings").all():
        expect(place).to_have_attribute("data-filled", "")
    if page.evaluate("() => document.documentElement.scrollWidth > innerWidth"):
        yield "wider than the screen"
    if page.evaluate(_CRAMPED):
        yield "a column of a table is too narrow to read"
    if (shift := page.evaluate("() => window.shifts")) > 0.01:
        yield f"moves by {shift:.3f}"
    page.evaluate(
        "() => document.querySelectorAll('details').forEach((each) => (each.open = true))"
    )
    page.evaluate(script)
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    for each in found["violations"]:
        yield f"{each['id']}: {each['nodes'][0]['html'][:200]}"
