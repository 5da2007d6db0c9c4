"""One block of live sound: events find their sample, instruments play, gauges are written.

`run_block` is all that the audio thread does. It is given the player's table, a place for the samples and the time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.compiled import (
    floats,
    integer_rows,
    integers,
    load_acquire,
    native,
    now,
    pasted,
    single_rows,
    singles,
    store_release,
)
from engine.live.fields import *
from engine.live.inlet import late_of, ring_of
from engine.synth import fields as f
from engine.synth.output import CEILING
from engine.synth.renderer import play
from engine.synth.ring import NEVER, flagged, flagged_since, head, push, take

UNDERFLOW = 0x4  # PortAudio's flag: the card ran dry before this block
BANDWIDTH = 1.0  # Hz, of the loop that follows the sound card's clock
MOST_DRIFT = 0.02  # by which a sound card's clock may be wrong
LEAVING = 4096  # samples in which an instrument that is no longer wanted fades out
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


@native
def run_block(table: Any, frames: Any, out: Any, flags: Any, begun: Any) -> None:
    """The next `frames` samples, float32 [frames, channels] at `out`; `begun` is the time of `now()`."""
    p = player(table)
    late = follow(p, begun, frames)
    change_instrument(p)
    hand_over(p, begun, frames)
    sound(p, frames, out)
    p.settings[X_CLOCK] += frames
    note_block(p, frames, flags, begun, late)


@native
def follow(p: Player, begun: Any, frames: Any) -> Any:
    """Keep W_NEXT at the time when the block ought to have begun, and return by how many ns it was late.

    Blocks begin with a jitter that the sound card's clock does not have: a delay-locked loop of second order (F.
    Adriaensen, "Using a DLL to filter time", 2005) finds the clock behind it. Events are placed by that.
    """
    w = p.numbers
    if p.settings[X_ORIGIN] == 0:
        p.settings[X_ORIGIN] = begun
        w[W_NEXT], w[W_FRAME] = 0.0, w[W_NOMINAL]
    arrived, period = float(begun - p.settings[X_ORIGIN]), frames * w[W_FRAME]
    late = arrived - w[W_NEXT]
    if abs(late) > max(w[W_SLACK], period):
        if late > 0.0:
            p.gauges[Q_LOST] += max(int(late / period), 1)
        w[W_NEXT] = arrived
    else:
        turn = 2.0 * 3.141592653589793 * BANDWIDTH * period * 1e-9
        w[W_NEXT] += 1.4142135623730951 * turn * late
        rate = w[W_FRAME] + turn * turn * late / frames
        w[W_FRAME] = min(max(rate, w[W_NOMINAL] * (1.0 - MOST_DRIFT)), w[W_NOMINAL] * (1.0 + MOST_DRIFT))
    return int(late)


@native
def change_instrument(p: Player) -> None:
    """Take the stage that Python has prepared, with pedals and wheels as they are; the other rings out."""
    wanted, played = load_acquire(p.settings, X_NEXT), p.settings[X_PLAYED]
    if wanted == played:
        return
    if played >= 0:
        p.stages[played, G_STATE] = RINGING
        before, after = channels_of(p.stages[played, G_TABLE]), channels_of(p.stages[wanted, G_TABLE])
        for c in range(f.CHANNELS):
            for i in range(f.CHANNEL_INTS):
                after[c, i] = before[c, i]
    p.stages[wanted, G_OFFSET] = p.settings[X_CLOCK]
    p.stages[wanted, G_STATE] = PLAYED
    p.settings[X_PLAYED] = wanted


@pasted
def channels_of(table: Any) -> Any:
    return integer_rows(integers(table, f.TABLE)[f.T_CHANNELS], f.CHANNELS, f.CHANNEL_INTS)


@native
def hand_over(p: Player, begun: Any, frames: Any) -> None:
    """Give the instruments every event that is due in this block, the earliest first."""
    clock = p.settings[X_CLOCK]
    for i in range(INLETS):
        obey_flags(p, i)
    while True:
        first, due = -1, NEVER
        for i in range(INLETS):
            stamp = head(ring_of(p.inlets[i]))
            if stamp < due:
                first, due = i, stamp
        if first < 0:
            return
        sample = place(p, due)
        if sample >= clock + frames:
            return
        message = take(ring_of(p.inlets[first]))
        obey(p, max(sample, clock), message, begun - due > STALE)
        obey_flags(p, first)


@native
def place(p: Player, stamp: Any) -> Any:
    """The sample on which an event sounds that came at `stamp`: always the same time later."""
    since = (float(stamp - p.settings[X_ORIGIN]) - p.numbers[W_NEXT]) / p.numbers[W_FRAME]  # this block was due
    return p.settings[X_CLOCK] + int(since // 1.0) + p.settings[X_DELAY]


@native
def obey_flags(p: Player, i: Any) -> None:
    """End the notes whose end found the inlet full."""
    late = late_of(p.inlets[i])
    seen = flagged_since(ring_of(p.inlets[i]), late)
    if seen < 0:
        return
    for channel in range(f.CHANNELS):
        for end in range(f.ENDS):
            message = flagged(late, seen, channel, end)
            if message >= 0:
                obey(p, p.settings[X_CLOCK], message, False)


@native
def obey(p: Player, sample: Any, message: Any, stale: Any) -> None:
    """Notes begin on the instrument that is played; all else concerns those that ring out too."""
    if p.settings[X_LISTEN] >> (message & 0x0F) & 1 == 0:
        return
    begins = message & 0xF0 == 0x90 and message >> 16 & 0x7F > 0
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
    p.gauges[Q_EVENTS] += 1


@native
def sound(p: Player, frames: Any, out: Any) -> None:
    """One instrument plays straight to the card, so the samples are those of an offline render; several are mixed."""
    channels, played = p.settings[X_CHANNELS], p.settings[X_PLAYED]
    target, sounding = single_rows(out, frames, channels), 0
    for s in range(STAGES):
        sounding += p.stages[s, G_STATE] != EMPTY
    if sounding == 1 and played >= 0 and p.stages[played, G_CHANNELS] == channels:
        play(p.stages[played, G_TABLE], frames, out)
    else:
        for n in range(frames):
            for c in range(channels):
                target[n, c] = 0.0
        for s in range(STAGES):
            if p.stages[s, G_STATE] != EMPTY:
                add(p, s, target)
    for n in range(frames):
        for c in range(min(channels, 2)):
            p.numbers[W_PEAK + c] = max(p.numbers[W_PEAK + c], abs(target[n, c]))


@native
def add(p: Player, s: Any, target: Any) -> None:
    """Add an instrument to the first channels of the card; one that rings out leaves when it is silent or cut."""
    stage, frames, done = p.stages[s], target.shape[0], 0
    wide = stage[G_CHANNELS]
    if stage[G_STATE] == RINGING and stage[G_CUT] and stage[G_LEFT] < 0:
        stage[G_LEFT] = LEAVING
    while done < frames:
        span = min(MIXED, frames - done)
        play(stage[G_TABLE], span, p.mix_address)
        for n in range(span):
            gain = 1.0
            if stage[G_LEFT] >= 0:
                stage[G_LEFT] = max(stage[G_LEFT] - 1, 0)
                gain = stage[G_LEFT] / LEAVING
            for c in range(min(wide, target.shape[1])):
                total = target[done + n, c] + gain * p.mix[n * wide + c]
                # Each is below the ceiling already: alone it passes as it is, and nothing jumps when the other ends.
                target[done + n, c] = min(max(total, -CEILING), CEILING)
        done += span
    if stage[G_STATE] == RINGING and (stage[G_LEFT] == 0 or silent(stage[G_TABLE])):
        store_release(stage, G_STATE, EMPTY)


@native
def silent(table: Any) -> Any:
    """No string of the instrument moves, and nothing waits to be obeyed."""
    t = integers(table, f.TABLE)
    voices = integers(t[f.T_SETTINGS], f.SETTINGS)[f.S_VOICES]
    rows = integer_rows(t[f.T_VOICE_INTS], voices, f.VOICE_INTS)
    busy = head(integers(t[f.T_RING], f.R_ROWS + 2 * f.RING_SIZE)) != NEVER
    for v in range(voices):
        busy |= rows[v, f.V_STATE] != f.FREE
    return not busy


@native
def note_block(p: Player, frames: Any, flags: Any, begun: Any, late: Any) -> None:
    """Gauges and log for whoever looks on, and the time when the next block is due."""
    took, period = now() - begun, frames * p.numbers[W_FRAME]
    p.numbers[W_NEXT] += period
    g = p.gauges
    g[Q_BLOCKS] += 1
    g[Q_LONG] += took > period
    g[Q_UNDERFLOWS] += flags & UNDERFLOW != 0
    g[Q_WORST], g[Q_WORST_LATE] = max(g[Q_WORST], took), max(g[Q_WORST_LATE], late)
    g[Q_BUSY] += took
    g[Q_SEEN] = begun
    row = ROWS + LOG_COLUMNS * (p.log[WRITTEN] & (LOG_SIZE - 1))
    p.log[row], p.log[row + 1], p.log[row + 2], p.log[row + 3] = begun, took, frames, late
    store_release(p.log, WRITTEN, p.log[WRITTEN] + 1)
