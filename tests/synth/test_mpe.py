"""MPE: notes that bend, swell and brighten one by one, and managers who speak for all of their zone.

The oracle is mostly a plain channel that is told the same: a member must sound like it, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mido
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synth.playing import (
    PLAIN,
    RATE,
    Event,
    bend,
    bend_range,
    cc,
    cents,
    instrument,
    off,
    on,
    pitch,
    pressure,
    raw,
    render,
    schedule,
    states,
)

from engine.music.midi_file import midi_bytes, parse_midi
from engine.physics.string import Array
from engine.synth import memory
from engine.synth.instrument import Instrument

LOWER, UPPER = 0, 15  # managers
both_zones = pytest.mark.parametrize(("manager", "member", "other"), [(LOWER, 1, 3), (UPPER, 14, 12)])


def zone(members: int, manager: int = LOWER) -> list[list[int]]:
    """RPN 6."""
    return [cc(101, 0, manager), cc(100, 6, manager), cc(6, members, manager)]


def at(sample: int, *messages: list[int]) -> list[Event]:
    return [(sample, message) for message in messages]


def heard(events: list[Event], frames: int = 12000) -> Array:
    return raw(instrument("modal"), events, frames)


def channels(events: list[Event]) -> Any:
    """The channels after some messages."""
    inst = instrument("modal")
    raw(inst, events, 1)
    return inst.machine.channels


def held(inst: Instrument) -> set[tuple[int, int]]:
    """Channels and keys."""
    voices = inst.machine.voices
    return {(int(v.channel), int(v.key)) for v in voices if v.state == memory.HELD}


# --- bends, measured --------------------------------------------------------------------------------------------------


def detuned(x: Array, inst: Instrument, key: int, semitones: float) -> float:
    """Cents between what is heard and the key, bent."""
    hertz = inst.tuning[key]
    assert hertz is not None
    wanted = hertz * 2.0 ** (semitones / 12.0)
    return abs(cents(pitch(x, wanted), wanted))


@pytest.mark.parametrize("name", ["modal", "grid"])
@both_zones
@pytest.mark.parametrize("whole", [0, -6000, 8191])
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_every_note_bends_by_itself_and_all_by_their_manager(
    name: str, manager: int, member: int, other: int, whole: int, first: bool
) -> None:
    """48 semitones for members, 2 on top for the manager, before the stroke or after it."""
    wheels, inst = {member: -500, other: -150}, instrument(name)
    bends = at(0 if first else 2400, bend(whole, manager), *(bend(w, c) for c, w in wheels.items()))
    notes = at(0, on(57, 100, member), on(62, 100, other))
    x = raw(inst, [*at(0, *zone(5, manager)), *(bends + notes if first else notes + bends)], 36000)[9600:, 0]
    for key, channel in ((57, member), (62, other)):
        assert detuned(x, inst, key, 48.0 * wheels[channel] / 8192.0 + 2.0 * whole / 8192.0) < 0.05


@both_zones
def test_the_manager_s_own_notes_bend_with_its_wheel_alone(manager: int, member: int, other: int) -> None:
    inst = instrument("modal")
    score = at(0, *zone(5, manager), on(57, 100, manager)) + at(2400, bend(5000, manager), bend(900, member))
    x = raw(inst, [*score, *at(2500, bend(-900, other))], 36000)[9600:, 0]
    assert detuned(x, inst, 57, 2.0 * 5000 / 8192.0) < 0.05


@both_zones
def test_a_range_sent_to_one_member_is_all_members_(manager: int, member: int, other: int) -> None:
    """Also while they sound; the manager's is its own."""
    inst = instrument("modal")
    score = at(0, *zone(5, manager), *bend_range(3, channel=manager), on(57, 100, member))
    score += at(10, bend(4000, member), bend(2000, manager)) + at(4800, *bend_range(7, 50, channel=other))
    x = raw(inst, score, 36000)[9600:, 0]
    assert detuned(x, inst, 57, 7.5 * 4000 / 8192.0 + 3.0 * 2000 / 8192.0) < 0.05
    got = inst.machine.channels.range
    members = [abs(manager - rank) for rank in range(1, 6)]
    assert all(got[c] == (750 if c in members else 300 if c == manager else 200) for c in range(16))


# --- a member is a channel like any other -----------------------------------------------------------------------------


def gesture(channel: int) -> list[Event]:
    """A note, with everything set just before it is struck and moved while it sounds."""
    c = channel
    start = at(600, bend(700, c), pressure(20, c), cc(74, 90, c), cc(1, 100, c), on(60, 100, c))
    moves = at(3000, bend(-500, c)) + at(4000, pressure(60, c)) + at(5000, cc(1, 50, c), cc(74, 10, c), on(60, 80, c))
    return start + moves + at(9000, off(60, c))


