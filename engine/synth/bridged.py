"""Voices whose strings stand on one bridge: they step together, and what is heard is the body below them.

Everything happens on the absolute clock, as in renderer.py. The island sleeps when no voice sounds and nothing in it
moves any more: then all of it is at rest, as if it had just been made.
"""

from __future__ import annotations

import numpy as np

from engine import messages as midi
from engine.compiled import WORD, compiled_apart, inlined, native
from engine.opened import address, record_type
from engine.physics.excitation import RAISED_COSINE, add_pulse
from engine.physics.network.counterparts import leave
from engine.physics.network.memory import GONE, NOBODY, THERE, WAITING, Bridge, Flock, Island, Resonators, island
from engine.physics.network.metered import moving
from engine.physics.network.stepping import drive_on, rest_from, step, sway
from engine.synth import crossing, landing, strips, zones
from engine.synth import network_string as strings
from engine.synth.memory import FADING, FREE, GLIDE, PULSED, PULSES, RELEASED, TO_BODY, TO_STRINGS, Joint, Machine
from engine.synth.movable import TO_GAIN
from engine.synth.voices import CALM, SETTLED, SILENCE, aimed, calm_down, glide, nearer, set_moving

FAR_AWAY = 1e15  # steps: a damper that is up comes then
RISE = 8  # steps of the glide in which a stolen note's damping comes: at once it would be heard
RECEDED = 1e-2  # m: so far behind where it came from, where no string swings, a hammer is gone


@native
def segment(m: Machine, span: int) -> None:
    """All voices over a span that no event and no tick interrupts, in steps of whatever glides."""
    j, per, at = strings.joint(m), m.oversample, 0
    for v in range(m.slots):
        if m.voices[v].state == FADING and m.voices[v].fade == 1.0:
            end(m, v)
    while at < span:
        piece = span - at
        for v in range(m.slots + 1):
            if m.voices[v].moving and (v == m.slots or m.voices[v].state != FREE):
                age = (m.clock + at + 1 - m.voices[v].moving) % GLIDE
                if age == 0:
                    move(m, v)
                piece = min(piece, GLIDE - age)
        if j.lines.size and fingers_land(m, j):
            piece = 1
        if j.awake:
            run(m, j, at * per, piece * per)
        at += piece


@native
def fingers_land(m: Machine, j: Joint) -> int:
    """One sample of all fingers on their way to a fret; whether there are any."""
    found = 0
    for d in range(j.knock.size):
        j.knock[d] = 0.0
    for v in range(m.slots):
        if m.voices[v].state != FREE and strings.of_voice(m, v).landing[0]:
            landing.land(m, v, j.knock)
            found = 1
    return found


compiled_apart(segment, record_type(Machine), WORD)


@native
def rings(m: Machine) -> bool:
    """Whether something moves that voices stand on."""
    return m.joint != 0 and strings.joint(m).awake != 0


@native
def make_way(m: Machine) -> None:
    """A note begins: what another design goes on with is over, even if it has not faded yet."""
    if crossing.leaves(m):
        j = strings.joint(m)
        crossing.clear_out(m)
        quell(j, island(address(m) + j.island))


@native
def begin(m: Machine, v: int) -> None:
    """A note has begun: the body follows its channel."""
    j, body = strings.joint(m), m.voices[m.slots]
    body.channel = m.voices[v].channel
    if j.awake == 0:
        j.awake, j.calm, j.most = 1, 0, 0.0
        body.gain = body.next_gain = aimed(m, m.slots, TO_GAIN)
        body.moving = body.rising = 0
        strips.begin(m, m.slots)
    else:
        set_moving(m, m.slots)
        strips.turn(m, m.slots)


# --- what glides ------------------------------------------------------------------------------------------------------


@native
def move(m: Machine, v: int) -> None:
    """One step of what a voice, or the body, glides in."""
    voice = m.voices[v]
    if v == m.slots:
        gain = aimed(m, v, TO_GAIN)
        voice.gain = voice.next_gain
        voice.next_gain = nearer(voice.gain, gain, m.glide, SETTLED * gain)
        voice.moving = voice.moving if voice.gain != gain else 0
    elif voice.state == FADING:
        calming = strings.of_voice(m, v).calming
        if voice.damping < calming:
            voice.damping = min(voice.damping + calming / RISE, calming)
            strings.retune(m, v)
        voice.fade -= GLIDE * m.oversample / (m.rate * strings.of_voice(m, v).ending)
        if voice.fade <= 0.0:
            strings.leave_all(m, v)
            voice.state = FREE
    else:
        glide(m, v)
        by = voice.next_lift - voice.lift
        if by != 0.0:
            strings.raise_on(m, v, by, GLIDE * m.oversample)
            voice.lift = voice.next_lift
        press_felts(m, v)


