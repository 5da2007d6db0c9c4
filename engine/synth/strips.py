"""Channel strips, as on a mixing desk: MIDI's volume, expression and pan, on the sound of each channel's voices.

A strip that has never been moved costs nothing: then all pickups of all voices are summed on one bus (renderer.mix).
Once one has, every voice goes through its own, behind the difference that makes a velocity of a displacement: before
it, a gain that moves would be heard as such. A voice begins where its strip stands and glides from there.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from engine import messages as midi
from engine.compiled import floats, inlined, native
from engine.synth.fields import *
from engine.synth.machine import Machine
from engine.synth.zones import position

TURN = 10e-3  # s from one position to the next: no step is heard, and none of the pace is lost
# Gains are squares of positions (General MIDI's 40 log10), and unity where General MIDI has them after a reset.
FULL_VOLUME, FULL_EXPRESSION = 100, 127
CENTRE = 64
LONG_AGO = -(1 << 40)  # samples


@native
def moved(m: Machine, channel: Any) -> Any:
    """Which of BY_... stand where they change the sound of a channel's notes."""
    volume, expression = position(m, channel, midi.VOLUME), position(m, channel, midi.EXPRESSION)
    pan = position(m, channel, midi.PAN)
    found = BY_VOLUME if volume not in (UNMOVED, FULL_VOLUME) else 0
    found |= BY_EXPRESSION if expression not in (UNMOVED, FULL_EXPRESSION) else 0
    return found | (BY_PAN if pan not in (UNMOVED, CENTRE) else 0)


@native
def sides(m: Machine, channel: Any) -> Any:
    """Gains left and right to which a channel's controllers point.

    Pan goes at equal power from hard left (0 and 1) through the middle (64, unity) to hard right (127), as RP-036 has
    it; it weighs the sides of what the preset's pickups make, as a mixing desk's balance does.
    """
    told = moved(m, channel) & m.settings[S_STRIP]
    gain = left = right = 1.0
    if told & BY_VOLUME:
        share = position(m, channel, midi.VOLUME) / FULL_VOLUME
        gain *= share * share
    if told & BY_EXPRESSION:
        share = position(m, channel, midi.EXPRESSION) / FULL_EXPRESSION
        gain *= share * share
    if told & BY_PAN:
        to_the_right = max(position(m, channel, midi.PAN) - 1, 0) / 126.0
        left = sqrt(2.0) * np.sin(0.5 * pi * (1.0 - to_the_right))
        right = sqrt(2.0) * np.sin(0.5 * pi * to_the_right)
    return gain * left, gain * right


@native
def turn_all(m: Machine) -> None:
    """Controllers have moved: have every voice glide to where they now point."""
    for channel in range(CHANNELS):
        m.channels[channel, C_STRIP] |= moved(m, channel)
    choose_path(m)
    for v in range(m.settings[S_VOICES]):
        if m.voice_ints[v, V_STATE] != FREE:
            turn(m, v)


@native
def choose_path(m: Machine) -> None:
    """Whether voices go through strips; that depends on nothing but what channels have been told."""
    told = 0
    for channel in range(CHANNELS):
        told |= m.channels[channel, C_STRIP]
    m.settings[S_APART] = told & m.settings[S_STRIP] != 0


@native
def begin(m: Machine, v: Any) -> None:
    """A new voice stands where its strip points, and has not been heard yet."""
    own, heard = m.voice_floats[v], floats(m.voice_ints[v, V_HEARD], m.settings[S_PICKUPS])
    own[F_LEFT], own[F_RIGHT] = sides(m, m.voice_ints[v, V_CHANNEL])
    own[F_NEXT_LEFT], own[F_NEXT_RIGHT] = own[F_LEFT], own[F_RIGHT]
    m.voice_ints[v, V_TURNED] = LONG_AGO
    for p in range(heard.size):
        heard[p] = 0.0


@native
def turn(m: Machine, v: Any) -> None:
    """Have a voice glide from where it is."""
    own, voice = m.voice_floats[v], m.voice_ints[v]
    left, right = sides(m, voice[V_CHANNEL])
    if own[F_NEXT_LEFT] == left and own[F_NEXT_RIGHT] == right:
        return
    share = turned(m, (m.settings[S_CLOCK] - voice[V_TURNED]) * m.settings[S_OVERSAMPLE])
    own[F_LEFT] = between(own[F_LEFT], own[F_NEXT_LEFT], share)
    own[F_RIGHT] = between(own[F_RIGHT], own[F_NEXT_RIGHT], share)
    own[F_NEXT_LEFT], own[F_NEXT_RIGHT] = left, right
    voice[V_TURNED] = m.settings[S_CLOCK]


@native
def turned(m: Machine, age: Any) -> Any:
    """Share of its way that a voice has turned, so many model steps after it began; without corners."""
    share = min(age / m.numbers[N_TURN], 1.0)
    return share * share * (3.0 - 2.0 * share)


@native
def between(one: Any, other: Any, share: Any) -> Any:
    """At share 0 the one, at 1 the other, exactly."""
    return (1.0 - share) * one + share * other


@inlined
def add(m: Machine, v: Any, first: Any, steps: Any) -> None:
    """Add what a voice's pickups have in m.out: to the bus, or through its strip to both sides."""
    pickups, heard = m.settings[S_PICKUPS], floats(m.voice_ints[v, V_HEARD], m.settings[S_PICKUPS])
    if m.settings[S_APART]:
        add_to_sides(m, v, first, steps)
    else:
        for t in range(steps):
            for p in range(pickups):
                m.bus[first + t, p] += m.out[t, p]
    for p in range(pickups):
        heard[p] = m.out[steps - 1, p]


@native
def add_to_sides(m: Machine, v: Any, first: Any, steps: Any) -> None:
    """What `mix` does to the bus, of one voice, at the gains of its strip from step to step."""
    own, voice, rate = m.voice_floats[v], m.voice_ints[v], m.numbers[N_RATE]
    heard = floats(voice[V_HEARD], m.settings[S_PICKUPS])
    age = (m.settings[S_CLOCK] - voice[V_TURNED]) * m.settings[S_OVERSAMPLE] + first
    left, right, turning = own[F_NEXT_LEFT], own[F_NEXT_RIGHT], age < m.numbers[N_TURN]
    for t in range(steps):
        if turning:
            share = turned(m, age + t + 1)
            left = between(own[F_LEFT], own[F_NEXT_LEFT], share)
            right = between(own[F_RIGHT], own[F_NEXT_RIGHT], share)
        x = y = 0.0
        for p in range(heard.size):
            value = m.out[t, p]
            if m.pans[p, 2] != 0.0:
                value, heard[p] = (value - heard[p]) * rate, value
            x += m.pans[p, 0] * value
            y += m.pans[p, 1] * value
        m.stereo[first + t, 0] += left * x
        m.stereo[first + t, 1] += right * y
