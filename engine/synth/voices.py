"""One voice: a string that is plucked, glides to new tension, damping and barrier height, rings and falls asleep."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine import messages as midi
from engine.compiled import inlined, native
from engine.elementary import exp2, power
from engine.physics.excitation import EDGE, add_pulse
from engine.synth import network_string, pickups, room, strings, strips, zones
from engine.synth.memory import (
    AS_DESIGNED,
    FADING,
    FREE,
    GLIDE,
    HELD,
    PRESSURE,
    PULSES,
    RELEASED,
    UNMOVED,
    KeyRow,
    Machine,
)
from engine.synth.movable import (
    TO_BEND,
    TO_DURATION,
    TO_FIRST,
    TO_FOURTH,
    TO_GAIN,
    TO_HEIGHT,
    TO_LOSS,
    TO_POSITION,
    TO_SECOND,
    TO_THIRD,
    Target,
)

SILENCE = 1e-10  # of the most kinetic energy a note had: 100 dB down
CALM = 32  # looks in a row at a string so slow; a string that swings is slow only where it turns round
UPRISING = 1e-6  # share by which rounding may raise the energy of a string left alone
SAME = 1e-9  # semitones: what rounding makes of a pitch in hertz
SETTLED = 1e-4  # semitones, or shares of a target, that end a glide


@native
def begin(m: Machine, v: int, place: int, key: int, channel: int) -> None:
    """Take a free slot: the key's string at rest, at the channel's tension and barrier height."""
    voice, string = m.voices[v], m.keys[place]
    m.idle = 0
    room.wake(m.room)
    voice.state, voice.key, voice.place, voice.channel = HELD, key, place, channel
    voice.sostenuto = voice.forced = voice.calm = voice.rising = voice.pressed = 0
    for p in range(PULSES):
        voice.ages[p] = -1
    voice.tuned = departure(m, key)
    voice.semitones = aimed_pitch(m, v)
    # A barrier that would press on the string goes on from where it touches: in no time it would be a blow.
    voice.damping, voice.lift = 0.0, 0.0
    voice.next_lift = min(aimed(m, v, TO_HEIGHT), string.gap)
    voice.gain = voice.next_gain = aimed(m, v, TO_GAIN)
    voice.fade, voice.energy, voice.peak = 1.0, 0.0, 0.0
    voice.tension = bent(string, voice.semitones)
    strips.begin(m, v)
    pickups.begin(m, v)
    strings.take_over(m, v)
    strings.refit(m, v)
    strings.rest(m, v)
    lift(m, v)
    voice.moving = 0
    set_moving(m, v)


@native
def set_moving(m: Machine, v: int) -> None:
    """Have a voice glide, from this very sample on; one that already does keeps its pace."""
    if m.voices[v].moving == 0:
        m.voices[v].moving = 1 + m.clock % GLIDE


@native
def departure(m: Machine, key: int) -> float:
    """Semitones by which MIDI's tuning standard has moved a key away from its design."""
    if m.tuned[key] == AS_DESIGNED:
        return 0.0
    semitones = m.tuned[key] / 16384.0 - m.keys[key].pitch
    return semitones if abs(semitones) > SAME else 0.0


@native
def bent(key: KeyRow, semitones: float) -> float:
    """Tension that raises the first mode by so many semitones: its square goes with T + EI b^2."""
    stiffening = key.stiffening
    if semitones == 0.0:
        return key.tension
    ratio = exp2(semitones / 12.0)
    tension = ratio * ratio * (key.tension + stiffening) - stiffening
    return min(max(tension, 0.02 * key.tension), key.highest)


@native
def lift(m: Machine, v: int) -> None:
    """Move the barrier to where it is to be next; the work is done by whoever moves it."""
    voice = m.voices[v]
    by = voice.next_lift - voice.lift
    if by == 0.0:
        return
    voice.lift = voice.next_lift
    work_on(m, v)
    strings.lift(m, v, by)


@inlined
def work_on(m: Machine, v: int) -> None:
    """A hand works on the string, perhaps since the last look: a rise of its energy then is no fault."""
    if m.voices[v].forced == 0:
        m.voices[v].forced = 2


@native
def aimed(m: Machine, v: int, target: Target) -> float:
    """What the controllers of a voice's channel, and its key's pressure, make of a mapped parameter."""
    return asked(m, m.voices[v].channel, m.voices[v].pressed, target)


@native
def asked(m: Machine, channel: int, pressed: int, target: Target) -> float:
    """The same of a channel, and of a key that is pressed (Voice.pressed)."""
    value, maps = target.neutral, m.maps
    for r in range(maps.size):
        if maps[r].target == target.number:
            at = zones.position(m, channel, maps[r].controller)
            if pressed and maps[r].controller == PRESSURE:
                at = pressed - 1.0
            if at != UNMOVED:
                value = maps[r].low + (maps[r].high - maps[r].low) * at / 127.0
    return value


