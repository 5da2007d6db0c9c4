"""Registers: strings of a key that are plucked or not, as the player has drawn their stops."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from synth.playing import RATE, Event, blocks, cc, on, raw, render
from synth.test_bridged import island, joint

from engine import simulate
from engine.errors import PresetError
from engine.layout import seen
from engine.physics.network.memory import Strand
from engine.physics.string import Array
from engine.preset.loader import load_preset
from engine.synth.instrument import Instrument

NAMES = ("first", "second", "third", "fourth")
STOPS = {name: 80 + n for n, name in enumerate(NAMES)}
# Two unisons and an octave, as a harpsichord has them; the fourth register has no strings.
CHOIRS: list[dict[str, Any]] = [
    {"stop": "first"},
    {"stop": "second", "detuned": 1, "onset": "2 ms"},
    {"stop": "third", "ratio": 2, "force": 0.6},
]
MOVED = [{"source": f"cc{n}", "to": f"registers.{name}", "range": [0, 1]} for name, n in STOPS.items()]
CEMBALO: dict[str, Any] = {
    "string": {"length": "65 cm", "diameter": "0.3 mm", "material": "iron", "tuned": "C4", "band": "6 kHz"},
    "excitation": {"position": 0.2, "force": "1 N", "duration": "2 ms"},
    "courses": CHOIRS,
    "registers": {},
    "map": MOVED,
}
BODY = {"modes": [{"frequency": 180, "quality": 20, "mass": 0.3}, {"frequency": 700, "quality": 30, "mass": 0.3}]}
KINDS: dict[str, dict[str, Any]] = {
    "pulse": {},
    "quill": {"exciter": {"kind": "plectrum", "by": "1 mm", "slip": "0.5 N"}, "excitation": {"position": 0.2}},
}


@cache
def _made(kind: str, body: bool) -> Instrument:
    return Instrument({**CEMBALO, **KINDS[kind], **({"body": BODY} if body else {})}, RATE, polyphony=4)


def cembalo(kind: str = "pulse", body: bool = True) -> Instrument:
    made = _made(kind, body)
    made.reset()
    return made


def drawn(first: int = 127, second: int = 127, third: int = 127, at: int = 0) -> list[Event]:
    return [(at, cc(STOPS[name], value)) for name, value in zip(NAMES, (first, second, third))]


def energies(inst: Instrument) -> list[float]:
    """Of each string of the first voice."""
    i, base = island(inst), inst.address + int(joint(inst).island)
    banks = [seen(Strand, base + int(place), inst._bank.block).bank for place in i.strands[:3]]
    return [float((bank.even**2).sum() + (bank.odd**2).sum()) for bank in banks]


@pytest.mark.parametrize("kind", KINDS)
def test_stops_that_are_drawn_change_no_bit(kind: str) -> None:
    """All that a register adds to strings is that one may take them away."""
    bare = [{word: value for word, value in course.items() if word != "stop"} for course in CHOIRS]
    other = Instrument({**CEMBALO, **KINDS[kind], "body": BODY, "courses": bare, "map": []}, RATE, polyphony=4)
    events = [(0, on(60)), (2000, on(67)), (4000, on(60, 60))]
    wanted = render(other, events, 8000)
    assert (render(cembalo(kind), events, 8000) == wanted).all()
    assert (render(cembalo(kind), drawn() + events, 8000) == wanted).all()
    assert np.abs(wanted).max() > 0.01


def test_a_stop_that_the_preset_has_in_is_a_course_without_force() -> None:
    """Also to whoever judges how loud the instrument is."""
    still = [*CHOIRS[:2], {**CHOIRS[2], "force": 0}]
    events = [(0, on(60)), (3000, on(64))]
    alone = {**CEMBALO, "body": BODY, "intonation": "string"}  # a string is tuned for when its stop is drawn
    pushed_in = Instrument({**alone, "registers": {"third": 0}}, RATE, polyphony=4)
    weak = Instrument({**alone, "courses": still}, RATE, polyphony=4)
    assert (render(pushed_in, events, 6000) == render(weak, events, 6000)).all()
    assert (render(pushed_in, [*drawn(), (6000, on(60))], 9000) != render(weak, [(6000, on(60))], 9000)).any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_jack_that_passes_by_leaves_its_string_alone(kind: str) -> None:
    for stops, silent in (((127, 0, 127), 1), ((0, 127, 127), 0), ((127, 127, 0), 2)):
        inst = cembalo(kind, body=False)
        render(inst, [*drawn(*stops), (10, on(60))], 2400)
        found = energies(inst)
        assert found[silent] == 0.0
        assert all(own > 0.0 for n, own in enumerate(found) if n != silent)


def test_a_stop_drawn_in_part_plucks_in_part() -> None:
    """Strings and body are linear: half the force of one register is the mean of all and none of it."""

    def of(third: int) -> Array:
        return raw(cembalo(), [*drawn(third=third), (10, on(60))], 4000)

    share = 40 / 127
    wanted = share * of(127) + (1.0 - share) * of(0)
    assert of(40) == pytest.approx(wanted, rel=1e-9, abs=1e-11 * np.abs(wanted).max())  # 4000 steps round
    assert np.abs(of(127) - of(0)).max() > 0.01 * np.abs(wanted).max()


def test_stops_are_moved_for_the_next_note() -> None:
    """What sounds goes on, to the bit, even a pluck that lasts; what is struck then has what is drawn then."""
    events = [(0, on(60)), (2400, on(67))]
    still = render(cembalo(), events, 4800)
    early = render(cembalo(), sorted([*events, *drawn(0, 127, 0, at=20)], key=lambda e: e[0]), 4800)
    assert (early[:2400] == still[:2400]).all()
    assert (early[2400:] != still[2400:]).any()
    late = render(cembalo(), [*events, *drawn(0, 127, 0, at=3000)], 4800)
    assert (late == still).all()


def test_a_pluck_that_lasts_keeps_its_registers_under_the_next_one() -> None:
    """Two plucks of one key that overlap, with other stops each: their sum, as all of it is linear."""
    slow = Instrument(
        {**CEMBALO, "body": BODY, "excitation": {"position": 0.2, "force": "1 N", "duration": "40 ms"}}, RATE
    )

    def of(*plucks: tuple[int, tuple[int, int, int]]) -> Array:
        slow.reset()
        return raw(slow, [event for at, stops in plucks for event in (*drawn(*stops, at=at), (at, on(60)))], 6000)

    one, other = (0, (127, 0, 127)), (480, (0, 127, 0))
    wanted = of(one) + of(other)
    assert of(one, other) == pytest.approx(wanted, rel=1e-7, abs=1e-9 * np.abs(wanted).max())


def test_blocks_decide_nothing() -> None:
    events = [(0, on(60)), *drawn(0, 127, 60, at=700), (700, on(64)), *drawn(at=1500), (1501, on(60))]
    whole = render(cembalo("quill"), events, 4000)
    for size in (1, 37, 512):
        assert (render(cembalo("quill"), events, 4000, blocks(size, 4000)) == whole).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_note_is_simulated_with_the_stops_of_the_preset(kind: str) -> None:
    preset = {**CEMBALO, **KINDS[kind], "body": BODY, "registers": {"second": 0, "third": 0.5}}
    inst = Instrument(preset, RATE, polyphony=1)
    sim = simulate(preset, 0.02, RATE, key=60, velocity=90, as_played=True)
    sound = raw(inst, [(0, on(60, 90))], sim.time.size) / float(joint(inst).gain)
    assert np.abs(sim.sound).max() > 0.0
    assert np.abs(sound - sim.sound).max() < 1e-12 * np.abs(sim.sound).max()


def test_hammers_have_no_registers() -> None:
    with pytest.raises(PresetError, match=r"courses\.0\.stop.*a hammer hits all strings of its key"):
        load_preset({**CEMBALO, "exciter": {"kind": "hammer"}, "excitation": {"position": 0.2}})
