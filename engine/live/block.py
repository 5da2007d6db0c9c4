"""One block of live sound: events find their sample, instruments play, gauges are written.

`run_block` is all that the audio thread does. It is given the player's table, a place for the samples and the time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.compiled import (
    called_by_python,
    floats,
    inlined,
    integer_rows,
    integers,
    native,
    now,
    pasted,
    single_rows,
    singles,
    store_release,
    touch_stack,
)
from engine.live.clock import advance, follow, place
from engine.live.fields import *
from engine.live.inlet import late_of, ring_of
from engine.live.stages import change_instrument, room, silent
from engine.synth import fields as f
from engine.synth.output import CEILING
from engine.synth.renderer import play
from engine.synth.ring import NEVER, flagged, flagged_since, head, push, take

UNDERFLOW = 0x4  # PortAudio's flag: the card ran dry before this block
LEAVING = 50e6  # ns in which an instrument that is no longer wanted fades out
QUIET = 1e-5  # of full scale: filters that ring on after the last string are not heard below this
STALE = 500_000_000  # ns after which a note is not begun any more


class Player(NamedTuple):
    """Everything that a live session is made of."""

    settings: Any
    numbers: Any
    stages: Any
    inlets: Any
    journal: Any
    log: Any
    gauges: Any
    mix: Any
    mix_address: Any


@pasted
def player(address: Any) -> Any:
    """The arrays behind the table at `address`."""
    t = integers(address, PLAYER)
    return Player(
        integers(t[P_SETTINGS], X_SETTINGS),
        floats(t[P_NUMBERS], W_NUMBERS),
        integer_rows(t[P_STAGES], STAGES, STAGE_INTS),
        integer_rows(t[P_INLETS], INLETS, INLET_INTS),
        integers(t[P_JOURNAL], ROWS + 2 * JOURNAL_SIZE),
        integers(t[P_LOG], ROWS + LOG_COLUMNS * LOG_SIZE),
        integers(t[P_GAUGES], GAUGES),
        singles(t[P_MIX], 2 * MIXED),
        t[P_MIX],
    )


@called_by_python
def run_block(table: Any, frames: Any, out: Any, flags: Any, begun: Any) -> None:
    """The next `frames` samples, float32 [frames, channels] at `out`; `begun` is the time of `now()`."""
    if frames <= 0:
        return
    p = player(table)
    if p.settings[X_ORIGIN] == 0:  # the first on this thread
        touch_stack()
    late = follow(p.settings, p.numbers, p.gauges, begun, frames)
    change_instrument(p.settings, p.stages)
    hand_over(p, begun, frames)
    sound(p, frames, out)
    advance(p.settings, p.numbers, frames)
    note_block(p, frames, flags, begun, late)


@native
def hand_over(p: Player, begun: Any, frames: Any) -> None:
    """Give the instruments every event that is due in this block, the earliest first; what they cannot hold waits."""
    sample, end = p.settings[X_CLOCK], p.settings[X_CLOCK] + frames
    for _ in range(f.RING_SIZE):
        first, due = -1, NEVER
        for i in range(INLETS):
            stamp = head(ring_of(p.inlets[i]))
            if stamp < due:
                first, due = i, stamp
        at = place(p.settings, p.numbers, due)
        if first < 0 or at >= end:
            break
        sample = max(sample, at)
        obey_flags(p, first, sample)  # if there are any, they were up before this event came
        if not room(p.stages):
            break
        obey(p, sample, take(ring_of(p.inlets[first])), begun - due > STALE)
        p.gauges[Q_EVENTS] += 1
    for i in range(INLETS):
        obey_flags(p, i, sample)


@native
def obey_flags(p: Player, i: Any, sample: Any) -> None:
    """End the notes whose end found the inlet full."""
    late = late_of(p.inlets[i])
    seen = flagged_since(ring_of(p.inlets[i]), late)
    if seen < 0:
        return
    for channel in range(f.CHANNELS):
        for end in range(f.ENDS):
            message = flagged(late, seen, channel, end)
            if message >= 0:
                obey(p, sample, message, False)


@native
def obey(p: Player, sample: Any, message: Any, stale: Any) -> None:
    """Notes begin on the instrument that is played; all else concerns those that ring out too."""
    status, number, value = message & 0xF0, message >> 8 & 0x7F, message >> 16 & 0x7F
    begins = status == 0x90 and value > 0
    ends = status == 0x80 or (status == 0x90 and value == 0) or (status == 0xB0 and number >= 120)
    if not ends and p.settings[X_LISTEN] >> (message & 0x0F) & 1 == 0:
        return
    if begins and stale:
        p.gauges[Q_STALE] += 1
        return
    for s in range(STAGES):
        state = p.stages[s, G_STATE]
        if state == PLAYED or (state == RINGING and not begins):
            push(p.stages[s, G_TABLE], sample - p.stages[s, G_OFFSET], message)
    row = ROWS + 2 * (p.journal[WRITTEN] & (JOURNAL_SIZE - 1))
    p.journal[row], p.journal[row + 1] = sample, message
    store_release(p.journal, WRITTEN, p.journal[WRITTEN] + 1)


@native
def sound(p: Player, frames: Any, out: Any) -> None:
    """One instrument plays straight to the card, so the samples are those of an offline render; several are mixed."""
    channels, played = p.settings[X_CHANNELS], p.settings[X_PLAYED]
    target, sounding = single_rows(out, frames, channels), 0
    for s in range(STAGES):
        sounding += p.stages[s, G_STATE] != EMPTY
    if sounding == 1 and p.stages[played, G_CHANNELS] == channels:
        play(p.stages[played, G_TABLE], frames, out)
    else:
        for n in range(frames):
            for c in range(channels):
                target[n, c] = 0.0
        for s in range(STAGES):
            if p.stages[s, G_STATE] != EMPTY:
                add(p, s, target)
    for c in range(min(channels, 2)):
        peak = 0.0
        for n in range(frames):
            peak = max(peak, abs(target[n, c]))
        p.numbers[W_PEAK + c] = max(p.numbers[W_PEAK + c], peak)


@native
def add(p: Player, s: Any, target: Any) -> None:
    """Add an instrument to the others; one that rings out leaves when it is silent or cut."""
    stage, frames, done, loudest = p.stages[s], target.shape[0], 0, 0.0
    wide, leaving = stage[G_CHANNELS], int(LEAVING / p.numbers[W_NOMINAL])
    if stage[G_STATE] == RINGING and stage[G_CUT] and stage[G_LEFT] < 0:
        stage[G_LEFT] = leaving
    while done < frames:
        span = min(MIXED, frames - done)
        play(stage[G_TABLE], span, p.mix_address)
        for n in range(span):
            gain = 1.0
            if stage[G_LEFT] >= 0:
                stage[G_LEFT] = max(stage[G_LEFT] - 1, 0)
                gain = stage[G_LEFT] / leaving
            left, right = gain * p.mix[n * wide], gain * p.mix[n * wide + wide - 1]
            loudest = max(loudest, abs(left), abs(right))
            if target.shape[1] == 1:
                add_sample(target, done + n, 0, 0.5 * (left + right))
            else:
                add_sample(target, done + n, 0, left)
                add_sample(target, done + n, 1, right)
        done += span
    if stage[G_STATE] == RINGING and (stage[G_LEFT] == 0 or (loudest < QUIET and silent(stage[G_TABLE]))):
        store_release(stage, G_STATE, EMPTY)  # from here on it is Python's


@inlined
def add_sample(target: Any, n: Any, c: Any, sample: Any) -> None:
    """Each is below the ceiling already: alone it passes as it is, and nothing jumps when the other ends."""
    target[n, c] = min(max(target[n, c] + sample, -CEILING), CEILING)


@native
def note_block(p: Player, frames: Any, flags: Any, begun: Any, late: Any) -> None:
    """Gauges and log for whoever looks on."""
    took, g = now() - begun, p.gauges
    g[Q_BLOCKS] += 1
    g[Q_LONG] += took > frames * p.numbers[W_FRAME]
    g[Q_UNDERFLOWS] += flags & UNDERFLOW != 0
    g[Q_WORST], g[Q_WORST_LATE] = max(g[Q_WORST], took), max(g[Q_WORST_LATE], late)
    g[Q_BUSY] += took
    g[Q_SEEN] = begun
    row = ROWS + LOG_COLUMNS * (p.log[WRITTEN] & (LOG_SIZE - 1))
    p.log[row], p.log[row + 1], p.log[row + 2], p.log[row + 3] = begun, took, frames, late
    store_release(p.log, WRITTEN, p.log[WRITTEN] + 1)
