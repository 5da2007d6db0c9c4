"""A room around an instrument: as long, as loud and as wide as asked for, in the same bits, and gone when it is."""

from __future__ import annotations

from dataclasses import replace
from math import log10
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synth.assemblies import PLAYED
from synth.playing import RATE, SMALL, Event, blocks, cc, off, on, render

from engine import messages as midi
from engine.aligned import zeros
from engine.layout import Arena, lay, seen, size_of
from engine.physics.string import Array
from engine.preset.loader import load_preset
from engine.preset.room import Room
from engine.synth import room
from engine.synth.budget import MOST_BYTES
from engine.synth.ensemble import Seats
from engine.synth.instrument import Instrument
from engine.synth.memory import TICK
from engine.synth.mixing import play_together
from engine.synth.room import Echoes
from engine.synth.routing import hand_on

pytestmark = pytest.mark.usefixtures("shared_designs")

ASKED = Room(0.3, 0.4, 5.0)
BARE = load_preset(SMALL["bridge"])
AROUND = replace(BARE, room=ASKED)
NETWORK = replace(PLAYED["hub"], room=ASKED)


def empty_room(asked: Room, rate: float = RATE) -> tuple[Echoes, Array]:
    """One by itself, awake; and what keeps it."""
    arena = Arena()
    start = arena.room(size_of(Echoes))
    write = lay(arena, Echoes, start, **room.design(asked, rate))
    block = arena.sealed()
    write(block)
    found = seen(Echoes, int(block.ctypes.data), block)
    found.awake = 1
    return found, block


def heard(asked: Room, signal: Array, rate: float = RATE) -> Array:
    """What comes back of a signal [n, 2], without what went in."""
    found, _ = empty_room(asked, rate)
    out = zeros(signal.shape)
    out[:] = signal
    room.add(found.address, out)
    return out - found.dry * signal


def impulse(seconds: float, rate: float = RATE, side: int = 0) -> Array:
    x = np.zeros((round(seconds * rate), 2))
    x[0, side] = 1.0
    return x


def low(x: Array, edge: float = 1000.0, rate: float = RATE) -> Array:
    """What lies below so many hertz."""
    spectrum = np.fft.rfft(x, axis=0)
    spectrum[round(edge * len(x) / rate) :] = 0.0
    return np.fft.irfft(spectrum, len(x), axis=0)


def time_to_fall(x: Array, rate: float = RATE) -> float:
    """T60 by the slope of what is left of all power (Schroeder), from -5 to -35 dB."""
    left = np.cumsum(np.square(x).sum(axis=1)[::-1])[::-1]
    level = 10.0 * np.log10(left / left[0])
    first, last = np.searchsorted(-level, [5.0, 35.0])
    return float(2.0 * (last - first) / rate)


# --- what it is -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [44_100, 96_000])
@pytest.mark.parametrize(("decay", "size"), [(0.3, 4.0), (1.2, 9.0), (0.15, 2.0)])
def test_it_decays_as_asked_and_high_sounds_in_half_the_time(decay: float, size: float, rate: float) -> None:
    t = np.arange(round((0.1 + 1.5 * decay) * rate)) / rate
    for frequency, wanted in ((400.0, decay), (5000.0, 0.5 * decay)):
        burst = np.exp(-(((t - 0.02) / 5e-3) ** 2)) * np.cos(2.0 * np.pi * frequency * t)
        x = heard(Room(1.0, decay, size), np.stack([burst, 0.0 * burst], axis=1), rate)
        late = x[round(0.05 * rate) :]
        assert time_to_fall(late, rate) == pytest.approx(wanted, rel=0.15)


def test_its_first_echo_comes_when_sound_has_crossed_it() -> None:
    for size in (1.0, 4.0, 30.0):
        x = heard(Room(1.0, 1.0, size), impulse(0.2))
        first = int(np.flatnonzero(np.abs(x).max(axis=1))[0])
        assert first / RATE == pytest.approx(room.WAYS[0] * size / 343.0, rel=0.05)


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_its_share_is_of_the_power(share: float) -> None:
    """Of a noise that lasts, below where high sounds are lost; all together is as loud as without."""
    rng = np.random.default_rng(3)
    noise = low(rng.standard_normal((3 * RATE, 2)))
    found = heard(Room(share, 0.5, 4.0), noise)
    part = np.square(found[RATE:]).mean() / np.square(noise[RATE:]).mean()
    assert 10.0 * log10(part / share) == pytest.approx(0.0, abs=1.0)


