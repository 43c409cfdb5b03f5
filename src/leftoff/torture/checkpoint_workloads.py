"""Workloads that write checkpoints or change their status.

Each function prepares what its workload needs on a bench, and returns the workload without running
it.
"""

import os
import time
from collections.abc import Callable
from contextlib import closing

import msgspec

from leftoff.context import find_project
from leftoff.errors import LeftoffError
from leftoff.store import Store
from leftoff.torture.claims_ledger import Claim, text_of
from leftoff.torture.fake_session import Talk
from leftoff.torture.workload import Workload, save_words, workload
from leftoff.torture.world import Bench


def save(bench: Bench) -> Workload:
    """Save under a new name."""
    token = bench.ledger.new_token()
    words = save_words(token, text_of(token, bench.chance))
    return workload(bench, words, Claim("checkpoint", token))


def save_decision(bench: Bench) -> Workload:
    """Save with a decision, which is also stored in the memory."""
    token = bench.ledger.new_token()
    words = save_words(token, text_of(token), "--decision", f"{text_of(token)} :: it is faster")
    done = workload(bench, words, Claim("checkpoint", token), Claim("memory", token))
    # The checkpoint contains the decision too, so a full disk only causes a warning about the
    # memory.
    return msgspec.structs.replace(done, takes_back={b"are not in the memory": "memory"})


def overwrite(bench: Bench) -> Workload:
    """Save a new revision under a name that exists."""
    token = bench.ledger.new_token()
    words = save_words(token, text_of(token), "--overwrite", name="shared-work")
    return workload(bench, words, Claim("checkpoint", token))


def save_unnamed(bench: Bench) -> Workload:
    """Save without a name."""
    token = bench.ledger.new_token()
    options = ("--summary", text_of(token), "--auto-name", "--overwrite", "--no-capture")
    return workload(bench, ("save", *options), Claim("checkpoint", token))


def _save_token(bench: Bench) -> str:
    token = bench.ledger.new_token()
    bench.save(token)
    return token


def _clear_token(bench: Bench) -> str:
    token = _save_token(bench)
    bench.record("cleared", token)
    return token


def about(action: str, *words: str) -> Callable[[Bench], Workload]:
    """Return the function for a command that changes one saved checkpoint."""

    def prepare(bench: Bench) -> Workload:
        token = _save_token(bench)
        filled = [word.replace("NAME", token) for word in words]
        return workload(bench, filled, Claim("event", f"{action}:{token}"))

    return prepare


def resume_consuming(bench: Bench) -> Workload:
    """Resume in a project whose settings consume the checkpoint."""
    bench.do("config", "set", "--project", "on_resume", "consume")
    token = _save_token(bench)
    done = workload(bench, ("resume", token, "--accept"), Claim("event", f"consumed:{token}"))
    # A command that cannot read the settings prints a warning and continues without them.
    ignored = b"config.toml cannot be read and is ignored"
    return msgspec.structs.replace(done, takes_back={ignored: "event"})


def undo(bench: Bench) -> Workload:
    """Undo a clear."""
    token = _clear_token(bench)
    return workload(bench, ("undo",), Claim("event", f"undone:{token}"))


def redo(bench: Bench) -> Workload:
    """Redo a clear that was undone."""
    token = _clear_token(bench)
    bench.do("undo")
    return workload(bench, ("redo",), Claim("event", f"redone:{token}"))


def trash_restore(bench: Bench) -> Workload:
    """Restore a checkpoint from the trash."""
    token = _clear_token(bench)
    return workload(bench, ("trash", "restore", token), Claim("event", f"restored:{token}"))


def purge(bench: Bench) -> Workload:
    """Destroy a checkpoint that is in the trash."""
    token = _clear_token(bench)
    bench.ledger.acknowledged["event"].discard(f"cleared:{token}")

    def work() -> int:
        # The command purges only what is older than a minute, which is too long to wait here.
        try:
            with closing(Store(find_project(bench.project))) as store:
                store.purge([store.find(token)])
        except (LeftoffError, OSError) as error:
            os.write(2, f"{error}\n".encode())
            return 1
        return 0

    return Workload(work=work, destroys=(token,))


def recover(bench: Bench) -> Workload:
    """Recover a session that died without saving."""
    token = bench.ledger.new_token()
    talk = Talk(bench.project, f"dead-{token}")
    talk.write(text_of(token))
    long_ago = time.time() - 3600
    os.utime(talk.transcript, (long_ago, long_ago))
    return workload(bench, ("recover",), Claim("checkpoint", token))


def export(bench: Bench) -> Workload:
    """Export the checkpoints as another system's files."""
    _save_token(bench)
    # The folder is in the project, so it is reset before the next trial; a save may list it.
    folder = bench.project / "exported"
    return workload(bench, ("export", "--to", "sail", str(folder)))


def import_(bench: Bench) -> Workload:
    """Import a checkpoint of another system."""
    token = bench.ledger.new_token()
    folder = bench.root / f"native-{token}"
    folder.mkdir()
    native = f"# Checkpoint: {token}\n\n- **Branch:** `main`\n\n## Left Off\n{text_of(token)}\n"
    (folder / f"checkpoint-{token}.md").write_text(native, encoding="utf-8")
    claim = Claim("checkpoint", token)
    done = workload(bench, ("import", "--from", "guardz", str(folder)), claim)
    # It lists the files that it could not read, and reports that it imported none.
    return msgspec.structs.replace(done, takes_back={b"Imported 0 checkpoint": "checkpoint"})
