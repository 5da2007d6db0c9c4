#!/usr/bin/env python3
"""How far presets are from recordings of the instruments: single notes of Debian's fluid-soundfont-gm.

    python3 scripts/measure_recordings.py [--font FILE.sf2] [--all] [--tuning] [--json FILE] [--table] [PRESET ...]

Each recorded note is rendered at its own pitch and velocity 100, and the left channels are compared: spectrograms of 64
mel bands from 60 Hz to 10 kHz every 12 ms over the first 0.6 s from the onset, each in dB below its own highest value
and nowhere below -55 dB. The distance is the mean of their absolute differences, as long as both last. `plain` is the
same note of a bare string, `another` is another recorded note of the same instrument, resampled to the pitch; who
listens to both can tell. Only every second note is judged, the others are for whoever tunes a preset (--tuning takes
those, --all takes all). Beside it, of recording and render: the spectrum's centroid at 50 and 300 ms, the
inharmonicity, and the decay of the first and the eighth partial. What is recorded beyond a preset's keys is left out
(the highest note of the sitar: no fret is there). --table keeps what the judging notes say in
scripts/measured/recordings.json, and writes the table of presets/README.md anew.

It needs sf2utils (pip install -e '.[dev]') and the soundfont (apt install fluid-soundfont-gm), which is under the MIT
licence. Its samples are notes as they were played, but for the gaps between them, which the font fills by resampling.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import engine
from engine.preset.files import shipped
from engine.units import key_to_note

FONT = Path("/usr/share/sounds/sf2/FluidR3_GM.sf2")
RATE = 44_100
LENGTH, HOP, WINDOW = 0.6, 0.012, 0.046  # s
BANDS, LOWEST, HIGHEST, FLOOR = 64, 60.0, 10_000.0, -55.0
ONSET = -30.0  # dB below the highest sample
SHORTEST = 0.15  # s: what is shorter is a loop with hardly a note before it
LONG_ENOUGH = 0.25  # s: for a decay
FILLED = ("Extension",)  # a sample that both guitars have above their highest note: nobody's
# Presets by the General MIDI program that is the same instrument. A clavinet is none of a clavichord: its strings are
# struck over an anvil and heard by a magnet.
PROGRAMS = {
    "piano": 0,
    "harpsichord": 6,
    "dulcimer": 15,
    "nylon-guitar": 24,
    "steel-guitar": 25,
    "electric-bass": 33,
    "slap-bass": 36,
    "harp": 46,
    "sitar": 104,
    "banjo": 105,
    "shamisen": 106,
    "koto": 107,
}
PLAIN = "plain"
KEPT = ROOT / "scripts" / "measured" / "recordings.json"

JUDGING, TUNING, ALL = "judging", "tuning", "all"
Samples = NDArray[np.float64]


@dataclass(frozen=True)
class Recording:
    """One recorded note, at RATE, from its onset on."""

    name: str
    pitch: float  # Hz
    sound: Samples


# --- recordings -------------------------------------------------------------------------------------------------------


def recordings(font: Any, program: int) -> list[Recording]:
    """The different notes of a program, from low to high; of stereo pairs the left one."""
    found: dict[str, Recording] = {}
    preset = next(p for p in font.presets if getattr(p, "preset", None) == program and p.bank == 0)
    bags = [bag for part in preset.bags if part.instrument for bag in part.instrument.bags if bag.sample]
    names = {bag.sample.name for bag in bags}
    for bag in bags:
        sample = bag.sample
        if sample.name in found or sample.name in FILLED or sample.name.replace("(R)", "(L)") in names - {sample.name}:
            continue
        sound = at_rate(np.frombuffer(sample.raw_sample_data, "<i2") / 32768.0, sample.sample_rate)
        sound = from_onset(sound)
        if sound.size < SHORTEST * RATE:
            continue
        root = sample.original_pitch if bag.base_note is None else bag.base_note
        found[sample.name] = Recording(sample.name, pitch_near(sound, frequency(root)), sound)
    return sorted(found.values(), key=lambda one: one.pitch)


def at_rate(sound: Samples, rate: float, wanted: float = RATE) -> Samples:
    """The same sound with so many samples a second."""
    ratio = Fraction(wanted / rate).limit_denominator(2000)
    return resample_poly(sound, ratio.numerator, ratio.denominator)


def from_onset(sound: Samples) -> Samples:
    """Without what comes before the attack."""
    level = np.abs(sound)
    return sound[int(np.argmax(level > level.max() * 10.0 ** (ONSET / 20.0))) :]


def frequency(key: float) -> float:
    """Of a MIDI key, Hz."""
    return float(440.0 * 2.0 ** ((key - 69.0) / 12.0))


def pitch_near(sound: Samples, expected: float) -> float:
    """The pitch of a note in Hz: of all within a fifth of what is expected, the one whose period repeats best."""
    part = sound[int(0.05 * RATE) :][: int(0.4 * RATE)]
    spectrum = np.abs(np.fft.rfft(part, 4 * part.size)) ** 2
    repeats = np.fft.irfft(spectrum)[: part.size] / np.arange(part.size, 0, -1)
    first, last = int(RATE / expected / 1.5), int(RATE / expected * 1.5) + 2
    lag = first + int(np.argmax(repeats[first:last]))
    before, there, after = repeats[lag - 1 : lag + 2]
    return float(RATE / (lag + 0.5 * (before - after) / (before - 2.0 * there + after)))


# --- what is compared -------------------------------------------------------------------------------------------------


def bands() -> Samples:
    """Triangles that share the spectrum evenly on O'Shaughnessy's mel scale: [band, frequency], each of mean one."""
    frequencies = np.fft.rfftfreq(8192, 1.0 / RATE)
    low, high = (2595.0 * np.log10(1.0 + f / 700.0) for f in (LOWEST, HIGHEST))
    corners = 700.0 * (10.0 ** (np.linspace(low, high, BANDS + 2) / 2595.0) - 1.0)
    left, middle, right = (corners[n : n + BANDS, None] for n in range(3))
    rise, fall = (frequencies - left) / (middle - left), (right - frequencies) / (right - middle)
    shape = np.clip(np.minimum(rise, fall), 0.0, None)
    return shape / shape.sum(axis=1, keepdims=True)


def spectrogram(sound: Samples) -> Samples:
    """[frame, band] in dB below the highest; the first frame is centred on the onset."""
    size, hop = round(WINDOW * RATE), round(HOP * RATE)
    sound = np.concatenate([np.zeros(size // 2), sound[: round(LENGTH * RATE)]])
    frames = np.lib.stride_tricks.sliding_window_view(sound, size)[::hop] * np.hanning(size)
    power = np.abs(np.fft.rfft(frames, 8192)) ** 2 @ bands().T
    return np.maximum(10.0 * np.log10(np.maximum(power / power.max(), 1e-12)), FLOOR)


def distance(one: Samples, other: Samples) -> float:
    """Mean absolute difference of two sounds' spectrograms, as long as both last, dB."""
    a, b = spectrogram(one), spectrogram(other)
    length = min(len(a), len(b))
    return float(np.abs(a[:length] - b[:length]).mean())


