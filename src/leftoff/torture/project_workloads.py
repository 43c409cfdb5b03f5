"""Workloads that write anything else: memory, features, settings, notes, prompts, commits, hooks.

Each function prepares what its workload needs on a bench, and returns the workload without running
it.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from leftoff.hooks import settle, spool
from leftoff.torture import child_programs
from leftoff.torture.claims_ledger import Claim, text_of
from leftoff.torture.fake_session import LETTERBOX, Talk
from leftoff.torture.workload import Workload, workload
from leftoff.torture.world import Bench, hook_environment, install_hooks


def memory_add(bench: Bench) -> Workload:
    """Add a rule to the memory."""
    token = bench.ledger.new_token()
    return workload(bench, ("memory", "add", "rule", text_of(token)), Claim("memory", token))


def memory_edit(bench: Bench) -> Workload:
    """Replace the text of a memory entry."""
    token = bench.ledger.new_token()
    known = bench.do("memory", "add", "rule", f"A rule of old, number {bench.chance.random()}")
    return workload(bench, ("memory", "edit", known["id"], text_of(token)), Claim("memory", token))


def memory_reject(bench: Bench) -> Workload:
    """Reject a memory entry, which stays in the memory."""
    token = bench.ledger.new_token()
    claim = Claim("memory", token)
    bench.ledger.try_([claim])
    known = bench.do("memory", "add", "rule", text_of(token))
    return workload(bench, ("memory", "reject", known["id"]), claim)


def feature_add(bench: Bench) -> Workload:
    """Add a feature and start it."""
    token = bench.ledger.new_token()
    _finish_feature(bench)
    return workload(bench, ("feature", "add", text_of(token), "--start"), Claim("feature", token))


def _finish_feature(bench: Bench) -> None:
    """Finish the active feature, if any: only one can be active at a time."""
    bench.run("feature", "pass")


def feature_attempt(bench: Bench) -> Workload:
    """Add a failed attempt, which is also stored in the memory."""
    token = bench.ledger.new_token()
    _finish_feature(bench)
    bench.ledger.try_([Claim("feature", token)])
    bench.do("feature", "add", text_of(token), "--start")
    bench.ledger.acknowledge([Claim("feature", token)])
    words = ("feature", "attempt", text_of(token), "--root-cause", "too slow")
    return workload(bench, words, Claim("memory", token))


def feature_pass(bench: Bench) -> Workload:
    """Finish a feature and archive it."""
    token = bench.ledger.new_token()
    claim = Claim("feature", token)
    bench.ledger.try_([claim])
    known = bench.do("feature", "add", text_of(token))
    return workload(bench, ("feature", "pass", known["id"]), claim)


def config_set(bench: Bench) -> Workload:
    """Change a value in the project's settings."""
    value = str(bench.chance.randrange(200, 9000))
    words = ("config", "set", "--project", "budget", value)
    return workload(bench, words, Claim("register", f"budget={value}"))


def wal_add(bench: Bench) -> Workload:
    """Add an entry to the working notes."""
    token = bench.ledger.new_token()
    words = ("wal", "add", "--kind", "decision", text_of(token))
    return workload(bench, words, Claim("note", token))


def wal_reset(bench: Bench) -> Workload:
    """Start new notes; the old ones go to the trash."""
    token = bench.ledger.new_token()
    claim = Claim("note", token)
    bench.ledger.try_([claim])
    bench.do("wal", "add", "--kind", "decision", text_of(token))
    bench.ledger.acknowledge([claim])
    return workload(bench, ("wal", "reset"), claim)


def prompts_import(bench: Bench) -> Workload:
    """Queue the prompt in a file."""
    token = bench.ledger.new_token()
    file = bench.root / f"pending-prompt-{token}.txt"
    file.write_text(text_of(token), encoding="utf-8")
    return workload(bench, ("prompts", "import", str(file)), Claim("prompt", token))


