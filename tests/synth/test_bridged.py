"""Strings on one bridge, as the renderer plays them: the physics itself, whatever the blocks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robustness_parts.random_assemblies import random_assembly
from robustness_parts.random_music import random_music
from robustness_parts.random_presets import few_keys
from synth.assemblies import PLAYED, PLUCK, baj, made_once, of, taraf
from synth.playing import Event, bend, blocks, cc, off, on, raw, render, schedule

from engine import messages as midi
from engine.errors import PhysicsError
from engine.layout import seen
from engine.physics.barrier import Barrier, Polynomial
from engine.physics.excitation import Excitation, pulse
from engine.physics.network.gathering import gather
from engine.physics.network.memory import Island, Resonators, Strand
from engine.physics.network.metered import observe
from engine.physics.network.parts import Against, Network
from engine.physics.network.weaving import weave
from engine.physics.problem import Contact
from engine.physics.string import Array
from engine.preset.assembly import Played, Rattle
from engine.preset.loader import Preset
from engine.synth import network_string
from engine.synth.capture import Watcher, play_watched
from engine.synth.choirs import playable, strung_for
from engine.synth.ensemble import Seats
from engine.synth.instrument import Instrument
from engine.synth.memory import TICK, Joint
from engine.synth.routing import hand_on

RATE = 48_000


instrument = made_once(PLAYED, RATE)


def joint(inst: Instrument) -> Joint:
    return seen(Joint, inst.address + int(inst.machine.joint), inst._bank.block)


def island(inst: Instrument) -> Island:
    return seen(Island, inst.address + int(joint(inst).island), inst._bank.block)


# --- the same as the physics ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["one", "hub", "felt", "none"])
def test_a_note_is_what_the_metered_physics_gives(name: str) -> None:
    """Before the output stage; the renderer leaves out the first step, in which nothing pushes yet."""
    preset, key, steps = PLAYED[name], 57, 4800
    inst = instrument(name)
    sound = raw(inst, [(0, on(key, 100))], steps) / (joint(inst).gain)
    a = preset.assembly
    assert a is not None
    hz = preset.tuning.frequencies[key]
    strings = [strung_for(preset, a.played[0], course, hz) for course in a.played[0].courses]
    network = Network(tuple(own.strung for own in strings), playable(a.body, RATE))
    flock = gather(a.sympathetic, network.body, RATE, 20e3) if a.sympathetic else None
    w = weave(network, RATE, 20e3, flock, a.coupling != "two-way")
    force = np.zeros((steps + 1, len(strings)))
    for n, own in enumerate(strings):
        late = round(own.course.onset * RATE)
        force[late:, n] = own.course.force * pulse(own.pulse, RATE, steps + 1 - late)
    book = observe(w, steps, force[1:])
    wanted = book.out[:, 1:3]
    assert np.abs(sound - wanted).max() < 1e-12 * np.abs(wanted).max()
    if name in ("one", "felt"):
        assert book.balance < 1e-9


def test_one_way_sounds_nearly_as_two_way() -> None:
    """Within 0.01 dB, since its poles have what the body takes of it; without a coupling off by 0.9 dB, later by 3.

    (Contacts that began by a guess parted within milliseconds, and the levels by up to 1.5 dB.)
    """
    levels = []
    for coupling in ("two-way", "one-way", "none"):
        preset = PLAYED["hub"]
        a = preset.assembly
        assert a is not None
        hub = () if coupling == "none" else a.sympathetic
        inst = Instrument(replace(preset, assembly=replace(a, coupling=coupling, sympathetic=hub)), RATE)
        sound = raw(inst, [(0, on(57))], 48_000) / joint(inst).gain
        levels.append(10.0 * np.log10(np.square(sound.reshape(8, -1)).mean(axis=1)))
    two, one, none = levels
    assert np.abs(one - two).max() < 0.1
    assert np.abs(none - two)[4:].max() > 0.5


# --- the same bits ----------------------------------------------------------------------------------------------------

PLAYING: list[Event] = [
    *((0, on(52)), (500, on(57, 80)), (1301, on(64, 120)), (2000, bend(3000)), (2400, cc(1, 90)), (2777, off(57))),
    *((3100, cc(64, 127)), (3200, off(52)), (3500, on(52, 60)), (3900, cc(2, 20)), (4100, cc(7, 30))),
    *((4500, cc(10, 20)), (4600, bend(-4000)), (4801, cc(64, 0)), (5000, off(64)), (5100, on(70, 127))),
    *((5500, on(66, 100)), (5510, on(67, 100)), (5520, on(68, 100)), (5530, on(69, 100)), (6000, cc(120, 0))),
]
FRAMES = 7000


@pytest.mark.parametrize("name", PLAYED)
def test_blocks_and_resets_decide_nothing(name: str) -> None:
    inst = instrument(name)
    wanted = render(inst, PLAYING, FRAMES)
    assert np.isfinite(wanted).all()
    assert np.abs(wanted).max() > 0.01
    assert inst.report()["watchdog"] == 0
    for size in (1, 37, 64, 512):
        if size == 1 and name not in ("all", "felt"):
            continue
        inst.reset()
        assert (render(inst, PLAYING, FRAMES, blocks(size, FRAMES)) == wanted).all(), size


@pytest.mark.parametrize("name", PLAYED)
def test_a_saved_instrument_plays_the_same(name: str, tmp_path: Path) -> None:
    inst = instrument(name)
    wanted = render(inst, PLAYING, FRAMES)
    inst.save(tmp_path / "it.jawari")
    again = Instrument.open(tmp_path / "it.jawari")
    assert again.preset.assembly == inst.preset.assembly
    assert (render(again, PLAYING, FRAMES) == wanted).all()


@pytest.mark.parametrize("name", ["felt", "hub", "one-way", "rattle"])
def test_all_sleeps_when_it_is_silent_and_wakes_as_new(name: str) -> None:
    """Where the island sleeps, it is at rest to the last bit: what comes next is what a new instrument plays."""
    inst = instrument(name)
    kept = inst.preset.problem.string.loss
    assert kept is not None
    first = render(inst, [(0, on(57))], 4096)
    inst.reset()
    # A note that is damped at once, on an instrument that loses quickly, and the clock on a tick when the next begins.
    render(inst, [(0, on(60)), (300, cc(120, 0))], 600)
    out = np.zeros((1 << 15, 2), np.float32)
    for _ in range(40):
        inst.run(out)
        if inst.machine.idle:
            break
    assert inst.machine.idle == 1
    assert joint(inst).awake == 0
    assert not inst.silent or inst.machine.idle
    start = -(-inst.clock // TICK) * TICK
    assert not render(inst, [], start - inst.clock).any()
    assert (render(inst, [(start, on(57))], 4096) == first).all()


# --- strings that come and go -----------------------------------------------------------------------------------------


def rough(sound: Array, at: int, low: int = 65) -> float:
    """What lies above 12 kHz in 256 samples around a moment, dB; strings of 4 kHz have little there."""
    part = sound[at - 128 : at + 128] * np.hanning(256)[:, None]
    return float(10.0 * np.log10((np.abs(np.fft.rfft(part, axis=0)[low:]) ** 2).sum() + 1e-30))


def test_strings_come_and_go_without_a_click() -> None:
    """Where a soft note begins, and where a string is stolen, it is no rougher than it would have been."""
    soft = Excitation(0.7, 1.0, 8e-3)
    inst = Instrument(of(Played(baj(band=4e3), exciter=soft), sympathetic=taraf(3, 1, 3e3)), RATE)

    def after(*events: Event) -> Array:
        inst.reset()
        return raw(inst, [(0, on(57)), *events], 8000)

    alone, joined = after(), after((6000, on(64, 1)))
    assert abs(rough(joined, 6000) - rough(alone, 6000)) < 0.5
    for at in range(6000, 7800, 100):
        assert rough(joined, at) < rough(alone, at) + 3.0
    others = [(200 + 100 * n, on(60 + n, 1)) for n in range(5)]
    full, stolen = after(*others), after(*others, (6000, on(65, 1)))
    assert inst.report()["voices_stolen"] == 1
    times = range(5900, 7800, 50)
    assert max(rough(stolen, at) for at in times) < max(rough(full, at) for at in times) + 1.0
    stopped = after((6000, cc(120, 0)))
    whole = rough(alone, 6000, 0)
    assert max(rough(stopped, at) for at in times) < whole - 30.0  # which is the fade's own; the string has 70
    assert rough(stopped, 7800) < rough(alone, 7800) - 40.0


def energy(inst: Instrument) -> float:
    """H of the island (engine/physics/network/README.md, 4), after an even number of steps."""
    i = island(inst)
    b, rate, base = i.bridge, i.per_second, inst.address + int(joint(inst).island)

    def vibrating(bank: Resonators) -> float:
        span, mean = bank.even - bank.odd, bank.even + bank.odd
        return float((bank.inertia * span * span + bank.spring * mean * mean).sum())

    total = vibrating(b.bank)
    for member in i.members[: i.active[0]]:
        s = seen(Strand, base + int(i.strands[member]), inst._bank.block)
        speed, mean = s.ends.weight @ (b.now - b.before) * rate, s.ends.weight @ (b.now + b.before) / 2.0
        drawn = (s.now - s.before) * rate
        total += vibrating(s.bank) + float((speed * (drawn + 0.5 * s.ends.inertia * speed)).sum())
        total += 0.5 * float((s.ends.tension * mean * mean).sum()) + 0.5 * float((s.points.psi**2).sum())
    return total


def test_energy_only_falls_once_nothing_pushes() -> None:
    """All of it: of strings, of their ends on the bridge, of the body, in contact; of notes that have come on a bridge
    that moves, and that go.
    """
    inst = instrument("felt")
    schedule(inst, [(0, on(52)), (700, on(57)), (1500, on(64)), (4000, off(57)), (5000, cc(120, 0))])
    found, out = [], np.zeros((64, 2), np.float32)
    for _ in range(100):
        inst.run(out)
        found.append(energy(inst))
    late = np.array(found[1500 // 64 + 12 :])  # the last pluck is over
    assert late[0] > 0.0
    assert (np.diff(late) <= 1e-12 * late[0]).all()
    assert late[-1] < 1e-4 * late[0]


def test_who_watches_changes_no_bit_and_sees_the_strings() -> None:
    heard = []
    for watched in (False, True):
        seats, watcher, out = Seats(2), Watcher(), np.zeros((4000, 2), np.float32)
        seats.put_on(0, Instrument(PLAYED["all"], RATE), on_all_channels=True)
        watcher.watch(watched)
        hand_on(seats.address, 100, midi.packed(*on(57)))
        play_watched(seats.address, watcher.address if watched else 0, 4000, out.ctypes.data)
        heard.append(out)
        assert (max((look.size for look in watcher.looks()), default=0) > 50) == watched
    assert (heard[0] == heard[1]).all()
    assert np.abs(heard[0]).max() > 0.01


# --- what is not played yet -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "said"),
    [
        (
            of(Played(baj(), mono=True), Played(baj())),
            "strings.0.mono = true: shares keys with strings.1, which has a string",
        ),
        (
            of(Played(baj(), mono=True, rattles=(Rattle(0.1, 1e-3, 1e-4),))),
            "strings.0.ports = 1: nothing lies loose on a string of many frets",
        ),
        (replace(PLAYED["one"], model="fd"), "model = fd: strings on one bridge are modal"),
        (of(Played(baj(), exciter=PLUCK), sympathetic=taraf(), coupling="none"), "coupling = none: "),
        (of(Played(baj(), exciter=PLUCK), sympathetic=taraf(17)), "strings = 17: at most 16"),
    ],
)
def test_what_is_not_played_is_refused_in_a_line(preset: Preset, said: str) -> None:
    with pytest.raises(PhysicsError) as caught:
        Instrument(preset, RATE)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_string_that_presses_at_rest_leaves_its_key_silent() -> None:
    pressed = Against(Barrier(Polynomial((0.0,)), 0.01, 0.02, 2, 1e-4), Contact(1e6))
    inst = Instrument(of(Played(replace(baj(), ports=(pressed,)), exciter=PLUCK)), RATE)
    assert "presses on its barrier at rest" in inst.silent_keys[57]
    assert not render(inst, [(0, on(57))], 500).any()


# --- any instrument ---------------------------------------------------------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_random_instruments_are_the_same_in_any_blocks(seed: int) -> None:
    chance = Random(seed)
    preset = random_assembly(chance)
    tuning = few_keys(preset.tuning, chance, 3)
    keys = [key for key, hz in enumerate(tuning.frequencies) if hz is not None]
    frames = 3000
    events = [(at, list(data)) for at, data in random_music(chance, keys, frames)]
    inst = Instrument(preset, RATE, tuning=tuning)
    wanted = render(inst, events, frames)
    assert np.isfinite(wanted).all()
    inst.reset()
    cuts = sorted(chance.sample(range(1, frames), 40))
    assert (render(inst, events, frames, cuts) == wanted).all()


# --- a file of anybody's ----------------------------------------------------------------------------------------------


def test_a_saved_choir_is_not_believed() -> None:
    """Every word of it is changed in turn, to what leads out of it: refused, or a number that is only heard."""
    preset = replace(PLAYED["one"], assembly=of(Played(baj(band=1e3), lowest=57, highest=57)).assembly)
    designed = Instrument(preset, RATE).design
    words, block = designed.strings.words, designed.strings.block
    first, count = int(words[57, 0]), int(words[57, 1])
    row = block[first : first + 8 * count].view(np.int64)
    assert network_string.consistent(network_string.ChoirParts(row), 2, 3)
    places = {at for at in range(row.size) if 0 < abs(int(row[at])) < 1 << 20}  # offsets and counts, not floats
    refused = 0
    for at in sorted(places):
        kept = row[at]
        for wrong in (-1, 1 << 40, kept + (1 << 30)):
            row[at] = wrong
            refused += not network_string.consistent(network_string.ChoirParts(row), 2, 3)
        row[at] = kept
    assert refused > 0.9 * 3 * len(places)
    assert network_string.consistent(network_string.ChoirParts(row), 2, 3)
