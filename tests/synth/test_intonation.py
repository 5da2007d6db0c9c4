"""Keys are heard at their pitch, whatever touches their strings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judge_presets import departure, lowest, played

from engine.preset.loader import load_preset
from engine.synth import attuned, intonation
from engine.synth.bank import Setup, design
from engine.synth.instrument import Instrument
from engine.synth.keys import design_key, preset_key
from engine.units import key_to_hz

ROOT, RATE = Path(__file__).parents[2], 48_000
WIRE = {"length": "65 cm", "diameter": "0.3 mm", "material": "steel", "tuned": "A3", "keys": "length"}
GRAZED = {
    "name": "Grazed",
    "string": WIRE,
    "barrier": {"profile": "points", "at": [["5 mm", "0 mm"]]},
    "contact": {"stiffness": "3e7 N/m"},
    "excitation": {"position": 0.2, "force": "1 N", "duration": "1 ms"},
}
EDGED = {
    "barrier": {"profile": "points", "at": [["5 mm", "0 mm"]]},
    "contact": {"stiffness": "1e6 N/m", "damping": 0.2},
    "courses": [{}, {"detuned": "1 cents"}],
}
LISTENED = {"pickups": [{"at": 0.13, "kind": "velocity"}]}
ON_A_BOX = {
    "name": "Three strings on a box",
    "string": WIRE,
    "strings": [{"played": "A2-A4"}],
    "courses": [{"detuned": "-0.5 cents"}, {}, {"detuned": "0.5 cents", "onset": "3 ms"}],
    "excitation": {"position": 0.2, "force": "1 N", "duration": "1 ms"},
    "body": {"modes": [{"frequency": "230 Hz", "quality": 12, "mass": "150 g"}]},
}


def instrument(given: Any, keys: set[int], changes: Any = None) -> Instrument:
    """With these keys alone, of one loudness."""
    preset = load_preset(given if isinstance(given, dict) else str(ROOT / "presets" / f"{given}.yaml"), changes)
    setup = Setup(preset, RATE, preset.oversample, 4, 2, preset.tuning)
    return Instrument.of(setup, design(setup, keys, np.ones(128)))


def cents(inst: Instrument, key: int) -> float:
    """By which a note is sharp."""
    return departure(played(inst, [key], 100, 1.0), *lowest(inst.preset, key))


@pytest.mark.parametrize("key", [28, 45, 69, 96, 105])
@pytest.mark.parametrize("off", [0.0, 7.0, -30.0])
def test_a_pitch_is_told_to_a_tenth_of_a_cent(key: int, off: float) -> None:
    """Of a string that touches nothing."""
    p, hz = load_preset("plain"), key_to_hz(key)
    design = design_key(p.problem, "modal", "tension", hz * 2.0 ** (off / 1200.0), RATE).design
    assert design is not None
    assert 1200.0 * np.log2(1.0 + intonation.bent(design, hz)) == pytest.approx(off, abs=0.1)


@pytest.mark.parametrize(
    ("preset", "keys", "least", "most"),
    [
        ("tanpura-string", (48, 96), 2.0, 1.0),
        ("slap-bass", (34,), 1.5, 1.0),
        ("bray-harp", (61, 62), 3.0, 1.0),
        ("berimbau", (41, 49), 5.0, 1.0),
        (ON_A_BOX, (46, 57, 69), 1.2, 0.3),
        (ON_A_BOX | EDGED, (46, 69), 3.0, 1.0),
        (ON_A_BOX | EDGED | {"coupling": "one-way"}, (46,), 3.0, 1.0),
        (ON_A_BOX | EDGED | {"coupling": "none"}, (46,), 3.0, 1.0),
        (ON_A_BOX | EDGED | LISTENED, (46,), 3.0, 1.0),
    ],
    ids=["an edge", "frets", "brays", "a coin", "a box", "an edge on it", "one-way", "by itself", "a pickup"],
)
def test_what_is_bent_is_heard_at_its_pitch(preset: Any, keys: tuple[int, ...], least: float, most: float) -> None:
    """By an edge, by frets, by an edge on a body, by a body beside it: strings by themselves would be off by more."""
    heard, string = (instrument(preset, set(keys), {"intonation": how}) for how in ("heard", "string"))
    assert max(abs(cents(string, key)) for key in keys) > least
    assert max(abs(cents(heard, key)) for key in keys) < most


@pytest.mark.parametrize("slope", [0.6, 1.0, 1.8])
@pytest.mark.parametrize("sharp", [-0.02, 1e-4, 0.01])
def test_a_string_is_brought_to_where_it_is_heard(slope: float, sharp: float) -> None:
    """Whatever share of what it is tuned by is heard of it, in three notes and the half of one at most."""
    heard = list[float]()

    def hear(own: float, seconds: float) -> float:
        heard.append(seconds)
        return slope * (own / 220.0 - 1.0) + sharp

    own = intonation.brought(220.0, hear)
    assert abs(hear(own, 0.0)) <= intonation.MUCH
    assert heard[0] == intonation.SHORTEST
    assert set(heard[1:-1]) == {intonation.UNTIL}
    assert len(heard) - 2 <= intonation.TIMES


def test_of_what_is_heard_by_chance_the_best_is_kept() -> None:
    """Where there is time for one whole note, what it lacks is believed; for none, what half a note lacks."""
    told = {0: 0.004, 1: 0.002, 2: -0.006, 3: 0.005}
    for last, best in ((0, None), (1, None), (2, 1), (3, 1)):
        found = list[float]()

        def hear(own: float, _: float, found: list[float] = found, last: int = last) -> float:
            found.append(own)
            return told[len(found) - 1] if len(found) - 1 <= last else 0.0

        own = intonation.brought(220.0, hear)
        assert own == pytest.approx(found[-1] if best is None else found[best], rel=1e-15)
        assert found[1] == pytest.approx(220.0 * (1.0 - told[0]), rel=1e-15)


@pytest.mark.parametrize("couples", ["two-way", "one-way"])
def test_strings_are_heard_as_the_instrument_plays_them(couples: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To a tenth of a cent: what the network of a key does is what the renderer does."""
    found, real = list[tuple[float, float]](), attuned.bent

    def bent(on: Any, strings: Any, pitch: float, *more: float) -> tuple[float, float]:
        found.append((strings[0].retuned, real(on, strings, pitch, intonation.UNTIL, 0.0)[0]))
        return real(on, strings, pitch, *more)

    monkeypatch.setattr(attuned, "bent", bent)
    given = {**ON_A_BOX, **EDGED, "coupling": couples, "name": f"Heard {couples}"}
    inst = instrument(given, {50})
    tuned = inst.design.retuned[50, 0, 0]
    told = [off for retuned, off in found if abs(retuned / tuned - 1.0) < 1e-12]
    middle = 2.0 ** (0.5 / 1200.0)  # of the course
    assert cents(inst, 50) == pytest.approx(1200.0 * np.log2((1.0 + told[0]) * middle), abs=0.1)


