"""Channel strips, as on a mixing desk: MIDI's volume, expression and pan, on the sound of each channel's voices.

A strip that has never been moved costs nothing: then all pickups of all voices are summed on one bus (renderer.mix).
Once one has, every voice goes through its own. A voice begins where its strip stands and glides from there.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from engine import messages as midi
from engine.compiled import inlined, native
from engine.elementary import sin
from engine.synth.memory import BY_EXPRESSION, BY_PAN, BY_VOLUME, CHANNELS, FREE, UNMOVED, Machine
from engine.synth.zones import position

TURN = 10e-3  # s from one position to the next: no step is heard, and none of the pace is lost
# Gains are squares of positions (General MIDI's 40 log10), and unity where General MIDI has them after a reset.
FULL_VOLUME, FULL_EXPRESSION = 100.0, 127.0
CENTRE = 64.0
LONG_AGO = -(1 << 40)  # samples


@native
def moved(m: Machine, channel: int) -> int:
    """Which of BY_... stand where they change the sound of a channel's notes."""
    volume, expression = position(m, channel, midi.VOLUME), position(m, channel, midi.EXPRESSION)
    pan = position(m, channel, midi.PAN)
    found = BY_VOLUME if volume not in (UNMOVED, FULL_VOLUME) else 0
    found |= BY_EXPRESSION if expression not in (UNMOVED, FULL_EXPRESSION) else 0
    return found | (BY_PAN if pan not in (UNMOVED, CENTRE) else 0)


@native
def sides(m: Machine, channel: int) -> tuple[float, float]:
    """Gains left and right to which a channel's controllers point.

    Pan goes at equal power from hard left (0 and 1) through the middle (64, unity) to hard right (127), as RP-036 has
    it; it weighs the sides of what the preset's pickups make, as a mixing desk's balance does.
    """
    told = moved(m, channel) & m.strip
    gain = left = right = 1.0
    if told & BY_VOLUME:
        share = position(m, channel, midi.VOLUME) / FULL_VOLUME
        gain *= share * share
    if told & BY_EXPRESSION:
        share = position(m, channel, midi.EXPRESSION) / FULL_EXPRESSION
        gain *= share * share
    if told & BY_PAN:
        to_the_right = max(position(m, channel, midi.PAN) - 1.0, 0.0) / 126.0
        left = sqrt(2.0) * sin(0.5 * pi * (1.0 - to_the_right))
        right = sqrt(2.0) * sin(0.5 * pi * to_the_right)
    return gain * left, gain * right


@native
def turn_all(m: Machine) -> None:
    """Controllers have moved: have every voice glide to where they now point."""
    for channel in range(CHANNELS):
        m.channels[channel].strip |= moved(m, channel)
    choose_path(m)
    for v in range(m.voices.size):
        if m.voices[v].state != FREE or v >= m.slots:  # behind them, the body that they share
            turn(m, v)


@native
def choose_path(m: Machine) -> None:
    """Whether voices go through strips; that depends on nothing but what channels have been told."""
    told = 0
    for channel in range(CHANNELS):
        told |= m.channels[channel].strip
    m.apart = 1 if told & m.strip else 0


@native
def begin(m: Machine, v: int) -> None:
    """A new voice stands where its strip points."""
    voice = m.voices[v]
    voice.left, voice.right = sides(m, voice.channel)
    voice.next_left, voice.next_right = voice.left, voice.right
    voice.turned = LONG_AGO


@native
def turn(m: Machine, v: int) -> None:
    """Have a voice glide from where it is."""
    voice = m.voices[v]
    left, right = sides(m, voice.channel)
    if voice.next_left == left and voice.next_right == right:
        return
    share = turned(m, (m.clock - voice.turned) * m.oversample)
    voice.left = between(voice.left, voice.next_left, share)
    voice.right = between(voice.right, voice.next_right, share)
    voice.next_left, voice.next_right = left, right
    voice.turned = m.clock


@native
def turned(m: Machine, age: int) -> float:
    """Share of its way that a voice has turned, so many model steps after it began; without corners."""
    share = min(age / m.turn, 1.0)
    return share * share * (3.0 - 2.0 * share)


@native
def between(one: float, other: float, share: float) -> float:
    """At share 0 the one, at 1 the other, exactly."""
    return (1.0 - share) * one + share * other


@inlined
def add(m: Machine, v: int, row: int) -> None:
    """Add what a voice's pickups have in a row of m.out: to the bus, or through its strip to both sides."""
    out, bus = m.out[row, : m.voices[v].sounded], m.bus
    if m.apart:
        add_to_sides(m, v, out)
    else:
        for p in range(m.pickups):
            for t in range(out.shape[0]):
                bus[t, p] += out[t, p]


@native
def add_to_sides(m: Machine, v: int, out: Any) -> None:
    """What `mix` does to the bus, of one voice, at the gains of its strip from step to step."""
    voice, ears, stereo = m.voices[v], m.ears, m.stereo
    age = (m.clock - voice.turned) * m.oversample
    left, right, turning = voice.next_left, voice.next_right, age < m.turn
    for t in range(out.shape[0]):
        if turning:
            share = turned(m, age + t + 1)
            left = between(voice.left, voice.next_left, share)
            right = between(voice.right, voice.next_right, share)
        x = y = 0.0
        for p in range(ears.size):
            x += ears[p].left * out[t, p]
            y += ears[p].right * out[t, p]
        stereo[t, 0] += left * x
        stereo[t, 1] += right * y
