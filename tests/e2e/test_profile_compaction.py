"""With other systems' profiles, a compaction is saved before, restored after, or blocked."""

import json
from pathlib import Path

from e2e.claude import Bench
from e2e.model import Model
from e2e.turns import SUMMARY, bash, say
from e2e.user import LAST_WORDS, NEXT, TASK, TOOLS, User
from e2e.wire import Request

HOT = 95_000
# Claude Code compacts a short conversation only if it has a few exchanges.
EXCHANGES = tuple(bash(f"echo {number}") for number in range(5))


def _artifacts(bench: Bench) -> Path:
    return bench.repo.folder / ".workflow_artifacts" / "memory"


def _fills_up(bench: Bench) -> None:
    """Let a session fill its window, so that Claude Code wants to compact it automatically."""
    bench.model.will(*EXCHANGES, bash("echo hot", LAST_WORDS, tokens=HOT), say("end"))
    bench.run(TASK, *TOOLS, CLAUDE_CODE_AUTO_COMPACT_WINDOW="100000")


def test_quoin_has_checkpoint_and_mark_on_disk_before_an_automatic_compaction_goes_on(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.follows("quoin")
    there: list[str] = []

    def look(request: Request) -> None:
        if request.kind == "compact":
            mark = _artifacts(bench) / f"pending-restore-{request.session_id}.txt"
            there.append(Path(mark.read_text(encoding="utf-8").strip()).read_text("utf-8"))

    model.watch = look
    _fills_up(bench)

    assert len(there) == len(model.requests("compact")) == 1
    assert TASK in there[0]
    assert "echo hot" in there[0] or NEXT in there[0]
    assert model.turns_left == 0
    (checkpoint,) = (_artifacts(bench) / "checkpoints").glob("*-precompact.md")
    assert TASK in checkpoint.read_text(encoding="utf-8")


def test_quoin_lets_a_manual_compaction_pass_and_the_session_goes_on_from_its_own_state(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.follows("quoin")
    newcomer.ok("config", "set", "compaction", "block", "--project")
    session = newcomer.works().session_id

    bench.run("/compact", "--resume", session)
    newcomer.settled()
    bench.run("go on", "--resume", session)

    assert len(model.requests("compact")) == 1
    assert SUMMARY in model.seen_text()
    assert NEXT in model.seen_text()


def test_an_automatic_compaction_is_blocked_where_the_user_wants_it(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.follows("quoin")
    newcomer.ok("config", "set", "compaction", "block", "--project")

    _fills_up(bench)

    assert model.requests("compact") == []
    assert model.turns_left == 0
    (checkpoint,) = (_artifacts(bench) / "checkpoints").glob("*-precompact.md")
    assert TASK in checkpoint.read_text(encoding="utf-8")


def test_a_file_in_the_project_lets_an_automatic_compaction_pass(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.follows("quoin")
    newcomer.ok("config", "set", "compaction", "block", "--project")
    bench.repo.write(".allow-compact", "")

    _fills_up(bench)

    assert len(model.requests("compact")) == 1


# --- openclaw ---

# Of a window of a million tokens: where the working buffer begins.
WARM = 650_000


def test_openclaw_keeps_the_words_in_its_buffer_and_shows_them_after_a_compaction(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.follows("openclaw")
    folder = bench.home / ".openclaw" / "workspace" / "memory"
    session = newcomer.works(TASK, say("Looking at it.", tokens=WARM)).session_id
    words = "Use a backoff of 250 ms, and never retry a POST"
    model.will(say(LAST_WORDS, tokens=WARM + 1_000))
    bench.run(words, "--resume", session)
    newcomer.settled()

    buffer = (folder / "working-buffer.md").read_text(encoding="utf-8")
    assert words in buffer
    assert LAST_WORDS in buffer

    bench.run("/compact", "--resume", session)
    newcomer.settled()
    bench.run("go on", "--resume", session)

    seen = model.seen_text()
    assert SUMMARY in seen
    assert seen.count(f"- {words}") == 1
    assert "Last task was" in seen
    noted = (folder.parent / "SESSION-STATE.md").read_text(encoding="utf-8")
    assert "250 ms" in noted
    assert noted in (folder / "checkpoints" / "autosave.md").read_text(encoding="utf-8")


def test_harness_keeps_a_copy_before_a_compaction(bench: Bench, newcomer: User) -> None:
    newcomer.follows("harness")
    session = newcomer.works().session_id

    bench.run("/compact", "--resume", session)
    newcomer.settled()

    folder = bench.repo.folder / ".claude-harness"
    (backup,) = (folder / "memory" / "compaction-backups").glob("pre-compact-*.json")
    assert json.loads(backup.read_bytes())["sessionId"] == session
    progress = json.loads((folder / "claude-progress.json").read_bytes())
    assert progress["compactionCount"] == 1