@native
def end(m: Machine, v: int) -> None:
    """End a note as soon as strings can: a hand on them that takes all it can of the lowest partial.

    To fade its share of what the body does is not possible; to take the strings out as they swing would click.
    """
    strings.lift_off(m, v)
    m.voices[v].fade -= SETTLED
    set_moving(m, v)


@native
def press_felts(m: Machine, v: int) -> None:
    """Let dampers down on a released key's strings, or lift them, as the pedals have it."""
    voice, c = m.voices[v], strings.of_voice(m, v)
    down = voice.state == RELEASED and voice.sostenuto == 0 and zones.pressed(m, voice.channel, midi.SUSTAIN) < 64
    clock = island(address(m) + strings.joint(m).island).bridge.clock[0]
    for n in range(c.strands.size):
        k = c.felt[n]
        if k == NOBODY:
            continue
        s = strings.at_place(c, n)
        p = s.points
        waits = p.state[k] == WAITING and p.begin[k] >= FAR_AWAY
        if down and waits:
            p.begin[k], p.span[k], p.timed = clock, c.damped[n], 1
        elif not down and not waits:
            leave(s, k)
            p.state[k], p.begin[k], p.grip[k] = WAITING, FAR_AWAY, 0.0


# --- what sounds ------------------------------------------------------------------------------------------------------


@native
def run(m: Machine, j: Joint, first: int, steps: int) -> None:
    """Some steps of all strings and the body, onto the bus or through the strip of the body's channel."""
    for t in range(steps):
        j.blows[t] = 0.0
    for v in range(m.slots):
        if m.voices[v].state != FREE:
            push(m, j, v, steps)
    base = address(m) + j.island
    i, out = island(base), j.out
    b, sums, nudge, felt = i.bridge, j.push, j.nudge, j.felt
    apart = i.one_way == 1 and i.frame.flying.size == 0 and j.listens != TO_STRINGS
    if apart:  # each string runs for all steps, and need not meet the others
        for t in range(steps):
            for d in range(felt.shape[1]):
                felt[t, d] = j.knock[d]
        for a in range(i.active[0]):
            drive_on(base, i.members[a], sums[i.members[a]], felt[:steps])
    for t in range(steps):
        b.blow[0] = j.blows[t]
        if apart:
            sway(base, felt[t])
        else:
            for a in range(i.active[0]):
                nudge[i.members[a]] = sums[i.members[a], t]
            step(base, nudge, j.knock)
        if j.listens == TO_STRINGS:
            strings.hear(m, out[t])
        else:
            radiates = j.listens == TO_BODY and b.heard.shape[1] > 0
            for p in range(m.pickups):
                out[t, p] = b.heard[2, p] if radiates else b.force[0]
    rest_from(base)
    level(m, j, first, steps)
    if m.voices[m.slots].rising or crossing.leaves(m):
        crossing.fade(m, steps)
    add(m, j, first, steps)


@native
def push(m: Machine, j: Joint, v: int, steps: int) -> None:
    """The forces of a voice's plucks over the next steps: on each of its strings when its turn comes, on the body."""
    voice, c, sums = m.voices[v], strings.of_voice(m, v), j.push
    ages, row = voice.ages, j.courses * v
    for n in range(c.strands.size):
        for t in range(steps):
            sums[row + n, t] = 0.0
    if voice.forced == 0:
        return
    going = 0
    for p in range(PULSES):
        age, length = ages[p], voice.lengths[p]
        if age < 0:
            continue
        for n in range(c.strands.size):
            if c.kind[n] == PULSED and c.drawn[p, n] > 0.0:
                # The force at the very onset is zero: a note's first step is the one after, so it sounds at once.
                since = age + 1.0 - c.onset[n]
                force = voice.forces[p] * c.share[n] * c.drawn[p, n]
                add_pulse(m.shape, force, length * c.lasting[n], since, sums[row + n, :steps])
        if c.knock != 0.0 and c.knocked[p] > 0.0:
            lasting, since = max(length * c.knocking, 2.0), age + 1.0 - length * c.after
            add_pulse(RAISED_COSINE, voice.forces[p] * c.knock, lasting, since, j.blows[:steps])
        ages[p] = age + steps if age + steps < length * c.longest + c.latest else -1
        going |= ages[p] >= 0
    if not going:
        voice.forced = 2


@inlined
def level(m: Machine, j: Joint, first: int, steps: int) -> None:
    """What is heard of the body at its gain, which goes straight from one step of its glide to the next."""
    body, out = m.voices[m.slots], j.out
    span = GLIDE * m.oversample
    age = ((m.clock + 1 - body.moving) * m.oversample + first) % span
    start, slope = j.gain * body.gain, j.gain * (body.next_gain - body.gain) / span
    for t in range(steps):
        loud = start + slope * (age + 1 + t)
        for p in range(m.pickups):
            out[t, p] *= loud


