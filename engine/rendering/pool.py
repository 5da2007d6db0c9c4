"""Jobs on every core, in processes of their own: a string's mathematics needs no sharing, and a crash stays alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import numpy as np

from engine.ending import be_silent, carefree
from engine.errors import EngineError
from engine.rendering.interrupts import ENDINGS, Stopped, listen
from engine.rendering.job import Job, make_player, run_job
from engine.rendering.loudness import Loudness

_POLL = 0.2  # s between looks at the workers' progress


class Outcome(NamedTuple):
    """What became of a job: a report per file or the lines of its error, and what it was warned of."""

    reports: list[dict[str, Any]]
    error: str = ""
    exit_code: int = 0
    warnings: tuple[str, ...] = ()


def run_jobs(jobs: Sequence[Job], made: Callable[[float], None], workers: int | None = None) -> list[Outcome]:
    """Run all jobs, at most one per core at a time; a failing one does not stop the others."""
    workers = min(workers or cores(), len(jobs))
    if workers <= 1:
        return [_run(job, made) for job in jobs]
    with carefree():
        _warm_up(jobs)
    # Forked processes would inherit locks and threads in any state.
    context = multiprocessing.get_context("spawn")
    counter = context.Value("d", 0.0)
    with ProcessPoolExecutor(workers, context, _begin, (counter,)) as pool, _ended_with(pool):
        with _deaf():
            futures = [pool.submit(_work, job) for job in jobs]  # which starts the workers
        waiting: set[Future[Outcome]] = set(futures)
        told = 0.0
        while waiting:
            _, waiting = wait(waiting, timeout=_POLL)
            now = counter.value
            made(now - told)
            told = now
        return [_outcome(future) for future in futures]


def _run(job: Job, made: Callable[[float], None]) -> Outcome:
    with warnings.catch_warnings(record=True) as caught:
        try:
            outcome = Outcome(run_job(job, made))
        except EngineError as error:
            outcome = Outcome([], str(error), error.exit_code)
    return outcome._replace(warnings=tuple(dict.fromkeys(str(warning.message) for warning in caught)))


def _outcome(future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except BrokenProcessPool:
        return Outcome([], "a process that rendered was ended from outside, perhaps for want of memory", 1)


def cores() -> int:
    """Of this machine that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _warm_up(jobs: Sequence[Job]) -> None:
    """Compile once, here, instead of in every worker: a block of each model puts its machine code into the cache."""
    for job in {job.preset.model: job for job in jobs}.values():
        with suppress(EngineError):  # it is told by the worker that meets it
            player = make_player(job.preset, job.setup)
            out = np.zeros((16, player.channels), np.float32)
            player.run(out)
            Loudness(job.setup.sample_rate, player.channels)


@contextmanager
def _deaf() -> Iterator[None]:
    """Interrupts from the keyboard are ignored, also by processes started here, until they see to it themselves."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _ended_with(pool: ProcessPoolExecutor) -> Iterator[None]:
    """Where the work is broken off, so are the workers; each removes what it has begun to write."""
    before = set(multiprocessing.active_children())
    try:
        yield
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise


_counter: Any = None


def _begin(counter: Any) -> None:
    """In a worker: an interrupt from the keyboard is the parent's business, who then ends the workers."""
    global _counter
    _counter = counter
    be_silent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    listen(*ENDINGS)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed ends nobody; its workers would wait for their next job for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _work(job: Job) -> Outcome:
    try:
        return _run(job, _made)
    except Stopped:
        os._exit(1)  # the pool would go on to the next job


def _made(seconds: float) -> None:
    with _counter.get_lock():
        _counter.value += seconds
