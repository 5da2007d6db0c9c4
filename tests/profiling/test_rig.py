"""The music, the compiled drivers and the rig: what is timed is the renderer itself, playing what was asked for."""

from __future__ import annotations

import os
import signal
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synth.assemblies import PLAYED
from synth.playing import PLAIN, SMALL, instrument

from engine import Instrument, load_preset
from engine.errors import PhysicsError
from engine.physics.network.parts import Body
from engine.preset.assembly import Assembly
from engine.profiling import clocked, rig
from engine.profiling.music import EVERY, VELOCITY, WARM_UP, events, spread, usual_range
from engine.profiling.parts import Parts, parts, without
from engine.profiling.rig import BenchSetup, Rig, in_thread, record_blocks
from engine.synth import memory

RATE = 48_000
KEYS = list(range(40, 65))
STOP = np.zeros(1, np.int64)


def made(preset: object = None, oversample: int = 1, **how: object) -> Rig:
    chosen = load_preset(PLAIN if preset is None else preset)  # type: ignore[arg-type]
    return Rig(chosen, oversample, BenchSetup(float(RATE), 0.1, **how), record_blocks)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def plain() -> Rig:
    return made()


# --- music ------------------------------------------------------------------------------------------------------------


@given(st.integers(1, 128), st.integers(1, 256))
def test_strings_are_different_and_as_many_as_fit(count: int, voices: int) -> None:
    keys = list(range(count))
    strings = spread(keys, voices)
    assert len(strings) == len(set(strings)) == min(voices, 16 * count)
    assert {channel for channel, _ in strings} == set(range(-(-len(strings) // count)))
    assert all(key in keys for _, key in strings)


def test_few_strings_are_spread_evenly() -> None:
    assert spread(KEYS, 1) == [(0, 52)]
    assert [key for _, key in spread(KEYS, 5)] == [42, 47, 52, 57, 62]
    assert np.mean([key for _, key in spread(KEYS, 32)]) == pytest.approx(52.0, abs=0.5)


@pytest.mark.parametrize("rate", [8_000.0, 48_000.0])
@pytest.mark.parametrize("voices", [1, 7, 40, 256])
def test_every_string_is_struck_once_in_every_stretch(voices: int, rate: float) -> None:
    strings, seconds = spread(KEYS, voices), WARM_UP + 3.0 * EVERY
    found = events(strings, rate, seconds)
    assert (np.diff(found[:, 0]) >= 0).all()
    wanted = sorted(0x90 | channel | key << 8 | VELOCITY << 16 for channel, key in strings)
    times = found[:, 0] / rate
    for start, stop in pairwise([0.0, WARM_UP, *(WARM_UP + EVERY * n for n in (1, 2, 3))]):
        inside = (times >= start - 0.5 / rate) & (times < stop - 0.5 / rate)
        assert sorted(found[inside, 1].tolist()) == wanted
    np.testing.assert_array_equal(events(strings, rate, seconds), found)


def test_strokes_fall_anywhere_in_a_block() -> None:
    found = events(spread(KEYS, 100), RATE, 11.0)[:, 0]
    counts = np.bincount(found % 64, minlength=64)
    assert counts.min() > 0
    assert counts.max() < 4 * counts.mean()


def test_keys_lie_around_the_preset_s_own_string() -> None:
    own = usual_range(load_preset("slap-bass"))  # G2 is key 43
    assert (own[0], own[-1]) == (31, 55)
    low = usual_range(load_preset({**PLAIN, "string": {**PLAIN["string"], "length": 40.0}}))
    assert low[0] == 0


# --- drivers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("block", [1, 37, 64, 300])
def test_the_clocked_parts_render_the_same_bits_as_play(name: str, block: int) -> None:
    inst = instrument(name)
    count = 40 if block == 1 else 1 + 1500 // block
    music = events(spread(KEYS, 3), RATE, 1.0)
    music[:, 0] //= 20  # all that happens in a second, within these blocks
    sounds = []
    for player in ("play", "parts"):
        inst.reset()
        for sample, message in music.tolist():
            assert inst.schedule(sample, [message & 0xFF, message >> 8 & 0x7F, message >> 16])
        out, spent = np.zeros((count, block, inst.channels), np.float32), np.full(clocked.PARTS, -1)
        for part in out:
            if player == "play":
                inst.run(part)
            else:
                clocked.play_in_parts(inst.address, block, part.ctypes.data, spent)
                assert (spent > 0).all()
        sounds.append((out.tobytes(), inst.machine.voices.tobytes(), inst.clock))
    assert sounds[0] == sounds[1]
    assert count == 40 or np.frombuffer(sounds[0][0], np.float32).any()


def played_plainly(
    inst: Instrument, music: np.ndarray, out: np.ndarray, log: np.ndarray, count: int, stop: np.ndarray
) -> None:
    """On a thread that treats denormals as the drivers do: the first samples of a pluck are some."""
    clocked.record(inst.address, out.ctypes.data, 1, music[:0], log[:0], log[:0, 0], stop)
    for sample, message in music.tolist():
        inst.schedule(sample, [message & 0xFF, message >> 8 & 0x7F, message >> 16])
    for _ in range(count):
        inst.run(out)


@pytest.mark.parametrize("name", ["modal", "grid frets"])
@pytest.mark.parametrize("count", [1, 9, 30])
def test_both_drivers_play_what_the_instrument_plays(name: str, count: int) -> None:
    inst, block = instrument(name), 100
    music = events(spread(KEYS, 5), RATE, 1.0)
    music[:, 0] //= 10
    last = []
    for driver in ("instrument", "record", "record_parts"):
        inst.reset()
        out = np.zeros((block, inst.channels), np.float32)
        log, spent = np.zeros((count, clocked.LOG), np.int64), np.zeros((count, clocked.PARTS), np.int64)
        sounding = np.zeros(count, np.int64)
        at = inst.address, out.ctypes.data, block, music
        if driver == "instrument":
            in_thread(lambda stop: played_plainly(inst, music, out, log, count, stop))  # noqa: B023
        elif driver == "record":
            assert in_thread(lambda stop: clocked.record(*at, log, sounding, stop)) == count  # noqa: B023
            assert (log[:, clocked.FRAMES] == block).all()
            assert (log[:, clocked.DURATION] > 0).all()
            ends = log[:, clocked.START] + log[:, clocked.DURATION]
            assert (log[1:, clocked.START] >= ends[:-1]).all()
            assert sounding[-1] == inst.report()["voices"]
        else:
            assert in_thread(lambda stop: clocked.record_parts(*at, spent, stop)) == count  # noqa: B023
            assert (spent > 0).all()
        last.append((out.tobytes(), inst.clock, inst.report()))
    assert last[0] == last[1] == last[2]


def test_a_wish_to_stop_ends_the_drivers() -> None:
    inst = instrument("modal")
    out, music = np.zeros((64, 2), np.float32), np.zeros((0, 2), np.int64)
    log, stop = np.full((10**6, 3), -1, np.int64), np.zeros(1, np.int64)
    timer = threading.Timer(0.05, stop.fill, [1])
    timer.start()
    played = clocked.record(inst.address, out.ctypes.data, 64, music, log, np.zeros(10**6, np.int64), stop)
    timer.join()
    assert 0 < played < 10**6
    assert (log[:played] >= 0).all()
    assert (log[played:] == -1).all()
    assert clocked.record_parts(inst.address, out.ctypes.data, 64, music, log, stop) == 0


@pytest.mark.skipif(os.name == "nt", reason="signals cannot be raised from a thread on Windows")
def test_an_interrupt_stops_the_thread_and_is_passed_on() -> None:
    ended = []

    def job(stop: np.ndarray) -> None:
        threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
        while not stop[0]:
            time.sleep(1e-3)
        ended.append(True)

    with pytest.raises(KeyboardInterrupt):
        in_thread(job)
    assert ended == [True]


def test_what_a_job_finds_or_raises_comes_back() -> None:
    assert in_thread(lambda stop: int(stop[0]) + 7) == 7
    with pytest.raises(ZeroDivisionError):
        in_thread(lambda stop: 1 // 0)


def test_spinning_finds_what_is_longer_than_the_gap() -> None:
    found = np.zeros(3, np.int64)
    clocked.spin(2_000_000, 0, found)  # every reading of the clock is longer than nothing
    times, total, longest = found.tolist()
    assert times > 100
    assert total > 1_000_000
    assert total / times <= longest <= total
    calm = np.zeros(3, np.int64)
    clocked.spin(1_000_000, 10**12, calm)
    assert not calm.any()


# --- rig --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [16, 128])
@pytest.mark.parametrize("voices", [1, 5, 40])
def test_as_many_voices_sound_as_asked_for(plain: Rig, voices: int, block: int) -> None:
    take = plain.play(voices, block, 0.2)
    assert take.load.blocks == len(take.blocks.rows) == len(take.blocks.sounding) == 0.2 * RATE / block
    assert (take.blocks.sounding == voices).all()
    assert take.notes == ()
    assert plain.instrument.report()["voices_stolen"] == 0
    assert take.load.deadline == pytest.approx(block / RATE * 1e6)
    assert (take.blocks.rows[:, clocked.FRAMES] == block).all()


def test_strings_that_decay_are_told(plain: Rig) -> None:
    dead = {**PLAIN, "string": {**PLAIN["string"], "loss": {"s0": 300.0}}}
    take = made(dead).play(4, 64, 0.5)
    (note,) = take.notes
    assert "fewer than 4 voices sound" in note
    few = made(keys=(60, 61))
    assert few.most == 32
    assert "40 voices were asked for, but 2 keys on 16 channels are 32" in few.play(40, 64, 0.01).notes


def test_keys_that_cannot_sound_are_left_out_and_told() -> None:
    high = made(SMALL["grid bridge"], keys=(60, 127))
    silent = sorted(set(range(60, 128)) & set(high.instrument.silent_keys))
    assert silent
    assert high.keys == [key for key in range(60, 128) if key not in silent]
    assert "is silent: " in high.mute
    assert f"(and {len(silent) - 1} more)" in high.mute
    with pytest.raises(PhysicsError, match=r"none of them sounds .*--key-range"):
        made(SMALL["grid bridge"], keys=(silent[-1], silent[-1]))


def test_fewer_slots_play_as_an_instrument_made_with_them(plain: Rig) -> None:
    """Of more notes than it has strings it steals the same ones, to the last bit."""
    own = Instrument(load_preset(PLAIN), RATE, oversample=1, polyphony=4)
    narrow = made(polyphony=4)
    narrow.prepared(3, 0.1)
    sounds = []
    for inst in (own, narrow.instrument):
        for n in range(12):
            inst.schedule(200 * n, [0x90, 50 + n, 90])
        out = np.zeros((6000, 2), np.float32)
        inst.run(out)
        sounds.append((out.tobytes(), inst.report()))
    assert sounds[0] == sounds[1]
    assert sounds[0][1]["voices_stolen"] == 8


def test_slots_are_as_many_as_the_preset_has_or_as_sound(plain: Rig) -> None:
    machine = plain.instrument.machine
    for voices, slots in ((1, plain.preset.polyphony), (200, 200)):
        plain.prepared(voices, 0.1)
        assert machine.polyphony == slots
        assert machine.slots == slots + memory.SPARE_VOICES


def test_swaying_retunes_every_string(plain: Rig) -> None:
    swaying = made(sway=True)
    for one, moving in ((plain, 0), (swaying, 30)):
        one.play(30, 64, 0.2)
        voices = one.instrument.machine.voices
        assert (voices.moving[voices.state != memory.FREE] > 0).sum() == moving


def test_the_recorder_s_rows_are_cut_where_the_warm_up_ends(plain: Rig) -> None:
    def record(inst: Instrument, music: np.ndarray, block: int, count: int) -> rig.Blocks:
        rows = np.stack([np.arange(count), np.arange(count), np.full(count, block)], axis=1)
        return rig.Blocks(rows, np.zeros(0, np.int64))

    fake = Rig(plain.preset, 1, plain.setup, record)
    take = fake.play(2, 480, 1.0)
    assert take.blocks.rows[:, clocked.DURATION].tolist() == list(range(30, 130))
    assert take.notes == ()


# --- parts ------------------------------------------------------------------------------------------------------------


def touched(one: Rig) -> bool:
    """Whether any key's string has something that it may touch."""
    designs = [key.design for key in one.instrument._bank.keys if key.design is not None]
    return any(design.points.height.size for design in designs)


@pytest.mark.parametrize("name", ["bridge", "grid frets"])
def test_parts_of_a_string_that_touches_something(name: str) -> None:
    whole = made(SMALL[name], 2)
    free = {lost: Rig(other, 2, whole.setup, record_blocks) for lost, other in without(whole.preset).items()}
    assert list(free) == ["contact"]
    assert not touched(free["contact"])
    assert touched(whole)
    found = parts(whole, free, 3, 48)
    assert min(found.strings, found.oversampling, found.output) > 0.0
    assert found.contact >= 0.0
    assert sum(found.shares) == pytest.approx(1.0)


def test_without_barrier_there_is_no_contact(plain: Rig) -> None:
    assert without(plain.preset) == {}
    assert parts(plain, {}, 2, 128).contact == 0.0


def test_parts_of_an_instrument_of_several_strings() -> None:
    """Each of the presets that it is compared with lacks one part more; all of them are played."""
    whole = Rig(PLAYED["hub"], 1, BenchSetup(RATE, keys=(57, 60)), record_blocks)
    fewer = without(whole.preset)
    contact, hub, body = (part.assembly or Assembly(()) for part in fewer.values())
    assert list(fewer) == ["contact", "hub", "body"]
    assert [strung.ports for strung in (contact.played[0].strung, *contact.sympathetic)] == [()] * 6
    assert contact.body == hub.body != Body()
    assert (hub.played, hub.sympathetic) == (contact.played, ())
    assert (body.played, body.body) == (hub.played, Body())
    found = parts(whole, {lost: Rig(one, 1, whole.setup, record_blocks) for lost, one in fewer.items()}, 3, 64)
    assert min(found.strings, found.oversampling, found.output) > 0.0
    assert min(found) >= 0.0
    assert sum(found.shares) == pytest.approx(1.0)


def test_parts_come_from_medians(monkeypatch: pytest.MonkeyPatch, plain: Rig) -> None:
    """Known times, one stretch in ten and one run in five spoiled: as if nothing had happened."""
    runs = iter(range(100))

    def play_parts(self: Rig, voices: int, block: int, seconds: float, ticks: int) -> np.ndarray:
        blocks = -(-ticks * memory.TICK // block)
        touching = self is plain
        spent = np.tile(np.array([5000 if touching else 2000, 700, 300]) * blocks, (10, 1))
        spent[3] *= 50
        return spent * (9 if next(runs) in (2, 3) else 1)

    monkeypatch.setattr(Rig, "play_parts", play_parts)
    found = parts(plain, {"contact": Rig(plain.preset, 1, plain.setup, record_blocks)}, 3, 100)
    assert found == pytest.approx(Parts(2.0, 3.0, 0.0, 0.0, 0.7, 0.3))
    assert found.shares == pytest.approx((2 / 6, 3 / 6, 0.0, 0.0, 0.7 / 6, 0.3 / 6))


@pytest.mark.parametrize("block", [1, 48, 64, 5000])
def test_stretches_hold_whole_ticks(plain: Rig, block: int) -> None:
    assert plain.play_parts(1, block, 0.01, 2).shape[0] >= 3