@native
def aimed_pitch(m: Machine, v: int) -> float:
    """Semitones above the key: by wheels, by its tuning, by what is mapped to the bend."""
    voice = m.voices[v]
    return zones.bend(m, voice.channel) + voice.tuned + 0.01 * (m.bend + aimed(m, v, TO_BEND))


@native
def aimed_damping(m: Machine, v: int) -> float:
    """Added decay rate, 1/s: a released key's damper, as far as the pedals let it down, and what is mapped to it."""
    voice = m.voices[v]
    key, damping = m.keys[voice.place], 0.0
    if voice.state == RELEASED and voice.sostenuto == 0:
        pedal = zones.pressed(m, voice.channel, midi.SUSTAIN) / 127.0
        damping = key.release * (1.0 - pedal) * (1.0 - pedal)
    return max(damping + aimed(m, v, TO_LOSS), key.mildest)


@native
def pluck(m: Machine, v: int, velocity: int) -> None:
    """What sounds a string, on top of whatever it does."""
    key, moved = m.keys[m.voices[v].place], aimed(m, v, TO_POSITION)
    at = key.position if moved == 1.0 else min(max(moved * key.position, EDGE), 1.0 - EDGE)
    p = strike(m, v, velocity, 1.0, at)
    if m.joint:
        network_string.excite(m, v, p, m.voices[v].forces[p], m.voices[v].lengths[p])


@native
def strike(m: Machine, v: int, velocity: int, share: float, at: float) -> int:
    """A pulse with a share of the force that a pluck has, at a place of the string; its number."""
    voice = m.voices[v]
    channel, key, ages = voice.channel, m.keys[voice.place], voice.ages
    oldest = 0
    for p in range(PULSES):
        if ages[p] < 0:
            oldest = p
            break
        if ages[p] > ages[oldest]:
            oldest = p
    loud = velocity * 0.01
    soft = 1.0 - 0.4 * (zones.pressed(m, channel, midi.SOFT) >= 64)
    force = share * key.force * power(loud, m.force_power) * soft
    duration = key.duration * aimed(m, v, TO_DURATION) * power(loud, m.duration_power) / soft
    voice.forces[oldest] = force
    voice.lengths[oldest] = max(duration * m.rate, 2.0)
    ages[oldest] = 0
    voice.forced = 1
    if m.joint:
        draw(m, v, oldest)
    strings.strike_at(m, v, at)
    return oldest


@native
def draw(m: Machine, v: int, p: int) -> None:
    """Which strings a pluck meets: those whose register is drawn as it begins. Nothing strikes the body yet."""
    c = network_string.of_voice(m, v)
    c.knocked[p] = 0.0
    for n in range(c.strands.size):
        if c.register[n]:
            moved = m.registers[c.register[n] - 1] + by_register(m, v, c.register[n])
            c.drawn[p, n] = min(max(moved, 0.0), 1.0)


@native
def by_register(m: Machine, v: int, register: int) -> float:
    """How much further a register is drawn than the preset says."""
    if register == 1:
        return aimed(m, v, TO_FIRST)
    if register == 2:
        return aimed(m, v, TO_SECOND)
    return aimed(m, v, TO_THIRD) if register == 3 else aimed(m, v, TO_FOURTH)


@native
def glide(m: Machine, v: int) -> None:
    """One step of tension, damping, barrier height and gain towards where the player wants them."""
    voice, share = m.voices[v], m.glide
    semitones, damping = aimed_pitch(m, v), aimed_damping(m, v)
    height, gain = aimed(m, v, TO_HEIGHT), aimed(m, v, TO_GAIN)
    moving, retuned = 0, 0
    if voice.semitones != semitones:
        moving, retuned = 1, 1
        voice.semitones = nearer(voice.semitones, semitones, share, SETTLED)
        voice.tension = bent(m.keys[voice.place], voice.semitones)
    if voice.damping != damping:
        moving, retuned = 1, 1
        voice.damping = nearer(voice.damping, damping, share, SETTLED * (1.0 + abs(damping)))
    if voice.lift != height:
        moving = 1
        voice.next_lift = nearer(voice.lift, height, share, 1e-9)
    voice.gain = voice.next_gain
    if voice.gain != gain:
        moving = 1
        voice.next_gain = nearer(voice.gain, gain, share, SETTLED * gain)
    if retuned:
        strings.refit(m, v)
    if not moving:
        voice.moving = 0
    else:
        work_on(m, v)


