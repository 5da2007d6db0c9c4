"""Strings of many frets (`strings.mono`): which one takes a key, which fingers are on it, hammered and pulled notes.

Keys are fingers and hold the string down for as long as they are held; pedals keep dampers away and hold no finger. The
last finger that came is where the string ends.
"""

from __future__ import annotations

from engine import messages as midi
from engine.compiled import native
from engine.opened import address
from engine.synth import landing, zones
from engine.synth.memory import FINGERS, HELD, PEDAL, RELEASED, Fingerboard, Machine, joint_at
from engine.synth.voices import bent, departure, set_moving, strike, work_on

HAMMERED = 0.95  # of its length: where a finger strikes a string that ends under it
RANK = 1 << 60  # apart, so that notes may be counted between two of them
MODERATE = 64  # the velocity of a key that is let go and does not say how, or says 0, as most keyboards do


@native
def line_of(m: Machine, place: int) -> Fingerboard:
    """The string of many frets that a place lies on."""
    return joint_at(address(m) + m.joint).lines[m.keys[place].line - 1]


@native
def voice_on(m: Machine, line: int) -> int:
    """The voice that is such a string as it sounds, or -1."""
    found = -1
    for v in range(m.slots):
        voice = m.voices[v]
        if (voice.state == HELD or voice.state == RELEASED) and m.keys[voice.place].line == line:
            found = v
    return found


@native
def place_of(m: Machine, channel: int, key: int) -> int:
    """Where a key is played: rows are in the order of their distance from the open string."""
    if m.joint == 0 or m.keys[key].line == 0:
        return key
    place, best, least = key, key, 0
    while place:
        found = rank(m, place, channel, key)
        if place == key or found < least:
            best, least = place, found
        place = m.keys[place].other
    return best


@native
def rank(m: Machine, place: int, channel: int, key: int) -> int:
    """Whose turn it is: a string on which this key sounds; with the legato pedal the one struck last; one that is
    silent; one that rings and that nobody holds; one that is held.
    """
    v, held = voice_on(m, m.keys[place].line), line_of(m, place).fingers > 0
    if v >= 0 and m.voices[v].key == key:
        return 0
    if v >= 0 and held and zones.pressed(m, channel, midi.LEGATO) >= 64:
        return RANK - m.voices[v].born
    if v < 0:
        return 2 * RANK
    return 4 * RANK if held else 3 * RANK


@native
def reach(m: Machine, v: int, place: int, key: int, channel: int) -> float:
    """Have a string that sounds be played at a place; the length it had if the note is slurred to it, or 0."""
    was, slurred = m.voices[v].place, 0.0
    if was != place:
        if is_slurred(m, place, key, channel):
            slurred = m.keys[was].length
        move(m, v, place)
    m.voices[v].key, m.voices[v].channel = key, channel
    return slurred


@native
def is_slurred(m: Machine, place: int, key: int, channel: int) -> bool:
    """Whether another finger is on the string, and the player means it."""
    line, others = line_of(m, place), 0
    for n in range(line.fingers):
        others += line.keys[n] != key or line.channels[n] != channel
    return others > 0 and (line.manner != PEDAL or zones.pressed(m, channel, midi.LEGATO) >= 64)


@native
def move(m: Machine, v: int, place: int) -> None:
    """Another length at once, as by a finger; what differs by its tension glides there, as a bend does."""
    voice, was, now = m.voices[v], m.keys[m.voices[v].place], m.keys[place]
    if was.length == now.length:
        voice.semitones += was.pitch - now.pitch
    voice.place = place
    voice.tension = bent(now, voice.semitones)
    landing.go_on_at(m, v)
    work_on(m, v)
    set_moving(m, v)


@native
def blow(m: Machine, v: int, length: float, velocity: int) -> None:
    """What a finger does to a string whose length it changes: it strikes it where it comes down, and pulls where it
    leaves; where only the tension changes, nothing.
    """
    place = m.voices[v].place
    key, finger = m.keys[place], line_of(m, place).finger
    if key.length < length:
        strike(m, v, velocity, finger, HAMMERED)
    elif key.length > length:
        strike(m, v, velocity, finger, length / key.length)


# --- fingers ----------------------------------------------------------------------------------------------------------


@native
def press(m: Machine, place: int, key: int, channel: int) -> None:
    """A finger comes down."""
    if m.joint == 0 or m.keys[place].line == 0:
        return
    line = line_of(m, place)
    take_off(line, key, channel)
    if line.fingers == FINGERS:
        remove(line, 0)
    n = line.fingers
    line.places[n], line.keys[n], line.channels[n] = place, key, channel
    line.fingers = n + 1


@native
def take_off(line: Fingerboard, key: int, channel: int) -> bool:
    """A finger leaves, if it is on the string; whether it was the last that came."""
    for n in range(line.fingers):
        if line.keys[n] == key and line.channels[n] == channel:
            last = n == line.fingers - 1
            remove(line, n)
            return last
    return False


@native
def remove(line: Fingerboard, n: int) -> None:
    """Forget a finger; the others keep their order."""
    for k in range(n, line.fingers - 1):
        line.places[k], line.keys[k], line.channels[k] = line.places[k + 1], line.keys[k + 1], line.channels[k + 1]
    line.fingers -= 1


@native
def release(m: Machine, channel: int, key: int, velocity: int) -> None:
    """A key is let go: where its finger was the last on a string that others hold, it goes on under the one before."""
    if m.joint == 0:
        return
    lines = joint_at(address(m) + m.joint).lines
    for n in range(lines.size):
        line = lines[n]
        if take_off(line, key, channel) and line.fingers > 0:
            v, last = voice_on(m, n + 1), line.fingers - 1
            if v >= 0 and m.voices[v].state == HELD and m.voices[v].key == key and m.voices[v].channel == channel:
                fall_back(m, v, line, last, velocity)


@native
def fall_back(m: Machine, v: int, line: Fingerboard, last: int, velocity: int) -> None:
    """Under the finger that is the last one now."""
    length = m.keys[m.voices[v].place].length
    if m.voices[v].place != line.places[last]:
        move(m, v, line.places[last])
    m.voices[v].key, m.voices[v].channel = line.keys[last], line.channels[last]
    m.voices[v].tuned, m.voices[v].pressed = departure(m, line.keys[last]), 0
    blow(m, v, length, velocity)


@native
def let_go(m: Machine, lowest: int, highest: int) -> None:
    """All fingers of some channels leave, and pull at nothing."""
    if m.joint == 0:
        return
    lines = joint_at(address(m) + m.joint).lines
    for n in range(lines.size):
        line, k = lines[n], 0
        while k < line.fingers:
            if lowest <= line.channels[k] <= highest:
                remove(line, k)
            else:
                k += 1
