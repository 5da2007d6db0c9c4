"""Jobs on every core, in processes of their own: a string's mathematics needs no sharing, and a crash stays alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import numpy as np

from engine.cores import cores
from engine.ending import be_silent, carefree
from engine.errors import EngineError
from engine.interrupts import ECHO, ENDINGS, Stopped, listen
from engine.offline.job import Job, make_player, run_job
from engine.offline.loudness import Loudness
from engine.preset.loader import Preset
from engine.preset.rack import Rack

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
    sizes = Counter(job.together for job in jobs if job.together)
    # All jobs of a whole wait for each other, so there must be a process for each.
    workers = max(workers, *sizes.values(), 1)
    meetings = {name: (context.Barrier(size), context.Value("d", 0.0)) for name, size in sizes.items()}
    with ProcessPoolExecutor(workers, context, _begin, (counter, meetings)) as pool, _ended_with(pool):
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


def _run(job: Job, made: Callable[[float], None], agree: Callable[[float], float] = lambda peak: peak) -> Outcome:
    with warnings.catch_warnings(record=True) as caught:
        try:
            outcome = Outcome(run_job(job, made, agree))
        except EngineError as error:
            outcome = Outcome([], str(error), error.exit_code)
    return outcome._replace(warnings=tuple(dict.fromkeys(str(warning.message) for warning in caught)))


def _outcome(future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except BrokenProcessPool:
        return Outcome([], "a process that rendered was ended from outside, perhaps for want of memory", 1)


def _warm_up(jobs: Sequence[Job]) -> None:
    """Compile once, here, instead of in every worker: a block of each model puts its machine code into the cache."""
    setup = jobs[0].setup
    racks = [job.preset for job in jobs if isinstance(job.preset, Rack)]
    presets = [job.preset for job in jobs if isinstance(job.preset, Preset)]
    presets += [part.preset for rack in racks for part in rack.parts]
    needed: list[Preset | Rack] = [*{preset.model: preset for preset in presets}.values(), *racks[:1]]
    for one in needed:
        with suppress(EngineError):  # it is told by the worker that meets it
            player = make_player(one, setup)
            out = np.zeros((16, player.channels), np.float32)
            player.run(out)
            Loudness(setup.sample_rate, player.channels)


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
_meetings: dict[str, Any] = {}


def _begin(counter: Any, meetings: dict[str, Any]) -> None:
    """In a worker: an interrupt from the keyboard is the parent's business, who then ends the workers."""
    global _counter, _meetings
    _counter, _meetings = counter, meetings
    be_silent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    listen(*ENDINGS)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed ends nobody; its workers would wait for their next job for ever.

    Told until it has ended: an exception that a callback from C or a finalizer swallows is lost, and one that met
    another worker between a lock and its release leaves this one waiting for it.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    parent.join()
    while True:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(2.0 * ECHO)  # sooner, it would be taken for an echo of the first


def _work(job: Job) -> Outcome:
    meeting = _Meeting(*_meetings[job.together]) if job.together else None
    try:
        return _run(job, _made, meeting.agree) if meeting else _run(job, _made)
    except Stopped:
        os._exit(1)  # the pool would go on to the next job
    finally:
        if meeting:
            meeting.leave()


class _Meeting:
    """Where the jobs of one whole, each in a process of its own, find the largest of their peaks."""

    def __init__(self, barrier: Any, highest: Any) -> None:
        self._barrier, self._highest, self._met = barrier, highest, False

    def agree(self, peak: float) -> float:
        """Wait for all the others; the largest peak of all."""
        with self._highest.get_lock():
            self._highest.value = max(self._highest.value, peak)
        try:
            self._barrier.wait()
        except threading.BrokenBarrierError:
            raise EngineError("not written, since another part of the same whole could not be played") from None
        finally:
            self._met = True
        return float(self._highest.value)

    def leave(self) -> None:
        """One that has failed before is waited for by nobody."""
        if not self._met:
            self._barrier.abort()


def _made(seconds: float) -> None:
    with _counter.get_lock():
        _counter.value += seconds
