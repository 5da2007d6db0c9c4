"""One block of live sound: events find their sample, an ensemble plays, gauges are written.

`run_block` is all that the audio thread does. It is given the address of the player's memory, a place for the samples
and the time.
"""

from __future__ import annotations

from typing import Any

from engine import messages as midi
from engine.compiled import entry, native, now, single_rows, store_release, touch_stack
from engine.live.thread.clock import advance, follow, place
from engine.live.thread.memory import INLETS, JOURNAL_SIZE, LOG_SIZE, UNASKED, Stage, stage
from engine.live.thread.tape import run_along
from engine.synth.capture import mix_watched
from engine.synth.crew import end_block
from engine.synth.memory import CHANNELS, ENDS, RING_SIZE, Desk, desk
from engine.synth.mts import TUNING
from engine.synth.output import limit_block
from engine.synth.ring import NEVER, flagged, flagged_since, head, take
from engine.synth.routing import choose, offer, part_of, program, room, welcome

UNDERFLOW = 0x4  # PortAudio's flag: the card ran dry before this block
STALE = 500_000_000  # ns after which a note is not begun any more


@entry
def run_block(address: Any, frames: Any, out: Any, flags: Any, begun: Any) -> None:
    """The next `frames` samples, float32 [frames, channels] at `out`; `begun` is the time of `now()`."""
    if frames <= 0:
        return
    p = stage(address)
    d = desk(p.ensemble)
    if p.clock.origin == 0:  # the first on this thread
        touch_stack()
    late = follow(p.clock, p.gauges, begun, frames)
    welcome(d)
    fulfil_wishes(p, d)
    hand_over(p, d, begun, frames)
    sound(p, d, frames, out)
    run_along(p.tape, frames, p.outputs, out)
    advance(p.clock, frames)
    end_block(p.crew, p.clock.origin + int(p.clock.next))
    note_block(p, frames, flags, begun, late)


@native
def fulfil_wishes(p: Stage, d: Desk) -> None:
    """Programs that were asked for and have come since are changed to now, and only now written down."""
    for channel in range(CHANNELS):
        number = p.wishes.of_channel[channel]
        if number < 0 or not choose(d, channel, number):
            continue
        p.wishes.of_channel[channel] = UNASKED
        clock, change = p.clock.sample, midi.packed(midi.PROGRAM | channel, number & 0x7F)
        before = program(d, change) >> 7
        select(p, d, channel, before, number >> 7)  # another bank may have been selected meanwhile
        write_down(p, clock, change)
        select(p, d, channel, number >> 7, before)


@native
def select(p: Stage, d: Desk, channel: int, before: int, bank: int) -> None:
    """Have a channel's bank selected, as far as it is not."""
    for number, old, new in ((midi.BANK, before >> 7, bank >> 7), (midi.BANK_FINE, before & 0x7F, bank & 0x7F)):
        if new != old:
            message = midi.packed(midi.CONTROL | channel, number, new)
            offer(d, p.clock.sample, message)
            write_down(p, p.clock.sample, message)


@native
def hand_over(p: Stage, d: Desk, begun: int, frames: int) -> None:
    """Give the instruments every event that is due in this block, the earliest first; what they cannot hold waits."""
    sample, end = p.clock.sample, p.clock.sample + frames
    for _ in range(RING_SIZE):
        first, due, at = -1, NEVER, end
        for i in range(INLETS):
            stamp = head(p.inlets[i].ring)
            if stamp == NEVER:
                continue
            where = stamp if p.inlets[i].exact else place(p.clock, stamp)
            if p.inlets[i].exact:  # behind all others of its sample
                stamp = NEVER
            if where < at or (where == at and stamp < due):
                first, due, at = i, stamp, where
        if first < 0:
            break
        sample = max(sample, at)
        obey_flags(p, d, first, sample)  # if there are any, they were up before this event came
        if not room(d, 1):
            break
        obey(p, d, sample, take(p.inlets[first].ring), is_stale(p, begun, due, at))
        p.gauges.events += 1
    for i in range(INLETS):
        obey_flags(p, d, i, sample)


@native
def is_stale(p: Stage, begun: int, due: int, at: int) -> Any:
    """Whether an event has waited through a pause of the stream; on an exact sample it was late for that."""
    if due == NEVER:
        return (p.clock.sample - at) * p.clock.frame > STALE
    return begun - due > STALE


@native
def obey_flags(p: Stage, d: Desk, i: int, sample: int) -> None:
    """End the notes whose end found the inlet full."""
    late = p.inlets[i].late
    seen = flagged_since(p.inlets[i].ring, late)
    if seen < 0:
        return
    for channel in range(CHANNELS):
        for end in range(ENDS):
            message = flagged(late, seen, channel, end)
            if message >= 0:
                obey(p, d, sample, message, False)


@native
def obey(p: Stage, d: Desk, sample: int, message: int, stale: Any) -> None:
    """What is heard goes to the instruments, and is written down with the sample on which they obey it."""
    kind, channel, begins = midi.kind(message), midi.channel(message), midi.begins_note(message)
    ends = midi.ends_note(message) or (kind == midi.CONTROL and midi.first(message) >= midi.MODES)
    if not ends and kind != TUNING and p.listen >> channel & 1 == 0:
        return
    if begins and stale:
        p.gauges.stale += 1
        return
    if kind != midi.PROGRAM:
        offer(d, sample, message)
        write_down(p, sample, message)
    elif choose(d, channel, program(d, message)):
        p.wishes.of_channel[channel] = UNASKED
        write_down(p, sample, message)
    else:
        wish(p, d, channel, program(d, message))


@native
def wish(p: Stage, d: Desk, channel: int, number: int) -> None:
    """Ask Python for a program that is not here; until it is, the channel keeps the one that it has."""
    if part_of(d, number) >= 0:
        p.wishes.of_channel[channel] = number
    else:
        p.wishes.unknown = number
    store_release(p.wishes.count, 0, p.wishes.count[0] + 1)


@native
def write_down(p: Stage, sample: int, message: int) -> None:
    """Keep what was obeyed."""
    written = p.journal.written
    row = p.journal.rows[written[0] & (JOURNAL_SIZE - 1)]
    row[0], row[1] = sample, message
    store_release(written, 0, written[0] + 1)


@native
def sound(p: Stage, d: Desk, frames: int, out: int) -> None:
    """The ensemble's samples are those of an offline render. What would be too loud is bent by the limiter, once."""
    mix_watched(p.capture, d, frames, out)
    target = single_rows(out, frames, p.outputs)
    for c in range(min(p.outputs, 2)):
        peak = 0.0
        for n in range(frames):
            peak = max(peak, abs(target[n, c]))
        p.peak[c] = max(p.peak[c], peak)
    p.gauges.bent += limit_block(out, frames, p.outputs)


@native
def note_block(p: Stage, frames: int, flags: int, begun: int, late: int) -> None:
    """Gauges and log for whoever looks on."""
    took, g = now() - begun, p.gauges
    g.blocks += 1
    g.long += took > frames * p.clock.frame
    g.underflows += flags & UNDERFLOW != 0
    g.worst, g.worst_late = max(g.worst, took), max(g.worst_late, late)
    g.busy += took
    g.seen = begun
    written = p.log.written
    row = p.log.rows[written[0] & (LOG_SIZE - 1)]
    row[0], row[1], row[2], row[3] = begun, took, frames, late
    store_release(written, 0, written[0] + 1)
