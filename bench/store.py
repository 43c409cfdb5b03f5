"""Measure the store with 100,000 checkpoints, relative to 100 and to bare writes.

Run it alone with `python -m bench.store`.
"""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median, quantiles

import msgspec

from bench import corpus, harness, used_agents, venv
from bench.harness import Figure, Program, Sample
from leftoff.checkpoint import SCHEMA, Checkpoint, encode
from leftoff.projects.project import Project
from leftoff.store import Query, Store

FEW, MANY, MOST = 100, 100_000, 200_000
THREADS = 3_000
STARTS, SEARCHES, SAVES = 31, 41, 1000
PROCESSES, EACH = 8, 500
# Hundreds of words begin with these two letters. It is shown because it is the slowest query.
_OPEN_ENDED = "a prefix of many words"


def _program(project: Project, *arguments: str | Path) -> Program:
    environment = venv.environment(corpus.home_of(project))
    given = tuple(str(each) for each in arguments)
    return Program(arguments=given, environment=environment, folder=project.root)


def _command(project: Project, *arguments: str) -> Program:
    return _program(project, venv.leftoff(), *arguments)


def starts(few: Project, many: Project) -> list[Figure]:
    """Compare commands with an empty program, and 100,000 checkpoints with 100."""
    threads = corpus.made(MANY, threads=THREADS)
    home = used_agents.make_home(few.root.parent / "agents", few.root)
    programs = {
        "python": _program(few, venv.python(), "-c", "pass"),
        "version": _command(few, "--version"),
        "list": _command(few, "list"),
        "status": _command(few, "status"),
        "status of agents": msgspec.structs.replace(
            _command(few, "status"), environment=venv.environment(home)
        ),
        "list of agents": msgspec.structs.replace(
            _command(few, "list"), environment=venv.environment(home)
        ),
        "list of many": _command(many, "list"),
        "list of threads": _command(threads, "list"),
        "resume": _command(few, "resume", "newest"),
        "resume of many": _command(many, "resume", "newest"),
        "accept": _command(few, "resume", "newest", "--accept"),
        "accept of many": _command(many, "resume", "newest", "--accept"),
        "search": _command(many, "search", corpus.RARE),
    }
    cases = {name: partial(harness.run, program) for name, program in programs.items()}
    took = harness.interleave(cases, STARTS)
    compare = partial(harness.compare, samples=took)
    return [
        compare("leftoff --version / python -c pass", names=("version", "python"), limit=4),
        compare("leftoff list / python -c pass", names=("list", "python"), limit=8),
        compare("leftoff status / python -c pass", names=("status", "python"), limit=8),
        compare(
            "  with hooks of six agents and unsaved sessions",
            names=("status of agents", "python"),
            limit=8,
        ),
        compare("  leftoff list there", names=("list of agents", "python"), limit=8),
        compare(f"list at {MANY:,} / at {FEW}", names=("list of many", "list"), limit=1.3),
        compare(
            f"list at {MANY:,} in {THREADS:,} threads / at {FEW}",
            names=("list of threads", "list"),
            limit=1.3,
        ),
        compare(f"resume at {MANY:,} / at {FEW}", names=("resume of many", "resume"), limit=1.3),
        compare(
            f"resume --accept at {MANY:,} / at {FEW}", names=("accept of many", "accept"), limit=1.3
        ),
        compare(f"leftoff search at {MANY:,} / python -c pass", names=("search", "python")),
    ]


def searches(many: Project) -> list[Figure]:
    """Time queries in one process."""
    store = Store(many)
    store.index()
    queries = {
        # The one checkpoint with this word may be cleared in the made-up store.
        "a rare word": Query(words=corpus.RARE, with_trashed=True),
        "two words": Query(words=" ".join(corpus.PAIR)),
        "a word in every one": Query(words=corpus.COMMON),
        "a word in every one, on a branch": Query(words=corpus.COMMON, branch=corpus.BRANCH),
        "two words, on a branch": Query(words=" ".join(corpus.PAIR), branch=corpus.BRANCH),
        _OPEN_ENDED: Query(words="ba"),
    }
    for query in queries.values():
        assert store.search(query), query
    cases = {
        name: partial(harness.call, partial(store.search, query)) for name, query in queries.items()
    }
    took = harness.interleave(cases, SEARCHES)
    store.close()
    return [
        Figure(
            what=f"search at {MANY:,}: {name}, p50",
            value=median(harness.times(samples)) * 1000,
            unit="ms",
            limit=None if name == _OPEN_ENDED else 20,
            note=f"p90 {harness.p90(samples) * 1000:.1f} ms",
        )
        for name, samples in took.items()
    ]


