"""What a picture says of a string (capture.py): a row of float32, what `PICTURE` lists, its shape, then the forces.

Who is in it: every voice's strings, where several share a bridge also those that answer, and the body below them, whose
shape is how far its bridge has gone in each direction. A voice's first string comes first.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from engine.compiled import inlined, native
from engine.lanes import LANES
from engine.opened import address
from engine.physics.network.memory import Flock, Island, island
from engine.physics.network.metered import moving, strained
from engine.physics.network.metered import stored as holding
from engine.synth import network_string as bridged_strings
from engine.synth import strings
from engine.synth.memory import Machine

# Its kind is one of strings.SHAPES; `role` says who it is, `string` which of a voice's, or of those that answer.
PICTURE = (
    *("part", "voice", "key", "channel", "state", "kind", "size", "points"),
    *("kinetic", "potential", "stored", "lift", "semitones", "fade", "gain", "focus"),
    *("role", "string", "line", "length"),
)
PLAYED, ANSWERS, BODY = range(3)
ROLES = ("played", "answers", "body")
NO_VOICE = -1
MOST_SHAPE, MOST_POINTS = 256, 64
FEWER = 48  # modes of a string that nobody follows closely: one that answers
FACTS = len(PICTURE)


@native
def members(m: Machine, v: int) -> int:
    """How many strings a voice has."""
    return bridged_strings.of_voice(m, v).strands.size if m.joint else 1


@native
def voice_picture(m: Machine, v: int, n: int, row: Any, part: int, focus: int) -> int:
    """One string of a voice into a row; how many numbers that took."""
    voice = m.voices[v]
    begin(row, part, v, voice.key, focus)
    row[3], row[4], row[5] = voice.channel, voice.state, strings.SHAPE_OF[m.model]
    row[11], row[12], row[13], row[14] = voice.lift, voice.semitones, voice.fade, voice.gain
    row[16], row[17], row[18], row[19] = PLAYED, n, m.keys[voice.place].line, m.keys[voice.place].length
    if m.joint:
        s = bridged_strings.at_place(bridged_strings.of_voice(m, v), n)
        row[8], row[9], row[10], row[19] = moving(s.bank), strained(s.bank), holding(s), s.recipe.length
        size = bridged_strings.outline(s, row[FACTS : FACTS + MOST_SHAPE])
        points = bridged_strings.pressing(s, row[FACTS + size : FACTS + size + MOST_POINTS])
    else:
        kinetic, potential, stored = strings.energy(m, v)
        row[8], row[9], row[10] = kinetic, potential, stored
        size = strings.picture(m, v, row[FACTS : FACTS + MOST_SHAPE])
        points = strings.pushes(m, v, row[FACTS + size : FACTS + size + MOST_POINTS])
    row[6], row[7] = size, points
    return FACTS + size + points


@inlined
def begin(row: Any, part: Any, voice: Any, key: Any, focus: Any) -> None:
    """What does not depend on who it is."""
    for n in range(FACTS):
        row[n] = 0.0
    row[0], row[1], row[2], row[13], row[14], row[15] = part, voice, key, 1.0, 1.0, focus


@native
def answering(m: Machine) -> int:
    """How many strings answer."""
    if m.joint == 0 or bridged_strings.joint(m).awake == 0:
        return 0
    i = standing(m)
    return i.flock.strings if i.flocks else 0


@inlined
def standing(m: Machine) -> Island:
    """What all strings stand on."""
    return island(address(m) + bridged_strings.joint(m).island)


@native
def lane_picture(m: Machine, s: int, row: Any, part: int, focus: int) -> int:
    """A string that answers. Energies are those of modes without losses, which differ by as little as losses do."""
    h, size, kinetic, potential, stored = standing(m).flock, 0, 0.0, 0.0, 0.0
    begin(row, part, NO_VOICE, NO_VOICE, focus)
    for i in range(h.even.shape[0]):
        y, last, decay = h.even[i, s], h.odd[i, s], h.backward[i, s]
        if decay > 0.0:
            kinetic += 0.5 * (y - last) * (y - last)
            potential += (1.0 - h.forward[i, s] / (2.0 * sqrt(decay))) * (0.5 * (y + last)) * (0.5 * (y + last))
        if i < FEWER and h.scale[i, s] > 0.0:
            row[FACTS + i] = h.scale[i, s] * y
            size = i + 1
    points = h.rows.shape[0] - 1
    for k in range(points):
        stored += 0.5 * h.psi[k * LANES + s] * h.psi[k * LANES + s]
        row[FACTS + size + k] = pushed(h, k, s)
    row[6], row[7], row[8], row[9], row[10] = size, points, kinetic, potential, stored
    row[16], row[17] = ANSWERS, s
    return FACTS + size + points


@inlined
def pushed(h: Flock, k: Any, s: Any) -> Any:
    """The mean of what a point pushed with in both steps of a pair, N."""
    return 0.5 * (h.pend[0, k, s] + h.pend[1, k, s])


@native
def body_picture(m: Machine, row: Any, part: int) -> int:
    """The body: its bridge's motion, m, and what all its modes hold."""
    b = standing(m).bridge
    begin(row, part, NO_VOICE, NO_VOICE, 0)
    for d in range(b.now.size):
        row[FACTS + d] = b.now[d]
    row[6], row[8], row[9], row[16] = b.now.size, moving(b.bank), strained(b.bank), BODY
    return FACTS + b.now.size
