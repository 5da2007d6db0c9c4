"""The renderer with a clock beside it: blocks one after the other, no interpreter between them, a row for each."""

from __future__ import annotations

from typing import Any

from engine.compiled import called_by_python, flush_to_zero, load_acquire, native, now, restore_arithmetic, single_rows
from engine.synth.memory import machine
from engine.synth.renderer import bring_down, bring_out, next_span, play
from engine.synth.ring import push

START, DURATION, FRAMES, LOG = range(4)  # columns of a log of blocks: ns, ns, samples
STRINGS, OVERSAMPLING, OUTPUT, PARTS = range(4)  # columns of a log of parts, ns


@called_by_python
def record(table: Any, out: Any, block: Any, events: Any, log: Any, sounding: Any, stop: Any) -> Any:
    """Fill log[blocks, LOG] and the number of voices that sounded in each block; how many blocks were played.

    Rows of events are (sample, message) in time order; what is due in a block is queued just before it, off the clock,
    as live events are. Setting stop[0] ends it after the block that is being played.
    """
    before, at, played = flush_to_zero(), 0, 0
    for n in range(log.shape[0]):
        if load_acquire(stop, 0) != 0:
            break
        at = queue(table, block, events, at)
        start = now()
        play(table, block, out)
        log[n, DURATION] = now() - start
        log[n, START], log[n, FRAMES] = start, block
        sounding[n] = machine(table).meters.sounding
        played += 1
    restore_arithmetic(before)
    return played


@called_by_python
def record_parts(table: Any, out: Any, block: Any, events: Any, spent: Any, stop: Any) -> Any:
    """The same music with the clock read inside each block: fill spent[blocks, PARTS]."""
    before, at, played = flush_to_zero(), 0, 0
    for n in range(spent.shape[0]):
        if load_acquire(stop, 0) != 0:
            break
        at = queue(table, block, events, at)
        play_in_parts(table, block, out, spent[n])
        played += 1
    restore_arithmetic(before)
    return played


@called_by_python
def play_in_parts(table: Any, frames: Any, out: Any, spent: Any) -> None:
    """`play`, step by step, and the time that each of its parts took; it renders the same bits."""
    m = machine(table)
    target = single_rows(out, frames, m.outputs)
    for part in range(PARTS):
        spent[part] = 0
    done = 0
    while done < frames:
        began = now()
        span = next_span(m, frames - done)
        sung = now()
        bring_down(m, span)
        filtered = now()
        bring_out(m, target[done : done + span])
        spent[STRINGS] += sung - began
        spent[OVERSAMPLING] += filtered - sung
        spent[OUTPUT] += now() - filtered
        done += span


@native
def queue(table: Any, block: Any, events: Any, at: Any) -> Any:
    """Push the events of the next block, from row `at` on; the row after them."""
    end = machine(table).clock + block
    while at < events.shape[0] and events[at, 0] < end:
        push(table, events[at, 0], events[at, 1])
        at += 1
    return at


@called_by_python
def spin(span: Any, gap: Any, found: Any) -> Any:
    """Do nothing but read the clock for `span` ns; returns how long it took.

    Into found: how often the clock jumped by more than `gap`, how far in all, and at most. Whatever is found was taken
    by others: the system, its interrupts, other programs.
    """
    start = last = now()
    while last - start < span:
        t = now()
        jump = t - last
        if jump > gap:
            found[0] += 1
            found[1] += jump
            found[2] = max(found[2], jump)
        last = t
    return last - start