def rebuilding(many: Project) -> list[Figure]:
    """Time the building of the index, and measure its memory."""

    def remove() -> None:
        for left in many.store.glob("index.sqlite*"):
            left.unlink()

    def rebuild() -> None:
        store = Store(many)
        store.index()
        store.close()

    remove()
    seconds = harness.call(rebuild).wall
    listing = harness.peak_megabytes(_command(many, "list"), venv.python())
    remove()
    building = harness.peak_megabytes(_command(many, "list"), venv.python())
    plain = harness.peak_megabytes(_program(many, venv.python(), "-c", "pass"), venv.python())
    size = (many.store / "index.sqlite").stat().st_size / 1e6
    return [
        Figure(
            what=f"rebuild of the index of {MANY:,} files",
            value=seconds,
            unit="s",
            note=f"{MANY / seconds:,.0f} files/s, {size:.0f} MB",
        ),
        Figure(
            what=f"peak memory of list at {MANY:,}",
            value=listing,
            unit="MB",
            note=f"python -c pass: {plain:.0f} MB",
        ),
        Figure(what="peak memory of list that builds the index", value=building, unit="MB"),
    ]


# --- without an index ---

# A separate process, because only the first save of a process has to find out what exists.
_SAVE_ONCE = """
    import os, sys
    from pathlib import Path
    from bench.store import _draft
    from leftoff.context import find_project
    from leftoff.store import Store
    store = Store(find_project(Path(sys.argv[1])))
    assert store.save(_draft(int(sys.argv[2]))).notice is None
"""


def without_index(most: Project) -> list[Figure]:
    """Compare saves without an index and with one, and measure a rebuild."""
    index = most.store / "index.sqlite"
    kept = index.with_name("index.kept")
    for left in most.store.glob("index.*"):
        left.unlink()
    building = harness.peak_megabytes(_command(most, "list"), venv.python())
    numbers = itertools.count()

    def save(*, with_index: bool) -> Sample:
        if not with_index:
            index.rename(kept)
        arguments = (venv.python(), "-c", textwrap.dedent(_SAVE_ONCE), most.root, next(numbers))
        program = _program(most, *map(str, arguments))
        environment = {**program.environment, "PYTHONPATH": str(harness.ROOT)}
        took = harness.run(msgspec.structs.replace(program, environment=environment))
        if not with_index:
            assert not index.exists(), "a save built an index"
            kept.rename(index)
        return took

    cases = {"with": partial(save, with_index=True), "without": partial(save, with_index=False)}
    took = harness.interleave(cases, STARTS)
    _remove_saves(Store(most))
    return [
        Figure(
            what=f"peak memory of list that builds the index of {MOST:,}",
            value=building,
            unit="MB",
            limit=200,
        ),
        harness.compare(
            f"first save of a process at {MOST:,}: without an index / with one",
            samples=took,
            names=("without", "with"),
            limit=8,
        ),
    ]


# --- saving ---


def saving(few: Project, many: Project) -> list[Figure]:
    """Compare saves with bare writes of the same bytes, one after the other in each round."""
    folder = Path(tempfile.mkdtemp(dir=few.root.parent))
    stores = {"save": Store(few), f"save at {MANY:,}": Store(many)}
    numbers = itertools.count()
    cases: dict[str, Callable[[], object]] = {
        name: partial(_save, store, numbers) for name, store in stores.items()
    }
    cases["write + fsync"] = partial(_write, folder, numbers, with_folder=False)
    cases["write + fsync + folder"] = partial(_write, folder, numbers, with_folder=True)
    took = harness.interleave(
        {name: partial(harness.call, work) for name, work in cases.items()}, SAVES
    )
    shutil.rmtree(folder)
    for store in stores.values():
        _remove_saves(store)
    return [figure for name in stores for figure in _beside_bare_writes(name, took)]


