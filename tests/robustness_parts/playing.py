"""A random preset, played for a moment: what must hold whatever it is."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from engine import Instrument, load_preset
from engine.preset.loader import Preset
from engine.preset.plain import again, plain
from engine.preset.tuning import Tuning
from engine.synth import memory
from robustness_parts.random_assemblies import random_assembly
from robustness_parts.random_music import Event, random_music
from robustness_parts.random_presets import few_keys, keys_of, random_preset

RATES = (8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 88_200, 96_000, 192_000)
HIGHEST_MODEL_RATE = 200_000  # beyond, a case takes too long to have many
EVERY_RATE = (*RATES, 176_400, 352_800, 384_000)
STEPS = 20_000  # of the model, in which a case at any rate is over
BLOCKS = (1, 7, 16, 64, 100, 128, 512, 2048)


Case = dict[str, Any]  # a preset, rate, mono, keys with their Hz, frames and events: all that JSON can hold


class Fault(Exception):
    """What must never be."""


def random_case(chance: Random) -> Case:
    """A preset and music for it, as data that can be kept; an EngineError where the preset is refused."""
    case = random_preset(chance)
    preset = load_preset(case)
    rate = chance.choice([rate for rate in RATES if rate * preset.oversample <= HIGHEST_MODEL_RATE])
    return _with_music(chance, case, preset.tuning, rate, round(chance.uniform(0.1, 0.5) * rate))


def case_at_any_rate(chance: Random) -> Case:
    """The same at any rate that a card may have, oversampled up to eight times: short, since it costs as much."""
    case = random_preset(chance) | {"oversample": chance.randint(1, 8)}
    rate = chance.choice(EVERY_RATE)
    return _with_music(chance, case, load_preset(case).tuning, rate, STEPS // case["oversample"])


def network_case(chance: Random) -> Case:
    """Several strings on one bridge, at a common rate."""
    preset = random_assembly(chance)
    rate = chance.choice((22_050, 44_100, 48_000))
    return _with_music(chance, plain(preset), preset.tuning, rate, round(chance.uniform(0.1, 0.3) * rate))


def _with_music(chance: Random, preset: dict[str, Any], tuning: Tuning, rate: int, frames: int) -> Case:
    tuning = few_keys(tuning, chance, 3)
    return {
        "preset": preset,
        "rate": rate,
        "mono": chance.random() < 0.2,
        "keys": {str(key): hz for key, hz in enumerate(tuning.frequencies) if hz is not None},
        "frames": frames,
        "events": random_music(chance, keys_of(tuning), frames),
    }


def play_case(case: Case, chance: Random) -> str:
    """Play it, and what became of it; raises a Fault, or an EngineError where it is refused."""
    tuning = Tuning("few keys", tuple(case["keys"].get(str(key)) for key in range(memory.KEYS)))
    preset = again(case["preset"], Preset) if "assembly" in case["preset"] else case["preset"]
    player = Instrument(preset, case["rate"], tuning=tuning, mono=case["mono"])
    events = [(at, tuple(message)) for at, message in case["events"]]
    heard = perform(player, events, case["frames"], chance)
    if len(player.silent_keys) == memory.KEYS:
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
    report, voices = player.report(), player.machine.voices
    energy = voices.energy[voices.state != memory.FREE]
    expect(np.isfinite(energy).all(), "a string's energy is not a number")
    expect(report["watchdog"] == 0, "the watchdog silenced a string whose energy grew by itself")
    expect(report["events_lost"] == 0, "an event was lost")


def expect(so: object, otherwise: str) -> None:
    """A Fault if it is not so."""
    if not so:
        raise Fault(otherwise)
