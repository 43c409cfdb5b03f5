"""Run the worker processes of one part, each in its own home folder."""

import queue
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec

from leftoff.torture import child_programs
from leftoff.torture.orders import Loss, TorturePlan, TortureReport, WorkerTask, merge
from leftoff.torture.worker import folder_of
from leftoff.torture.world import environment

# The program that runs one part. Its last argument is the task.
WORKER = (sys.executable, "-I", "-c", "from leftoff.cli.torture import work; work()")


class Crew:
    """The started workers, and the latest report of each."""

    def __init__(self, tasks: list[WorkerTask], preload: Path | None) -> None:
        self._tasks = tasks
        self._latest = [TortureReport(part=task.part) for task in tasks]
        self._words = [b"" for _ in tasks]
        self._lines: queue.Queue[tuple[int, bytes]] = queue.Queue()
        self._workers = [_start_worker(task, preload) for task in tasks]
        self._listeners = [
            threading.Thread(target=self._listen, args=(number,), daemon=True)
            for number in range(len(tasks))
        ]
        for listener in self._listeners:
            listener.start()

    def reports(self) -> Iterator[TortureReport]:
        """Yield the sum of all reports so far, until all workers have ended."""
        left = len(self._workers)
        while left:
            number, line = self._lines.get()
            if line:
                self._take(number, line)
            else:
                left -= 1
                self._end(number)
            yield merge(self._latest)

    def stop(self) -> None:
        """Kill the workers and the processes they started."""
        for worker, task in zip(self._workers, self._tasks, strict=True):
            worker.kill()
            worker.wait()
            child_programs.end_below(Path(task.folder))
        for listener in self._listeners:
            listener.join()

    def _listen(self, number: int) -> None:
        stream = self._workers[number].stdout
        if stream is not None:
            with stream:
                for line in stream:
                    self._lines.put((number, line))
        self._lines.put((number, b""))

    def _take(self, number: int, line: bytes) -> None:
        try:
            self._latest[number] = msgspec.json.decode(line, type=TortureReport)
        except msgspec.MsgspecError:
            # A worker prints reports only; the last other line is the reason of its crash.
            self._words[number] = line

    def _end(self, number: int) -> None:
        code = self._workers[number].wait()
        report = self._latest[number]
        if report.is_final and code == 0:
            return
        words = self._words[number].decode("utf-8", "replace").strip()
        what = f"a worker crashed with exit code {code}: {words}"
        loss = Loss(what=what, where=self._tasks[number].folder)
        broken = [*report.broken, loss]
        self._latest[number] = msgspec.structs.replace(report, broken=broken, is_final=True)


def _start_worker(task: WorkerTask, preload: Path | None) -> child_programs.Process:
    folder = Path(task.folder)
    command = [*WORKER, msgspec.json.encode(task).decode()]
    process = child_programs.start(
        command, cwd=folder, env=environment(folder, preload=preload), is_apart=True
    )
    if process.stdin is not None:
        process.stdin.close()
    return process


def tasks(root: Path, part: str, plan: TorturePlan, seconds: float) -> list[WorkerTask]:
    """Build a task for each worker, with its own folder and share."""
    return [
        WorkerTask(
            part=part,
            folder=str(folder_of(root, part, number)),
            seed=plan.seed,
            number=number,
            workers=plan.workers,
            seconds=seconds,
            rounds=plan.rounds,
        )
        for number in range(plan.workers)
    ]
