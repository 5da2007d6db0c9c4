#!/usr/bin/env python3
"""Linear or minimum phase, equiripple or window: the figures on which the decimator was chosen.

    python3 scripts/measure_decimators.py [--rates HZ ...]

For each filter that keeps to the band of engine/synth/decimate.py: taps, ripples, group delay at 1 kHz and at the
edge of the pass band, how strongly it rings more than 0.1 ms ahead of the low notes (energy, dB), and how much of
that lies above 18 kHz.
Then the time that decimating stereo takes, per sample out.
"""

from __future__ import annotations

import argparse
import sys
import time
from math import ceil
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from engine.physics.string import Array
from engine.synth import decimate
from engine.synth.equiripple import Band, keeps, ripples, shortest

EARLY = 1e-4  # s
EDGE = 18_000.0  # Hz


def windowed(band: Band) -> Array:
    """The shortest Kaiser-windowed sinc that keeps to the band (the window's attenuation a trace above -100 dB)."""
    middle, width = 0.5 * (band.pass_edge + band.stop_edge), band.stop_edge - band.pass_edge
    half = ceil(92.0 / (28.72 * width)) - 6
    while True:
        at = np.arange(-half, half + 1)
        for attenuation in np.arange(99.0, 102.0, 0.25):
            window = np.kaiser(2 * half + 1, 0.1102 * (attenuation - 8.7))
            taps = 2.0 * middle * np.sinc(2.0 * middle * at) * window
            if keeps(taps, band):
                return taps
        half += 1


def minimum_phase(taps: Array) -> Array:
    """The same magnitude and length with all zeros inside the circle: its log spectrum's cepstrum folded forward."""
    size = 1 << 18
    # Zeros on the circle have no logarithm: a floor far below the stop band takes their place.
    magnitude = np.maximum(np.abs(np.fft.fft(taps, size)), 1e-7)
    cepstrum = np.fft.ifft(np.log(magnitude)).real
    cepstrum[1 : size // 2] *= 2.0
    cepstrum[size // 2 + 1 :] = 0.0
    return np.fft.ifft(np.exp(np.fft.fft(cepstrum))).real[: taps.size]


def delay(taps: Array, frequency: float) -> float:
    """Group delay in samples at a frequency in cycles per sample."""
    k = np.arange(taps.size)
    wave = np.exp(-2j * np.pi * frequency * k)
    return float(((k * taps) @ wave / (taps @ wave)).real)


def ringing(taps: Array, rate: float) -> tuple[float, float]:
    """Energy (dB of the whole) more than EARLY before the delay of the low notes, and its share above EDGE."""
    early = taps[: max(0, int(delay(taps, 1e3 / rate) - EARLY * rate))]
    if early.size == 0:
        return -np.inf, 0.0
    power = np.abs(np.fft.rfft(early, 1 << 16)) ** 2
    high = np.arange(power.size) * rate / (1 << 16) > EDGE
    return 10.0 * np.log10((early @ early) / (taps @ taps)), float(power[high].sum() / power.sum())


def nanoseconds(rate: float, oversample: int, repeats: int = 9) -> float:
    """Time of the shipped decimator per stereo sample out."""
    d = decimate.design(rate, oversample)
    s, frames = decimate.state(d), 1 << 14
    x, out = np.random.default_rng(0).standard_normal((frames * oversample, 2)), np.zeros((frames, 2))
    decimate.run(d, s, x, out)
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        decimate.run(d, s, x, out)
        best = min(best, time.perf_counter() - start)
    return best / frames * 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", type=float, nargs="+", default=[44_100.0, 48_000.0, 96_000.0], metavar="HZ")
    rates = parser.parse_args().rates
    print(f"{'rate':>7} {'x':>2} {'filter':16} {'taps':>5} {'pass dB':>8} {'stop dB':>8} {'1 kHz ms':>9} {'edge ms':>9}"
          f" {'early dB':>9} {'of it > 18 kHz':>14}")  # fmt: skip
    for rate in rates:
        for oversample in decimate.FACTORS[1:]:
            band, model_rate = decimate.band(rate, oversample), rate * oversample
            linear = shortest(band)
            for name, taps in (
                ("linear phase", linear),
                ("minimum phase", minimum_phase(linear)),
                ("Kaiser window", windowed(band)),
            ):
                passing, stopped = ripples(taps, band)
                early, high = ringing(taps, model_rate)
                edge = band.pass_edge
                print(f"{rate:7.0f} {oversample:2d} {name:16} {taps.size:5d} {20 * np.log10(1 + passing):8.4f}"
                      f" {20 * np.log10(stopped):8.1f} {delay(taps, 1e3 / model_rate) / model_rate * 1e3:9.3f}"
                      f" {delay(taps, edge) / model_rate * 1e3:9.3f} {early:9.1f} {high:14.0%}")  # fmt: skip
    print("\nns per stereo sample out:")
    for rate in rates:
        costs = (f"x{o} {nanoseconds(rate, o):5.1f}" for o in decimate.FACTORS)
        print(f"{rate:7.0f}  " + "  ".join(costs))


if __name__ == "__main__":
    main()
