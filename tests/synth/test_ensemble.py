"""Ensembles: where notes begin, that those who come late were always there, sums, gains, and one instant for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from synth.playing import RATE, SMALL, Event, bend, bend_range, cc, off, on, pressure
from synth.playing import render as render_alone

from engine.physics.string import Array
from engine.preset.loader import load_preset
from engine.preset.rack import Part, Rack, bank
from engine.synth import memory
from engine.synth.ensemble import Ensemble, design_part, gains
from engine.synth.instrument import Instrument

pytestmark = pytest.mark.usefixtures("shared_designs")


def program(number: int, channel: int = 0) -> list[int]:
    return [0xC0 | channel, number]


def rack_of(*names: str, channels: dict[int, int] | None = None) -> Rack:
    return bank([load_preset(SMALL.get(name, name)) for name in names], channels)


def ensemble(rack: Rack, early: Sequence[int] = (), rate: int = RATE, **more: Any) -> Ensemble:
    """With parts that are there from the start."""

    def make(number: int) -> Instrument:
        return design_part(rack.parts[number], rate, 128, None, None, None, more.get("mono", False))

    made = Ensemble(rack, make, rate, **more)
    for number in early:
        made._seats.put_on(number, make(number))
    return made


def render(made: Ensemble, events: Sequence[Event], frames: int, block: int) -> Array:
    """Every event is handed over with the block that it falls in."""
    waiting, out = sorted(events, key=lambda event: event[0]), np.full((frames, made.channels), np.nan, np.float32)
    for start in range(0, frames, block):
        while waiting and waiting[0][0] < start + block:
            made.schedule(*waiting.pop(0))
        made.run(out[start : start + block])
    return out


MUSIC: list[Event] = [
    (0, on(50)), (70, cc(1, 90)), (200, on(57)), (900, bend(3000)), (1500, cc(64, 127)), (2000, program(1)),
    (2000, on(45, 60)), (2100, pressure(70)), (2500, off(50)), (3000, program(2)), (3000, on(62, 80)),
    (3300, cc(7, 60)), (3500, program(0)), (3501, on(55)), (4000, off(57)), (4500, cc(64, 0)), (5000, program(1)),
    (5300, on(52)), (5300, cc(10, 20)), (6000, off(45)), (6500, off(52)),
]  # fmt: skip
LENGTH = 12_000


def test_no_block_and_no_arrival_changes_a_bit() -> None:
    """Parts that are designed when they are first asked for sound as if they had been there from the start."""
    rack = rack_of("bridge", "grid", "grid frets")
    first = render(ensemble(rack), MUSIC, LENGTH, 128)
    assert np.abs(first).max() > 0.05
    for early in ((), (2,), (0, 1, 2)):
        for block in (37, 512, LENGTH):
            assert (render(ensemble(rack, early), MUSIC, LENGTH, block) == first).all()


def test_an_ensemble_is_the_sum_of_its_parts() -> None:
    """Each with its own notes and everybody's controllers, its events as much later as the others' filters take."""
    rack = rack_of("bridge", "grid", "grid frets")
    made = ensemble(rack)
    together, playing = render(made, MUSIC, LENGTH, 128), 0
    heard: list[list[Event]] = [[], [], []]
    for sample, data in MUSIC:
        if data[0] & 0xF0 == 0xC0:
            playing = data[1]
        elif data[0] & 0xF0 == 0x90:
            heard[playing].append((sample, data))
        else:
            for events in heard:
                events.append((sample, data))
    total = np.zeros((LENGTH, 2), np.float32)
    for part, events in zip(rack.parts, heard):
        alone = Instrument(part.preset, RATE)
        late = made.latency - alone.latency
        total = total + render_alone(alone, [(sample + late, data) for sample, data in events], LENGTH)
    assert (together == total).all()


def test_one_part_alone_gives_the_samples_of_the_instrument() -> None:
    for name in ("bridge", "grid frets"):
        rack = rack_of(name)
        events = [event for event in MUSIC if event[1][0] & 0xF0 != 0xC0]
        alone = render_alone(Instrument(rack.parts[0].preset, RATE), events, LENGTH)
        made = ensemble(rack)
        assert (render(made, events, LENGTH, 100) == alone).all()
        assert made.latency == Instrument(rack.parts[0].preset, RATE).latency


def test_instruments_of_any_oversampling_are_heard_at_one_instant() -> None:
    """The same string, plucked in the same way, at one, two and four times the rate, to a step and rounding."""
    presets = [load_preset({**SMALL["modal"], "oversample": factor}) for factor in (1, 2, 4)]
    rack = bank(presets, {0: 0, 1: 1, 2: 2})
    found = []
    for channel in range(3):
        out = render(ensemble(rack), [(1000, on(60, 100, channel))], 3000, 128)[:, 0]
        found.append(out / np.abs(out).max())
    half = [int(np.argmax(np.abs(out) > 0.5)) for out in found]
    assert max(half) - min(half) <= 2
    assert Instrument(presets[2], RATE).latency > 10


def test_a_program_chooses_for_its_channel_only_and_banks_count() -> None:
    rack = Rack("R", tuple(Part(load_preset(SMALL["grid"]), (), number) for number in (0, 129)))
    rack = Rack("R", (Part(rack.parts[0].preset, tuple(range(16)), 0), rack.parts[1]))
    made = ensemble(rack)
    events = [
        (0, on(40)), (1, cc(32, 1, 3)), (2, program(1, 3)), (3, on(41, channel=3)), (4, on(42)), (5, program(1)),
        (6, on(43)), (7, cc(32, 0, 3)), (8, program(0, 3)), (9, on(44, channel=3)), (10, program(9, 4)),
    ]  # fmt: skip
    render(made, events, 100, 64)
    keys = [sorted(int(v.key) for v in i.machine.voices if v.state == memory.HELD) for i in made.instruments.values()]
    assert keys == [[40, 42, 43, 44], [41]]
    report = made.report()
    assert report["unknown_programs"] == [[1, 2], [5, 10]]
    assert [part["notes"] for part in report["parts"]] == [4, 1]
    assert report["voices"] == sum(part["voices"] for part in report["parts"])


def test_a_zone_follows_its_manager_s_program() -> None:
    made = ensemble(rack_of("grid", "modal"))
    zone = [(0, cc(101, 0)), (0, cc(100, 6)), (0, cc(6, 3))]
    notes = [(6, on(50, channel=2)), (6, on(51, channel=9)), (7, program(0, 2)), (8, on(52, channel=2))]
    render(made, [*zone, (5, program(1)), *notes], 64, 64)
    held = {
        n: sorted(int(v.key) for v in i.machine.voices if v.state == memory.HELD) for n, i in made.instruments.items()
    }
    assert held == {0: [51], 1: [50, 52]}


def test_channels_without_a_part_are_left_out_and_counted() -> None:
    made = ensemble(rack_of("grid", channels={2: 0}))
    out = render(made, [(0, on(50)), (5, on(50, channel=7)), (9, on(51))], 500, 64)
    assert (out == 0.0).all()
    assert made.instruments == {}  # nor is anything designed
    assert made.report()["notes_left_out"] == {1: 2, 8: 1}
    render(made, [(0, on(50, channel=2))], 64, 64)
    assert list(made.instruments) == [0]


def test_gains_and_pans() -> None:
    preset = load_preset(SMALL["grid"])
    alone = render(ensemble(Rack("R", (Part(preset, (0,)),))), [(0, on(50))], 3000, 128)
    for gain, pan in ((-6.0, 0.0), (0.0, -1.0), (0.0, 1.0), (3.0, 0.4)):
        got = render(ensemble(Rack("R", (Part(preset, (0,), gain=gain, pan=pan),))), [(0, on(50))], 3000, 128)
        left, right = gains(gain, pan)
        np.testing.assert_allclose(got, alone * np.array([left, right]), rtol=1e-6, atol=1e-30)
        assert left**2 + right**2 == pytest.approx(2.0 * 10.0 ** (gain / 10.0))
    assert gains(0.0, 0.0) == (1.0, 1.0)
    assert gains(0.0, -1.0)[0] == pytest.approx(2.0**0.5)
    assert gains(0.0, -1.0)[1] == 0.0 == pytest.approx(gains(0.0, 1.0)[0], abs=1e-15)
    mono = render(ensemble(Rack("R", (Part(preset, (0,), pan=0.9),)), mono=True), [(0, on(50))], 3000, 128)
    assert mono.shape == (3000, 1)
    plain = render_alone(Instrument(preset, RATE, mono=True), [(0, on(50))], 3000)
    assert (mono == plain).all()


def test_reset_is_as_new_but_for_what_is_designed() -> None:
    made = ensemble(rack_of("bridge", "grid", "grid frets"))
    first = render(made, MUSIC, LENGTH, 128)
    assert not made.silent
    made.reset()
    assert made.silent
    assert made.clock == 0
    assert made.report()["parts"][1]["notes"] == 0
    assert (render(made, MUSIC, LENGTH, 128) == first).all()


def test_a_bend_range_and_a_tuning_reach_those_who_come_late() -> None:
    rack = rack_of("grid", "modal")
    tuning = [0xF0, 0x7F, 0x7F, 8, 2, 0, 1, 50, 51, 0, 0, 0xF7]
    events = [*((0, data) for data in bend_range(12)), (5, tuning), (9, bend(4000)), (2000, program(1)), (2000, on(50))]
    assert (render(ensemble(rack), events, 4000, 64) == render(ensemble(rack, (0, 1)), events, 4000, 64)).all()
    silent = [event for event in events if event[1] is not tuning]
    assert (render(ensemble(rack), silent, 4000, 64) != render(ensemble(rack), events, 4000, 64)).any()
