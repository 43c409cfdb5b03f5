"""Run several writers at once in one project, and kill and restart them at random moments."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from leftoff.torture import forks, workloads
from leftoff.torture.claims_ledger import Claim, Ledger
from leftoff.torture.trials import Arena
from leftoff.torture.world import Bench, Unprepared

WRITERS = 3
_KILLS = 60
_LONGEST_SECONDS = 0.08

_decoder = msgspec.json.Decoder(tuple[str, list[Claim]])


class Writer(NamedTuple):
    """A child that writes until it is killed, and the pipe of its reports."""

    child: int
    reader: int


def run(arena: Arena) -> None:
    """Start writers and kill them; everything that they acknowledged must be found."""
    bench = arena.bench()
    chance = random.Random(f"{arena.seed}-{bench.project.name}")  # noqa: S311 - no secret
    kills = 12 if arena.tally.task.rounds else _KILLS
    writers = [_start(bench, chance.randrange(1 << 30), slot) for slot in range(WRITERS)]
    for number in range(kills):
        time.sleep(chance.uniform(0, _LONGEST_SECONDS))
        slot = number % WRITERS
        arena.tally.count("kills", int(_end(bench.ledger, writers[slot])))
        writers[slot] = _start(bench, chance.randrange(1 << 30), WRITERS + number)
    for writer in writers:
        arena.tally.count("kills", int(_end(bench.ledger, writer)))
    arena.check(bench, "a storm of writers")
    arena.check(bench, "a storm of writers", rebuilt=True)
    arena.tally.count("acknowledged records found", bench.ledger.count())
    arena.release(bench)


def _start(bench: Bench, seed: int, slot: int) -> Writer:
    reader, writer = os.pipe()

    def work() -> int:
        os.setpgid(0, 0)
        os.close(reader)
        # Each writer has its own tokens, so two of them never claim the same record.
        bench.ledger = reporter = _Reporter(1000 + slot, writer)
        bench.chance = random.Random(seed)  # noqa: S311 - no secret
        while True:
            reporter.send("begin", ())
            _one(bench)
            reporter.send("end", ())

    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device
        child = forks.start(work, cwd=bench.project, streams=(nowhere.fileno(), nowhere.fileno()))
    with contextlib.suppress(OSError):
        os.setpgid(child, child)
    os.close(writer)
    return Writer(child, reader)


def _one(bench: Bench) -> None:
    prepare = workloads.WORKLOADS[bench.chance.choice(workloads.TOGETHER)]
    with contextlib.suppress(Unprepared):
        workload = prepare(bench)
        bench.ledger.try_(workload.claims)
        if not workload.work():
            bench.ledger.acknowledge(workload.claims)


class _Reporter(Ledger):
    """A ledger that immediately reports to the parent what is tried and acknowledged."""

    def __init__(self, number: int, pipe: int) -> None:
        super().__init__(number)
        self._pipe = pipe

    def new_token(self) -> str:
        """Create a token and report it: another writer may recover a session that contains it."""
        token = super().new_token()
        self.try_([Claim("checkpoint", token), Claim("prompt", token)])
        return token

    def try_(self, claims: Iterable[Claim]) -> None:
        self.send("try", claims)

    def acknowledge(self, claims: Iterable[Claim]) -> None:
        self.send("acknowledge", claims)

    def send(self, what: str, claims: Iterable[Claim]) -> None:
        """Report to the parent; the report arrives even if this process is killed right after."""
        os.write(self._pipe, msgspec.json.encode((what, list(claims))) + b"\n")


def _end(ledger: Ledger, writer: Writer) -> bool:
    """Kill a writer and its processes, record its reports, and return whether it was busy."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(writer.child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(writer.child, signal.SIGKILL)
    os.waitpid(writer.child, 0)
    is_at_work = False
    with open(writer.reader, "rb") as pipe:  # noqa: PTH123 - a descriptor
        for line in pipe:
            if line.endswith(b"\n"):
                what, claims = _decoder.decode(line)
                is_at_work = what != "end"
                (ledger.acknowledge if what == "acknowledge" else ledger.try_)(claims)
    return is_at_work
