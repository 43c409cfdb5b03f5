"""Generate a long transcript of Claude Code with the mix of lines that real ones have.

For each tool call there are about two lines from the agent, one result, one and a half progress
lines (31 % of all lines) and some bookkeeping. Results repeat the tool's output in a second field,
as the agent does, and reach 100 KB. Half of them are below 3 KB.
"""

import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.harness import CACHE

SESSION = "6f1d3c52-0b7e-4a53-9f0c-5d1f6f3f2a10"
FOLDER = "/home/dev/shop"

_WORDS = (
    "order cart price user token cache retry page index parser query field value result config "
    "test error state event store model route view client server request response path file line"
).split()
_CODE = (
    "    def {a}_{b}(self, {c}: str) -> dict[str, int]:",
    '        """Return the {a} of a {b}; "{c}" if there is none."""',
    "        {a} = self._{b}.get({c}, None)  # the {a} may be gone",
    "        if {a} is None or not {a}.{b}:",
    '            raise ValueError(f"no {a} for {{{b}!r}} in {c}")',
    "        return {{{a!r}: len({b}), {c!r}: 0}}",
    "\tconst {a} = await {b}({c}, {{ retries: 3 }});",
    "src/{a}/{b}_{c}.py:118: in test_{a}_{b}",
    "E       AssertionError: assert {a} == {b}",
    "{a}: {b} → {c} (ok) — 12 ms",
    "",
)
_COMMANDS = (
    "pytest -q tests/test_{a}.py 2>&1 | tail -20",
    "cd /home/dev/shop && npm run test -- {a}",
    "git status --short",
    "git add -A && git commit -m 'Handle {a} without {b}'",
    "grep -rn '{a}_{b}' src | head",
    "python scripts/{a}.py --{b}",
)
# Name, share of the calls, median size of the result, and how widely the sizes spread.
_TOOLS = (
    ("Edit", 0.24, 120, 0.5),
    ("Read", 0.23, 3800, 1.25),
    ("Bash", 0.22, 400, 2.0),
    ("Grep", 0.09, 1000, 1.5),
    ("TodoWrite", 0.05, 160, 0.1),
    ("TaskUpdate", 0.07, 30, 0.1),
    ("TaskCreate", 0.04, 50, 0.1),
    ("Write", 0.04, 125, 0.3),
    ("Glob", 0.02, 250, 1.5),
    ("Task", 0.02, 6500, 0.6),
)
_TODOS = ("completed", "in_progress", "pending", "pending")
_LARGEST = {"Bash": 30_000}
_LARGEST_RESULT = 100_000
_POOL_CHARS = 400_000


def at_least(size: int, *, seed: int = 1) -> Path:
    """Return a transcript of at least this many bytes, from the cache if possible."""
    made_by = hashlib.blake2b(Path(__file__).read_bytes(), digest_size=6).hexdigest()
    path = CACHE / f"claude-{size}-{seed}-{made_by}.jsonl"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        temp = path.with_suffix(".new")
        with temp.open("wb") as file:
            written = 0
            for line in lines(seed):
                written += file.write(line)
                if written >= size:
                    break
        temp.replace(path)
    return path


def lines(seed: int = 1) -> Iterator[bytes]:
    """Yield the lines of an endless session."""
    maker = _Maker(seed)
    while True:
        for entry in maker.turn():
            text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
            yield text.encode() + b"\n"