@native
def add(m: Machine, j: Joint, first: int, steps: int) -> None:
    """Onto the bus, or through the strip to both sides (strips.py)."""
    body, out, bus, stereo, ears = m.voices[m.slots], j.out, m.bus, m.stereo, m.ears
    if m.apart == 0:
        for p in range(m.pickups):
            for t in range(steps):
                bus[first + t, p] += out[t, p]
        return
    age = (m.clock - body.turned) * m.oversample + first
    for t in range(steps):
        share = strips.turned(m, age + t + 1)
        x = y = 0.0
        for p in range(ears.size):
            x += ears[p].left * out[t, p]
            y += ears[p].right * out[t, p]
        stereo[first + t, 0] += strips.between(body.left, body.next_left, share) * x
        stereo[first + t, 1] += strips.between(body.right, body.next_right, share) * y


# --- once a tick ------------------------------------------------------------------------------------------------------


@native
def look_around(m: Machine) -> int:
    """Which voices have fallen silent, whether something has gone wild, whether all may sleep; how many sound."""
    j, sounding = strings.joint(m), 0
    if crossing.is_gone(m):
        make_way(m)
    if j.awake == 0:
        return 0
    i = island(address(m) + j.island)
    motion = moving(i.bridge.bank)
    if i.flocks:
        motion += swinging(i.flock)
    for v in range(m.slots):
        if m.voices[v].state != FREE:
            motion += look(m, v)
            sounding += m.voices[v].state != FREE
    recede(strings.hammers_of(i))
    # Not isfinite, which becomes x - x == 0: of a sum whose order is free that is true, whatever x is.
    if not abs(motion) < np.inf:
        m.meters.watchdog += 1
        for v in range(m.slots):
            m.voices[v].state = FREE
        quell(j, i)
        return 0
    j.most = max(j.most, motion)
    j.calm = j.calm + 1 if sounding == 0 and motion <= SILENCE * j.most else 0
    if j.calm == CALM:
        quell(j, i)
    return sounding


@native
def look(m: Machine, v: int) -> float:
    """One voice: its kinetic energy. Others may drive it, so that to rise is no fault."""
    kinetic, potential, stored = strings.energy(m, v)
    calm_down(m, v, kinetic, kinetic + potential + stored)
    return kinetic + 0.0 * (potential + stored)  # what is no number shows


@native
def recede(b: Bridge) -> None:
    """Hammers that are on their way back, and that no string touches, are gone."""
    for h in range(b.flying.size):
        back = b.flying[h] == THERE and b.pace[h] * b.speed[h] < 0.0 and b.hit[h] == 0.0
        if back and abs(b.level[h] - b.height[h]) > RECEDED:
            b.flying[h] = GONE


@native
def swinging(h: Flock) -> float:
    """About the kinetic energy of all its strings."""
    total, even, odd = 0.0, h.even, h.odd
    for i in range(even.shape[0]):
        for s in range(even.shape[1]):
            total += 0.5 * (even[i, s] - odd[i, s]) * (even[i, s] - odd[i, s])
    return total


@native
def quell(j: Joint, i: Island) -> None:
    """All at rest, as at first."""
    j.awake = j.calm = 0
    i.active[0] = 0
    still(i.bridge)
    if i.one_way:
        still(i.frame)
    if i.flocks:
        h = i.flock
        for table in (h.even, h.odd, h.pend[0], h.pend[1]):
            for k in range(table.shape[0]):
                for s in range(table.shape[1]):
                    table[k, s] = 0.0
        for row in (h.now, h.before, h.psi):
            for k in range(row.size):
                row[k] = 0.0
        h.touched[0] = h.touched[1] = 0


@native
def still(b: Bridge) -> None:
    """A bridge and its body at rest, at the beginning of time."""
    hush(b.bank)
    for d in range(b.now.size):
        b.now[d] = b.before[d] = b.surge[d] = b.swept[d] = 0.0
    for n in range(b.heard.shape[0]):
        for o in range(b.heard.shape[1]):
            b.heard[n, o] = 0.0
    for o in range(b.passed.shape[0]):
        b.passed[o, 0] = b.passed[o, 1] = 0.0
    for h in range(b.flying.size):
        b.flying[h] = GONE
    b.stale[0], b.clock[0] = 1, 0


@inlined
def hush(bank: Resonators) -> None:
    """No mode moves."""
    for i in range(bank.even.size):
        bank.even[i] = bank.odd[i] = 0.0
