"""Strings on one bridge, as the renderer plays them: the physics itself, whatever the blocks."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from engine.layout import seen
from engine.physics.excitation import pulse
from engine.physics.network.gathering import gather
from engine.physics.network.memory import Island
from engine.physics.network.metered import observe
from engine.physics.network.parts import Network
from engine.physics.network.weaving import weave
from engine.synth.choirs import _strung, playable
from engine.synth.instrument import Instrument
from engine.synth.memory import TICK, Joint
from tests.synth.assemblies import PLAYED
from tests.synth.playing import Event, bend, blocks, cc, off, on, raw, render

RATE = 48_000


@cache
def _made(name: str) -> Instrument:
    return Instrument(PLAYED[name], RATE)


def instrument(name: str) -> Instrument:
    made = _made(name)
    made.reset()
    return made


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
    strings = [_strung(preset, a.played[0], course, hz) for course in a.played[0].courses]
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
    """SOUND: the played string within 0.8 dB over two seconds, since its poles have what the body takes of it."""
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
    assert np.abs(one - two).max() < 1.5
    assert np.abs(none - two)[4:].max() > 1.5


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


@pytest.mark.parametrize("name", ["felt", "hub", "one-way"])
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