@both_zones
def test_a_member_sounds_like_a_plain_channel(manager: int, member: int, other: int) -> None:
    """From the first sample on: what is sent just before a note is where it begins."""
    plain = heard([*at(0, *bend_range(48, channel=member)), *gesture(member)])
    assert np.abs(plain).max() > 0.01
    crowd = at(650, bend(3000, other), pressure(90, other), cc(74, 3, other), cc(64, 127, other))
    assert (heard([*at(0, *zone(6, manager)), *gesture(member), *crowd]) == plain).all()


@both_zones
def test_managers_and_channels_outside_sound_as_ever(manager: int, member: int, other: int) -> None:
    far = abs(manager - 7)
    crowd = at(650, bend(3000, member), pressure(90, member), cc(74, 3, member), cc(64, 127, member))
    for channel in (manager, far):
        assert (heard([*at(0, *zone(6, manager)), *gesture(channel), *crowd]) == heard(gesture(channel))).all()
    speech = at(650, bend(3000, manager), pressure(90, manager), *(cc(n, 127, manager) for n in (1, 64, 66, 67, 74)))
    speech += at(7000, *(cc(n, 0, manager) for n in (120, 121, 123)))
    assert (heard([*at(0, *zone(6, manager)), *gesture(far), *speech]) == heard(gesture(far))).all()


@pytest.mark.parametrize("control", [pressure, lambda v, c: cc(74, v, c), lambda v, c: cc(1, v, c)])
@both_zones
def test_who_has_not_moved_a_controller_follows_the_manager(
    control: Callable[[int, int], list[int]], manager: int, member: int, other: int
) -> None:
    """While it sounds and when it begins; who has, does not, until its controllers are reset."""

    def notes(channel: int) -> list[Event]:
        return at(1000, on(60, 100, channel)) + at(6000, on(64, 100, channel))

    def moves(channel: int) -> list[Event]:
        return at(600, control(90, channel)) + at(4000, control(30, channel))

    start = at(0, *zone(4, manager))
    by_manager, alone = heard([*start, *notes(member), *moves(manager)]), heard([*notes(member), *moves(member)])
    assert (by_manager == alone).all()
    assert (by_manager != heard([*start, *notes(member)])).any()
    own = at(500, control(50, member))
    kept = heard([*start, *own, *notes(member), *moves(manager)])
    assert (kept == heard([*own, *notes(member)])).all()
    back = heard([*start, *own, *at(550, cc(121, 0, member)), *notes(member), *moves(manager)])
    assert (back == alone).all()
    assert (heard([*start, *notes(member), *moves(other)]) == heard(notes(member))).all()


def test_poly_pressure_is_of_a_note_and_of_no_other() -> None:
    """On a member's channel it is what that channel's pressure is; on the manager's it does not reach its members."""
    score = at(0, *zone(5), on(60, 100, 1), on(64))
    assert (heard([*score, *at(2000, [0xA0, 60, 100], [0xA1, 64, 100])]) == heard(score)).all()
    member = heard([*score, *at(2000, [0xA1, 60, 100])])
    assert (member == heard([*score, *at(2000, [0xD1, 100])])).all()
    assert (member != heard(score)).any()
    assert (heard([*score, *at(2000, [0xA0, 64, 100])]) != heard(score)).any()


# --- pedals and mode messages of the whole zone -----------------------------------------------------------------------


@pytest.mark.parametrize("pedal", [64, 66, 67])
@pytest.mark.parametrize("value", [40, 127])
@both_zones
def test_the_manager_s_pedals_are_all_members_(pedal: int, value: int, manager: int, member: int, other: int) -> None:
    """Exactly as if each had been told; another foot, in another member's channel, does nothing."""

    def pressed(channel: int) -> list[Event]:
        notes = at(0, on(60, 100, member)) + at(3000, on(64, 100, member)) + at(5000, off(60, member), off(64, member))
        return notes + at(2000, cc(pedal, value, channel)) + at(9000, cc(pedal, 0, channel))

    start = at(0, *zone(4, manager))
    by_manager = heard([*start, *pressed(manager)])
    assert (by_manager == heard(pressed(member))).all()
    assert (heard([*start, *pressed(other)]) == heard(pressed(9))).all()
    if value == 127:
        assert (by_manager != heard(pressed(9))).any()


