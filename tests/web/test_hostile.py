"""A store that somebody else wrote runs nothing on the page, hides nothing and stops nothing."""

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import expect

import leftoff
from gitrepo import Repo
from leftoff.checkpoint import SCHEMA, Checkpoint, Decision, NextAction, Todo, encode, new_id
from leftoff.knowledge import features, memory
from leftoff.store import StoreEvent
from leftoff.store.layout import Area
from leftoff.web.render import clean, mark_commands
from web.serving import serve
from web.watching import Watched

pytestmark = pytest.mark.slow("runs a real browser on a store of 10,000 threads")

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"
BREAKOUT = "\"'></a></li></ul><svg onload=alert(3)>{{ 7*7 }}{% raw %}`</code>`"
BIDI = "safe \u202egnirts desrever\u202c \u2066isolated\u2069 \x1b[31m\x07 bell"
LONG = "x" * 1_000_000
EVIL = f"{SCRIPT} {BREAKOUT} {BIDI}"
COUNT = 10_000


def test_a_hostile_store_of_ten_thousand_threads_is_shown_and_runs_nothing(
    watched: Watched, repo: Repo
) -> None:
    slot = _fill(repo.folder)
    with serve(repo.folder) as running:
        page = watched.page
        page.goto(running.link)
        expect(page.locator(".lead")).to_contain_text(f"{COUNT + 1} threads to pick up")
        expect(page.locator(".card")).to_have_count(48)
        expect(page.locator(".card").first).to_contain_text("<script>alert(1)</script>")
        expect(page.locator(".attention")).to_have_attribute("data-filled", "")
        expect(page.locator(".card .since").first).to_have_attribute("data-filled", "")
        addresses = (f"/thread?id={slot}", f"/thread?id={slot}&view=agent", "/search?q=alert",
                     "/memory", "/prompts", "/features", "/?page=200", "/settings")  # fmt: skip
        for address in addresses:
            page.goto(running.root + address)
            expect(page.locator("#live")).to_have_text("Live")
            # Only the elements of the templates are there.
            assert page.locator("main script, main img, main [onerror], main [onload]").count() == 0
            assert "\u202e" not in page.content()
            assert "\x1b" not in page.content()
            assert len(page.content()) < 700_000, address
        assert "49" not in page.title()
        page.goto(f"{running.root}/thread?id={slot}")
        expect(page.locator(".field", has_text="Left off")).to_contain_text("1,000,000 characters")
        assert watched.troubles == []
        asked = running.ask("/search?q=%3Cscript%3Ealert(9)%3C/script%3E", Cookie=None)
        assert asked.status == 403


def _fill(folder: Path) -> str:
    """Write a store as an archive could contain it; one thread has evil in every field."""
    with leftoff.open_project(folder, variables=os.environ) as work:
        area = Area(work.project.store)
        area.prepare()
        now = datetime.now(UTC)
        with area.log.open("ab") as log:
            for number in range(COUNT):
                _write(area, log.fileno(), _plain(number, now - timedelta(minutes=number + 2)))
            evil = _evil(now)
            _write(area, log.fileno(), evil)
        memory.add(work.store, [memory.EntryDraft(kind="rule", text=EVIL, why=EVIL)])
        queued = memory.EntryDraft(kind="failure", text=f"{EVIL} again", why=EVIL)
        memory.add(work.store, [queued], status="queued")
        features.add(work.store, features.ItemDraft(name=EVIL, description=EVIL))
    return evil.id


def _write(area: Area, log: int, checkpoint: Checkpoint) -> None:
    path = area.path_of(checkpoint.id)
    path.parent.mkdir(exist_ok=True, mode=0o700)
    path.write_bytes(encode(checkpoint))
    event = StoreEvent(
        id=checkpoint.id, at=checkpoint.saved_at, action="saved", ids=[checkpoint.id],
        name=checkpoint.name, thread=checkpoint.thread,
    )  # fmt: skip
    os.write(log, msgspec.json.encode(event) + b"\n")


def _plain(number: int, at: datetime) -> Checkpoint:
    new = new_id(at)
    return Checkpoint(
        schema=SCHEMA, id=new, saved_at=at, trigger="manual", thread=new, name=f"work-{number}",
        summary=f"Task {number} {SCRIPT}", next_action=NextAction(text=BREAKOUT),
    )  # fmt: skip


def _evil(at: datetime) -> Checkpoint:
    new = new_id(at)
    return Checkpoint(
        schema=SCHEMA, id=new, saved_at=at, trigger=EVIL, thread=new, name=EVIL, agent=EVIL,
        session_id=EVIL, branch=EVIL, worktree=EVIL, head=EVIL, summary=EVIL, left_off=LONG,
        next_action=NextAction(text=f"{EVIL} {LONG}"), done=[EVIL, LONG], todos=[Todo(text=EVIL)],
        decisions=[Decision(what=EVIL, why=LONG)], pending_prompts=[EVIL], feature=EVIL,
        dirty=[EVIL], files_modified=[EVIL],
    )  # fmt: skip


def test_text_is_shown_without_what_controls_or_reorders_it() -> None:
    assert clean(BIDI) == "safe gnirts desrever isolated \ufffd[31m\ufffd bell"
    assert clean("go\u200bod\U000e0041\U000e0042 \u2060text") == "good text"
    assert clean("family 👨\u200d👩\u200d👧 שלום\nline") == "family 👨\u200d👩\u200d👧 שלום\nline"
    shown = str(clean(LONG))
    assert len(shown) < 21_000
    assert "1,000,000 characters" in shown
    assert str(mark_commands("Run `a <b>`, <i>now</i>.")) == (
        "Run <code>a &lt;b&gt;</code>, &lt;i&gt;now&lt;/i&gt;."
    )
    assert re.search("<(?!/?code>)", str(mark_commands(EVIL))) is None
