"""A second core: a helper's thread takes voices off the audio thread's hands, from the other end of their row.

The audio thread performs voices 0, 1, 2 and so on and adds each to the bus; the helper meanwhile performs the last one,
the last but one and so on, each into a row of its own. Where they meet the audio thread waits for the voice that the
helper is at, and adds the rest. So the bus is the same sum in the same order, to the last bit, with a helper, without
one, or with one that comes late.

Nobody locks and nobody calls: what is left of the row is one word, from which each takes at its own end. The helper
wakes by itself, a little before the next block is due, and sleeps when it is done. Who drives it, at which priority, is
live/helper.py's business: here it is an address in the machine, or 0.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import (
    entry,
    flush_to_zero,
    load_acquire,
    native,
    now,
    restore_arithmetic,
    store_release,
    touch_stack,
)
from engine.layout import Integers, inside, record
from engine.opened import address, at
from engine.synth.memory import FREE, Machine, machine
from engine.synth.strips import add
from engine.synth.voices import perform
from engine.threads import add_at_once, call_c

MANY = 32  # strings that sound: fewer are not worth a second core's trouble (scripts/bench_cores.py)
PATIENCE = 100_000_000  # looks at a voice that the helper is at: some 0.1 s, for which the audio thread waits for it
EARLY = 100_000  # ns before a block is due at which the helper is awake: some three times what waking up takes
READY = 100_000  # ns for which it stays awake after a voice: blocks may come in bursts
LATE = 5_000_000  # ns for which it stays awake when nothing comes
NAP = 10_000_000  # ns for which it sleeps where nobody needs it
WAIT, HELP, LEAVE = range(3)  # what the helper is told
END = 1 << 32  # in the word that says what is left of the row: its first voice + END * the one past its last


@record
class Crew:
    """What the audio thread and its helper share. Counts that one writes lie in cache lines of their own."""

    left: Integers = inside(8)  # of the row of voices
    done: Integers = inside(8)  # voices that the helper has performed, ever
    due: Integers = inside(8)  # ns of `now()` when the next block with voices for it should begin
    order: Integers = inside(8)  # by Python
    machine: int  # the address of whose voices they are
    span: int  # base-rate samples
    taken: int  # voices that the helper has taken, ever, as the audio thread knows them
    end: int  # of the row
    offered: int  # 1: in this block there were voices for it
    least: int  # strings that must sound
    lapses: int  # how often the audio thread's patience ended
    audio: Integers = inside(1)  # the audio thread's clock, by which Linux knows it
    self: int  # addresses of C functions, or 0: pthread_self,
    clock: int  # pthread_getcpuclockid,
    sleep: int  # nanosleep,
    step: int  # sched_yield
    time: Integers = inside(2)  # s and ns for which the helper sleeps


crew_at = at(Crew)


# --- the audio thread -------------------------------------------------------------------------------------------------


@native
def share(m: Machine, span: int) -> bool:
    """Offer the voices of a span to the helper, if there is one and they are worth it."""
    if m.crew == 0:
        return False
    c = crew_at(m.crew)
    if m.meters.sounding < c.least or load_acquire(c.order, 0) != HELP or not answers(c):
        return False
    end = m.slots
    while end > 0 and m.voices[end - 1].state == FREE:
        end -= 1
    c.machine, c.span, c.end, c.offered = address(m), span, end, 1
    store_release(c.left, 0, END * end)
    return True


@native
def is_ours(m: Machine, v: int, shared: bool) -> bool:
    """Whether the audio thread is to perform this voice, after all those before it; if so, nobody else does."""
    if not shared:
        return v < m.slots  # type: ignore[no-any-return]
    left = add_at_once(crew_at(m.crew).left, 0, 1)
    return left % END < left // END  # type: ignore[no-any-return]


@native
def gather(m: Machine, first: int) -> None:
    """Add the voices that the helper has performed, which are those from this one on."""
    c = crew_at(m.crew)
    c.taken += c.end - first
    if not waited(c):
        m.held, c.lapses = 1, c.lapses + 1
        return
    for v in range(first, c.end):
        add(m, v, 1 + v)


@native
def answers(c: Crew) -> bool:
    """Whether the helper is at no voice."""
    return load_acquire(c.done, 0) == c.taken  # type: ignore[no-any-return]


@native
def waited(c: Crew) -> bool:
    """Wait until that is so, but not for ever: a thread may be stopped, or not be run."""
    for _ in range(PATIENCE):  # noqa: SIM110  compiled code has no any(); and no clock, which exports lack
        if answers(c):
            return True
    return False


@native
def is_held(m: Machine) -> bool:
    """Whether the helper keeps a voice, so that nobody may touch any; what it does with it, it does at some time."""
    if m.held == 0:
        return False
    if answers(crew_at(m.crew)):
        m.held = 0
    return m.held == 1  # type: ignore[no-any-return]


@native
def end_block(where: int, due: int) -> None:
    """The audio thread says which one it is, and when the next block is due, if there were voices to share in this."""
    if where == 0:
        return
    c = crew_at(where)
    call_c(c.clock, call_c(c.self, 0, 0), address(c.audio))
    if c.offered:
        c.offered = 0
        store_release(c.due, 0, due)


# --- the helper's thread ----------------------------------------------------------------------------------------------


@entry
def help_out(where: Any) -> None:
    """Perform voices until told to leave. It steps aside all the time, for it may share a core with others as urgent:
    even with the audio thread, which then takes all voices itself.
    """
    before, c = flush_to_zero(), crew_at(where)
    touch_stack()
    last = 0
    while load_acquire(c.order, 0) != LEAVE:
        time, due = now(), load_acquire(c.due, 0)
        if load_acquire(c.order, 0) == HELP and took(c):
            last = time
        elif due - time > EARLY and time - last > READY:
            sleep(c, min(due - time - EARLY, NAP))
        elif time - max(last, due) > LATE:
            sleep(c, NAP)
        else:
            call_c(c.step, 0, 0)
    restore_arithmetic(before)


@native
def took(c: Crew) -> bool:
    """Perform the last voice that is left, if any is."""
    left = load_acquire(c.left, 0)
    if left % END >= left // END:
        return False
    left = add_at_once(c.left, 0, -END)
    if left % END >= left // END:
        return False
    m = machine(c.machine)
    v = left // END - 1
    perform(m, v, c.span, 1 + v)
    store_release(c.done, 0, c.done[0] + 1)
    return True


@native
def sleep(c: Crew, ns: int) -> None:
    """Let others run."""
    c.time[0], c.time[1] = 0, ns
    call_c(c.sleep, address(c.time), 0)
