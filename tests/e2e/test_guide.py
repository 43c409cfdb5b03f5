"""In the real Claude Code, a model that only follows the guide plays each system's save and resume.

The model knows no command of leftoff. It reads the guide, from the slash command or by running what
the skill says, and runs the commands it finds there.
"""

import json
from pathlib import Path
from typing import Any

from e2e.bench import Result
from e2e.claude import Bench
from e2e.follower import Plan, follow
from e2e.model import Model
from e2e.turns import Turn, bash, say, write
from e2e.user import User

READS = bash("leftoff guide")


def plays(user: User, prompt: str, plan: Plan, *first: Turn, session: str = "") -> Result:
    """Give a prompt to a session whose model follows the guide; return how it ended."""
    follow(user.bench.model, plan, *first)
    options = ("--resume", session) if session else ()
    result = user.bench.run(prompt, "--allowedTools", "Write,Bash", *options)
    user.settled()
    assert user.bench.model.turns_left == 0
    return result


def goes_on(user: User, prompt: str, session: str, *turns: Turn) -> Result:
    """Give the next prompt to a session whose model has read the guide."""
    user.bench.model.will(*turns)
    result = user.bench.run(prompt, "--allowedTools", "Write,Bash", "--resume", session)
    user.settled()
    return result


def read_answers(model: Model) -> str:
    """Return all that commands answered so far."""
    return "\n".join(request.news for request in model.requests())


def read_json(path: Path) -> Any:
    return json.loads(path.read_bytes())


