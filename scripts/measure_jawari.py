#!/usr/bin/env python3
"""What a jawari does to a string, in numbers to hear by: the sound opens and closes, grows, and a formant falls.

    python3 scripts/measure_jawari.py               the tables of presets/README.md (a minute)

The sitar's string (presets/sitar-string.yaml, plucked at the far end with 1 N) and the tanpura's (tanpura-string.yaml,
released from its first mode, 3 mm): the force on the body, in windows of 80 ms from each moment on. The centroid is
that of power from 100 Hz to 16 kHz; a formant the peak above 800 Hz of power smoothed over 800 Hz. What grows is heard
through a tanpura's body, as the network has it (engine/physics/network).
"""

from __future__ import annotations

import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import engine
from engine.errors import PhysicsWarning
from engine.physics.barrier import Obstacles
from engine.physics.network.bodies import named
from engine.physics.network.metered import observe
from engine.physics.network.parts import Against, Network, Strung
from engine.physics.network.resting import release
from engine.physics.network.weaving import weave
from engine.physics.problem import Contact
from engine.physics.string import Array

WINDOW = 0.08  # s
OPENS = (0.03, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5)
FALLS = (0.3, 0.5, 0.75, 1.0)
GROWS = (0.2, 0.3, 0.5, 0.75, 1.0)
AT_REST = 0.0, -0.01  # m: where the edge is, and where it is out of reach


def spectrum(sound: Array, rate: float, at: float) -> tuple[Array, Array]:
    """Frequencies and powers from 100 Hz to 16 kHz."""
    first, size = round(at * rate), round(WINDOW * rate)
    f = np.fft.rfftfreq(1 << 16, 1.0 / rate)
    heard = (f > 100.0) & (f < 16e3)
    part = sound[first : first + size] * np.hanning(size)
    return f[heard], np.abs(np.fft.rfft(part, 1 << 16)[heard]) ** 2


def centroid(sound: Array, rate: float, at: float) -> float:
    """Hz."""
    f, power = spectrum(sound, rate, at)
    return float((f * power).sum() / power.sum())


def formant(sound: Array, rate: float, at: float) -> float:
    """Hz; the least it can be is told where there is none."""
    f, power = spectrum(sound, rate, at)
    smooth = np.convolve(power, np.hanning(int(800.0 / (f[1] - f[0]))), "same")
    return float(f[f > 800.0][np.argmax(smooth[f > 800.0])])


def level(sound: Array, rate: float, at: float) -> float:
    """dB."""
    first = round(at * rate)
    return float(10.0 * np.log10(np.square(sound[first : first + round(WINDOW * rate)]).mean()))


@cache
def sitar(oversample: int = 2, **barrier: float) -> tuple[Array, float]:
    how: dict[str, Any] = {f"barrier.{word}": value for word, value in barrier.items()}
    how |= {"excitation.position": 0.85, "excitation.force": 1.0}
    sim = engine.simulate("sitar-string", 1.6, oversample=oversample, overrides=how)
    return sim.pickups[:, 0], sim.rate


@cache
def tanpura(edge: float = 5e-3, height: float = 0.0, **string: float) -> tuple[Array, float]:
    how: dict[str, Any] = {f"string.{word}": value for word, value in string.items()}
    how |= {"barrier.at": [[edge, height]], "excitation.force": 0.0}
    sim = engine.simulate("tanpura-string", 1.6, band=40e3, overrides=how, initial=lambda x: 3e-3 * np.sin(np.pi * x))
    return sim.pickups[:, 0], sim.rate


def radiated(height: float) -> tuple[Array, float]:
    """Of the same string, through a body so heavy that it is only heard."""
    preset, rate = engine.load_preset("tanpura-string"), 96_000.0
    over = Against(Obstacles((5e-3,), (height,)), Contact(3e7))
    w = weave(Network((Strung(preset.problem.string, ports=(over,)),), named("tanpura", weight=1e3)), rate, 20e3)
    release(w.island.bridge, w.strand(0), w.points[0], np.array([3e-3]))
    return observe(w, round(1.2 * rate)).out[:, 1], rate


def row(name: str, *values: float, unit: str = "") -> str:
    return f"| {name} | " + " | ".join(f"{value:+.0f}{unit}" if unit else f"{value:.0f}" for value in values) + " |"


def head(what: str, moments: tuple[float, ...]) -> str:
    return f"| {what} | " + " | ".join(f"{t:g} s" for t in moments) + " |\n|---|" + "--:|" * len(moments)


def homogeneous() -> str:
    """Twice the pluck is the same sound twice as loud, to the last bit: at an edge at rest nothing has a size."""
    force = [{"excitation.force": newton} for newton in (0.4, 0.8)]
    one, two = (engine.simulate("tanpura-string", 0.5, overrides=how).pickups[:, 0] for how in force)
    lifted = [{**how, "barrier.at": [[5e-3, -5e-6]]} for how in force]
    three, four = (engine.simulate("tanpura-string", 0.5, overrides=how).pickups[:, 0] for how in lifted)
    apart = np.abs(four - 2.0 * three).max() / np.abs(four).max()
    same = "the same bits times two" if (two == 2.0 * one).all() else "NOT the same bits times two"
    return f"Twice the force: {same}; with the edge 5 µm lower another sound, by {100.0 * apart:.0f} % of its peak."


def main() -> None:
    warnings.simplefilter("ignore", PhysicsWarning)
    print(head("centroid, Hz", OPENS))
    for curvature in (0.25, 0.5, 0.75, 1.0, 2.0):
        print(row(f"sitar, {curvature:g} 1/m", *(centroid(*sitar(curvature=curvature), t) for t in OPENS)))
    for factor in (1, 4):
        print(row(f"sitar, 0.75 1/m, ×{factor}", *(centroid(*sitar(factor), t) for t in OPENS)))
    print(row("no bridge", *(centroid(*sitar(height=AT_REST[1]), t) for t in OPENS)), end="\n\n")
    print(head("formant, Hz", FALLS))
    for edge in (2e-3, 3e-3, 5e-3, 8e-3):
        print(row(f"tanpura, edge at {1e3 * edge:g} mm", *(formant(*tanpura(edge), t) for t in FALLS)))
    for height in (-5e-6, 5e-6, 2e-5):
        name = f"tanpura, 5 mm, {1e6 * height:+.0f} µm"
        print(row(name, *(formant(*tanpura(height=height), t) for t in FALLS)))
    print(row("no stiffness", *(formant(*tanpura(stiffness=0.0), t) for t in FALLS)))
    print(row("no edge", *(formant(*tanpura(height=AT_REST[1]), t) for t in FALLS)), end="\n\n")
    print(head("level re 0.1 s", GROWS))
    for name, height in (("tanpura, edge at 5 mm", AT_REST[0]), ("no edge", AT_REST[1])):
        sound = radiated(height)
        print(row(name, *(level(*sound, t) - level(*sound, 0.1) for t in GROWS), unit=" dB"))
    print(f"\n{homogeneous()}")


if __name__ == "__main__":
    main()
