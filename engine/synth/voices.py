"""One voice: a string that is plucked, glides to new tension, damping and barrier height, rings and falls asleep."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.compiled import copy, floats, inlined, integers, native
from engine.physics import finite_difference as fd
from engine.physics import modal
from engine.physics.excitation import EDGE, add_pulse
from engine.physics.grid import REACH, interpolate
from engine.physics.retune import lift_nodes, lift_points, tune_grid, tune_modes
from engine.synth import strips, zones
from engine.synth.fields import *
from engine.synth.machine import (
    Machine,
    grid_coefficients,
    grid_recipe,
    grid_state,
    modal_coefficients,
    modal_recipe,
    modal_state,
)
from engine.synth.movable import TO_DURATION, TO_GAIN, TO_HEIGHT, TO_LOSS, TO_POSITION, Target

SILENCE = 1e-10  # of the most kinetic energy a note had: 100 dB down
CALM = 32  # looks in a row at a string so slow; a string that swings is slow only where it turns round
UPRISING = 1e-6  # share by which rounding may raise the energy of a string left alone
SAME = 1e-9  # semitones: what rounding makes of a pitch in hertz
SETTLED = 1e-4  # semitones, or shares of a target, that end a glide


@native
def begin(m: Machine, v: Any, key: Any, channel: Any) -> None:
    """Take a free slot: the key's string at rest, at the channel's tension and barrier height."""
    own, numbers = m.voice_floats[v], m.key_floats[key]
    m.settings[S_IDLE] = 0
    m.voice_ints[v, V_STATE] = HELD
    m.voice_ints[v, V_KEY] = key
    m.voice_ints[v, V_CHANNEL] = channel
    m.voice_ints[v, V_SOSTENUTO] = 0
    m.voice_ints[v, V_FORCED] = 0
    m.voice_ints[v, V_CALM] = 0
    for p in range(PULSES):
        m.voice_ints[v, V_PULSE + p] = -1
    own[F_TUNED] = departure(m, key)
    own[F_SEMITONES] = zones.bend(m, channel) + own[F_TUNED]
    # A barrier that would press on the string goes on from where it touches: in no time it would be a blow.
    own[F_DAMPING], own[F_LIFT] = 0.0, 0.0
    own[F_NEXT_LIFT] = min(aimed(m, channel, TO_HEIGHT), numbers[Y_GAP])
    own[F_GAIN] = own[F_NEXT_GAIN] = aimed(m, channel, TO_GAIN)
    own[F_FADE], own[F_ENERGY], own[F_PEAK] = 1.0, 0.0, 0.0
    own[F_TENSION] = bent(numbers, own[F_SEMITONES])
    strips.begin(m, v)
    refit(m, v)
    rest(m, v)
    lift(m, v, own[F_NEXT_LIFT])
    m.voice_ints[v, V_MOVING] = 0
    set_moving(m, v)


@native
def set_moving(m: Machine, v: Any) -> None:
    """Have a voice glide, from this very sample on; one that already does keeps its pace."""
    if m.voice_ints[v, V_MOVING] == 0:
        m.voice_ints[v, V_MOVING] = 1 + m.settings[S_CLOCK] % GLIDE


@native
def departure(m: Machine, key: Any) -> Any:
    """Semitones by which MIDI's tuning standard has moved a key away from its design."""
    if m.tuned[key] == AS_DESIGNED:
        return 0.0
    semitones = m.tuned[key] / 16384.0 - m.key_floats[key, Y_PITCH]
    return semitones if abs(semitones) > SAME else 0.0


@native
def bent(numbers: Any, semitones: Any) -> Any:
    """Tension that raises the first mode by so many semitones: its square goes with T + EI b^2.

    On a grid the square of sin(w k / 2) does (T5); Y_ANGLE is that w k / 2, and zero for modes.
    """
    stiffening, angle = numbers[Y_STIFFENING], numbers[Y_ANGLE]
    if semitones == 0.0:
        return numbers[Y_TENSION]
    ratio = 2.0 ** (semitones / 12.0)
    if angle > 0.0:
        ratio = np.sin(min(angle * ratio, 0.5 * np.pi)) / np.sin(angle)
    tension = ratio * ratio * (numbers[Y_TENSION] + stiffening) - stiffening
    return min(max(tension, 0.02 * numbers[Y_TENSION]), numbers[Y_HIGHEST])


