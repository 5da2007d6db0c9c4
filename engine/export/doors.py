"""What hosts call: C functions around the renderer, compiled with it, which take and give nothing but C's own types.

They allocate nothing: the host gives the memory. An instrument is one thread's at a time. They are no entries of the
engine's own module (engine/module.py), so nothing here is decorated: code.py compiles them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine import messages as midi
from engine.compiled import DOUBLE, INT, POINTER, address_of, floats, integers, native, octets, singles
from engine.elementary import power
from engine.export.heirs import alone, inherit, ready_for
from engine.export.memory import (
    ANY,
    BASIS,
    CHECKED,
    DAMAGED,
    HEAD,
    IN_DECIBELS,
    LAYOUT,
    MAGIC,
    MISPLACED,
    MULTIPLIED,
    OTHER_RATE,
    OTHER_VERSION,
    PRIME,
    Knob,
    exported,
    head,
)
from engine.opened import address
from engine.physics.designing import bench_at
from engine.preset.arguments import HIGHEST_RATE, LOWEST_RATE
from engine.synth.choral import alter, bridgework_at
from engine.synth.control import begin_anew, stir
from engine.synth.keyed import change, plan_at
from engine.synth.memory import CHANNELS, MIXED, PARTS, UNMOVED, desk, machine
from engine.synth.mixing import play_together
from engine.synth.mts import NOTHING, part, parts
from engine.synth.recipes import ready
from engine.synth.routing import choose, offer, program, room, welcome
from engine.synth.strips import turn_all
from engine.synth.unfolding import COPY, unfold
from engine.synth.zones import enrol


def _summed(words: Any, total: Any) -> Any:
    """The check sum of words so far and these: FNV-1a, a word at a time."""
    for n in range(words.size):
        total = (total ^ words[n]) * PRIME
    return total


def _searched(image: Any, count: Any, rate: Any) -> Any:
    """The section of an image that is for a sample rate, or why there is none."""
    if image == 0 or image & 7 or count < HEAD or count & 7:
        return MISPLACED if image & 7 else DAMAGED
    h = head(image)
    if h.magic != MAGIC or h.total != count:
        return DAMAGED
    if summed(integers(image + CHECKED, (count - CHECKED) // 8), BASIS) != h.check:
        return DAMAGED
    if h.layout != LAYOUT:
        return OTHER_VERSION
    for s in range(h.sections.size):
        own = h.sections[s].rate
        if (own != ANY and own == rate) or (own == ANY and LOWEST_RATE <= rate <= HIGHEST_RATE):
            return s
    return OTHER_RATE


def _filled(where: Any, image: Any, number: Any) -> None:
    """What playing changes of a memory, as an instrument at rest has it."""
    h = head(image)
    section = h.sections[number]
    memory = integers(where, section.memory // 8)
    for r in range(section.span, section.last):
        for n in range(h.spans[r, 1]):
            memory[h.spans[r, 0] + n] = 0
    copied(where, image, number, section.begin, section.fixed, section.word)
    p = exported(where)
    p.image, p.section = image, number
    d = desk(where + p.desk)
    d.listener += where
    for s in range(PARTS):
        if d.parts[s].machine != 0:
            d.parts[s].machine += where
    welcome(d)


def _copied(where: Any, image: Any, number: Any, begin: Any, end: Any, word: Any) -> Any:
    """Some runs of an image, whose words begin there; the word behind them."""
    h = head(image)
    memory, words = integers(where, h.sections[number].memory // 8), h.words
    for r in range(begin, end):
        first, count = h.runs[r, 0], h.runs[r, 1]
        for n in range(abs(count)):
            memory[first + n] = words[word + n if count > 0 else word]
        word += max(count, 1)
    return word


def _laid(where: Any, image: Any, number: Any, rate: Any, values: Any) -> None:
    """All of a memory, what playing does not change as well."""
    h = head(image)
    section = h.sections[number]
    memory, word = integers(where, section.memory // 8), section.word
    for n in range(memory.size):
        memory[n] = 0
    for r in range(section.begin, section.fixed):
        word += max(h.runs[r, 1], 1)
    copied(where, image, number, section.fixed, section.end, word)
    filled(where, image, number)
    for n in range(section.column, section.folded):
        c = h.columns[n]
        unfold(where, h.wires[c.wire if c.kind < COPY else 0], c)
    if section.rate == ANY:
        change_all(where, values)
        designed(where, image, rate)
        kept(where, image, number, True)


def _change_all(where: Any, values: Any) -> None:
    """Before a design: have the values at an address, if there are any, for what the presets say."""
    wishes = exported(where).wishes
    for n in range(wishes.size if values else 0):
        wish = wishes[n]
        value = floats(values, wish.parameter + 1)[wish.parameter]
        if abs(value) < 1e30:
            value = min(max(value, wish.low), wish.high)
            if wish.plan:
                change(bench_at(where + wish.bench), plan_at(where + wish.plan), wish.what, value)
            else:
                alter(bridgework_at(where + wish.bench), wish.what, value)


def _designed(where: Any, image: Any, rate: Any) -> None:
    """The strings and filters of all instruments in a memory, for a sample rate; all are as late as the latest."""
    h, p = head(image), exported(where)
    d, latest = desk(where + p.desk), 0
    for n in range(h.made.size):
        ready(where, h.made[n], h.recipes, h.numbers, rate)
        latest = max(latest, machine(where + h.made[n].machine).latency)
    p.latency = latest
    for s in range(PARTS):
        if d.parts[s].machine != 0:
            d.parts[s].delay = latest - machine(d.parts[s].machine).latency


def _kept(where: Any, image: Any, number: Any, away: Any) -> None:
    """Keep what playing changes of a memory behind it; or, not `away`, have it as it was."""
    h = head(image)
    section = h.sections[number]
    memory, behind, n = integers(where, section.memory // 8), integers(where + section.memory, section.kept), 0
    for r in range(section.span, section.last):
        for w in range(h.spans[r, 0], h.spans[r, 0] + h.spans[r, 1]):
            if away:
                behind[n] = memory[w]
            else:
                memory[w] = behind[n]
            n += 1


def _tuned(d: Any, frame: Any, data: Any) -> Any:
    """Hand on what a SysEx message says of each key, if there is room for all of it; others say nothing to a string."""
    keys = parts(data)
    if keys and not room(d, keys):
        return 0
    for i in range(keys):
        one = part(data, i)
        if one != NOTHING:
            offer(d, d.clock + frame, one)
    return 1


def _begun(where: Any, image: Any, count: Any, rate: Any, values: Any) -> Any:
    """An instrument in the host's memory, or why there is none."""
    found = searched(image, count, rate)
    if found < 0:
        return found
    if where == 0 or where & 63:
        return MISPLACED
    laid(where, image, found, rate, values)
    return 0


