"""`quality: best`: the kernel's own note, in blocks of any size, under wheel and bend, from a file; no grid has it."""

from __future__ import annotations

from pathlib import Path

import mido
import numpy as np
import pytest

import engine
from engine.physics import modal, two_point
from engine.physics.excitation import pulse
from engine.synth.keys import preset_key
from engine.synth.memory import FREE

BEST = {"quality": "best", "oversample": 1, "polyphony": 2, "gain": 0}
NOTE = mido.Message("note_on", note=54, velocity=100)


def test_blocks_of_any_size_give_the_same_bits_which_are_not_those_of_normal() -> None:
    note = "F#3:0:.05:100 A3:.02:.05:80"
    whole = engine.render("sitar-string", note, tail=0.05, oversample=1)
    best = [
        engine.render(engine.load_preset("sitar-string", BEST), note, tail=0.05, block_size=size)
        for size in (1, 37, 64, 512)
    ]
    assert all((best[0] == other).all() for other in best[1:])
    assert np.abs(best[0] - whole).max() > 1e-3
    assert 0.5 < np.sqrt((best[0] ** 2).mean() / (whole**2).mean()) < 2.0


def test_a_voice_moves_as_the_kernel_does() -> None:
    """Its energy, looked at before the last tick, is that of the design's own kernel, pushed a step later."""
    sitar = engine.Instrument(engine.load_preset("sitar-string", BEST), sample_rate=48_000, block_size=64)
    out = np.zeros((64, 2), np.float32)
    sitar.process([NOTE], out)
    for _ in range(9):
        sitar.process([], out)
    (voice,) = [v for v in sitar.machine.voices if v.state != FREE]
    preset = sitar.preset
    d = preset_key(preset, preset.tuning[54], 48_000.0).design
    assert isinstance(d, modal.Design)
    c = two_point.coefficients(d)
    s, heard = two_point.state(c), np.zeros((576, d.width))
    two_point.kernel(c, s, pulse(d.problem.excitation, 48_000.0, 577)[1:], 0.0, heard)
    assert voice.energy == pytest.approx(sum(two_point.energy(c, s)), rel=1e-12)


def test_wheel_and_bend_move_it_and_no_watchdog_wakes() -> None:
    sitar = engine.Instrument(engine.load_preset("sitar-string", BEST), sample_rate=48_000, block_size=64)
    bend = [mido.Message("pitchwheel", pitch=100 * n, time=0.02 + 0.002 * n) for n in range(60)]
    wheel = [mido.Message("control_change", control=1, value=127 * (n % 2), time=0.02 + 0.02 * n) for n in range(8)]
    out = sitar([NOTE, *sorted([*bend, *wheel], key=lambda m: m.time)], duration=0.3, sample_rate=48_000)
    assert np.isfinite(out).all()
    assert np.abs(out).max() > 0.05
    assert sitar.report()["watchdog"] == 0


def test_an_instrument_as_a_file_plays_the_same(tmp_path: Path) -> None:
    sitar = engine.Instrument(engine.load_preset("sitar-string", BEST), sample_rate=48_000, block_size=64)
    sitar.save(tmp_path / "best.jawari")
    again = engine.Instrument.open(tmp_path / "best.jawari")
    first, second = (i([NOTE], duration=0.05, sample_rate=48_000) for i in (sitar, again))
    assert (first == second).all()
    assert np.abs(first).max() > 0.0


def test_simulate_takes_it_from_the_preset() -> None:
    best = engine.load_preset("sitar-string", BEST)
    assert engine.simulate(best, 1e-3).scheme == "modal-best"
    assert engine.simulate(best, 1e-3, scheme="modal").scheme == "modal"


def test_a_grid_has_none() -> None:
    with pytest.raises(engine.PresetError, match=r"quality = best: is of model: modal; .* remove it"):
        engine.load_preset("slap-bass", {"quality": "best"})