def test_who_touches_nothing_is_not_rehearsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor who takes long, or is too high or low to be heard bent: those are the strings by themselves."""
    p = load_preset(GRAZED)
    free = load_preset({**GRAZED, "barrier": {"profile": "points", "at": [["5 mm", "-100 mm"]]}})

    def refused(*_: object) -> float:
        raise AssertionError("rehearsed")

    monkeypatch.setattr(intonation, "bent", refused)
    for preset, hz in ((free, 220.0), (p, 20.0), (p, 6000.0)):
        assert preset_key(preset, hz, RATE).design is not None
    with pytest.raises(AssertionError, match="rehearsed"):
        preset_key(p, 220.0, RATE)
    monkeypatch.setattr(intonation, "TUNING", 1e-7)
    assert preset_key(p, 221.0, RATE).design is not None


@pytest.mark.parametrize(("given", "key"), [(GRAZED, 57), (ON_A_BOX, 50), ("tanpura-string", 48)])
def test_who_is_known_is_not_listened_to(given: Any, key: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another design of the same strings is tuned as the one before."""

    def made(changes: dict[str, object], retuned: Any = None) -> Any:
        preset = load_preset(given if isinstance(given, dict) else str(ROOT / "presets" / f"{given}.yaml"), changes)
        return design(Setup(preset, RATE, 1, 4, 2, preset.tuning), {key}, np.ones(128), retuned)

    heard, string = made({}), made({"intonation": "string"})
    assert heard.retuned
    assert not string.retuned

    def refused(*_: object) -> float:
        raise AssertionError("listened to")

    monkeypatch.setattr(intonation, "bent", refused)
    monkeypatch.setattr(attuned, "by_ear", refused)
    monkeypatch.setattr(attuned, "bent", refused)
    known = made({}, heard.retuned)
    assert known.retuned == pytest.approx(heard.retuned, abs=1e-15)
    assert known.keys.tension[key] == pytest.approx(heard.keys.tension[key], rel=1e-14)
    assert known.keys.length[key] == pytest.approx(heard.keys.length[key], rel=1e-14)
    assert known.keys.length[key] != string.keys.length[key] or known.keys.tension[key] != string.keys.tension[key]
    assert made({"intonation": "string"}, heard.retuned).keys.tobytes() == string.keys.tobytes()