@native
def refit(m: Machine, v: Any) -> None:
    """Coefficients for the voice's tension and damping."""
    own, voice = m.voice_floats[v], m.voice_ints[v]
    ints, numbers, pickups = m.key_ints[voice[V_KEY]], m.key_floats[voice[V_KEY]], m.settings[S_PICKUPS]
    if own[F_TENSION] == numbers[Y_TENSION] and own[F_DAMPING] == 0.0:
        refit_as_designed(m, v)
    elif m.settings[S_MODEL] == MODAL:
        c = modal_coefficients(ints, numbers, voice, pickups)
        tune_modes(modal_recipe(ints, numbers, voice), own[F_TENSION], own[F_DAMPING], c, m.scratch)
    else:
        c = grid_coefficients(ints, numbers, voice, own, pickups)
        own[F_ANSWER] = tune_grid(
            grid_recipe(ints, numbers, voice),
            own[F_TENSION],
            own[F_DAMPING],
            c.stencil.now,
            c.stencil.before,
            c.ports.inject,
            c.surface.response,
        )


@native
def refit_as_designed(m: Machine, v: Any) -> None:
    """The design's own coefficients, to the last digit: such a voice moves exactly as `simulate` does."""
    own, voice = m.voice_floats[v], m.voice_ints[v]
    ints, points, pickups = m.key_ints[voice[V_KEY]], m.key_ints[voice[V_KEY], K_POINTS], m.settings[S_PICKUPS]
    if m.settings[S_MODEL] == MODAL:
        size = ints[K_SIZE]
        copy(floats(ints[K_FORWARD], size), floats(voice[V_FORWARD], size))
        copy(floats(ints[K_BACKWARD_TAPS], size), floats(voice[V_BACKWARD], size))
        copy(floats(ints[K_SPREAD], size), floats(voice[V_SPREAD], size))
        copy(floats(ints[K_SPRING], size), floats(voice[V_SPRING], size))
        aim(floats(ints[K_SPREAD], size), floats(voice[V_STRIKE], size), floats(voice[V_INJECT], size))
        entries = points * (points + pickups)
    else:
        copy(floats(ints[K_FORWARD], REACH + 1), floats(voice[V_FORWARD], REACH + 1))
        copy(floats(ints[K_BACKWARD_TAPS], REACH + 1), floats(voice[V_BACKWARD], REACH + 1))
        own[F_ANSWER] = m.key_floats[voice[V_KEY], Y_DESIGNED_ANSWER]
        strike_grid(own[F_ANSWER], floats(voice[V_STRIKE], fd.TAPS), floats(voice[V_INJECT], fd.TAPS))
        entries = ints[K_OBSTACLES] * ints[K_OBSTACLES]
    copy(floats(ints[K_RESPONSE], entries), floats(voice[V_RESPONSE], entries))


@native
def rest(m: Machine, v: Any) -> None:
    """The string of the voice's key at rest; barrier and excitation where the preset has them."""
    own, voice = m.voice_floats[v], m.voice_ints[v]
    ints, numbers, pickups = m.key_ints[voice[V_KEY]], m.key_floats[voice[V_KEY]], m.settings[S_PICKUPS]
    height, drawn = floats(ints[K_HEIGHT], ints[K_POINTS]), floats(voice[V_HEIGHT], ints[K_POINTS])
    for k in range(height.size):
        drawn[k] = height[k]
    if m.settings[S_MODEL] == MODAL:
        modal.reset(modal_coefficients(ints, numbers, voice, pickups), modal_state(ints, voice, pickups))
    else:
        fd.reset(grid_coefficients(ints, numbers, voice, own, pickups), grid_state(ints, voice))
    # A note leaves out the onset's step, whose force is zero; the sweep's turn goes on as if it had been taken.
    integers(voice[V_CLOCK], 1)[0] = 1