def test_the_other_zone_has_its_own_pedals() -> None:
    inst = instrument("modal")
    start = at(0, *zone(5, LOWER), *zone(5, UPPER), *(on(60 + c, 100, c) for c in (0, 1, 5, 7, 11, 15)))
    down, up = at(1000, cc(66, 127, LOWER)), at(2000, *(off(60 + c, c) for c in (0, 1, 5, 7, 11, 15)))
    raw(inst, [*start, *down, *up], 24000)
    voices = inst.machine.voices
    assert {int(v.channel) for v in voices if v.state == memory.RELEASED} == {0, 1, 5}


@pytest.mark.parametrize(("number", "state"), [(123, memory.RELEASED), (127, memory.RELEASED), (120, memory.FADING)])
@pytest.mark.parametrize("lost", [False, True], ids=["queued", "lost"])
@both_zones
def test_mode_messages_end_the_zone_s_notes(
    number: int, state: int, lost: bool, manager: int, member: int, other: int
) -> None:
    """Even one that found the ring full."""
    sounding = (manager, member, other, abs(manager - 6))
    inst = instrument("modal")
    raw(inst, at(0, *zone(5, manager), *(on(60, 100, c) for c in sounding)), 100)
    for _ in range(memory.RING_SIZE if lost else 0):
        assert inst.schedule(100, cc(3, 0))
    assert inst.schedule(100, cc(number, 0, manager))
    raw(inst, [], 1)
    assert states(inst)[:4] == [state, state, state, memory.HELD]
    inst.reset()
    raw(inst, at(0, *zone(5, manager), *(on(60, 100, c) for c in sounding), cc(number, 0, member)), 1)
    assert states(inst)[:4] == [memory.HELD, state, memory.HELD, memory.HELD]


def test_a_lost_note_off_of_the_manager_s_ends_no_other_note() -> None:
    inst = instrument("modal")
    raw(inst, at(0, *zone(5), on(60), on(60, 100, 1)), 100)
    for _ in range(memory.RING_SIZE):
        assert inst.schedule(100, cc(3, 0))
    assert inst.schedule(100, off(60))
    raw(inst, [], 1)
    assert states(inst)[:2] == [memory.RELEASED, memory.HELD]


def test_reset_all_controllers_reaches_the_zone() -> None:
    """And only that; ranges and zones stay."""
    moved = [m for c in range(16) for m in (bend(3000, c), pressure(9, c), cc(74, 9, c), cc(64, 127, c))]
    rows = channels(at(0, *zone(5), *moved, cc(121, 0)))
    for number in (memory.PRESSURE, 74, 64):
        assert (rows.position[:6, number] == memory.UNMOVED).all()
        assert (rows.position[6:, number] != memory.UNMOVED).all()
    assert (rows.bend[:6] == 0).all()
    assert (rows.bend[6:] == 3000).all()
    assert list(rows.range) == [200, *[4800] * 5, *[200] * 10]
    assert list(rows.manager) == [0, *[0] * 5, *range(6, 16)]


def test_reset_all_controllers_lifts_the_zone_s_sostenuto() -> None:
    score = at(0, *zone(5), on(60, 100, 2)) + at(1000, cc(66, 127)) + at(2000, off(60, 2))
    inst = instrument("modal")
    raw(inst, [*score, *at(3000, cc(121, 0))], 24000)
    assert inst.silent


# --- zones come, overlap and go ---------------------------------------------------------------------------------------


def layout(lower: int, upper: int) -> list[int]:
    """The manager of every channel."""
    return [0 if 0 < lower >= c else 15 if upper > 0 and c >= 15 - upper else c for c in range(16)]


def test_channels_start_outside_zones() -> None:
    rows = channels([])
    assert list(rows.manager) == list(range(16))
    assert (rows.range == 200).all()


@pytest.mark.parametrize(
    ("messages", "lower", "upper"),
    [
        (zone(15), 15, 0),
        (zone(15, UPPER), 0, 15),
        (zone(7) + zone(7, UPPER), 7, 7),
        (zone(7) + zone(10, UPPER), 4, 10),
        (zone(10, UPPER) + zone(7), 7, 7),
        (zone(15) + zone(1, UPPER), 13, 1),
        (zone(15, UPPER) + zone(14), 14, 0),
        (zone(5, UPPER) + zone(14), 14, 0),
        (zone(5, UPPER) + zone(15), 15, 0),
        (zone(15) + zone(0, UPPER), 15, 0),
        (zone(10) + zone(3), 3, 0),
        (zone(10) + zone(3, UPPER) + zone(0), 0, 3),
        ([*zone(10), cc(6, 3)], 3, 0),
    ],
)
def test_the_newest_zone_is_whole_and_the_other_gives_way(messages: list[list[int]], lower: int, upper: int) -> None:
    assert list(channels(at(0, *messages)).manager) == layout(lower, upper)


