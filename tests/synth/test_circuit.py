"""The circuit behind pickups: its closed form at any rate, the same bits in any blocks, silence."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synth.playing import RATE, SMALL, blocks, instrument, off, on, render

from engine.aligned import zeros
from engine.errors import PresetError
from engine.physics.string import Array
from engine.preset.circuit import COIL, CRYSTAL, USUAL, Circuit
from engine.preset.loader import load_preset
from engine.synth import circuit
from engine.synth.instrument import Instrument
from engine.units import parse_quantity

pytestmark = pytest.mark.usefixtures("shared_designs")

PICKUP = {**SMALL["bridge"], "circuit": {"inductance": "3 H", "load": "200 kΩ"}}
SADDLE = {**SMALL["bridge"], "pickups": [{"kind": "body_force"}], "circuit": {"kind": "crystal"}}
NOTE = [(0, on(57)), (1500, on(64, 50)), (9000, off(57)), (9000, off(64))]


def analog(c: Circuit, frequency: Array) -> Array:
    """What comes out by Kirchhoff's laws, of 1 at low (coil) or high (crystal) frequencies."""
    s = 2j * pi * frequency
    if c.kind == COIL:
        output = 1.0 / (1.0 / c.load + s * c.capacitance)
        return output / (output + c.resistance + s * c.inductance) * (1.0 + c.resistance / c.load)
    return c.load / (c.load + 1.0 / (s * c.capacitance))


def found(c: Circuit, rate: float, frequency: Array) -> Array:
    """The same of the impulse response."""
    x = zeros((1 << 18, 1))
    x[0] = 1.0
    circuit.run(circuit.design(c, rate), circuit.state(1), x)
    n = np.arange(len(x))
    return np.array([x[:, 0] @ np.exp(-2j * pi * f / rate * n) for f in frequency])


@pytest.mark.parametrize("rate", [44_100.0, 48_000.0, 96_000.0, 384_000.0])
@pytest.mark.parametrize("c", [USUAL[COIL], Circuit(inductance=2.0, resistance=6e3, load=1e6), USUAL[CRYSTAL],
                               Circuit(CRYSTAL, capacitance=1e-9, load=1e6)])  # fmt: skip
def test_gain_and_phase_are_those_of_the_circuit(c: Circuit, rate: float) -> None:
    """At every frequency as the bilinear transform bends it; at the edge itself, and far below the rate, as it is."""
    f = np.array([30.0, 200.0, 1000.0, 3000.0, 6000.0, 12_000.0])
    bent = c.edge * np.tan(pi * f / rate) / np.tan(pi * c.edge / rate)
    assert found(c, rate, f) == pytest.approx(analog(c, bent), abs=1e-8)
    edge = np.array([c.edge])
    assert found(c, rate, edge) == pytest.approx(analog(c, edge), abs=1e-8)
    assert np.abs(found(c, rate, f[:4])) == pytest.approx(np.abs(analog(c, f[:4])), rel=0.05)


def test_a_coil_resonates_where_it_should() -> None:
    c = Circuit(inductance=4.0, resistance=8e3, capacitance=6e-10, load=2.5e5)
    assert c.edge == pytest.approx(3301.0, rel=1e-3)  # 1/(2 pi sqrt(LC)) = 3249 Hz, and the load's share
    assert abs(analog(c, np.array([c.edge]))[0]) == pytest.approx(c.quality)
    assert c.quality == pytest.approx(4.0 / 8e4 * 0.0 + 2.0 * pi * c.edge * (4.0 * 6e-10) / (4.0 / 2.5e5 + 8e3 * 6e-10))


def test_an_edge_above_the_rate_is_still_stable() -> None:
    c = Circuit(inductance=0.2, capacitance=4e-10)
    assert c.edge > 16e3
    assert abs(found(c, 22_050.0, np.array([100.0]))[0]) == pytest.approx(1.0, abs=1e-3)


def test_none_changes_nothing() -> None:
    x = zeros((64, 2))
    x[:] = 0.3
    circuit.run(circuit.design(None, 48e3), circuit.state(), x)
    assert (x == 0.3).all()


