"""From Python: quantities as text, figures, what objects say of themselves, and dicts that are no presets."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synth.playing import SMALL

import engine
from engine.errors import EngineError
from engine.music.errors import ScoreError
from engine.music.score import score_of_notes

STRING: dict[str, Any] = {"length": 0.4, "density": 1e-3, "tension": 40.0, "loss": {"s0": 1.0}}
BARRIER = {"profile": "flat", "height": "-0.1 mm", "from": 0.1, "to": 0.2, "points": 5}
TOUCHING = {"name": "Small", "string": STRING, "barrier": BARRIER}

# --- quantities as text -----------------------------------------------------------------------------------------------


def test_a_simulation_takes_quantities_as_text() -> None:
    said = engine.simulate(TOUCHING, "20 ms", "24 kHz", snapshots=["1 ms", 0.002], band="8 kHz")
    meant = engine.simulate(TOUCHING, 0.02, 24_000.0, snapshots=[0.001, 0.002], band=8000.0)
    assert (said.pickups == meant.pickups).all()
    assert (said.snapshots.u == meant.snapshots.u).all()
    assert said.rate == 24_000.0
    assert engine.simulate(TOUCHING, "1 ms", snapshots="500 us").snapshots.u.shape[0] == 1


def test_a_render_takes_quantities_as_text() -> None:
    notes = [engine.Note(60, 100, "10 ms", "0.05 s"), engine.Note(64, start="20000 us", duration=0.03)]
    assert notes == [engine.Note(60, 100, 0.01, 0.05), engine.Note(64, start=0.02, duration=0.03)]
    said = engine.render(SMALL["modal"], notes, "16 kHz", tail="50 ms", polyphony=2)
    meant = engine.render(SMALL["modal"], "60:.01:.05:100 64:.02:.03", 16_000, tail=0.05, polyphony=2)
    assert (said == meant).all()


def test_an_instrument_takes_quantities_as_text() -> None:
    inst = engine.Instrument(SMALL["modal"], sample_rate="16 kHz", polyphony=1)
    assert inst.sample_rate == 16_000.0
    assert inst([], duration="25 ms", sample_rate="16000").shape == (2, 400)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: engine.simulate(TOUCHING, "20 mm"), "seconds = 20 mm: must be above 0; give a duration such as 50 ms"),
        (lambda: engine.simulate(TOUCHING, None), "seconds = None"),
        (lambda: engine.simulate(TOUCHING, 10**400), "seconds = "),
        (
            lambda: engine.simulate(TOUCHING, "20 ms", "fast"),
            "sample rate = fast: must be 1000 to 10000000 Hz; try 48000",
        ),
        (lambda: engine.simulate(TOUCHING, snapshots=["1 m"]), "snapshots = 1 m: outside the run"),
        (lambda: engine.simulate(TOUCHING, band="8 s"), "band = 8 s: must be above 0 Hz"),
        (lambda: engine.simulate(TOUCHING, oversample="2x"), "oversample = 2x: must be a whole number, 1 to 256"),
        (lambda: engine.render("plain", tail="1 m"), "tail = 1 m: must be 0 to 86400 s"),
        (lambda: engine.render("plain", tail=-1), "tail = -1: must be 0 to 86400 s"),
        (lambda: engine.render("plain", sample_rate="48 kg"), "sample rate = 48 kg: must be 8000 to 384000 Hz"),
        (lambda: engine.render("plain", tuning=[1]), "tuning = [...]: must be text"),
        (lambda: engine.Instrument("plain", tuning=object), "tuning = "),
        (lambda: engine.Note(60, start="1 m"), "start = 1 m: must be seconds, 0 or more"),
        (lambda: engine.Note(60, duration=10**400), "duration = "),
        (lambda: engine.Note(60, start=float("nan")), "start = nan"),
        (lambda: engine.Note(60, duration="0 s"), "duration = 0: must be above 0 s"),
    ],
)
def test_what_is_no_quantity_is_refused_in_one_line(call: Any, words: str) -> None:
    with pytest.raises(EngineError) as caught:
        call()
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_number_of_hertz_is_a_tuning() -> None:
    assert engine.Instrument(SMALL["modal"], 8000, polyphony=1, tuning=432).tuning[69] == 432.0  # type: ignore[arg-type]


def test_a_note_is_changed_by_replacing() -> None:
    note = engine.Note(60, duration="2 s")
    assert replace(note, start="1 s") == engine.Note(60, 100, 1.0, 2.0)
    assert pickle.loads(pickle.dumps(note)) == note
    with pytest.raises(ScoreError, match="key = 128"):
        replace(note, key=128)
    with pytest.raises(AttributeError):
        note.key = 61  # type: ignore[misc]


# --- figures ----------------------------------------------------------------------------------------------------------


def test_a_simulation_draws_itself(tmp_path: Path) -> None:
    figure_of = pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed").Figure
    sim = engine.simulate(TOUCHING, "5 ms", snapshots=["1 ms", "2 ms"])
    figure = sim.plot()
    assert isinstance(figure, figure_of)
    shapes, pickups, energies = figure.axes[:3]
    assert "string" in shapes.get_title()
    assert (pickups.lines[0].get_ydata() == sim.pickups[:, 0]).all()
    assert energies.get_title().startswith("energies")
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == []
    for name in ("sim.png", "sim.svg", "sim.pdf"):
        assert isinstance(sim.plot(tmp_path / name), figure_of)
        assert (tmp_path / name).stat().st_size > 1000
    with pytest.raises(EngineError, match=r"must end in one of"):
        sim.plot(tmp_path / "sim.exe")
    assert len(list(tmp_path.iterdir())) == 3


# --- what objects say of themselves -----------------------------------------------------------------------------------


def test_everything_says_in_one_line_what_it_is() -> None:
    rows = [[n * 1e-4, -1e-6 * n] for n in range(200)]
    preset = engine.load_preset({**TOUCHING, "barrier": {"profile": "table", "table": rows, "points": 5}})
    inst = engine.Instrument(preset, 16_000, polyphony=2, mono=True)
    sim = engine.simulate(preset, "10 ms", snapshots=["1 ms"])
    said = {
        preset: "<Preset Small: modal ×1, string of 0.4 m, 40 N, 250 Hz, 16 voices; preset>",
        inst: "<Instrument Small: modal ×1 at 16000 Hz, 2 voices, mono>",
    }
    for thing, words in said.items():
        assert repr(thing) == words
    assert repr(sim) == (
        "<Simulation of Small: modal at 48000 Hz, 480 steps, pickups 1, contact points 5, snapshots 1>"
    )
    assert repr(sim.energy).startswith("<Energy: 480 steps, at most ")
    assert repr(sim.snapshots) == f"<Snapshots: 1 of {sim.snapshots.x.size} points>"
    note = engine.Note(60, duration=2.0)
    assert eval(repr(note), {"Note": engine.Note}) == note
    score = score_of_notes([note, engine.Note(64)])
    assert repr(score) == "<Score: 4 messages, 2 s, keys struck 2>"
    for thing in (preset, inst, sim, sim.energy, sim.snapshots, note, score, inst.tuning):
        assert len(repr(thing)) < 120
        assert "\n" not in repr(thing)


@pytest.mark.parametrize("name", ["sitar-string", "tanpura-string", "slap-bass", "prepared", "plain"])
def test_shipped_presets_say_where_they_are_from(name: str) -> None:
    preset = engine.load_preset(name)
    assert repr(preset).endswith(f"{name}.yaml>")
    assert preset.name in repr(preset)


# --- dicts that are no presets ----------------------------------------------------------------------------------------

ROUND: dict[str, Any] = {"string": STRING}
ROUND["barrier"] = ROUND
LOOP: list[Any] = []
LOOP.append(LOOP)
DEEP: Any = 1
for _ in range(5000):
    DEEP = {"string": DEEP}
HUGE = 10**5000

NO_PRESETS: dict[str, Any] = {
    "a huge number": {"string": {**STRING, "length": HUGE}},
    "a huge negative number": {"string": {**STRING, "length": -HUGE}},
    "a huge number of a choice": {"string": STRING, "model": HUGE},
    "a huge number of a pitch": {"string": {"length": 1, "density": 1e-3, "tuned": HUGE}},
    "a huge whole number": {"string": STRING, "polyphony": HUGE},
    "a huge oversample": {"string": STRING, "oversample": HUGE},
    "a huge tuning": {"string": STRING, "tuning": HUGE},
    "a huge name": {"string": STRING, "name": HUGE},
    "a huge number in a table": {"string": STRING, "barrier": {"profile": "table", "table": [[0, HUGE], [HUGE, 0]]}},
    "a huge coefficient": {"string": STRING, "barrier": {"profile": "polynomial", "coefficients": [HUGE]}},
    "a huge end of a span": {"string": STRING, "map": [{"source": "wheel", "to": "gain", "range": [HUGE, 0]}]},
    "a huge source": {"string": STRING, "map": [{"source": HUGE, "to": HUGE, "range": [0, 1]}]},
    "a huge number as a group": {"string": HUGE},
    "a huge number in a list": {"string": STRING, "pickups": [HUGE]},
    "a huge key": {HUGE: STRING},
    "a long name of a key": {"k" * 100_000: 1},
    "bytes as a key": {b"string": STRING},
    "nan as a key": {float("nan"): 1, "string": STRING},
    "nan": {"string": {**STRING, "length": float("nan")}},
    "infinity": {"string": {**STRING, "tension": float("inf")}},
    "a huge float": {"string": {**STRING, "tension": 1e308}},
    "a dict in itself": ROUND,
    "a list in itself": {"string": STRING, "pickups": LOOP},
    "a deep dict": DEEP,
    "a large array": {"string": {**STRING, "length": np.zeros(10_000_000)}},
    "an array of arrays": {"string": {**STRING, "length": np.array([STRING, None], object)}},
    "a complex number": {"string": {**STRING, "length": 1j}},
    "a set": {"string": {"length"}},
    "a function": {"string": len},
    "bytes": {"string": {**STRING, "length": b"1 m"}},
    "surrogates": {"string": STRING, "name": "\ud800"},
}


@pytest.mark.parametrize("name", NO_PRESETS)
def test_a_dict_that_is_no_preset_is_a_preset_error(name: str) -> None:
    with pytest.raises(engine.PresetError) as caught:
        engine.load_preset(NO_PRESETS[name])
    lines = str(caught.value).splitlines()
    assert 1 <= len(lines) <= 60
    assert max(map(len, lines)) < 480
    assert str(caught.value).isprintable() or len(lines) > 1


NO_VALUES = [HUGE, -HUGE, float("nan"), b"1", 1j, [HUGE], {"a": HUGE}, {1: 2}]


@pytest.mark.parametrize("value", NO_VALUES, ids=range(len(NO_VALUES)))
@pytest.mark.parametrize("key", ["string.length", "model", "tuning", "polyphony", "name", "map", "pickups", "no.such"])
def test_nor_is_an_override(key: str, value: Any) -> None:
    with pytest.raises(engine.PresetError) as caught:
        engine.load_preset(TOUCHING, {key: value})
    assert max(map(len, str(caught.value).splitlines())) < 480