@pytest.mark.parametrize(
    "messages",
    [
        *(zone(5, channel) for channel in range(1, 15)),
        [cc(101, 0), cc(100, 6), cc(6, 16)],
        [cc(101, 0), cc(100, 6), cc(38, 5)],
        [cc(101, 0), cc(100, 6), cc(101, 127), cc(100, 127), cc(6, 5)],
        [cc(101, 0), cc(100, 6), cc(99, 0), cc(98, 6), cc(6, 5)],
        [cc(99, 0), cc(98, 6), cc(6, 5)],
        [cc(100, 6), cc(6, 5)],
        zone(0),
        zone(0, UPPER),
    ],
)
def test_nothing_else_makes_a_zone(messages: list[list[int]]) -> None:
    start = [bend(4000), *bend_range(12, channel=15)]
    rows = channels(at(0, *start, *messages))
    assert list(rows.manager) == list(range(16))
    assert list(rows.range) == [*[200] * 15, 1200]
    assert rows.bend[0] == 4000


ORDERS = st.lists(st.tuples(st.sampled_from([LOWER, UPPER]), st.sampled_from([0, 1, 5, 9, 13, 14, 15])), max_size=8)


@settings(max_examples=300)
@given(ORDERS, st.integers(0, 8))
def test_zones_are_what_the_rules_make_of_them(orders: list[tuple[int, int]], moved: int) -> None:
    """Who enters, leaves or is named again begins anew: range, wheel and controllers; others keep theirs."""
    inst = instrument("modal")
    sizes, ranges, fresh = {LOWER: 0, UPPER: 0}, [200] * 16, [True] * 16
    for n, (manager, count) in enumerate(orders):
        if n == moved:
            for c in range(16):
                schedule(inst, at(0, *bend_range(9, channel=c), cc(74, 3, c), bend(8, c)))
            ranges, fresh = [900] * 16, [False] * 16
        schedule(inst, at(0, *zone(count, manager)))
        rival, before = UPPER - manager, layout(sizes[LOWER], sizes[UPPER])
        ended = sizes[rival] > 0 and count >= 14
        if count == sizes[manager] == 0:
            continue
        sizes[manager] = count
        sizes[rival] = min(sizes[rival], max(14 - count, 0)) if count else sizes[rival]
        after = layout(sizes[LOWER], sizes[UPPER])
        for c in range(16):
            if c == manager or manager in (before[c], after[c]) or before[c] != after[c] or (ended and c == rival):
                ranges[c], fresh[c] = (200 if after[c] == c else 4800), True
    raw(inst, [], 1)
    rows = inst.machine.channels
    assert list(rows.manager) == layout(sizes[LOWER], sizes[UPPER])
    assert list(rows.range) == ranges
    assert list(rows.position[:, 74] == memory.UNMOVED) == fresh
    assert list(rows.bend == 0) == fresh


def test_keys_of_channels_that_begin_anew_are_let_go() -> None:
    """Whatever pedal held them; the rest of a zone that gave way plays on."""
    everyone = [on(60, 100, c) for c in range(16)]
    inst = Instrument(PLAIN, RATE, polyphony=16)
    raw(inst, at(0, *zone(5), *zone(9, UPPER), *everyone), 1)
    raw(inst, at(1, *zone(2)), 1)
    assert held(inst) == {(c, 60) for c in range(6, 16)}
    raw(inst, at(2, *zone(9)), 1)
    assert held(inst) == {(c, 60) for c in range(10, 16)}
    raw(inst, at(3, cc(66, 127, UPPER), cc(64, 127, UPPER), *(off(60, c) for c in range(10, 16))), 1)
    raw(inst, at(4, *zone(0, UPPER)), 24000)
    assert inst.silent


def test_a_note_of_a_zone_that_ended_can_still_be_let_go_and_struck() -> None:
    inst = instrument("modal")
    raw(inst, at(0, *zone(5), on(60, 100, 2)) + at(100, *zone(0)) + at(200, on(60, 100, 2)), 300)
    assert held(inst) == {(2, 60)}
    raw(inst, at(300, off(60, 2)), 24000)
    assert inst.silent


def test_reset_ends_the_zones() -> None:
    inst = instrument("modal")
    moved = [m for c in range(16) for m in (*bend_range(9, channel=c), cc(74, 3, c), cc(64, 127, c), bend(800, c))]
    raw(inst, at(0, *zone(9), *zone(4, UPPER), *moved, on(60, 100, 3)), 1000)
    inst.reset()
    new = Instrument(PLAIN, RATE)
    assert (inst.machine.channels == new.machine.channels).all()
    assert (raw(inst, gesture(3), 12000) == heard(gesture(3))).all()