@pytest.mark.parametrize("preset", [PICKUP, SADDLE], ids=["coil", "crystal"])
def test_blocks_leave_no_trace_and_silence_is_silence(preset: dict[str, object]) -> None:
    made = Instrument(preset, RATE)
    whole = render(made, NOTE, 60_000, [60_000])
    for size in (1, 64, 1000):
        made.reset()
        frames = 2000 if size == 1 else 60_000
        assert (render(made, NOTE, frames, blocks(size, frames)) == whole[:frames]).all()
    assert np.abs(whole).max() > 0.01
    assert made.silent
    assert not made.machine.passing.kept.any()


def test_it_is_as_loud_as_without() -> None:
    """Rehearsal listens behind it."""
    loud = [np.sqrt(np.square(render(made, [(0, on(57))], 20_000, [20_000])).mean())
            for made in (Instrument(PICKUP, RATE), instrument("bridge"))]  # fmt: skip
    assert 20.0 * np.log10(loud[0] / loud[1]) == pytest.approx(0.0, abs=2.0)


def test_a_saddle_feels_the_force_of_strings_that_share_a_body() -> None:
    """Without modes the force on the body is heard as it is; a crystal under the bridge feels the same."""
    base = {"string": {"length": 0.65, "diameter": 4e-4, "material": "steel", "tuned": "A2"}, "strings": [{}]}
    alone = Instrument(base, RATE)
    felt = Instrument({**base, "pickups": [{"kind": "body_force"}]}, RATE)
    x, y = (render(made, [(0, on(45))], 8000, [8000]) for made in (alone, felt))
    assert (x == y).all()
    body = Instrument({**base, "pickups": [{"kind": "body_force"}], "body": {"name": "guitar"}}, RATE)
    assert np.abs(render(body, [(0, on(45))], 8000, [8000])).max() > 1e-3


@settings(max_examples=20)
@given(st.floats(0.05, 0.9), st.sampled_from(["tension", "length"]), st.floats(-2.0, 2.0))
def test_pickups_that_stay_where_they_are(at: float, keys: str, power: float) -> None:
    from engine.synth.keys import of_key

    preset = load_preset({**SMALL["modal"], "pickups": [{"at": at}, {"kind": "bridge_force"}]})
    octave = of_key(preset.problem, keys, 2.0 * preset.problem.string.pitch, type(preset.tracking)(hearing=power))
    assert octave.pickups[0].at == pytest.approx(min(max(at * 2.0**power, 0.01), 0.99), rel=1e-3)
    assert octave.pickups[1].at == 0.0


def test_what_cannot_be_is_refused() -> None:
    wire = {"string": {"length": 1.0, "density": 1e-3, "tension": 100.0}}
    for more, told in (
        ({"circuit": {"kind": "crystal", "inductance": 2.0}}, "circuit.inductance = 2: is of kind: coil; remove it"),
        (
            {"circuit": {"inductance": 100.0, "capacitance": 1e-4}},
            "circuit.capacitance = 0.0001: puts its edge at 1.6",
        ),
        ({"pickups": [{"distance": 0.1}]}, "pickups.0.distance = 0.1: is of kind: air; remove it"),
        ({"pickups": [{"kind": "air", "width": 0.1}]}, "pickups.0.width = 0.1: is not of kind: air"),
        ({"pickups": [{"width": 0.1}], "model": "fd"}, "pickups.0.width = 0.1: is heard of modes only"),
        ({"pickups": [{"kind": "air"}], "model": "fd"}, "pickups.0.kind = air: is heard of modes only"),
        ({"pickups": [{"kind": "bridge_force", "width": 0.1}]}, "pickups.0.width = 0.1: a bridge_force is felt"),
    ):
        with pytest.raises(PresetError) as error:
            load_preset(wire | more)
        assert told in str(error.value)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [("4 H", "H", 4.0), ("600 mH", "H", 0.6), ("0.6 nF", "F", 6e-10), ("250 kΩ", "Ω", 2.5e5), ("8 kohm", "Ω", 8e3)],
)
def test_electric_units(text: str, unit: str, value: float) -> None:
    assert parse_quantity(text, unit) == pytest.approx(value)
    with pytest.raises(PresetError):
        parse_quantity(text, "Hz")
