"""Pictures of sounding strings, taken by the audio thread into memory made beforehand; nothing is heard of it.

A block is cut where a picture is due, which changes no bit of it. Two kinds are taken while somebody watches:

- looks, as with a stroboscope: every string sixty times a second, always at nearly the same phase of the one in focus,
  a little later each time. Each is where that is nearest to its turn, half a period from it at most; of a string below
  60 Hz there is one a period. They go through a ring of slots: one that is not read yet is never written over, so that
  none can tear, and where there is no room a look is left out.
- a film of the string in focus, picture by picture from the pluck on that it waits for; its memory has one owner at a
  time.

What a picture says is in likeness.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.compiled import entry, inlined, load_acquire, native, read_shared, single_rows, store_release, write_shared
from engine.elementary import exp2
from engine.layout import Arena, Integers, Singles, inside, lay, record, seen, size_of
from engine.opened import address, at
from engine.synth.likeness import (
    FACTS,
    MOST_POINTS,
    MOST_SHAPE,
    answering,
    body_picture,
    lane_picture,
    members,
    voice_picture,
)
from engine.synth.memory import FREE, PARTS, PLAYING, Desk, Machine, desk, machine
from engine.synth.mixing import mix
from engine.synth.ring import head
from engine.synth.routing import welcome

# What a look, or a film's head, says before its pictures.
HEAD = ("strings", "clock", "laps", "rate", "period", "phase", "step", "kind")
LAP = 1 << 24  # samples: a float32 counts no further
LOOKS = 4  # slots
MOST_STRINGS = 48
PICTURES, STEP = 512, 2  # of a film: how many, and samples between them
LOOK_RATE = 60.0  # Hz
HEARD = 1 << 14  # samples of the mix that are kept for a spectrum
EMPTY, ARMED, FILLING, FULL = range(4)  # of a film, whose memory is the audio thread's while it is armed or filling

_HEAD = len(HEAD)
LARGEST_PICTURE = FACTS + MOST_SHAPE + MOST_POINTS
SLOT = _HEAD + MOST_STRINGS * LARGEST_PICTURE


@record
class Capture:
    """What is watched, and the pictures."""

    written: Integers = inside(8)  # looks, by the audio thread
    read: Integers = inside(8)  # looks, by whoever shows them
    heard: Integers = inside(8)  # samples of the mix, by the audio thread
    film: Integers = inside(8)  # its state
    watching: int  # 1 while somebody does; like what follows written by Python at any time
    focus: int  # the key of the string that the stroboscope follows; -1: the one that began last
    string: int  # which of a key's strings that is, or of those that answer
    pace: float  # Hz, of one that answers; 0: the key's own
    slip: float  # periods by which each look is later
    length: int  # pictures that a film has
    next: float  # sample at which the next look is due
    turn: float  # where it would be if looks came evenly
    born: int  # the number of the note that had begun last when a film was armed; -1: not known yet
    taken: int  # pictures of the film so far
    due: int  # sample of its next one
    follows: int  # key of the film's string
    left_out: int  # looks for which there was no slot
    slots: Singles
    frames: Singles  # the film
    sound: Singles


capture_at = at(Capture)


@entry
def play_watched(where: Any, pictures: Any, frames: Any, out: Any) -> None:
    """The next samples of the ensemble at an address, with pictures taken into a Capture, if there is one."""
    d = desk(where)
    welcome(d)
    mix_watched(pictures, d, frames, out)


@native
def mix_watched(pictures: int, d: Desk, frames: int, out: int) -> None:
    """`mixing.mix`, cut where pictures are due."""
    if pictures == 0:
        mix(d, frames, out)
        return
    c, done = capture_at(pictures), 0
    if c.watching == 0:
        c.next = 0.0
    if c.born < 0 and load_acquire(c.film, 0) == ARMED:
        c.born = latest(d)
    while done < frames:
        span = min(until_next(c, d), frames - done)
        mix(d, span, out + 4 * d.outputs * done)
        done += span
        take_pictures(c, d)
    listen(c, single_rows(out, frames, d.outputs))


@native
def until_next(c: Capture, d: Desk) -> int:
    """Samples until the next picture is due, or an event that a film waits for."""
    most, film = 1 << 40, load_acquire(c.film, 0)
    if c.watching:
        most = max(int(c.next) - d.clock, 1)
    if film == FILLING:
        most = min(most, max(c.due - d.clock, 1))
    if film == ARMED:
        for s in range(PARTS):
            if d.parts[s].state[0] == PLAYING:
                m = machine(d.parts[s].machine)
                due = head(m.ring) - m.clock
                most = min(most, due + 1 if due >= 0 else 1)
    return most


@native
def take_pictures(c: Capture, d: Desk) -> None:
    """What is due now."""
    film = load_acquire(c.film, 0)
    if film == ARMED:
        wait_for_pluck(c, d)
    elif film == FILLING and d.clock >= c.due:
        expose(c, d)
    if c.watching and d.clock >= c.next:
        look(c, d)


@native
def in_focus(c: Capture, d: Desk, wanted: int) -> tuple[int, int]:
    """Part and voice of the string of a key, or (-1) of the one that began last; -1 and -1 if there is none."""
    part, voice, newest = -1, -1, -1
    for s in range(PARTS):
        if d.parts[s].state[0] == PLAYING:
            m = machine(d.parts[s].machine)
            for v in range(m.slots):
                here = m.voices[v]
                if here.state == FREE or here.born < newest or (wanted >= 0 and here.key != wanted):
                    continue
                if here.born > newest or here.rising or part < 0:  # of two that are one string, the one that stays
                    part, voice, newest = s, v, here.born
    return part, voice


@native
def period_of(m: Machine, v: int) -> float:
    """Samples of a voice's period, at the pitch that it has now."""
    semitones = m.keys[m.voices[v].key].pitch + m.voices[v].semitones
    return m.rate / m.oversample / (440.0 * exp2((semitones - 69.0) / 12.0))