@inlined
def nearer(at: float, goal: float, share: float, near: float) -> float:
    """A share of the way to a goal; all of it where it is near."""
    way = goal - at
    return goal if abs(way) < near else at + share * way


@native
def force_of(m: Machine, v: int, force: Any) -> None:
    """The plucks' force over the next model steps."""
    voice, steps = m.voices[v], force.size
    for t in range(steps):
        force[t] = 0.0
    if voice.forced == 0:
        return
    going, ages = 0, voice.ages
    for p in range(PULSES):
        age = ages[p]
        if age < 0:
            continue
        length = voice.lengths[p]
        # The force at the very onset is zero: a note's first step is the one after, so it sounds at once.
        add_pulse(m.shape, voice.forces[p], length, age + 1.0, force)
        ages[p] = age + steps if age + steps < length else -1
        going |= ages[p] >= 0
    if not going:
        voice.forced = 2  # forced until now: what the next look finds is no uprising


@native
def perform(m: Machine, v: int, span: int, row: int) -> None:
    """A voice over a span that no event and no tick interrupts, into a row of m.out; a moving one step by step.

    All else that this changes is the voice's own, so each voice may be performed by whoever has time (crew.py).
    """
    voice, per, at = m.voices[v], m.oversample, 0
    while at < span and voice.state != FREE:
        piece = span - at
        if voice.moving:
            age = (m.clock + at + 1 - voice.moving) % GLIDE
            if age == 0:
                glide(m, v)
            piece = min(piece, GLIDE - age)
        sound(m, v, at * per, piece * per, row)
        at += piece
    voice.sounded = at * per


@native
def sound(m: Machine, v: int, first: int, steps: int, row: int) -> None:
    """Run the voice for some model steps; what its pickups hear comes into the row, from `first` on."""
    voice, span = m.voices[v], GLIDE * m.oversample
    out = m.out[row, first : first + steps]
    age = ((m.clock + 1 - voice.moving) * m.oversample + first) % span
    force_of(m, v, m.force[row, :steps])
    if voice.lift == voice.next_lift:
        strings.run(m, v, row, first, steps)
    else:
        work_on(m, v)
        strings.run_lifted(m, v, row, first, steps, span - age)
    pickups.hear(m, v, out)
    level(m, v, out, age)


@inlined
def level(m: Machine, v: int, out: Any, age: int) -> None:
    """What the voice's pickups heard at the voice's gain, `age` steps after the last of the glide.

    The gain goes straight from one step of the glide to the next, as the barrier does: steps would be heard.
    """
    voice, steps = m.voices[v], out.shape[0]
    gain = m.keys[voice.place].gain
    start, slope = gain * voice.gain, gain * (voice.next_gain - voice.gain) / (GLIDE * m.oversample)
    fade, loss = voice.fade, m.fade * (voice.state == FADING)
    if voice.rising and loss == 0.0:
        loss = -m.fade
    if loss == 0.0 and slope == 0.0:  # nearly always; the same products, in a loop that waits for nothing
        loud = fade * start
        for p in range(m.pickups):
            for t in range(steps):
                out[t, p] *= loud
        return
    for t in range(steps):
        fade = min(max(fade - loss, 0.0), 1.0)
        loud = fade * (start + slope * (age + 1 + t))
        for p in range(m.pickups):
            out[t, p] *= loud
    voice.fade = fade
    voice.rising = voice.rising and fade < 1.0
    if fade == 0.0:
        voice.state = FREE


@native
def look(m: Machine, v: int) -> None:
    """Once a tick: is the string silent, or has it gone wild?"""
    voice = m.voices[v]
    kinetic, potential, stored = strings.energy(m, v)
    energy = kinetic + potential + stored
    alone = voice.forced == 0 and voice.moving == 0
    # Not isfinite, which becomes x - x == 0: of a sum whose order is free that is true, whatever x is.
    if not abs(energy) < np.inf or (alone and voice.energy > 0.0 and energy > voice.energy * (1.0 + UPRISING)):
        voice.state = FREE
        m.meters.watchdog += 1
        return
    calm_down(m, v, kinetic, energy)


@native
def calm_down(m: Machine, v: int, kinetic: float, energy: float) -> None:
    """A string that is silent fades away."""
    voice = m.voices[v]
    alone = voice.forced == 0 and voice.moving == 0
    voice.energy = energy
    if voice.forced == 2:
        voice.forced = 0
    # A barrier that presses, or has been moved, keeps energy in a string at rest: only motion tells silence.
    voice.peak = max(voice.peak, kinetic)
    voice.calm = voice.calm + 1 if alone and kinetic <= SILENCE * voice.peak else 0
    if voice.calm == CALM:
        voice.state = FADING