@native
def lift(m: Machine, v: Any, to: Any) -> None:
    """Move the barrier under the string; the work is done by whoever moves it."""
    own, voice = m.voice_floats[v], m.voice_ints[v]
    ints, numbers, pickups = m.key_ints[voice[V_KEY]], m.key_floats[voice[V_KEY]], m.settings[S_PICKUPS]
    by = to - own[F_LIFT]
    if by == 0.0:
        return
    own[F_LIFT] = to
    if voice[V_FORCED] == 0:
        voice[V_FORCED] = 2  # the hand worked on the string, perhaps since the last look
    if m.settings[S_MODEL] == MODAL:
        c, s = modal_coefficients(ints, numbers, voice, pickups), modal_state(ints, voice, pickups)
        lift_points(c.law, s.touch, c.height, c.response, by)
    else:
        g, t = grid_coefficients(ints, numbers, voice, own, pickups), grid_state(ints, voice)
        if ints[K_OBSTACLES] > 0:
            lift_points(g.surface.law, t.touch, g.surface.height, g.surface.response, by)
        else:
            _, _, newest = fd.levels(t)
            lift_nodes(g.surface, t.touch, newest, by)


@native
def aimed(m: Machine, channel: Any, target: Target) -> Any:
    """What the channel's controllers make of a mapped parameter."""
    value = target.neutral
    for r in range(m.settings[S_MAPS]):
        at = zones.position(m, channel, m.map_ints[r, 0])
        if m.map_ints[r, 1] == target.number and at != UNMOVED:
            low, high = m.map_floats[r, 0], m.map_floats[r, 1]
            value = low + (high - low) * at / 127.0
    return value


@native
def aimed_damping(m: Machine, v: Any) -> Any:
    """Added decay rate, 1/s: a released key's damper, as far as the pedals let it down, and what is mapped to it."""
    voice = m.voice_ints[v]
    channel, damping = voice[V_CHANNEL], 0.0
    if voice[V_STATE] == RELEASED and voice[V_SOSTENUTO] == 0:
        pedal = zones.pressed(m, channel, 64) / 127.0
        damping = m.key_floats[voice[V_KEY], Y_RELEASE] * (1.0 - pedal) * (1.0 - pedal)
    return max(damping + aimed(m, channel, TO_LOSS), m.key_floats[voice[V_KEY], Y_MILDEST])


@native
def pluck(m: Machine, v: Any, velocity: Any) -> None:
    """A pulse of force on top of whatever the string does."""
    voice, own = m.voice_ints[v], m.voice_floats[v]
    channel = voice[V_CHANNEL]
    oldest = 0
    for p in range(PULSES):
        if voice[V_PULSE + p] < 0:
            oldest = p
            break
        if voice[V_PULSE + p] > voice[V_PULSE + oldest]:
            oldest = p
    loud = velocity * 0.01
    soft = 1.0 - 0.4 * (zones.pressed(m, channel, 67) >= 64)
    numbers = m.key_floats[voice[V_KEY]]
    force = numbers[Y_FORCE] * loud ** m.numbers[N_FORCE_POWER] * soft
    duration = numbers[Y_DURATION] * aimed(m, channel, TO_DURATION) * loud ** m.numbers[N_DURATION_POWER] / soft
    own[F_PULSE + 2 * oldest] = force
    own[F_PULSE + 2 * oldest + 1] = max(duration * m.numbers[N_RATE], 2.0)
    voice[V_PULSE + oldest] = 0
    voice[V_FORCED] = 1
    moved = aimed(m, channel, TO_POSITION)
    place(m, v, numbers[Y_POSITION] if moved == 1.0 else min(max(moved * numbers[Y_POSITION], EDGE), 1.0 - EDGE))


@native
def place(m: Machine, v: Any, position: Any) -> None:
    """Where the next pluck meets the string, as a fraction of its length."""
    voice, own = m.voice_ints[v], m.voice_floats[v]
    ints, numbers, pickups = m.key_ints[voice[V_KEY]], m.key_floats[voice[V_KEY]], m.settings[S_PICKUPS]
    at = position * numbers[Y_LENGTH]
    if m.settings[S_MODEL] != MODAL:
        intervals, taps = ints[K_INTERVALS], floats(voice[V_STRIKE], fd.TAPS)
        for j in range(taps.size):
            taps[j] = 0.0
        near = taps[: min(fd.TAPS, intervals - 1)]
        voice[V_NODE] = interpolate(at, numbers[Y_LENGTH] / intervals, intervals, near)
        strike_grid(own[F_ANSWER], taps, floats(voice[V_INJECT], fd.TAPS))
        return
    shape, strike = floats(ints[K_STRIKE], ints[K_SIZE]), floats(voice[V_STRIKE], ints[K_SIZE])
    wave = floats(ints[K_WAVE], ints[K_SIZE])
    moved = position != numbers[Y_POSITION]
    for i in range(strike.size):
        strike[i] = np.sin(wave[i] * at) if moved else shape[i]
    c = modal_coefficients(ints, numbers, voice, pickups)
    aim(c.spread, strike, c.inject)