def test_both_sides_hear_another_room() -> None:
    """Also of what comes from the middle."""
    x = impulse(0.6)
    x[0] = 1.0
    left, right = heard(ASKED, x).T
    assert abs(float(np.corrcoef(left, right)[0, 1])) < 0.2
    assert np.square(left).sum() == pytest.approx(np.square(right).sum(), rel=0.3)


def power_inside(r: Echoes) -> float:
    """Of all that is on its way: the lines from where they were last emptied, and what low-passes hold."""
    total = 0.0
    for n, (first, length) in enumerate(zip(r.first, r.delay)):
        line = r.lines[first : first + length]
        written = line if r.filled >= length else line[: r.filled]
        # A low-pass keep/(1 - blur/z) loses power, which with its state is z^2 blur^2/(1 - blur^2) of its output.
        held = (r.blur[n] * r.soft[n]) ** 2 / max(1.0 - r.blur[n] ** 2, 1e-300)
        total += float(np.square(written).sum()) + float(held)
    return total


@settings(max_examples=25, deadline=None)
@given(st.floats(0.02, 20.0), st.floats(0.5, 30.0), st.sampled_from([8000.0, 44_100.0, 192_000.0]))
def test_what_is_in_it_only_becomes_less(decay: float, size: float, rate: float) -> None:
    """Without anything new; whatever it is like."""
    found, _ = empty_room(Room(0.5, decay, size), rate)
    block = zeros((200, 2))
    block[:, :] = np.random.default_rng(5).standard_normal((200, 2))
    room.add(found.address, block)
    before = power_inside(found)
    assert before > 0.0
    for _ in range(40):
        block[:] = 0.0
        room.add(found.address, block)
        after = power_inside(found)
        assert after <= before * (1.0 + 1e-12)
        before = after


def test_its_ways_are_primes_and_all_of_other_lengths() -> None:
    for across, rate in ((0.5 / 343.0, 8000.0), (4.0 / 343.0, 48_000.0), (100.0 / 343.0, 192_000.0)):
        found = room.delays(across, rate)
        assert found == sorted(set(found))
        assert all(all(n % k for k in range(2, int(n**0.5) + 1)) for n in found)


# --- around an instrument ---------------------------------------------------------------------------------------------

PLAYING: list[Event] = [(0, on(60)), (500, on(64, 80)), (900, cc(1, 90)), (1500, off(60)), (2600, on(67, 110))]
FRAMES = 4500


@pytest.mark.parametrize("preset", [AROUND, NETWORK], ids=["a string", "a network"])
def test_blocks_resets_and_files_decide_nothing(preset: object, tmp_path: Path) -> None:
    inst = Instrument(preset, RATE)  # type: ignore[arg-type]
    wanted = render(inst, PLAYING, FRAMES)
    for size in (1, 37, 64, 512):
        inst.reset()
        assert (render(inst, PLAYING, FRAMES, blocks(size, FRAMES)) == wanted).all(), size
    inst.save(tmp_path / "it.jawari")
    again = Instrument.open(tmp_path / "it.jawari")
    assert again.preset == inst.preset
    assert (render(again, PLAYING, FRAMES) == wanted).all()


@pytest.mark.parametrize("preset", [AROUND, NETWORK], ids=["a string", "a network"])
def test_strings_are_what_they_are_without_it(preset: object) -> None:
    """What there is before the room is the same; and of a share of nothing, the output."""
    bare, around = (Instrument(replace(preset, room=own), RATE) for own in (None, ASKED))  # type: ignore[type-var]
    one, other = (render(inst, PLAYING, FRAMES) for inst in (bare, around))
    first = min(int(way) for way in around.machine.room.delay)
    dry = np.float32(around.machine.room.dry)
    assert np.abs(other[:first] - dry * one[:first]).max() < 1e-6 * np.abs(one).max()
    assert np.abs(other - dry * one).max() > 1e-2 * np.abs(one).max()
    assert (bare.machine.keys.gain == around.machine.keys.gain).all()