class _Maker:
    """Generates entries, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - not a secret
        self.number = 0
        self.tokens = 20_000
        self.answer_id = ""
        self.files = [f"{FOLDER}/src/{a}/{b}.py" for a in _WORDS for b in _WORDS[:10]]
        pool: list[str] = []
        while sum(map(len, pool)) < _POOL_CHARS:
            pool += [self.filled(self.chance.choice(_CODE)) for _ in range(500)]
        self.pool = "\n".join(pool)

    def filled(self, text: str) -> str:
        a, b, c = self.chance.sample(_WORDS, 3)
        return text.format(a=a, b=b, c=c)

    def text(self, size: int) -> str:
        start = self.chance.randrange(len(self.pool) - 1)
        piece = self.pool[start : start + size]
        while len(piece) < size:
            piece += self.pool[: size - len(piece)]
        return piece

    def size(self, middle: float, spread: float, largest: int = _LARGEST_RESULT) -> int:
        return min(round(self.chance.lognormvariate(0, spread) * middle), largest)

    def some(self, average: float) -> int:
        whole = int(average)
        return whole + (self.chance.random() < average - whole)

    def id(self, prefix: str = "") -> str:
        return f"{prefix}{self.chance.getrandbits(96):024x}"

    def turn(self) -> Iterator[dict[str, Any]]:
        asked = f"Please {self.text(self.size(300, 1.0, 16_000))}"
        yield self.entry("user", message={"role": "user", "content": asked})
        for _ in range(self.chance.randint(3, 25)):
            yield from self.call()
        yield self.answer({"type": "text", "text": self.text(self.size(500, 0.9))})
        yield self.entry(
            "system",
            subtype="stop_hook_summary",
            hookCount=1,
            hookInfos=[{"command": "/home/dev/hook Stop", "durationMs": 5}],
            hookErrors=[],
        )
        for _ in range(self.some(0.5)):
            yield self.entry("system", subtype="turn_duration", durationMs=81_000)
        yield {"type": "last-prompt", "lastPrompt": asked[:200], "sessionId": SESSION}
        if self.tokens > 180_000:
            yield self.entry("system", subtype="compact_boundary", content="Conversation compacted")
            self.tokens = 20_000

    def call(self) -> Iterator[dict[str, Any]]:
        # The lines of one answer repeat its id and usage.
        self.answer_id, self.tokens = self.id("msg_01"), self.tokens + 400
        name, _, middle, spread = self.chance.choices(_TOOLS, [tool[1] for tool in _TOOLS])[0]
        for _ in range(self.some(0.48)):
            thought = self.text(self.size(500, 0.8))
            yield self.answer({"type": "thinking", "thinking": thought, "signature": "c2ln" * 60})
        for _ in range(self.some(0.47)):
            yield self.answer({"type": "text", "text": self.text(self.size(150, 0.8))})
        call_id, given = self.id("toolu_01"), self.given(name)
        yield self.answer({"type": "tool_use", "id": call_id, "name": name, "input": given})
        yield from self.progress(call_id)
        if name in {"Edit", "Write"}:
            yield self.snapshot(given["file_path"])
        size = self.size(middle, spread, _LARGEST.get(name, _LARGEST_RESULT))
        yield self.result(call_id, name, given, self.text(size))
        for _ in range(self.some(0.05)):
            yield self.entry("attachment", attachment={"type": "task_reminder", "content": []})
        for operation in ("enqueue", "dequeue") * self.some(0.02):
            content = {"content": self.text(120)} if operation == "enqueue" else {}
            yield self.bare("queue-operation", operation=operation, **content)

    def given(self, name: str) -> dict[str, Any]:
        path = self.chance.choice(self.files)
        given: dict[str, Any] = {"file_path": path}
        match name:
            case "Bash":
                command = self.filled(self.chance.choice(_COMMANDS))
                given = {"command": command, "description": "Look"}
            case "TodoWrite":
                given = {"todos": [self.todo(status) for status in _TODOS]}
            case "TaskCreate":
                given = {"subject": self.text(40), "description": self.text(160)}
            case "TaskUpdate":
                given = {"taskId": str(self.chance.randint(1, 9)), "status": "in_progress"}
            case "Edit":
                given["old_string"] = self.text(self.size(300, 0.8))
                given["new_string"] = self.text(self.size(400, 0.8))
            case "Write":
                given["content"] = self.text(self.size(3000, 0.8))
            case "Grep" | "Glob":
                given = {"pattern": self.filled("{a}_{b}"), "path": FOLDER}
            case "Task":
                given = {"description": "Look around", "prompt": self.text(600)}
        return given

    def todo(self, status: str) -> dict[str, str]:
        return {"content": self.text(40), "status": status, "activeForm": "At it"}

    def result(self, call_id: str, name: str, given: dict[str, Any], text: str) -> dict[str, Any]:
        result: Any = {"stdout": text, "stderr": "", "interrupted": False}
        if name == "Read":
            result = {"type": "text", "file": {"filePath": given["file_path"], "content": text}}
        elif name == "Edit":
            original = self.text(self.size(5000, 0.9))
            result = {**given, "originalFile": original, "structuredPatch": []}
        elif name == "TaskCreate":
            result = {"task": {"id": str(self.chance.randint(1, 9)), "subject": given["subject"]}}
        block: dict[str, Any] = {"tool_use_id": call_id, "type": "tool_result", "content": text}
        if name == "Bash" and self.chance.random() < 0.12:
            result = f"Error: {text}"
            block = {**block, "content": f"Exit code 1\n{text}", "is_error": True}
        message = {"role": "user", "content": [block]}
        return self.entry("user", message=message, toolUseResult=result)

    def progress(self, call_id: str) -> Iterator[dict[str, Any]]:
        about = {"toolUseID": call_id, "parentToolUseID": call_id}
        for _ in range(self.some(0.74)):
            data = {"type": "hook_progress", "hookEvent": "PostToolUse", "command": "callback"}
            yield self.entry("progress", data=data, **about)
        for _ in range(self.some(0.43)):
            output = self.text(self.size(700, 0.4))
            data = {"type": "bash_progress", "output": output[-200:], "fullOutput": output}
            yield self.entry("progress", data=data, **about)
        for _ in range(self.some(0.16)):
            yield from self.agent_progress(about)

    def agent_progress(self, about: dict[str, str]) -> Iterator[dict[str, Any]]:
        call_id = self.id("toolu_02")
        call = {
            "type": "tool_use",
            "id": call_id,
            "name": "Read",
            "input": {"file_path": self.chance.choice(self.files)},
        }
        text = self.text(self.size(3800, 1.2, 30_000))
        found = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        for kind, block in (("assistant", call), ("user", found)):
            inner = {
                "type": kind,
                "timestamp": self.at(),
                "message": {"role": kind, "content": [block]},
            }
            data = {"type": "agent_progress", "message": inner, "prompt": "", "agentId": "a1"}
            yield self.entry("progress", data=data, **about)

    def answer(self, block: dict[str, Any]) -> dict[str, Any]:
        usage = {
            "input_tokens": 4,
            "cache_creation_input_tokens": 300,
            "cache_read_input_tokens": self.tokens,
            "output_tokens": 120,
            "service_tier": "standard",
        }
        message = {
            "id": self.answer_id,
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [block],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        return self.entry("assistant", message=message, requestId=self.id("req_01"))

    def snapshot(self, path: str) -> dict[str, Any]:
        backup = {"backupFileName": self.id(), "version": 1, "backupTime": self.at()}
        held = {"messageId": self.id(), "trackedFileBackups": {path: backup}}
        return {"type": "file-history-snapshot", "messageId": self.id(), "snapshot": held}

    def entry(self, kind: str, **fields: Any) -> dict[str, Any]:
        return {
            "parentUuid": self.id(),
            "isSidechain": False,
            "userType": "external",
            "cwd": FOLDER,
            "sessionId": SESSION,
            "version": "2.1.325",
            "gitBranch": "main",
            "type": kind,
            **fields,
            "uuid": self.id(),
            "timestamp": self.at(),
        }

    def bare(self, kind: str, **fields: Any) -> dict[str, Any]:
        return {"type": kind, "timestamp": self.at(), "sessionId": SESSION, **fields}

    def at(self) -> str:
        self.number += 1
        minutes, seconds = divmod(self.number, 60)
        hours, minutes = divmod(minutes, 60)
        return f"2026-11-{1 + hours // 24 % 28:02}T{hours % 24:02}:{minutes:02}:{seconds:02}.123Z"