def test_guardz_saves_with_one_line_and_resuming_consumes(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.follows("guardz")
    work = write(bench.repo.folder / "retry.py", "RETRIES = 3\n")
    plays(
        newcomer,
        "Add a retry to the client, then save checkpoint retry-client",
        lambda guide: [
            guide.run(
                "leftoff save",
                {"NAME": "retry-client"},
                summary="Retry the HTTP client",
                **{"left-off": "The retry is in retry.py, without a test"},
                failed="sleep in the loop :: the tests time out",
                question="Retry on 429 as well?",
            ),
            say('Checkpoint "retry-client" saved. Resume anytime: `continue retry-client`'),
        ],
        work,
        READS,
    )
    native = bench.memory() / "checkpoint-retry-client.md"
    saved = native.read_text(encoding="utf-8")
    line = 'Checkpoint "retry-client" saved. Resume anytime: `continue retry-client`'
    assert line in model.requests()[-1].news
    assert "Retry on 429 as well?" in saved
    assert "Next" not in saved

    plays(
        newcomer,
        "continue",
        lambda guide: [
            guide.run("leftoff resume NAME --accept", {"NAME": "retry-client"}),
            say("The retry is in retry.py, without a test. What next?"),
        ],
        READS,
    )

    assert "Previously failed: sleep in the loop — the tests time out" in read_answers(model)
    assert not native.exists()
    assert "**retry-client**" not in (bench.memory() / "MEMORY.md").read_text(encoding="utf-8")


def test_openclaw_notes_first_and_resumes_only_after_a_yes(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.follows("openclaw")
    named = {"NAME": "csv-import"}
    bench.repo.write("reader.py", "DIALECT = ';'\n")
    plays(
        newcomer,
        '/checkpoint save csv-import --task "Import supplier CSVs"',
        lambda guide: [
            guide.run("leftoff wal add", {"WHAT": 'The delimiter is ";", not ","'}),
            guide.run("leftoff wal show"),
            guide.run(
                "leftoff save",
                named,
                task="Import supplier CSVs",
                done="Wrote reader.py lines 1-1, dialect set",
                next="Run python -m importer samples/bad.csv",
                decision="Stream rows :: files reach 2 GB",
                file="reader.py",
            ),
            guide.run("leftoff lint", named),
            say("Saved csv-import. Next: run python -m importer samples/bad.csv"),
        ],
    )
    workspace = bench.home / ".openclaw" / "workspace"
    native = workspace / "memory" / "checkpoints" / "csv-import.md"
    assert "**Task:** Import supplier CSVs" in native.read_text(encoding="utf-8")
    assert "The delimiter is" in (workspace / "SESSION-STATE.md").read_text(encoding="utf-8")

    asked = (
        "Resuming: [task]. Last progress: [summary]. Next action: [action]. "
        "Ready to continue? (yes/no)"
    )
    looked = plays(
        newcomer,
        "where did we stop?",
        lambda guide: [guide.run("leftoff resume NAME", named), say(guide.asks(asked))],
        READS,
    )
    assert "Run python -m importer samples/bad.csv" in model.requests()[-1].news
    assert [row["state"] for row in json.loads(newcomer.ok("list", "--json"))] == ["open"]

    accept = bash("leftoff resume csv-import --accept")
    goes_on(newcomer, "yes", looked.session_id, accept, say("Running it now."))

    assert [row["state"] for row in json.loads(newcomer.ok("list", "--json"))] == ["resumed"]
    assert native.exists()


def test_sail_asks_its_three_questions_and_only_adds_files(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.follows("sail")
    questions = (
        "What are you currently working on?",
        "What key decisions were made (and why)?",
        "What's the next action?",
    )
    saves: list[Turn] = []

    def asks(guide: Any) -> list[Turn]:
        saves.append(
            guide.run(
                "leftoff save",
                summary="Moving rate limits to Redis because deploys reset the counter",
                decision="Sliding window :: support wants exact counts",
                next="Write src/limit.lua",
            )
        )
        return [say(*map(guide.asks, questions))]

    asked = plays(newcomer, "/checkpoint", asks)
    assert not (bench.repo.folder / ".claude" / "checkpoints").exists()
    goes_on(
        newcomer, "Redis; a sliding window; the script", asked.session_id, *saves, say("Saved.")
    )

    (native,) = (bench.repo.folder / ".claude" / "checkpoints").glob("*.json")
    saved = native.read_bytes()
    assert "CHECKPOINT SAVED" in model.requests()[-1].news
    assert read_json(native)["next_action"] == "Write src/limit.lua"

    plays(
        newcomer,
        "continue",
        lambda guide: [guide.run("leftoff resume --accept"), say("Writing src/limit.lua.")],
        READS,
    )

    assert "Write src/limit.lua" in model.requests()[-1].news
    assert native.read_bytes() == saved


def test_quoin_checks_the_model_and_restores_what_waits(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.follows("quoin")
    own = {"MODEL": "haiku", "THEIR PROMPT": "/checkpoint before the refactoring"}
    plays(
        newcomer,
        "/checkpoint before the refactoring",
        lambda guide: [
            guide.run("leftoff dispatch-check", own),
            guide.run("leftoff save --note", {"the note": "before the refactoring"}),
            say("Saved. Resume with /checkpoint --restore."),
        ],
        write(bench.repo.folder / "retry.py", "RETRIES = 3\n"),
    )
    memory = bench.repo.folder / ".workflow_artifacts" / "memory"
    (sentinel,) = memory.glob("pending-restore-*.txt")
    saved = Path(sentinel.read_text(encoding="utf-8").strip()).read_text(encoding="utf-8")
    assert "before the refactoring" in saved

    plays(
        newcomer,
        "/checkpoint --restore",
        lambda guide: [
            guide.run("leftoff dispatch-check", own),
            guide.run("leftoff resume --pending"),
            say(guide.asks("Re-fire reads on artifacts now? [y / n]")),
        ],
    )

    assert "Resuming task: " in model.requests()[-1].news
    assert "Session-id mismatch: sentinel is from a prior session." in model.requests()[-1].news
    assert [*memory.glob("pending-restore-*.txt")] == []
    assert [path.name for path in memory.glob("trash/*/*")] == [sentinel.name]


def test_harness_saves_first_and_then_ships(bench: Bench, model: Model, newcomer: User) -> None:
    remote = bench.root / "remote.git"
    bench.repo.git("init", "-q", "--bare", str(remote))
    bench.repo.git("remote", "add", "origin", str(remote))
    bench.repo.git("config", "user.name", "Ada")
    bench.repo.git("config", "user.email", "ada@example.org")
    bench.repo.git("switch", "-q", "-c", "feature/export")
    newcomer.follows("harness")
    plays(
        newcomer,
        "/checkpoint",
        lambda guide: [
            guide.run("leftoff feature add", {"NAME": "Export orders to CSV"}),
            write(bench.repo.folder / "export.py", "ROWS = iter(())\n"),
            guide.run("leftoff feature attempt", {"WHAT": "Write all rows", "…": "out of memory"}),
            guide.run(
                "leftoff save",
                summary="Stream orders into the file",
                done="Wrote export.py",
                next="Add a test for zero orders",
                failed="Write all rows :: the list does not fit",
            ),
            guide.run("leftoff memory add decision", {"WHAT": "Stream rows", "WHY": "1M rows"}),
            guide.run("leftoff reflect"),
            guide.run("leftoff ship --dry-run"),
            guide.run("leftoff ship"),
            say("Shipped."),
        ],
    )
    folder = bench.repo.folder / ".claude-harness"
    (decision,) = read_json(folder / "memory" / "episodic" / "decisions.json")["entries"]
    assert (decision["decision"], decision["rationale"]) == ("Stream rows", "1M rows")
    assert decision["alternatives"] == ["other option"]
    assert decision["impact"] == "files affected"
    subject = bench.repo.git("--git-dir", str(remote), "log", "-1", "--format=%s", "feature/export")
    assert subject.startswith("feat(feature-001): ")
    assert bench.repo.git("status", "--porcelain") == ""

    plays(
        newcomer,
        "continue",
        lambda guide: [guide.run("leftoff resume --accept"), say("Adding the test.")],
        READS,
    )

    assert "Add a test for zero orders" in model.requests()[-1].news