@native
def strike_grid(answer: Any, taps: Any, inject: Any) -> None:
    """A newton's effect on the nodes around the place whose weights are in `taps`."""
    for j in range(inject.size):
        inject[j] = answer * taps[j]


@native
def aim(spread: Any, strike: Any, inject: Any) -> None:
    """A newton's effect on every mode, for the place whose mode shapes are in `strike`."""
    for i in range(inject.size):
        inject[i] = spread[i] * strike[i]


@native
def glide(m: Machine, v: Any) -> None:
    """One step of tension, damping, barrier height and gain towards where the player wants them."""
    own, voice = m.voice_floats[v], m.voice_ints[v]
    channel, share = voice[V_CHANNEL], m.numbers[N_GLIDE]
    semitones, damping = zones.bend(m, channel) + own[F_TUNED], aimed_damping(m, v)
    height, gain = aimed(m, channel, TO_HEIGHT), aimed(m, channel, TO_GAIN)
    moving, retuned = 0, 0
    if own[F_SEMITONES] != semitones:
        moving, retuned = 1, 1
        gap = semitones - own[F_SEMITONES]
        own[F_SEMITONES] = semitones if abs(gap) < SETTLED else own[F_SEMITONES] + share * gap
        own[F_TENSION] = bent(m.key_floats[voice[V_KEY]], own[F_SEMITONES])
    if own[F_DAMPING] != damping:
        moving, retuned = 1, 1
        gap = damping - own[F_DAMPING]
        own[F_DAMPING] = damping if abs(gap) < SETTLED * (1.0 + abs(damping)) else own[F_DAMPING] + share * gap
    if own[F_LIFT] != height:
        moving = 1
        gap = height - own[F_LIFT]
        own[F_NEXT_LIFT] = height if abs(gap) < 1e-9 else own[F_LIFT] + share * gap
    own[F_GAIN] = own[F_NEXT_GAIN]
    if own[F_GAIN] != gain:
        moving = 1
        gap = gain - own[F_GAIN]
        own[F_NEXT_GAIN] = gain if abs(gap) < SETTLED * gain else own[F_GAIN] + share * gap
    if retuned:
        refit(m, v)
    if not moving:
        voice[V_MOVING] = 0
    elif voice[V_FORCED] == 0:
        voice[V_FORCED] = 2  # the hand worked on the string


@native
def force_of(m: Machine, v: Any, steps: Any) -> None:
    """The plucks' force over the next model steps, into m.force."""
    voice, own = m.voice_ints[v], m.voice_floats[v]
    for t in range(steps):
        m.force[t] = 0.0
    if voice[V_FORCED] == 0:
        return
    going = 0
    for p in range(PULSES):
        age = voice[V_PULSE + p]
        if age < 0:
            continue
        peak, length = own[F_PULSE + 2 * p], own[F_PULSE + 2 * p + 1]
        # The force at the very onset is zero: a note's first step is the one after, so it sounds at once.
        add_pulse(m.settings[S_SHAPE], peak, length, age + 1.0, m.force[:steps])
        voice[V_PULSE + p] = age + steps if age + steps < length else -1
        going |= voice[V_PULSE + p] >= 0
    if not going:
        voice[V_FORCED] = 2  # forced until now: what the next look finds is no uprising


@native
def sound(m: Machine, v: Any, first: Any, steps: Any) -> None:
    """Run the voice for some model steps and add it to the bus from `first` on."""
    own, span = m.voice_floats[v], GLIDE * m.settings[S_OVERSAMPLE]
    age = ((m.settings[S_CLOCK] + 1 - m.voice_ints[v, V_MOVING]) * m.settings[S_OVERSAMPLE] + first) % span
    force_of(m, v, steps)
    if own[F_LIFT] == own[F_NEXT_LIFT]:
        run(m, v, 0, steps)
    else:
        for t in range(steps):
            lift(m, v, own[F_LIFT] + (own[F_NEXT_LIFT] - own[F_LIFT]) / (span - age - t))
            run(m, v, t, 1)
    level(m, v, steps, age)
    strips.add(m, v, first, steps)