# --- looks ------------------------------------------------------------------------------------------------------------


@native
def look(c: Capture, d: Desk) -> None:
    """All strings as they are, into the next slot; and when to look again."""
    part, voice = in_focus(c, d, c.focus)
    if part < 0 and c.focus >= 0:
        part, voice = in_focus(c, d, -1)
    rate = 48_000.0
    for s in range(PARTS):
        if d.parts[s].state[0] == PLAYING:
            rate = machine(d.parts[s].machine).rate / machine(d.parts[s].machine).oversample
    period = period_of(machine(d.parts[part].machine), voice) if part >= 0 else rate / LOOK_RATE
    if c.pace > 0.0:
        period = rate / c.pace
    if c.next < d.clock - rate:  # nobody has watched for a while
        c.next = c.turn = float(d.clock)
    if c.written[0] - load_acquire(c.read, 0) < LOOKS:
        slot = c.slots[(c.written[0] % LOOKS) * SLOT : (c.written[0] % LOOKS + 1) * SLOT]
        begin(slot, d.clock, rate, period, 0)
        end, count = _HEAD, 0
        for s in range(PARTS):
            if d.parts[s].state[0] == PLAYING:
                chosen = voice if s == part else -1
                found, length = everybody(c, machine(d.parts[s].machine), s, chosen, slot[end:], MOST_STRINGS - count)
                count, end = count + found, end + length
        slot[0] = count
        store_release(c.written, 0, c.written[0] + 1)
    else:
        c.left_out += 1
    step = rate / LOOK_RATE
    c.turn = max(c.turn + step, c.next + 0.5 * step)  # what a low string has missed is not made up for
    slip = c.slip if part >= 0 or c.pace > 0.0 else 0.0
    whole = max(int((c.turn - c.next) / period - slip + 0.5), 1)
    c.next += period * (whole + slip)


@native
def everybody(c: Capture, m: Machine, part: int, chosen: int, slot: Any, room: int) -> Any:
    """Pictures of all strings of an instrument, and of its body, as many as there is room for; how many, how long.

    `chosen`: the voice that is followed, unless it is a string that answers.
    """
    end, count, answers = 0, 0, answering(m)
    for v in range(m.slots):
        for n in range(members(m, v) if m.voices[v].state != FREE else 0):
            if count < room:
                own = v == chosen and c.pace == 0.0 and n == min(c.string, members(m, v) - 1)
                end += voice_picture(m, v, n, slot[end:], part, own)
                count += 1
    for s in range(answers):
        if count < room:
            end += lane_picture(m, s, slot[end:], part, c.pace > 0.0 and s == c.string)
            count += 1
    if m.joint and count < room:
        end += body_picture(m, slot[end:], part)
        count += 1
    return count, end


@inlined
def begin(slot: Any, clock: Any, rate: Any, period: Any, kind: Any) -> None:
    """The head, in the order of HEAD."""
    slot[0], slot[1], slot[2], slot[3] = 0.0, clock % LAP, clock // LAP, rate
    slot[4], slot[5], slot[6], slot[7] = period, (clock % period) / period, STEP, kind


# --- the film ---------------------------------------------------------------------------------------------------------


@native
def wait_for_pluck(c: Capture, d: Desk) -> None:
    """Begin with the first step of a note that has begun since the film was armed."""
    if 0 <= c.born < latest(d):
        part, voice = in_focus(c, d, -1)
        c.follows, c.taken, c.due = machine(d.parts[part].machine).voices[voice].key, 0, d.clock
        store_release(c.film, 0, FILLING)
        expose(c, d)


