"""Fill a project with a week of work by several agents, to show on the web page."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import msgspec

import leftoff
from leftoff.agents.hook_events import HookEvent
from leftoff.checkpoint import (
    SCHEMA,
    Checkpoint,
    Commit,
    ContextUse,
    Decision,
    Failure,
    NextAction,
    Todo,
    TrailStep,
)
from leftoff.fingerprints import fingerprint
from leftoff.knowledge import features, memory
from leftoff.session import prompt_queue
from leftoff.snapshots.take import Reason, take_snapshot
from leftoff.store import BY_HAND_OVER, Store

FILES = {
    "src/cart.py": "def total(items):\n    return sum(item.price for item in items)\n",
    "src/export.py": "def rows(orders):\n    return [order.row() for order in orders]\n",
    "src/limiter.py": "LIMIT = 100\n",
    "tests/test_cart.py": "def test_total():\n    assert total([]) == 0\n",
}
_WINDOW = 200_000
_CLAUDE, _CODEX, _GEMINI = (f"5e55107e-0000-4000-8000-0000000000{n}" for n in ("c1", "c0", "9e"))


_OTHERS: tuple[tuple[dict[str, float], str, str, str, str], ...] = (
    (
        {"hours": 9},
        "rate-limiter",
        "claude",
        "Answer 429 with Retry-After when the limit is reached",
        "Read the limit from the settings in src/limiter.py",
    ),
    (
        {"hours": 26},
        "cart-totals",
        "codex",
        "Round cart totals to cents, once and at the end",
        "Sum Decimal in total() in src/cart.py, then run pytest tests/test_cart.py",
    ),
    (
        {"days": 4},
        "login-page",
        "opencode",
        "Keep the address of the page a user came from",
        "Pass next= through the form in src/login.py",
    ),
    (
        {"days": 6},
        "invoice-pdf",
        "copilot",
        "Print invoices as PDF with the seller's logo",
        "Choose between weasyprint and typst",
    ),
)


class World(Protocol):
    """A project to fill, as `stage.py` makes one."""

    @property
    def project(self) -> Path:
        """The project's folder."""

    @property
    def environment(self) -> dict[str, str]:
        """The variables of its user."""

    def run(self, *words: str) -> str:
        """Run a command in the project and return its output."""

    def write(self, path: str, text: str) -> None:
        """Write a file in the project."""

    def commit(self, subject: str) -> None:
        """Commit everything in the project."""