def _turned_on(where: Any, parameter: Any, channel: Any, value: Any) -> Any:
    """Move a parameter of all parts that have it on a channel, or have it unmoved; 0 if none has."""
    p = exported(where)
    d, turned = desk(where + p.desk), 0
    for k in range(p.knobs.size):
        knob = p.knobs[k]
        if knob.parameter == parameter:
            m = machine(d.parts[knob.part].machine)
            m.channels[channel].position[knob.controller] = placed(knob, value) if abs(value) < 1e30 else UNMOVED
            stir(m, channel)
            turned = 1
    return turned


def _placed(knob: Knob, value: Any) -> Any:
    """Where its controller stands for a value."""
    if knob.conversion == IN_DECIBELS:
        converted = power(10.0, (value - knob.own) / 20.0)
    elif knob.conversion == MULTIPLIED:
        converted = value / knob.own
    else:
        converted = value - knob.own
    return min(max((converted - knob.low) / (knob.high - knob.low) * 127.0, 0.0), 127.0)


def _enrolled(m: Any) -> None:
    """Have all channels but the first follow that one."""
    begin_anew(m, 0, CHANNELS - 1)
    for c in range(1, CHANNELS):
        enrol(m.channels[c], c, 0)
    m.channels[0].manager = 0
    turn_all(m)


summed, searched, copied = native(_summed), native(_searched), native(_copied)
filled, laid, tuned = native(_filled), native(_laid), native(_tuned)
designed, kept, change_all = native(_designed), native(_kept), native(_change_all)
begun, placed, enrolled = native(_begun), native(_placed), native(_enrolled)
turned_on = native(_turned_on)


def size(image: Any, count: Any, rate: Any) -> Any:
    """Bytes of memory that an instrument at this rate takes."""
    there = address_of(image)
    found = searched(there, count, rate)
    if found < 0:
        return found
    return head(there).sections[found].memory + 8 * head(there).sections[found].kept


def open_in(memory: Any, image: Any, count: Any, rate: Any) -> Any:
    """Make an instrument in the host's memory."""
    return begun(address_of(memory), address_of(image), count, rate, 0)


def redesign(memory: Any, image: Any, count: Any, rate: Any, values: Any) -> Any:
    """The same with other values of what an instrument is designed for, by their numbers; of what is no number the
    preset's own. It takes its time: not for an audio thread."""
    return begun(address_of(memory), address_of(image), count, rate, address_of(values))


