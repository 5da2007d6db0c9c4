"""scripts/measure_recordings.py hears what it says: on notes whose pitch, partials and decay are known."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace

import numpy as np
import pytest
from measure_recordings import (
    ALL,
    FONT,
    JUDGING,
    KEPT,
    PROGRAMS,
    RATE,
    TUNING,
    Recording,
    at_rate,
    centroid,
    chosen,
    compared,
    decay,
    distance,
    from_onset,
    inharmonicity,
    partials,
    pitch_near,
    recordings,
    spectrogram,
    table,
)

from engine.preset.files import shipped

TIME = np.arange(round(0.7 * RATE)) / RATE
STIFF = 2e-4


def note(pitch: float, stiff: float = 0.0, rate: float = 3.0, tilt: float = 1.0) -> np.ndarray:
    """Twelve partials of a stiff string; the n-th decays n times as fast as the first."""
    parts = [
        np.exp(-rate * n * TIME) * np.sin(2 * np.pi * n * pitch * np.sqrt(1 + stiff * n * n) * TIME) / n**tilt
        for n in range(1, 13)
    ]
    return np.sum(parts, axis=0)


@pytest.mark.parametrize("pitch", [82.41, 196.3, 523.4])
def test_pitch_partials_and_decay(pitch: float) -> None:
    sound = note(pitch, STIFF)
    assert pitch_near(note(pitch), pitch * 1.2) == pytest.approx(pitch, rel=2e-3)
    assert inharmonicity(sound, pitch) == pytest.approx(STIFF, rel=0.1)
    found, _ = partials(sound, pitch, 0.05)
    n = np.arange(1, found.size + 1)
    np.testing.assert_allclose(found, n * pitch * np.sqrt(1 + STIFF * n * n), rtol=2e-3)
    if pitch > 100.0:  # lower, the window holds too few periods to tell them apart
        assert decay(sound, pitch, 1) == pytest.approx(3.0 * 8.686, rel=0.05)
        assert decay(sound, pitch, 8) == pytest.approx(24.0 * 8.686, rel=0.1)


def test_a_distance_is_one_of_sound_and_not_of_level_or_silence_before() -> None:
    sound = note(220.0)
    late = from_onset(np.concatenate([np.zeros(5000), 0.1 * sound]))
    assert distance(sound, sound) == 0.0
    assert distance(from_onset(sound), late) < 1e-6
    assert distance(sound, note(220.0, tilt=2.0)) == distance(note(220.0, tilt=2.0), sound) > 1.0
    assert distance(sound, note(220.0, tilt=2.0)) < distance(sound, note(220.0, tilt=3.0))


def test_one_sine_is_one_band_and_its_own_centroid() -> None:
    sine = np.sin(2 * np.pi * 1000.0 * TIME)
    level = spectrogram(sine)
    assert level.shape == (level.shape[0], 64)
    assert level.max() == 0.0
    assert np.sum(level[10] > -20.0) <= 3
    assert centroid(sine, 0.3) == pytest.approx(1000.0, abs=1.0)


def test_another_pitch_by_resampling() -> None:
    assert pitch_near(at_rate(note(220.0), RATE, RATE * 220.0 / 330.0), 330.0) == pytest.approx(330.0, rel=2e-3)


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_no_note_both_tunes_and_judges(count: int) -> None:
    notes = [Recording(str(n), 220.0, TIME) for n in range(count)]
    judging, tuning = chosen(notes, JUDGING), chosen(notes, TUNING)
    assert judging
    assert chosen(notes, ALL) == list(range(count))
    assert sorted({*judging, *tuning}) == list(range(count))
    assert count == 1 or not set(judging) & set(tuning)


def test_a_pair_is_one_note_and_a_right_side_alone_is_one_too() -> None:
    def sample(name: str, pitch: float, seconds: float = 0.7) -> SimpleNamespace:
        sound = (10_000 * note(pitch)[: round(seconds * RATE)] / 3).astype("<i2")
        return SimpleNamespace(name=name, raw_sample_data=sound.tobytes(), sample_rate=RATE, original_pitch=57)

    samples = [sample("A(L)", 220.0), sample("A(R)", 220.0), sample("B(R)", 233.1), sample("Extension", 233.1)]
    samples += [sample("short", 233.1, 0.1), samples[0]]
    bags = [SimpleNamespace(sample=one, base_note=None) for one in [*samples, None]]
    presets = [
        SimpleNamespace(preset=n, bank=0, bags=[SimpleNamespace(instrument=SimpleNamespace(bags=bags))]) for n in (3, 7)
    ]
    found = recordings(SimpleNamespace(presets=presets), 7)
    assert [one.name for one in found] == ["A(L)", "B(R)"]
    assert [one.pitch for one in found] == pytest.approx([220.0, 233.1], rel=1e-3)


# --- the table of presets/README.md -----------------------------------------------------------------------------------

FIGURES = {one["preset"]: one for one in json.loads(KEPT.read_text(encoding="utf-8"))}


def test_the_table_has_every_shipped_preset_that_has_a_recording() -> None:
    assert list(FIGURES) == [name for name in PROGRAMS if name in shipped()]
    lines = table(list(FIGURES.values())).splitlines()
    assert [line.split("`")[1] for line in lines[2:-1]] == list(FIGURES)
    assert f"| mean | {np.mean([one['distance'] for one in FIGURES.values()]):.1f} |" in lines[-1]


@pytest.mark.parametrize("name", ["koto", "sitar"])
def test_the_table_says_what_is_heard_now(name: str) -> None:
    sf2 = pytest.importorskip("sf2utils.sf2parse", reason="sf2utils is missing: pip install -e '.[dev]'")
    if not FONT.is_file():
        pytest.skip(f"no recordings at {FONT}: apt install fluid-soundfont-gm")
    logging.getLogger().setLevel(logging.ERROR)
    with FONT.open("rb") as file:
        found = compared(name, recordings(sf2.Sf2File(file), PROGRAMS[name]), JUDGING)
    assert found["distance"] == pytest.approx(FIGURES[name]["distance"], abs=0.2)
    assert len(found["notes"]) == len(FIGURES[name]["notes"])
    assert found["distance"] < 7.5 < 8.0 < found["plain"]