def prompts_drop(bench: Bench) -> Workload:
    """Drop a prompt from the queue; its history keeps it."""
    queued = prompts_import(bench)
    bench.ledger.try_(queued.claims)
    token = queued.claims[0].token
    bench.do("prompts", "import", str(bench.root / f"pending-prompt-{token}.txt"))
    bench.ledger.acknowledge(queued.claims)
    return workload(bench, ("prompts", "drop", "--all"), *queued.claims)


def ship(bench: Bench) -> Workload:
    """Save and commit, without a push."""
    token = bench.ledger.new_token()
    branch = child_programs.git(bench.project, "branch", "--show-current").strip()
    if branch == "main":
        child_programs.git(bench.project, "switch", "--quiet", "--create", "work")
    (bench.project / "app.py").write_text(f"print('{token}')\n", encoding="utf-8")
    words = ("ship", "--no-push", "--no-pr", "--message", f"Print {token}")
    return workload(bench, words, Claim("commit", token))


def init(bench: Bench) -> Workload:
    """Install the hooks."""
    words = ("init", "--agent", "claude", "--scope", "user", "--yes")
    return workload(bench, words, Claim("register", "hooks=wired"))


def uninstall(bench: Bench) -> Workload:
    """Remove the hooks."""
    bench.ledger.try_([Claim("register", "hooks=wired")])
    bench.do("init", "--agent", "claude", "--scope", "user", "--yes")
    bench.ledger.acknowledge([Claim("register", "hooks=wired")])
    return workload(bench, ("uninstall", "--yes"), Claim("register", "hooks="))


def switch(bench: Bench) -> Workload:
    """Switch the project off or on."""
    now = bench.chance.choice(("on", "off"))
    return workload(bench, (now,), Claim("register", f"switch={'' if now == 'on' else 'off'}"))


def settle_events(bench: Bench) -> Workload:
    """Settle the events of a session: a prompt that must be kept, and the session's end."""
    token = bench.ledger.new_token()
    talk = Talk(bench.project, f"live-{token}")
    talk.write("Add a login form to app.py")
    install_hooks(bench.state)
    for event, fields in _events(token):
        spool.keep(bench.state, "claude", event, talk.payload(event, **fields))
    claim = Claim("prompt", token)
    # The events are on disk, so if this settle fails, the next one must find them.
    bench.ledger.acknowledge([claim])
    return Workload(work=lambda: _settle(bench.state), claims=(claim,))


def hook(bench: Bench) -> Workload:
    """Fire an event through the letterbox, which prints nothing but must keep the event."""
    token = bench.ledger.new_token()
    talk = Talk(bench.project, f"fired-{token}")
    talk.write("Add a login form to app.py")
    # The probe settles the event. A settle in the background would outlive the project.
    install_hooks(bench.state, python=shutil.which("true") or "")
    payload = bench.root / f"payload-{token}"
    payload.write_bytes(talk.payload("UserPromptSubmit", prompt=text_of(token)))

    def program(more: Mapping[str, str]) -> NoReturn:
        os.dup2(os.open(payload, os.O_RDONLY), 0)
        shell = shutil.which("sh") or "/bin/sh"
        words = (shell, str(LETTERBOX), "claude", "UserPromptSubmit")
        os.execve(shell, words, {**hook_environment(talk.session_id), **more})  # noqa: S606

    return Workload(work=lambda: None, claims=(Claim("prompt", token),), program=program)


def _events(token: str) -> tuple[tuple[str, dict[str, str]], ...]:
    asked = {"prompt": text_of(token)}
    return (("UserPromptSubmit", asked), ("Stop", {}), ("SessionEnd", {"reason": "other"}))


def _settle(state: Path) -> int:
    try:
        return 0 if settle.run(state) else 1
    except Exception as error:  # noqa: BLE001 - as in the program that hooks start, whatever it is
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        return 1
