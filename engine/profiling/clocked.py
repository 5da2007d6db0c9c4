"""The renderer with a clock beside it: blocks one after the other, no interpreter between them, a row for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.compiled import (
    called_by_python,
    entry,
    flush_to_zero,
    integer_rows,
    integers,
    load_acquire,
    native,
    now,
    restore_arithmetic,
    single_rows,
)
from engine.synth.memory import machine
from engine.synth.renderer import bring_down, bring_out, next_span, play
from engine.synth.ring import push

START, DURATION, FRAMES, LOG = range(4)  # columns of a log of blocks: ns, ns, samples
STRINGS, OVERSAMPLING, OUTPUT, PARTS = range(4)  # columns of a log of parts, ns


Integers = NDArray[np.int64]


def record(
    table: int, out: int, block: int, events: Integers, log: Integers, sounding: Integers, stop: Integers
) -> int:
    """Fill log[blocks, LOG] and the number of voices that sounded in each block; how many blocks were played.

    Rows of events are (sample, message) in time order; what is due in a block is queued just before it, off the clock,
    as live events are. Setting stop[0] ends it after the block that is being played.
    """
    filled = (*where(log), where(sounding)[0], where(stop)[0])
    return int(play_on_the_clock(table, out, block, *where(events), *filled))


def record_parts(table: int, out: int, block: int, events: Integers, spent: Integers, stop: Integers) -> int:
    """The same music with the clock read inside each block: fill spent[blocks, PARTS]."""
    return int(play_parts_on_the_clock(table, out, block, *where(events), *where(spent), where(stop)[0]))


def play_in_parts(table: int, frames: int, out: int, spent: Integers) -> None:
    """`play`, step by step, and the time that each of its parts took; it renders the same bits."""
    play_part_by_part(table, frames, out, where(spent)[0])


def where(rows: Integers) -> tuple[int, int]:
    """The address of an array, and how many rows it has."""
    if not rows.flags.c_contiguous or rows.dtype != np.int64:
        raise TypeError("rows must be contiguous arrays of int64")
    return rows.ctypes.data, len(rows)


@entry
def play_on_the_clock(
    table: Any, out: Any, block: Any, music: Any, count: Any, rows: Any, blocks: Any, voices: Any, flag: Any
) -> Any:
    """`record`, given addresses."""
    events, log = integer_rows(music, count, 2), integer_rows(rows, blocks, LOG)
    sounding, stop = integers(voices, blocks), integers(flag, 1)
    at = played = 0
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
    return played


@entry
def play_parts_on_the_clock(
    table: Any, out: Any, block: Any, music: Any, count: Any, rows: Any, blocks: Any, flag: Any
) -> Any:
    """`record_parts`, given addresses."""
    events, stop = integer_rows(music, count, 2), integers(flag, 1)
    at = played = 0
    for n in range(blocks):
        if load_acquire(stop, 0) != 0:
            break
        at = queue(table, block, events, at)
        play_part_by_part(table, block, out, rows + 8 * PARTS * n)
        played += 1
    return played


@entry
def play_part_by_part(table: Any, frames: Any, out: Any, row: Any) -> None:
    """`play_in_parts`, given addresses."""
    before = flush_to_zero()
    m, spent = machine(table), integers(row, PARTS)
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
    restore_arithmetic(before)


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
