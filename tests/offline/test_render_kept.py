"""Instruments kept between renders: the same sound, changed files heard, one caller each, never too many."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synth.playing import SMALL

from engine.offline.job import Manner, make_player
from engine.offline.kept import MOST, MOST_BYTES, Kept
from engine.offline.render import render
from engine.physics.barrier import Barrier
from engine.preset.loader import Preset, load_preset
from engine.synth.instrument import Instrument

NOTE = "C4:0:.05"
HOW: dict[str, Any] = {"sample_rate": 16_000, "oversample": 1, "polyphony": 2, "tail": 0.05}
module = import_module("engine.offline.render")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Instrument]]:
    """Every instrument that is designed, beginning with none kept."""
    found: list[Instrument] = []

    def make(preset: Preset, setup: Manner) -> Instrument:
        found.append(make_player(preset, setup))
        return found[-1]

    monkeypatch.setattr(module, "make_player", make)
    monkeypatch.setattr(module, "_kept", Kept())
    return found


def test_forty_notes_need_one_design_and_sound_as_forty_instruments(made: list[Instrument]) -> None:
    keys = range(40, 80)
    kept = [render(SMALL["modal"], f"{key}:0:.02", **HOW) for key in keys]
    assert len(made) == 1
    for key in keys[::13]:
        module._kept = Kept()
        assert (render(SMALL["modal"], f"{key}:0:.02", **HOW) == kept[key - keys[0]]).all()


def test_what_is_played_leaves_no_trace(made: list[Instrument]) -> None:
    """Wheels, pedals, a cut tail with strings still sounding."""
    import mido

    first = render(SMALL["bridge"], NOTE, **HOW)
    moved = [mido.Message("pitchwheel", pitch=8000), mido.Message("control_change", control=64, value=127)]
    render(SMALL["bridge"], [*moved, mido.Message("note_on", note=50)], **{**HOW, "tail": 0.0})
    assert (render(SMALL["bridge"], NOTE, **HOW) == first).all()
    assert len(made) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"sample_rate": 22_050},
        {"oversample": 2},
        {"polyphony": 3},
        {"mono": True},
        {"block_size": 64},
        {"tuning": "A4=432"},
        {"overrides": {"release": 0.1}},
    ],
)
def test_every_setting_counts(made: list[Instrument], other: dict[str, Any]) -> None:
    for how in (HOW, {**HOW, **other}, HOW, {**HOW, **other}):
        render(SMALL["modal"], NOTE, **how)
    assert len(made) == 2


def test_a_changed_file_is_heard(made: list[Instrument], tmp_path: Path) -> None:
    above_c = "E4:0:.05"
    file, scale = tmp_path / "mine.yaml", tmp_path / "mine.scl"
    text = "string: {length: 1, density: 1.17 g/m, tension: 180.5 N, loss: {s0: 0.3}}\ntuning: mine.scl\n"
    file.write_text(text)
    scale.write_text("octave\n1\n2/1\n")
    first = render(file, above_c, **HOW)
    assert (render(file, above_c, **HOW) == first).all()
    assert len(made) == 1
    file.write_text(text.replace("0.3", "30"))
    assert np.abs(render(file, above_c, **HOW) - first).max() > 1e-3
    file.write_text(text)
    assert (render(file, above_c, **HOW) == first).all()
    assert len(made) == 2
    scale.write_text("two\n2\n600.0\n2/1\n")
    assert np.abs(render(file, above_c, **HOW) - first).max() > 1e-3


@dataclass(frozen=True)
class Comb:
    """A barrier of somebody's own, whose class may be defined anew under the same name."""

    depth: float

    def __call__(self, x: Any, /) -> Any:
        return -self.depth * np.sin(np.pi * x / 5e-3) ** 2


def test_only_what_is_known_not_to_change_is_kept(made: list[Instrument]) -> None:
    plain = load_preset(SMALL["bridge"])
    own = replace(plain, problem=replace(plain.problem, barrier=Barrier(Comb(2e-4), 0.0, 0.02, points=4)))
    changeable = replace(plain, problem=replace(plain.problem, pickups=list(plain.problem.pickups)))  # type: ignore[arg-type]
    for preset in (own, changeable):
        made.clear()
        for _ in range(2):
            render(preset, NOTE, **HOW)
        assert len(made) == 2


def test_two_threads_get_two_instruments_and_the_same_sound(made: list[Instrument]) -> None:
    wanted = render(SMALL["modal"], NOTE, **HOW)
    found, gate = [], threading.Barrier(4)

    def play() -> None:
        gate.wait()
        for _ in range(5):
            found.append(render(SMALL["modal"], NOTE, **HOW))

    threads = [threading.Thread(target=play) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 20
    assert all((audio == wanted).all() for audio in found)
    assert 1 <= len(made) <= 4


def test_what_is_lent_is_not_lent_again() -> None:
    kept, preset, setup = Kept(), load_preset(SMALL["modal"]), Manner(8000, polyphony=1)
    with kept.lent(make_player, preset, setup) as one, kept.lent(make_player, preset, setup) as other:
        assert one is not other
    with kept.lent(make_player, preset, setup) as again:
        assert again is one, "the one given back last"
    with pytest.raises(KeyboardInterrupt), kept.lent(make_player, preset, setup) as broken:
        raise KeyboardInterrupt
    assert broken is one
    with kept.lent(make_player, preset, setup) as third:
        assert third is other


class Sized:
    """As large as it is said to be."""

    def __init__(self, preset: Preset, setup: Manner) -> None:
        self.nbytes, self.setup = setup.block_size, setup

    def reset(self) -> None:
        """As if just made."""


def test_never_more_than_the_bounds_allow() -> None:
    assert (MOST, MOST_BYTES) == (8, 256_000_000), "as the docstring of render says"
    preset = load_preset(SMALL["modal"])

    def left(kept: Kept, *sizes: int) -> list[int]:
        for size in sizes:
            with kept.lent(Sized, preset, Manner(block_size=size)):
                pass
        return [player.nbytes for _, player in kept._idle]

    assert left(Kept(3, 100), 1, 2, 3, 4) == [2, 3, 4]
    assert left(Kept(3, 100), 1, 2, 3, 1, 4) == [3, 1, 4], "the one used longest ago goes first"
    assert left(Kept(8, 100), 40, 41, 42, 5) == [41, 42, 5]
    assert left(Kept(8, 100), 5, 101) == []


def test_an_instrument_knows_its_size() -> None:
    small, large = (Instrument(SMALL["modal"], 16_000, polyphony=n) for n in (1, 101))
    voice = (large.nbytes - small.nbytes) / 100
    assert 1_000 < voice < 100_000
    assert 100_000 < small.nbytes < 10_000_000