def _beside_bare_writes(name: str, took: Mapping[str, Sequence[Sample]]) -> list[Figure]:
    """Judge a save beside a write that is as durable: the name needs a sync of the folder."""
    mine, base = took[name], took["write + fsync + folder"]
    beside = harness.ratio(mine, took["write + fsync"])
    p99, base_p99 = (quantiles(harness.times(each), n=100)[-1] for each in (mine, base))
    return [
        Figure(
            what=f"{name} / write + fsync of file and folder, p50",
            value=harness.ratio(mine, base),
            limit=2,
            note=f"{harness.milliseconds(mine)} against {harness.milliseconds(base)} ms; "
            f"/ write + fsync, whose name a power cut can lose, {beside:.2f}x",
        ),
        Figure(
            what=f"{name} / write + fsync of file and folder, p99",
            value=p99 / base_p99,
            limit=2,
            note=f"{p99 * 1000:.1f} against {base_p99 * 1000:.1f} ms",
        ),
    ]


def _draft(number: int) -> Checkpoint:
    return Checkpoint(
        schema=SCHEMA,
        id="0" * 28,
        saved_at=datetime.now(UTC),
        trigger="manual",
        name=f"bench-{os.getpid()}-{number}",
        summary="word " * 20,
        left_off="word " * 50,
        notes=["word " * 20] * 4,
    )


def _save(store: Store, numbers: Iterator[int]) -> None:
    store.save(_draft(next(numbers)))


def _write(folder: Path, numbers: Iterator[int], *, with_folder: bool) -> None:
    number = next(numbers)
    data = encode(_draft(number))
    descriptor = os.open(folder / f"{number}.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, data)
    os.fsync(descriptor)
    os.close(descriptor)
    if with_folder:
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def _remove_saves(store: Store) -> None:
    newest = store.index().newest(3 * SAVES)
    store.purge([entry for entry in newest if (entry.name or "").startswith("bench-")])
    store.close()


_SAVER = """
    import sys
    from pathlib import Path
    from bench.store import _draft
    from leftoff.context import find_project
    from leftoff.store import Store
    store = Store(find_project(Path(sys.argv[1])))
    for number in range(int(sys.argv[2])):
        assert store.save(_draft(number)).notice is None
"""


def together(few: Project) -> list[Figure]:
    """Let several processes save to one store at the same time."""
    folder = Path(tempfile.mkdtemp(dir=few.root.parent))
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    command = [sys.executable, "-c", textwrap.dedent(_SAVER), str(folder), str(EACH)]
    started = time.perf_counter()
    running = [subprocess.Popen(command, cwd=harness.ROOT) for _ in range(PROCESSES)]
    assert [process.wait() for process in running] == [0] * PROCESSES
    seconds = time.perf_counter() - started
    kept = len(list((folder / ".git" / "leftoff" / "checkpoints").rglob("*.json")))
    shutil.rmtree(folder)
    wanted = PROCESSES * EACH
    return [
        Figure(
            what=f"{PROCESSES} processes x {EACH} saves: kept of {wanted:,}",
            value=kept,
            unit="",
            limit=wanted,
            is_floor=True,
            note=f"{seconds:.1f} s, {wanted / seconds:,.0f} saves/s",
        )
    ]


def figures() -> list[Figure]:
    """Measure everything about the store."""
    few, many = corpus.made(FEW), corpus.made(MANY)
    rebuilt = rebuilding(many)
    return [
        *starts(few, many),
        *searches(many),
        *rebuilt,
        *without_index(corpus.made(MOST)),
        *saving(few, many),
        *together(few),
    ]


def main() -> int:
    """Print the figures, and fail if one exceeds its limit."""
    measured = figures()
    print(harness.table("The store", measured))
    return int(any(figure.is_over for figure in measured))


if __name__ == "__main__":
    sys.exit(main())