def test_a_tail_lasts_as_long_as_the_room_and_then_all_is_as_new() -> None:
    inst = Instrument(AROUND, RATE)
    first = render(inst, PLAYING, FRAMES)
    inst.reset()
    out = render(inst, [(0, on(60, 127)), (200, cc(123, 0))], 64)
    level, silent_at = [float(np.abs(out).max())], 0
    for n in range(4000):
        out = render(inst, [], TICK)
        level.append(float(np.abs(out).max()))
        if not silent_at and inst.silent:
            silent_at = n * TICK
        if inst.machine.idle:
            break
    assert inst.machine.idle == 1
    assert silent_at / RATE > 0.5 * ASKED.decay
    assert max(level[silent_at // TICK :]) < 3e-5 * max(level)  # what is cut off is 100 dB down
    assert not np.array(inst.machine.room.at).any()
    start = -(-inst.clock // TICK) * TICK
    assert not render(inst, [], start - inst.clock).any()
    assert (render(inst, [(start + at, what) for at, what in PLAYING], FRAMES) == first).all()


def test_all_sound_off_takes_the_room_along_without_a_click() -> None:
    """Where no other channel's strings sound; those keep it."""
    inst = Instrument(AROUND, RATE)
    quick = round(room.FADE * RATE) + TICK
    ringing = render(inst, [(0, on(60)), (3000, off(60))], 9000)
    inst.reset()
    stopped = render(inst, [(0, on(60)), (3000, off(60)), (6000, cc(120, 0))], 9000)
    assert (stopped[:6000] == ringing[:6000]).all()
    tail = np.abs(stopped[6000 + quick :]).max()
    assert tail < 1e-4 * np.abs(ringing[6000 + quick :]).max()
    steps = np.abs(np.diff(stopped[5990:], axis=0)).max()
    assert steps < 1.5 * np.abs(np.diff(ringing[5800:6200], axis=0)).max()
    inst.reset()
    two = [(0, on(60)), (10, on(67, channel=1)), (6000, cc(120, 0))]
    left = render(inst, two, 6000 + quick + 4)
    assert inst.machine.room.falling == 0
    assert np.abs(left[6000 + quick :]).max() > 0.0
    again = render(inst, [(inst.clock, cc(120, 0, channel=1)), (inst.clock + 700, on(60))], 4000)
    assert np.abs(again[2000:]).max() > 0.01
    assert inst.machine.room.left == 1.0


def test_what_is_no_number_leaves_the_room() -> None:
    found, _ = empty_room(ASKED)
    x = zeros((2000, 2))
    x[3, 0], x[4, 1], x[5, 0] = np.nan, np.inf, 1.0
    room.add(found.address, x)
    assert np.isfinite(x).all()
    assert np.abs(x[300:]).max() > 0.0


def test_an_instrument_that_is_replaced_leaves_its_room_behind() -> None:
    """What rings in the old one's room rings out there: seats keep it until nobody hears it any more."""
    seats, out = Seats(2), np.zeros((64, 2), np.float32)
    seats.put_on(0, Instrument(AROUND, RATE), on_all_channels=True)
    hand_on(seats.address, 0, midi.packed(*on(60)))
    for _ in range(40):
        play_together(seats.address, 64, out.ctypes.data)
    inst = seats.instruments[0]
    hand_on(seats.address, 40 * 64, midi.packed(*cc(123, 0)))
    hand_on(seats.address, 40 * 64, midi.packed(*cc(120, 0, 1)))
    for _ in range(30):
        play_together(seats.address, 64, out.ctypes.data)
    assert not inst.silent
    assert np.abs(out).max() > 0.0


def test_a_room_is_part_of_the_budget() -> None:
    largest = Room(0.2, 30.0, 100.0)
    assert room.size_in_bytes(largest, 192_000.0) > 2 * 8 * 192_000 * 3
    assert room.size_in_bytes(largest, 192_000.0) < 0.05 * MOST_BYTES
    assert room.size_in_bytes(None, 192_000.0) == 0
    one, other = Instrument(BARE, RATE, polyphony=1), Instrument(AROUND, RATE, polyphony=1)
    assert other.nbytes - one.nbytes == pytest.approx(room.size_in_bytes(ASKED, RATE) / 2, rel=0.2)
