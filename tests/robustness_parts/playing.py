"""A random preset, played for a moment: what must hold whatever it is."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from engine import Instrument, load_preset
from engine.synth import fields as f
from robustness_parts.random_music import Event, random_music
from robustness_parts.random_presets import few_keys, keys_of, random_preset

RATES = (8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 88_200, 96_000, 192_000)
HIGHEST_MODEL_RATE = 200_000  # beyond, a case takes too long to have many
BLOCKS = (1, 7, 16, 64, 100, 128, 512, 2048)


class Fault(Exception):
    """What must never be."""


def play_random(chance: Random) -> str:
    """One case; returns what became of it, raises a Fault, or an EngineError where the preset is refused."""
    preset = load_preset(random_preset(chance))
    rate = chance.choice([rate for rate in RATES if rate * preset.oversample <= HIGHEST_MODEL_RATE])
    tuning = few_keys(preset.tuning, chance, 3)
    player = Instrument(preset, rate, tuning=tuning, mono=chance.random() < 0.2)
    frames = round(chance.uniform(0.1, 0.5) * rate)
    heard = perform(player, random_music(chance, keys_of(tuning), frames), frames, chance)
    if len(player.silent_keys) == f.KEYS:
        return "silent"
    return "heard" if heard else "quiet"


def perform(player: Any, events: list[Event], frames: int, chance: Random) -> bool:
    """Play the events in blocks of random sizes and look at every sample and every string; was anything heard?"""
    done = at = 0
    loudest = 0.0
    while done < frames:
        out = np.full((min(chance.choice(BLOCKS), frames - done), player.channels), np.nan, np.float32)
        while at < len(events) and events[at][0] < done + len(out):
            player.schedule(*events[at])
            at += 1
        player.run(out)
        done += len(out)
        peak = float(np.abs(out).max())
        expect(np.isfinite(peak), f"a sample is not a number, at {done} of {frames}")
        loudest = max(loudest, peak)
    inspect(player)
    return loudest > 1e-6


def inspect(player: Any) -> None:
    """The strings' energies and the renderer's own counts."""
    report, voices = player.report(), player.arrays["voice_ints"]
    energy = player.arrays["voice_floats"][voices[:, f.V_STATE] != f.FREE, f.F_ENERGY]
    expect(np.isfinite(energy).all(), "a string's energy is not a number")
    expect(report["watchdog"] == 0, "the watchdog silenced a string whose energy grew by itself")
    expect(report["events_lost"] == 0, "an event was lost")


def expect(so: object, otherwise: str) -> None:
    """A Fault if it is not so."""
    if not so:
        raise Fault(otherwise)
