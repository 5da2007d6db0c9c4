"""Instruments of several strings, simulated: energy, forces and shapes of every part, in memory, in files, drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synth.assemblies import PLAYED
from synth.playing import on, raw

import engine
from engine.cli import main
from engine.errors import PhysicsError
from engine.layout import seen
from engine.physics.network.metered import run
from engine.physics.network.weaving import weave
from engine.study.together import EnsembleSimulation
from engine.synth.instrument import Instrument
from engine.synth.memory import Joint

INSTRUMENTS = sorted((Path(__file__).parents[1] / "preset" / "instruments").glob("*.yaml"))
WIRE = {"length": 0.65, "diameter": 3e-4, "material": "steel", "tuned": "A3", "keys": "length"}
BODY = {"modes": [{"frequency": 180, "quality": 12, "mass": 0.25}, {"frequency": 515, "quality": 8, "mass": 0.25}]}
PLUCK = {"position": 0.2, "force": 1.0, "duration": 2e-3}
SMALL: dict[str, Any] = {"string": WIRE | {"band": 4000.0}, "excitation": PLUCK, "body": BODY}
TWO = SMALL | {"strings": [{"played": "A3-A4"}, {"sympathetic": ["A3", "E4"]}]}


def simulated(preset: Any, seconds: float = 0.02, **how: Any) -> EnsembleSimulation:
    sim = engine.simulate(preset, seconds, **how)
    assert isinstance(sim, EnsembleSimulation)
    return sim


@pytest.mark.parametrize("file", INSTRUMENTS, ids=lambda file: file.stem)
def test_energy_is_kept_and_nothing_pulls(file: Path) -> None:
    sim = simulated(file, 0.03, key="C4", velocity=110, band=8000.0)
    assert sim.energy_drift < 1e-11
    assert sim.contact_force.min(initial=0.0) >= 0.0
    assert np.abs(sim.sound).max() > 0.0
    e = sim.energy
    assert np.allclose(e.total, e.strings.sum(axis=1) + e.contact.sum(axis=1) + e.body + e.hammers, rtol=1e-12)
    assert sim.energy.strings.shape == (sim.time.size, len(sim.strings))
    assert sim.contact_string.size == sim.contact_position.size == sim.contact_force.shape[1]
    assert sim.port_string.size == sim.port_position.size == sim.port_force.shape[1]


def test_it_is_the_network_run_by_hand() -> None:
    """Piece by piece, with halts for shapes, the bits are those of one run of the network."""
    order = engine.study.simulate.make_order(
        TWO, 0.3, 48_000.0, None, None, ["1 ms", "210 ms"], None, None, None, "float64"
    )
    book = run(weave(order.ensemble.network, 48_000.0), 0.3)  # type: ignore[union-attr]
    sim = simulated(TWO, 0.3, snapshots=["1 ms", "210 ms"])
    assert (sim.sound == book.out[:, 1:]).all()
    assert (sim.body_force == book.out[:, :1]).all()
    assert (sim.energy.strings == book.strings).all()
    assert (sim.energy.lost == book.lost).all()
    assert (sim.string_force == book.felt).all()
    # What strings do to the bridge is what the bridge feels.
    assert np.allclose(sim.string_force.sum(axis=1), sim.body_force, atol=1e-9 * np.abs(sim.body_force).max())


def test_strings_are_at_the_bridge_where_the_bridge_is() -> None:
    sim = simulated(TWO, 0.02, snapshots=["10 ms", "5 ms"])
    for at, u in zip(sim.snapshot_time, sim.snapshot_u, strict=True):
        where = sim.bridge[round(at * sim.rate) - 1, 0]
        assert where != 0.0
        assert u[:, 0] == pytest.approx(where, rel=1e-9)
        assert np.abs(u[:, -1]).max() < 1e-12
    assert (sim.snapshot_x[:, -1] == [s.string.length for s in _strings(TWO)]).all()


def _strings(document: dict[str, Any]) -> list[Any]:
    a = engine.load_preset(document).assembly
    assert a is not None
    return [a.played[0].strung, *a.sympathetic]


def test_what_is_in_unison_answers() -> None:
    """The string tuned to the note takes more than one a fifth away."""
    energy = simulated(TWO, 0.4, key="A3").energy.strings[-1]
    assert energy[1] > 10.0 * energy[2] > 0.0


def test_a_string_that_does_not_move_the_bridge_is_the_string_alone() -> None:
    alone = engine.simulate({"string": WIRE, "excitation": PLUCK, "pickups": [{"at": 0.3}]}, 0.05, band=4000.0)
    document = {**SMALL, "pickups": [{"at": 0.3}], "strings": [{"weight": 0.0}]}
    among = simulated(document, 0.05, band=4000.0)
    assert among.time[:-1] == pytest.approx(alone.time[1:])
    off = np.abs(among.sound[:-1, -1] - alone.pickups[1:, 0])  # type: ignore[union-attr]
    assert off.max() < 1e-9 * np.abs(among.sound[:, -1]).max()


def test_a_key_sounds_its_course_at_its_velocity() -> None:
    course = SMALL | {"courses": [{}, {"ratio": 2, "onset": "5 ms", "force": 0.5}]}
    loud, soft = (simulated(course, 0.02, key="A3", velocity=v) for v in (100, 50))
    assert loud.strings == ("A3", "A4")
    assert (loud.energy.strings[: round(5e-3 * 48_000), 1] < 1e-3 * loud.energy.strings.max()).all()
    assert loud.energy.work[-1] > 0.5 ** (2 * 1.75) * 0.5 * soft.energy.work[-1] > 0.0


@pytest.mark.parametrize("count", [1, 3])
def test_a_hammer_hits_all_strings_of_its_key(count: int) -> None:
    exciter = {"kind": "hammer", "mass": "3 g", "speed": "2 m/s"}
    piano = SMALL | {"excitation": {"position": 0.12}, "exciter": exciter, "courses": [{}] * count}
    sim = simulated(piano, 0.02, key="A3")
    assert sim.energy.total[0] == pytest.approx(0.5 * 3e-3 * 4.0, rel=1e-3)
    struck = [sim.contact_force[:, sim.contact_string == n].max() for n in range(count)]
    assert struck == pytest.approx([struck[0]] * count, rel=0.05)
    assert struck[0] > 1.0


def test_what_lies_on_a_string_falls_on_it() -> None:
    rattle = SMALL | {
        "excitation": {"position": 0.2, "force": 0.0},
        "ports": [{"at": 0.5, "rattle": "2 g", "gap": "0.1 mm"}],
    }
    sim = simulated(rattle, 0.02)
    touched = np.flatnonzero(sim.contact_force[:, 0])
    assert touched[0] / sim.rate == pytest.approx(np.sqrt(2 * 1e-4 / 9.81), rel=0.01)


def test_a_felt_tip_takes_the_string_along_until_it_slips() -> None:
    plectrum = {"kind": "plectrum", "by": "5 mm", "slip": "1 N", "duration": "10 ms"}
    sim = simulated(SMALL | {"excitation": {"position": 0.2}, "exciter": plectrum}, 0.02, key="A3")
    assert sim.contact_force.max() == pytest.approx(1.0, rel=0.05)
    assert sim.contact_force[-1, 0] == 0.0


def test_without_a_key_all_strings_lie_there_and_the_first_is_struck() -> None:
    guitar = next(file for file in INSTRUMENTS if file.stem == "guitar-nylon")
    sim = simulated(guitar, 0.01, band=5000.0)
    assert sim.strings == ("E2", "A2", "D3", "G3", "B3", "E4")
    assert sim.energy.strings[-1].argmax() == 0
    assert (sim.energy.strings[-1] > 0.0).all()


def test_as_played_keeps_what_an_instrument_keeps() -> None:
    plain, played = (simulated(SMALL, 0.005, key="A3", as_played=own) for own in (False, True))
    assert played.differs == ""
    assert plain.differs == "an instrument keeps the modes below 20000 Hz"


@pytest.mark.parametrize("name", [*PLAYED, "piano-prepared"])
def test_as_played_is_the_instruments_note(name: str) -> None:
    """To rounding, before the output stage; and energy is kept, whatever the coupling."""
    preset = PLAYED.get(name) or engine.load_preset(next(file for file in INSTRUMENTS if file.stem == name))
    inst = Instrument(preset, 48_000)
    sim = simulated(preset, 0.05, key=58, velocity=90, as_played=True)
    gain = float(seen(Joint, inst.address + int(inst.machine.joint), inst._bank.block).gain)
    sound = raw(inst, [(0, on(58, 90))], sim.time.size // inst.oversample) / gain
    ears = inst.machine.ears
    sides = np.stack([ears.left, ears.right], axis=1)
    heard = sim.sound[:, 2:] if name == "pickups" else sim.sound  # then the body, which is heard here, is not
    wanted = heard.reshape(sim.time.size, -1, ears.size).sum(axis=1) @ sides
    assert np.abs(wanted).max() > 0.0
    assert np.abs(sound - wanted).max() < 1e-12 * np.abs(wanted).max()
    assert sim.energy_drift < 1e-9
    assert (sim.contact_force >= 0.0).all()


def test_one_way_and_none_are_simulated_with_all_that_answers() -> None:
    one, two = (simulated(TWO | {"coupling": c}, 0.05, key="A3", snapshots=["30 ms"]) for c in ("one-way", "two-way"))
    assert one.strings == two.strings
    assert one.energy.strings.shape == two.energy.strings.shape
    assert one.energy_drift < 1e-9
    assert one.snapshot_u.shape == two.snapshot_u.shape
    # What answers does so nearly as much: the same body drives it.
    assert one.energy.strings[-1, 1] == pytest.approx(two.energy.strings[-1, 1], rel=0.3)
    assert np.abs(one.snapshot_u[0, 1]).max() == pytest.approx(np.abs(two.snapshot_u[0, 1]).max(), rel=0.3)
    none = simulated(SMALL | {"coupling": "none"}, 0.05, key="A3")
    assert none.energy_drift < 1e-9
    assert none.energy.strings[-1, 0] > simulated(SMALL, 0.05, key="A3").energy.strings[-1, 0]


@pytest.mark.parametrize(
    ("preset", "how", "said"),
    [
        (TWO, {"scheme": "fd"}, "scheme = fd: must be network; leave it out"),
        ("sitar-string", {"scheme": "network"}, "scheme = network: must be one of fd, modal, "),
        (TWO, {"initial": np.sin}, "initial = (given): strings on a bridge begin at rest, in float64; leave it out"),
        (TWO, {"precision": "float32"}, "precision = (given): strings on a bridge begin at rest, in float64; "),
        (TWO, {"as_played": True, "band": 4e3}, "as_played = band: is the instrument's own then; leave band out"),
        (TWO, {"key": "C2"}, "Unnamed, C2: no string is played by this key"),
        (TWO | {"coupling": "none"}, {}, "coupling = none: strings that nothing couples do not answer each other; "),
        (TWO, {"seconds": 1000.0}, "MiB in memory, the limit is 1024 MiB; shorten it, or write it: "),
        (
            TWO | {"body": {"modes": [{"frequency": "30 kHz", "mass": 1}]}},
            {},
            "body.modes = 30000: no mode lies below 21600 Hz, 0.45 of the rate; ",
        ),
    ],
    ids=["scheme", "network", "initial", "precision", "band", "key", "coupling", "long", "body"],
)
def test_bad_input_is_refused_in_one_line(preset: Any, how: dict[str, Any], said: str) -> None:
    with pytest.raises(engine.PresetError) as error:
        engine.simulate(preset, **({"seconds": 0.01} | how))
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    if "body" in said:
        assert error.value.exit_code == PhysicsError.exit_code


def test_files_hold_the_same_however_they_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sim = simulated(INSTRUMENTS[-1], 0.3, key="F#3", snapshots=["10 ms"])
    sim.save(tmp_path / "saved.npz")
    words = ["--seconds", "0.3", "--key", "F#3", "--snapshots", "10 ms", "-o", str(tmp_path / "streamed.npz")]
    assert main(["simulate", str(INSTRUMENTS[-1]), *words]) == 0
    said = capsys.readouterr().out
    assert "strings        F#3, C#4, " in said
    assert "balance kept to " in said
    with np.load(tmp_path / "saved.npz") as saved, np.load(tmp_path / "streamed.npz") as streamed:
        assert set(saved.files) == set(streamed.files)
        for name in saved.files:
            assert (saved[name] == streamed[name]).all(), name
        assert saved["strings"].tolist() == list(sim.strings)


def test_a_figure_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "run.png"
    assert main(["simulate", str(INSTRUMENTS[0]), "--seconds", "10 ms", "--key", "E4", "--plot", str(path)]) == 0
    assert path.stat().st_size > 20_000
