"""The instrument as a whole: blocks leave no trace, notes are what the physics says, events land on their sample."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Any

import mido
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_string import ONE_STRING
from physics.problems import problems
from synth.playing import (
    BRIDGE,
    PLAIN,
    RATE,
    SMALL,
    Event,
    bend,
    bend_range,
    blocks,
    cc,
    digest,
    instrument,
    levels,
    limited,
    off,
    on,
    pressure,
    raw,
    render,
    schedule,
)

from engine.errors import EngineError, PhysicsError, PresetError
from engine.physics import finite_difference, retune
from engine.physics.string import Array
from engine.preset.loader import Preset, load_preset
from engine.preset.playing import Controller, Velocity
from engine.preset.tuning import Tuning
from engine.study.simulate import simulate
from engine.synth import control, decimate, grid_string, memory, modal_string, output, renderer, strings, voices
from engine.synth.instrument import Instrument

CEILING = 10.0 ** (-0.1 / 20.0)  # -0.1 dBFS
CHORD = [(100 * n, on(key, 60 + 10 * n)) for n, key in enumerate((38, 45, 50, 57))]
# Everything at once: pedals, bends, what the presets map, the same key again, notes on a second channel.
BUSY: list[Event] = [
    *CHORD,
    (37, cc(64, 127)),
    (1001, off(38)),
    (1500, bend(5000)),
    (2000, on(38, 127)),
    (2200, cc(1, 90)),
    (2600, cc(74, 20)),
    (2601, on(62, 110)),
    (3000, pressure(100)),
    (3333, cc(66, 127)),
    (3500, cc(64, 40)),
    (4000, on(50, 80, 1)),
    (4321, bend(-8192, 1)),
    (5000, cc(66, 0)),
    (5003, cc(64, 0)),
    (6000, cc(121, 0)),
    (7000, cc(120, 0, 1)),
    (8000, cc(123, 0)),
]
every_preset = pytest.mark.parametrize("name", [*SMALL, *ONE_STRING])
FRAMES = 9000


# --- blocks -----------------------------------------------------------------------------------------------------------


@every_preset
def test_blocks_of_any_size_give_the_same_bits(name: str) -> None:
    whole = render(instrument(name), BUSY, FRAMES)
    assert np.isfinite(whole).all()
    assert np.abs(whole).max() > 0.05
    for size in (1, 37, 64, 512):
        assert (render(instrument(name), BUSY, FRAMES, blocks(size, FRAMES)) == whole).all()


@every_preset
def test_reset_forgets_everything(name: str) -> None:
    """Notes of other keys on every slot, wheels and pedals left anywhere, a filter full of sound."""
    inst = instrument(name)
    first = render(inst, BUSY, FRAMES)
    render(inst, [(FRAMES, bend(-8192)), *[(FRAMES, m) for m in bend_range(12)], (FRAMES, cc(64, 127))], 1)
    render(inst, [(0, on(key, 127)) for key in range(30, 54)], 1777)
    inst.reset()
    assert inst.clock == 0
    assert inst.silent
    assert not any(inst.report().values())
    assert (render(inst, BUSY, FRAMES) == first).all()


def test_four_threads_at_once_and_another_process() -> None:
    wanted = digest("grid bridge", BUSY, FRAMES, 64)
    sizes = (37, 64, 128, 512)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda size: digest("grid bridge", BUSY, FRAMES, size), sizes):
            assert found == wanted
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as processes:
        assert processes.submit(digest, "grid bridge", BUSY, FRAMES, 128).result(timeout=300) == wanted


@st.composite
def messages(draw: st.DrawFn) -> list[int]:
    channel, value = draw(st.integers(0, 2)), draw(st.integers(0, 127))
    controllers = (1, 20, 21, 64, 66, 67, 74, 120, 121, 123, 6, 38, 98, 99, 100, 101, draw(st.integers(0, 127)))
    return draw(
        st.one_of(
            st.builds(on, st.integers(30, 90), st.just(value), st.just(channel)),
            st.builds(on, st.sampled_from([50, 57, 62]), st.just(value), st.just(channel)),
            st.builds(off, st.integers(30, 90), st.just(channel)),
            st.builds(cc, st.sampled_from(controllers), st.just(value), st.just(channel)),
            st.builds(bend, st.integers(-8192, 8191), st.just(channel)),
            st.just(pressure(value, channel)),
        )
    )


scores = st.lists(st.tuples(st.integers(0, 4000), messages()), max_size=40)
cuttings = st.lists(st.integers(0, 4500), max_size=30).map(sorted)


@settings(max_examples=60)
@given(st.sampled_from(list(SMALL)), scores, cuttings, cuttings)
def test_no_cut_leaves_a_trace(name: str, score: list[Event], one: list[int], other: list[int]) -> None:
    a = render(instrument(name), score, 4500, one)
    b = render(instrument(name), score, 4500, other)
    assert np.isfinite(a).all()
    assert (a == b).all()
    assert np.abs(limited(a)).max(initial=0.0) <= CEILING
    assert instrument(name).report()["watchdog"] == 0


def test_process_and_call_are_the_same_instrument() -> None:
    """mido's messages with seconds from the block's start, and from the call's start; a call's rows are channels."""
    pieces = [(0.0, "note_on", 60), (0.01, "note_on", 64), (0.0313, "note_off", 60), (0.09, "note_on", 67)]
    notes = [mido.Message(kind, note=note, time=seconds) for seconds, kind, note in pieces]
    wanted = render(instrument("modal"), [(round(m.time * RATE), m.bytes()) for m in notes], 4800)
    inst = instrument("modal")
    assert (inst(list(reversed(notes)), 0.1, RATE) == wanted.T).all()
    assert (inst([], 0.02, RATE, reset=False).shape, inst.clock) == ((2, 960), 5760)
    inst, out = instrument("modal"), np.zeros((4800, 2), np.float32)
    for start in range(0, 4800, 480):
        due = [m.copy(time=m.time - start / RATE) for m in notes if start <= round(m.time * RATE) < start + 480]
        inst.process(due, out[start : start + 480])
    assert (out == wanted).all()


def test_mono_is_both_sides_at_equal_power() -> None:
    both = Instrument(SMALL["bridge"], RATE)
    one = Instrument(SMALL["bridge"], RATE, mono=True)
    stereo, mono = render(both, CHORD[:1], 4800), render(one, CHORD[:1], 4800)
    assert mono.shape == (4800, 1)
    assert np.abs(mono[:, 0] - stereo.sum(axis=1) * 0.5**0.5).max() < 1e-6


# --- a note is what the physics says ----------------------------------------------------------------------------------


# A body that carries the barrier; the pressing ones feel a force at rest, which does not sound.
ENDS = [{"kind": "body_force", "pan": -0.6}, {"at": 1, "kind": "body_force"}, {"at": 0.3, "kind": "velocity", "pan": 1}]
BODIES: dict[str, dict[str, Any]] = {
    f"{name} body": {**SMALL[name], "pickups": ENDS}
    for name in ("modal", "bridge", "frets", "grid bridge", "grid frets")
}
BODIES["pressing"] = {**BODIES["frets body"], "barrier": {"profile": "points", "at": [["0.2 m", "0.02 mm"]]}}
BODIES["grid pressing"] = {**BODIES["grid bridge body"], "barrier": {**BRIDGE, "height": "0.01 mm"}}


def heard(inst: Instrument, key: int, velocity: int, frames: int) -> Array:
    """What `raw` must give for a note at sample 0, from its simulation. The first step is left out, and a body's force
    is known a step later than displacement and velocity are."""
    steps = frames * inst.oversample
    seconds = (steps + 2) / (RATE * inst.oversample)
    sim = simulate(inst.preset, seconds, RATE, key=key, velocity=velocity, as_played=True)
    found, sides = sim.pickups - sim.pickups[0], np.zeros((steps, 2))
    for p, pickup in enumerate(inst.preset.problem.pickups):
        own = found[1:-1, p] if pickup.kind == "body_force" else found[2:, p]
        angle = (pickup.pan + 1.0) * np.pi / 4.0
        sides += np.sqrt(2.0) * own[:, None] * np.array([np.cos(angle), np.sin(angle)])
    return sides * inst.machine.keys.gain[key]


@pytest.mark.parametrize("name", [*SMALL, *ONE_STRING, *BODIES])
@pytest.mark.parametrize(("key", "velocity"), [(31, 100), (60, 100), (60, 37), (84, 127)])
def test_a_note_is_the_simulation(name: str, key: int, velocity: int) -> None:
    """The same motion, step by step. Contact is chaotic, so 1e-12 of the peak after a fifth of a second means that
    every bit of the string's state is the same."""
    inst = made(name)
    inst.reset()
    got, wanted = raw(inst, [(0, on(key, velocity))], RATE // 5), heard(inst, key, velocity, RATE // 5)
    rounding = 1e-10 if "pressing" in name else 1e-12  # the differences are taken of what is left of rest
    assert np.abs(got - wanted).max() <= rounding * np.abs(wanted).max()
    assert np.abs(wanted).max() > 0.05 * (velocity / 100.0) ** 2


@cache
def made(name: str) -> Instrument:  # without a coil behind its pickups, as simulations are
    return Instrument(BODIES[name] if name in BODIES else replace(instrument(name).preset, circuit=None), RATE)


@pytest.mark.parametrize("name", BODIES)
def test_a_body_is_driven_by_the_same_bits_in_any_blocks(name: str) -> None:
    inst = made(name)
    inst.reset()
    whole = render(inst, BUSY, FRAMES)
    assert np.abs(whole).max() > 0.05
    for size in (1, 37, 512):
        inst.reset()
        assert (render(inst, BUSY, FRAMES, blocks(size, FRAMES)) == whole).all()


@pytest.mark.parametrize("name", ["pressing", "grid pressing", "sitar-string"])
def test_a_body_is_still_until_it_is_driven(name: str) -> None:
    """No step at the onset: neither of what a pressing barrier does at rest nor of the hand's pull."""
    inst = made(name)
    inst.reset()
    sound = raw(inst, [(0, on(50))], 2400)
    assert np.abs(sound[0]).max() <= 1e-4 * np.abs(sound).max()
    assert np.abs(np.diff(sound[: 20 * inst.oversample], axis=0)).max() <= 0.03 * np.abs(np.diff(sound, axis=0)).max()


def test_a_body_s_pull_follows_the_hand_that_moves_along_the_string() -> None:
    """A controller has moved the pluck: what goes straight to the body has moved with it."""
    ends = {**PLAIN, "pickups": ENDS}
    wheel = [{"source": "wheel", "to": "excitation.position", "range": [0.1, 0.9]}]
    moved, fixed = (
        Instrument({**ends, "map": wheel}, RATE),
        Instrument({**ends, "map": [], "excitation": {**PLAIN["excitation"], "position": 0.9}}, RATE),
    )
    got, wanted = (
        raw(inst, [(0, cc(1, 127)), (0, on(60))], 2400) / inst.machine.keys.gain[60] for inst in (moved, fixed)
    )
    assert np.abs(got - wanted).max() <= 1e-9 * np.abs(wanted).max()


def test_the_gain_of_a_preset_comes_on_top() -> None:
    plain, louder = Instrument(SMALL["modal"], RATE), Instrument({**SMALL["modal"], "gain": "-7.5 dB"}, RATE)
    a, b = raw(plain, [(0, on(60))], 2400), raw(louder, [(0, on(60))], 2400)
    assert np.abs(b - a * 10.0 ** (-7.5 / 20.0)).max() <= 1e-12


@pytest.mark.parametrize("name", ["sitar-string", "grid frets"])
def test_never_above_the_ceiling(name: str) -> None:
    """All keys at once, as loud as they go."""
    inst = Instrument(name if name in ONE_STRING else SMALL[name], RATE, polyphony=128)
    out = render(inst, [(0, on(key, 127)) for key in range(20, 110)], RATE // 4)
    assert np.abs(out).max() > 1.0  # nothing holds it back until it is played
    assert 0.9 < np.abs(limited(out)).max() <= CEILING


# --- events -----------------------------------------------------------------------------------------------------------


def events_that_matter() -> dict[str, list[int]]:
    return {
        "note on": on(57),
        "note again": on(50),
        "note off": off(50),
        "bend": bend(8191),
        "gain": cc(1, 30),
        "loss": pressure(90),
        "all sound off": cc(120, 0),
        "all notes off": cc(123, 0),
    }


@pytest.mark.parametrize("event", events_that_matter())
@pytest.mark.parametrize("sample", [1000, 1008, 1024, 1037])
def test_an_event_changes_nothing_before_its_sample(event: str, sample: int) -> None:
    """And something at it. On modes everything is heard at once, with no time of travel."""
    score = [(0, on(50)), (0, cc(1, 127)), (0, pressure(0))]
    before = raw(instrument("modal"), score, 3000)
    after = raw(instrument("modal"), [*score, (sample, events_that_matter()[event])], 3000)
    assert int(np.flatnonzero((before != after).any(axis=1))[0]) == sample


@pytest.mark.parametrize("name", ["grid", "grid bridge", "grid frets"])
@pytest.mark.parametrize("sample", [700, 704])
def test_a_grid_is_struck_on_the_sample(name: str, sample: int) -> None:
    """The string's own motion: its pickup hears the blow only when the wave has come."""
    inst = instrument(name)
    raw(inst, [(sample, on(60))], sample)
    assert inst.report()["voices"] == 0
    assert inst.machine.voices.state[0] == memory.FREE
    raw(inst, [], 1)
    design = inst._bank.keys[60].design
    assert isinstance(design, finite_difference.Design)
    rest = design.coefficients.rest
    assert max(float(np.abs(u[: rest.size] - rest).max()) for u in levels(inst, 0)) > 0.0


@every_preset
def test_a_later_note_sounds_the_same_later(name: str) -> None:
    """Glides and looks are on the absolute clock, but a string left alone does not hear it."""
    prompt = raw(instrument(name), [(0, on(55))], 3000)
    per = instrument(name).oversample
    late = raw(instrument(name), [(1237, on(55))], 4237)
    assert (late[: 1237 * per] == 0.0).all()
    assert (late[1237 * per :] == prompt).all()


# --- the interpreter stays out ----------------------------------------------------------------------------------------


def test_other_threads_run_while_a_block_is_rendered() -> None:
    """One call renders for as long as it likes; meanwhile Python counts. With the lock held it could not."""
    inst = Instrument("sitar-string", RATE, polyphony=64)
    schedule(inst, [(0, on(key)) for key in range(40, 80)])
    out = np.zeros((4 * RATE, 2), np.float32)
    span = [0.0, 0.0]

    def playing() -> None:
        span[0] = time.perf_counter()
        inst.run(out)
        span[1] = time.perf_counter()

    player = threading.Thread(target=playing)
    stamps = []
    player.start()
    while player.is_alive():
        stamps.append(time.perf_counter())
    inside = sum(span[0] < stamp < span[1] for stamp in stamps)
    assert span[1] - span[0] > 3 * sys.getswitchinterval()
    assert inside > 1000


@pytest.mark.parametrize(
    "module", [renderer, voices, control, strings, modal_string, grid_string, decimate, output, retune]
)
def test_the_renderer_can_neither_allocate_nor_hold_the_interpreter_s_lock(module: Any) -> None:
    """Compiled so, every function of it: with _nrt off, numba refuses whatever would need memory."""
    compiled = [found for found in vars(module).values() if hasattr(found, "targetoptions")]
    assert len(compiled) >= 2
    for function in compiled:
        assert function.targetoptions["nogil"]
        assert function.targetoptions["_nrt"] is False
        assert function.targetoptions["error_model"] == "numpy"


def test_blocks_ask_python_for_next_to_nothing() -> None:
    inst, out = instrument("sitar-string"), np.zeros((128, 2), np.float32)
    for n in range(20):
        inst.schedule(n, on(40 + n))
    inst.run(out)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for n in range(200):
            inst.schedule(inst.clock, on(40 + n % 40))
            inst.run(out)
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < 10_000
    assert now - before < 5_000


# --- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sample_rate": 100}, ("sample rate", "8000", "48000")),
        ({"sample_rate": 1e9}, ("sample rate", "384000")),
        ({"sample_rate": float("nan")}, ("sample rate", "8000")),
        ({"sample_rate": "fast"}, ("sample rate", "48000")),
        ({"sample_rate": None}, ("sample rate", "48000")),
        ({"block_size": 0}, ("block size", "1 to", "128")),
        ({"block_size": 1 << 30}, ("block size",)),
        ({"block_size": 12.5}, ("block size", "whole")),
        ({"oversample": 3}, ("oversample", "1, 2, 4 or 8")),
        ({"oversample": 0}, ("oversample", "1, 2, 4 or 8")),
        ({"oversample": "2x"}, ("oversample",)),
        ({"polyphony": 0}, ("polyphony", "1 to 256")),
        ({"polyphony": 257}, ("polyphony", "256")),
        ({"polyphony": -1}, ("polyphony",)),
        ({"tuning": "jsut"}, ("jsut", "just")),
        ({"preset": "sittar"}, ("sittar", "sitar-string")),
        ({"preset": {"string": {"length": 1}}}, ("string.density",)),
    ],
)
def test_bad_arguments_get_a_line(arguments: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(PresetError) as caught:
        Instrument(**{"preset": SMALL["modal"], **arguments})
    for word in words:
        assert word in str(caught.value)
    assert "preset" in arguments or "\n" not in str(caught.value)


@pytest.mark.parametrize(("polyphony", "keys"), [(1, 3), (256, 90)])
def test_polyphony_from_one_to_256(polyphony: int, keys: int) -> None:
    inst = Instrument(SMALL["modal"], RATE, polyphony=polyphony)
    score = [(10 * n + ch, on(20 + n, 100, ch)) for n in range(keys) for ch in range(3)]
    render(inst, score, 1500)
    report = inst.report()
    assert report["voices_stolen"] == max(3 * keys - polyphony, 0)
    assert sum(s in (memory.HELD, memory.RELEASED) for s in inst.machine.voices.state) == min(polyphony, 3 * keys)


@pytest.mark.parametrize(
    "out",
    [
        np.zeros((64, 2)),
        np.zeros((64, 1), np.float32),
        np.zeros(64, np.float32),
        np.zeros((2, 64), np.float32).T,
        np.zeros((128, 2), np.float32)[::2],
    ],
)
def test_only_an_array_that_fits_is_written_to(out: Array) -> None:
    with pytest.raises(TypeError, match="float32"):
        instrument("modal").run(out)


@pytest.mark.parametrize("duration", [-1.0, float("nan"), float("inf")])
def test_a_stretch_of_time_must_be_one(duration: float) -> None:
    with pytest.raises(PhysicsError, match="duration"):
        instrument("modal")([], duration, RATE)


@pytest.mark.parametrize("data", [[], [0xF8], [0xF0, 1, 2, 0xF7], [0x42], [0xC0, 5], [0xA0, 60, 3]])
def test_what_is_no_message_for_strings_does_nothing(data: list[int]) -> None:
    inst = instrument("modal")
    assert inst.schedule(0, data)
    assert (render(inst, [], 256) == 0.0).all()


# --- anything goes ----------------------------------------------------------------------------------------------------

# Few keys, so that many instruments can be made.
TUNED = Tuning("few", tuple(440.0 * 2.0 ** ((k - 69) / 12) if k in (34, 50, 57, 62, 81) else None for k in range(128)))


@st.composite
def presets(draw: st.DrawFn) -> Preset:
    """Any problem on either model, with everything mapped that can be."""
    problem, model = draw(problems()), draw(st.sampled_from(["modal", "fd"]))
    first, *others = problem.pickups
    targets = [
        Controller("cc1", "excitation.duration", 1e-3, 1e-2),
        Controller("cc20", "string.loss.s0", 0.0, 100.0),
        Controller("cc21", "excitation.position", 0.01, 0.99),
        Controller("pressure", "gain", -60.0, 12.0),
    ]
    if problem.barrier is not None:
        targets.append(Controller("cc74", "barrier.height", -1e-3, 1e-4))
    return replace(
        load_preset(SMALL["modal"]),
        model=model,
        keys=draw(st.sampled_from(["tension", "length"])),
        problem=replace(problem, pickups=(replace(first, pan=draw(st.floats(-1.0, 1.0))), *others)),
        oversample=draw(st.sampled_from([1, 2])),
        polyphony=draw(st.integers(1, 12)),
        velocity=Velocity(draw(st.floats(0.0, 3.0)), draw(st.floats(-1.0, 1.0))),
        controllers=tuple(targets),
        tuning=TUNED,
        release=draw(st.floats(0.01, 3.0)),
    )


@settings(max_examples=60)
@given(presets(), scores)
def test_any_preset_survives_any_playing(preset: Preset, score: list[Event]) -> None:
    inst = Instrument(preset, RATE)
    out = render(inst, [*score, (100, on(50)), (200, on(62))], 9000, [4500])
    assert np.isfinite(out).all()
    assert np.abs(limited(out)).max() <= CEILING
    assert inst.report()["watchdog"] == 0


def test_errors_of_the_engine_have_one_base() -> None:
    assert issubclass(PhysicsError, EngineError)


def test_what_is_seen_of_the_memory_outlives_the_instrument() -> None:
    """Arrays that were got from one that is gone are not those of the next one."""
    gains = Instrument("plain", RATE).machine.keys.gain
    taps = Instrument("plain", RATE, oversample=2).machine.filter.taps
    kept = gains.copy(), taps.copy()
    others = [Instrument("sitar-string", RATE, polyphony=n) for n in (1, 2, 3)]
    assert np.array_equal(gains, kept[0])
    assert np.array_equal(taps, kept[1])
    assert len(others) == 3
