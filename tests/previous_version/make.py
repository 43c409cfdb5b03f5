"""Create the stores of this folder with another version of leftoff: make.py LEFTOFF FOLDER.

LEFTOFF is the program of that version. For each profile it works in its own home and repository,
with commands and hooks, and then prints what it reads from its own files. The result is packed into
`stores.tar.xz` and `told.json`, which tests/test_previous_version.py reads.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PROFILES = ("guardz", "openclaw", "sail", "quoin", "harness")
# What the version is asked in the end; a word in capitals stands for a name or an id.
QUESTIONS: dict[str, tuple[str, ...]] = {
    "list": ("list",),
    "list of all": ("list", "--all"),
    "show": ("show", "csv-export"),
    "show session": ("show", "SESSION"),
    "search": ("search", "rows"),
    "log": ("log", "csv-export"),
    "events": ("log",),
    "memory": ("memory", "list", "--all"),
    "features": ("feature", "list", "--all"),
    "feature": ("feature", "show", "1"),
    "prompts": ("prompts", "list"),
    "trash": ("trash", "list"),
    "sessions": ("sessions",),
    "config": ("config", "explain"),
    "resume": ("resume", "csv-export"),
}
HERE = Path(__file__).parent
# It holds paths of the machine that made it, or can be made anew.
_LEFT_OUT = {"python", "settings.json", "settle.lock", ".gitconfig", "bin"}


class User:
    """Somebody who works with one profile."""

    def __init__(self, leftoff: Path, root: Path) -> None:
        self.leftoff, self.root = leftoff, root
        self.home, self.repo = root / "home", root / "repo"
        self.state = self.home / ".local" / "state" / "leftoff"
        for folder in (self.home, self.repo, root / "tmp"):
            folder.mkdir(parents=True)
        self.environment = {
            "HOME": str(self.home),
            "PATH": f"{leftoff.parent}{os.pathsep}{os.environ['PATH']}",
            "TMPDIR": str(root / "tmp"),
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
        }

    def run(self, *words: str, given: str = "", **more: str) -> str:
        """Run a program in the repository."""
        done = subprocess.run(
            words,
            cwd=self.repo,
            env=self.environment | more,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def do(self, *words: str, given: str = "", **more: str) -> str:
        """Run leftoff in the repository."""
        return self.run(str(self.leftoff), *words, given=given, **more)

    def hook(self, event: str, session: str, **fields: Any) -> None:
        """Fire a hook as Claude Code does, and wait until it is settled."""
        settings = json.loads((self.home / ".claude" / "settings.json").read_text())
        payload = {
            "session_id": session,
            "transcript_path": str(self.transcript(session)),
            "cwd": str(self.repo),
            "hook_event_name": event,
            **fields,
        }
        for group in settings["hooks"][event]:
            for each in group["hooks"]:
                self.run("sh", "-c", each["command"], given=json.dumps(payload),
                         CLAUDE_CODE_SESSION_ID=session)  # fmt: skip
        while any((self.state / "spool").glob("*.*")):
            time.sleep(0.05)

    def transcript(self, session: str) -> Path:
        """Tell where Claude Code keeps a session."""
        munged = re.sub(r"[^A-Za-z0-9]", "-", str(self.repo))
        return self.home / ".claude" / "projects" / munged / f"{session}.jsonl"

    def talk(self, session: str, *entries: dict[str, Any]) -> None:
        """Write what was said in a session."""
        path = self.transcript(session)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            for number, entry in enumerate(entries):
                line = {
                    "parentUuid": None,
                    "isSidechain": False,
                    "cwd": str(self.repo),
                    "sessionId": session,
                    "version": "2.1.325",
                    "gitBranch": "main",
                    "uuid": f"{session}-{number}",
                    "timestamp": "2026-11-15T12:00:00.000Z",
                    **entry,
                }
                file.write(json.dumps(line) + "\n")


def ask(text: str) -> dict[str, Any]:
    """Let the user say something."""
    return {"type": "user", "message": {"role": "user", "content": text}}


def answer(*content: dict[str, Any], tokens: int = 10_000) -> dict[str, Any]:
    """Let the model say or do something."""
    usage = {
        "input_tokens": 0,
        "cache_read_input_tokens": tokens,
        "cache_creation_input_tokens": 0,
        "output_tokens": 0,
    }
    message = {
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": list(content),
        "usage": usage,
    }
    return {"type": "assistant", "message": message}


def result(call: str, text: str) -> dict[str, Any]:
    """Let a tool answer."""
    block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": False}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def work(user: User, profile: str) -> None:
    """Do what users do: by commands, and in sessions with hooks."""
    (user.home / ".claude").mkdir()
    user.run("git", "init", "--quiet", "--initial-branch=main")
    (user.repo / "app.py").write_text("print('hello')\n")
    user.run("git", "add", "--all")
    user.run("git", "commit", "--quiet", "--message=Begin")
    user.do("init", "--yes", "--agent", "claude", "--profile", profile)
    user.do("config", "set", "offer_days", "9")
    user.do("config", "set", "--project", "budget", "1500")
    _save(user)
    _remember(user)
    _build(user)
    _note(user)
    _talk(user)
    _prompts(user)
    user.do("list")


def _save(user: User) -> None:
    user.do(
        "save", "csv-export", "--summary", "Export orders as CSV", "--left-off", "Header written",
        "--done", "Wrote the header", "--next", "Run pytest tests/test_export.py", "--no-capture",
        "--decision", "Stream rows :: a million orders fill the memory",
        "--failed", "Join all rows :: MemoryError", "--file", "app.py",
    )  # fmt: skip
    user.do(
        "save", "csv-export", "--overwrite", "--summary", "Export orders as CSV", "--no-capture",
        "--left-off", "Rows are written", "--next", "Quote commas in rows", "--blocker", "No data",
        "--question", "Which delimiter?", "--note", "Orders come from the API", "--file", "app.py",
    )  # fmt: skip
    for name, summary in (("login-form", "Add a login form"), ("old-idea", "Try another parser")):
        user.do("save", name, "--summary", summary, "--next", f"Open {name}.py", "--no-capture",
                "--left-off", "Begun", "--done", "Looked around")  # fmt: skip
    user.do("resume", "login-form", "--accept")
    user.do("clear", "old-idea")


def _remember(user: User) -> None:
    user.do("memory", "add", "rule", "Import with @/ from src", "--why", "Paths stay short")
    user.do("memory", "add", "failure", "Join all rows in memory", "--why", "MemoryError")
    user.do("memory", "add", "decision", "Stream rows", "--alternative", "Pages")
    user.do("memory", "add", "pattern", "Tests mirror modules", "--queue")


def _build(user: User) -> None:
    user.do("feature", "add", "Export orders as CSV", "--description", "All orders", "--issue", "3")
    user.do("feature", "add", "Quote commas", "--fixes", "1")
    user.do("feature", "add", "Login form", "--priority", "2")
    user.do("feature", "start", "1")
    user.do("feature", "attempt", "Whole file", "--failed", "--why", "Too large")
    user.do("feature", "pass", "2")


def _note(user: User) -> None:
    user.do("wal", "add", "--kind", "value", "port 8080")
    user.do("wal", "reset")
    user.do("wal", "add", "--kind", "correction", "Tabs, not spaces")
    user.do("wal", "add", "--kind", "decision", "Keep the rows in order")


def _talk(user: User) -> None:
    """Let one session end and another be cut off while it calls a tool."""
    edit = {"type": "tool_use", "id": "toolu_1", "name": "Edit",
            "input": {"file_path": str(user.repo / "app.py")}}  # fmt: skip
    user.hook("SessionStart", "session-1", source="startup")
    user.talk("session-1", ask("Add retries to the client"))
    user.hook("UserPromptSubmit", "session-1", prompt="Add retries to the client")
    user.talk(
        "session-1",
        answer(edit),
        result("toolu_1", "The file has been updated."),
        answer({"type": "text", "text": "Next I will run the tests."}),
    )
    user.hook("Stop", "session-1", last_assistant_message="Next I will run the tests.")
    user.hook("SessionEnd", "session-1", reason="other")
    command = {"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {"command": "make"}}
    user.hook("SessionStart", "session-2", source="startup")
    user.talk("session-2", ask("Speed up the build"))
    user.hook("UserPromptSubmit", "session-2", prompt="Speed up the build")
    user.talk("session-2", answer(command, tokens=720_000))
    user.hook("PreCompact", "session-2", trigger="auto")


def _prompts(user: User) -> None:
    path = user.repo / "pending.md"
    path.write_text("Also export the invoices\n")
    user.do("prompts", "import", str(path))
    path.unlink()


def read_back(user: User) -> dict[str, Any]:
    """Return what this version reads in what it wrote."""
    answers: dict[str, Any] = {}
    for name, words in QUESTIONS.items():
        session = next(
            (each["id"] for each in answers.get("list", []) if each.get("session_id")), ""
        )
        asked = [session if word == "SESSION" else word for word in words]
        if "" in asked:
            continue
        answers[name] = json.loads(user.do(*asked, "--json"))
    answers["notes"] = user.do("wal", "show")
    return answers


def pack_member(member: tarfile.TarInfo, left_out: set[str]) -> tarfile.TarInfo | None:
    """Return a member without its owner; nothing if it is left out."""
    name = Path(member.name).name
    if name in left_out or name.endswith(".sample") or member.name.endswith("/tmp"):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def pack(users: Sequence[tuple[str, User]], root: Path) -> None:
    """Pack what was written, without what belongs to the machine."""
    with tarfile.open(HERE / "stores.tar.xz", "w:xz") as archive:
        for profile, user in users:
            archive.add(user.root, profile, filter=lambda each: pack_member(each, _LEFT_OUT))
    answers = {profile: read_back(user) for profile, user in users}
    text = json.dumps(answers, ensure_ascii=False, indent=1, sort_keys=True)
    (HERE / "told.json").write_text(text.replace(str(root), "ROOT") + "\n", encoding="utf-8")


def main() -> None:
    """Make, ask and pack."""
    leftoff, root = Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()
    shutil.rmtree(root, ignore_errors=True)
    users = []
    for profile in PROFILES:
        user = User(leftoff, root / profile)
        work(user, profile)
        users.append((profile, user))
    pack(users, root)


if __name__ == "__main__":
    main()
