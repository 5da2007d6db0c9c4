"""The block renderer: one compiled function that is given an address and a number of samples, and nothing else.

Blocks are cut at events and at ticks of the absolute clock, so a block's size decides nothing that can be heard.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import entry, flush_to_zero, native, restore_arithmetic, single_rows
from engine.opened import address
from engine.synth import bridged, circuit, decimate, idle, output, room
from engine.synth.control import take_events
from engine.synth.crew import gather, is_held, is_ours, share
from engine.synth.crossing import leaves
from engine.synth.memory import FADING, FREE, TICK, Machine, machine
from engine.synth.ring import head
from engine.synth.strips import add
from engine.synth.strum import next_due
from engine.synth.voices import look, perform


@entry
def play(address: Any, frames: Any, out: Any) -> None:
    """The next `frames` samples, float32 [frames, channels] at address `out`; nothing keeps them below full scale.

    A file of floats holds them as they are; `output.limit_block` makes them fit for a sound card. Denormal numbers are
    zero in here, whoever calls.
    """
    before, m = flush_to_zero(), machine(address)
    target = single_rows(out, frames, m.outputs)
    done = 0
    while done < frames:
        span = next_span(m, frames - done)
        bring_down(m, span)
        bring_out(m, target[done : done + span])
        done += span
    restore_arithmetic(before)


@native
def next_span(m: Machine, most: int) -> int:
    """Obey what is due, then fill m.stereo up to the next event, the next tick, or `most` samples; how many.

    Not if the instrument is idle: then it is silence that m.stereo should hold.
    """
    if is_held(m):
        return stand_still(m, most)
    take_events(m)
    clock = m.clock
    if clock % TICK == 0 and m.idle == 0:
        look_around(m)
    # An event that comes in just now, too late, waits for the next span.
    span = max(min(most, TICK - clock % TICK, head(m.ring) - clock, next_due(m) - clock), 1)
    if m.idle == 0:
        segment(m, span)
        mix(m, span * m.oversample)
    m.clock += span
    return span


@native
def bring_down(m: Machine, span: int) -> None:
    """m.stereo through the circuit behind the pickups and at the sound card's rate, in m.base."""
    if m.idle == 0:
        circuit.run(m.wiring, m.passing, m.stereo[: span * m.oversample])
        decimate.run(m.filter, m.filtered, m.stereo[: span * m.oversample], m.base[:span])


@native
def bring_out(m: Machine, target: Any) -> None:
    """m.base through the output stage, into all of `target`."""
    if m.idle:
        idle.fill(target)
    else:
        if m.room.lines.size:
            room.add(address(m.room), m.base[: target.shape[0]])
        finish(m, target)
        idle.hear(m, target)


@native
def finish(m: Machine, target: Any) -> None:
    """m.base through the output stage; where all voices fade or are gone, what its DC blocker holds goes with them."""
    drop, state, base = m.fade * m.oversample, m.finished, m.base
    leaving = leaves(m) and m.room.awake == 0
    calm = leaving or not rings(m)
    for v in range(m.slots):
        calm &= m.voices[v].state == FREE or m.voices[v].state == FADING or leaving
    if not calm:
        state.mean[state.mean.size - 1] = 1.0 + drop * m.latency  # the fade comes out so much later
        output.finish(m.finish, state, base[: target.shape[0]], target)
        return
    for n in range(target.shape[0]):
        output.drain(state, drop)
        output.finish(m.finish, state, base[n : n + 1], target[n : n + 1])


@native
def rings(m: Machine) -> bool:
    """Whether anything does beside voices: what they stand on, the room that they are in."""
    return bridged.rings(m) or m.room.awake != 0


@native
def look_around(m: Machine) -> None:
    """Sleep, watchdog and the count of sounding voices; where there are none, perhaps idleness."""
    sounding = 0
    if m.joint:
        sounding = bridged.look_around(m)
    for v in range(0 if m.joint else m.slots):
        if m.voices[v].state != FREE:
            look(m, v)
            sounding += m.voices[v].state != FREE
    m.meters.sounding = sounding
    m.meters.most = max(m.meters.most, sounding)
    room.look(m.room, TICK, sounding + bridged.rings(m))
    idle.look(m, sounding + rings(m) + m.room.falling)


@native
def segment(m: Machine, span: int) -> None:
    """All voices over a span that no event and no tick interrupts."""
    clear(m, span)
    if m.joint:
        bridged.segment(m, span)
        return
    shared, v = share(m, span), 0
    while is_ours(m, v, shared):
        perform(m, v, span, 0)
        add(m, v, 0)
        v += 1
    if shared:
        gather(m, v)


@native
def clear(m: Machine, span: int) -> None:
    """Nothing on the bus."""
    bus, stereo = m.bus, m.stereo
    for t in range(span * m.oversample):
        for p in range(m.pickups):
            bus[t, p] = 0.0
        stereo[t, 0] = stereo[t, 1] = 0.0


@native
def stand_still(m: Machine, most: int) -> int:
    """Silence, while somebody else has the voices in hand; events wait."""
    span = min(most, TICK - m.clock % TICK)
    clear(m, span)
    m.clock += span
    return span


@native
def mix(m: Machine, steps: int) -> None:
    """The bus's pickups as stereo; where channels have strips, each voice has done this for itself."""
    if m.apart:
        return
    bus, ears, stereo = m.bus, m.ears, m.stereo
    for t in range(steps):
        left = right = 0.0
        for p in range(ears.size):
            left += ears[p].left * bus[t, p]
            right += ears[p].right * bus[t, p]
        stereo[t, 0], stereo[t, 1] = left, right