def centroid(sound: Samples, moment: float) -> float:
    """Of the power between 100 Hz and 16 kHz, in 80 ms around a moment, Hz."""
    size = round(0.08 * RATE)
    part = sound[max(round(moment * RATE) - size // 2, 0) :][:size]
    power = np.abs(np.fft.rfft(part * np.hanning(part.size))) ** 2
    frequencies = np.fft.rfftfreq(part.size, 1.0 / RATE)
    heard = (frequencies > 100.0) & (frequencies < 16e3)
    return float(frequencies[heard] @ power[heard] / power[heard].sum())


def partials(sound: Samples, pitch: float, start: float, most: int = 12) -> tuple[Samples, Samples]:
    """Frequencies and levels (dB) of the lowest partials in 0.15 s from `start` on: each the peak nearest its place."""
    part = sound[round(start * RATE) :][: round(0.15 * RATE)]
    level = 20.0 * np.log10(np.abs(np.fft.rfft(part * np.hanning(part.size), 2**17)) + 1e-12)
    width, found, levels, expected = RATE / 2**17, [], [], pitch
    for n in range(1, most + 1):
        reach = range(int((expected - 0.3 * pitch) / width), int((expected + 0.3 * pitch) / width))
        if reach.stop >= level.size or reach.start < 1:
            break
        peak = reach.start + int(np.argmax(level[reach.start : reach.stop]))
        found.append(peak * width)
        levels.append(level[peak])
        expected = found[-1] * (n + 1) / n
    return np.array(found), np.array(levels)


def inharmonicity(sound: Samples, pitch: float) -> float:
    """B of f_n = n f sqrt(1 + B n^2), by least squares of (f_n/n)^2 over n^2."""
    f, level = partials(sound, pitch, 0.05)
    n = np.arange(1, f.size + 1)
    loud = level > level.max() - 40.0
    if loud.sum() < 3:
        return float("nan")
    slope, constant = np.polyfit(n[loud] ** 2, (f[loud] / n[loud]) ** 2, 1)
    return float(slope / constant)


def decay(sound: Samples, pitch: float, number: int) -> float:
    """How fast a partial decays between 50 ms and 350 ms, dB/s."""
    if sound.size < LONG_ENOUGH * RATE:
        return float("nan")
    early, late = (partials(sound, pitch, start)[1] for start in (0.05, min(0.3, sound.size / RATE - 0.17)))
    if min(early.size, late.size) < number:
        return float("nan")
    return float((early[number - 1] - late[number - 1]) / (min(0.3, sound.size / RATE - 0.17) - 0.05))


# --- renders ----------------------------------------------------------------------------------------------------------


def played(preset: str, pitch: float) -> Samples | None:
    """A note of a preset at exactly this pitch, from its onset on; nothing where no string plays the key."""
    key = round(69.0 + 12.0 * log2(pitch / 440.0))
    tuned = engine.load_preset(preset, {"tuning": f"{key_to_note(key)}={pitch!r}"})
    sound = engine.render(tuned, [engine.Note(key=key, velocity=100, duration=1.0)], sample_rate=RATE, tail=0.0)
    return from_onset(sound[:, 0].astype(float)) if sound.any() else None


def chosen(notes: list[Recording], which: str) -> list[int]:
    """Which of the notes are looked at: every second one judges, the first and those between are for tuning."""
    if which == ALL or len(notes) == 1:
        return list(range(len(notes)))
    return list(range(1 if which == JUDGING else 0, len(notes), 2))


def compared(preset: str, notes: list[Recording], which: str) -> dict[str, Any]:
    """What is measured of a preset and the recordings of its instrument."""
    rows = []
    for n in chosen(notes, which):
        note = notes[n]
        mine, bare = played(preset, note.pitch), played(PLAIN, note.pitch)
        if mine is None or bare is None:
            print(f"measure_recordings: {preset}: no string plays {note.pitch:.1f} Hz, left out", file=sys.stderr)
            continue
        row: dict[str, Any] = {"note": note.name, "pitch": note.pitch, "distance": distance(note.sound, mine)}
        row["plain"] = distance(note.sound, bare)
        if len(notes) > 1:
            other = notes[n - 1 if n else 1]
            row["another"] = distance(note.sound, at_rate(other.sound, RATE, RATE * other.pitch / note.pitch))
        for who, sound in (("recorded", note.sound), ("played", mine)):
            row[who] = {
                "centroid": [centroid(sound, moment) for moment in (0.05, min(0.3, sound.size / RATE - 0.05))],
                "inharmonicity": inharmonicity(sound, note.pitch),
                "decay": [decay(sound, note.pitch, number) for number in (1, 8)],
            }
        rows.append(row)
    means = {name: float(np.mean([row[name] for row in rows if name in row])) for name in ("distance", "plain")}
    another = [row["another"] for row in rows if "another" in row]
    return {"preset": preset, **means, "another": float(np.mean(another)) if another else None, "notes": rows}


def kept(one: dict[str, Any]) -> dict[str, Any]:
    """Of what was measured what the table needs, to a hundredth of a decibel."""
    notes = [f"{row['note']}: {row['distance']:.2f}" for row in one["notes"]]
    means = {name: None if one[name] is None else round(one[name], 2) for name in ("distance", "plain", "another")}
    return {"preset": one["preset"], **means, "notes": notes}


def table(results: list[dict[str, Any]]) -> str:
    """As it stands in presets/README.md."""
    lines = ["| preset | distance, dB | a bare string | another note of the same | notes |", "|---|--:|--:|--:|--:|"]
    for one in results:
        another = "" if one["another"] is None else f"{one['another']:.1f}"
        lines.append(
            f"| `{one['preset']}` | {one['distance']:.1f} | {one['plain']:.1f} | {another} | {len(one['notes'])} |"
        )
    mean = np.mean([one["distance"] for one in results])
    return "\n".join([*lines, f"| mean | {mean:.1f} | | | |"])


def details(results: list[dict[str, Any]]) -> str:
    """Every note, recording beside render."""
    lines = []
    for one in results:
        lines.append(f"{one['preset']}:")
        for row in one["notes"]:
            lines.append(f"  {row['note']}, {row['pitch']:.1f} Hz: {row['distance']:.1f} dB (plain {row['plain']:.1f})")
            for who in ("recorded", "played"):
                early, late = row[who]["centroid"]
                first, eighth = row[who]["decay"]
                lines.append(
                    f"    {who:<8} centroid {early:5.0f} {late:5.0f} Hz, B {row[who]['inharmonicity']:9.2e}, "
                    f"partials 1, 8: {first:4.0f} {eighth:4.0f} dB/s"
                )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="*", metavar="PRESET", help=f"default: {', '.join(PROGRAMS)}")
    parser.add_argument("--font", type=Path, default=FONT, help="another soundfont with General MIDI's programs")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--all", action="store_const", const=ALL, dest="which", help="all notes")
    which.add_argument("--tuning", action="store_const", const=TUNING, dest="which", help="the notes that do not judge")
    parser.add_argument("--json", type=Path, help="where to keep all of it")
    parser.add_argument(
        "--table", action="store_true", help="keep the figures, and write the table of presets/README.md"
    )
    args = parser.parse_args()
    presets = args.presets or [name for name in PROGRAMS if name in shipped()]
    if args.table and (args.presets or args.which):
        sys.exit("measure_recordings: --table is of every preset's judging notes; leave the others out")
    for name in presets:
        if name not in PROGRAMS:
            sys.exit(f"measure_recordings: {name}: no program of General MIDI is known for it; add it to PROGRAMS")
    if not args.font.is_file():
        sys.exit(f"measure_recordings: {args.font}: no such soundfont; apt install fluid-soundfont-gm, or give --font")
    try:
        from sf2utils.sf2parse import Sf2File
    except ImportError:
        sys.exit("measure_recordings: sf2utils is missing; pip install sf2utils")
    logging.disable(logging.WARNING)  # it tells of every loop that is short
    with args.font.open("rb") as file:
        font = Sf2File(file)
        results = [compared(name, recordings(font, PROGRAMS[name]), args.which or JUDGING) for name in presets]
    print(details(results), table(results), sep="\n\n")
    if args.json:
        args.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    if args.table:
        KEPT.write_text(json.dumps([kept(one) for one in results], indent=1) + "\n", encoding="utf-8")
        subprocess.run([sys.executable, ROOT / "scripts" / "make_tables.py"], check=True)


if __name__ == "__main__":
    main()