def follow(memory: Any, elder: Any) -> Any:
    """Have an instrument that nobody has played go on where its elder, of the same image and rate, is now: play it from
    now on, and the elder no more. 0 if that has to wait, for a strummed chord, or for jawari_alone of the elder."""
    where, before = address_of(memory), address_of(elder)
    d, e = desk(where + exported(where).desk), desk(before + exported(before).desk)
    if not alone(before) or not ready_for(d, e):
        return 0
    inherit(d, e)
    return 1


def is_alone(memory: Any) -> Any:
    """Whether nothing is heard any more of the elder that it followed, so that the elder's memory is free."""
    return alone(address_of(memory))


def reset(memory: Any) -> None:
    """As if just opened."""
    where = address_of(memory)
    p = exported(where)
    if head(p.image).sections[p.section].rate == ANY:
        kept(where, p.image, p.section, False)
    else:
        filled(where, p.image, p.section)


def latency(memory: Any) -> Any:
    """Samples by which everything is late."""
    return exported(address_of(memory)).latency


def send(memory: Any, frame: Any, message: Any, count: Any) -> Any:
    """A channel message, or one of MIDI's tuning standard, for a frame from now; 0 if it must be sent again once some
    have been rendered."""
    where, data = address_of(memory), octets(address_of(message), count)
    d = desk(where + exported(where).desk)
    if count > 3:
        return tuned(d, max(frame, 0), data)
    packed = 0
    for n in range(min(count, 3)):
        packed |= (0 + data[n]) << 8 * n
    if not midi.is_whole(packed, count):
        return 1
    if midi.kind(packed) == midi.PROGRAM:
        choose(d, midi.channel(packed), program(d, packed))
        return 1
    if not room(d, 1):
        return 0
    offer(d, d.clock + max(frame, 0), packed)
    return 1


def take(memory: Any, part: Any) -> Any:
    """Have all channels begin their notes on a part; 0 if there is none of this number."""
    where = address_of(memory)
    d = desk(where + exported(where).desk)
    if part < 0 or part >= PARTS or d.parts[part].machine == 0:
        return 0
    d.parts[part].everywhere = 1
    welcome(d)
    return 1


def turn(memory: Any, parameter: Any, value: Any) -> Any:
    """Move a parameter of all parts that have it, on all channels; 0 if none has."""
    turned = 0
    if abs(value) < 1e30:
        for c in range(CHANNELS):
            turned = turned_on(address_of(memory), parameter, c, value)
    return turned


def turn_channel(memory: Any, parameter: Any, channel: Any, value: Any) -> Any:
    """The same on one channel, from 0, and for its notes alone; with what is no number as if it had never been moved
    there, so that a member of an MPE zone goes where its manager is."""
    if channel < 0 or channel >= CHANNELS:
        return 0
    return turned_on(address_of(memory), parameter, channel, value)


def members(memory: Any) -> None:
    """Make all channels but the first members of its MPE zone, each for a note of its own. As MIDI's registered
    parameter 6 does, but that the first channel, whom members follow, keeps what it was told: parameters stay where
    they were turned to."""
    where = address_of(memory)
    d = desk(where + exported(where).desk)
    for s in range(PARTS):
        if d.parts[s].machine != 0:
            enrolled(machine(d.parts[s].machine))
    enrolled(machine(d.listener))


def run(memory: Any, frames: Any, left: Any, right: Any) -> None:
    """The next frames."""
    where = address_of(memory)
    p = exported(where)
    both, one, other = p.both, singles(address_of(left), frames), singles(address_of(right), frames)
    done = 0
    while done < frames:
        span = min(MIXED, frames - done)
        play_together(where + p.desk, span, address(both))
        for n in range(span):
            one[done + n], other[done + n] = both[2 * n], both[2 * n + 1]
        done += span


DOORS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any]] = {
    "jawari_size": (size, (POINTER, INT, DOUBLE), INT),
    "jawari_open": (open_in, (POINTER, POINTER, INT, DOUBLE), INT),
    "jawari_redesign": (redesign, (POINTER, POINTER, INT, DOUBLE, POINTER), INT),
    "jawari_follow": (follow, (POINTER, POINTER), INT),
    "jawari_alone": (is_alone, (POINTER,), INT),
    "jawari_reset": (reset, (POINTER,), None),
    "jawari_latency": (latency, (POINTER,), INT),
    "jawari_send": (send, (POINTER, INT, POINTER, INT), INT),
    "jawari_take": (take, (POINTER, INT), INT),
    "jawari_turn": (turn, (POINTER, INT, DOUBLE), INT),
    "jawari_turn_channel": (turn_channel, (POINTER, INT, INT, DOUBLE), INT),
    "jawari_members": (members, (POINTER,), None),
    "jawari_run": (run, (POINTER, INT, POINTER, POINTER), None),
}
LEVEL = "jawari_level"  # and this one, which engine/levels.py makes
