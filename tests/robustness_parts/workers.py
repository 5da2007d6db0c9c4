"""Cases in processes of their own, which the system ends when they ask for too much: the machine stays whole."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path

from robustness_parts.cases import KINDS, Result, run_case

LONGEST = 60  # s of the processor for one case; compiled code hears nothing gentler than the end of its process
MEMORY = 2**30  # bytes beyond what a worker has when it begins: what asks for more gets a MemoryError


class Worker:
    """A process that runs one case after another."""

    def __init__(self, context: multiprocessing.context.SpawnContext) -> None:
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.case = ""

    def begin(self, case: str) -> None:
        self.case = case
        self.pipe.send(case)

    def result(self) -> Result:
        """Of the case that it was given; if it has died over it, that is the result."""
        try:
            return Result(*self.pipe.recv())
        except EOFError:
            self.process.join()
            code = self.process.exitcode or 0
            why = f"took more than {LONGEST} s of the processor" if code == -signal.SIGXCPU else f"ended it ({code})"
            return Result(self.case, "fault", f"{why}, and its process with it", float(LONGEST), 0.0)

    def end(self) -> None:
        self.process.kill()
        self.process.join()


def work(pipe: Connection) -> None:
    """In a worker: everything compiled or loaded, then cases until nobody asks any more."""
    for kind in KINDS:
        run_case(f"{kind}:warm:0")
    limit_memory()
    try:
        while True:
            case = pipe.recv()
            limit_time()
            pipe.send(tuple(run_case(case)))
    except (EOFError, KeyboardInterrupt):
        return


def limit_memory() -> None:
    """Where the system can, no more than MEMORY on top of what there is."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY,) * 2)
    except (ImportError, OSError, ValueError):
        pass  # no ceiling, but the figures still tell


def limit_time() -> None:
    """Where the system can, the end of this process after LONGEST more seconds of the processor."""
    try:
        import resource

        spent = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(resource.RLIMIT_CPU, (int(spent.ru_utime + spent.ru_stime) + LONGEST, -1))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    except (ImportError, OSError, ValueError, AttributeError):
        pass


def results(cases: Sequence[str], jobs: int) -> Iterator[Result]:
    """All cases, so many at a time, as they are done."""
    context = multiprocessing.get_context("spawn")
    waiting = list(reversed(cases))
    run_case(f"{next(iter(KINDS))}:warm:0")  # compiled once, here
    workers = [Worker(context) for _ in range(min(jobs, len(cases)))]
    busy = {worker.pipe: worker for worker in workers}
    try:
        for worker in workers:
            worker.begin(waiting.pop())
        while busy:
            for pipe in wait(list(busy)):
                worker = busy.pop(pipe)
                result = worker.result()
                yield result
                if not worker.process.is_alive():
                    worker = Worker(context)
                if waiting:
                    worker.begin(waiting.pop())
                    busy[worker.pipe] = worker
                else:
                    worker.end()
    finally:
        for worker in busy.values():
            worker.end()
