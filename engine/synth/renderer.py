"""The block renderer: one compiled function that is given an address and a number of samples, and nothing else.

Blocks are cut at events and at ticks of the absolute clock, so a block's size decides nothing that can be heard.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import entry, float_rows, flush_to_zero, native, restore_arithmetic, single_rows
from engine.synth import decimate, idle, output
from engine.synth.control import take_events
from engine.synth.fields import *
from engine.synth.machine import Machine, machine
from engine.synth.ring import head
from engine.synth.voices import glide, look, sound


@entry
def play(table: Any, frames: Any, out: Any) -> None:
    """The next `frames` samples, float32 [frames, channels] at address `out`; nothing keeps them below full scale.

    A file of floats holds them as they are; `output.limit_block` makes them fit for a sound card. Denormal numbers are
    zero in here, whoever calls.
    """
    before = flush_to_zero()
    m = machine(table)
    target = single_rows(out, frames, m.settings[S_CHANNELS])
    done = 0
    while done < frames:
        span = next_span(m, frames - done)
        bring_down(m, span)
        bring_out(m, target[done : done + span])
        done += span
    restore_arithmetic(before)


@native
def finish(m: Machine, target: Any) -> None:
    """m.base through the output stage; where all voices fade or are gone, what its DC blocker holds goes with them."""
    drop, calm, last = m.numbers[N_FADE] * m.settings[S_OVERSAMPLE], 1, m.finished.mean.size - 1
    for v in range(m.settings[S_VOICES]):
        calm &= m.voice_ints[v, V_STATE] == FREE or m.voice_ints[v, V_STATE] == FADING
    if calm == 0:
        m.finished.mean[last] = 1.0 + drop * m.settings[S_LATENCY]  # the fade comes out so much later
        output.finish(m.output, m.finished, m.base[: target.shape[0]], target)
        return
    for n in range(target.shape[0]):
        output.drain(m.finished, drop)
        output.finish(m.output, m.finished, m.base[n : n + 1], target[n : n + 1])


@entry
def play_raw(table: Any, frames: Any, out: Any) -> None:
    """The same before the output stage: float64 [frames * oversample, 2] at the model's rate."""
    m = machine(table)
    per = m.settings[S_OVERSAMPLE]
    target = float_rows(out, frames * per, 2)
    done = 0
    while done < frames:
        span = next_span(m, frames - done)
        for t in range(span * per):
            for side in range(2):
                target[done * per + t, side] = 0.0 if m.settings[S_IDLE] else m.stereo[t, side]
        done += span


@native
def next_span(m: Machine, most: Any) -> Any:
    """Obey what is due, then fill m.stereo up to the next event, the next tick, or `most` samples; how many.

    Not if the instrument is idle: then it is silence that m.stereo should hold.
    """
    take_events(m)
    clock = m.settings[S_CLOCK]
    if clock % TICK == 0 and m.settings[S_IDLE] == 0:
        look_around(m)
    # An event that comes in just now, too late, waits for the next span.
    span = max(min(most, TICK - clock % TICK, head(m.ring) - clock), 1)
    if m.settings[S_IDLE] == 0:
        segment(m, span)
        mix(m, span * m.settings[S_OVERSAMPLE])
    m.settings[S_CLOCK] += span
    return span


@native
def bring_down(m: Machine, span: Any) -> None:
    """m.stereo at the sound card's rate, in m.base."""
    if m.settings[S_IDLE] == 0:
        decimate.run(m.filter, m.filtered, m.stereo[: span * m.settings[S_OVERSAMPLE]], m.base[:span])


@native
def bring_out(m: Machine, target: Any) -> None:
    """m.base through the output stage, into all of `target`."""
    if m.settings[S_IDLE]:
        idle.fill(target)
    else:
        finish(m, target)
        idle.hear(m, target)


@native
def look_around(m: Machine) -> None:
    """Sleep, watchdog and the count of sounding voices; where there are none, perhaps idleness."""
    sounding = 0
    for v in range(m.settings[S_VOICES]):
        if m.voice_ints[v, V_STATE] != FREE:
            look(m, v)
            sounding += m.voice_ints[v, V_STATE] != FREE
    m.meters[M_SOUNDING] = sounding
    m.meters[M_MOST] = max(m.meters[M_MOST], sounding)
    idle.look(m, sounding)


@native
def segment(m: Machine, span: Any) -> None:
    """All voices over a span that no event and no tick interrupts; moving ones in steps of their glide."""
    per, clock, pickups = m.settings[S_OVERSAMPLE], m.settings[S_CLOCK], m.settings[S_PICKUPS]
    for t in range(span * per):
        for p in range(pickups):
            m.bus[t, p] = 0.0
        m.stereo[t, 0] = m.stereo[t, 1] = 0.0
    for v in range(m.settings[S_VOICES]):
        at = 0
        while at < span and m.voice_ints[v, V_STATE] != FREE:
            piece = span - at
            if m.voice_ints[v, V_MOVING]:
                age = (clock + at + 1 - m.voice_ints[v, V_MOVING]) % GLIDE
                if age == 0:
                    glide(m, v)
                piece = min(piece, GLIDE - age)
            sound(m, v, at * per, piece * per)
            at += piece


@native
def mix(m: Machine, steps: Any) -> None:
    """The bus's pickups as stereo: a velocity is the difference of its displacement (pan and kind are in m.pans).

    Where channels have strips, each voice has done this for itself.
    """
    pickups, rate = m.settings[S_PICKUPS], m.numbers[N_RATE]
    if m.settings[S_APART]:
        return
    for t in range(steps):
        left = right = 0.0
        for p in range(pickups):
            value = m.bus[t, p]
            if m.pans[p, 2] != 0.0:
                value, m.last[p] = (value - m.last[p]) * rate, value
            left += m.pans[p, 0] * value
            right += m.pans[p, 1] * value
        m.stereo[t, 0], m.stereo[t, 1] = left, right
