"""Voices: what velocity does, strings that are plucked again, stolen, damped, asleep or gone wild."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import butter, hilbert, sosfilt, sosfiltfilt
from synth.playing import (
    GRID,
    PLAIN,
    RATE,
    Event,
    bend,
    bend_range,
    cc,
    decibels,
    instrument,
    levels,
    off,
    on,
    pressure,
    raw,
    render,
    ringing,
    states,
    string,
)

from engine.physics import finite_difference, modal
from engine.physics.excitation import pulse
from engine.physics.grid import ORIGIN
from engine.physics.string import Array
from engine.preset.loader import load_preset
from engine.preset.playing import Velocity
from engine.synth import memory
from engine.synth.instrument import Instrument

pytestmark = pytest.mark.usefixtures("shared_designs")

both = pytest.mark.parametrize("name", ["modal", "grid"])
CLICKS = butter(8, 8000.0, "high", fs=RATE, output="sos")


def two_voices(name: str, polyphony: int = 2) -> Instrument:
    return Instrument({"modal": PLAIN, "grid": GRID}[name], RATE, polyphony=polyphony)


def clicks(x: Array) -> Array:
    """What is heard above 8 kHz, where a soft pluck has nothing."""
    return sosfilt(CLICKS, x)


# --- velocity ---------------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("velocity", [1, 30, 77, 127])
@pytest.mark.parametrize("soft", [False, True])
def test_velocity_sets_force_and_duration(name: str, velocity: int, soft: bool) -> None:
    """(velocity/100)^power of each, as the preset says; the soft pedal takes 0.6 of the force, 1/0.6 of its time."""
    inst = instrument(name)
    design = inst._bank.keys[55].design
    assert design is not None
    powers, loud, pedal = inst.preset.velocity, velocity / 100.0, 0.6 if soft else 1.0
    e = design.problem.excitation
    pluck = replace(e, force=e.force * loud**powers.force * pedal, duration=e.duration * loud**powers.duration / pedal)
    force = pulse(pluck, design.rate, 4801)
    model = modal if name == "modal" else finite_difference
    wanted = model.run(design, force, at=np.array([], np.int64)).log.out[1:, 0]  # type: ignore[arg-type]
    gain = inst.machine.keys.gain[55]
    got = raw(inst, [(0, cc(67, 64 if soft else 63)), (0, on(55, velocity))], 4800)[:, 0] / gain
    assert np.abs(got - wanted).max() <= 1e-9 * np.abs(wanted).max()


def test_the_preset_chooses_the_powers_of_velocity() -> None:
    preset = load_preset(PLAIN)
    linear = Instrument(replace(preset, velocity=Velocity(1.0, 0.0)), RATE)
    loud = raw(linear, [(0, on(60, 100))], 2400)
    linear.reset()
    assert np.allclose(raw(linear, [(0, on(60, 50))], 2400), 0.5 * loud, rtol=0.0, atol=1e-12)


@both
def test_louder_is_louder_and_brighter(name: str) -> None:
    inst, loudness, brightness = instrument(name), [], []
    for velocity in (20, 50, 80, 110, 127):
        inst.reset()
        x = raw(inst, [(0, on(40, velocity))], 9600)[:, 0]
        spectrum = np.abs(np.fft.rfft(x)) ** 2
        loudness.append(np.abs(x).max())
        brightness.append((spectrum * np.arange(spectrum.size)).sum() / spectrum.sum())
    assert (np.diff(loudness) > 0.0).all()
    assert (np.diff(brightness) > 0.0).all()


# --- the same key again -----------------------------------------------------------------------------------------------


@both
def test_the_same_key_plucks_the_string_that_still_sounds(name: str) -> None:
    """One voice, and without contact the sum of both notes."""
    again = 4801
    first = raw(instrument(name), [(0, on(60))], 9600)
    second = raw(instrument(name), [(0, on(60, 70))], 9600 - again)
    inst = instrument(name)
    both_notes = raw(inst, [(0, on(60)), (again, on(60, 70))], 9600)
    assert ringing(inst) == 1
    wanted = first.copy()
    wanted[again:] += second
    assert np.abs(both_notes - wanted).max() <= 1e-12 * np.abs(wanted).max()


@both
def test_five_quick_strokes_add_up(name: str) -> None:
    """While four are still going on, the fifth takes the place of the oldest: never louder than all five."""
    strokes = [100 * n for n in range(4)]
    one = raw(instrument(name), [(0, on(60))], 4800)
    wanted = sum(np.concatenate([np.zeros((s, 2)), one[: 4800 - s]]) for s in strokes)
    got = raw(instrument(name), [(s, on(60)) for s in strokes], 4800)
    assert np.abs(got - wanted).max() <= 1e-12 * np.abs(wanted).max()
    five = raw(instrument(name), [(s // 4, on(60)) for s in (*strokes, 400)], 4800)
    assert np.isfinite(five).all()
    assert np.abs(five).max() < 5.0 * np.abs(one).max()


def test_another_channel_plucks_another_string() -> None:
    inst = instrument("modal")
    one = raw(inst, [(0, on(60))], 2400)
    inst.reset()
    two = raw(inst, [(0, on(60)), (0, on(60, 100, 1))], 2400)
    assert ringing(inst) == 2
    assert np.abs(two - 2.0 * one).max() <= 1e-14


def test_a_released_string_is_held_again_by_its_next_stroke() -> None:
    inst = instrument("modal")
    x = raw(inst, [(0, on(60)), (2400, off(60)), (4800, on(60)), (9600, cc(2, 0))], 48000)[:, 0]
    assert states(inst)[0] == memory.HELD
    held = raw(instrument("modal"), [(0, on(60))], 48000)[:, 0]
    assert decibels(x[40000:]) > decibels(held[40000:]) - 6.0


# --- polyphony --------------------------------------------------------------------------------------------------------


@both
def test_stealing_takes_released_strings_first_then_quiet_ones(name: str) -> None:
    def left(score: list[Event]) -> set[int]:
        """Keys that still ring after a third note on two voices."""
        inst = two_voices(name)
        raw(inst, [*score, (9600, on(72))], 9700)
        assert inst.report()["voices_stolen"] == 1
        voices = inst.machine.voices
        return {int(v.key) for v in voices if v.state in (memory.HELD, memory.RELEASED)}

    assert left([(0, on(60, 120)), (10, on(64, 40))]) == {60, 72}
    assert left([(0, on(60, 40)), (10, on(64, 120))]) == {64, 72}
    assert left([(0, on(60, 120)), (10, on(64, 40)), (9000, off(60))]) == {64, 72}
    # Even while controllers move.
    assert left([(0, on(60, 40)), (10, on(64, 120)), (9590, bend(500))]) == {64, 72}
    assert left([(0, on(60, 120)), (10, on(64, 40)), (9590, bend(500))]) == {60, 72}
    # Notes that nobody has looked at yet: the older goes.
    assert left([(9590, on(60, 120)), (9595, on(64, 40))]) == {64, 72}


@both
def test_a_stolen_voice_fades_without_a_click(name: str) -> None:
    """Above 8 kHz, where the tone has nothing, stealing stays 60 dB below the tone (measured: -66 dB)."""
    tone = [(0, on(48)), (100, on(55))]
    whole = raw(two_voices(name, 3), [*tone, (24000, on(67, 1))], 30000)[:, 0]
    inst = two_voices(name)
    stolen = raw(inst, [*tone, (24000, on(67, 1))], 30000)[:, 0]
    assert inst.report()["voices_stolen"] == 1
    assert (stolen[:24000] == whole[:24000]).all()
    loudness = decibels(whole[20000:24000])
    assert decibels(clicks(whole)[20000:]) < loudness - 100.0
    assert decibels(clicks(stolen)[20000:]) < loudness - 60.0
    step = np.abs(np.diff(stolen[24000:])).max()
    assert step < 1.05 * np.abs(np.diff(whole[20000:24000])).max()
    # After the fade exactly the other notes are left.
    kept = raw(two_voices(name, 3), [(0, on(48)), (24000, on(67, 1))], 30000)[:, 0]
    other = raw(two_voices(name, 3), [(100, on(55)), (24000, on(67, 1))], 30000)[:, 0]
    late = slice(24000 + round(0.0051 * RATE), None)
    assert min(np.abs(stolen - x)[late].max() for x in (kept, other)) <= 1e-12


def test_no_more_voices_than_asked_for_and_some_that_fade() -> None:
    inst = two_voices("modal", 4)
    raw(inst, [(7 * n, on(30 + n)) for n in range(60)], 500)
    assert ringing(inst) == 4
    assert len(states(inst)) == 4 + memory.SPARE_VOICES
    assert inst.report()["voices_stolen"] == 56
    raw(inst, [], 480)
    assert states(inst).count(memory.FADING) == 0
    assert inst.report()["voices_stolen"] == 56


# --- release and sleep ------------------------------------------------------------------------------------------------


def decay_time(x: Array, near: float, rate: float = RATE) -> float:
    """T60 of the partial near a frequency, from the slope of its envelope's logarithm."""
    band = butter(2, [near * 0.8, near * 1.2], "band", fs=rate, output="sos")
    level = 20.0 * np.log10(np.abs(hilbert(sosfiltfilt(band, x))))
    t = np.arange(x.size) / rate
    inner = slice(x.size // 5, -x.size // 5)
    return float(-60.0 / np.polyfit(t[inner], level[inner], 1)[0])


@both
@pytest.mark.parametrize(("release", "key"), [(0.05, 84), (0.2, 48), (0.2, 79), (1.5, 60)])
def test_a_released_string_falls_by_60_dB_in_the_preset_s_time(name: str, release: float, key: int) -> None:
    """Within 2 %, on top of the string's own loss."""
    preset = replace(load_preset({"modal": PLAIN, "grid": GRID}[name]), release=release)
    inst = Instrument(preset, RATE)
    frames = round(min(release, 0.4) * RATE)
    raw(inst, [(0, on(key)), (9600, off(key))], 9600 + 2000)  # the damper has come down
    x = raw(inst, [], frames)[:, 0]
    hertz = inst.tuning[key]
    assert hertz is not None
    inst.reset()
    raw(inst, [(0, on(key))], 11600)
    own = decay_time(raw(inst, [], 19200)[:, 0], hertz)
    alone = 1.0 / (1.0 / decay_time(x, hertz) - 1.0 / own)
    assert abs(alone / release - 1.0) < 0.02


@pytest.mark.parametrize("name", ["modal", "grid", "bridge", "frets", "grid bridge", "grid frets"])
def test_a_silent_string_sleeps(name: str) -> None:
    """A hundred decibels down it is free again, and nothing is left of it; not before 90 dB."""
    inst = instrument(name)
    assert inst.silent
    x = raw(inst, [(0, on(60)), (4800, off(60))], 4800)
    assert not inst.silent
    loudest, level = np.abs(x).max(), 1.0
    for _ in range(2000):
        block = raw(inst, [], 240)
        if inst.silent:
            break
        level = min(level, np.abs(block).max() / loudest)
    assert inst.silent
    assert 1e-7 < level < 10.0 ** (-90.0 / 20.0)
    raw(inst, [], 240)
    assert (raw(inst, [], 480) == 0.0).all()
    raw(inst, [], memory.TICK)
    assert inst.report()["voices"] == 0


@pytest.mark.parametrize("model", ["modal", "fd"])
@pytest.mark.parametrize("event", [cc(2, 0), bend(8191), bend(-8192), cc(1, 40), cc(1, 127)])
def test_a_string_that_rests_on_its_barrier_sleeps_as_late(model: str, event: list[int]) -> None:
    """Pressed or lifted, a string at rest holds energy that is no sound: only motion tells."""
    barrier = {"profile": "parabola", "to": "100 mm", "curvature": 0.75, "points": 7, "height": "0.05 mm"}
    lift = [{"source": "wheel", "to": "barrier.height", "range": ["-0.1 mm", "0.1 mm"]}]
    string = {**PLAIN["string"], "loss": {"s0": 12, "s2": 1e-3}}
    inst = Instrument({**PLAIN, "model": model, "string": string, "barrier": barrier, "map": lift}, RATE)
    raw(inst, [(0, on(60)), (4800, event)], 4800)
    slow = 0
    while not inst.silent and slow < 60:
        raw(inst, [], 2400)
        slow += 1
    # 110 dB at 12 1/s are 1.06 s.
    assert 15 <= slow <= 30
    assert inst.report()["watchdog"] == 0


def test_a_sleeping_string_costs_nothing() -> None:
    """Its memory is not touched any more."""
    inst = instrument("modal")
    raw(inst, [(0, on(60)), (2400, off(60))], RATE)
    while not inst.silent:
        raw(inst, [], 4800)
    level, clock = string(inst, 0).s.even, string(inst, 0).s.clock
    before = level.copy(), clock.copy()
    raw(inst, [], 4800)
    assert (level == before[0]).all()
    assert (clock == before[1]).all()
    assert level.any()


def test_silent_counts_what_waits() -> None:
    inst = instrument("modal")
    inst.schedule(1000, on(60))
    assert not inst.silent
    render(inst, [], 1001)
    assert not inst.silent
    inst.reset()
    assert inst.silent


# --- the watchdog -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["modal", "grid", "bridge", "grid bridge", "grid frets"])
@pytest.mark.parametrize("poison", [np.nan, np.inf, 1e200, 1e3])
def test_a_voice_gone_wild_is_silenced_and_the_others_play_on(name: str, poison: float) -> None:
    """To the bit: they share only the bus."""
    others = [(0, on(60)), (20, on(69))]
    inst = instrument(name)
    at = 6400
    wanted = raw(inst, others, 12800)[(at + memory.TICK) * inst.oversample :]
    inst = instrument(name)
    raw(inst, [*others, (10, on(50))], at)
    assert (inst.machine.voices.key[:3] == [60, 50, 69]).all()
    first = ORIGIN if "grid" in name else 0
    for level in levels(inst, 1):
        level[first + 8 : first + 12] += poison
    got = raw(inst, [], 12800 - at)
    assert inst.report()["watchdog"] == 1
    assert states(inst)[:3] == [memory.HELD, memory.FREE, memory.HELD]
    assert (got[memory.TICK * inst.oversample :] == wanted).all()


def test_what_comes_out_meanwhile_is_still_sound() -> None:
    inst = instrument("bridge")
    render(inst, [(0, on(50)), (0, on(60))], 6400)
    string(inst, 0).s.even[:8] = np.nan
    out = render(inst, [], 6400)
    assert np.isfinite(out).all()
    assert np.abs(out).max() <= 10.0 ** (-0.1 / 20.0)
    assert np.abs(out[3000:]).max() > 0.01


def test_the_slot_of_a_wild_voice_is_as_good_as_new() -> None:
    inst = instrument("bridge")
    wanted = raw(inst, [(12800, on(60))], 16000)[12800:]
    inst.reset()
    raw(inst, [(0, on(50))], 6400)
    s = string(inst, 0).s
    for array in (s.even, s.odd, s.touch.psi, s.touch.now, s.touch.before, s.touch.force, s.free, s.touch.lost):
        array[0] = np.nan
    raw(inst, [], 6400)
    assert inst.report()["watchdog"] == 1
    assert (raw(inst, [(12800, on(60))], 3200) == wanted).all()


@both
@pytest.mark.parametrize("event", ["bend", "loss", "lift"])
def test_small_movements_are_no_uprising(name: str, event: str) -> None:
    """The hand that bends a string or moves its barrier works on it, however little and between two looks."""
    lossless = {"modal": "bridge", "grid": "grid bridge"}[name]
    inst = instrument(lossless)
    moves = {"bend": lambda n: bend(n % 2), "loss": lambda n: pressure(n % 2), "lift": lambda n: cc(1, 64 + n % 2)}
    score = [(0, m) for m in bend_range(0, 10)] + [(0, on(60))]
    score += [(6400 + 640 * n + 7, moves[event](n)) for n in range(60)]
    raw(inst, score, 48000)
    assert inst.report()["watchdog"] == 0
    assert ringing(inst) == 1


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 20000), st.integers(0, 127)), min_size=1, max_size=60), st.booleans())
def test_no_pressure_wakes_the_watchdog(moves: list[tuple[int, int]], grid: bool) -> None:
    """Losses that come and go, on a string that has nearly none itself."""
    inst = instrument("grid" if grid else "modal")
    raw(inst, [(0, on(57)), *[(n, pressure(v)) for n, v in moves]], 24000)
    assert inst.report()["watchdog"] == 0