# --- files and floods -------------------------------------------------------------------------------------------------


def mpe_file() -> mido.MidiFile:
    """Two notes that slide apart while the manager bends both."""
    file = mido.MidiFile(ticks_per_beat=480)  # 960 ticks a second at the default tempo, each of 50 samples
    track = mido.MidiTrack()
    file.tracks.append(track)
    wheels = [bend(0, 1), bend(0, 2)]
    score = [(0, m) for m in (*zone(15), cc(101, 127), cc(100, 127), *wheels, on(57, 100, 1), on(62, 100, 2))]
    score += [(100 + n, m) for n in range(100) for m in (bend(-3 * n, 1), bend(5 * n, 2), cc(74, n, 1))]
    score += [(210, bend(4096)), (800, off(57, 1)), (800, off(62, 2))]
    now = 0
    for tick, data in score:
        track.append(mido.Message.from_bytes(data, time=tick - now))
        now = tick
    return file


def test_a_midi_file_plays_with_its_zones() -> None:
    """The same whether it comes as a score or as messages."""
    inst, seconds = instrument("modal"), 0.8
    now, messages = 0.0, []
    for message in mpe_file():
        now += message.time
        if not message.is_meta:
            messages.append(message.copy(time=now))
    live = inst(messages, seconds, RATE).T
    events = [(sample, list(data)) for sample, data in parse_midi(midi_bytes(mpe_file())).events(RATE)]
    inst.reset()
    offline = render(inst, [event for event in events if event[0] < live.shape[0]], live.shape[0])
    assert (live == offline).all()
    x = offline[13000:, 0].astype(float)
    assert detuned(x, inst, 57, -48.0 * 297 / 8192.0 + 1.0) < 0.05
    assert detuned(x, inst, 62, 48.0 * 495 / 8192.0 + 1.0) < 0.05


CHANNEL = st.sampled_from([0, 1, 2, 7, 8, 13, 14, 15])
KEY, BYTE = st.sampled_from([40, 60, 72]), st.integers(0, 127)
NUMBERS = st.sampled_from([1, 6, 38, 64, 66, 67, 74, 98, 99, 100, 101, 120, 121, 123])
MESSAGES = st.one_of(
    st.builds(lambda c, k, v: [on(k, v, c)], CHANNEL, KEY, BYTE),
    st.builds(lambda c, k: [off(k, c)], CHANNEL, KEY),
    st.builds(lambda c, w: [bend(w, c)], CHANNEL, st.integers(-8192, 8191)),
    st.builds(lambda c, v: [pressure(v, c)], CHANNEL, BYTE),
    st.builds(lambda c, n, v: [cc(n, v, c)], CHANNEL, NUMBERS, BYTE | st.integers(0, 6)),
    st.builds(lambda c, s, n: bend_range(s, n, c), CHANNEL, BYTE, BYTE),
    st.builds(zone, st.integers(0, 16), CHANNEL),
)


@cache
def damped() -> Instrument:
    return Instrument({**PLAIN, "release": "50 ms"}, RATE, polyphony=6)


@settings(max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 3000), MESSAGES), min_size=10, max_size=120))
def test_no_flood_leaves_a_value_out_of_range_or_a_note_behind(flood: list[tuple[int, list[list[int]]]]) -> None:
    inst = damped()
    inst.reset()
    out = render(inst, [(sample, message) for sample, part in flood for message in part], 4000)
    rows, voices = inst.machine.channels, inst.machine.voices
    managers, numbers = rows.manager, rows.position
    assert set(zip(range(16), managers)) <= {(c, m) for c in range(16) for m in (c, LOWER, UPPER)}
    assert (managers[managers] == managers).all()
    assert ((numbers >= memory.UNMOVED) & (numbers <= 127)).all()
    assert ((rows.bend >= -8192) & (rows.bend <= 8191)).all()
    assert ((rows.range >= 0) & (rows.range <= 12799)).all()
    assert ((voices.channel >= 0) & (voices.channel < 16)).all()
    assert (np.abs(voices.semitones) <= 2 * 128).all()
    assert np.isfinite(out).all()
    render(inst, at(4000, *(cc(123, 0, c) for c in range(16))), 1)
    assert not held(inst)
    render(inst, at(4001, *(cc(121, 0, c) for c in range(16))), 12000)
    assert inst.silent
    assert inst.report()["watchdog"] == 0