@native
def run(m: Machine, v: Any, at: Any, steps: Any) -> None:
    """The string's own motion, from m.force to m.out."""
    voice, own, pickups = m.voice_ints[v], m.voice_floats[v], m.settings[S_PICKUPS]
    ints, numbers = m.key_ints[voice[V_KEY]], m.key_floats[voice[V_KEY]]
    force, out = m.force[at : at + steps], m.out[at : at + steps]
    if m.settings[S_MODEL] == MODAL:
        modal.kernel(modal_coefficients(ints, numbers, voice, pickups), modal_state(ints, voice, pickups), force, out)
    else:
        fd.kernel(grid_coefficients(ints, numbers, voice, own, pickups), grid_state(ints, voice), force, out)


@inlined
def level(m: Machine, v: Any, steps: Any, age: Any) -> None:
    """What the voice's pickups heard, away from rest, at the voice's gain, `age` steps after the last of the glide.

    The gain goes straight from one step of the glide to the next, as the barrier does: steps would be heard.
    """
    voice, own, pickups = m.voice_ints[v], m.voice_floats[v], m.settings[S_PICKUPS]
    resting, gain = floats(m.key_ints[voice[V_KEY], K_REST_HEARD], pickups), m.key_floats[voice[V_KEY], Y_GAIN]
    start, slope = gain * own[F_GAIN], gain * (own[F_NEXT_GAIN] - own[F_GAIN]) / (GLIDE * m.settings[S_OVERSAMPLE])
    fade, loss = own[F_FADE], m.numbers[N_FADE] * (voice[V_STATE] == FADING)
    if loss == 0.0 and slope == 0.0:  # nearly always; the same products, in a loop that waits for nothing
        loud = fade * start
        for t in range(steps):
            for p in range(pickups):
                m.out[t, p] = loud * (m.out[t, p] - resting[p])
        return
    for t in range(steps):
        fade = max(fade - loss, 0.0)
        loud = fade * (start + slope * (age + 1 + t))
        for p in range(pickups):
            m.out[t, p] = loud * (m.out[t, p] - resting[p])
    own[F_FADE] = fade
    if fade == 0.0:
        voice[V_STATE] = FREE


@native
def look(m: Machine, v: Any) -> None:
    """Once a tick: is the string silent, or has it gone wild?"""
    voice, own, pickups = m.voice_ints[v], m.voice_floats[v], m.settings[S_PICKUPS]
    ints, numbers = m.key_ints[voice[V_KEY]], m.key_floats[voice[V_KEY]]
    if m.settings[S_MODEL] == MODAL:
        kinetic, potential, stored = modal.energy(
            modal_coefficients(ints, numbers, voice, pickups), modal_state(ints, voice, pickups)
        )
    else:
        kinetic, potential, stored = fd.energy(
            grid_coefficients(ints, numbers, voice, own, pickups), grid_state(ints, voice)
        )
    energy = kinetic + potential + stored
    alone = voice[V_FORCED] == 0 and voice[V_MOVING] == 0
    # Not isfinite, which becomes x - x == 0: of a sum whose order is free that is true, whatever x is.
    if not abs(energy) < np.inf or (alone and own[F_ENERGY] > 0.0 and energy > own[F_ENERGY] * (1.0 + UPRISING)):
        voice[V_STATE] = FREE
        m.meters[M_WATCHDOG] += 1
        return
    own[F_ENERGY] = energy
    if voice[V_FORCED] == 2:
        voice[V_FORCED] = 0
    # A barrier that presses, or has been moved, keeps energy in a string at rest: only motion tells silence.
    own[F_PEAK] = max(own[F_PEAK], kinetic)
    voice[V_CALM] = voice[V_CALM] + 1 if alone and kinetic <= SILENCE * own[F_PEAK] else 0
    if voice[V_CALM] == CALM:
        voice[V_STATE] = FADING