@native
def latest(d: Desk) -> int:
    """The number of the note that began last."""
    newest = 0
    for s in range(PARTS):
        if d.parts[s].state[0] == PLAYING:
            newest = max(newest, machine(d.parts[s].machine).born)
    return newest


@native
def expose(c: Capture, d: Desk) -> None:
    """The next picture of the film; the last one gives it away."""
    part, voice = in_focus(c, d, c.follows)
    if part >= 0:
        m = machine(d.parts[part].machine)
        if c.taken == 0:
            begin(c.frames, d.clock, m.rate / m.oversample, period_of(m, voice), 1)
        start = _HEAD + c.taken * LARGEST_PICTURE
        row = c.frames[start : start + LARGEST_PICTURE]
        if c.pace > 0.0 and c.string < answering(m):
            lane_picture(m, c.string, row, part, 1)
        else:
            voice_picture(m, voice, min(c.string, members(m, voice) - 1), row, part, 1)
        c.taken += 1
        c.frames[0] = c.taken
    c.due = d.clock + STEP
    if part < 0 or c.taken >= min(c.length, PICTURES):
        store_release(c.film, 0, FULL)


@native
def listen(c: Capture, block: Any) -> None:
    """Keep the sound of a block, as one channel, for a spectrum."""
    count, sound = c.heard[0], c.sound
    for n in range(block.shape[0]):
        both = 0.0
        for channel in range(block.shape[1]):
            both += block[n, channel]
        sound[(count + n) & (HEARD - 1)] = both / block.shape[1]
    store_release(c.heard, 0, count + block.shape[0])


# --- whoever shows them -----------------------------------------------------------------------------------------------

Pictures = NDArray[np.float32]


def darkroom() -> NDArray[np.uint8]:
    """The memory of a Capture."""
    arena = Arena()
    start = arena.room(size_of(Capture))
    write = lay(
        arena,
        Capture,
        start,
        focus=-1,
        slip=0.02,
        length=PICTURES // 2,
        slots=(LOOKS * SLOT,),
        frames=(_HEAD + PICTURES * LARGEST_PICTURE,),
        sound=(HEARD,),
    )
    block = arena.sealed()
    write(block)
    return block


class Watcher:
    """The memory of a Capture, and the one reader of it. All is made, and touched, beforehand."""

    def __init__(self) -> None:
        self._block = darkroom()
        self.memory = seen(Capture, self.address, self._block)
        for array in (self.memory.slots, self.memory.frames, self.memory.sound):
            array.fill(0.0)

    @property
    def address(self) -> int:
        """For who takes the pictures."""
        return int(self._block.ctypes.data)

    def watch(self, on: bool) -> None:
        """Whether looks are taken."""
        self.memory.watching = int(on)

    def looks(self) -> list[Pictures]:
        """Copies of what has been seen since this was last asked; their slots are free again."""
        m, found = self.memory, []
        written = read_shared(address(m.written))
        for n in range(int(m.read[0]), written):
            slot = m.slots[n % LOOKS * SLOT : (n % LOOKS + 1) * SLOT]
            found.append(slot[: _length(slot)].copy())
            write_shared(address(m.read), n + 1)
        return found

    def arm(self, length: int = PICTURES // 2) -> bool:
        """Wait for the next pluck and film it; False while a film is being taken."""
        m = self.memory
        if read_shared(address(m.film)) not in (EMPTY, ARMED):
            return False
        m.length, m.born = length, -1
        write_shared(address(m.film), ARMED)
        return True

    def film(self) -> Pictures | None:
        """The film, if one has been taken: its head, then pictures that are as long as their sizes say."""
        m = self.memory
        if read_shared(address(m.film)) != FULL:
            return None
        head, rows = m.frames[:_HEAD].copy(), m.frames[_HEAD:].reshape(PICTURES, LARGEST_PICTURE)
        taken = [row[: _one(row)].copy() for row in rows[: int(head[0])]]
        write_shared(address(m.film), EMPTY)
        return np.concatenate([head, *taken]) if taken else None

    def sound(self, count: int) -> Pictures | None:
        """The last samples of the mix; None if there are not so many, or if they were written over meanwhile."""
        m = self.memory
        heard = read_shared(address(m.heard))
        if heard < count:
            return None
        found: Pictures = m.sound[np.arange(heard - count, heard) & (HEARD - 1)]
        return found if read_shared(address(m.heard)) - heard <= HEARD - count else None


def _one(row: Pictures) -> int:
    """Numbers of a picture."""
    return FACTS + int(row[6]) + int(row[7])


def _length(slot: Pictures) -> int:
    """Numbers of a look."""
    end = _HEAD
    for _ in range(int(slot[0])):
        end += _one(slot[end:])
    return end