class StoryClock:
    """A clock that the story sets."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        """Return the time of the story."""
        return self.now

    def go_back(self, **span: float) -> None:
        """Set the time to some time before the real one."""
        self.now = datetime.now(UTC) - timedelta(**span)


def play_story(world: World) -> None:
    """Write the threads, the memory, the prompts and the features of the story."""
    clock = StoryClock()
    with leftoff.open_project(world.project, variables=world.environment) as work:
        store = Store(work.project, now=clock)
        try:
            _save_export(world, store, clock)
            _save_others(store, clock)
            _remember(store, clock)
            _queue_prompts(store, clock)
        finally:
            store.close()


def _save(store: Store, name: str, draft: Checkpoint, **more: Any) -> str:
    worktree = str(store.project.worktree)
    full = msgspec.structs.replace(draft, name=name, worktree=worktree, **more)
    return store.save(full, overwrite=True).checkpoint.id


def _draft(agent: str | None, session: str | None, **values: Any) -> Checkpoint:
    plain = Checkpoint(
        schema=SCHEMA,
        id="",
        saved_at=datetime.now(UTC),
        trigger="manual",
        agent=agent,
        session_id=session,
        branch="csv-export",
    )
    return msgspec.structs.replace(plain, **values)


def _use(percent: float) -> ContextUse:
    return ContextUse(tokens=int(_WINDOW * percent / 100), window=_WINDOW, percent=percent)


def _save_export(world: World, store: Store, clock: StoryClock) -> None:
    """Save one thread as three agents worked on it, with a compaction and a crash."""
    world.run("git", "checkout", "--quiet", "-b", "csv-export")
    head = world.run("git", "rev-parse", "HEAD").strip()
    work = _draft(
        "claude",
        _CLAUDE,
        summary="Export orders as CSV, streamed, with the totals of each day",
        head=head,
        last_commit=Commit(sha=head, subject="Start the shop"),
    )
    steps = (
        ({"days": 3, "hours": 4}, "manual", 22),
        ({"days": 3, "hours": 3.4}, "long-command", 41),
        ({"days": 3, "hours": 2.8}, "context", 71),
        ({"days": 3, "hours": 2.5}, "context", 86),
        ({"days": 3, "hours": 2.3}, "precompact", 96),
        ({"days": 3, "hours": 1.5}, "idle", 31),
    )
    for back, trigger, percent in steps:
        clock.go_back(**back)
        _save(store, "csv-export", work, trigger=trigger, context=_use(percent))
    world.write(
        "src/export.py", "def rows(orders):\n    yield from (order.row() for order in orders)\n"
    )
    world.commit("Stream the rows")
    head = world.run("git", "rev-parse", "HEAD").strip()
    committed = msgspec.structs.replace(
        work, head=head, last_commit=Commit(sha=head, subject="Stream the rows")
    )
    clock.go_back(days=1, hours=6)
    died = {"trigger": "recovered", "as_of": datetime.now(UTC) - timedelta(days=3, hours=1)}
    newest = _save(store, "csv-export", committed, context=_use(54), **died)
    clock.go_back(days=1, hours=2)
    store.record("resumed", [newest], session=("codex", _CODEX), trigger=BY_HAND_OVER)
    codex = msgspec.structs.replace(committed, agent="codex", session_id=_CODEX)
    for hours, percent in ((1.7, 18), (1.2, 39), (0.6, 63)):
        clock.go_back(days=1, hours=hours)
        newest = _save(store, "csv-export", codex, trigger="idle", context=_use(percent))
    clock.go_back(hours=3)
    store.record("resumed", [newest], session=("gemini", _GEMINI), trigger=BY_HAND_OVER)
    clock.go_back(hours=2.5)
    _save_newest(world, store, codex)


def _save_newest(world: World, store: Store, codex: Checkpoint) -> None:
    root = world.project
    _save(
        store,
        "csv-export",
        msgspec.structs.replace(
            codex,
            agent="gemini",
            session_id=_GEMINI,
            trigger="manual",
            context=_use(27),
            next_action=NextAction(
                text="Write the header row in src/export.py, then run pytest tests/test_export.py"
            ),
            next_steps=["Add the totals of each day", "Document the format in docs/export.md"],
            left_off="The header row is missing, so the importer skips one order.",
            done=["Streamed the rows in src/export.py", "Measured 2 GB: 31 MB of memory"],
            questions=["Should the totals be net or gross?"],
            decisions=[
                Decision(what="Stream the rows", why="files reach 2 GB"),
                Decision(
                    what="UTF-8 with a byte order mark", why="Excel guesses Latin-1 otherwise"
                ),
            ],
            failed=[Failure(what="csv.writer on a list", why="out of memory at 1 GB")],
            todos=[
                Todo(text="Stream the rows", status="completed"),
                Todo(text="Write the header row", status="in_progress"),
                Todo(text="Totals of each day"),
            ],
            trail=[
                TrailStep(tool="Edit", what="src/export.py", outcome="ok"),
                TrailStep(
                    tool="Bash", what="pytest tests/test_export.py", outcome="1 failed", exit=1
                ),
            ],
            files=[fingerprint(path, root) for path in ("src/export.py", "src/cart.py")],
        ),
    )
    world.write("src/cart.py", FILES["src/cart.py"].replace("items)", "items if item)"))
    world.commit("Skip empty items")
    _keep_code(world, store)


def _keep_code(world: World, store: Store) -> None:
    """Leave something uncommitted, with the snapshot that a turn takes."""
    world.write("src/header.py", 'HEADER = ["order", "date", "total"]\n')
    thread = store.find("csv-export").slot
    take_snapshot(store.project, Reason(trigger="turn", thread=thread, session=_GEMINI))


def _save_others(store: Store, clock: StoryClock) -> None:
    for back, name, agent, task, following in _OTHERS:
        clock.go_back(**back)
        draft = _draft(
            agent, f"{name}-session", summary=task, next_action=NextAction(text=following)
        )
        _save(store, name, draft, branch=name, context=_use(35))
    clock.go_back(days=5)
    ended = _save(
        store,
        "search-index",
        _draft(
            "claude", "search-session", summary="Index product names for search", done=["Built"]
        ),
    )
    store.record("consumed", [ended])


def _remember(store: Store, clock: StoryClock) -> None:
    clock.go_back(days=1)
    drafts = {
        "rule": ("Run the linter before every commit", "the build fails otherwise"),
        "decision": ("Prices are Decimal everywhere", "a rounded float is still a float"),
        "failure": ("round() on every item", "the errors add up over 100 items"),
    }
    for kind, (text, why) in drafts.items():
        memory.add(store, [memory.EntryDraft(kind=kind, text=text, why=why)])  # type: ignore[arg-type]
    clock.go_back(hours=5)
    queued = (("Never push to main", "a colleague was surprised"), ("Write tests first", ""))
    for text, why in queued:
        memory.add(store, [memory.EntryDraft(kind="rule", text=text, why=why)], status="queued")
    for name, status in (
        ("Export orders as CSV", "in_progress"),
        ("Answer 429 with Retry-After", "pending"),
        ("Print invoices", "blocked"),
        ("Search products", "passing"),
    ):
        item = features.add(store, features.ItemDraft(name=name))
        features.update(store, item.id, status=status)


def _queue_prompts(store: Store, clock: StoryClock) -> None:
    clock.go_back(hours=2)
    event = HookEvent(
        agent="gemini",
        kind="prompt",
        session_id=_GEMINI,
        cwd=str(store.project.worktree),
        at=clock().timestamp(),
        prompt="Also export the shipping address, one column per line of it.",
    )
    prompt_queue.keep(store, event, is_blocked=True)
